"""Result codes of service answers."""

from __future__ import annotations

from raisim_ros.description.errors import (
    FileMissingError,
    FileRefusedError,
    InvalidValueError,
    MeshError,
    ParseError,
    RaisimError,
)
from raisim_ros.engine.errors import ObjectRemovedError, WrongStateError, WrongTypeError
from raisim_ros.msg import ResultCode
from raisim_ros.ros.node.long_work import LongWorkError
from raisim_ros.ros.objects.object_table import NameTakenError, UnknownObjectError
from raisim_ros.ros.request_queue import QueueClosedError

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (NameTakenError, ResultCode.NAME_TAKEN),
    (UnknownObjectError, ResultCode.UNKNOWN_OBJECT),
    (ObjectRemovedError, ResultCode.UNKNOWN_OBJECT),
    (FileMissingError, ResultCode.MISSING_FILE),
    (FileRefusedError, ResultCode.MISSING_FILE),  # for whoever asks, it is not there
    (ParseError, ResultCode.PARSE_ERROR),
    (MeshError, ResultCode.PARSE_ERROR),
    (WrongTypeError, ResultCode.UNSUPPORTED),
    (WrongStateError, ResultCode.WRONG_STATE),
    (QueueClosedError, ResultCode.WRONG_STATE),
    (LongWorkError, ResultCode.GAVE_UP),
    (InvalidValueError, ResultCode.INVALID_VALUE),
    (RaisimError, ResultCode.INVALID_VALUE),
)


def result_code(error: Exception) -> int:
    """The code that says what kind of error it is; INTERNAL_ERROR for what nobody expected."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ResultCode.INTERNAL_ERROR)

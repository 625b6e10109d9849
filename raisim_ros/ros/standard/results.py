"""Results of the services of simulation_interfaces: how errors become their codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulation_interfaces.msg import Result

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.errors import WrongStateError
from raisim_ros.ros.objects.object_table import UnknownObjectError


class StandardError(RaisimError):
    """A request is refused with a code that its service defines."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


_CODES: tuple[tuple[type[Exception], int], ...] = (
    (UnknownObjectError, Result.RESULT_NOT_FOUND),
    (WrongStateError, Result.RESULT_INCORRECT_STATE),
)


def code_of(error: Exception) -> int:
    """The code of an error that no service treats specially."""
    if isinstance(error, StandardError):
        return error.code
    return next((code for kind, code in _CODES if isinstance(error, kind)), Result.RESULT_OPERATION_FAILED)


def fail(result: Any, error: Exception) -> None:
    """Writes an error into a result."""
    result.result, result.error_message = code_of(error), str(error) or type(error).__name__


def answering(handler: Callable[[Any, Any], str | None]) -> Callable[[Any, Any], Any]:
    """A callback that fills the answer by `handler`, whose text becomes the message, and reports what it raises."""

    def callback(request: Any, response: Any) -> Any:
        try:
            message = handler(request, response)
            response.result.result, response.result.error_message = Result.RESULT_OK, message or ""
        except Exception as error:
            fail(response.result, error)
        return response

    return callback

"""Files that requests may write."""

from __future__ import annotations

import os.path
from pathlib import Path

from raisim_ros.description.errors import FileMissingError, InvalidValueError
from raisim_ros.engine.errors import WrongStateError


def check_target(file: Path, overwrite: bool) -> Path:
    """Refuses links, what is no regular file, files without a folder, and existing ones unless `overwrite`.

    By os.path: a Path raises at names that are too long, which whoever writes the file tells better.
    """
    if os.path.islink(file):
        raise InvalidValueError(f"file '{file}' is a link; expected a file or a new name")
    if os.path.isdir(file):
        raise InvalidValueError(f"file '{file}' is a folder")
    if os.path.exists(file) and not os.path.isfile(file):
        raise InvalidValueError(f"file '{file}' is not a regular file")
    if not os.path.isdir(file.parent):
        raise FileMissingError(file.parent, "folder")
    if os.path.exists(file) and not overwrite:
        raise WrongStateError(f"file '{file}' exists; set overwrite to replace it")
    return file

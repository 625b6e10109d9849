"""What can be wrong with a file, a name or a number. All exceptions here derive from RaisimError."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Where something was written, for messages: a file or another source, and a line of it."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


NOWHERE = Place("")


def near_names(what: str, name: str, known: Iterable[str]) -> str:
    """The text about a name that is not known."""
    names = sorted({one for one in known if one})
    near = get_close_matches(name, names, 3, 0.5)
    if near:
        return f"no {what} named '{name}'; did you mean {' or '.join(repr(one) for one in near)}?"
    return f"no {what} named '{name}'; there are {', '.join(names[:20]) or 'none with a name'}"


class RaisimError(Exception):
    """Base of every exception that raisim_ros raises on purpose."""


class InvalidValueError(RaisimError, ValueError):
    """An argument is out of range, not finite or inconsistent; the message names it."""


class FileMissingError(RaisimError, FileNotFoundError):
    """A file does not exist or is not a file."""

    def __init__(self, path: str | Path, what: str = "file") -> None:
        self.path = Path(path)
        try:
            reason = "is a folder" if self.path.is_dir() else "does not exist"
        except (OSError, ValueError):
            reason = "cannot exist: its name is too long"
        super().__init__(f"{what} '{_shortened(path)}' {reason}")


class NotRegularError(FileMissingError):
    """A pipe, a device, or a file that the system makes up: reading it may never end."""

    def __init__(self, path: str | Path, what: str = "file") -> None:
        super().__init__(path, what)
        self.args = (f"{what} '{_shortened(path)}' is not a regular file",)


class FileRefusedError(RaisimError, PermissionError):
    """A file lies outside the folders that this process may use; the message does not tell whether it exists."""

    def __init__(self, path: str | Path, what: str = "file") -> None:
        self.path = Path(path)
        super().__init__(f"{what} '{_shortened(path)}' lies outside the allowed folders (parameter allowed_folders)")


class FileReadError(RaisimError, OSError):
    """A file is there, but the system does not let it be read."""

    def __init__(self, path: str | Path, error: OSError) -> None:
        self.path = Path(path)
        super().__init__(f"cannot read '{_shortened(path)}': {error.strerror or error}")


class FileWriteError(RaisimError, OSError):
    """A file cannot be written; what was there before is still there."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path = Path(path)
        super().__init__(f"cannot write '{_shortened(path)}': {reason}")


def _shortened(path: str | Path) -> str:
    """A path for a message, which a name of a thousand letters would drown."""
    text = str(path)
    return text if len(text) <= 300 else f"{text[:150]}…{text[-100:]}"


class ParseError(RaisimError):
    """A file is not what its format demands; the message starts with ``file:line:``."""

    def __init__(self, path: str | Path, line: int | None, message: str) -> None:
        self.path = Path(path)
        self.line = line
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {message}")


class RobotCountError(ParseError):
    """A file that is read as a robot holds none, or several."""


class TemplateError(ParseError):
    """A parameter, a loop or an expression of a template is wrong."""


class UrdfError(ParseError):
    """The XML of a robot is well formed, but it does not describe a robot that can be simulated."""


class MeshError(RaisimError):
    """A mesh cannot be used; the message names the file."""


class TerrainError(RaisimError):
    """A heightmap cannot be used; the message names its source."""

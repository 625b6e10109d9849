"""What a worker process and the node tell each other."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

# Before every pickle stands its length.
LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Finished:
    """What came of the work: a value, or an error by class and text."""

    value: Any = None
    error_class: type[Exception] | None = None
    error_text: str = ""
    decompositions: dict[str, Any] | None = None
    meshes: dict[str, Any] | None = None  # what was made of them

    def result(self) -> Any:
        """The value; raises the error."""
        if self.error_class is None:
            return self.value
        error = self.error_class.__new__(self.error_class)  # their constructors take the parts of the text
        error.args = (self.error_text,)
        raise error

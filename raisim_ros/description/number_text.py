"""Numbers in texts, many at once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of(text: bytes | str, kind: type = np.float64) -> NDArray[Any] | None:
    """All numbers of a text, without a string for each; None when there is something else in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how NumPy says that it met something else
        try:
            return np.fromstring(text, dtype=kind, sep=" ")
        except (DeprecationWarning, ValueError):
            return None

"""Finds and loads the compiled engine, nothing else."""

from __future__ import annotations

from typing import Any

try:
    from raisim_ros.engine import _engine  # type: ignore[attr-defined, unused-ignore]
except ImportError as error:
    raise ImportError(
        f"the compiled engine of raisim_ros cannot be loaded ({error}): build it with 'make build', 'colcon build' or "
        "'pip install .'"
    ) from error

ffi: Any = _engine.ffi
lib: Any = _engine.lib

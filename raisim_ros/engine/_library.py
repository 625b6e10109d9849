"""Finds and loads the compiled engine: the build for the best instruction set that the processor has.

``RAISIM_ISA`` in the environment chooses another one: ``base``, ``v3`` (x86-64 with AVX2) or ``native`` (only where it
was built). All but ``native`` give the same bits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module, util
from types import ModuleType
from typing import Any

# From the best to the least, with the module of each.
_MODULES = {"native": "_engine_native", "v3": "_engine_v3", "base": "_engine"}


@dataclass(frozen=True)
class Info:
    """Which engine is in use."""

    isa: str
    """Instruction set of the loaded engine: ``base``, ``v3`` or ``native``."""
    available: tuple[str, ...]
    """Instruction sets that are built and that this processor has, the best first."""
    library: str
    """File of the loaded engine."""


def _load(name: str) -> ModuleType:
    try:
        return import_module(f"raisim_ros.engine.{name}")
    except ImportError as error:
        raise ImportError(
            f"the compiled engine of raisim_ros cannot be loaded ({error}): build it with 'make build', "
            "'colcon build' or 'pip install .'"
        ) from error


def _choose() -> tuple[ModuleType, Info]:
    base = _load("_engine")
    built = [isa for isa, name in _MODULES.items() if util.find_spec(f"raisim_ros.engine.{name}") is not None]
    available = tuple(isa for isa in built if isa != "v3" or base.lib.rs_processor_has_v3())
    # A native build is made for measuring: its bits differ, so it is used only on demand.
    isa = os.environ.get("RAISIM_ISA") or next(isa for isa in available if isa != "native")
    if isa not in available:
        raise ImportError(f"RAISIM_ISA is '{isa}'; this build has on this processor: {', '.join(available)}")
    module = _load(_MODULES[isa])
    return module, Info(isa, available, str(module.__file__))


_module, _info = _choose()
ffi: Any = _module.ffi
lib: Any = _module.lib


def info() -> Info:
    """Which build of the engine is loaded, and which others there are."""
    return _info

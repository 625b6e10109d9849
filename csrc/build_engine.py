"""Build the Python binding of the C engine with cffi (API mode), once for each instruction set.

The declarations come from the headers of include/raisim_engine.h, the C files from sources.txt, the compiler flags from
flags.txt and the instruction sets beside the base from isa_levels.txt; nothing is typed twice. Two users:

- setup.py, which compiles everything (``RAISIM_NATIVE_ARCH=1`` in the environment adds a build for the processor at
  hand);
- CMake, which runs ``build_engine.py --emit _engine_v3.c --module _engine_v3`` and compiles the result with the engine.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
from pathlib import Path

import cffi

PACKAGE = "raisim_ros.engine"
CDEF_BEGIN = "/* cdef begin */"
CDEF_END = "/* cdef end */"

CSRC = Path(__file__).resolve().parent


def read_list(name: str) -> list[str]:
    """Lines of csrc/<name> without blank lines and ``#`` comments."""
    lines = (CSRC / name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def read_cdef() -> str:
    """The declarations that cffi parses: of the headers that raisim_engine.h includes, in its order."""
    include = CSRC / "include"
    declarations = []
    for name in re.findall(r'#include "(.+)"', (include / "raisim_engine.h").read_text(encoding="utf-8")):
        text = (include / name).read_text(encoding="utf-8")
        if text.count(CDEF_BEGIN) != 1 or text.count(CDEF_END) != 1:
            raise SystemExit(f"{name}: expected exactly one '{CDEF_BEGIN}' and one '{CDEF_END}'")
        declarations.append(text.split(CDEF_BEGIN)[1].split(CDEF_END)[0])
    return "".join(declarations)


def isa_levels() -> dict[str, list[str]]:
    """The instruction sets to build for beside the base, with their flags."""
    levels = {}
    if platform.machine().lower() in ("x86_64", "amd64"):
        levels = {name: flags for name, *flags in map(str.split, read_list("isa_levels.txt"))}
    if os.environ.get("RAISIM_NATIVE_ARCH", "0") not in ("", "0"):
        levels["native"] = ["-march=native", "-ffp-contract=fast"]
    return levels


def make_builder(module: str, flags: list[str], required: bool = True) -> cffi.FFI:
    """A cffi builder whose paths are relative to the project root, as setuptools demands.

    A module that is not required is left out by setuptools when the compiler does not know its flags.
    """
    builder = cffi.FFI()
    builder.cdef(read_cdef())
    builder.set_source(
        f"{PACKAGE}.{module}",
        '#include "raisim_engine.h"',
        sources=[f"csrc/{path}" for path in read_list("sources.txt")],
        depends=[f"csrc/{path.relative_to(CSRC)}" for path in sorted(CSRC.rglob("*.h"))],
        include_dirs=["csrc", "csrc/include"],
        extra_compile_args=read_list("flags.txt") + flags,
        extra_link_args=["-pthread"],
        libraries=["m"],
        optional=not required,
    )
    return builder


# One builder per module, under the module's name: what ``cffi_modules`` of setuptools looks up here.
builders = {f"_engine_{name}": make_builder(f"_engine_{name}", flags, False) for name, flags in isa_levels().items()}
builders["_engine"] = make_builder("_engine", [])
globals().update(builders)


def main() -> None:
    """Write the C file of the binding."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--emit", required=True, metavar="OUT.c", help="the C file to write")
    parser.add_argument("--module", required=True, metavar="NAME", help="the module's name within raisim_ros.engine")
    arguments = parser.parse_args()
    make_builder(arguments.module, []).emit_c_code(arguments.emit)


if __name__ == "__main__":
    main()

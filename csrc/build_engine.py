"""Build the Python binding of the C engine with cffi (API mode).

The declarations come from include/raisim_engine.h, the C files from sources.txt and the compiler flags from
flags.txt; nothing is typed twice. Two users:

- setup.py, through ``cffi_modules``, which compiles everything (``RAISIM_NATIVE_ARCH=1`` in the environment
  adds ``-march=native``);
- CMake, which runs ``build_engine.py --emit _engine.c`` and compiles the result with the engine itself.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import cffi

MODULE = "raisim_ros.engine._engine"
CDEF_BEGIN = "/* cdef begin */"
CDEF_END = "/* cdef end */"

CSRC = Path(__file__).resolve().parent


def read_list(name: str) -> list[str]:
    """Lines of csrc/<name> without blank lines and ``#`` comments."""
    lines = (CSRC / name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def read_cdef() -> str:
    """The declarations of raisim_engine.h that cffi parses."""
    header = CSRC / "include" / "raisim_engine.h"
    text = header.read_text(encoding="utf-8")
    if text.count(CDEF_BEGIN) != 1 or text.count(CDEF_END) != 1:
        raise SystemExit(f"{header}: expected exactly one '{CDEF_BEGIN}' and one '{CDEF_END}'")
    return text.split(CDEF_BEGIN)[1].split(CDEF_END)[0]


def make_builder() -> cffi.FFI:
    """A cffi builder whose paths are relative to the project root, as setuptools demands."""
    flags = read_list("flags.txt")
    if os.environ.get("RAISIM_NATIVE_ARCH", "0") not in ("", "0"):
        flags.append("-march=native")
    builder = cffi.FFI()
    builder.cdef(read_cdef())
    builder.set_source(
        MODULE,
        '#include "raisim_engine.h"',
        sources=[f"csrc/{path}" for path in read_list("sources.txt")],
        include_dirs=["csrc", "csrc/include"],
        extra_compile_args=flags,
        extra_link_args=["-pthread"],
        libraries=["m"],
    )
    return builder


def main() -> None:
    """Write the C file of the binding."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--emit", required=True, metavar="OUT.c", help="the C file to write")
    ffibuilder.emit_c_code(parser.parse_args().emit)


ffibuilder = make_builder()

if __name__ == "__main__":
    main()

"""How many triangles a mesh file holds, at least, without reading it as a mesh.

Parsing a file of ten million triangles takes minutes; its size is known in a second.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import IO

from raisim_ros.description.errors import MeshError
from raisim_ros.description.files import check_size
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh.archives import check_archive

_STL_HEADER = 84
_STL_TRIANGLE = 50
_HEADER = 65536
_CHUNK = 1 << 24


def check_mesh_file(file: Path) -> None:
    """Refuse what is beyond the limits before it is read as a mesh. Raises MeshError, ParseError and FileReadError."""
    check_mesh_size(file)
    check_archive(file)
    check_triangles(count_triangles_quickly(file), str(file))


def check_mesh_size(file: Path) -> None:
    """Refuse a file that is too large before anything of it is read."""
    check_size(file, get_file_limits().max_mesh_bytes, "max_mesh_bytes")


def check_triangles(triangles: int, source: str) -> None:
    """Refuse more triangles than the limit."""
    most = get_file_limits().max_triangles
    if triangles > most:
        raise MeshError(
            f"{source}: {triangles} triangles, at most {most} are accepted; simplify the mesh first or raise the limit "
            "max_triangles"
        )


def count_triangles_quickly(file: Path) -> int:
    """The number of triangles that the file declares, or a lower bound; 0 for formats that do not tell."""
    counters = {
        ".stl": _count_stl,
        ".ply": _count_ply,
        ".off": _count_off,
        ".obj": _count_obj,
        ".glb": _count_glb,
    }
    counter = counters.get(file.suffix.lower())
    if counter is None:
        return 0
    with file.open("rb") as stream:
        return counter(stream, file.stat().st_size)


def _count_stl(stream: IO[bytes], size: int) -> int:
    head = stream.read(_STL_HEADER)
    if len(head) == _STL_HEADER:
        count = int(struct.unpack("<I", head[80:])[0])
        if size == _STL_HEADER + _STL_TRIANGLE * count:
            return count
    return _count_lines(stream, rb"endfacet")


def _count_ply(stream: IO[bytes], size: int) -> int:
    match = re.search(rb"element\s+face\s+(\d+)", stream.read(_HEADER))
    return int(match.group(1)) if match else 0


def _count_off(stream: IO[bytes], size: int) -> int:
    words = stream.read(_HEADER).split()
    if len(words) > 2 and words[0] == b"OFF" and words[2].isdigit():
        return int(words[2])
    return 0


def _count_obj(stream: IO[bytes], size: int) -> int:
    return _count_lines(stream, rb"(?:^|\n)f ")


def _count_glb(stream: IO[bytes], size: int) -> int:
    head = stream.read(20)
    if len(head) < 20 or head[:4] != b"glTF":
        return 0
    try:
        document = json.loads(stream.read(struct.unpack("<I", head[12:16])[0]))
        accessors = document["accessors"]
        indices = [
            int(accessors[primitive["indices"]]["count"])
            for mesh in document["meshes"]
            for primitive in mesh["primitives"]
            if "indices" in primitive and primitive.get("mode", 4) == 4
        ]
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, AttributeError, RecursionError):
        return 0  # the reader will say what is wrong
    return sum(indices) // 3


def _count_lines(stream: IO[bytes], pattern: bytes) -> int:
    """Occurrences in the rest of the file; those cut by a chunk's border are missed, which a bound may do."""
    expression = re.compile(pattern)
    return sum(sum(1 for _ in expression.finditer(chunk)) for chunk in iter(lambda: stream.read(_CHUNK), b""))

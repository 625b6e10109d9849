"""How many triangles a mesh file holds, at least, without reading it as a mesh.

Parsing a file of ten million triangles takes minutes; its size is known in a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from raisim_ros.description.errors import MeshError
from raisim_ros.description.files import check_size
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh.archives import check_archive, check_values

_STL_HEADER = 84
_STL_TRIANGLE = 50
_HEADER = 65536
_CHUNK = 1 << 24
_NOR_STL = ", and no binary STL, as its size is another one than it says"
# What readers of JSON and of its parts raise.
_NOT_GLTF = (ValueError, KeyError, IndexError, TypeError, OverflowError, AttributeError, RecursionError)


def check_mesh_file(file: Path) -> None:
    """Refuse what is beyond the limits before it is read as a mesh. Raises MeshError, ParseError and FileReadError."""
    check_mesh_size(file)
    check_archive(file)
    if file.suffix.lower() in (".gltf", ".glb"):
        _check_gltf(file)
    elif file.suffix.lower() in (".dae", ".xaml"):
        with file.open("rb") as stream:
            check_values(sum(chunk.count(b"<") for chunk in iter(lambda: stream.read(_CHUNK), b"")), file)
    else:
        _check_text(file)
        check_triangles(_count_triangles_quickly(file), str(file))


def _check_text(file: Path) -> None:
    """Readers of lines take minutes and gigabytes for a file of zeros, or for a number that is as long as the file."""
    suffix = file.suffix.lower()
    if suffix not in (".obj", ".stl", ".stl_ascii", ".off", ".ply", ".dxf", ".xyz"):
        return
    with file.open("rb") as stream:
        head = stream.read(_HEADER)
        if suffix == ".stl" and _binary_stl_count(head[:_STL_HEADER], file.stat().st_size) is not None:
            return
        if suffix == ".ply" and b"ascii" not in b"".join(head.split(b"\n", 2)[1:2]).lower():  # as its reader decides
            return
        stream.seek(0)
        most, length = get_file_limits().max_line_bytes, 0  # of the line that goes on
        for chunk in iter(lambda: stream.read(most), b""):
            if b"\0" in chunk:
                other = _NOR_STL if suffix == ".stl" else ""
                raise MeshError(f"{file}: the file is no text, as it has zero bytes{other}")
            ends = [at for at in (chunk.find(b"\n"), chunk.find(b"\r")) if at >= 0]
            if length + min(ends, default=len(chunk)) > most:
                raise MeshError(f"{file}: a line has more than {most} bytes (limit max_line_bytes)")
            length = len(chunk) - 1 - max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) if ends else length + len(chunk)


def _check_gltf(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            text = _gltf_text(stream)
        check_values(sum(text.count(mark) for mark in (b",", b"[", b"{")), file)
        document = json.loads(text)
        sizes = [_sum_of(_size(part, document) for part in mesh["primitives"]) for mesh in document.get("meshes", [])]
    except _NOT_GLTF:
        return  # the reader will say what is wrong
    once, in_scenes = _sum_of(sizes), _size_of_scene(document, sizes)
    check_triangles(max(once[1], in_scenes[1]), str(file))
    most = get_file_limits().max_elements
    if max(once[0], in_scenes[0]) > most:
        said = "too many parts of meshes and nodes in scenes, each with all nodes above it; expected at most"
        raise MeshError(f"{file}: {said} {most} (limit max_elements)")


_Size = tuple[int, int]  # elements that readers of glTF make, triangles


def _sum_of(sizes: Iterable[_Size]) -> _Size:
    elements, triangles = 0, 0
    for one in sizes:
        elements, triangles = elements + one[0], triangles + one[1]
    return elements, triangles


def _size(primitive: Any, document: Any) -> _Size:
    """Of a part of a mesh: a list of triangles, or a strip or fan."""
    try:
        corners = primitive["indices"] if "indices" in primitive else primitive["attributes"]["POSITION"]
        count, mode = max(0, int(document["accessors"][corners]["count"])), primitive.get("mode", 4)
    except _NOT_GLTF:
        return 1, 0  # the reader will say what is wrong, or leave it out
    return 1, count // 3 if mode == 4 else max(0, count - 2) if mode in (5, 6) else 0


def _size_of_scene(document: Any, meshes: list[_Size]) -> _Size:
    """A node of glTF has a place for each way that leads to it, and its mesh comes once more; finding
    one goes up all the way."""
    most, elements, triangles = get_file_limits().max_elements, 0, 0
    try:
        below = [(node, 1) for scene in document["scenes"] for node in scene["nodes"]]
        while below and elements + len(below) <= most:
            number, depth = below.pop()
            node = document["nodes"][number]
            parts = meshes[node["mesh"]] if "mesh" in node else (0, 0)
            elements, triangles = elements + depth + parts[0], triangles + parts[1]
            below += [(child, depth + 1) for child in node.get("children", [])]
    except _NOT_GLTF:
        return 0, 0  # the reader will say what is wrong
    return elements + len(below), triangles


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


def _count_triangles_quickly(file: Path) -> int:
    """The number of triangles that the file declares, or a lower bound; 0 for formats that do not tell."""
    counters = {
        ".stl": _count_stl,
        ".ply": _count_ply,
        ".off": _count_off,
        ".obj": _count_obj,
    }
    counter = counters.get(file.suffix.lower())
    if counter is None:
        return 0
    with file.open("rb") as stream:
        return counter(stream, file.stat().st_size)


def _count_stl(stream: IO[bytes], size: int) -> int:
    count = _binary_stl_count(stream.read(_STL_HEADER), size)
    return _count_lines(stream, rb"endfacet") if count is None else count


def binary_stl_triangles(file: Path) -> int | None:
    """Triangles of a binary STL file; None for text."""
    with file.open("rb") as stream:
        return _binary_stl_count(stream.read(_STL_HEADER), file.stat().st_size)


def _binary_stl_count(head: bytes, size: int) -> int | None:
    """Triangles of a binary file; None for text."""
    count = int.from_bytes(head[80:], "little")
    return count if len(head) == _STL_HEADER and size == _STL_HEADER + _STL_TRIANGLE * count else None


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


def _gltf_text(stream: IO[bytes]) -> bytes:
    """The JSON of a glTF file, in one of its two forms."""
    head = stream.read(20)
    if head[:4] == b"glTF":
        return stream.read(int.from_bytes(head[12:16], "little"))
    return head + stream.read()


def _count_lines(stream: IO[bytes], pattern: bytes) -> int:
    """Occurrences in the rest of the file; those cut by a chunk's border are missed, which a bound may do."""
    expression = re.compile(pattern)
    return sum(sum(1 for _ in expression.finditer(chunk)) for chunk in iter(lambda: stream.read(_CHUNK), b""))

"""Vertices and triangles of OBJ and COLLADA files as tools for robots write them.

Most meshes of robots are such files. Reading them here is faster than with trimesh, and does without its import. Each
reader gives None for what it does not know, or takes for a mistake: trimesh then reads the file, or says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from raisim_ros.description.errors import MeshError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.number_text import numbers_of

Vertices = NDArray[np.float64]
Triangles = NDArray[np.int64]

_INDENTED = re.compile(rb"\n[ \t]+[vf][ \t]")
_REFERENCE = re.compile(rb"/\S*")  # to a texture coordinate or a normal
_MAX_DEPTH = 100  # of nodes within nodes


class _OtherError(Exception):
    """The file has something that is not read here."""


def read_obj(content: bytes) -> tuple[Vertices, Triangles] | None:
    """The mesh of an OBJ file."""
    if b"\\\n" in content or b"\\\r" in content or _INDENTED.search(content):  # lines that go on, or begin late
        return None
    lines = content.split(b"\n")
    try:
        vertices = _obj_vertices([line[2:] for line in lines if line.startswith((b"v ", b"v\t"))])
        return vertices, _obj_triangles([line[2:] for line in lines if line.startswith((b"f ", b"f\t"))], len(vertices))
    except (ValueError, _OtherError):
        return None


def _obj_vertices(lines: list[bytes]) -> Vertices:
    numbers = _numbers(b" ".join(lines))
    if len(numbers) != 3 * len(lines):  # with weights or colours
        numbers = _numbers(b" ".join(word for line in lines for word in line.split(None, 3)[:3]))
    return numbers.reshape(len(lines), 3)


def _obj_triangles(lines: list[bytes], vertex_count: int) -> Triangles:
    counts = np.array([len(line.split()) for line in lines], dtype=np.int64)
    indices = _numbers(_REFERENCE.sub(b"", b" ".join(lines)), np.int64) - 1
    if len(lines) == 0 or counts.min() < 3 or counts.sum() != len(indices):
        raise _OtherError
    if indices.min() < 0 or indices.max() >= vertex_count:  # counted from the end, or wrong
        raise _OtherError
    return _fans(indices, counts)


def _fans(indices: Triangles, counts: Triangles) -> Triangles:
    """Triangles of polygons, all at their first corner."""
    first = np.cumsum(counts) - counts
    if (counts == 3).all():
        return indices.reshape(-1, 3)
    triangles = counts - 2
    apex = np.repeat(first, triangles)
    place = np.arange(triangles.sum()) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    triples: Triangles = indices[np.stack([apex, apex + place + 1, apex + place + 2], axis=1)]
    return triples


# ---- COLLADA ----


def read_collada(content: bytes) -> tuple[Vertices, Triangles] | None:
    """The mesh of a COLLADA file [m], all parts of its scene; the axis that it calls up does not count.

    Raises MeshError when its nodes name each other so often that there are more nodes or triangles than limits allow.
    """
    try:
        root = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
        with np.errstate(all="ignore"):  # numbers that are not finite are told later
            return _Collada(root).mesh()
    except (etree.XMLSyntaxError, ValueError, OverflowError, LookupError, _OtherError):
        return None


class _Collada:
    """A document whose elements are found by their names without namespaces, and by their ids."""

    def __init__(self, root: etree._Element) -> None:
        for element in root.iter(etree.Element):
            element.tag = etree.QName(element).localname
        if root.tag != "COLLADA":
            raise _OtherError
        self._root = root
        self._by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        self._geometries: dict[str, list[tuple[Vertices, Triangles]]] = {}
        self._nodes = 0

    def mesh(self) -> tuple[Vertices, Triangles]:
        scene = self._root.find("scene/instance_visual_scene")
        if scene is None:
            raise _OtherError
        all_vertices, all_triangles, count, total = [], [], 0, 0
        most = get_file_limits().max_triangles
        for matrix, geometry in self._placed(self._target(scene), np.eye(4), 0):
            for vertices, triangles in self._parts(geometry):
                total += len(triangles)
                if total > most:
                    raise MeshError(f"more than {most} triangles (limit max_triangles)")
                all_vertices.append(vertices @ matrix[:3, :3].T + matrix[:3, 3])
                all_triangles.append(triangles + count)
                count += len(vertices)
        if not all_triangles:
            raise _OtherError
        return np.concatenate(all_vertices) * self._meters(), np.concatenate(all_triangles)

    def _meters(self) -> float:
        unit = self._root.find("asset/unit")
        return 1.0 if unit is None else float(unit.get("meter") or 1.0)

    def _target(self, element: etree._Element, name: str = "url") -> etree._Element:
        address = element.get(name) or ""
        if not address.startswith("#"):
            raise _OtherError
        return self._by_id[address[1:]]

    def _placed(self, node: etree._Element, matrix: Vertices, depth: int) -> Iterator[tuple[Vertices, etree._Element]]:
        """Geometries below a node, each with the matrix that puts it into the scene."""
        self._nodes += 1
        if depth > _MAX_DEPTH:
            raise _OtherError
        if self._nodes > get_file_limits().max_elements:
            raise MeshError(f"more than {get_file_limits().max_elements} nodes in the scene (limit max_elements)")
        for child in node:
            if child.tag in _TRANSFORMS:
                matrix = matrix @ _TRANSFORMS[child.tag](_numbers(child.text))
            elif child.tag in ("lookat", "skew", "instance_controller"):
                raise _OtherError
        for child in node:
            if child.tag == "node":
                yield from self._placed(child, matrix, depth + 1)
            elif child.tag == "instance_node":
                yield from self._placed(self._target(child), matrix, depth + 1)
            elif child.tag == "instance_geometry":
                yield matrix, self._target(child)

    def _parts(self, geometry: etree._Element) -> list[tuple[Vertices, Triangles]]:
        """Vertices and triangles of each part of a geometry."""
        name = geometry.get("id") or ""
        if name not in self._geometries:
            mesh = geometry.find("mesh")
            if mesh is None:
                raise _OtherError
            self._geometries[name] = [self._part(part) for part in mesh if part.tag in _PRIMITIVES]
            if any(part.tag in ("tristrips", "trifans") for part in mesh):
                raise _OtherError
        return self._geometries[name]

    def _part(self, part: etree._Element) -> tuple[Vertices, Triangles]:
        inputs = part.findall("input")
        vertex = part.find("input[@semantic='VERTEX']")
        if vertex is None:
            raise _OtherError
        width = 1 + max(int(one.get("offset") or 0) for one in inputs)
        position = self._target(vertex, "source").find("input[@semantic='POSITION']")
        if position is None:
            raise _OtherError
        vertices = self._positions(self._target(position, "source"))
        lists = [_numbers(p.text, np.int64) for p in part.findall("p")]
        indices = np.concatenate([*lists, np.empty(0, np.int64)]).reshape(-1, width)[:, int(vertex.get("offset") or 0)]
        if len(indices) and (indices.min() < 0 or indices.max() >= len(vertices)):
            raise _OtherError
        if part.tag == "triangles":
            return vertices, indices.reshape(-1, 3)
        if part.tag == "polylist":
            counts = _numbers(part.findtext("vcount"), np.int64)
        else:
            counts = np.array([len(one) // width for one in lists], dtype=np.int64)
        if part.find("ph") is not None or counts.sum() != len(indices) or (counts < 3).any():  # holes, lines
            raise _OtherError
        return vertices, _fans(indices, counts)

    def _positions(self, source: etree._Element) -> Vertices:
        accessor, array = source.find("technique_common/accessor"), source.find("float_array")
        if accessor is None or array is None:
            raise _OtherError
        names = [one.get("name") for one in accessor.findall("param")]
        if accessor.get("stride") != "3" or (accessor.get("offset") or "0") != "0" or names != ["X", "Y", "Z"]:
            raise _OtherError
        return _numbers(array.text).reshape(-1, 3)


def _numbers(text: bytes | str | None, kind: type = np.float64) -> NDArray[Any]:
    numbers = numbers_of(text or "", kind)
    if numbers is None:
        raise _OtherError
    return numbers


def _translation(numbers: Vertices) -> Vertices:
    matrix = np.eye(4)
    matrix[:3, 3] = numbers.reshape(3)
    return matrix


def _scaling(numbers: Vertices) -> Vertices:
    return np.diag([*numbers.reshape(3), 1.0])


def _rotation(numbers: Vertices) -> Vertices:
    """About an axis by an angle in degrees."""
    axis, angle = numbers[:3], np.radians(numbers.reshape(4)[3])
    length = np.linalg.norm(axis)
    if length == 0.0:
        raise _OtherError
    x, y, z = axis / length
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across
    return matrix


_TRANSFORMS = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translation,
    "rotate": _rotation,
    "scale": _scaling,
}
_PRIMITIVES = ("triangles", "polylist", "polygons")

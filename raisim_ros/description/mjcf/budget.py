"""What a MuJoCo model asks for is bounded before MuJoCo makes it: a line of text can ask for gigabytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Mapping
from math import prod
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import read_bytes, reading
from raisim_ros.description.limits import get_file_limits

_PNG = b"\x89PNG\r\n\x1a\n"
_GRIDS = ("composite", "flexcomp")
# Of what is soft, these move a few bodies, however many points there are.
_COARSE = ("trilinear", "quadratic")
# Files of points say how many there are: as text, or in two binary ways.
_NODES = re.compile(rb"\$Nodes\r?\n(?:(\d+) (\d+) \d+ \d+\r?\n|(\d+)\r?\n)?")


Sizes = tuple[int, int, int]  # elements, bodies, geoms
_LIMITS = ("max_elements", "max_model_bodies", "max_model_geoms")


def count_elements(root: etree._Element, file: Path, inner: Mapping[etree._Element, Sizes]) -> Sizes:
    """Elements, bodies and geoms after all replications; `inner`: what comes of the files that elements name."""
    limits = get_file_limits()
    most = [getattr(limits, name) for name in _LIMITS]
    models = {element.get("name"): inner[element] for element in inner if element.tag == "model"}
    largest = _sum(*models.values(), combine=max) if models else _NOTHING
    sizes: dict[etree._Element, Sizes] = {}
    for element in reversed(list(root.iter())):  # children before their parents
        size = _sum(_own(element), inner.get(element, _NOTHING), *(sizes.pop(child) for child in element))
        if element.tag == "attach":
            size = _sum(size, models.get(element.get("model"), largest))
        elif element.tag == "replicate":
            copies = _product(element.get("count"))
            size = (copies * size[0], copies * size[1], copies * size[2])
        for count, limit, name in zip(size, most, _LIMITS, strict=True):
            if count > limit:
                what = name.rpartition("_")[2]
                raise ParseError(file, element.sourceline, f"<{element.tag}>: more than {limit} {what} (limit {name})")
        sizes[element] = size
    return sizes[root]


_NOTHING: Sizes = (0, 0, 0)


def _own(element: etree._Element) -> Sizes:
    """Of an element alone. The points of what is soft are bodies."""
    bodies = int(element.tag == "body")
    if _has_bodies(element):
        given = max(len(element.get(name, "").split()) // 3 for name in ("point", "vertex"))
        bodies = max(_product(element.get("count")), given)
    return 1, bodies, int(element.tag == "geom")


def _has_bodies(element: etree._Element) -> bool:
    return element.tag in _GRIDS and element.get("rigid") != "true" and element.get("dof") not in _COARSE


def size_of_points(element: etree._Element, path: Path) -> Sizes:
    """What a soft element has for the points of the file that it names."""
    return (0, _points_in(path), 0) if _has_bodies(element) else _NOTHING


def _points_in(path: Path) -> int:
    """Vertices of a mesh in one of MuJoCo's formats, at least."""
    content = read_bytes(path, "mesh", get_file_limits().max_mesh_bytes, "max_mesh_bytes")
    if path.suffix.lower() == ".obj":
        return len(re.findall(rb"^v\s", content, re.MULTILINE))
    if path.suffix.lower() == ".stl":  # closed surfaces have half as many as triangles
        return max(0, len(content) - 84) // 100
    nodes = _NODES.search(content)
    if nodes is None:
        return struct.unpack_from("<i", content)[0] if len(content) >= 4 else 0
    if nodes.lastindex is not None:
        return int(nodes[2] or nodes[3])
    return struct.unpack_from("<Q", content, nodes.end() + 8)[0] if len(content) >= nodes.end() + 16 else 0


def _sum(*sizes: Sizes, combine: Callable[[Iterable[int]], int] = sum) -> Sizes:
    elements, bodies, geoms = (combine(column) for column in zip(*sizes, strict=True))
    return elements, bodies, geoms


def check_grids(root: etree._Element, file: Path) -> None:
    """Points of soft objects, heights, pixels and user data that are made from numbers alone."""
    limits = get_file_limits()
    wanted = [(one, _product(one.get("count")), limits.max_particles, "max_particles") for one in root.iter(*_GRIDS)]
    for tag, names, most, limit in (
        ("hfield", ("nrow", "ncol"), limits.max_samples, "max_samples"),
        ("texture", ("width", "height"), limits.max_texture_pixels, "max_texture_pixels"),
    ):
        wanted += [(one, prod(_product(one.get(name)) for name in names), most, limit) for one in root.iter(tag)]
    elements = sum(1 for _ in root.iter())
    for size in root.iter("size"):  # each body, joint, … has that much user data
        data = [_product(text) for name, text in size.items() if name.startswith("nuser")]
        wanted += [(size, elements * max(data, default=0), limits.max_samples, "max_samples")]
    for element, count, most, limit in wanted:
        _check(element, count, most, limit, file)


def check_image(element: etree._Element, image: Path, file: Path) -> None:
    """The pixels of a PNG image, of which its header tells."""
    limits = get_file_limits()
    with reading(image), image.open("rb") as stream:
        head = stream.read(24)
    if head[:8] == _PNG and len(head) == 24:
        width, height = struct.unpack(">II", head[16:])
        heights = element.tag == "hfield"
        most = limits.max_samples if heights else limits.max_texture_pixels
        _check(element, width * height, most, "max_samples" if heights else "max_texture_pixels", file)


def _check(element: etree._Element, count: int, most: int, limit: str, file: Path) -> None:
    if count > most:
        said = f"<{element.tag}>: {count} points; expected at most {most} (limit {limit})"
        raise ParseError(file, element.sourceline, said)


def _product(text: str | None) -> int:
    """Of the numbers in an attribute; 1 for what is no number, of which MuJoCo tells."""
    try:
        return prod(max(1, int(float(word))) for word in (text or "").split())
    except (ValueError, OverflowError):
        return 1

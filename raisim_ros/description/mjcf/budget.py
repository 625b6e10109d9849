"""What a MuJoCo model asks for is bounded before MuJoCo makes it: a line of text can ask for gigabytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from math import prod
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import reading
from raisim_ros.description.limits import get_file_limits

_PNG = b"\x89PNG\r\n\x1a\n"
_GRIDS = ("composite", "flexcomp")


Sizes = tuple[int, int, int]  # elements, bodies, geoms
_LIMITS = ("max_elements", "max_model_bodies", "max_model_geoms")


def count_elements(root: etree._Element, file: Path, inner: Mapping[etree._Element, Sizes]) -> Sizes:
    """Elements, bodies and geoms after all replications, with those of the files that `inner` elements name."""
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
    if element.tag in _GRIDS and element.get("rigid") != "true":
        bodies = _product(element.get("count"))
    return 1, bodies, int(element.tag == "geom")


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

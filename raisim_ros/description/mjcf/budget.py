"""What a MuJoCo model asks for is bounded before MuJoCo makes it: a line of text can ask for gigabytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import reading
from raisim_ros.description.limits import get_file_limits

_PNG = b"\x89PNG\r\n\x1a\n"
_GRIDS = ("composite", "flexcomp")


def count_elements(root: etree._Element, file: Path, inner: Mapping[etree._Element, int]) -> int:
    """Elements of a file after its replications, with those of the files that `inner` elements name."""
    most = get_file_limits().max_elements
    models = {element.get("name"): inner[element] for element in inner if element.tag == "model"}
    largest = max(models.values(), default=0)
    sizes: dict[etree._Element, int] = {}
    for element in reversed(list(root.iter())):  # children before their parents
        size = 1 + sum(sizes.pop(child) for child in element) + inner.get(element, 0)
        if element.tag == "attach":
            size += models.get(element.get("model"), largest)
        elif element.tag == "replicate":
            size *= _product(element.get("count"))
        if size > most:
            said = f"<{element.tag}>: more than {most} elements (limit max_elements)"
            raise ParseError(file, element.sourceline, said)
        sizes[element] = size
    return sizes[root]


def check_grids(root: etree._Element, file: Path) -> None:
    """Points of soft objects, heights and pixels that are made from numbers alone."""
    limits = get_file_limits()
    wanted = [(one, _product(one.get("count")), limits.max_particles, "max_particles") for one in root.iter(*_GRIDS)]
    for tag, names, most, limit in (
        ("hfield", ("nrow", "ncol"), limits.max_samples, "max_samples"),
        ("texture", ("width", "height"), limits.max_texture_pixels, "max_texture_pixels"),
    ):
        wanted += [(one, prod(_product(one.get(name)) for name in names), most, limit) for one in root.iter(tag)]
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

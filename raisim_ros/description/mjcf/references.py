"""The files that a model names, looked at before MuJoCo opens them: they must be allowed, and not too many."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.file_access import check_allowed
from raisim_ros.description.files import is_file, is_special
from raisim_ros.description.limits import IncludeBudget
from raisim_ros.description.mjcf.budget import Sizes, check_grids, check_image, count_elements, size_of_points
from raisim_ros.description.xml.source import parse_xml, read_text

_FOLDERS = ("meshdir", "texturedir", "assetdir")


_Source = tuple[Path, etree._Element]  # a file and its root element


def check_files(root: etree._Element, file: Path) -> None:
    """Follow includes and attached models; raises ParseError and FileRefusedError."""
    seen: list[_Source] = []
    below: dict[etree._Element, _Source] = {}
    _follow(root, file, file.parent, (file.resolve(),), IncludeBudget(), seen, below)
    _count(root, file, below, _check_named(seen))


def _count(
    root: etree._Element, file: Path, below: Mapping[etree._Element, _Source], points: Mapping[etree._Element, Sizes]
) -> Sizes:
    """How many elements, bodies and geoms a file has, with all that it names."""
    inner = {}
    for element in root.iter("include", "model", "flexcomp"):
        if element in below:
            path, content = below[element]
            inner[element] = _count(content, path, below, points)
        elif element in points:
            inner[element] = points[element]
    return count_elements(root, file, inner)


def _check_named(seen: list[_Source]) -> dict[etree._Element, Sizes]:
    """The files of meshes, textures and heights may be read, and come to an end: MuJoCo would wait for a pipe.

    What comes of those that are the points of something soft.
    """
    folders = {path.parent for path, _ in seen}
    named = {element.get(name, "") for _, top in seen for element in top.iter("compiler") for name in _FOLDERS}
    folders |= {folder / name for folder in set(folders) for name in named if name}
    points = {}
    for source, top in seen:
        for element in top.iter():
            for name, value in element.attrib.items():
                if str(name).startswith("file"):
                    found = _usable(element, str(value), folders, source)
                    if element.tag == "flexcomp" and found:
                        points[element] = max(size_of_points(element, path) for path in found)
    return points


def _usable(element: etree._Element, value: str, folders: set[Path], source: Path) -> list[Path]:
    """The files that an attribute may mean."""
    found = []
    for folder in folders:
        path = folder / value.replace("\\", "/")
        check_allowed(path, f"<{element.tag}>: file")
        if is_file(path):
            found.append(path)
            if element.tag in ("hfield", "texture"):
                check_image(element, path, source)
        elif is_special(path):
            raise ParseError(source, element.sourceline, f"<{element.tag}>: '{value}' is not a regular file")
    return found


def _follow(
    root: etree._Element,
    file: Path,
    folder: Path,
    above: tuple[Path, ...],
    budget: IncludeBudget,
    seen: list[_Source],
    below: dict[etree._Element, _Source],
) -> None:
    """Every file, and those that its elements lead to."""
    seen.append((file, root))
    check_grids(root, file)
    for element in (*root.iter("include"), *root.iter("model")):
        name = element.get("file", "").strip()
        budget.take(above, partial(ParseError, file, element.sourceline))
        inner = next((place for place in (folder / name, file.parent / name) if name and is_file(place)), None)
        if inner is None:
            raise ParseError(file, element.sourceline, f"<{element.tag}>: file '{name}' does not exist")
        if inner.resolve() in above:
            raise ParseError(file, element.sourceline, f"<{element.tag}>: '{name}' includes itself")
        beside = folder if element.tag == "include" else inner.parent
        content = parse_xml(read_text(inner), inner)
        below[element] = (inner, content)
        _follow(content, inner, beside, (*above, inner.resolve()), budget, seen, below)

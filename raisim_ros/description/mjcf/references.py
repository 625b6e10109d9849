"""The files that a model names, looked at before MuJoCo opens them: they must be allowed, and not too many."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.file_access import check_allowed
from raisim_ros.description.files import is_file, is_special
from raisim_ros.description.limits import IncludeBudget
from raisim_ros.description.mjcf.budget import Sizes, check_grids, check_image, check_points, count_elements, points_of
from raisim_ros.description.xml.source import parse_xml, read_text

_FOLDERS = ("meshdir", "texturedir", "assetdir")


_Source = tuple[Path, etree._Element]  # a file and its root element


def check_files(root: etree._Element, file: Path) -> None:
    """Follow includes and attached models; raises ParseError and FileRefusedError."""
    seen: list[_Source] = []
    _follow(root, file, file.parent, (file.resolve(),), IncludeBudget(), seen)
    _check_named(seen)


def _check_named(seen: list[_Source]) -> None:
    """The files of meshes, textures and heights may be read, and come to an end: MuJoCo would wait for a pipe."""
    folders = {path.parent for path, _ in seen}
    named = {element.get(name, "") for _, top in seen for element in top.iter("compiler") for name in _FOLDERS}
    folders |= {folder / name for folder in set(folders) for name in named if name}
    points = 0
    for source, top in seen:
        for element in top.iter():
            for name, value in element.attrib.items():
                if str(name).startswith("file"):
                    found = _usable(element, str(value), folders, source)
                    points += max((points_of(element, path) for path in found), default=0)
                    check_points(points, element, source)


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
) -> Sizes:
    """How many elements, bodies and geoms a file has, with all that it includes."""
    seen.append((file, root))
    check_grids(root, file)
    sizes = {}
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
        sizes[element] = _follow(content, inner, beside, (*above, inner.resolve()), budget, seen)
    return count_elements(root, file, sizes)

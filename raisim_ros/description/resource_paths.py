"""Where files named in a robot or world file are looked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from raisim_ros.description.errors import FileMissingError
from raisim_ros.description.files import expanded, is_file, working_folder

_PACKAGE, _MODEL, _FILE = "package://", "model://", "file://"

_ROOTS_ABOVE = 3  # folders above that of the robot file that may be the root of its package

MODULE_FOLDERS = (".", "modules", "../modules", "module", "../module")
SENSOR_FOLDERS = (".", "sensor", "sensors", "..", "../sensors")


def resource_candidates(address: str, directory: Path, res_path: str | Path = "") -> Iterator[Path]:
    """The places of a mesh or another file, in the order in which they are tried, each once.

    `address` is a path, ``file://``, ``package://PACKAGE/…`` or ``model://MODEL/…``; `directory` is the folder of
    the file that names it. A package is looked for in the prefixes of AMENT_PREFIX_PATH, then, like everything
    else, in `res_path`, then in and above `directory`. Relative paths also count from the working directory. In the
    end the folders above `directory` are taken for roots: of packages whose folder has another name, of folders inside
    a package that are all there is of it, and of relative paths.
    """
    address = address.strip().replace("\\", "/")
    if address.startswith(_FILE):
        return iter([Path(unquote(address.removeprefix(_FILE).removeprefix("localhost")))])
    if address.startswith(_PACKAGE):
        inside = address.removeprefix(_PACKAGE).lstrip("/")
        return _unique(chain(_in_ament_prefixes(inside), _near(inside, directory, res_path)))
    if address.startswith(_MODEL):
        return _unique(_near(address.removeprefix(_MODEL).lstrip("/"), directory, res_path))
    path = expanded(address)
    if path.is_absolute():
        return iter([path])
    named = [Path(res_path)] if str(res_path) else []
    folders = [*named, directory, *_working_folders(), *directory.parents[:_ROOTS_ABOVE]]
    return _unique(folder / path for folder in folders)


def _working_folders() -> list[Path]:
    """The working directory, unless somebody has removed it."""
    with suppress(FileMissingError):
        return [working_folder()]
    return []


def candidates_in_folders(address: str, directory: Path, folders: Iterable[str]) -> list[Path]:
    """The places of a module or sensor file: absolute, or in folders relative to `directory`."""
    path = expanded(address.strip().replace("\\", "/"))
    if path.is_absolute():
        return [path]
    return list(_unique(Path(os.path.normpath(directory / folder / path)) for folder in folders))


def first_file(candidates: Iterable[Path]) -> Path | None:
    """The full path of the first candidate that is a file."""
    for path in candidates:
        if is_file(path):
            return Path(os.path.abspath(path))
    return None


def portable_address(address: str, file: Path) -> str:
    """An address of `file` that needs neither the folder of the naming file nor this process's settings.

    ``package://`` stays where the ament index leads to the same file; everything else becomes ``file://``.
    """
    address = address.strip()
    if address.startswith(_PACKAGE):
        inside = address.removeprefix(_PACKAGE).lstrip("/")
        if str(file) in (os.path.abspath(place) for place in _in_ament_prefixes(inside)):
            return address
    return file.as_uri()


def _in_ament_prefixes(inside: str) -> list[Path]:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(prefix) / "share" / inside for prefix in prefixes if prefix]


def _near(inside: str, directory: Path, res_path: str | Path) -> Iterator[Path]:
    """``NAME/rest`` in `res_path`, with and without NAME, and in each folder from `directory` upwards."""
    name, _, rest = inside.partition("/")
    if str(res_path):
        yield from (Path(res_path) / inside, Path(res_path) / rest)
    for folder in [directory, *directory.parents]:
        if folder.name == name:
            yield folder / rest
        yield folder / inside
    roots = [directory, *directory.parents[:_ROOTS_ABOVE]]
    yield from (folder / rest for folder in roots)
    parts = rest.split("/")  # of a package that was taken apart, some folder with what is in it
    yield from (folder / "/".join(parts[first:]) for first in range(1, len(parts) - 1) for folder in roots)


def _unique(paths: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        if path not in seen:
            seen.add(path)
            yield path

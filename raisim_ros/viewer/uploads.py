"""Files that people give the page: kept as long as it is open, folders and archives unpacked."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_kind import ROBOT, WORLD, kind_of
from raisim_ros.description.mesh.cache import cache_folder
from raisim_ros.description.mjcf.file import is_mjcf

ZIPS, TARS = (".zip",), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
# An archive may not become larger than this [bytes].
MOST = 2_000_000_000
_DESCRIPTIONS = (".urdf", ".xacro", ".xml", ".mjcf")


class Uploads:
    """A folder in the package's cache, where nodes may read, too."""

    def __init__(self) -> None:
        base = cache_folder("uploads")
        try:
            base.mkdir(parents=True, exist_ok=True)
            self._folder = tempfile.TemporaryDirectory(dir=base)
        except OSError:  # a home that cannot be written to
            self._folder = tempfile.TemporaryDirectory(prefix="raisim_ros_")
        self._number = 0

    def close(self) -> None:
        """Forget everything."""
        self._folder.cleanup()

    def keep(self, name: str, content: bytes) -> list[Path]:
        """The file; or of an archive, the robots and worlds in it that somebody may mean."""
        self._number += 1
        folder = Path(self._folder.name) / str(self._number)
        folder.mkdir()
        file = folder / Path(name.replace("\\", "/")).name
        kind = file.name.lower()
        if not kind.endswith((*ZIPS, *TARS)):
            file.write_bytes(content)
            return [file]
        try:
            (_unzip if kind.endswith(ZIPS) else _untar)(content, folder)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError, zlib.error, lzma.LZMAError) as error:
            raise InvalidValueError(f"'{file.name}' cannot be unpacked: {error}") from None
        found = _described(folder)
        if not found:
            raise InvalidValueError(f"'{file.stem}' holds neither a robot (URDF, xacro, MJCF) nor a world file")
        return found


def _unzip(content: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_size(sum(entry.file_size for entry in archive.infolist()))
        archive.extractall(folder)  # it keeps names inside the folder


def _untar(content: bytes, folder: Path) -> None:
    size = 0
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
        for entry in archive:
            size += entry.size  # also of what is passed over: it has to be unpacked all the same
            _check_size(size)
            place = (folder / entry.name).resolve()
            if not place.is_relative_to(folder.resolve()):
                raise InvalidValueError(f"the archive's '{entry.name}' lies outside of its folder")
            content_of = archive.extractfile(entry) if entry.isfile() else None  # neither links nor devices
            if content_of is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content_of.read())


def _check_size(size: int) -> None:
    if size > MOST:
        raise InvalidValueError(f"the archive holds {size} bytes; expected at most {MOST}")


def short_names(files: list[Path]) -> list[str]:
    """As much of the end of each path as tells the files apart."""
    for count in range(1, max(len(file.parts) for file in files)):
        names = [str(Path(*file.parts[-count:])) for file in files]
        if len(set(names)) == len(names):
            break
    return names


def _described(folder: Path) -> list[Path]:
    """Robots and worlds below a folder; xacro, and MJCF without joints, only if there is nothing else."""
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in _DESCRIPTIONS and file.is_file())
    found = []
    for file in files:
        try:
            if kind_of(str(file)) in (ROBOT, WORLD):
                found.append(file)
        except InvalidValueError:
            continue  # package.xml and the like
    ready = [file for file in found if file.suffix.lower() != ".xacro" and not (is_mjcf(file) and not _moves(file))]
    return ready or found


def _moves(file: Path) -> bool:
    """Whether an MJCF file has bodies with joints; many are only parts for others to include."""
    waiting, seen = [file], {Path(os.path.realpath(file))}
    while waiting:
        part = waiting.pop()
        try:
            root = etree.parse(part, etree.XMLParser(resolve_entities=False)).getroot()
        except (etree.XMLSyntaxError, OSError):
            if part is file:
                return True  # whoever chooses it is told what is wrong
            continue
        worlds = root.iter("worldbody") if part is file else (root,)
        if any(next(body.iter("joint", "freejoint"), None) is not None for one in worlds for body in one.iter("body")):
            return True
        others = {Path(os.path.realpath(part.parent / str(one.get("file")))) for one in root.iter("include", "model")}
        waiting += others - seen  # each once, however often it is included
        seen |= others
    return False

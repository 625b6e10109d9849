"""Files that people give the page: kept for a month, folders and archives unpacked."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from raisim_ros.description.checked import shown
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.file_kind import MESH, ROBOT, WORLD, kind_of
from raisim_ros.description.mesh.cache import cache_folder
from raisim_ros.description.mjcf.file import is_mjcf
from raisim_ros.description.xml.source import parse_xml, read_text
from raisim_ros.viewer.unpack import is_archive, unpack

_DESCRIPTIONS = (".urdf", ".xacro", ".xml", ".mjcf")
# Nobody finds a robot among more buttons than this.
_MOST_FOUND = 500
# Folders in which nothing was put for so long are removed [s].
KEPT_FOR = 30 * 24 * 3600.0
_NONE = "neither a robot (URDF, xacro, MJCF) nor a world file, nor a mesh"


class Uploads:
    """A folder in the package's cache, where nodes may read, too.

    What was put there stays when the page goes: the node still has the robot, another page shows it, and worlds that
    were saved name its meshes.
    """

    def __init__(self) -> None:
        base = cache_folder("uploads")
        try:
            base.mkdir(parents=True, exist_ok=True)
            _forget_old(base)
            self._folder = Path(tempfile.mkdtemp(dir=base))
        except OSError:  # a home that cannot be written to
            self._folder = Path(tempfile.mkdtemp(prefix="raisim_ros_"))
        self._number = 0

    def close(self) -> None:
        """No more will come."""
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # of pages that nobody gave anything

    def keep(self, name: str, content: bytes) -> list[Path]:
        """The file; or of an archive, the robots and worlds in it, or else meshes, that somebody may mean.

        Nothing is kept of what is refused.
        """
        self._number += 1
        folder = self._folder / str(self._number)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)  # another viewer forgets what nobody used for long
            folder.mkdir()
        except OSError as error:
            raise InvalidValueError(f"{shown(name)} cannot be kept: {error.strerror}") from None
        try:
            return self._kept(Path(name.replace("\\", "/")).name, content, folder)
        except RaisimError:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _kept(self, name: str, content: bytes, folder: Path) -> list[Path]:
        if not is_archive(name):
            try:
                (folder / name).write_bytes(content)
            except (OSError, ValueError) as error:  # a full disk; names that no file can have
                reason = error.strerror if isinstance(error, OSError) else error
                raise InvalidValueError(f"{shown(name)} cannot be kept: {reason}") from None
            return [folder / name]
        unpack(name, content, folder)
        found = _described(folder) or _meshes(folder)
        if not 0 < len(found) <= _MOST_FOUND:
            what = f"{len(found)} robots, worlds or meshes; expected at most {_MOST_FOUND}" if found else _NONE
            raise InvalidValueError(f"'{name}' holds {what}")
        return found


def _forget_old(base: Path) -> None:
    for folder in base.iterdir():
        with contextlib.suppress(OSError):  # another viewer was faster
            if time.time() - folder.stat().st_mtime > KEPT_FOR:
                shutil.rmtree(folder)


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
        except RaisimError:
            continue  # package.xml and the like
    ready = [file for file in found if file.suffix.lower() != ".xacro"]
    return [file for file in ready if not is_mjcf(file) or _moves(file, folder)] or found


def _meshes(folder: Path) -> list[Path]:
    """Meshes below a folder: with their materials and images beside them, they come as one archive, too."""
    found = []
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        with contextlib.suppress(RaisimError):
            if kind_of(str(file)) == MESH:
                found.append(file)
    return found


def _moves(file: Path, folder: Path) -> bool:
    """Whether an MJCF file has bodies with joints; many are only parts for others to include."""
    waiting, seen = [file], {Path(os.path.realpath(file))}
    while waiting:
        part = waiting.pop()
        try:
            root = parse_xml(read_text(part, "model"), part)
        except RaisimError:
            if part is file:
                return True  # whoever chooses it is told what is wrong
            continue
        worlds = root.iter("worldbody") if part is file else (root,)
        if any(next(body.iter("joint", "freejoint"), None) is not None for one in worlds for body in one.iter("body")):
            return True
        others = {Path(os.path.realpath(part.parent / str(one.get("file")))) for one in root.iter("include", "model")}
        waiting += (other for other in others - seen if other.is_relative_to(os.path.realpath(folder)))
        seen |= others  # each once, however often it is included
    return False

"""Files that people give the page: kept as long as it is open, folders and archives unpacked."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_kind import ROBOT, WORLD, kind_of
from raisim_ros.description.mesh.cache import cache_folder

ARCHIVES = (".tar", ".zip")
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
        if file.suffix.lower() not in ARCHIVES:
            file.write_bytes(content)
            return [file]
        try:
            _unpack(content, folder, file.suffix.lower())
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError) as error:
            raise InvalidValueError(f"'{file.name}' cannot be unpacked: {error}") from None
        found = _described(folder)
        if not found:
            raise InvalidValueError(f"'{file.stem}' holds neither a robot (URDF, xacro, MJCF) nor a world file")
        return found


def _unpack(content: bytes, folder: Path, suffix: str) -> None:
    if suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_size(sum(entry.file_size for entry in archive.infolist()))
            archive.extractall(folder)  # it keeps names inside the folder
        return
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        files = [entry for entry in archive.getmembers() if entry.isfile()]  # neither links nor devices
        _check_size(sum(entry.size for entry in files))
        for entry in files:
            place = (folder / entry.name).resolve()
            if not place.is_relative_to(folder.resolve()):
                raise InvalidValueError(f"the archive's '{entry.name}' lies outside of its folder")
            place.parent.mkdir(parents=True, exist_ok=True)
            content_of = archive.extractfile(entry)
            place.write_bytes(content_of.read() if content_of is not None else b"")


def _check_size(size: int) -> None:
    if size > MOST:
        raise InvalidValueError(f"the archive holds {size} bytes; expected at most {MOST}")


def _described(folder: Path) -> list[Path]:
    """Robots and worlds below a folder: only the nearest ones, and URDF before what it may have been made from."""
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in _DESCRIPTIONS and file.is_file())
    found = []
    for file in files:
        try:
            if kind_of(str(file)) in (ROBOT, WORLD):
                found.append(file)
        except InvalidValueError:
            continue  # package.xml and the like
    ready = [file for file in found if file.suffix.lower() != ".xacro"]
    return ready or found

"""Archives that people give the page: looked through before anything of them is written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.zip_file import open_zip, read_entry

ZIPS, TARS = (".zip",), (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_READERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open))


def is_archive(name: str) -> bool:
    """Whether a file of that name is unpacked."""
    return name.lower().endswith((*ZIPS, *TARS))


def unpack(name: str, content: bytes, folder: Path) -> None:
    """Write the files of an archive below a folder; raises InvalidValueError."""
    # One that is not packed has been sent as it is: it takes no more than its own size.
    most = max(get_file_limits().max_archive_bytes, len(content))
    try:
        files = _zipped(content, most) if name.lower().endswith(ZIPS) else _tarred(content, most)
        for place, data in files:
            _write(folder, place, data)
    except InvalidValueError as error:
        raise InvalidValueError(f"'{name}' cannot be unpacked: {error}") from None
    except Exception as error:  # Python's readers of archives raise whatever damaged ones lead to
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidValueError(f"'{name}' cannot be unpacked: {reason}") from None


def _zipped(content: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    with open_zip(content, most, "max_archive_bytes") as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, read_entry(archive, entry)


def _tarred(content: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    for start, reader in _READERS:
        if content.startswith(start):
            with reader(io.BytesIO(content), "rb") as packed:
                content = packed.read(most + 1)
            if len(content) > most:
                raise InvalidValueError(f"it holds more than {most} bytes (limit max_archive_bytes)")
            break
    most_files = get_file_limits().max_archive_files
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for count, entry in enumerate(archive, start=1):
            if count > most_files:
                raise InvalidValueError(f"it holds more than {most_files} files (limit max_archive_files)")
            if entry.issparse():  # may be larger than the archive
                raise InvalidValueError(f"'{entry.name}' is a sparse file")
            stream = archive.extractfile(entry) if entry.isreg() else None  # neither links nor devices
            if stream is not None:
                yield entry.name, stream.read()


def _write(folder: Path, name: str, data: bytes) -> None:
    place = (folder / name.replace("\\", "/")).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise InvalidValueError(f"'{name}' lies outside of its folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)

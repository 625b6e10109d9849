"""Zip archives of strangers: what they say of themselves is bounded first, and not believed while they are unpacked.

Python's reader cuts an entry to the size that is written in the archive, but only after it has unpacked what it really
holds: an archive of 1.5 kB took 4 GB.
"""

from __future__ import annotations

import copy
import io
import zipfile

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import get_file_limits

# Of all others a few bytes become gigabytes in one call. Programs that make archives hardly use them.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENTRY = b"PK\1\2"
_PIECE = 1 << 20


def open_zip(content: bytes, most: int, limit: str) -> zipfile.ZipFile:
    """An archive that says that it holds at most so many bytes; raises InvalidValueError, or BadZipFile and others."""
    most_files = get_file_limits().max_archive_files
    # Millions of entries take gigabytes before one can ask how many there are.
    if content.count(_ENTRY) > most_files and zipfile.is_zipfile(io.BytesIO(content)):
        raise InvalidValueError(f"it holds more than {most_files} files (limit max_archive_files)")
    archive = zipfile.ZipFile(io.BytesIO(content))
    size = 0
    for entry in archive.infolist():
        size += entry.file_size
        if entry.compress_type not in _METHODS:
            method = f"packed by method {entry.compress_type}; expected 0 or 8 (deflate)"
            raise InvalidValueError(f"a file in it is {method}")
    if size > most:
        raise InvalidValueError(f"it holds {size} bytes; expected at most {most} (limit {limit})")
    return archive


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of an entry, in no more memory than its size."""
    with archive.open(entry) as stream:
        return stream.read(entry.file_size)


def check_entries(archive: zipfile.ZipFile) -> None:
    """Refuse entries that are longer than they say; for archives that somebody else is going to unpack."""
    for entry in archive.infolist():
        longer, left = copy.copy(entry), entry.file_size + 1
        longer.file_size += _PIECE  # so that a byte too many is given out; the end of this piece is not reached
        with archive.open(longer) as stream:
            while left > 0 and (piece := stream.read(min(left, _PIECE))):
                left -= len(piece)
        if left == 0:
            raise InvalidValueError(f"a file in it is longer than the {entry.file_size} bytes that it says")

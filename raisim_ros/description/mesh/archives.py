"""Archives among mesh files: how much they hold is looked at before they are unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

from raisim_ros.description.errors import MeshError, RaisimError
from raisim_ros.description.files import read_bytes, reading
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.zip_file import check_entries, open_zip, read_entry

# Compressed without saying how large their content is.
_WITHOUT_SIZE = (".gz", ".bz2", ".xz", ".tar", ".tgz", ".lzma", ".zst", ".7z")

# Of a file; nodes of glTF have up to 16 numbers, but most have none.
_VALUES_PER_ELEMENT = 10


def check_values(count: int, file: Path) -> None:
    """Refuse XML with more tags, and JSON with more values, than are read: they take a hundred times as much memory."""
    most = _VALUES_PER_ELEMENT * get_file_limits().max_elements
    if count > most:
        raise MeshError(f"{file}: more than {most} tags or values ({_VALUES_PER_ELEMENT} times the limit max_elements)")


def check_archive(file: Path) -> None:
    """Refuse an archive whose content is larger than the limits, and those that do not tell. Raises MeshError."""
    if file.suffix.lower() in _WITHOUT_SIZE:
        raise MeshError(f"{file}: archives of this kind are not accepted; unpack it first")
    with reading(file):
        if not zipfile.is_zipfile(file):
            return
    most = get_file_limits().max_archive_bytes
    content = read_bytes(file, "mesh", most, "max_archive_bytes")
    try:
        with open_zip(content, most, "max_archive_bytes") as archive:
            check_entries(archive)
            tags = sum(read_entry(archive, entry).count(b"<") for entry in archive.infolist())
    except RaisimError as error:
        raise MeshError(f"{file}: {error}") from None
    except Exception as error:  # Python's reader raises whatever damaged archives lead to
        raise MeshError(f"{file}: not a readable archive: {error}") from error
    check_values(tags, file)

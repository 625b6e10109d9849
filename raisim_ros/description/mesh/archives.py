"""Archives among mesh files: how much they hold is asked before they are unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

from raisim_ros.description.errors import FileReadError, MeshError
from raisim_ros.description.limits import get_file_limits

# Compressed without saying how large their content is.
_WITHOUT_SIZE = (".gz", ".bz2", ".xz", ".tar", ".tgz", ".lzma", ".zst", ".7z")
_MAX_FILES = 10_000


def check_archive(file: Path) -> None:
    """Refuse an archive whose content is larger than the limit, and those that do not tell. Raises MeshError."""
    if file.suffix.lower() in _WITHOUT_SIZE:
        raise MeshError(f"{file}: archives of this kind are not accepted; unpack it first")
    try:
        if not zipfile.is_zipfile(file):
            return
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise MeshError(f"{file}: not a readable archive: {error}") from error
    except OSError as error:
        raise FileReadError(file, error) from error
    most = get_file_limits().max_archive_bytes
    size = sum(entry.file_size for entry in entries)  # readers do not read beyond what is written there
    if size > most or len(entries) > _MAX_FILES:
        raise MeshError(
            f"{file}: an archive of {len(entries)} files with {size} bytes; expected at most {_MAX_FILES} files with "
            f"{most} bytes (limit max_archive_bytes)"
        )

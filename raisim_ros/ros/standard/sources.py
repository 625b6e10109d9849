"""Folders that requests name as sources of worlds and robots."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from raisim_ros.description.file_access import is_allowed
from raisim_ros.description.files import expanded, is_file


def source_folder(address: str) -> Path | None:
    """The folder of a path or file:// address; None when there is none that requests may look into."""
    path = address.removeprefix("file://")
    try:
        folder = expanded(path)
        return folder if path and is_allowed(folder) and folder.is_dir() else None
    except (OSError, ValueError):  # too long, a zero byte
        return None


def files_in(folder: Path, suffixes: Iterable[str]) -> list[Path]:
    """The files with these endings, in order; what only looks like one (a pipe, a folder) is left out."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix in suffixes and is_file(file))
    except OSError:  # may not be read
        return []

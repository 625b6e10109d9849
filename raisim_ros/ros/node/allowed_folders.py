"""The folders whose files requests may name: the parameter `allowed_folders`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from raisim_ros.description.checked import shown
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.files import expanded, working_folder
from raisim_ros.description.resources import resource_dir

EVERYTHING, DEFAULT = "*", "default"


def allowed_folders(given: str | Sequence[str], world_file: str) -> list[Path] | None:
    """The folders that the parameter means; None: everything.

    `given` is a list, or a text with ':' between the folders. "default", as nothing at all, stands for those of
    default_folders(); "*" for everything.
    """
    entries = given.split(os.pathsep) if isinstance(given, str) else given
    if not isinstance(entries, Sequence) or not all(isinstance(entry, str) for entry in entries):
        raise InvalidValueError(f"allowed_folders is {shown(given)}; expected a text or a list of texts")
    entries = [entry for entry in entries if entry] or [DEFAULT]
    if EVERYTHING in entries:
        return None
    folders = []
    for entry in entries:
        folder = expanded(entry)
        if entry == DEFAULT:
            folders += default_folders(world_file)
        elif not folder.is_dir():
            raise InvalidValueError(f"allowed_folders has '{entry}', which is not a folder")
        else:
            folders.append(folder)
    return folders


def default_folders(world_file: str) -> list[Path]:
    """Installed packages, the folder of the world file, the working directory and the cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or expanded("~/.cache")) / "raisim_ros"
    folders = [resource_dir(), working_folder(), cache]
    if world_file:
        folders.append(expanded(world_file).absolute().parent)
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            folders += _share_folders(Path(prefix) / "share")
    return folders


def _share_folders(share: Path) -> list[Path]:
    """A share folder, and the sources of the packages whose files there are links (colcon's --symlink-install)."""
    linked = [path.resolve().parent for path in share.glob("*/package.xml") if path.is_symlink()]
    return [share, *linked]

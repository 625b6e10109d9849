"""Where the worlds, robots and sensors that come with the package lie, however it was installed."""

from __future__ import annotations

import re
from pathlib import Path

from raisim_ros.description import checked
from raisim_ros.description.errors import FileMissingError

_PACKAGE = Path(__file__).resolve().parents[1]


def resource_dir() -> Path:
    """The installed ``rsc`` folder (``worlds/``, ``robots/``, ``sensors/``).

    Raises FileNotFoundError, naming the places looked at, when the installation is incomplete.
    """
    places = [
        _PACKAGE / "rsc",  # pip install
        _PACKAGE.parent / "rsc",  # source tree, also through colcon's --symlink-install
        # colcon: the package is <prefix>/lib/python3.x/site-packages/raisim_ros
        (_PACKAGE / "../../../../share/raisim_ros/rsc").resolve(),
    ]
    for place in places:
        if place.is_dir():
            return place
    looked_at = ", ".join(str(place) for place in places)
    raise FileNotFoundError(f"the rsc folder of raisim_ros is missing; looked at {looked_at}")


def package_version() -> str:
    """The version that package.xml tells, or the one that pip installed."""
    for place in (_PACKAGE.parent, (_PACKAGE / "../../../../share/raisim_ros").resolve()):
        found = re.search(r"<version>(.*?)</version>", _text(place / "package.xml"))
        if found:
            return found.group(1)
    from importlib.metadata import version  # slow to import

    return version("raisim_ros")


def _text(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return text if "<name>raisim_ros</name>" in text else ""


def resource(relative_path: str) -> Path:
    """The file of that name below the ``rsc`` folder, for example ``worlds/default.xml``.

    Raises FileMissingError with the full path when there is none.
    """
    path = resource_dir() / checked.path("relative_path", relative_path)
    try:
        exists = path.exists()
    except OSError:  # a name that is too long
        exists = False
    if not exists:
        raise FileMissingError(path, "resource")
    return path

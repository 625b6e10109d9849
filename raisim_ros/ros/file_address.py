"""Files named in requests and parameters: a path, `file://` or `package://<package>/…`."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from raisim_ros.description.errors import FileMissingError, InvalidValueError
from raisim_ros.description.file_access import check_allowed, is_allowed
from raisim_ros.description.files import existing_file, expanded, is_file, working_folder
from raisim_ros.description.resources import resource, resource_dir

_FILE, _PACKAGE = "file://", "package://"


def resolve_file(address: str, field: str, folders: tuple[Path, ...] = ()) -> Path:
    """The file that `address` names. Raises FileMissingError, naming field and place, when there is none.

    A relative path counts from the working folder of the node, then from `folders`.
    """
    if not address:
        raise InvalidValueError(f"{field} is empty; expected a path, a file:// or a package:// address")
    if address.startswith(_PACKAGE):
        return _in_package(address, field)
    path = expanded(address.removeprefix(_FILE))
    if path.is_absolute():
        return existing_file(path, field)
    places = (working_folder(), *folders)
    for place in places:
        if is_file(place / path):
            return place / path
    check_allowed(working_folder() / path, field)
    looked = ", ".join(str(place) for place in places if is_allowed(place / path))
    barred = ", ".join(str(place) for place in places if not is_allowed(place / path))
    if barred:
        looked += f"; not in {barred}, outside the allowed folders"
    raise FileMissingError(address, f"{field} (looked for in {looked})")


def _in_package(address: str, field: str) -> Path:
    package, _, inside = address.removeprefix(_PACKAGE).partition("/")
    if ".." in Path(inside).parts or Path(inside).is_absolute():
        raise InvalidValueError(f"{field} is '{address}'; expected a place inside the package")
    try:
        path = Path(get_package_share_directory(package)) / inside
    except (PackageNotFoundError, ValueError) as error:
        raise FileMissingError(address, f"{field}: package '{package}' is not installed;") from error
    check_allowed(path, field)
    if not is_file(path):
        raise FileMissingError(address, f"{field} (that is, {path})")
    return path


def resolve_world(address: str, field: str) -> Path:
    """The world file that `address` names: also by its name alone, one that comes with the package; empty: default."""
    if not address:
        return resource("worlds/default.xml")
    return resolve_file(address, field, (resource_dir() / "worlds",))

"""Files named in requests: a path, `file://` or `package://<package>/…`."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from raisim_ros.description.errors import FileMissingError, InvalidValueError
from raisim_ros.description.files import existing_file

_FILE, _PACKAGE = "file://", "package://"


def resolve_file(address: str, field: str) -> Path:
    """The file that `address` names. Raises FileMissingError, naming field and place, when there is none."""
    if not address:
        raise InvalidValueError(f"{field} is empty; expected a path, a file:// or a package:// address")
    if address.startswith(_PACKAGE):
        package, _, inside = address.removeprefix(_PACKAGE).partition("/")
        if ".." in Path(inside).parts or Path(inside).is_absolute():
            raise InvalidValueError(f"{field} is '{address}'; expected a place inside the package")
        try:
            path = Path(get_package_share_directory(package)) / inside
        except (PackageNotFoundError, ValueError) as error:
            raise FileMissingError(address, f"{field}: package '{package}' is not installed;") from error
    else:
        path = Path(address.removeprefix(_FILE)).expanduser()
    return existing_file(path, field)

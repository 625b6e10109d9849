"""What a file describes: a world, a robot, a mesh or a recording."""

from __future__ import annotations

import io
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import FileMissingError, InvalidValueError
from raisim_ros.description.files import is_file, read_bytes, reading
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh.file import USD_SUFFIXES
from raisim_ros.description.recording_file import MAGIC

RECORDING, WORLD, ROBOT, MESH = "recording", "world", "robot", "mesh"
_MESHES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf", ".dae", ".3mf", *USD_SUFFIXES)


def kind_of(path: str) -> str:
    """RECORDING, WORLD (also MJCF), ROBOT (URDF, xacro) or MESH; raises when it is none of them."""
    file = Path(path)
    if not is_file(file):
        raise FileMissingError(path, "file")
    suffix = file.suffix.lower()
    if suffix == ".raisim":
        return RECORDING
    if suffix in _MESHES:
        return MESH
    if suffix in (".urdf", ".xacro"):
        return ROBOT
    with reading(file), file.open("rb") as stream:
        if stream.read(len(MAGIC)) == MAGIC:  # whoever records may name the file as he likes
            return RECORDING
    source = io.BytesIO(read_bytes(file, "file", get_file_limits().max_file_bytes, "max_file_bytes"))
    try:
        root = next(etree.iterparse(source, events=("start",), resolve_entities=False, recover=True))[1].tag
    except (etree.XMLSyntaxError, StopIteration):
        root = ""
    if root in ("raisim", "mujoco"):
        return WORLD
    if root == "robot":
        return ROBOT
    raise InvalidValueError(f"'{path}' is no world, robot, mesh or recording that this program knows")

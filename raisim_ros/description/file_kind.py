"""What a file describes: a world, a robot, a mesh or a recording."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

from lxml import etree

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.files import check_size, existing_file, reading
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh.file import USD_SUFFIXES
from raisim_ros.description.recording_file import MAGIC

RECORDING, WORLD, ROBOT, MESH = "recording", "world", "robot", "mesh"
_PIECE = 65_536  # bytes that are read at once
_MESHES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf", ".dae", ".3mf", *USD_SUFFIXES)


def kind_of(path: str) -> str:
    """RECORDING, WORLD (also MJCF), ROBOT (URDF, xacro) or MESH; raises when it is none of them."""
    file = Path(path)
    existing_file(file, "file")
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
    tag, _ = root_of_file(file, "file")
    if tag in ("raisim", "mujoco"):
        return WORLD
    if tag == "robot":
        return ROBOT
    raise InvalidValueError(f"'{path}' is no world, robot, mesh or recording that this program knows")


def root_of_file(path: Path, what: str) -> tuple[str, dict[str, str]]:
    """Tag and attributes of the first element of a file; `what` is how messages call the file."""
    file = existing_file(path, what)
    check_size(file, get_file_limits().max_file_bytes, "max_file_bytes")
    with reading(file), file.open("rb") as stream:
        return _root_of(stream)


def root_of_text(text: str) -> tuple[str, dict[str, str]]:
    """Tag and attributes of the first element of a text."""
    return _root_of(io.BytesIO(text.encode(errors="replace")))


def _root_of(stream: IO[bytes]) -> tuple[str, dict[str, str]]:
    """Empty when it is no XML: whoever reads all of it tells what is wrong. No more is read than that takes."""
    parser = etree.XMLPullParser(events=("start",), resolve_entities=False, no_network=True, recover=True)
    try:
        while piece := stream.read(_PIECE):
            parser.feed(piece)
            for _, element in parser.read_events():
                return str(element.tag), {str(name): str(value) for name, value in element.attrib.items()}
    except etree.XMLSyntaxError:
        pass
    return "", {}

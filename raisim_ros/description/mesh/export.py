"""Writes meshes as OBJ files whose numbers read back to the same bits."""

from __future__ import annotations

from pathlib import Path

from raisim_ros.description.atomic_file import write_beside, write_file
from raisim_ros.description.mesh.file import MeshData


def write_obj(mesh: MeshData, path: Path) -> None:
    """Write vertices [m] and triangles."""
    write_file(path, obj_text(mesh))


def write_obj_beside(mesh: MeshData, path: Path) -> Path:
    """Write a mesh that a world file will name; the path that it got."""
    return write_beside(path, obj_text(mesh))


def obj_text(mesh: MeshData) -> bytes:
    """The content of the file."""
    lines = [f"v {float(x)!r} {float(y)!r} {float(z)!r}" for x, y, z in mesh.vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.triangles]
    return ("\n".join(lines) + "\n").encode()

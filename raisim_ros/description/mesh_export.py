"""Writes meshes as OBJ files whose numbers read back to the same bits."""

from __future__ import annotations

from pathlib import Path

from raisim_ros.description.mesh_file import MeshData


def write_obj(mesh: MeshData, path: Path) -> None:
    """Write vertices [m] and triangles."""
    lines = [f"v {float(x)!r} {float(y)!r} {float(z)!r}" for x, y, z in mesh.vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.triangles]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

"""Mesh files with their materials, read by trimesh.

What a file refers to (materials of OBJ, textures, buffers of glTF) is held to the allowed folders and the limits, as
the file itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import trimesh
from trimesh.resolvers import FilePathResolver

from raisim_ros.description.files import existing_file, read_bytes
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh.size import check_mesh_file


def read_scene(file: Path, source: IO[bytes] | None = None, **options: Any) -> trimesh.Scene:
    """The scene of a mesh file, or of `source` in its place. Raises errors of ours, and whatever trimesh raises."""
    existing_file(file, "mesh file")
    check_mesh_file(file)
    kind, resolver = file.suffix.lower().lstrip("."), _Beside(str(file))
    scene = trimesh.load_scene(source or str(file), file_type=kind, process=False, resolver=resolver, **options)
    for part in scene.geometry.values():
        if hasattr(part, "visual") and _has_huge_texture(part):
            part.visual = trimesh.visual.ColorVisuals()
    return scene


class _Beside(FilePathResolver):  # type: ignore[misc]  # trimesh has no types
    """Finds what a file refers to, also beside its folder (``../textures``), and only where this process may read."""

    def get(self, name: str) -> bytes:
        folder, wanted = Path(self.parent), name.strip()
        for candidate in (wanted, wanted.lstrip("/"), os.path.basename(wanted)):
            if (folder / candidate).is_file():
                return read_bytes(folder / candidate, "file", get_file_limits().max_mesh_bytes, "max_mesh_bytes")
        raise FileNotFoundError(name)

    def namespaced(self, namespace: str) -> _Beside:
        return _Beside(os.path.join(self.parent, namespace))


def _has_huge_texture(part: Any) -> bool:
    """Images are opened by their header alone until somebody looks at them."""
    most = get_file_limits().max_texture_pixels
    return any(image.size[0] * image.size[1] > most for image in _images(getattr(part.visual, "material", None)))


def _images(material: Any) -> list[Any]:
    """What trimesh's material holds, and those that it is made of."""
    parts = [one for one in (material, *getattr(material, "materials", ())) if one is not None]
    values = [value for one in parts for value in (*vars(one).values(), *getattr(one, "_data", {}).values())]
    return [value for value in values if hasattr(value, "convert")]

"""Images on the parts of a mesh file, and its plain colour: the mean of what materials, textures or vertices say."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.limits import get_file_limits

Rgb = tuple[float, float, float]


def mesh_color(path: str | Path) -> Rgb | None:
    """Red, green, blue (0..1), or None when the file has no colour, or none that can be read."""
    file = Path(path)
    if not file.is_file():
        return None
    return _read(str(file.resolve()), file.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _read(file: str, changed: int) -> Rgb | None:
    """`changed` makes the cache forget a file that was written anew."""
    from raisim_ros.description.mesh.scene import read_scene  # here: trimesh takes long to import

    try:
        parts = list(read_scene(Path(file)).geometry.values())
    except Exception:  # trimesh's readers raise whatever their parsers raise; shapes are read elsewhere
        return None
    colors = [(part_color(part.visual), float(part.area)) for part in parts if hasattr(part, "faces")]
    known = [(color, area) for color, area in colors if color is not None and area > 0.0]
    if not known:
        return None
    red, green, blue = np.average([color for color, _ in known], axis=0, weights=[area for _, area in known])
    return float(red), float(green), float(blue)


# What files that carry materials write of them.
_MATERIALS = {".dae": b"<diffuse", ".glb": b'"materials"', ".gltf": b'"materials"'}
# Materials, or colours of vertices; of other formats it is not known before they are read, but that .stl has none.
_COLORS = {
    ".stl": rb"(?!)",
    ".dae": rb'<diffuse|semantic="COLOR"',
    ".glb": rb'"materials"|"COLOR_0"',
    ".gltf": rb'"materials"|"COLOR_0"',
    ".obj": rb"(?m)^\s*mtllib\s|^\s*v(?:\s+[-+.\deE]+){6,}\s*$",
    ".ply": rb"\Aply\s(?:[^\n]*\n)*?property \w+ (?:red|diffuse_red)\s",
}


def brings_materials(path: str | Path) -> bool:
    """Whether a COLLADA or glTF file has materials of its own: as in rviz2, they count more than a colour in a URDF."""
    sign = _MATERIALS.get(Path(path).suffix.lower())
    return sign is not None and _contains(Path(path), re.escape(sign))


def has_colors(path: str | Path) -> bool:
    """Whether a mesh file has, or may have, colours or textures of its own; it is not read as a mesh for that."""
    return _contains(Path(path), _COLORS.get(Path(path).suffix.lower(), rb""))


def _contains(file: Path, sign: bytes) -> bool:
    return file.is_file() and _search(str(file.resolve()), file.stat().st_mtime_ns, sign)


@lru_cache(maxsize=1024)
def _search(file: str, changed: int, sign: bytes) -> bool:
    """`changed` makes the cache forget a file that was written anew."""
    if Path(file).stat().st_size > get_file_limits().max_mesh_bytes:
        return False  # whoever loads it is told
    return re.search(sign, Path(file).read_bytes()) is not None


def part_color(visual: Any) -> Rgb | None:
    """Colour of one of trimesh's visuals."""
    if not visual.defined:
        return None
    if visual.kind == "texture":
        image = _image(visual.material)
        tint = np.asarray(visual.material.main_color, float)[:3] / 255.0
        rgb = tint if image is None else image.mean(axis=(0, 1)) / 255.0
    else:
        rgb = np.asarray(visual.vertex_colors, float)[:, :3].mean(axis=0) / 255.0
    red, green, blue = np.clip(rgb, 0.0, 1.0)
    return float(red), float(green), float(blue)


def part_image(visual: Any) -> tuple[NDArray[np.uint8], NDArray[np.float64]] | None:
    """The image of one of trimesh's visuals (rows from the top, sRGB) and the places of its vertices in it; or None."""
    if not visual.defined or visual.kind != "texture" or visual.uv is None:
        return None
    image = _image(visual.material)
    return None if image is None else (image, np.asarray(visual.uv, float))


def _image(material: Any) -> NDArray[np.uint8] | None:
    """A material's texture in the material's own tint, or None."""
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if image is None:
        return None
    tint = getattr(material, "baseColorFactor", None)
    pixels = np.asarray(image.convert("RGB"), np.uint8)
    if tint is None:
        return pixels
    # The tint is a share of light, pixels are not. A table, as large images would take gigabytes as numbers.
    share = (np.asarray(tint, float)[:3] / 255.0) ** (1.0 / 2.2)
    table = np.round(np.arange(256.0)[:, None] * share).astype(np.uint8)
    return np.stack([table[pixels[..., k], k] for k in range(3)], axis=-1)

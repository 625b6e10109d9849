"""The plain colour of a mesh file: the mean over its surfaces of what its materials, textures or vertices say."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

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
    import trimesh

    try:
        parts = list(trimesh.load_scene(file, process=False).geometry.values())
    except Exception:  # trimesh's readers raise whatever their parsers raise; shapes are read elsewhere
        return None
    colors = [(part_color(part.visual), float(part.area)) for part in parts if hasattr(part, "faces")]
    known = [(color, area) for color, area in colors if color is not None and area > 0.0]
    if not known:
        return None
    red, green, blue = np.average([color for color, _ in known], axis=0, weights=[area for _, area in known])
    return float(red), float(green), float(blue)


def part_color(visual: Any) -> Rgb | None:
    """Colour of one of trimesh's visuals."""
    if not visual.defined:
        return None
    if visual.kind == "texture":
        image = _image(visual.material)
        tint = np.asarray(visual.material.main_color, float)[:3] / 255.0
        rgb = tint if image is None else image
    else:
        rgb = np.asarray(visual.vertex_colors, float)[:, :3].mean(axis=0) / 255.0
    red, green, blue = np.clip(rgb, 0.0, 1.0)
    return float(red), float(green), float(blue)


def _image(material: Any) -> Any:
    """Mean colour of a material's texture, or None."""
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    return None if image is None else np.asarray(image.convert("RGB"), float).mean(axis=(0, 1)) / 255.0

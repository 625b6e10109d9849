"""Shapes as geoms, and the assets that they need: meshes go to files beside the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.atomic_file import write_beside
from raisim_ros.description.mesh.export import obj_text
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.mesh.size import binary_stl_triangles
from raisim_ros.description.mjcf.document import Document, add, placed
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.kinematic_tree import TreeShape
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array
from raisim_ros.description.shapes import SHAPES
from raisim_ros.description.world.types import HeightMapEntry

COLLISION_GROUP, VISUAL_GROUP = 3, 2  # MuJoCo's viewer draws the groups 0 to 2
_STL_TRIANGLES = 200_000  # MuJoCo reads no more of an STL file
_CONE_SIDES = 32
_LEAST = 1e-14  # kg, kg m²: MuJoCo refuses bodies with less than 1e-15
_FIELD_BASE = 1.0  # thickness of what is below the lowest point of a height field [m]


class ShapeWriter:
    """Makes attributes of geoms and fills <asset>."""

    def __init__(self, document: Document, path: Path) -> None:
        self._document = document
        self._folder = path.parent / f"{path.stem}_assets"
        self._files: dict[str, str] = {}  # of meshes, by where they come from
        self._meshes: dict[tuple[str, tuple[float, ...]], str] = {}

    def of_tree(self, shape: TreeShape) -> dict[str, Any]:
        """Of a robot's shape."""
        if shape.shape != "mesh":
            return self.primitive(shape.shape, shape.dim)
        return self.mesh(Path(shape.mesh_file or ""), tuple(map(float, shape.scale)))

    def primitive(self, shape: str, dim: Sequence[float]) -> dict[str, Any]:
        """Of a shape with few numbers."""
        factors = SHAPES[shape].mjcf
        if factors:
            return {"type": shape, "size": [length / factor for length, factor in zip(dim, factors, strict=True)]}
        return {"type": "mesh", "mesh": self._cone(dim[0], dim[1])}

    def mesh(self, file: Path, scale: tuple[float, ...]) -> dict[str, Any]:
        """Of a mesh; one that came as an ellipsoid is one again."""
        if file == resource("meshes/unit_sphere.obj"):
            return {"type": "ellipsoid", "size": scale}
        key = str(file), scale
        if key not in self._meshes:
            self._meshes[key] = self._document.name("mesh", file.stem)
            scaled = scale if scale != (1.0, 1.0, 1.0) else None
            self._add_mesh(self._meshes[key], file=self._file(file), scale=scaled)
        return {"type": "mesh", "mesh": self._meshes[key]}

    def _add_mesh(self, name: str, **attributes: Any) -> None:
        # Masses are given: how MuJoCo would find that of a mesh may only not fail.
        add(self._document["asset"], "mesh", name=name, inertia="shell", **attributes)

    def _file(self, source: Path) -> str:
        """A file that MuJoCo reads, relative to the model."""
        key = str(source)
        if key not in self._files:
            suffix = source.suffix.lower()
            triangles = binary_stl_triangles(source) if suffix == ".stl" else None
            if triangles is not None and triangles <= _STL_TRIANGLES:
                content = source.read_bytes()
            else:
                suffix, content = ".obj", obj_text(load_mesh(source))
            written = write_beside(self._folder / (source.stem + suffix), content)
            self._files[key] = f"{self._folder.name}/{written.name}"
        return self._files[key]

    def _cone(self, radius: float, height: float) -> str:
        key = f"cone {radius!r} {height!r}", (1.0, 1.0, 1.0)
        if key not in self._meshes:
            self._document.notes.add(f"round cones, which have {_CONE_SIDES} sides")
            angles = [2.0 * math.pi * k / _CONE_SIDES for k in range(_CONE_SIDES)]
            rim = [(radius * math.cos(angle), radius * math.sin(angle), -0.25 * height) for angle in angles]
            self._meshes[key] = self._document.name("mesh", "cone")
            self._add_mesh(self._meshes[key], vertex=np.ravel([(0.0, 0.0, 0.75 * height), *rim]))
        return self._meshes[key]

    def height_field(self, entry: HeightMapEntry) -> dict[str, Any]:
        """Of a heightmap, with its place."""
        heights = np.array(entry.heights, dtype=np.float64).reshape(entry.y_samples, entry.x_samples)
        lowest, highest = float(heights.min()), float(heights.max())
        name = self._document.name("hfield", entry.name or "heightmap")
        span = highest - lowest if highest > lowest else 1.0  # which no point has then
        add(
            self._document["asset"],
            "hfield",
            name=name,
            nrow=entry.y_samples,
            ncol=entry.x_samples,
            size=(0.5 * entry.x_size, 0.5 * entry.y_size, span, _FIELD_BASE),
            elevation=heights[::-1].ravel(),  # MuJoCo's first row is that of the largest y
        )
        x, y, z = entry.center
        return {"type": "hfield", "hfield": name, "pos": (x, y, z + lowest)}


def add_inertial(body: etree._Element, mass: float, com: Array, inertia: Array) -> bool:
    """Write <inertial>. MuJoCo takes no zero, and only moments that a real body can have: returns whether these are."""
    symmetric = 0.5 * (inertia + inertia.T)
    moments, axes = np.diagonal(symmetric), np.eye(3)
    if (symmetric != np.diag(moments)).any():
        moments, axes = np.linalg.eigh(symmetric)
        axes = axes if np.linalg.det(axes) > 0.0 else -axes
    rounding = 1e-9 * float(np.abs(moments).max())
    is_real = bool(moments.min() >= -rounding and moments.sum() >= 2.0 * moments.max() - rounding)
    moments = np.maximum(moments, _LEAST)
    largest = int(moments.argmax())
    moments[largest] = min(moments[largest], moments.sum() - moments[largest])
    pose = placed(Pose(com, axes))
    pose["pos"] = com
    add(body, "inertial", **pose, mass=max(mass, _LEAST), diaginertia=moments)
    return is_real

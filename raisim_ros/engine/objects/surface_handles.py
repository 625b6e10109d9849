"""Handles of objects made of surfaces: meshes and heightmaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.file import MeshData
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.terrain import HeightMapData, height_map_from_values
from raisim_ros.engine import arguments
from raisim_ros.engine._library import lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.assets import listed_asset
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.types import CollisionBody, MeshCollisionMode

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


class Mesh(SingleBodyObject):
    """A body with the shape of a mesh; origin where the mesh file has it."""

    _mesh: MeshData
    _file_name: str
    _scale: Vector
    _mode: MeshCollisionMode

    def __init__(
        self,
        world: Home,
        engine_id: int,
        collision_bodies: Sequence[CollisionBody],
        mesh: MeshData,
        file_name: str,
        scale: Vector,
        mode: MeshCollisionMode,
    ) -> None:
        super().__init__(world, engine_id, ObjectType.MESH, collision_bodies)
        self._mesh = mesh
        self._file_name = file_name
        self._scale = scale
        self._mode = mode

    def get_mesh_file_name(self) -> str:
        """File the mesh came from."""
        return self._file_name

    def get_scale(self) -> Vector:
        """Factors along x, y and z between the file and the mesh."""
        return self._scale.copy()

    def get_mesh(self) -> MeshData:
        """Vertices (scaled, body frame) and triangles of the mesh."""
        return self._mesh

    def get_collision_mode(self) -> MeshCollisionMode:
        """What collides in place of the mesh."""
        return self._mode


class HeightMap(SingleBodyObject):
    """Terrain on a regular grid, always static; solid below its surface. Queries use world x and y."""

    _KEPT = (*SingleBodyObject._KEPT, "_data", "_color", "_color_map")
    _data: HeightMapData
    _updated: bool
    _color: str
    _color_map: Vector | None

    def __init__(
        self, world: Home, engine_id: int, collision_bodies: Sequence[CollisionBody], data: HeightMapData
    ) -> None:
        super().__init__(world, engine_id, ObjectType.HEIGHTMAP, collision_bodies)
        self._data = data
        self._updated = True
        self._color = ""
        self._color_map = None

    def get_data(self) -> HeightMapData:
        """Sizes and heights as given; get_position() tells where the centre lies now."""
        self._alive()
        return self._data

    def get_x_samples(self) -> int:
        """Samples along x."""
        return self.get_data().x_samples

    def get_y_samples(self) -> int:
        """Samples along y."""
        return self.get_data().y_samples

    def get_x_size(self) -> float:
        """Length along x [m]."""
        return self.get_data().x_size

    def get_y_size(self) -> float:
        """Length along y [m]."""
        return self.get_data().y_size

    def get_center_x(self) -> float:
        """World x of the centre [m]."""
        return float(self.get_position()[0])

    def get_center_y(self) -> float:
        """World y of the centre [m]."""
        return float(self.get_position()[1])

    def get_height_vector(self) -> Vector:
        """Heights in the map's frame, ``[iy * x_samples + ix]`` [m]."""
        return self.get_data().heights.reshape(-1).copy()

    def get_height(self, x: float, y: float) -> float:
        """World z of the surface at world x, y [m]; outside the map that of its border."""
        height, _, _ = self._plane(x, y)
        return height

    def get_normal(self, x: float, y: float) -> Vector:
        """Unit normal of the surface at world x, y."""
        _, slope_x, slope_y = self._plane(x, y)
        normal: Vector = np.array([-slope_x, -slope_y, 1.0])
        normal /= np.linalg.norm(normal)
        return normal

    def _plane(self, x: float, y: float) -> tuple[float, float, float]:
        """Height and slopes of the triangle below world x, y."""
        center, data = self.get_position(), self.get_data()
        dx, dy = data.x_size / (data.x_samples - 1), data.y_size / (data.y_samples - 1)
        x, y = arguments.number("x", x), arguments.number("y", y)
        if math.isnan(x) or math.isnan(y):
            raise InvalidValueError(f"x, y are {x}, {y}; expected numbers")
        u = np.clip((x - center[0] + data.x_size / 2) / dx, 0, data.x_samples - 1)
        v = np.clip((y - center[1] + data.y_size / 2) / dy, 0, data.y_samples - 1)
        ix, iy = min(int(u), data.x_samples - 2), min(int(v), data.y_samples - 2)
        u, v = u - ix, v - iy
        (h00, h10), (h01, h11) = data.heights[iy : iy + 2, ix : ix + 2]
        # Cells are split along the diagonal (ix, iy) - (ix + 1, iy + 1).
        rise_x, rise_y = (h10 - h00, h11 - h10) if u >= v else (h11 - h01, h01 - h00)
        return float(center[2] + h00 + u * rise_x + v * rise_y), rise_x / dx, rise_y / dy

    def update(
        self,
        center_x: float,
        center_y: float,
        x_size: float,
        y_size: float,
        height: Sequence[float] | NDArray[np.float64],
    ) -> None:
        """Replace centre, size and heights; the numbers of samples stay."""
        old = self.get_data()
        data = height_map_from_values(
            old.x_samples, old.y_samples, x_size, y_size, height, center_x, center_y, source=repr(self)
        )
        with listed_asset(self._c, data) as asset:
            position = [data.center_x, data.center_y, float(self.get_position()[2])]
            check(lib.rs_body_set_heightmap(self._c, self._engine_id, asset, position))
        self._data = data
        self._updated = True

    def is_updated(self) -> bool:
        """True after creation and after update(), until set_updated_false()."""
        return self._updated

    def set_updated_false(self) -> None:
        """Remember that whoever draws the map has seen it."""
        self._updated = False

    def set_color(self, color: str | Vector) -> None:
        """Set one colour (see set_appearance()), or one r, g, b (0..1) per sample."""
        check(lib.rs_world_touch(self._c))
        if isinstance(color, str):
            self._color, self._color_map = color, None
            return
        data = self.get_data()
        self._color_map = arguments.table("color", color, (data.y_samples, data.x_samples, 3))

    def get_color(self) -> str:
        """The one colour, empty when none was set."""
        return self._color

    def get_color_map(self) -> Vector | None:
        """Colour per sample, [iy, ix, rgb], or None."""
        return self._color_map

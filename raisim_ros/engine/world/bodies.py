"""The part of World that adds objects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import terrain
from raisim_ros.description.collision_groups import GROUND_GROUP, HEIGHTMAP_GROUP
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.convex_decomposition import CoacdOptions
from raisim_ros.description.mesh.file import MeshData, load_mesh
from raisim_ros.description.shapes import ObjectType, ShapeType
from raisim_ros.description.terrain import HeightMapData, TerrainProperties
from raisim_ros.engine import arguments
from raisim_ros.engine.arguments import VectorLike
from raisim_ros.engine.assets import listed_asset
from raisim_ros.engine.collision_parts import collision_parts
from raisim_ros.engine.entries.body_builder import ALL, DIM_SIZES, ORIGIN, BodyDraft, insert_body
from raisim_ros.engine.entries.primitives import Primitives
from raisim_ros.engine.objects.handles import Compound, Ground
from raisim_ros.engine.objects.placed import BodyKeywords
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import BodyType, CompoundChild, MeshCollisionMode
from raisim_ros.engine.world.core import WorldCore

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Bodies(Primitives, WorldCore):
    """Adding single bodies. A failed call leaves the world as it was.

    Every method takes `name`, `position` [m], `orientation` (quaternion w, x, y, z or rotation matrix), `velocity`
    (linear, or linear and angular), `body_type`, `appearance`, `linear_damping` [N s/m], `angular_damping` [N m s/rad]
    and `gyroscopic_mode` as keywords, too; primitive shapes `com` and `inertia`, besides.
    """

    def add_ground(
        self,
        z_height: float = 0.0,
        material: str = "default",
        collision_mask: int = ALL,
        **placed: Unpack[BodyKeywords],
    ) -> Ground:
        """Add the half-space below z = `z_height` [m]; its collision group is bit 61."""
        body = BodyDraft(
            ObjectType.GROUND,
            [CompoundChild(ShapeType.HALF_SPACE, (), material=material)],
            body_type=BodyType.STATIC,
            position=(0.0, 0.0, z_height),
            collision_group=GROUND_GROUP,
            collision_mask=collision_mask,
        )
        return insert_body(
            self, body, placed, lambda world, key, shapes: Ground(world, key, ObjectType.GROUND, shapes)
        )

    def add_compound(
        self,
        children: Sequence[CompoundChild],
        mass: float,
        com: VectorLike = ORIGIN,
        inertia: Sequence[VectorLike] | NDArray[Any] | None = None,
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[BodyKeywords],
    ) -> Compound:
        """Add one rigid body made of several primitives.

        `com` is in the body frame [m], `inertia` about it (3 x 3, body axes) [kg m^2]; without it the children count
        as uniform solids of equal density.
        """
        if not isinstance(children, Sequence) or not children:
            raise InvalidValueError(f"children is {arguments.shown(children)}; expected at least one CompoundChild")
        for child in children:
            if not isinstance(child, CompoundChild):
                raise InvalidValueError(f"a child is {child!r}; expected a CompoundChild")
            if child.shape not in DIM_SIZES:
                raise InvalidValueError(f"the shape of a child is {child.shape!r}; expected a primitive")
        body = BodyDraft(
            ObjectType.COMPOUND,
            children,
            mass,
            com=com,
            inertia=inertia,
            inertia_given=inertia is not None,
            collision_group=collision_group,
            collision_mask=collision_mask,
        )
        return insert_body(
            self, body, placed, lambda world, key, bodies: Compound(world, key, ObjectType.COMPOUND, bodies)
        )

    def add_mesh(
        self,
        mesh: str | Path | MeshData | Mesh,
        mass: float | None = None,
        inertia: Sequence[VectorLike] | NDArray[Any] | None = None,
        com: VectorLike | None = None,
        scale: float | VectorLike = 1.0,
        material: str = "default",
        collision_mode: MeshCollisionMode = MeshCollisionMode.CONVEXIFY,
        collision_group: int = 1,
        collision_mask: int = ALL,
        coacd_options: CoacdOptions | None = None,
        **placed: Unpack[BodyKeywords],
    ) -> Mesh:
        """Add a body with the shape of a mesh: a file, mesh data, or another mesh object to clone.

        Without `inertia` and `com` [kg m^2, m] they are those of the mesh's bounding box as a uniform solid. The
        convex decomposition needs the package coacd; without it the original triangles collide, with a warning.
        """
        file_name, factors = "", np.ones(3)
        if isinstance(mesh, Mesh):
            self._own(mesh)
            mass = mesh.get_mass() if mass is None else mass
            inertia = mesh.get_inertia_matrix_b() if inertia is None else inertia
            com = mesh.get_com() if com is None else com
            data, file_name, collision_mode = mesh.get_mesh(), mesh.get_mesh_file_name(), mesh.get_collision_mode()
            factors = mesh.get_scale()
        elif isinstance(mesh, MeshData):
            data = mesh
        else:
            file_name = str(arguments.path("mesh", mesh))
            factors = arguments.vector("scale", [scale] * 3 if isinstance(scale, (int, float)) else scale, 3)
            data = load_mesh(file_name, list(factors))
        if mass is None:
            raise InvalidValueError("mass is missing; only the clone of a mesh takes it over")
        mass = arguments.number("mass", mass)

        collision_mode = arguments.choice("collision_mode", MeshCollisionMode, collision_mode)
        parts = collision_parts(data, collision_mode, coacd_options)
        with ExitStack() as assets:
            shapes = []
            for part in parts:
                original = collision_mode == MeshCollisionMode.ORIGINAL_MESH or part is data
                make = listed_asset(self._world, part if original else part.vertices)
                kind = ShapeType.MESH if original else ShapeType.CONVEX
                shapes.append(CompoundChild(kind, (), asset=assets.enter_context(make), material=material))
            body = BodyDraft(
                ObjectType.MESH,
                shapes,
                mass,
                com=data.box_center() if com is None else com,
                inertia=data.box_inertia(mass) if inertia is None else inertia,
                inertia_given=inertia is not None,
                collision_group=collision_group,
                collision_mask=collision_mask,
            )
            made = data, file_name, factors, collision_mode
            return insert_body(self, body, placed, lambda world, key, bodies: Mesh(world, key, bodies, *made))

    # ---- heightmaps ----

    def add_height_map(
        self,
        source: int | str | Path | TerrainProperties | HeightMapData | HeightMap,
        y_samples: int | None = None,
        x_size: float | None = None,
        y_size: float | None = None,
        center_x: float = 0.0,
        center_y: float = 0.0,
        height: Sequence[float] | NDArray[Any] | None = None,
        material: str = "default",
        collision_group: int = HEIGHTMAP_GROUP,
        collision_mask: int = ALL,
        *,
        height_scale: float | None = None,
        height_offset: float = 0.0,
        **placed: Unpack[BodyKeywords],
    ) -> HeightMap:
        """Add terrain; the first argument says where it comes from.

        - ``(x_samples, y_samples, x_size, y_size, center_x, center_y, height)``: values, ``[iy * x_samples + ix]``;
        - a ``.png`` file (8- or 16-bit greyscale) with `x_size`, `y_size`, `height_scale` and `height_offset`;
        - a text file (``x_samples y_samples x_size y_size`` and the heights);
        - TerrainProperties: a fractal landscape;
        - HeightMapData, or another heightmap to clone.
        """
        if isinstance(source, HeightMap):
            self._own(source)
            data = source.get_data()
            position = source.get_position()
        else:
            data = _height_map_data(
                source, y_samples, x_size, y_size, center_x, center_y, height, height_scale, height_offset
            )
            position = np.array([data.center_x, data.center_y, 0.0])
        with listed_asset(self._world, data) as asset:
            body = BodyDraft(
                ObjectType.HEIGHTMAP,
                [CompoundChild(ShapeType.HEIGHTMAP, (), asset=asset, material=material)],
                body_type=BodyType.STATIC,
                position=position,
                collision_group=collision_group,
                collision_mask=collision_mask,
            )
            return insert_body(self, body, placed, lambda world, key, bodies: HeightMap(world, key, bodies, data))


def _height_map_data(
    source: int | str | Path | TerrainProperties | HeightMapData,
    y_samples: int | None,
    x_size: float | None,
    y_size: float | None,
    center_x: float,
    center_y: float,
    height: Sequence[float] | NDArray[Any] | None,
    height_scale: float | None,
    height_offset: float,
) -> HeightMapData:
    if isinstance(source, HeightMapData):
        return source
    if isinstance(source, TerrainProperties):
        return terrain.generate_height_map(source, center_x, center_y)
    if isinstance(source, (str, Path)):
        if arguments.path("source", source).suffix.lower() != ".png":
            return terrain.height_map_from_text(source, center_x, center_y)
        if x_size is None or y_size is None or height_scale is None:
            raise InvalidValueError("a PNG heightmap needs x_size, y_size and height_scale")
        return terrain.height_map_from_png(source, x_size, y_size, height_scale, height_offset, center_x, center_y)
    if y_samples is None or x_size is None or y_size is None or height is None:
        raise InvalidValueError("a heightmap of values needs x_samples, y_samples, x_size, y_size and height")
    return terrain.height_map_from_values(source, y_samples, x_size, y_size, height, center_x, center_y)

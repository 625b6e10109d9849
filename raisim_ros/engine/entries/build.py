"""From a WorldDescription to objects in a world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description import terrain
from raisim_ros.description.errors import (
    FileMissingError,
    InvalidValueError,
    MeshError,
    ParseError,
    RaisimError,
    TerrainError,
)
from raisim_ros.description.limits import check_particles
from raisim_ros.description.shapes import ShapeType
from raisim_ros.description.terrain import HeightMapData, TerrainProperties
from raisim_ros.description.world.soft_entries import DeformableEntry, GranularEntry
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyEntry,
    BodyState,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    ViewCameraEntry,
    WorldDescription,
)
from raisim_ros.engine.entries.body_builder import insert_primitive
from raisim_ros.engine.entries.build_articulated import add_articulated_entry
from raisim_ros.engine.entries.build_soft import add_deformable_entry, add_granular_entry, tie_deformable
from raisim_ros.engine.entries.build_wires import add_wire_entry
from raisim_ros.engine.entries.defaults import engine_defaults
from raisim_ros.engine.entries.primitives import PRIMITIVES
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import (
    BodyType,
    BroadphaseSettings,
    BroadphaseType,
    CompoundChild,
    ContactSettings,
    GyroscopicMode,
    MeshCollisionMode,
)

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World

_ORIGIN = _AT_REST = (0.0, 0.0, 0.0)


def add_description(world: World, description: WorldDescription) -> None:
    """Applies settings and adds all objects. On any error the world is as it was."""
    before = world.save_snapshot()
    try:
        _apply_settings(world, description)
        objects: list[Object] = []
        particles = 0
        for entry in description.objects:
            with _told_with_its_place(entry):
                objects.append(add_entry(world, entry))
                if isinstance(objects[-1], SoftObject):  # how many a mesh has is known when it is read
                    particles += objects[-1].get_num_particles()
                    check_particles("the world", particles)
        for entry, handle in zip(description.objects, objects, strict=True):
            if isinstance(entry, DeformableEntry) and isinstance(handle, DeformableObject):
                tie_deformable(world, entry, handle, objects)
        for wire in description.wires:
            add_wire_entry(world, wire, objects)
    except BaseException:
        world.restore_snapshot(before)
        raise


def _apply_settings(world: World, description: WorldDescription) -> None:
    settings = description.settings
    if settings.gravity is not None:
        world.set_gravity(settings.gravity)
    if settings.fluid is not None:
        world.set_fluid(**settings.fluid)
    if settings.time_step is not None:
        world.set_time_step(settings.time_step)
    if settings.erp is not None:
        world.set_erp(**{**engine_defaults("erp"), **settings.erp})
    if settings.time is not None:
        world.set_world_time(settings.time)
    if settings.solver is not None:
        solver = {**engine_defaults("solver"), **settings.solver}
        world.set_contact_solver_param(1.0, 1.0, 1.0, solver["max_iterations"], solver["threshold"])
        world.set_contact_solver_iteration_order(solver["fixed_order"])
    if settings.contact is not None:
        world.set_contact_settings(_contact_settings({**engine_defaults("contact"), **settings.contact}))
    if settings.sleeping is not None:
        sleeping = {**engine_defaults("sleeping"), **settings.sleeping}
        world.set_sleeping_parameters(
            sleeping["linear_threshold"], sleeping["angular_threshold"], sleeping["quiet_steps"]
        )
        world.set_sleeping_enabled(sleeping["enabled"])
    if description.viewpoint is not None:
        world.set_viewpoint(description.viewpoint)
    if description.named_poses:
        world.set_named_poses([*world.get_named_poses(), *description.named_poses])
    if description.materials is not None:
        world.update_material_prop(description.materials)


def _contact_settings(values: dict[str, Any]) -> ContactSettings:
    grid = {name: value for name, value in values.items() if name.startswith("mbp_")}
    others = {name: value for name, value in values.items() if name not in grid and name != "broadphase"}
    broadphase = BroadphaseSettings(BroadphaseType[values["broadphase"].upper()], **grid)
    return ContactSettings(**others, broadphase=broadphase)


def add_entry(world: World, entry: ObjectEntry) -> Object:
    """Adds one object, complete; on any error the world is as it was."""
    before = len(world._handles)
    try:
        handle = _ADDERS[type(entry)](world, entry)
        handle.set_appearance(entry.appearance)
        handle.set_name(entry.name)
        handle.set_interface(entry.interface)
        if isinstance(entry, BodyEntry) and entry.sensor is not None:
            world.add_sensor_set(handle, entry.sensor)
        for one in entry.sensor_sets:
            world.add_sensor_set(handle, one.model, one.link).set_serial_number(one.serial_number)
    except BaseException:
        for unfinished in world.get_obj_list()[before:]:
            world.remove_object(unfinished)
        raise
    return handle


@contextmanager
def _told_with_its_place(entry: ObjectEntry) -> Iterator[None]:
    """Whatever is wrong with an object of a file is told with its place there."""
    try:
        yield
    except (InvalidValueError, MeshError, TerrainError) as error:
        raise ParseError(entry.place.file, entry.place.line, str(error)) from error
    except FileMissingError as error:
        raise FileMissingError(error.path, f"{entry.place}: file") from error


def _inertia_matrix(entry: BodyEntry) -> np.ndarray[Any, Any] | None:
    if entry.inertia is None:
        return None
    xx, xy, xz, yy, yz, zz = entry.inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _keywords(state: BodyState, body_type: str = "kinematic") -> dict[str, Any]:
    """Pose and velocity of a new body as keywords of ``add_*``."""
    velocity = (*state.linear_velocity, *state.angular_velocity) if body_type != "static" else _AT_REST
    return {"position": state.position, "orientation": state.quaternion, "velocity": velocity}


def _body_keywords(entry: BodyEntry) -> dict[str, Any]:
    return {
        **_keywords(entry.state, entry.body_type),
        "body_type": BodyType[entry.body_type.upper()],
        "linear_damping": entry.linear_damping,
        "angular_damping": entry.angular_damping,
        "gyroscopic_mode": GyroscopicMode[entry.gyroscopic_mode.upper()],
    }


def _add_primitive(world: World, entry: PrimitiveEntry) -> Object:
    keywords = _body_keywords(entry)
    if entry.inertia is not None:
        keywords["inertia"] = _inertia_matrix(entry)
        keywords["com"] = entry.com or _ORIGIN
    shape, groups = PRIMITIVES[entry.shape], (entry.collision_group, entry.collision_mask)
    handle = insert_primitive(world, shape, entry.dim, entry.mass, entry.material, *groups, keywords)
    if entry.inertia is None and entry.com is not None:
        handle._set_properties(com=entry.com)  # keeps the tensor that the shape has about its own centre
    return handle


def _add_compound(world: World, entry: CompoundEntry) -> Object:
    children = [
        CompoundChild(
            ShapeType[child.shape.upper()],
            child.dim,
            child.position,
            child.quaternion,
            child.material,
            child.appearance,
        )
        for child in entry.children
    ]
    com = entry.com if entry.com is not None else _ORIGIN
    groups = entry.collision_group, entry.collision_mask
    return world.add_compound(children, entry.mass, com, _inertia_matrix(entry), *groups, **_body_keywords(entry))


def _add_mesh(world: World, entry: MeshEntry) -> Object:
    return world.add_mesh(
        entry.file,
        entry.mass,
        _inertia_matrix(entry),
        entry.com,
        entry.scale,
        entry.material,
        MeshCollisionMode.of(entry.collision_mode),
        entry.collision_group,
        entry.collision_mask,
        **_body_keywords(entry),
    )


def _add_ground(world: World, entry: GroundEntry) -> Object:
    return world.add_ground(entry.height, entry.material, entry.collision_mask)


def height_map_data(entry: HeightMapEntry) -> HeightMapData:
    if entry.data is not None:
        return entry.data
    x, y, _ = entry.center
    if entry.heights is not None:
        return terrain.height_map_from_values(
            entry.x_samples, entry.y_samples, entry.x_size, entry.y_size, entry.heights, x, y
        )
    if entry.terrain is not None:
        t = entry.terrain
        properties = TerrainProperties(
            t.frequency,
            entry.x_size,
            entry.y_size,
            t.z_scale,
            entry.x_samples or TerrainProperties.x_samples,
            entry.y_samples or TerrainProperties.y_samples,
            t.fractal_octaves,
            t.fractal_lacunarity,
            t.fractal_gain,
            t.step_size,
            t.height_offset,
            t.seed,
        )
        return terrain.generate_height_map(properties, x, y)
    if entry.png is not None:
        return terrain.height_map_from_png(entry.png, entry.x_size, entry.y_size, entry.z_scale, entry.z_offset, x, y)
    if entry.text is not None:
        return terrain.height_map_from_text(entry.text, x, y)
    raise RaisimError(f"{entry.place}: the heightmap has no source")


def height_map_entry(data: HeightMapData, **others: Any) -> HeightMapEntry:
    """Terrain whose heights are known, as an entry; `others` are its other fields."""
    return HeightMapEntry(**others, center=(data.center_x, data.center_y, 0.0), data=data)


def _add_height_map(world: World, entry: HeightMapEntry) -> Object:
    return world.add_height_map(
        height_map_data(entry),
        material=entry.material,
        collision_group=entry.collision_group,
        collision_mask=entry.collision_mask,
        position=entry.center,
    )


def _add_light(world: World, entry: LightEntry) -> Object:
    return world.add_light(entry.settings, **_keywords(entry.state))


def _add_view_camera(world: World, entry: ViewCameraEntry) -> Object:
    return world.add_view_camera(entry.settings, **_keywords(entry.state))


_ADDERS: dict[type[ObjectEntry], Callable[..., Object]] = {
    PrimitiveEntry: _add_primitive,
    CompoundEntry: _add_compound,
    MeshEntry: _add_mesh,
    GroundEntry: _add_ground,
    HeightMapEntry: _add_height_map,
    ArticulatedEntry: add_articulated_entry,
    LightEntry: _add_light,
    ViewCameraEntry: _add_view_camera,
    GranularEntry: add_granular_entry,
    DeformableEntry: add_deformable_entry,
}

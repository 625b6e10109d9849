"""From a world to a WorldDescription: the reverse of build.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raisim_ros.description.errors import NOWHERE, InvalidValueError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.types import (
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    SimulationSettings,
    ViewCameraEntry,
    WorldDescription,
)
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.entries.build_soft import describe_soft
from raisim_ros.engine.entries.build_wires import describe_wire
from raisim_ros.engine.entries.describe_articulated import describe_articulated
from raisim_ros.engine.entries.describe_common import common_fields, numbers
from raisim_ros.engine.entries.describe_sensors import describe_sensor_sets
from raisim_ros.engine.objects.handles import Ground, SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.scene_handles import LightObject, ViewCamera
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import CollisionBody, Fluid

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World


def describe_world(
    world: World, mesh_files: dict[Object, Path], chosen: Sequence[Object] | None = None
) -> WorldDescription:
    """Settings, materials, objects (all, or some without wires) and states; `mesh_files` tells the file of every mesh
    object."""
    with world.locked():
        objects = world.get_obj_list() if chosen is None else list(chosen)
        return WorldDescription(
            world.get_config_file(),
            _settings(world),
            world.get_material_manager(),
            [_entry(world, handle, mesh_files, objects) for handle in objects],
            [describe_wire(wire, objects) for wire in world.get_wires()] if chosen is None else [],
            world.get_viewpoint(),
            list(world.get_named_poses()),
        )


def _settings(world: World) -> SimulationSettings:
    solver = ffi.new("rs_solver_settings *")
    lib.rs_world_get_solver_settings(world._world, solver)
    contact = asdict(world.get_contact_settings())
    broadphase = contact.pop("broadphase")
    contact["broadphase"] = broadphase.pop("type").name.lower()
    sleeping, fluid = world.get_sleeping_parameters(), world.get_fluid()
    return SimulationSettings(
        gravity=numbers(world.get_gravity()),
        fluid=asdict(fluid) if fluid != Fluid() else None,
        time_step=world.get_time_step(),
        erp={"erp": float(solver.erp), "erp2": float(solver.erp2)},
        time=world.get_world_time(),
        solver={
            "max_iterations": int(solver.max_iterations),
            "threshold": float(solver.threshold),
            "fixed_order": bool(solver.fixed_order),
        },
        contact=contact | broadphase,
        sleeping={
            "enabled": sleeping.enabled,
            "linear_threshold": sleeping.linear_vel_threshold,
            "angular_threshold": sleeping.angular_vel_threshold,
            "quiet_steps": sleeping.quiet_steps,
        },
    )


def _entry(world: World, handle: Object, mesh_files: dict[Object, Path], objects: Sequence[Object]) -> ObjectEntry:
    if isinstance(handle, ArticulatedSystem):
        return describe_articulated(world, handle)
    if isinstance(handle, SoftObject):
        return describe_soft(world, handle, objects)
    if not isinstance(handle, SingleBodyObject):
        raise InvalidValueError(f"{handle!r} cannot be written to a world file")
    if isinstance(handle, LightObject):
        return LightEntry(**_seen(world, handle), settings=handle.get_settings())
    if isinstance(handle, ViewCamera):
        return ViewCameraEntry(**_seen(world, handle), settings=handle.get_settings())
    common = common_fields(world, handle)
    if isinstance(handle, Ground):
        return GroundEntry(**common, height=handle.get_height())
    if isinstance(handle, HeightMap):
        data = handle.get_data()
        common["appearance"] = handle.get_color() or handle.get_appearance()
        return HeightMapEntry(
            **common,
            x_samples=data.x_samples,
            y_samples=data.y_samples,
            x_size=data.x_size,
            y_size=data.y_size,
            center=numbers(handle.get_position()),
            heights=data.heights.reshape(-1),  # not as numbers: there may be millions
        )
    common |= _body_arguments(handle)
    if isinstance(handle, Mesh):
        return MeshEntry(
            **common,
            file=mesh_files[handle],
            scale=numbers(handle.get_scale()),
            collision_mode=handle.get_collision_mode().word,
        )
    shapes = handle.get_collision_body_list()
    if handle.get_object_type() == ObjectType.COMPOUND:
        return CompoundEntry(**common, children=[_child(shape) for shape in shapes])
    return PrimitiveEntry(**common, shape=shapes[0].shape.name.lower(), dim=numbers(shapes[0].dim))


def _child(shape: CollisionBody) -> ChildEntry:
    return ChildEntry(
        NOWHERE,
        shape.shape.name.lower(),
        numbers(shape.dim),
        numbers(shape.position),
        numbers(shape.quaternion),
        shape.material,
        shape.appearance,
    )


def _body_arguments(handle: SingleBodyObject) -> dict[str, Any]:
    properties = handle._properties()
    xx, yy, zz, xy, xz, yz = properties.inertia
    return {
        "body_type": handle.get_body_type().name.lower(),
        "mass": float(properties.mass),
        "com": tuple(properties.com),
        "inertia": (xx, xy, xz, yy, yz, zz),
        "linear_damping": float(properties.linear_damping),
        "angular_damping": tuple(properties.angular_damping),
        "gyroscopic_mode": handle.get_gyroscopic_mode().name.lower(),
        "state": _body_state(handle),
    }


def _body_state(handle: SingleBodyObject) -> BodyState:
    state = handle._state()
    return BodyState(
        tuple(state.position), tuple(state.quaternion), tuple(state.linear_velocity), tuple(state.angular_velocity)
    )


def _seen(world: World, handle: SingleBodyObject) -> dict[str, Any]:
    """What entries of lights and cameras have in common."""
    return {
        "place": NOWHERE,
        "name": handle.get_name(),
        "appearance": handle.get_appearance(),
        "interface": handle.get_interface(),
        "sensor_sets": describe_sensor_sets(handle),
        "state": _body_state(handle),
    }

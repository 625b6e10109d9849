"""From service requests to what the operations take, and back. Wrong values are named by their field."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_access import check_allowed
from raisim_ros.description.files import expanded, working_folder
from raisim_ros.description.materials import MaterialPairProperties
from raisim_ros.description.mjcf.file import is_mjcf, load_mjcf_robot
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.shapes import MESH_MODES, SHAPES
from raisim_ros.description.terrain import (
    HeightMapData,
    TerrainProperties,
    generate_height_map,
    height_map_from_png,
    height_map_from_text,
    height_map_from_values,
)
from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.description.world.scene_types import LightSettings, ViewCameraSettings
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    ViewCameraEntry,
    WorldDescription,
)
from raisim_ros.engine.entries.build import height_map_entry
from raisim_ros.engine.entries.build_articulated import entry_tree
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import ArticulatedSystemOption, BodyType, GyroscopicMode
from raisim_ros.engine.world.world import World
from raisim_ros.msg import MaterialPair, ObjectInfo
from raisim_ros.ros.conversions import MAX_DISTANCE, finite_vector, pose_from_message, twist_from_message
from raisim_ros.ros.file_address import resolve_file
from raisim_ros.ros.node.operations import JointPlacement
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.request_fields import PLACE, interface_of, seen_fields
from raisim_ros.ros.objects.spawning import Naming, NewObject, RobotSpec, choice
from raisim_ros.srv import SpawnArticulatedSystem

BODY_TYPES = tuple(kind.name.lower() for kind in BodyType)
GYROSCOPIC_MODES = tuple(mode.name.lower() for mode in GyroscopicMode)


def _word(field: str, value: str, words: Iterable[str]) -> str:
    choice(field, value, dict.fromkeys(words))
    return value


def compound_child(message: Any, field: str) -> ChildEntry:
    """One shape of a compound."""
    shape = choice(f"{field}.shape", message.shape, SHAPES)
    pose = pose_from_message(message.pose, f"{field}.pose")
    position, quaternion = tuple(pose.position), tuple(pose.wxyz)
    return ChildEntry(PLACE, shape.name, shape.dim_of(message), position, quaternion, message.material)


def _solid(request: Any) -> dict[str, Any]:
    """What a body with mass has."""
    if len(request.inertia) not in (0, 6):
        raise InvalidValueError(f"inertia has {len(request.inertia)} numbers; expected 6 (xx xy xz yy yz zz) or none")
    if len(request.inertia) and not any(request.inertia):
        raise InvalidValueError("inertia is zero; expected that of a body, or none for that of a uniform solid")
    if len(request.com) not in (0, 3):
        raise InvalidValueError(f"com has {len(request.com)} numbers; expected 3 or none")
    return {
        "body_type": _word("body_type", request.body_type, BODY_TYPES),
        "mass": request.mass,
        "com": tuple(finite_vector(request.com, "com")) if len(request.com) else None,
        "inertia": tuple(finite_vector(request.inertia, "inertia")) if len(request.inertia) else None,
        "linear_damping": request.linear_damping,
        "angular_damping": tuple(float(value) for value in request.angular_damping),
        "gyroscopic_mode": _word("gyroscopic_mode", request.gyroscopic_mode, GYROSCOPIC_MODES),
    }


def _light(request: Any) -> LightSettings:
    color = tuple(float(share) for share in request.light_color)
    return LightSettings(request.light_type, color, request.light_cutoff, request.light_shadows)


def _body_entry(request: Any) -> ObjectEntry:
    """The object of a SpawnObject request, as a world file would have it."""
    pose = pose_from_message(request.pose, "pose")
    seen = seen_fields(request)
    state = BodyState(tuple(pose.position), tuple(pose.wxyz))
    if request.shape in SHAPES:
        finite_vector(request.size, "size", math.inf)
        shape = SHAPES[request.shape]
        return PrimitiveEntry(**seen, **_solid(request), state=state, shape=shape.name, dim=shape.dim_of(request))
    match request.shape:
        case "compound":
            children = [compound_child(child, f"children[{i}]") for i, child in enumerate(request.children)]
            return CompoundEntry(**seen, **_solid(request), state=state, children=children)
        case "mesh":
            scale = tuple(float(value) for value in request.scale)
            mode = _word("mesh_mode", request.mesh_mode, MESH_MODES)
            file = resolve_file(request.mesh_file, "mesh_file")
            return MeshEntry(**seen, **_solid(request), state=state, file=file, scale=scale, collision_mode=mode)
        case "ground":
            return GroundEntry(**seen, height=request.height)
        case "light":
            return LightEntry(**seen, state=state, settings=_light(request))
        case "view_camera":
            view = ViewCameraSettings(request.horizontal_fov, request.near, request.far)
            return ViewCameraEntry(**seen, state=state, settings=view)
    known = (*SHAPES, "ground", "mesh", "compound", "light", "view_camera")
    raise InvalidValueError(f"shape is '{request.shape}'; expected one of {', '.join(known)}")


def new_body(request: Any) -> NewObject:
    """What a SpawnObject request asks for."""
    _word("body_type", request.body_type, BODY_TYPES)
    twist = twist_from_message(request.twist, "twist")
    return NewObject(Naming(request.name, request.allow_renaming), _body_entry(request), twist)


def parameters(request: Any) -> dict[str, str]:
    """The template parameters of a request."""
    names, values = list(request.parameter_names), list(request.parameter_values)
    if len(names) != len(values):
        raise InvalidValueError(f"parameter_values has {len(values)} texts for {len(names)} parameter_names")
    return dict(zip(names, values, strict=True))


def new_file(address: str, field: str) -> Path:
    """A file to be written."""
    if not address:
        raise InvalidValueError(f"{field} is empty; expected a path or a file:// address")
    path = expanded(address.removeprefix("file://"))
    return path if path.is_absolute() else working_folder() / path


def new_world_file(address: str) -> Path:
    """A world file to be written."""
    path = new_file(address, "file")
    check_allowed(path, "file")
    if path.suffix.lower() == ".xacro":
        raise InvalidValueError(f"file '{path}' would be read as a xacro file; expected another suffix")
    return path


def _srdf(file_or_text: str) -> str | Path | None:
    if not file_or_text or "<" in file_or_text:
        return file_or_text or None
    return resolve_file(file_or_text, "srdf")


def _mjcf_robot(request: Any, source: str | Path) -> tuple[WorldDescription, ArticulatedEntry]:
    """Of MJCF, which says by itself what a request may say of URDF."""
    silent = SpawnArticulatedSystem.Request()
    for field in ("parameter_names", "modules", "joint_order", "base", "collision_meshes", "self_collision", "srdf"):
        if getattr(request, field) != getattr(silent, field):
            raise InvalidValueError(
                f"{field} is {getattr(request, field)!r}; expected nothing: MJCF files tell it themselves"
            )
    return load_mjcf_robot(source, request.resource_dir)


def _state(request: Any, tree: KinematicTree) -> str:
    if request.state and request.state not in tree.states:
        known = ", ".join(tree.states) or "none"
        raise InvalidValueError(f"state is '{request.state}'; the robot's file names these: {known}")
    return str(request.state)


def _robot_source(request: Any) -> Path | str:
    """The file, or the text, of a SpawnArticulatedSystem request."""
    if bool(request.file) == bool(request.text):
        both = "both given" if request.file else "both empty"
        raise InvalidValueError(f"file and text are {both}; expected one of them")
    return resolve_file(request.file, "file") if request.file else str(request.text)


def is_mjcf_request(request: Any) -> bool:
    """Whether the robot is described in MJCF, which MuJoCo compiles."""
    return is_mjcf(_robot_source(request))


def robot_spec(request: Any) -> RobotSpec:
    """What a SpawnArticulatedSystem request asks for."""
    source = _robot_source(request)
    if is_mjcf(source):
        described = _mjcf_robot(request, source)
        tree = entry_tree(described[1])
    else:
        described, tree = (
            None,
            load_urdf(
                source,
                request.resource_dir,
                list(request.joint_order),
                parameters(request),
                [resolve_file(module, f"modules[{i}]") for i, module in enumerate(request.modules)],
                request.base,
            ),
        )
    coordinates = finite_vector(request.coordinates, "coordinates") if len(request.coordinates) else None
    velocities = finite_vector(request.velocities, "velocities") if len(request.velocities) else None
    return RobotSpec(
        naming=Naming(request.name, request.allow_renaming),
        tree=tree,
        described=described,
        state=_state(request, tree),
        construction=ArticulatedSystemOption(
            request.base,
            request.do_not_collide_with_parent,
            collision_meshes=request.collision_meshes,
            self_collision=request.self_collision,
            srdf=_srdf(request.srdf),
        ),
        pose=pose_from_message(request.pose, "pose"),
        coordinates=coordinates,
        velocities=velocities,
        p_gains=list(request.p_gains),
        d_gains=list(request.d_gains),
        collision_group=request.collision_group,
        collision_mask=request.collision_mask,
        interface=replace(
            interface_of(request),
            publish_children_names=request.publish_children_names,
            publish_joint_names=request.publish_joint_names,
            publish_joint_positions=request.publish_joint_positions,
            publish_links=request.publish_links,
        ),
    )


def joint_placement(request: Any) -> JointPlacement | None:
    """Where a SetObjectState request puts joints."""
    names = list(request.joint_names)
    values = {}
    for field in ("joint_positions", "joint_velocities"):
        numbers = getattr(request, field)
        if len(numbers) not in (0, len(names)):
            raise InvalidValueError(f"{field} has {len(numbers)} numbers for {len(names)} joint_names")
        values[field] = finite_vector(numbers, field) if len(numbers) else None
    return JointPlacement(names, values["joint_positions"], values["joint_velocities"]) if names else None


def new_height_map(request: Any) -> NewObject:
    """What a SpawnHeightMap request asks for."""
    seen = seen_fields(request)
    center = finite_vector((request.center_x, request.center_y), "center", MAX_DISTANCE).tolist()
    sources = {"values": _from_values, "text": _from_text, "png": _from_png, "generator": _from_generator}
    data: HeightMapData = choice("source", request.source, sources)(request, *center)
    return NewObject(Naming(request.name, request.allow_renaming), height_map_entry(data, **seen))


def _from_values(request: Any, center_x: float, center_y: float) -> HeightMapData:
    return height_map_from_values(
        request.x_samples,
        request.y_samples,
        request.x_size,
        request.y_size,
        request.heights,
        center_x,
        center_y,
    )


def _from_text(request: Any, center_x: float, center_y: float) -> HeightMapData:
    return height_map_from_text(resolve_file(request.file, "file"), center_x, center_y)


def _from_png(request: Any, center_x: float, center_y: float) -> HeightMapData:
    file = resolve_file(request.file, "file")
    return height_map_from_png(
        file, request.x_size, request.y_size, request.height_scale, request.height_offset, center_x, center_y
    )


def _from_generator(request: Any, center_x: float, center_y: float) -> HeightMapData:
    fields = request.terrain.get_fields_and_field_types()
    properties = TerrainProperties(**{name: getattr(request.terrain, name) for name in fields})
    return generate_height_map(properties, center_x, center_y)


def material_pair_arguments(message: Any) -> tuple[float, float, float, float | None, float, float, float]:
    """The arguments of the world's material setters."""
    static_friction = None if message.static_friction < 0.0 else message.static_friction
    if math.isnan(message.static_friction):
        raise InvalidValueError("static_friction is NaN; expected a number, negative for the same as friction")
    return (
        message.friction,
        message.restitution,
        message.restitution_threshold,
        static_friction,
        message.static_friction_velocity_threshold,
        message.rolling_friction,
        message.spinning_friction,
    )


def material_pair_message(properties: MaterialPairProperties) -> MaterialPair:
    """How two materials touch, as a message."""
    friction = properties.friction
    return MaterialPair(
        friction=friction,
        restitution=properties.restitution,
        restitution_threshold=properties.restitution_threshold,
        static_friction=friction if properties.static_friction is None else properties.static_friction,
        static_friction_velocity_threshold=properties.static_friction_velocity_threshold,
        rolling_friction=properties.rolling_friction,
        spinning_friction=properties.spinning_friction,
    )


def _call(handle: Any, method: str, default: Any) -> Any:
    """What a getter says that only some shapes have."""
    return getattr(handle, method)() if hasattr(handle, method) else default


def _mass_properties(handle: Any, robot: bool) -> tuple[Any, Any]:
    """Centre of mass and inertia of a body, or of the base of a robot."""
    if robot:
        return handle.get_body_com_b()[0], handle.get_inertia()[0]
    return handle.get_com(), handle.get_inertia_matrix_b()


def object_info(world: World, entry: ObjectRow, frame_id: str, topic_prefix: str) -> ObjectInfo:
    """What an object is."""
    handle = entry.handle
    robot = entry.joints is not None
    soft = isinstance(handle, SoftObject)
    com, inertia = (np.zeros(3), np.zeros((3, 3))) if soft else _mass_properties(handle, robot)
    collides = soft or bool(handle.get_collision_bodies() if robot else handle.get_collision_body_list())
    info = ObjectInfo(
        name=entry.name,
        id=entry.id,
        world_index=handle.get_index_in_world(),
        type=entry.type,
        body_type=entry.body_type,
        material=world.get_object_material(handle) if collides else "",
        appearance=handle.get_appearance(),
        collision_group=handle.get_collision_group(),
        collision_mask=handle.get_collision_mask(),
        mass=handle.get_total_mass() if robot else float(handle.get_mass()),
        com=Vector3(x=com[0], y=com[1], z=com[2]),
        inertia=inertia.reshape(-1),
        radius=float(_call(handle, "get_radius", 0.0)),
        mesh_file=_call(handle, "get_mesh_file_name", ""),
        frame_id=frame_id,
        state_topic=f"{topic_prefix}{entry.name}/state",
        command_topic=f"{topic_prefix}{entry.name}/cmd",
    )
    if entry.joints is not None:
        info.link_names, info.joint_names = entry.joints.link_names, entry.joints.names
    if soft:
        low, high = handle.get_bounds()
        info.size = high - low
    elif entry.type == "heightmap":
        info.size = [handle.get_x_size(), handle.get_y_size(), 0.0]
    else:
        info.height = float(_call(handle, "get_height", 0.0))
        info.size = _call(handle, "get_dim", [0.0, 0.0, 0.0])
    return info

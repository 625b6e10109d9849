"""Writes a WorldDescription as a world file. Numbers read back to the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description.atomic_file import write_beside, write_file
from raisim_ros.description.materials import MaterialPairProperties
from raisim_ros.description.sensor.export import sensor_set_element
from raisim_ros.description.world.schema import DIMENSIONS, PUBLISHED
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    SensorSetEntry,
    ViewCameraEntry,
    WireEntry,
    WorldDescription,
)
from raisim_ros.description.xml.literal_text import escaped, mark_literal


def write_world_file(path: Path, description: WorldDescription) -> None:
    """Write the file, and the robots beside it; paths inside it are relative to its folder where they lie below it."""
    root = etree.Element("raisim", version="1.0")
    _write_settings(root, description)
    _write_materials(root, description)
    objects = etree.SubElement(root, "objects")
    for number, entry in enumerate(description.objects):
        if isinstance(entry, ArticulatedEntry):
            element = _write_robot(objects, entry, path.parent / f"{path.stem}_robot_{number}.urdf")
        else:
            element = _write_object(objects, entry, path.parent)
        for one in entry.sensor_sets:
            _write_sensor_set(element, one)
    for wire in description.wires:
        _write_wire(root, wire)
    if description.viewpoint is not None:
        x, y, z = description.viewpoint.offset
        _add(root, "camera", follow=description.viewpoint.follow, x=x, y=y, z=z)
    for pose in description.named_poses:
        _add(
            root,
            "named_pose",
            name=pose.name,
            pos=pose.position,
            quat=pose.quaternion,
            description=pose.description,
            tags=pose.tags or None,
            size=pose.size,
        )
    mark_literal(root)
    etree.indent(root)
    text = etree.tostring(root, xml_declaration=True, encoding="utf-8")
    write_file(path, text)


def _text(value: Any) -> str:
    """repr of numbers is the shortest text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Iterable):
        return " ".join(escaped(item, in_list=True) if isinstance(item, str) else _text(item) for item in value)
    raise TypeError(f"{value!r} has no place in a world file")


def _add(parent: etree._Element, tag: str, **attributes: Any) -> etree._Element:
    texts = {name: _text(value) for name, value in attributes.items() if value is not None}
    return etree.SubElement(parent, tag, texts)


def _write_settings(root: etree._Element, description: WorldDescription) -> None:
    settings = description.settings
    if settings.gravity is not None:
        _add(root, "gravity", value=settings.gravity)
    if settings.time_step is not None:
        _add(root, "time_step", value=settings.time_step)
    if settings.erp is not None:
        _add(root, "erp", **settings.erp)
    simulation = _add(root, "simulation", time=settings.time)
    for name in ("solver", "contact", "sleeping"):
        values = getattr(settings, name)
        if values is not None:
            _add(simulation, name, **values)


def _pair_attributes(pair: MaterialPairProperties) -> dict[str, float | None]:
    return {
        "friction": pair.friction,
        "restitution": pair.restitution,
        "restitution_threshold": pair.restitution_threshold,
        "static_friction": pair.static_friction,
        "static_friction_velocity_threshold": pair.static_friction_velocity_threshold,
        "rolling_friction": pair.rolling_friction,
        "spinning_friction": pair.spinning_friction,
    }


def _write_materials(root: etree._Element, description: WorldDescription) -> None:
    if description.materials is None:
        return
    material = etree.SubElement(root, "material")
    _add(material, "default", **_pair_attributes(description.materials.default))
    for (first, second), pair in description.materials.pairs.items():
        _add(material, "pair_prop", name1=first, name2=second, **_pair_attributes(pair))


def _relative(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_posix()


def _common(entry: ObjectEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "material": entry.material,
        "appearance": entry.appearance,
        "collision_group": entry.collision_group,
        "collision_mask": entry.collision_mask,
        **_published(entry),
    }


def _published(entry: ObjectEntry) -> dict[str, Any]:
    """What differs from the defaults."""
    return {
        attribute.names[0]: getattr(entry.interface, attribute.names[0])
        for attribute in PUBLISHED
        if getattr(entry.interface, attribute.names[0]) != attribute.default
    }


def _write_controller(element: etree._Element, entry: ObjectEntry) -> None:
    linear, angular = entry.interface.linear_gains, entry.interface.angular_gains
    if linear is not None or angular is not None:
        _add(element, "controller", linear=linear, angular=angular)
    drive = entry.interface.drive
    if drive is not None:
        _add(element, "drive", **{field.name: getattr(drive, field.name) for field in fields(drive)})


def _write_body(objects: etree._Element, tag: str, entry: BodyEntry, **more: Any) -> etree._Element:
    element = _add(
        objects,
        tag,
        **_common(entry),
        body_type=entry.body_type,
        mass=entry.mass,
        com=entry.com,
        linear_damping=entry.linear_damping,
        angular_damping=entry.angular_damping,
        gyroscopic_mode=entry.gyroscopic_mode,
        **more,
    )
    if entry.inertia is not None:
        _add(element, "inertia", **dict(zip(("xx", "xy", "xz", "yy", "yz", "zz"), entry.inertia, strict=True)))
    _write_state(element, entry.state)
    _write_controller(element, entry)
    return element


def _write_state(element: etree._Element, state: BodyState) -> None:
    _add(
        element,
        "state",
        pos=state.position,
        quat=state.quaternion,
        lin_vel=state.linear_velocity,
        ang_vel=state.angular_velocity,
    )


def _write_seen(
    objects: etree._Element, tag: str, entry: LightEntry | ViewCameraEntry, **settings: Any
) -> etree._Element:
    element = _add(objects, tag, name=entry.name, appearance=entry.appearance, **_published(entry), **settings)
    _write_state(element, entry.state)
    return element


def _write_dim(element: etree._Element, shape: str, dim: Iterable[float]) -> None:
    names = [attribute.names[0] for attribute in DIMENSIONS[shape]]
    _add(element, "dim", **dict(zip(names, dim, strict=True)))


def _write_child(parent: etree._Element, child: ChildEntry) -> None:
    element = _add(parent, child.shape, material=child.material, appearance=child.appearance)
    _write_dim(element, child.shape, child.dim)
    _add(element, "state", pos=child.position, quat=child.quaternion)


def _write_object(objects: etree._Element, entry: ObjectEntry, folder: Path) -> etree._Element:
    if isinstance(entry, PrimitiveEntry):
        element = _write_body(objects, entry.shape, entry)
        _write_dim(element, entry.shape, entry.dim)
    elif isinstance(entry, CompoundEntry):
        element = _write_body(objects, "compound", entry)
        children = etree.SubElement(element, "children")
        for child in entry.children:
            _write_child(children, child)
    elif isinstance(entry, MeshEntry):
        file, mode = _relative(entry.file, folder), entry.collision_mode
        element = _write_body(objects, "mesh", entry, file_name=file, scale=entry.scale, collision_mode=mode)
    elif isinstance(entry, GroundEntry):
        element = _add(objects, "ground", **_common(entry), height=entry.height)
    elif isinstance(entry, LightEntry):
        light = asdict(entry.settings)
        element = _write_seen(objects, "light", entry, type=light.pop("kind"), **light)
    elif isinstance(entry, ViewCameraEntry):
        element = _write_seen(objects, "view_camera", entry, **asdict(entry.settings))
    elif isinstance(entry, HeightMapEntry):
        x, y, z = entry.center
        element = _add(
            objects,
            "heightmap",
            **_common(entry),
            x_sample=entry.x_samples,
            y_sample=entry.y_samples,
            x_size=entry.x_size,
            y_size=entry.y_size,
            center_x=x,
            center_y=y,
            center_z=z,
            height=entry.heights,
        )
    else:
        raise TypeError(f"{entry!r} has no place in a world file")
    return element


def _write_sensor_set(element: etree._Element, entry: SensorSetEntry) -> None:
    sensor_set = sensor_set_element(entry.model)
    for name, value in (("link", entry.link), ("serial_number", entry.serial_number)):
        if value:
            sensor_set.set(name, escaped(value))
    element.append(sensor_set)


def _write_wire(root: etree._Element, entry: WireEntry) -> None:
    element = _add(
        root,
        "wire",
        name=entry.name,
        type=entry.type,
        length=entry.length,
        stiffness=entry.stiffness,
        tension=entry.tension,
        stretch_type=entry.stretch_type,
        explicit=entry.explicit,
        width=entry.width,
        color=entry.color,
    )
    for tag, end in zip(("object1", "object2"), entry.ends, strict=True):
        _add(
            element,
            tag,
            name=end.name or None,
            index=end.index,
            local_index=None if end.frame else end.local_index,
            pos=end.position,
            frame=end.frame,
        )


def _write_robot(objects: etree._Element, entry: ArticulatedEntry, urdf: Path) -> etree._Element:
    urdf = write_beside(urdf, (entry.robot_description.rstrip() + "\n").encode())
    element = _add(
        objects,
        "articulated_system",
        name=entry.name,
        appearance=entry.appearance,
        collision_group=entry.collision_group,
        collision_mask=entry.collision_mask,
        **_published(entry),
        urdf_path=urdf.name,
        joint_order=entry.joint_order,
        base=entry.base,
        collide_parent=entry.collide_parent,
        collision_meshes=entry.collision_meshes,
        self_collision=entry.self_collision,
        integration_scheme=entry.integration_scheme,
        control_mode=entry.control_mode,
    )
    base_position, base_quaternion = entry.base_position, entry.base_quaternion
    _add(element, "state", qpos=entry.qpos, qvel=entry.qvel, base_pos=base_position, base_quat=base_quaternion)
    _write_controller(element, entry)
    if entry.joints:
        _add(element, "joints", **entry.joints)
    for shape in entry.shapes:
        _add(
            element,
            "collision_shape",
            name=shape.name,
            collision_group=shape.collision_group,
            collision_mask=shape.collision_mask,
            material=shape.material,
            convex=shape.convex,
        )
    for link1, link2 in entry.ignored_links:
        _add(element, "ignore_collision", link1=link1, link2=link2)
    for actuator in entry.actuators:
        _add(element, "actuator", **asdict(actuator))
    for tendon in entry.tendons:
        values = asdict(tendon)
        joints, coefficients = zip(*values.pop("terms"), strict=True)
        _add(element, "tendon", joints=joints, coefficients=coefficients, **values)
    for link, mass, com in entry.lifted:
        _add(element, "gravity_compensation", link=link, mass=mass, com=com)
    for name, state in entry.states.items():
        numbers = (tuple(map(float, part)) for part in (state.coordinate, state.velocity, state.control))
        _add(element, "named_state", name=name, **dict(zip(("qpos", "qvel", "control"), numbers, strict=True)))
    return element

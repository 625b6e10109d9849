"""Writes a WorldDescription as a world file. Numbers read back to the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description.atomic_file import write_beside, write_file
from raisim_ros.description.sensor.export import sensor_set_element
from raisim_ros.description.world.export_lines import write_actuator, write_lock, write_tendon
from raisim_ros.description.world.export_soft import write_deformable, write_granular
from raisim_ros.description.world.schema import DIMENSIONS
from raisim_ros.description.world.soft_entries import DeformableEntry, GranularEntry
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
from raisim_ros.description.world.writer import add, relative_path, write
from raisim_ros.description.xml.literal_text import escaped, mark_literal


def write_world_file(path: Path, description: WorldDescription) -> None:
    """Write the file, and robots and many particles beside it; paths below its folder are relative."""
    root = etree.Element("raisim", version="1.0")
    _write_settings(root, description)
    _write_materials(root, description)
    objects = etree.SubElement(root, "objects")
    for number, entry in enumerate(description.objects):
        if isinstance(entry, ArticulatedEntry):
            element = _write_robot(objects, entry, path.parent / f"{path.stem}_robot_{number}.urdf")
        elif isinstance(entry, GranularEntry):
            element = write_granular(objects, entry, path.parent / f"{path.stem}_grains_{number}.npz")
        elif isinstance(entry, DeformableEntry):
            element = write_deformable(objects, entry, path.parent / f"{path.stem}_vertices_{number}.npz")
        else:
            element = _write_object(objects, entry, path.parent)
        for one in entry.sensor_sets:
            _write_sensor_set(element, one)
    for wire in description.wires:
        _write_wire(root, wire)
    if description.viewpoint is not None:
        x, y, z = description.viewpoint.offset
        add(root, "camera", follow=description.viewpoint.follow, x=x, y=y, z=z)
    for pose in description.named_poses:
        write(root, "named_pose", pose, pos=pose.position, quat=pose.quaternion, tags=pose.tags or None)
    mark_literal(root)
    etree.indent(root)
    text = etree.tostring(root, xml_declaration=True, encoding="utf-8")
    write_file(path, text)


def _write_settings(root: etree._Element, description: WorldDescription) -> None:
    settings = description.settings
    if settings.gravity is not None:
        add(root, "gravity", value=settings.gravity)
    if settings.fluid is not None:
        add(root, "fluid", **settings.fluid)
    if settings.time_step is not None:
        add(root, "time_step", value=settings.time_step)
    if settings.erp is not None:
        add(root, "erp", **settings.erp)
    simulation = add(root, "simulation", time=settings.time)
    for name in ("solver", "contact", "sleeping"):
        values = getattr(settings, name)
        if values is not None:
            add(simulation, name, **values)


def _write_materials(root: etree._Element, description: WorldDescription) -> None:
    if description.materials is None:
        return
    material = etree.SubElement(root, "material")
    write(material, "default", description.materials.default)
    for (first, second), pair in description.materials.pairs.items():
        write(material, "pair_prop", pair, name1=first, name2=second)


def _write_controller(element: etree._Element, entry: ObjectEntry) -> None:
    linear, angular = entry.interface.linear_gains, entry.interface.angular_gains
    if linear is not None or angular is not None:
        add(element, "controller", linear=linear, angular=angular)
    drive = entry.interface.drive
    if drive is not None:
        write(element, "drive", drive)


def _write_body(objects: etree._Element, tag: str, entry: BodyEntry, **more: Any) -> etree._Element:
    element = write(objects, tag, entry, sensor=None, **more)  # a file's sensors are among the sensor sets
    if entry.inertia is not None:
        add(element, "inertia", **dict(zip(("xx", "xy", "xz", "yy", "yz", "zz"), entry.inertia, strict=True)))
    _write_state(element, entry.state)
    _write_controller(element, entry)
    return element


def _write_state(element: etree._Element, state: BodyState) -> None:
    position, quaternion = state.position, state.quaternion
    velocities = {"lin_vel": state.linear_velocity, "ang_vel": state.angular_velocity}
    write(element, "state", state, pos=position, quat=quaternion, **velocities)


def _write_seen(
    objects: etree._Element, tag: str, entry: LightEntry | ViewCameraEntry, **settings: Any
) -> etree._Element:
    element = write(objects, tag, entry, **settings)
    _write_state(element, entry.state)
    return element


def _write_dim(element: etree._Element, shape: str, dim: Iterable[float]) -> None:
    names = [attribute.names[0] for attribute in DIMENSIONS[shape]]
    add(element, "dim", **dict(zip(names, dim, strict=True)))


def _write_child(parent: etree._Element, child: ChildEntry) -> None:
    element = add(parent, child.shape, material=child.material, appearance=child.appearance)
    _write_dim(element, child.shape, child.dim)
    add(element, "state", pos=child.position, quat=child.quaternion)


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
        element = _write_body(objects, "mesh", entry, file_name=relative_path(entry.file, folder))
    elif isinstance(entry, GroundEntry):
        element = write(objects, "ground", entry)
    elif isinstance(entry, LightEntry):
        light = asdict(entry.settings)
        element = _write_seen(objects, "light", entry, type=light.pop("kind"), **light)
    elif isinstance(entry, ViewCameraEntry):
        element = _write_seen(objects, "view_camera", entry, **asdict(entry.settings))
    elif isinstance(entry, HeightMapEntry):
        center = dict(zip(("center_x", "center_y", "center_z"), entry.center, strict=True))
        samples = {"x_sample": entry.x_samples, "y_sample": entry.y_samples, "height": entry.heights}
        others = dict.fromkeys(("png", "z_scale", "z_offset", "text"))  # the heights are there
        element = write(objects, "heightmap", entry, **center, **samples, **others)
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
    element = write(root, "wire", entry)
    for tag, end in zip(("object1", "object2"), entry.ends, strict=True):
        local_index = None if end.frame else end.local_index
        write(element, tag, end, name=end.name or None, local_index=local_index, pos=end.position)


def _write_robot(objects: etree._Element, entry: ArticulatedEntry, urdf: Path) -> etree._Element:
    urdf = write_beside(urdf, (entry.robot_description.rstrip() + "\n").encode())
    read_already = dict.fromkeys(("res_dir", "modules", "convexify_meshes", "srdf"))  # the text has all of that
    element = write(objects, "articulated_system", entry, urdf_path=urdf.name, **read_already)
    base_position, base_quaternion = entry.base_position, entry.base_quaternion
    add(element, "state", qpos=entry.qpos, qvel=entry.qvel, base_pos=base_position, base_quat=base_quaternion)
    _write_controller(element, entry)
    if entry.joints:
        add(element, "joints", **entry.joints)
    for shape in entry.shapes:
        write(element, "collision_shape", shape)
    for link1, link2 in entry.ignored_links:
        add(element, "ignore_collision", link1=link1, link2=link2)
    for number, actuator in enumerate(entry.actuators):
        write_actuator(element, actuator, entry, number)
    for tendon in entry.tendons:
        write_tendon(element, tendon)
    for lock in entry.locks:
        write_lock(element, lock)
    for link, mass, com in entry.lifted:
        add(element, "gravity_compensation", link=link, mass=mass, com=com)
    for name, state in entry.states.items():
        given = (state.coordinate, state.velocity, state.control, state.activation)
        numbers = (tuple(map(float, part)) for part in given)
        parts = ("qpos", "qvel", "control", "activation")
        add(element, "named_state", name=name, **dict(zip(parts, numbers, strict=True)))
    return element

"""A KinematicTree as URDF text that `load_urdf` reads back to the same tree.

Links keep their names and places; the inertia of a body is written at its first link. Whether the base is fixed is
not part of URDF: a tree whose base does not follow from the name of its root link needs the same `base` again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.robot.kinematic_tree import (
    JointType,
    KinematicTree,
    TreeBody,
    TreeCollision,
    TreeFrame,
    TreeSensor,
    TreeVisual,
)
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.robot.tree_poses import link_poses, relative
from raisim_ros.description.rotation import Array, rpy_from_matrix
from raisim_ros.description.shapes import SHAPES
from raisim_ros.description.urdf.fields import NO_LIMIT
from raisim_ros.description.xml.literal_text import add_element, mark_literal


@dataclass(frozen=True)
class MountedFile:
    """A sensor file that a link carries on a link of its own, welded to it; `name` is that of the new link."""

    name: str
    link: str
    file: str
    serial_number: str = ""


def urdf_text(tree: KinematicTree, mounted: Sequence[MountedFile] = ()) -> str:
    """The tree as URDF, numbers with all their digits, meshes as ``file://`` addresses; `mounted` come on top."""
    root = add_element(None, "robot", name=tree.name)
    poses = link_poses(tree)
    sensors = {sensor.link: sensor for sensor in tree.sensors}
    for body in tree.bodies:
        for link in body.links:
            if link in sensors:
                sensor = sensors[link]
                _add_sensor_link(root, link, sensor.file, sensor.serial_number, sensor.model)
            else:
                _add_link(root, tree, body, link, poses[link])
    for frame in tree.frames:
        if frame.parent_link:
            _add_joint(root, tree, frame, poses)
    for one in mounted:
        _add_sensor_link(root, one.name, one.file, one.serial_number)
        weld = add_element(root, "joint", name=f"{one.name}_mount", type="fixed")
        add_element(weld, "parent", link=one.link)
        add_element(weld, "child", link=one.name)
    for pin in tree.pins:
        constraints = add_element(root, "constraints", nominal_config=_text(pin.nominal_config))
        add_element(
            constraints,
            "pin",
            body1=tree.bodies[pin.body1].name,
            body2=tree.bodies[pin.body2].name,
            anchor=_text(pin.anchor),
        )
    mark_literal(root)
    etree.indent(root)
    return str(etree.tostring(root, encoding="unicode")) + "\n"


def foreign_parts(tree: KinematicTree) -> str:
    """What of a tree URDF has no word for, in words; empty for nothing."""
    bodies = tree.bodies
    lost = {
        "actuators": tree.actuators,
        "tendons": tree.tendons,
        "locks": tree.locks,
        "named states": tree.states,
        "gravity compensation": any(body.lifted_mass for body in bodies),
        "collision groups": any(shape.collision_group is not None for body in bodies for shape in body.collisions),
    }
    shapes = {shape.shape for body in bodies for shape in (*body.collisions, *body.visuals)}
    own = {
        "closed loops (pin)": tree.pins,
        "ball joints (spherical)": any(body.joint_type is JointType.SPHERICAL for body in bodies),
        "rotor inertia": any(body.rotor_inertia for body in bodies),
        "springs of joints": any(body.stiffness for body in bodies),
        **{f"{shape.name}s": shape.name in shapes for shape in SHAPES.values() if shape.urdf_own},
    }
    parts = [f"left out: {', '.join(_named(lost))}"] if _named(lost) else []
    if _named(own):
        parts.append(f"written in words that other programs may not know: {', '.join(_named(own))}")
    return "; ".join(parts)


def _named(found: dict[str, Any]) -> list[str]:
    return [name for name, there in found.items() if there]


def _text(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def _add_origin(parent: etree._Element, pose: Pose) -> None:
    position, rotation = pose.arrays()
    add_element(parent, "origin", xyz=_text(position), rpy=_text(rpy_from_matrix(rotation)))


# ---- links ----


def _add_link(root: etree._Element, tree: KinematicTree, body: TreeBody, name: str, pose: Pose) -> None:
    link = add_element(root, "link", name=name)
    if name == body.links[0]:
        own_sensors = [sensor for sensor in tree.sensors if sensor.link in body.links]
        _add_inertial(link, *_inertia_without(body, own_sensors))
    for visual in body.visuals:
        if visual.link == name:
            element = _add_shape(link, "visual", visual, pose)
            if visual.color is not None:
                # The name differs from all others because a name stands for one colour in a whole file.
                material = add_element(element, "material", name=f"{visual.name}/color")
                add_element(material, "color", rgba=_text(visual.color))
    for collision in body.collisions:
        if collision.link == name:
            element = _add_shape(link, "collision", collision, pose)
            if collision.material != "default":
                material = add_element(element, "material")
                add_element(material, "contact", name=collision.material)


def _add_sensor_link(root: etree._Element, name: str, file: str, serial_number: str, model: str = "") -> None:
    """A link whose content is in its sensor file."""
    optional = {"serial_number": serial_number, "model": model}
    add_element(root, "link", name=name, sensor=file, **{key: value for key, value in optional.items() if value})


def _inertia_without(body: TreeBody, sensors: Sequence[TreeSensor]) -> tuple[float, Array, Array]:
    """The body's inertia less that of links whose files bring it back."""
    mass, com, inertia = body.mass, body.com, body.inertia
    for sensor in sensors:
        rest = mass - sensor.mass
        rest_com = (mass * com - sensor.mass * sensor.com) / rest if rest > 0.0 else np.zeros(3)
        inertia = (
            inertia + _point_inertia(mass, com) - sensor.inertia - _point_inertia(sensor.mass, sensor.com)
        ) - _point_inertia(rest, rest_com)
        mass, com = rest, rest_com
    return mass, com, inertia


def _point_inertia(mass: float, position: Array) -> Array:
    """Inertia of a point mass about the origin."""
    return np.asarray(mass * (position @ position * np.eye(3) - np.outer(position, position)))


def _add_inertial(link: etree._Element, mass: float, com: Array, inertia: Array) -> None:
    if not mass and not inertia.any():
        return
    inertial = add_element(link, "inertial")
    add_element(inertial, "origin", xyz=_text(com))
    add_element(inertial, "mass", value=repr(float(mass)))
    tensor = add_element(inertial, "inertia")
    for name, row, column in (
        ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2),
    ):  # fmt: skip
        tensor.set(name, repr(float(inertia[row, column])))


def _add_shape(link: etree._Element, tag: str, shape: TreeCollision | TreeVisual, link_pose: Pose) -> etree._Element:
    element = add_element(link, tag)
    _add_origin(element, relative(link_pose, shape.position, shape.rotation))
    geometry = add_element(add_element(element, "geometry"), shape.shape)
    if shape.shape == "mesh":
        geometry.set("filename", Path(shape.mesh_file or "").absolute().as_uri())
        geometry.set("scale", _text(shape.scale))
        return element
    names = [names.split()[0] for names in SHAPES[shape.shape].urdf]
    values = [shape.dim] if len(names) < len(shape.dim) else [(value,) for value in shape.dim]
    for name, numbers in zip(names, values, strict=True):
        geometry.set(name, _text(numbers))
    return element


# ---- joints ----


def _add_joint(root: etree._Element, tree: KinematicTree, frame: TreeFrame, poses: dict[str, Pose]) -> None:
    joint = add_element(root, "joint", name=frame.name)
    body = tree.bodies[frame.body]
    if frame.is_child:
        joint.set("type", _joint_type(body))
        _add_origin(joint, relative(poses[frame.parent_link], body.joint_position, body.joint_rotation))
    else:
        joint.set("type", "fixed")
        _add_origin(joint, relative(poses[frame.parent_link], frame.position, frame.rotation))
    add_element(joint, "parent", link=frame.parent_link)
    add_element(joint, "child", link=frame.link)
    if frame.is_child:
        _add_motion(joint, body)


def _joint_type(body: TreeBody) -> str:
    if body.joint_type is JointType.REVOLUTE and math.isinf(body.lower) and math.isinf(body.upper):
        return "continuous"
    return body.joint_type.value


def _add_motion(joint: etree._Element, body: TreeBody) -> None:
    """Axis, dynamics, limits and mimic of a movable joint; what is at its default is left out."""
    spherical = body.joint_type is JointType.SPHERICAL
    if not spherical:
        add_element(joint, "axis", xyz=_text(body.axis))
    dynamics = {
        name: repr(float(getattr(body, name)))
        for name in ("damping", "friction", "rotor_inertia", "stiffness")
        if getattr(body, name)
    }
    if not np.array_equal(body.spring_mount, body.joint_type.zero_coordinate if spherical else 0.0):
        dynamics["spring_mount"] = _text(np.atleast_1d(body.spring_mount))
    if dynamics:
        add_element(joint, "dynamics", **{"damping": "0.0"} | dynamics)  # which other readers demand
    _add_limits(joint, body)
    if body.mimic is not None:
        leader, multiplier, offset = body.mimic
        add_element(joint, "mimic", joint=leader, multiplier=repr(float(multiplier)), offset=repr(float(offset)))


def _add_limits(joint: etree._Element, body: TreeBody) -> None:
    """The limits, with the attributes that other readers of URDF demand for each type of joint."""
    limits = {"effort": body.effort_limit, "velocity": body.velocity_limit}
    if body.joint_type is JointType.SPHERICAL:
        limits["lower"] = body.upper  # a spherical joint's only angle is written there
    elif _joint_type(body) != "continuous":
        limits.update({"lower": body.lower, "upper": body.upper})
    elif np.isinf(list(limits.values())).all():
        return
    bounded = {name: min(max(value, -NO_LIMIT), NO_LIMIT) for name, value in limits.items()}
    add_element(joint, "limit", **{name: repr(float(value)) for name, value in bounded.items()})

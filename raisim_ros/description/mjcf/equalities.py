"""Equalities of a compiled model: points that two bodies share, and joints that follow others."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.model import Pin
from raisim_ros.description.robot.tree_builder import WORLD_LINK
from raisim_ros.description.rotation import Array

_SAME_PLACE = 1e-6  # m


def add_equalities(builder: RobotBuilder) -> None:
    """Give a robot the equalities of its bodies and joints; what cannot be had is noted."""
    model = builder.model
    if "equality" in model.disabled:
        return
    for number, is_active in enumerate(model["eq_active0"]):
        kind = model.kind("eq_type", number)
        if not is_active:
            continue
        if kind == "connect":
            _add_pin(builder, number)
        elif kind == "joint":
            _add_coupling(builder, number)
        else:
            builder.notes.add(f"equality {kind}")


def _add_pin(builder: RobotBuilder, number: int) -> None:
    model, skeleton = builder.model, builder.skeleton
    ends = [_end(builder, number, side) for side in (1, 2)]
    if not any(body in builder.bodies and not skeleton.is_static(body) for body, _ in ends):
        return
    links = []
    for body, _ in ends:
        if skeleton.is_static(body) and not builder.is_floating:
            links.append(WORLD_LINK)
        elif body in builder.bodies and not skeleton.is_static(body):
            links.append(builder.name(body))
    if len(links) < 2:
        builder.notes.add("equality connect between two systems or a system and the world")
        return
    if links[0] == WORLD_LINK:
        ends.reverse()
        links.reverse()
    points = [skeleton.world_pose(body) for body, _ in ends]
    places = [pose.arrays()[0] + pose.arrays()[1] @ anchor for pose, (_, anchor) in zip(points, ends, strict=True)]
    if np.abs(places[0] - places[1]).max() > _SAME_PLACE:
        builder.notes.add("equality connect of points that are apart in the pose of the file")
        return
    (body, anchor), _ = ends
    initial = builder.coordinates(model["qpos0"])
    place = skeleton.place("eq", number)
    builder.robot.pins.append(Pin(links[0], links[1], builder.in_link(body, anchor), initial, place))


def _end(builder: RobotBuilder, number: int, side: int) -> tuple[int, Array]:
    """Body and point of one end."""
    model = builder.model
    target = int(model[f"eq_obj{side}id"][number])
    if model.kind("eq_objtype", number) == "site":
        return int(model["site_bodyid"][target]), model["site_pos"][target].astype(np.float64)
    return target, model["eq_data"][number, 3 * side - 3 : 3 * side].astype(np.float64)


def _add_coupling(builder: RobotBuilder, number: int) -> None:
    """A joint that follows another one, or stays where it is."""
    model = builder.model
    follower, leader = int(model["eq_obj1id"][number]), int(model["eq_obj2id"][number])
    used = [joint for joint in (follower, leader) if joint >= 0]
    owners = [int(model["jnt_bodyid"][joint]) in builder.bodies for joint in used]
    if not any(owners):
        return
    constant, slope, *curve = (float(value) for value in model["eq_data"][number, :5])
    if not all(owners):
        builder.notes.add("equality joint between two systems")
    elif any(model.kind("jnt_type", joint) not in ("hinge", "slide") for joint in used):
        builder.notes.add("equality joint of ball and free joints")
    elif leader >= 0 and any(curve):
        builder.notes.add("equality joint along a curve")
    else:
        reference = [float(model["qpos0"][model["jnt_qposadr"][joint]]) for joint in used]
        offset = constant + reference[0]
        joint = builder.joints[follower]
        if leader >= 0:
            joint.mimic = (builder.skeleton.joint_names[leader], slope, offset - slope * reference[1])
        else:
            joint.lower = joint.upper = offset

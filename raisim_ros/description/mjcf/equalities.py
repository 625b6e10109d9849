"""Equalities of a compiled model: points and frames that two bodies share, joints and tendons that follow others.

A point that two links share in the pose of the file is a pin, a joint that follows another one evenly a mimic joint.
All others are locks: see TreeLock.
"""

from __future__ import annotations

import numpy as np

from raisim_ros.description.mjcf.places import Frame, Places
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import FramePair, TreeLock, TreeTendon
from raisim_ros.description.robot.model import Pin, Pose
from raisim_ros.description.robot.tree_builder import WORLD_LINK
from raisim_ros.description.rotation import matrix_from_quaternion

_SAME_PLACE = 1e-6  # m


def add_equalities(builder: RobotBuilder) -> list[int]:
    """Give a robot the pins and mimic joints among its equalities; returns the numbers of the others."""
    model = builder.model
    if "equality" in model.disabled:
        return []
    rest = []
    for number, is_active in enumerate(model["eq_active0"]):
        kind = model.kind("eq_type", number)
        if not is_active:
            continue
        made = kind == "connect" and _add_pin(builder, number)
        made = made or (kind == "joint" and _add_coupling(builder, number))
        if not made:
            rest.append(number)
    return rest


def locks_of(
    builder: RobotBuilder, places: Places, tendons: dict[int, TreeTendon], numbers: list[int]
) -> list[TreeLock]:
    """The locks of a robot, for the equalities of these numbers; what cannot be had is noted."""
    model = builder.model
    locks = []
    for number in numbers:
        kind = model.kind("eq_type", number)
        if kind in ("connect", "weld"):
            locks += _frame_locks(builder, places, number, kind)
        elif kind == "joint":
            locks += _joint_locks(builder, number)
        elif kind == "tendon":
            locks += _tendon_locks(builder, tendons, number)
        else:
            builder.notes.add(f"equality {kind}")
    return locks


# ---- points and frames ----


def _ends(builder: RobotBuilder, number: int) -> list[tuple[int, Pose]]:
    """Both bodies, and the frames in them that coincide; of a point only the places count."""
    model, skeleton = builder.model, builder.skeleton
    targets = [int(model[f"eq_obj{side}id"][number]) for side in (1, 2)]
    if model.kind("eq_objtype", number) == "site":
        return [(int(model["site_bodyid"][site]), skeleton.pose("site", site)) for site in targets]
    data = model["eq_data"][number].astype(np.float64)
    if model.kind("eq_type", number) == "connect":
        poses = [Pose(data[:3]), Pose(data[3:6])]
    else:
        poses = [Pose(data[3:6], matrix_from_quaternion(data[6:10])), Pose(data[:3])]
    return list(zip(targets, poses, strict=True))


def _is_own(builder: RobotBuilder, body: int) -> bool:
    return body in builder.bodies and not builder.skeleton.is_static(body)


def _add_pin(builder: RobotBuilder, number: int) -> bool:
    model, skeleton = builder.model, builder.skeleton
    ends = _ends(builder, number)
    links = []
    for body, _ in ends:
        if skeleton.is_static(body) and not builder.is_floating:
            links.append(WORLD_LINK)
        elif _is_own(builder, body):
            links.append(builder.name(body))
    if len(links) < 2 or links == [WORLD_LINK] * 2:
        return False
    if links[0] == WORLD_LINK:
        ends.reverse()
        links.reverse()
    places = [(skeleton.world_pose(body) @ pose).arrays()[0] for body, pose in ends]
    if np.abs(places[0] - places[1]).max() > _SAME_PLACE:
        return False
    body, pose = ends[0]
    initial = builder.coordinates(model["qpos0"])
    place = skeleton.place("eq", number)
    anchor = builder.in_link(body, pose.arrays()[0])
    builder.robot.pins.append(Pin(links[0], links[1], anchor, initial, place))
    return True


def _frame_locks(builder: RobotBuilder, places: Places, number: int, kind: str) -> list[TreeLock]:
    ends = _ends(builder, number)
    if not any(_is_own(builder, body) for body, _ in ends):
        return []
    frames = [places.in_body(body, pose) for body, pose in ends]
    if frames[0] is None or frames[1] is None:
        builder.notes.add(f"equality {kind} between two systems")
        return []
    if not _is_own(builder, ends[0][0]):
        frames.reverse()
    own, other = frames
    assert own is not None
    assert other is not None
    return [TreeLock(_pair(own, other, axis)) for axis in range(3 if kind == "connect" else 6)]


def _pair(own: Frame, other: Frame, axis: int) -> FramePair:
    gear = tuple(float(axis == k) for k in range(6))
    return FramePair(own.link, own.position, own.quaternion, gear, other.link, other.position, other.quaternion)


# ---- joints and tendons ----


def _joints(builder: RobotBuilder, number: int) -> list[int] | None:
    """The follower and its leader, if there is one; None for those of other robots, and balls."""
    model = builder.model
    joints = [int(model[f"eq_obj{side}id"][number]) for side in (1, 2)]
    used = [joint for joint in joints if joint >= 0]
    own = [int(model["jnt_bodyid"][joint]) in builder.bodies for joint in used]
    if not any(own):
        return None
    if not all(own):
        builder.notes.add("equality joint between two systems")
        return None
    if any(model.kind("jnt_type", joint) not in ("hinge", "slide") for joint in used):
        builder.notes.add("equality joint of ball and free joints")
        return None
    return used


def _references(builder: RobotBuilder, joints: list[int]) -> list[float]:
    return [float(builder.model["qpos0"][builder.model["jnt_qposadr"][joint]]) for joint in joints]


def _add_coupling(builder: RobotBuilder, number: int) -> bool:
    """A joint that follows another one evenly, or stays where it is. True for what is no lock, either."""
    joints = _joints(builder, number)
    if joints is None:
        return True
    constant, slope, *curve = (float(value) for value in builder.model["eq_data"][number, :5])
    reference = _references(builder, joints)
    follower = builder.joints[joints[0]]
    if len(joints) == 1:
        follower.lower = follower.upper = constant + reference[0]
        return True
    if any(curve) or follower.mimic is not None:
        return False
    follower.mimic = (builder.skeleton.joint_names[joints[1]], slope, constant + reference[0] - slope * reference[1])
    return True


def _joint_locks(builder: RobotBuilder, number: int) -> list[TreeLock]:
    joints = _joints(builder, number)
    if joints is None:
        return []
    names = tuple(builder.skeleton.joint_names[joint] for joint in joints)
    return [TreeLock(joints=names, references=tuple(_references(builder, joints)), curve=_curve(builder, number))]


def _curve(builder: RobotBuilder, number: int) -> tuple[float, ...]:
    return tuple(float(value) for value in builder.model["eq_data"][number, :5])


def _tendon_locks(builder: RobotBuilder, tendons: dict[int, TreeTendon], number: int) -> list[TreeLock]:
    model = builder.model
    used = [int(model[f"eq_obj{side}id"][number]) for side in (1, 2)]
    follower, leader = used[0], used[1] if used[1] >= 0 else used[0]
    own = [tendon in tendons for tendon in (follower, leader)]
    if not all(own):
        if any(own):
            builder.notes.add("equality tendon between two systems")
        return []
    curve = _curve(builder, number)
    if used[1] < 0:
        curve = (curve[0], 0.0, 0.0, 0.0, 0.0)
    references = tuple(float(model["tendon_length0"][tendon]) for tendon in (follower, leader))
    return [TreeLock(tendons=(tendons[follower].name, tendons[leader].name), references=references, curve=curve)]

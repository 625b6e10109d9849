"""Fixed tendons of a compiled model: sums of joint coordinates."""

from __future__ import annotations

import math
from dataclasses import replace

from raisim_ros.description.mjcf.actuators import ENDLESS, Drive, feedback_of
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import TreeTendon


def tendons_of(builder: RobotBuilder) -> dict[int, TreeTendon]:
    """The fixed tendons of a robot, by their numbers in the model; other tendons are noted."""
    model = builder.model
    found = {}
    for number in range(len(model.names["tendon"])):
        first, count = int(model["tendon_adr"][number]), int(model["tendon_num"][number])
        if any(model.kind("wrap_type", wrap) != "joint" for wrap in range(first, first + count)):
            builder.notes.add("spatial tendons")
            continue
        joints = [int(joint) for joint in model["wrap_objid"][first : first + count]]
        own = [int(model["jnt_bodyid"][joint]) in builder.bodies for joint in joints]
        if not any(own):
            continue
        if not all(own):
            builder.notes.add("tendons between two systems")
            continue
        found[number] = _tendon(builder, number, joints, model["wrap_prm"][first : first + count].tolist())
    return found


def _tendon(builder: RobotBuilder, number: int, joints: list[int], coefficients: list[float]) -> TreeTendon:
    model = builder.model
    builder.notes.add("armature of tendons", model.has("tendon_armature", number))
    curved = model.has("tendon_stiffnesspoly", number) or model.has("tendon_dampingpoly", number)
    builder.notes.add("polynomial stiffness and damping", curved)
    lower, upper = model["tendon_range"][number] if model["tendon_limited"][number] else ENDLESS
    rest_lower, rest_upper = model["tendon_lengthspring"][number]
    names = [builder.skeleton.joint_names[joint] for joint in joints]
    return TreeTendon(
        model.names["tendon"][number] or f"tendon_{number}",
        tuple(zip(names, map(float, coefficients), strict=True)),
        float(model["tendon_stiffness"][number]),
        float(model["tendon_damping"][number]),
        (float(rest_lower), float(rest_upper)),
        float(model["tendon_frictionloss"][number]),
        (float(lower), float(upper)),
    )


def with_servos(tendons: dict[int, TreeTendon], drives: list[Drive], notes: Notes) -> list[TreeTendon]:
    """The tendons with what the servos on them do."""
    made = []
    for tendon in tendons.values():
        feedback = feedback_of(drives, ("", tendon.name), notes)
        bounds = feedback.range if any(map(math.isfinite, feedback.range)) else ENDLESS
        force = sum(drive.actuator().joint_force(0.0) for drive in drives if drive.tendon == tendon.name)
        made.append(replace(tendon, p_gain=feedback.p_gain, d_gain=feedback.d_gain, effort_range=bounds))
        if made[-1].is_servo:
            made[-1] = replace(made[-1], feed_forward=force)
    return made

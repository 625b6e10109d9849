"""Elements of world files for what acts along joints, tendons and frames of robots."""

from __future__ import annotations

import math

from raisim_ros.description.world.schema_types import REQUIRED, Element, Kind, attribute

LINE_ELEMENTS = (
    Element(
        ("actuator",),
        "a motor with a control of its own, see ArticulatedSystem.set_actuation()",
        (
            attribute("name", Kind.TEXT, "", "name; default: that of the joint"),
            attribute("joint", Kind.TEXT, "", "a revolute or prismatic joint, or"),
            attribute("tendon", Kind.TEXT, "", "a tendon, or else <frames> inside it"),
            attribute("gear", Kind.NUMBER, 1.0, "force of the joint per force of the motor"),
            attribute("gain", Kind.NUMBER, 1.0, "force of the motor per control"),
            attribute("bias", Kind.NUMBER, 0.0, "force of the motor at control zero"),
            attribute("control_range", Kind.RANGE, (-math.inf, math.inf), "the control is kept in it"),
            attribute("force_range", Kind.RANGE, (-math.inf, math.inf), "the motor's force is kept in it"),
            attribute("control", Kind.NUMBER, 0.0, "present control, of one with <law>, <frames> or a tendon"),
            attribute("activation", Kind.NUMBER, 0.0, "present activation, of one with dynamics"),
        ),
        ("law", "frames"),
    ),
    Element(
        ("law",),
        "force of an actuator in place of gain and bias: gain times activation plus bias",
        (
            attribute("dynamics", Kind.TEXT, "none", "none, integrator, filter, filter_exact or muscle"),
            attribute("dynamics_numbers", Kind.NUMBERS, (), "times of the dynamics [s]"),
            attribute("gain_law", Kind.TEXT, "constant", "constant, affine (in length and speed) or muscle"),
            attribute("gain_numbers", Kind.NUMBERS, (1.0,), "of the gain"),
            attribute("bias_law", Kind.TEXT, "constant", "constant, affine or muscle"),
            attribute("bias_numbers", Kind.NUMBERS, (), "of the bias"),
            attribute("activation_range", Kind.RANGE, (-math.inf, math.inf), "the activation is kept in it"),
            attribute("length_range", Kind.RANGE, (0.0, 0.0), "of muscles: ends of the operating range"),
            attribute("strength", Kind.NUMBER, 0.0, "of muscles: acceleration per force at rest"),
            attribute("early", Kind.SWITCH, False, "the force goes by the activation at the end of the step"),
        ),
    ),
    Element(
        ("frames",),
        "a frame of a link against another one, along whose six differences an actuator or lock acts",
        (
            attribute("link", Kind.TEXT, REQUIRED, "of the robot"),
            attribute("position", Kind.VEC3, (0.0, 0.0, 0.0), "in the link's frame [m]"),
            attribute("quaternion", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "to the link's frame"),
            attribute("gear", Kind.NUMBERS, REQUIRED, "six coefficients: of the way and of the turn"),
            attribute("reference_link", Kind.TEXT, "", "the other link; default: the world"),
            attribute("reference_position", Kind.VEC3, (0.0, 0.0, 0.0), "the other frame [m]"),
            attribute("reference_quaternion", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "of the other frame"),
            attribute("own_push", Kind.SWITCH, False, "forces along axes of the first frame, not of the other"),
            attribute("own_turn", Kind.SWITCH, False, "likewise torques"),
            attribute("is_measured", Kind.SWITCH, True, "false: the length stays zero"),
        ),
    ),
    Element(
        ("lock",),
        "<frames> that keep their place, or a joint or tendon that follows another along a curve",
        (
            attribute("joints", Kind.NAMES, (), "two revolute or prismatic joints, or"),
            attribute("tendons", Kind.NAMES, (), "two tendons: the first follows the second"),
            attribute("references", Kind.NUMBERS, (0.0, 0.0), "values from which both count"),
            attribute("curve", Kind.NUMBERS, (0.0, 1.0, 0.0, 0.0, 0.0), "coefficients of a polynomial"),
        ),
        ("frames",),
    ),
    Element(
        ("tendon",),
        "a tendon over pulleys on the axes of joints: its length is the sum of coordinates times coefficients; or "
        "one that is led by what stands inside it",
        (
            attribute("name", Kind.TEXT, REQUIRED, "name"),
            attribute("joints", Kind.NAMES, (), "revolute and prismatic joints"),
            attribute("coefficients", Kind.NUMBERS, (), "one for each of them"),
            attribute("stiffness", Kind.NUMBER, 0.0, "of a spring along it"),
            attribute("damping", Kind.NUMBER, 0.0, "of a damper along it"),
            attribute("rest", Kind.NUMBERS, (0.0, 0.0), "two lengths between which the spring is slack"),
            attribute("friction", Kind.NUMBER, 0.0, "against its motion"),
            attribute("range", Kind.RANGE, (-math.inf, math.inf), "limits of its length"),
        ),
        ("route",),
    ),
    Element(
        ("route",),
        "what a tendon comes by, in order",
        (
            attribute("kind", Kind.TEXT, REQUIRED, "point, sphere, cylinder or pulley"),
            attribute("link", Kind.TEXT, "", "of the robot; default: the world"),
            attribute("position", Kind.VEC3, (0.0, 0.0, 0.0), "in the link's frame [m]"),
            attribute("quaternion", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "cylinders lie along z"),
            attribute("size", Kind.POSITIVE, 1.0, "radius [m]; of a pulley, divisor of the lengths behind it"),
            attribute("side_link", Kind.TEXT, "", "link of a point on whose side it goes by"),
            attribute("side", Kind.NUMBERS, (), "that point; inside the round thing: it goes through"),
        ),
    ),
)
"""<actuator>, <tendon>, <lock> and what stands inside them."""

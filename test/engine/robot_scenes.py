"""Robots that several test files put into their worlds, and sums over their contacts."""

from pathlib import Path

import numpy as np

ROBOTS = Path(__file__).parents[2] / "rsc" / "robots"

# Joint angles (HAA, HFE, KFE) of the legs LF, RF, LH, RH of a standing quadruped, and where its trunk then is.
STANCE = np.array([0, 0.4, -0.8, 0, 0.4, -0.8, 0, -0.4, 0.8, 0, -0.4, 0.8])
STANDING_HEIGHT = 0.555
THIGH, SHANK = 0.25, 0.32


def add_quadruped(world, position=(0.0, 0.0, STANDING_HEIGHT), p_gain=200.0, d_gain=10.0):
    """The quadruped in its stance, held by its motors."""
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf")
    q = np.concatenate([position, [1, 0, 0, 0], STANCE])
    robot.set_generalized_coordinate(q)
    robot.set_pd_gains(np.full(18, p_gain), np.full(18, d_gain))
    robot.set_p_target(q)
    return robot


def leg_angles(forward, down, knee_sign):
    """HFE and KFE that put a foot `forward` of and `down` below the hip [m]; front knees have the sign -1."""
    cosine = (forward**2 + down**2 - THIGH**2 - SHANK**2) / (2 * THIGH * SHANK)
    knee = knee_sign * np.arccos(cosine)
    hip = np.arctan2(-forward, down) - np.arctan2(SHANK * np.sin(knee), THIGH + SHANK * np.cos(knee))
    return hip, knee


def contact_forces(robot, dt):
    """(contact, force on the object in the world frame [N]) of all its contacts."""
    return [
        (c, (1.0 if c.is_object_a() else -1.0) * c.get_contact_frame().T @ c.get_impulse() / dt)
        for c in robot.get_contacts()
    ]


def force_on(robot, dt):
    """Sum of the contact forces on an object, world frame [N]; those within the object cancel."""
    return sum((force for _, force in contact_forces(robot, dt)), np.zeros(3))


def up_axis(robot):
    """The base's z axis in the world frame."""
    return robot.get_base_orientation()[:, 2]

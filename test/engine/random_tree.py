"""Random kinematic trees with every joint type, and the same trees as Pinocchio models."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody, TreeFrame

MOVABLE = (JointType.REVOLUTE, JointType.PRISMATIC, JointType.SPHERICAL)


def random_inertia(rng, mass):
    """Inertia of a random ellipsoid, turned at random."""
    squares = rng.uniform(0.05, 0.3, 3) ** 2
    moments = mass / 5 * (squares.sum() - squares)
    turn = Rotation.random(random_state=rng).as_matrix()
    return turn @ np.diag(moments) @ turn.T


def make_body(index, parent, joint_type, rng, **changes):
    """A body with random placement and mass."""
    mass = rng.uniform(0.2, 3.0)
    axis = rng.normal(size=3)
    root = parent < 0
    values = {
        "name": f"link{index}",
        "links": [f"link{index}"],
        "parent": parent,
        "joint_name": "ROOT" if root else f"joint{index}",
        "joint_type": joint_type,
        "joint_position": np.zeros(3) if root else rng.uniform(-0.4, 0.4, 3),
        "joint_rotation": np.eye(3) if root else Rotation.random(random_state=rng).as_matrix(),
        "axis": axis / np.linalg.norm(axis),
        "mass": mass,
        "com": rng.uniform(-0.2, 0.2, 3),
        "inertia": random_inertia(rng, mass),
        "spring_mount": np.array([1.0, 0, 0, 0]) if joint_type is JointType.SPHERICAL else 0.0,
    }
    return TreeBody(**{**values, **changes})


def tree_of(bodies):
    """A tree without shapes; one frame per movable joint."""
    frames = [
        TreeFrame(b.joint_name, b.name, bodies[b.parent].name, k, np.zeros(3), np.eye(3), True)
        for k, b in enumerate(bodies)
        if b.parent >= 0
    ]
    fixed = bodies[0].joint_type is JointType.FIXED
    return KinematicTree("robot", bodies, frames, [], [], fixed, "text", "", "")


def random_tree(rng, count, floating, rotor=True):
    """A tree of `count` bodies, each hung on a random earlier one."""
    bodies = [make_body(0, -1, JointType.FLOATING if floating else JointType.FIXED, rng)]
    for index in range(1, count):
        kind = MOVABLE[rng.integers(3)]
        bodies.append(
            make_body(index, int(rng.integers(index)), kind, rng, rotor_inertia=rng.uniform(0, 0.1) if rotor else 0.0)
        )
    return tree_of(bodies)


def random_state(rng, tree):
    """q with unit quaternions, u."""
    q, u = [], []
    for body in tree.bodies:
        if body.joint_type is JointType.FLOATING:
            q.append(rng.uniform(-1, 1, 3))
        if body.joint_type in (JointType.FLOATING, JointType.SPHERICAL):
            quaternion = rng.normal(size=4)
            q.append(quaternion / np.linalg.norm(quaternion))
        elif body.joint_type is not JointType.FIXED:
            q.append(rng.uniform(-2, 2, 1))
        u.append(rng.normal(size=body.joint_type.velocity_dim))
    return np.concatenate(q), np.concatenate(u)

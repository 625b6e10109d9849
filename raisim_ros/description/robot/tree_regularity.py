"""Can every joint be accelerated by a finite force? One backward pass of the articulated-body algorithm.

A massless link between two joints is fine as long as what hangs on it has inertia about both axes; only the
articulated inertia tells. It is taken in one generic configuration, since special ones (a wrist in line) may be
singular for robots that are not.
"""

from __future__ import annotations

import numpy as np

from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody
from raisim_ros.description.rotation import Array, cross_matrix, matrix_from_axis_angle

_GOLDEN = 0.6180339887498949  # its multiples, modulo 1, are all different and spread
_SINGULAR = 1e-13  # articulated over composite inertia along the joint; rounding alone gives 1e-15


def find_singular_body(tree: KinematicTree) -> int | None:
    """Index of a body whose joint meets no inertia along some direction of its motion, or None."""
    count = len(tree.bodies)
    articulated = [_spatial_inertia(body) for body in tree.bodies]
    composite = [inertia.copy() for inertia in articulated]
    angles = 0.5 + 0.5 * np.modf(_GOLDEN * np.arange(count))[0]
    for index in range(count - 1, -1, -1):
        body = tree.bodies[index]
        motion = _motion_subspace(body)
        felt = motion.T @ articulated[index] @ motion
        reference = motion.T @ composite[index] @ motion
        if body.joint_type not in (JointType.FLOATING, JointType.FIXED):
            felt += body.rotor_inertia * np.eye(motion.shape[1])
            reference += body.rotor_inertia * np.eye(motion.shape[1])
        if not _is_regular(felt, reference):
            return index
        if body.parent >= 0:
            passed = articulated[index] @ motion
            remaining = articulated[index] - passed @ np.linalg.solve(felt, passed.T)
            remaining = 0.5 * (remaining + remaining.T)  # an asymmetry from rounding would grow from body to body
            to_body = _transform_to_body(body, angles[index])
            articulated[body.parent] += to_body.T @ remaining @ to_body
            composite[body.parent] += to_body.T @ composite[index] @ to_body
    return None


def _is_regular(felt: Array, reference: Array) -> bool:
    """Is `felt` positive definite, measured by `reference`, direction by direction?"""
    scale = np.diag(reference)
    if scale.size == 0:
        return True
    if not (scale > 0.0).all() or not np.isfinite(felt).all():
        return False
    unit = 1.0 / np.sqrt(scale)
    smallest: float = np.linalg.eigvalsh(felt * unit[:, None] * unit).min()
    return smallest > _SINGULAR


def _spatial_inertia(body: TreeBody) -> Array:
    """6×6 inertia about the origin of the body frame, angular part first."""
    offset = cross_matrix(body.com)
    inertia = np.zeros((6, 6))
    inertia[:3, :3] = body.inertia - body.mass * offset @ offset
    inertia[:3, 3:] = body.mass * offset
    inertia[3:, :3] = body.mass * offset.T
    inertia[3:, 3:] = body.mass * np.eye(3)
    return inertia


def _motion_subspace(body: TreeBody) -> Array:
    """Spatial velocities, as columns in the body frame, that the joint allows."""
    kind = body.joint_type
    if not kind.has_axis:
        return np.eye(6)[:, : kind.velocity_dim]  # nothing, turning, all
    column = np.zeros((6, 1))
    first = 3 if kind.slides else 0
    column[first : first + 3, 0] = body.axis
    return column


def _transform_to_body(body: TreeBody, amount: float) -> Array:
    """Spatial velocity in the parent's frame to the body's frame, the joint moved by `amount` [rad or m]."""
    position, rotation = body.joint_position, body.joint_rotation
    if body.joint_type.slides:
        position = position + rotation @ body.axis * amount
    else:
        rotation = rotation @ matrix_from_axis_angle(body.axis, amount)
    transform = np.zeros((6, 6))
    transform[:3, :3] = transform[3:, 3:] = rotation.T
    transform[3:, :3] = -rotation.T @ cross_matrix(position)
    return transform

"""Commanded poses: gains and targets of the engine's controllers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi
from raisim_ros.engine.arguments import Vector, VectorLike

# Without gains of its own a body answers like a critically damped oscillator of this frequency [Hz].
DEFAULT_FREQUENCY_HZ = 2.0
# The integral parts accelerate a body by at most this much, ten times Earth's gravity and what that is at a tenth of a
# metre: a body that is held in its place does not shoot off when it is freed [m/s^2, rad/s^2].
MAX_INTEGRAL_ACCELERATION = 98.1
MAX_INTEGRAL_ANGULAR_ACCELERATION = 981.0


def make_gains(settings: InterfaceSettings, mass: float, inertia: Vector) -> Any:
    """The engine's gains for a body [kg] with an inertia about its centre of mass (3 x 3, body frame) [kg m^2]."""
    omega = 2.0 * math.pi * DEFAULT_FREQUENCY_HZ
    critical = (omega**2, 0.0, 2.0 * omega)
    gains = ffi.new("rs_pose_gains *")
    if settings.linear_gains is None:
        gains.linear = [mass * gain for gain in critical]
        gains.carried_mass = mass
    else:
        gains.linear = list(settings.linear_gains)
    own = settings.angular_gains
    gains.angular = list(critical if own is None else own)
    gains.angular_shape = list(arguments.symmetric6("inertia", inertia if own is None else np.eye(3)))
    gains.force_limit = mass * MAX_INTEGRAL_ACCELERATION
    gains.torque_limit = float(np.trace(inertia)) / 3.0 * MAX_INTEGRAL_ANGULAR_ACCELERATION
    return gains


def make_target(
    linear_velocity: VectorLike, angular_velocity: VectorLike, pose: tuple[VectorLike, Any] | None = None
) -> Any:
    """The engine's target: a pose (position, orientation) that moves with a velocity, or a velocity alone."""
    target = ffi.new("rs_pose_target *")
    target.linear_velocity = list(arguments.vector("linear velocity", linear_velocity, 3))
    target.angular_velocity = list(arguments.vector("angular velocity", angular_velocity, 3))
    if pose is None:
        target.velocity_only = 1
    else:
        target.position = list(arguments.vector("position", pose[0], 3))
        target.quaternion = list(arguments.orientation(pose[1]))
    return target

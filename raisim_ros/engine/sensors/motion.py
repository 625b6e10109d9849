"""Sensors that feel: inertial measurement unit, contacts, force and torque in a joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.sensor.types import ContactModel, ForceTorqueModel, ImuModel, NoiseModel
from raisim_ros.engine import arguments
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.contact import Contact
from raisim_ros.engine.sensors.sensor import Mount, Sensor, SensorType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


class IMU(Sensor):
    """Specific force and angular velocity in the sensor frame.

    At rest the specific force is minus gravity (+9.81 along the axis that points up), in free fall it is zero. Both
    are cut off at the limits, axis by axis.
    """

    type = SensorType.IMU
    model: ImuModel
    _READINGS = (*Sensor._READINGS, "_acceleration", "_angular_velocity")
    _acceleration: Vector
    _angular_velocity: Vector

    def __init__(self, world: Home, model: ImuModel, mount: Mount, set_name: str) -> None:
        for name, noise in (("acc_noise", model.acc_noise), ("ang_vel_noise", model.ang_vel_noise)):
            if noise.type not in ("none", "gaussian", "uniform"):
                raise InvalidValueError(f"{name} is '{noise.type}'; expected none, gaussian or uniform")
        if not (model.acc_limit > 0.0 and model.ang_vel_limit > 0.0):
            raise InvalidValueError(f"limits are {model.acc_limit}, {model.ang_vel_limit}; expected more than 0")
        super().__init__(world, model, mount, set_name)
        self._acceleration, self._angular_velocity = np.zeros(3), np.zeros(3)

    def _measure(self) -> None:
        turn = self._rotation.T
        force = turn @ (self.mount.acceleration() - self._world.get_gravity())
        rate = turn @ self.mount.angular_velocity()
        model = self.model
        force = force + _noise(model.acc_noise, self._frame, 0)
        rate = rate + _noise(model.ang_vel_noise, self._frame, 1)
        self._acceleration = np.clip(force, -model.acc_limit, model.acc_limit)
        self._angular_velocity = np.clip(rate, -model.ang_vel_limit, model.ang_vel_limit)

    def get_linear_acceleration(self) -> Vector:
        """Specific force, sensor frame [m/s^2]."""
        return self._acceleration.copy()

    def set_linear_acceleration(self, acceleration: VectorLike) -> None:
        """Set the specific force: for measurements that come from elsewhere."""
        self._acceleration = arguments.vector("acceleration", acceleration, 3)
        self._touch()

    def get_angular_velocity(self) -> Vector:
        """Angular velocity, sensor frame [rad/s]."""
        return self._angular_velocity.copy()

    def set_angular_velocity(self, angular_velocity: VectorLike) -> None:
        """Set the angular velocity: for measurements that come from elsewhere."""
        self._angular_velocity = arguments.vector("angular_velocity", angular_velocity, 3)
        self._touch()


def _noise(noise: NoiseModel, frame: int, stream: int) -> Vector:
    if noise.type == "none":
        return np.zeros(3)
    random = np.random.default_rng((noise.seed, frame, stream))
    if noise.type == "gaussian":
        return random.normal(noise.mean, noise.stddev, 3)
    return random.uniform(noise.mean - noise.stddev, noise.mean + noise.stddev, 3)


class ContactSensor(Sensor):
    """The contacts of the body that carries it, and the force they exert on it."""

    type = SensorType.CONTACT
    model: ContactModel
    _READINGS = (*Sensor._READINGS, "_contacts", "_wrench")
    _contacts: list[Contact]
    _wrench: Vector

    def __init__(self, world: Home, model: ContactModel, mount: Mount, set_name: str) -> None:
        super().__init__(world, model, mount, set_name)
        self._contacts = []
        self._wrench = np.zeros(6)

    def _measure(self) -> None:
        self._contacts = [
            contact
            for contact in self.mount.object.get_contacts()
            if contact.get_local_body_index() == self.mount.body_idx
        ]
        force, torque = np.zeros(3), np.zeros(3)
        for contact in self._contacts:
            impulse = contact.get_contact_frame().T @ contact.get_impulse()
            push = (impulse if contact.is_object_a() else -impulse) / self._world.get_time_step()
            force += push
            torque += np.cross(contact.get_position() - self._position, push)
        self._wrench = np.concatenate((self._rotation.T @ force, self._rotation.T @ torque))

    def get_contacts(self) -> list[Contact]:
        """Contacts of the last update."""
        return list(self._contacts)

    def is_in_contact(self) -> bool:
        """Whether the body touched anything."""
        return bool(self._contacts)

    def get_force(self) -> Vector:
        """Sum of the contact forces on the body, sensor frame [N]."""
        return self._wrench[:3].copy()

    def get_torque(self) -> Vector:
        """Their torque about the sensor, sensor frame [N m]."""
        return self._wrench[3:].copy()


class ForceTorque(Sensor):
    """Force and torque that the parent exerts through the joint that carries the link, about the sensor."""

    type = SensorType.FORCE_TORQUE
    needs_inverse_dynamics = True
    model: ForceTorqueModel
    _READINGS = (*Sensor._READINGS, "_wrench")
    _robot: ArticulatedSystem
    _wrench: Vector

    def __init__(self, world: Home, model: ForceTorqueModel, mount: Mount, set_name: str) -> None:
        if not isinstance(mount.object, ArticulatedSystem):
            raise WrongTypeError(f"{mount.object!r} has no joints; expected an articulated system")
        self._robot = mount.object
        super().__init__(world, model, mount, set_name)
        self._robot.set_compute_inverse_dynamics(True)
        self._wrench = np.zeros(6)

    def _measure(self) -> None:
        joint = self.mount.body_idx
        force = self._robot.get_force_at_joint_in_world_frame(joint)
        torque = self._robot.get_torque_at_joint_in_world_frame(joint)
        torque = torque + np.cross(self.get_frame_position() - self._position, force)
        self._wrench = np.concatenate((self._rotation.T @ force, self._rotation.T @ torque))

    def get_force(self) -> Vector:
        """Sensor frame [N]."""
        return self._wrench[:3].copy()

    def get_torque(self) -> Vector:
        """About the sensor, sensor frame [N m]."""
        return self._wrench[3:].copy()

"""The spring by which people pull at things."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.types import BodyType
from raisim_ros.engine.world.world import World

# How fast the grabbed point follows [rad/s], and the most that the spring accelerates it [m/s^2].
FREQUENCY, MOST = 12.0, 400.0


@dataclass(frozen=True, eq=False)
class Pull:
    """A point of a body (in its frame) and where it shall go (world)."""

    handle: BodyOwner
    body: int
    point: Vector
    target: Vector

    def apply(self, world: World) -> bool:
        """Give the body the force for the next step; False when it is gone. Critically damped for what it moves."""
        handle = self.handle
        if not world.is_object_alive(handle.get_id()):
            return False
        if isinstance(handle, SingleBodyObject) and handle.get_body_type() != BodyType.DYNAMIC:
            return True
        stretch = self.target - handle.get_position(self.body, self.point)
        velocity = handle.get_velocity(self.body, self.point)
        acceleration = FREQUENCY**2 * stretch - 2.0 * FREQUENCY * velocity
        size = float(np.linalg.norm(acceleration))
        if size > MOST:
            acceleration *= MOST / size
        force = _lightest(_mobility(handle, self.body, self.point)) * acceleration
        handle.set_external_force(self.body, self.point, force)
        world.wake_object(handle)
        return True


def _lightest(mobility: Vector) -> float:
    """The smallest mass that a point shows in any direction: a damping made for it shakes nothing."""
    return 1.0 / max(float(np.linalg.eigvalsh(0.5 * (mobility + mobility.T))[-1]), 1e-9)


def _mobility(handle: BodyOwner, body: int, point: Vector) -> Vector:
    """Acceleration of the point per force on it, 3 x 3 [1/kg]."""
    if isinstance(handle, ArticulatedSystem):
        jacobian = handle.get_dense_jacobian(body, handle.get_position(body, point))
        mobility: Vector = jacobian @ handle.get_inverse_mass_matrix() @ jacobian.T
        return mobility
    arm = handle.get_position(body, point) - handle.get_com_position(body)
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    single: Vector = np.eye(3) / handle._mass_and_inertia()[0] - cross @ np.linalg.inv(
        handle.get_inertia_matrix_w(body)
    ) @ cross
    return single

"""Numbers of an object that can be plotted over time, in groups that share a unit."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.contact_forces import contact_force_on
from raisim_ros.viewer.scene import Quantities, Vector

VELOCITY, TURNING = "velocity [m/s]", "angular velocity [rad/s]"
CONTACTS, ENERGY = "contact force [N]", "energy [J]"
JOINT_POSITIONS, JOINT_VELOCITIES = "joint positions [rad, m]", "joint velocities [rad/s, m/s]"
JOINT_EFFORTS, JOINT_TARGETS = "joint efforts [N m, N]", "joint targets [rad, m]"


def quantities_of(world: World, handle: Object) -> Quantities:
    """What there is to plot of an object now, besides its place."""
    found: Quantities = {}
    if isinstance(handle, ArticulatedSystem):
        state, force, target = handle.get_state(), handle.get_generalized_force(), handle.get_pd_target()[0]
        found |= joint_quantities(handle.get_kinematic_tree(), *state, force, target)
    elif isinstance(handle, SingleBodyObject):
        found[VELOCITY] = xyz(handle.get_linear_velocity())
        found[TURNING] = xyz(handle.get_angular_velocity())
    if isinstance(handle, (ArticulatedSystem, SingleBodyObject, SoftObject)):
        kinetic, potential = handle.get_kinetic_energy(), handle.get_potential_energy()
        found[ENERGY] = {"kinetic": kinetic, "potential": potential, "all": handle.get_energy()}
    found[CONTACTS] = xyz(contact_force_on(world, handle))
    return found


def joint_quantities(
    tree: KinematicTree, q: Vector, u: Vector, efforts: Vector, targets: Vector | None = None
) -> Quantities:
    """Of the joints with one coordinate; `targets` of their positions, where they are known."""
    wanted: dict[str, float] = {}
    positions: dict[str, float] = {}
    velocities: dict[str, float] = {}
    forces: dict[str, float] = {}
    at, speed_at = 0, 0
    for body in tree.bodies:
        coordinates, speeds = body.joint_type.coordinate_dim, body.joint_type.velocity_dim
        if coordinates == speeds == 1:
            positions[body.joint_name] = float(q[at])
            wanted |= {body.joint_name: float(targets[at])} if targets is not None else {}
            velocities[body.joint_name] = float(u[speed_at])
            forces[body.joint_name] = float(efforts[speed_at])
        at, speed_at = at + coordinates, speed_at + speeds
    if not positions:
        return {}
    found = {JOINT_POSITIONS: positions, JOINT_VELOCITIES: velocities, JOINT_EFFORTS: forces}
    return found | ({JOINT_TARGETS: wanted} if wanted else {})


def xyz(vector: Vector) -> dict[str, float]:
    """A vector and its length."""
    x, y, z = (float(value) for value in vector)
    return {"x": x, "y": y, "z": z, "length": float(np.linalg.norm(vector))}

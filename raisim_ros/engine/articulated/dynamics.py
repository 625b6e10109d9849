"""The part of ArticulatedSystem that answers questions about dynamics: inertia, forces, energy, momentum, loads."""

from __future__ import annotations

from typing import Any

import numpy as np

from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.core import ArticulatedCore
from raisim_ros.engine.errors import WrongStateError, check


class Dynamics(ArticulatedCore):
    """Equation of motion: M du/dt + h = tau.

    Quantities refer to the present state; between integrate1() and integrate2() to the configuration at which the
    step takes its dynamics.
    """

    def _gravity(self, gravity: VectorLike | None) -> Any:
        return list(self._world.get_gravity() if gravity is None else arguments.vector("gravity", gravity, 3))

    # ---- equation of motion ----

    def get_mass_matrix(self) -> Vector:
        """Joint-space inertia M with rotor inertia."""
        out = np.empty((self._u_count, self._u_count))
        check(lib.rs_articulation_mass_matrix(self._c, self._engine_id, c_array(out)))
        return out

    def get_inverse_mass_matrix(self) -> Vector:
        """Inverse of M + W; W is the implicit part of gains, springs and damping at the world's time step."""
        out = np.empty((self._u_count, self._u_count))
        check(lib.rs_articulation_inverse_mass_matrix(self._c, self._engine_id, c_array(out)))
        return out

    def compute_sparse_inverse(self) -> Vector:
        """Return get_inverse_mass_matrix(): the factorisation along the tree makes it in O(n) per column."""
        return self.get_inverse_mass_matrix()

    def mass_matrix_vec_mul(self, vector: VectorLike) -> Vector:
        """M times a vector, without forming M."""
        x, out = arguments.vector("vector", vector, self._u_count), np.empty(self._u_count)
        check(lib.rs_articulation_mass_multiply(self._c, self._engine_id, c_array(x), c_array(out)))
        return out

    def get_nonlinearities(self, gravity: VectorLike | None = None) -> Vector:
        """h: gravity (the world's by default), Coriolis and centrifugal forces."""
        out = np.empty(self._u_count)
        check(lib.rs_articulation_nonlinearities(self._c, self._engine_id, self._gravity(gravity), c_array(out)))
        return out

    def articulated_body_algorithm(
        self, generalized_force: VectorLike | None = None, gravity: VectorLike | None = None
    ) -> Vector:
        """Accelerations du/dt for generalised forces (zero by default), without motors, springs and dampers."""
        force = np.zeros(self._u_count) if generalized_force is None else generalized_force
        tau, out = arguments.vector("generalized force", force, self._u_count), np.empty(self._u_count)
        check(
            lib.rs_articulation_forward_dynamics(
                self._c, self._engine_id, self._gravity(gravity), c_array(tau), c_array(out)
            )
        )
        return out

    def get_inverse_dynamics(self, acceleration: VectorLike, gravity: VectorLike | None = None) -> Vector:
        """Return the generalised forces that give the accelerations du/dt."""
        return self._inverse_dynamics(acceleration, gravity)[0]

    def _inverse_dynamics(self, acceleration: VectorLike, gravity: VectorLike | None) -> tuple[Vector, Vector]:
        udot = arguments.vector("acceleration", acceleration, self._u_count)
        tau, wrench = np.empty(self._u_count), np.empty((len(self._tree.bodies), 6))
        check(
            lib.rs_articulation_inverse_dynamics(
                self._c, self._engine_id, self._gravity(gravity), c_array(udot), c_array(tau), c_array(wrench)
            )
        )
        return tau, wrench

    # ---- forces in the joints ----

    def set_compute_inverse_dynamics(self, flag: bool) -> None:
        """Find the forces and torques in the joints in every step; off by default, since it costs time."""
        wanted = arguments.flag("flag", flag)
        sensors = (sensor for one in self.get_sensor_sets() for sensor in one)
        if not wanted and any(sensor.needs_inverse_dynamics for sensor in sensors):
            raise WrongStateError(f"{self!r} carries a force-torque sensor, which needs the forces in the joints")
        self._set_options(inverse_dynamics=wanted)

    def get_compute_inverse_dynamics(self) -> bool:
        """Whether the forces in the joints are found in every step."""
        return bool(self._options().inverse_dynamics)

    def _joint_wrenches(self) -> Vector:
        out = np.empty((len(self._tree.bodies), 6))
        check(lib.rs_articulation_get_joint_wrenches(self._c, self._engine_id, c_array(out)))
        return out

    def get_force_at_joint_in_world_frame(self, joint_idx: BodyLike) -> Vector:
        """Force of the parent on a body through its joint in the last step, world frame [N]."""
        force: Vector = self._joint_wrenches()[self._joint(joint_idx), :3]
        return force

    def get_torque_at_joint_in_world_frame(self, joint_idx: BodyLike) -> Vector:
        """Torque of the parent on a body at the body's origin in the last step, world frame [N m]."""
        torque: Vector = self._joint_wrenches()[self._joint(joint_idx), 3:]
        return torque

    # ---- composites ----

    def _composites(self) -> tuple[Vector, Vector, Vector]:
        count = len(self._tree.bodies)
        mass, com, inertia = np.empty(count), np.empty((count, 3)), np.empty((count, 6))
        check(
            lib.rs_articulation_composites(self._c, self._engine_id, c_array(mass), c_array(com), c_array(inertia))
        )
        return mass, com, inertia

    def get_composite_mass(self) -> Vector:
        """Mass of each body with all its descendants [kg]; entry 0 is the whole robot."""
        return self._composites()[0]

    def get_composite_com(self) -> Vector:
        """Centre of mass of each body with all its descendants, world frame, one per row [m]."""
        return self._composites()[1]

    def get_composite_inertia(self) -> Vector:
        """Inertia of each body with all its descendants about their centre of mass, world axes, n x 3 x 3."""
        return np.array([arguments.matrix_of_symmetric6(row) for row in self._composites()[2]])

    def get_com(self) -> Vector:
        """Centre of mass of the whole robot, world frame [m]."""
        com: Vector = self._composites()[1][0]
        return com

    def get_total_mass(self) -> float:
        """Mass of the whole robot [kg]."""
        return float(self._composites()[0][0])

    def _mass_and_inertia(self) -> tuple[float, Vector]:
        masses, _, inertias = self._composites()
        rotation = matrix_from_quaternion(self.get_base_quaternion())
        return float(masses[0]), rotation.T @ arguments.matrix_of_symmetric6(inertias[0]) @ rotation

    # ---- momentum and energy ----

    def get_generalized_momentum(self) -> Vector:
        """M times u."""
        with self._world.locked():
            return self.mass_matrix_vec_mul(self.get_generalized_velocity())

    def _momentum(self, about: VectorLike) -> tuple[Vector, Vector]:
        linear, angular = np.empty(3), np.empty(3)
        reference = list(arguments.vector("reference point", about, 3))
        check(
            lib.rs_articulation_momentum(self._c, self._engine_id, reference, c_array(linear), c_array(angular))
        )
        return linear, angular

    def get_linear_momentum(self) -> Vector:
        """Linear momentum [kg m/s]."""
        return self._momentum((0.0, 0.0, 0.0))[0]

    def get_angular_momentum(self, reference_point: VectorLike) -> Vector:
        """Angular momentum about a point of the world frame [kg m^2/s]."""
        return self._momentum(reference_point)[1]

    def _energies(self, gravity: VectorLike | None) -> Any:
        out = ffi.new("double[3]")
        check(lib.rs_articulation_energy(self._c, self._engine_id, self._gravity(gravity), out))
        return out

    def get_kinetic_energy(self) -> float:
        """Kinetic energy with that of the rotors [J]."""
        return float(self._energies(None)[0])

    def get_potential_energy(self, gravity: VectorLike | None = None) -> float:
        """Energy in gravity, zero at the world's origin [J]; springs not included."""
        return float(self._energies(gravity)[1])

    def get_spring_energy(self) -> float:
        """Energy in the springs of the joints [J]."""
        return float(self._energies(None)[2])

    def get_energy(self, gravity: VectorLike | None = None) -> float:
        """Kinetic plus potential energy [J]."""
        energies = self._energies(gravity)
        return float(energies[0] + energies[1])

    # ---- loads ----

    def _push(self, local_idx: BodyLike, point: Vector, force: Vector) -> None:
        check(lib.rs_articulation_add_force(self._c, self._engine_id, self._body(local_idx), list(point), list(force)))

    def _turn(self, local_idx: BodyLike, torque: Vector) -> None:
        check(lib.rs_articulation_add_torque(self._c, self._engine_id, self._body(local_idx), list(torque), 0))

    def set_external_torque_in_body_frame(self, local_idx: BodyLike, torque: VectorLike) -> None:
        """Add a torque that turns with the body, given in its frame, for the next step [N m]."""
        values = arguments.vector("torque", torque, 3)
        in_world_axes = self.get_orientation(local_idx) @ values
        check(lib.rs_articulation_add_torque(self._c, self._engine_id, self._body(local_idx), list(values), 1))
        self._present_loads().torques.append((self._body(local_idx), in_world_axes))

"""The part of ArticulatedSystem that holds commands and parameters of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.kinematic_tree import JointType, TreeActuator, TreeState, TreeTendon
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.core import ArticulatedCore, vector
from raisim_ros.engine.errors import check
from raisim_ros.engine.types import ControlMode, IntegrationScheme, JointSpring

_MOTORS = ffi.typeof("rs_actuator[]")
_MOTOR = np.dtype(
    [
        ("dof", "i4"),
        ("drive", "i4"),
        ("gear", "f8"),
        ("gain", "f8"),
        ("bias", "f8"),
        ("control_range", "f8", 2),
        ("force_range", "f8", 2),
    ],
    align=True,
)


@dataclass(frozen=True)
class JointLimitViolation:
    """A joint at its limit: its index, and the impulse [N m s, N s] that the limit exerted along its coordinate (of a
    spherical joint: towards its zero position)."""

    joint_id: int
    impulse: float


@dataclass(frozen=True)
class TendonState:
    """Length and speed of a tendon, and the forces along it in the last step [m, m/s, N, where it is in metres]."""

    length: float
    speed: float
    drive_force: float  # of actuators
    spring_force: float  # with the damper
    friction_force: float
    limit_force: float


class Joints(ArticulatedCore):
    """Motors, springs, dampers and limits of the joints; vectors have one entry per degree of freedom."""

    _motors: NDArray[Any] | None = None  # the actuators, when they are used
    _followed: bool = False  # PD targets were given

    def _write_bounds(self, field: int, name: str, values: VectorLike) -> None:
        self._write(field, self._bounds(name, values))

    def _bounds(self, name: str, values: VectorLike) -> Vector:
        """One number per degree of freedom, also infinite ones."""
        array = arguments.table(name, values, (-1,))
        if array.shape != (self._u_count,) or np.isnan(array).any():
            raise InvalidValueError(f"{name} is {arguments.shown(values)}; expected {self._u_count} numbers")
        return array

    # ---- forces and PD ----

    def set_generalized_force(self, force: VectorLike) -> None:
        """Set the feed-forward forces; they act until replaced."""
        self._write_u(lib.RS_FIELD_FEED_FORWARD, "generalized force", force)

    def get_feed_forward_generalized_force(self) -> Vector:
        """The feed-forward forces as set."""
        return self._read_u(lib.RS_FIELD_FEED_FORWARD)

    def get_generalized_force(self) -> Vector:
        """Motor command at the present state: feed-forward plus PD, clamped to the effort limits."""
        out = np.empty(self._u_count)
        check(lib.rs_articulation_command(self._c, self._engine_id, c_array(out)))
        return out

    def get_actuators(self) -> list[TreeActuator]:
        """The motors that the robot's file gives it, in the order of the file."""
        return list(self._tree.actuators)

    def get_named_states(self) -> dict[str, TreeState]:
        """The states that the robot's file names (keyframes of MJCF), for set_state(name)."""
        return dict(self._tree.states)

    def set_state(self, coordinate: VectorLike | str, velocity: VectorLike | None = None) -> None:
        """Set q and u; nothing changes when one of them is wrong.

        In place of both, the name of a state: q, u and the controls of the actuators that the robot's file names so.
        """
        if isinstance(coordinate, str):
            self._set_named_state(coordinate)
        elif velocity is None:
            raise InvalidValueError("the generalized velocity is missing")
        else:
            self._set_state(coordinate, velocity)

    def _set_named_state(self, name: str) -> None:
        state = self._tree.states.get(name)
        if state is None:
            known = ", ".join(f"'{one}'" for one in self._tree.states) or "none"
            raise InvalidValueError(f"the robot has no state '{name}'; there are {known}")
        with self._world.locked():
            self._set_state(state.coordinate, state.velocity)
            if self._tree.actuators:
                none = np.zeros(len(self._tree.actuators))
                self.set_actuation(state.control if len(state.control) else none)
                self.set_activations(state.activation if len(state.activation) else none)

    def set_actuation(self, control: VectorLike) -> None:
        """Set one control per actuator. Those on joints become feed-forward forces, which are zero at other joints."""
        if self._motors is None:
            self._motors = self._motor_table()
        controls = c_array(vector("control", control, len(self._motors)))
        motors = ffi.from_buffer(_MOTORS, self._motors)
        check(lib.rs_articulation_actuate(self._world._world, self._engine_id, len(motors), motors, controls))

    def _motor_table(self) -> NDArray[Any]:
        """The actuators as the engine takes them."""
        table = np.zeros(len(self._tree.actuators), dtype=_MOTOR)
        joints = {body.joint_name: index for index, body in enumerate(self._tree.bodies)}
        table["dof"] = table["drive"] = -1
        table["drive"][self._drives()] = np.arange(len(self._drives()))
        for row, motor in zip(table, self._tree.actuators, strict=True):
            if motor.is_drive:
                continue
            row["dof"] = self._u_first[joints[motor.joint]]
            for name in ("gear", "gain", "bias", "control_range", "force_range"):
                row[name] = getattr(motor, name)
        return table

    def _drives(self) -> list[int]:
        """Numbers of the actuators that are drives of the engine."""
        return [index for index, motor in enumerate(self._tree.actuators) if motor.is_drive]

    def get_activations(self) -> Vector:
        """State of the actuators' dynamics (filters, integrators, muscles), one number each; zero for those without."""
        return self._drive_numbers()[1]

    def get_controls(self) -> Vector:
        """Controls of the actuators whose law the engine evaluates (on tendons, sites, ball and free joints, or with
        dynamics), as set; NaN for motors on joints, whose controls are kept as forces."""
        return self._drive_numbers()[0]

    def _drive_numbers(self) -> tuple[Vector, Vector]:
        drives = self._drives()
        found = np.zeros((2, len(drives)))
        call = lib.rs_articulation_get_drives
        check(call(self._c, self._engine_id, len(drives), c_array(found[0]), c_array(found[1])))
        controls, activations = np.full(len(self._tree.actuators), np.nan), np.zeros(len(self._tree.actuators))
        controls[drives], activations[drives] = found
        return controls, activations

    def _set_drives(self, controls: VectorLike, activations: VectorLike) -> None:
        """Set controls and activations of drives, and leave the forces of other motors as they are."""
        forces = self.get_feed_forward_generalized_force()
        self.set_actuation(np.nan_to_num(vector("controls", controls, len(self._tree.actuators))))
        self.set_generalized_force(forces)
        self.set_activations(activations)

    def set_activations(self, activations: VectorLike) -> None:
        """Set the state of the actuators' dynamics: one number each, which those without ignore."""
        given = vector("activations", activations, len(self._tree.actuators))[self._drives()]
        check(lib.rs_articulation_activate(self._c, self._engine_id, len(given), c_array(np.ascontiguousarray(given))))

    def get_tendons(self) -> list[TreeTendon]:
        """The tendons that the robot's file gives it, in the order of the file."""
        return list(self._tree.tendons)

    def get_tendon_state(self, name: str) -> TendonState:
        """Length, speed and forces of a tendon."""
        out = np.empty(6)
        check(lib.rs_articulation_get_tendon(self._c, self._engine_id, self._tendon_index(name), c_array(out)))
        return TendonState(*map(float, out))

    def _tendon_index(self, name: str) -> int:
        names = [tendon.name for tendon in self._tree.tendons]
        if arguments.text("name", name) not in names:
            raise InvalidValueError(f"no tendon named '{name}'; there are {', '.join(names) or 'none'}")
        return names.index(name)

    def get_tendon_arms(self, name: str) -> Vector:
        """How the length of a tendon changes with each degree of freedom: a pull p along it is the force p · arms."""
        out = np.empty(self._u_count)
        check(lib.rs_articulation_tendon_arms(self._c, self._engine_id, self._tendon_index(name), c_array(out)))
        return out

    def set_control_mode(self, mode: ControlMode) -> None:
        """Choose feed-forward forces alone, or PD control on top of them."""
        self._set_options(control_mode=int(arguments.choice("mode", ControlMode, mode)))

    def get_control_mode(self) -> ControlMode:
        """What drives the joints."""
        return ControlMode(self._options().control_mode)

    def set_pd_target(self, position: VectorLike, velocity: VectorLike) -> None:
        """Set the targets of q and u; the entries of a floating base are ignored."""
        u = vector("velocity target", velocity, self._u_count)
        q = vector("position target", position, self._q_count)
        self._write_two(lib.RS_FIELD_D_TARGET, u, lib.RS_FIELD_P_TARGET, q)
        if not self._followed:
            self._note_targets()

    def set_p_target(self, position: VectorLike) -> None:
        """Set the target of q."""
        self._write_q(lib.RS_FIELD_P_TARGET, "position target", position)
        self._note_targets()

    def set_d_target(self, velocity: VectorLike) -> None:
        """Set the target of u."""
        self._write_u(lib.RS_FIELD_D_TARGET, "velocity target", velocity)
        self._note_targets()

    def _note_targets(self) -> None:
        """Let the world look for gains before its next step, once."""
        if not self._followed:
            self._followed = True
            self._world._new_followers.append(self.get_id())

    def get_pd_target(self) -> tuple[Vector, Vector]:
        """Targets of q and u."""
        with self._world.locked():
            return self._read(lib.RS_FIELD_P_TARGET, self._q_count), self._read_u(lib.RS_FIELD_D_TARGET)

    def set_pd_gains(self, p_gain: VectorLike | float, d_gain: VectorLike | float) -> None:
        """Set the gains, per degree of freedom or one number for all, and turn PD control on; a floating base keeps
        zeros."""
        d, p = self._gains("d gain", d_gain), self._gains("p gain", p_gain)
        with self._world.locked():
            self._write_two(lib.RS_FIELD_D_GAIN, d, lib.RS_FIELD_P_GAIN, p)
            self.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)

    def _gains(self, name: str, gain: VectorLike | float) -> Vector:
        """One number per degree of freedom; a single one holds for all joints."""
        if arguments.shape(gain) == ():
            return np.full(self._u_count, arguments.number(name, gain))
        return vector(name, gain, self._u_count)  # type: ignore[arg-type]

    def set_p_gains(self, gain: VectorLike | float) -> None:
        """Set the position gains and turn PD control on."""
        with self._world.locked():
            self._write(lib.RS_FIELD_P_GAIN, self._gains("p gain", gain))
            self.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)

    def set_d_gains(self, gain: VectorLike | float) -> None:
        """Set the velocity gains and turn PD control on."""
        with self._world.locked():
            self._write(lib.RS_FIELD_D_GAIN, self._gains("d gain", gain))
            self.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)

    def get_pd_gains(self) -> tuple[Vector, Vector]:
        """Position and velocity gains."""
        with self._world.locked():
            return self._read_u(lib.RS_FIELD_P_GAIN), self._read_u(lib.RS_FIELD_D_GAIN)

    # ---- passive elements ----

    def set_joint_damping(self, damping: VectorLike) -> None:
        """Set the viscous damping per degree of freedom [N m s/rad, N s/m]."""
        self._write_u(lib.RS_FIELD_DAMPING, "joint damping", damping)

    def get_joint_damping(self) -> Vector:
        """Viscous damping per degree of freedom."""
        return self._read_u(lib.RS_FIELD_DAMPING)

    def set_rotor_inertia(self, inertia: VectorLike) -> None:
        """Set the rotor inertia per degree of freedom [kg m^2, kg]."""
        self._write_u(lib.RS_FIELD_ROTOR_INERTIA, "rotor inertia", inertia)

    def get_rotor_inertia(self) -> Vector:
        """Rotor inertia per degree of freedom."""
        return self._read_u(lib.RS_FIELD_ROTOR_INERTIA)

    def add_spring(self, spring: JointSpring) -> None:
        """Put a spring on a joint; it replaces the joint's former spring."""
        arguments.instance("spring", spring, JointSpring)
        joint = arguments.index("spring.joint", spring.joint, len(self._tree.bodies))
        if self._tree.bodies[joint].parent < 0:
            raise InvalidValueError(f"spring.joint is {joint}; expected the index of a movable joint")
        kind = self._tree.bodies[joint].joint_type
        q_first, u_first = self._q_first[joint], self._u_first[joint]
        mount_values = arguments.vector("spring.mount", np.atleast_1d(spring.mount), kind.coordinate_dim)
        with self._world.locked():
            stiffness = self._read_u(lib.RS_FIELD_STIFFNESS)
            stiffness[u_first : u_first + kind.velocity_dim] = arguments.number("spring.stiffness", spring.stiffness)
            mount = self._read(lib.RS_FIELD_SPRING_MOUNT, self._q_count)
            mount[q_first : q_first + kind.coordinate_dim] = mount_values
            self._write_two(lib.RS_FIELD_STIFFNESS, stiffness, lib.RS_FIELD_SPRING_MOUNT, mount)

    def get_springs(self) -> list[JointSpring]:
        """The springs with a stiffness."""
        with self._world.locked():
            stiffness = self._read_u(lib.RS_FIELD_STIFFNESS)
            mount = self._read(lib.RS_FIELD_SPRING_MOUNT, self._q_count)
        springs = []
        for joint, body in enumerate(self._tree.bodies):
            k = stiffness[self._u_first[joint]] if body.parent >= 0 else 0.0
            if k > 0:
                first = self._q_first[joint]
                rest = mount[first : first + body.joint_type.coordinate_dim]
                springs.append(JointSpring(joint, float(k), rest if len(rest) > 1 else float(rest[0])))
        return springs

    # ---- limits ----

    def set_actuation_limits(self, upper: VectorLike, lower: VectorLike) -> None:
        """Set the largest and smallest command per degree of freedom [N m, N]; infinite for none."""
        high, low = self._bounds("upper actuation limit", upper), self._bounds("lower actuation limit", lower)
        if (low > high).any():
            raise InvalidValueError("a lower actuation limit is above the upper one")
        with self._world.locked():
            self._write(lib.RS_FIELD_EFFORT_UPPER, high)
            self._write(lib.RS_FIELD_EFFORT_LOWER, low)

    def get_actuation_upper_limits(self) -> Vector:
        """Largest command per degree of freedom."""
        return self._read_u(lib.RS_FIELD_EFFORT_UPPER)

    def get_actuation_lower_limits(self) -> Vector:
        """Smallest command per degree of freedom."""
        return self._read_u(lib.RS_FIELD_EFFORT_LOWER)

    def get_joint_limit_violations(self) -> list[JointLimitViolation]:
        """Joints that their position or velocity limits held back in the last step."""
        impulses = self._read_u(lib.RS_FIELD_LIMIT_IMPULSE)
        held = [(joint, impulses[first]) for joint, first in enumerate(self._u_first) if first < len(impulses)]
        return [
            JointLimitViolation(joint, float(impulse))
            for joint, impulse in held
            if impulse != 0.0 and self._tree.bodies[joint].parent >= 0
        ]

    def set_joint_limits(self, limits: Sequence[VectorLike] | NDArray[Any]) -> None:
        """Set [lower, upper] per degree of freedom [rad, m]; spherical joints use the first row: [largest angle, -]."""
        rows = arguments.table("joint limits", limits, (self._u_count, 2))
        if np.isnan(rows).any():
            raise InvalidValueError(f"joint limits are {arguments.shown(limits)}; expected numbers")
        lower, upper = rows[:, 0].copy(), rows[:, 1].copy()
        for joint, body in enumerate(self._tree.bodies):
            if body.joint_type is JointType.SPHERICAL:
                own = slice(self._u_first[joint], self._u_first[joint] + 3)
                upper[own] = lower[self._u_first[joint]]
                lower[own] = -np.inf
        if (lower > upper).any():
            raise InvalidValueError("a lower joint limit is above the upper one")
        with self._world.locked():
            self._write(lib.RS_FIELD_LOWER, lower)
            self._write(lib.RS_FIELD_UPPER, upper)

    def get_joint_limits(self) -> Vector:
        """[lower, upper] per degree of freedom, as in set_joint_limits()."""
        with self._world.locked():
            lower, upper = self._read_u(lib.RS_FIELD_LOWER), self._read_u(lib.RS_FIELD_UPPER)
        for joint, body in enumerate(self._tree.bodies):
            if body.joint_type is JointType.SPHERICAL:
                own = slice(self._u_first[joint], self._u_first[joint] + 3)
                lower[own] = upper[own]
                upper[own] = np.inf
        return np.stack([lower, upper], axis=1)

    def set_joint_velocity_limits(self, limits: VectorLike) -> None:
        """Set the largest speed per degree of freedom [rad/s, m/s]; infinite for none."""
        self._write_bounds(lib.RS_FIELD_VELOCITY_LIMIT, "joint velocity limit", limits)

    def get_joint_velocity_limits(self) -> Vector:
        """Largest speed per degree of freedom."""
        return self._read_u(lib.RS_FIELD_VELOCITY_LIMIT)

    # ---- integration ----

    def set_integration_scheme(self, scheme: IntegrationScheme) -> None:
        """Choose how the system is advanced in time."""
        self._set_options(scheme=int(arguments.choice("scheme", IntegrationScheme, scheme)))

    def get_integration_scheme(self) -> IntegrationScheme:
        """How the system is advanced in time."""
        return IntegrationScheme(self._options().scheme)

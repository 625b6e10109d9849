"""Plain values of the engine's interface: enums, settings, properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from pathlib import Path

import numpy as np

from raisim_ros.description.shapes import MESH_MODES, ShapeType
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike, one_of
from raisim_ros.engine.link_mesh import COLLISION_MESHES

SELF_COLLISION = ("auto", "all", "none")


_CONTACT, _SLEEP = ffi.new("rs_contact_settings *"), ffi.new("rs_sleep_settings *")
lib.rs_default_contact_settings(_CONTACT)
lib.rs_default_sleep_settings(_SLEEP)


class BodyType(IntEnum):
    """How a body answers to forces.

    KINEMATIC bodies have infinite mass and move with the velocity they are given; STATIC ones do not move.
    """

    DYNAMIC = lib.RS_BODY_DYNAMIC
    KINEMATIC = lib.RS_BODY_KINEMATIC
    STATIC = lib.RS_BODY_STATIC


class GyroscopicMode(IntEnum):
    """How the gyroscopic torque of a rotating body is integrated."""

    ENERGY_CONSERVING = lib.RS_GYRO_ENERGY_CONSERVING
    IMPLICIT_BODY = lib.RS_GYRO_IMPLICIT_BODY
    IMPLICIT_WORLD = lib.RS_GYRO_IMPLICIT_WORLD
    EXPLICIT = lib.RS_GYRO_EXPLICIT
    NONE = lib.RS_GYRO_NONE


class ControlMode(IntEnum):
    """What drives the joints: generalised forces alone, or PD control on top of them."""

    FORCE_AND_TORQUE = lib.RS_CONTROL_FORCE_AND_TORQUE
    PD_PLUS_FEEDFORWARD_TORQUE = lib.RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE


class IntegrationScheme(IntEnum):
    """How an articulated system is advanced in time; TRAPEZOID is the default."""

    TRAPEZOID = lib.RS_SCHEME_TRAPEZOID
    SEMI_IMPLICIT = lib.RS_SCHEME_SEMI_IMPLICIT
    EULER = lib.RS_SCHEME_EULER
    RUNGE_KUTTA_4 = lib.RS_SCHEME_RUNGE_KUTTA_4
    MIDPOINT = lib.RS_SCHEME_MIDPOINT


class MeshCollisionMode(IntEnum):
    """What collides in place of a mesh: its triangles, its convex hull, or a convex decomposition."""

    ORIGINAL_MESH = 0
    CONVEX_HULL = 1
    CONVEXIFY = 2

    @property
    def word(self) -> str:
        """What files and requests call it."""
        return MESH_MODES[self]

    @staticmethod
    def of(word: str) -> MeshCollisionMode:
        """The mode of that word."""
        return MeshCollisionMode(MESH_MODES.index(word))


class BroadphaseType(IntEnum):
    """How pairs of nearby collision bodies are found."""

    NONE = lib.RS_BROADPHASE_NONE
    SAP_3_AXIS = lib.RS_BROADPHASE_SAP_3_AXIS
    MULTI_BOX_PRUNE = lib.RS_BROADPHASE_MULTI_BOX_PRUNE


_BROADPHASE = BroadphaseType(_CONTACT.broadphase)


@dataclass
class BroadphaseSettings:
    """Search for nearby pairs; the ``mbp_*`` fields belong to MULTI_BOX_PRUNE [m]."""

    type: BroadphaseType = _BROADPHASE
    mbp_world_min: Sequence[float] = tuple(_CONTACT.mbp_world_min)
    mbp_world_max: Sequence[float] = tuple(_CONTACT.mbp_world_max)
    mbp_cell_size: Sequence[float] = tuple(_CONTACT.mbp_cell_size)
    mbp_padding: float = _CONTACT.mbp_padding
    mbp_max_cells_per_axis: int = _CONTACT.mbp_max_cells_per_axis
    mbp_max_cells_per_object: int = _CONTACT.mbp_max_cells_per_object
    mbp_use_world_bounds: bool = bool(_CONTACT.mbp_use_world_bounds)


@dataclass
class ContactSettings:
    """Contact detection. Swept CCD keeps bodies faster than ``swept_ccd_min_speed`` [m/s] from tunnelling."""

    gjk_max_iterations: int = _CONTACT.gjk_max_iterations
    gjk_tolerance: float = _CONTACT.gjk_tolerance
    epa_max_iterations: int = _CONTACT.epa_max_iterations
    epa_tolerance: float = _CONTACT.epa_tolerance
    max_contacts_per_pair: int = _CONTACT.max_contacts_per_pair
    swept_ccd_enabled: bool = bool(_CONTACT.swept_ccd_enabled)
    swept_ccd_min_speed: float = _CONTACT.swept_ccd_min_speed
    swept_ccd_speculative_margin: float = _CONTACT.swept_ccd_speculative_margin
    broadphase: BroadphaseSettings = field(default_factory=BroadphaseSettings)


@dataclass(frozen=True)
class SleepSettings:
    """An island sleeps after `quiet_steps` steps below both thresholds [m/s, rad/s]."""

    enabled: bool = bool(_SLEEP.enabled)
    linear_vel_threshold: float = _SLEEP.linear_threshold
    angular_vel_threshold: float = _SLEEP.angular_threshold
    quiet_steps: int = _SLEEP.quiet_steps


@dataclass(frozen=True)
class Fluid:
    """A fluid that fills the world: density [kg/m^3], viscosity [Pa s], velocity in world axes [m/s]."""

    density: float = 0.0
    viscosity: float = 0.0
    wind: VectorLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class CompoundChild:
    """A primitive of a compound body, placed in the body frame.

    `dim`: sphere (radius); box (x, y, z); cylinder and cone (radius, height); capsule (radius, distance of the
    sphere centres) [m].
    """

    shape: ShapeType
    dim: VectorLike
    position: VectorLike = (0.0, 0.0, 0.0)
    quaternion: VectorLike = (1.0, 0.0, 0.0, 0.0)
    material: str = "default"
    appearance: str = ""
    asset: int = field(default=0, kw_only=True, repr=False)  # of meshes and terrain: their number in the engine


@dataclass(frozen=True)
class CollisionBody(CompoundChild):
    """A shape that is fixed to a body: pose in the body frame; `dim` is empty for meshes and terrain.

    `appearance` is empty for the look of the object.
    """

    dim: Vector
    position: Vector
    quaternion: Vector


@dataclass(frozen=True)
class LinkCollisionBody(CollisionBody):
    """A collision shape of an articulated system; `name` is "LINK/k". Group and mask None: those of the robot."""

    name: str = field(kw_only=True)
    body_index: int = field(kw_only=True)
    collision_group: int | None = field(default=None, kw_only=True)
    collision_mask: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class JointSpring:
    """A spring between a joint and its rest position `mount` [rad, m or quaternion w, x, y, z].

    `joint` is the joint's index; `stiffness` in N m/rad or N/m.
    """

    joint: int
    stiffness: float
    mount: float | VectorLike


@dataclass(frozen=True)
class SparseJacobian:
    """Non-zero columns of a Jacobian: `idx` names the degrees of freedom, `v` holds the columns (3 x n)."""

    idx: np.ndarray[tuple[int], np.dtype[np.int32]]
    v: Vector


@dataclass(frozen=True)
class SingleBodySnapshot:
    """State and collision properties of a single body, for fast resets."""

    position: Vector
    quaternion: Vector
    linear_velocity: Vector
    angular_velocity: Vector
    body_type: BodyType
    materials: tuple[str, ...]  # of each collision body
    collision_group: int
    collision_mask: int


@dataclass(frozen=True)
class CollisionCounters:
    """What detection and solver did in the last step.

    `solver_error` is the largest violation of the contact laws (Signorini, Coulomb) that was left in any island [m/s],
    `solver_relative_error` the same relative to the island's violation without impulses. `contact_work` is the energy
    that contacts, joint limits, pins and stiff wires gave [J]: never positive but for rounding. In
    `restrained_islands` islands, bounces or impulses had to be reduced for that.
    """

    broad_phase_pairs: int
    contacts: int
    islands: int
    solver_iterations: int
    solver_error: float
    solver_relative_error: float
    contact_work: float
    restrained_islands: int
    awake_bodies: int


@dataclass(frozen=True)
class StepProfile:
    """Wall time per stage [s], summed over `steps` steps."""

    midpoint: float
    broad_phase: float
    narrow_phase: float
    islands: float
    forces: float
    soft: float
    contact_setup: float
    solve: float
    integrate: float
    steps: int

    def since(self, earlier: StepProfile) -> StepProfile:
        """Of the steps since then; of all, when the sums were cleared in between."""
        if self.steps < earlier.steps:
            return self
        return StepProfile(*(getattr(self, one.name) - getattr(earlier, one.name) for one in fields(self)))

    def microseconds(self) -> dict[str, float]:
        """Mean of a step, by stage; nothing of no steps."""
        stages = [one.name for one in fields(self) if one.name != "steps"] if self.steps else []
        return {stage.replace("_", " "): 1e6 * getattr(self, stage) / self.steps for stage in stages}


@dataclass
class ArticulationBuffer:
    """State of all articulated systems one behind the other; the arrays are reused by the next read.

    World frame, the base first. Rows of `link_poses`: x y z qw qx qy qz of a body; of `link_twists`: linear velocity
    of its origin, angular velocity; of `link_wrenches`: force and torque at its centre of mass that commands applied
    in the last step. The `*_first` tell, by stable id of the object, where its part begins.
    """

    configuration_number: int
    link_poses: Vector  # links x 7
    link_twists: Vector  # links x 6
    link_wrenches: Vector  # links x 6
    coordinates: Vector
    velocities: Vector
    efforts: Vector  # applied in the last step [N m, N]; as velocities
    link_first: dict[int, int]
    coordinate_first: dict[int, int]
    velocity_first: dict[int, int]


@dataclass
class StateBuffer:
    """State of every object, rows in the order of get_obj_list(); world frame.

    `poses`: x y z qw qx qy qz; `twists`: linear velocity of the body origin, angular velocity; `wrenches`: force
    and torque at the centre of mass that commands and external forces applied in the last step. The arrays are
    reused by the next read while no object is added or removed.
    """

    configuration_number: int
    ids: np.ndarray[tuple[int], np.dtype[np.uint64]]
    poses: Vector
    twists: Vector
    wrenches: Vector
    sleeping: np.ndarray[tuple[int], np.dtype[np.uint8]]


@dataclass(frozen=True)
class ArticulatedSystemOption:
    """How a robot is built.

    `base`: "auto" fixes a root link named ``world``; "fixed", "floating". `do_not_collide_with_parent`: bodies
    connected by a joint or a pin never touch each other. `convexify_collision_meshes`: the same as
    ``collision_meshes="convexify"``.

    `collision_meshes`: meshes collide as their convex "hull", as their "original" triangles, or "convexify", as convex
    pieces that CoACD finds (the extra ``raisim_ros[convex]``). `self_collision`: "all" bodies collide with each other
    but with their parents, "none", or "auto": all but those that overlap while every joint is at zero (or at the limit
    next to it), or where closed loops are closed. `srdf`: SRDF file or text, whose pairs do not collide either.
    """

    base: str = "auto"
    do_not_collide_with_parent: bool = True
    convexify_collision_meshes: bool = False
    collision_meshes: str = "hull"
    self_collision: str = "auto"
    srdf: str | Path | None = None

    def __post_init__(self) -> None:
        one_of("collision_meshes", self.collision_meshes, COLLISION_MESHES)
        one_of("self_collision", self.self_collision, SELF_COLLISION)

    @property
    def mesh_mode(self) -> str:
        """What collides in the place of a mesh: one of `collision_meshes`."""
        return "convexify" if self.convexify_collision_meshes else self.collision_meshes

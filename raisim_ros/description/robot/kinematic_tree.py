"""A robot as the engine takes it: a tree of movable bodies. Plain data, SI units, quaternions w, x, y, z.

Links that fixed joints hold together are one body. Body 0 is the base; every other body has exactly one movable
joint to its parent, which comes before it in the list. The frame of a body is the frame of its joint after the
joint's motion, which is the frame of its movable link.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from raisim_ros.description.rotation import Array


class JointType(Enum):
    """Joint of a body to its parent. A continuous joint is REVOLUTE without limits; FIXED is only a fixed base."""

    FIXED = "fixed"
    FLOATING = "floating"
    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    SPHERICAL = "spherical"

    @property
    def coordinate_dim(self) -> int:
        """Numbers in q: floating position(3) and quaternion w, x, y, z(4), revolute and prismatic 1, spherical 4."""
        return len(_FORMS[self].zero)

    @property
    def velocity_dim(self) -> int:
        """Numbers in u: floating linear(3) and angular(3) in the world frame, 1, 1, spherical 3 in the joint frame."""
        return _FORMS[self].velocity_dim

    @property
    def zero_coordinate(self) -> Array:
        """q of the joint in its zero position."""
        return np.array(_FORMS[self].zero)

    @property
    def has_axis(self) -> bool:
        """Whether it turns about or slides along an axis: one number in q and u."""
        return _FORMS[self].velocity_dim == 1

    @property
    def slides(self) -> bool:
        """Whether its numbers are metres."""
        return _FORMS[self].slides


@dataclass(frozen=True)
class _JointForm:
    """What tells a type of joints from the others."""

    zero: tuple[float, ...]  # its numbers in q in the zero position
    velocity_dim: int
    slides: bool = False


_UNTURNED = (1.0, 0.0, 0.0, 0.0)
_FORMS = {
    JointType.FIXED: _JointForm((), 0),
    JointType.FLOATING: _JointForm((0.0, 0.0, 0.0, *_UNTURNED), 6),
    JointType.REVOLUTE: _JointForm((0.0,), 1),
    JointType.PRISMATIC: _JointForm((0.0,), 1, slides=True),
    JointType.SPHERICAL: _JointForm(_UNTURNED, 3),
}


@dataclass(eq=False)
class TreeShape:
    """A shape that moves with a body.

    `dim` [m]: sphere (radius,); box (x, y, z); cylinder (radius, height); capsule (radius, distance of the sphere
    centres); mesh ().
    """

    name: str  # "LINK/k", k counting the shapes of that link
    link: str
    shape: str  # "sphere", "box", "cylinder", "capsule", "mesh"
    dim: tuple[float, ...]
    mesh_file: str | None  # full path
    scale: Array  # of the mesh, per axis
    position: Array  # in the body frame
    rotation: Array  # 3×3, shape to body


@dataclass(eq=False)
class TreeCollision(TreeShape):
    """A shape that collides."""

    material: str = "default"
    convex: bool = False  # a mesh that collides as its convex hull
    collision_group: int | None = None  # None: that of the whole robot
    collision_mask: int | None = None


@dataclass(eq=False)
class TreeVisual(TreeShape):
    """A shape to draw."""

    color: tuple[float, float, float, float] | None = None  # red, green, blue, alpha, 0…1


@dataclass(eq=False)
class TreeBody:
    """A movable body with the joint that carries it."""

    name: str  # its movable link; for body 0 the root link
    links: list[str]  # all links merged into it, the movable one first
    parent: int  # index of a body; −1 for body 0
    joint_name: str  # "ROOT" for a floating base, "" for a fixed one
    joint_type: JointType
    joint_position: Array  # joint frame in the frame of the parent body
    joint_rotation: Array  # 3×3, joint to parent body
    axis: Array  # unit vector in the joint frame; of no meaning for other than REVOLUTE and PRISMATIC

    mass: float
    com: Array  # in the body frame
    inertia: Array  # 3×3 about the centre of mass, axes of the body

    damping: float = 0.0  # N·m·s/rad or N·s/m
    friction: float = 0.0  # N·m or N
    rotor_inertia: float = 0.0  # kg·m² or kg
    stiffness: float = 0.0  # N·m/rad or N/m
    spring_mount: float | Array = 0.0  # rad, m, or a quaternion for SPHERICAL

    lower: float = -np.inf  # rad or m
    upper: float = np.inf  # rad or m; SPHERICAL: the largest angle from the zero position
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    lifted_mass: float = 0.0  # kg of which something else carries the weight,
    lifted_com: Array = field(default_factory=lambda: np.zeros(3))  # at this point of the body frame
    mimic: tuple[str, float, float] | None = None  # joint, multiplier, offset
    command_interfaces: tuple[str, ...] = ()  # of ros2_control: position, velocity, effort, …

    collisions: list[TreeCollision] = field(default_factory=list)
    visuals: list[TreeVisual] = field(default_factory=list)


@dataclass(eq=False)
class TreeFrame:
    """The place of a joint, fixed ones too, which is the frame of the joint's child link."""

    name: str  # of the joint
    link: str
    parent_link: str  # "" for a floating base
    body: int
    position: Array  # in the body frame
    rotation: Array  # 3×3, frame to body
    is_child: bool  # the joint is movable: its link is the first one of the body


@dataclass(eq=False)
class TreePin:
    """A point that two bodies share: body 2's point is where body 1's anchor lies at `nominal_config`."""

    body1: int
    body2: int
    anchor: Array  # in the frame of body 1
    nominal_config: Array  # q of the whole tree


@dataclass(frozen=True)
class RoutePoint:
    """What a tendon comes by: a point of a link, a sphere or cylinder that it goes around where that is in its way, or
    a pulley, behind which `1 / size` of the lengths count."""

    kind: str  # "point", "sphere", "cylinder" (along z of its frame), "pulley"
    link: str = ""  # name of a body; "": the world
    position: tuple[float, ...] = (0.0, 0.0, 0.0)  # in the frame of the body [m]
    quaternion: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)  # w, x, y, z
    size: float = 1.0  # radius [m]
    side_link: str = ""  # a point on whose side it goes by; inside the sphere or cylinder, it goes through
    side: tuple[float, ...] = ()  # empty for none


@dataclass(frozen=True)
class TreeTendon:
    """A tendon over pulleys on the axes of joints: its length is the sum of their coordinates, each times a number. Or
    one that is led from point to point.

    Along it act a spring, slack between the two lengths of `rest`, a damper, friction, limits, and actuators.
    """

    name: str
    terms: tuple[tuple[str, float], ...] = ()  # joint, coefficient
    stiffness: float = 0.0
    damping: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    friction: float = 0.0
    range: tuple[float, float] = (-np.inf, np.inf)
    route: tuple[RoutePoint, ...] = ()  # in place of terms


@dataclass(frozen=True)
class DriveLaw:
    """How the force of an actuator follows from its control, and from length and speed of what it acts on.

    The activation x follows the control by `dynamics`: "none", "integrator", "filter", "filter_exact" or "muscle". The
    force is gain · x + bias, each "constant", "affine" in length and speed, or that of a "muscle", with their numbers.
    """

    dynamics: str = "none"
    dynamics_numbers: tuple[float, ...] = ()
    gain_law: str = "constant"
    gain_numbers: tuple[float, ...] = (1.0,)
    bias_law: str = "constant"
    bias_numbers: tuple[float, ...] = ()
    activation_range: tuple[float, float] = (-np.inf, np.inf)
    length_range: tuple[float, float] = (0.0, 0.0)  # of muscles: where their operating range begins and ends
    strength: float = 0.0  # of muscles: acceleration per force at rest
    early: bool = False  # the force goes by the activation at the end of the step


@dataclass(frozen=True)
class FramePair:
    """A frame of a body against a frame of another body or of the world: the way and the turn between them, in axes of
    the second one, times `gear`."""

    link: str
    position: tuple[float, ...]
    quaternion: tuple[float, ...]  # w, x, y, z
    gear: tuple[float, ...]  # six: forces, torques
    reference_link: str = ""  # "": the world
    reference_position: tuple[float, ...] = (0.0, 0.0, 0.0)
    reference_quaternion: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    own_push: bool = False  # forces act along the axes of the first frame
    own_turn: bool = False  # torques do
    is_measured: bool = True  # else its length is always zero


@dataclass(frozen=True)
class TreeActuator:
    """A motor on a revolute or prismatic joint, on a tendon, or between two frames: along that acts its force times
    `gear`.

    The force is `gain` times the control plus `bias`, with the control kept in `control_range` and the force in
    `force_range`; or what `law` says.
    """

    name: str
    joint: str
    gear: float = 1.0
    gain: float = 1.0
    control_range: tuple[float, float] = (-np.inf, np.inf)
    force_range: tuple[float, float] = (-np.inf, np.inf)
    bias: float = 0.0
    tendon: str = ""  # in place of a joint
    frames: FramePair | None = None  # likewise
    law: DriveLaw | None = None

    @property
    def is_drive(self) -> bool:
        """Does the engine evaluate its law in every step? Others are forces that stay as they are set."""
        return not self.joint or self.law is not None

    def joint_force(self, control: float) -> float:
        """Force along the joint for a control, of one that is no drive [N m, N]."""
        force = self.gain * min(max(control, self.control_range[0]), self.control_range[1]) + self.bias
        return self.gear * min(max(force, self.force_range[0]), self.force_range[1])


@dataclass(frozen=True)
class TreeLock:
    """Something that keeps its value: a pair of frames, or a joint or tendon that follows another one along a curve,
    (value − reference) = polynomial(other value − its reference)."""

    frames: FramePair | None = None
    joints: tuple[str, ...] = ()  # two
    tendons: tuple[str, ...] = ()  # two
    references: tuple[float, ...] = (0.0, 0.0)
    curve: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class TreeState:
    """A state that the robot's file names: q, u, the controls and the activations of the actuators."""

    coordinate: Array
    velocity: Array
    control: Array
    activation: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(eq=False)
class TreeSensor:
    """A link that a sensor file describes. Its own mass is part of its body's; it is kept here for the export."""

    link: str
    body: int
    file: str  # full path
    serial_number: str = ""
    model: str = ""
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))  # in the body frame
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))  # about that centre, axes of the body


@dataclass(eq=False)
class KinematicTree:
    """A whole robot."""

    name: str
    bodies: list[TreeBody]
    frames: list[TreeFrame]  # body by body: its movable joint, then its fixed joints, depth first
    pins: list[TreePin]
    sensors: list[TreeSensor]
    fixed_base: bool
    source: str  # path of the file, or "text"
    robot_description: str  # URDF text after templating, with full addresses of its files; empty for other formats
    resource_dir: str
    ignored_pairs: list[tuple[int, int]] = field(default_factory=list)  # bodies that never collide
    actuators: list[TreeActuator] = field(default_factory=list)
    tendons: list[TreeTendon] = field(default_factory=list)
    locks: list[TreeLock] = field(default_factory=list)
    states: dict[str, TreeState] = field(default_factory=dict)  # by name

    @property
    def coordinate_dim(self) -> int:
        """Numbers in q: those of the joints one after the other."""
        return sum(body.joint_type.coordinate_dim for body in self.bodies)

    @property
    def velocity_dim(self) -> int:
        """Numbers in u."""
        return sum(body.joint_type.velocity_dim for body in self.bodies)

    @property
    def zero_configuration(self) -> Array:
        """q with every joint in its zero position, the base in the origin."""
        return np.concatenate([body.joint_type.zero_coordinate for body in self.bodies])

"""A robot as its author describes it: links and joints, before fixed links are merged.

The URDF reader makes it from a file; `Child` makes it from code:

    arm = Child(Link("world"), children=[
        Child(Link("upper", mass=1.0, com=(0, 0, 0.2), inertia=np.diag((0.02, 0.02, 0.001)),
                   collisions=[Collision(Geometry("capsule", (0.05, 0.3)), Pose((0, 0, 0.2)))]),
              Joint("shoulder", "revolute", Pose((0, 0, 0.5)), axis=(0, 1, 0), lower=-1.5, upper=1.5))])
    world.add_articulated_system(arm)

Lengths in m, masses in kg, angles in rad; vectors may be any sequence of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from raisim_ros.description import shapes
from raisim_ros.description.errors import InvalidValueError, Place
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.rotation import Array

VectorLike = Sequence[float] | Array
MatrixLike = Sequence[Sequence[float]] | Array

JOINT_TYPES = (*(kind.value for kind in JointType), "continuous")
SHAPES = {  # with how many numbers are in `dim`
    **{shape.name: len(shape.fields) for shape in shapes.SHAPES.values() if shape.urdf},
    "mesh": 0,
}


_CODE = Place("Child tree")
NOT_TURNED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # known by its identity: most frames are not


@dataclass(eq=False)
class Pose:
    """A frame in its parent: position [m] and 3×3 rotation matrix."""

    position: VectorLike = (0.0, 0.0, 0.0)
    rotation: MatrixLike = NOT_TURNED

    def arrays(self) -> tuple[Array, Array]:
        """Position (3,) and rotation (3, 3)."""
        return np.asarray(self.position, dtype=np.float64), np.asarray(self.rotation, dtype=np.float64)

    def __matmul__(self, inner: Pose) -> Pose:
        """The frame that lies at `inner` in this frame."""
        position, rotation = self.arrays()
        inner_position, inner_rotation = inner.arrays()
        if self.rotation is NOT_TURNED:
            return Pose(position + inner_position, inner.rotation)
        if inner.rotation is NOT_TURNED:
            return Pose(position + rotation @ inner_position, self.rotation)
        return Pose(position + rotation @ inner_position, rotation @ inner_rotation)


@dataclass(eq=False)
class Geometry:
    """A shape. `dim` [m]: sphere (radius,); box (x, y, z); cylinder (radius, height); capsule (radius, distance of
    the sphere centres); mesh (), with the file and a scale per axis."""

    shape: str
    dim: Sequence[float] = ()
    mesh_file: str | None = None
    scale: VectorLike = (1.0, 1.0, 1.0)


@dataclass(eq=False)
class Collision:
    """A shape that collides, placed in its link's frame; `material` names a contact material.

    `convex`: a mesh collides as its convex hull. `collision_group` and `collision_mask`: None for those of the robot.
    """

    geometry: Geometry
    pose: Pose = field(default_factory=Pose)
    material: str = "default"
    place: Place = _CODE
    convex: bool = False
    collision_group: int | None = None
    collision_mask: int | None = None


@dataclass(eq=False)
class Visual:
    """A shape to draw, placed in its link's frame; `color` is red, green, blue, alpha, each 0…1."""

    geometry: Geometry
    pose: Pose = field(default_factory=Pose)
    color: Sequence[float] | None = None
    place: Place = _CODE


@dataclass(eq=False)
class SensorReference:
    """A sensor file that a link carries (full path)."""

    file: str
    serial_number: str = ""
    model: str = ""


@dataclass(eq=False)
class Link:
    """A rigid part. `com` in the link's frame, `inertia` about the centre of mass in the link's axes."""

    name: str
    mass: float = 0.0
    com: VectorLike = (0.0, 0.0, 0.0)
    inertia: MatrixLike = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    collisions: Sequence[Collision] = ()
    visuals: Sequence[Visual] = ()
    sensor: SensorReference | None = None
    place: Place = _CODE
    gravity_compensation: float = 0.0  # share of its weight that something else carries


@dataclass(eq=False)
class Joint:
    """A joint; its frame is placed in the parent link's frame, its axis given in the joint frame.

    `type` is a word of JOINT_TYPES. Units of the dynamics: per rad for rotation, per m for translation. The limit of
    a spherical joint is the largest angle from the zero position, as `lower` (as in URDF) or `upper`; its spring mount
    is a quaternion w, x, y, z. `mimic` = (joint, multiplier, offset): this joint is at multiplier · joint + offset, and
    both bear load. `command_interfaces` are those of ros2_control. `Child` fills in `parent` and `child`, the names of
    the links.
    """

    name: str
    type: str
    pose: Pose = field(default_factory=Pose)
    axis: VectorLike = (1.0, 0.0, 0.0)
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    stiffness: float = 0.0
    spring_mount: float | VectorLike | None = None  # None: the zero position
    mimic: tuple[str, float, float] | None = None
    command_interfaces: tuple[str, ...] = ()
    parent: str = ""
    child: str = ""
    place: Place = _CODE

    @property
    def tree_type(self) -> JointType:
        """Continuous joints are revolute ones without limits."""
        return JointType("revolute" if self.type == "continuous" else self.type)

    @property
    def has_axis(self) -> bool:
        """Whether `type` is one that turns about or slides along an axis."""
        return self.type in JOINT_TYPES and self.tree_type.has_axis


@dataclass(eq=False)
class Pin:
    """A point that two links share; `anchor` in the frame of link 1. `nominal_config` is the q, in the file's joint
    order, at which link 2's point is found (None: the zero position)."""

    link1: str
    link2: str
    anchor: VectorLike
    nominal_config: VectorLike | None = None
    place: Place = _CODE


@dataclass(eq=False)
class RobotModel:
    """All links and joints of a robot, in the order of the file."""

    name: str
    links: list[Link]
    joints: list[Joint]
    pins: list[Pin] = field(default_factory=list)
    place: Place = _CODE
    ignored_pairs: list[tuple[str, str]] = field(default_factory=list)  # links whose bodies never collide


@dataclass(eq=False)
class Child:
    """A robot built in code: a link, the joint that carries it (None for the root) and the links on it."""

    link: Link
    joint: Joint | None = None
    children: Sequence[Child] = ()
    pins: Sequence[Pin] = ()  # of the whole robot; given at the root
    name: str = "robot"  # of the whole robot; given at the root


def model_from_child(root: Child) -> RobotModel:
    """The links and joints below `root`, depth first. Raises InvalidValueError for a joint that is missing or odd."""
    if root.joint is not None:
        raise InvalidValueError(f"the root link '{root.link.name}' of a Child tree has a joint; expected None")
    links = [root.link]
    joints: list[Joint] = []
    pending = [(child, root.link.name) for child in reversed(root.children)]
    visited = {id(root)}
    while pending:
        child, parent = pending.pop()
        if id(child) in visited:
            raise InvalidValueError(f"link '{child.link.name}' occurs twice in the Child tree")
        visited.add(id(child))
        if child.joint is None:
            raise InvalidValueError(f"link '{child.link.name}' of a Child tree has no joint to its parent '{parent}'")
        links.append(child.link)
        joints.append(replace(child.joint, parent=parent, child=child.link.name))
        pending.extend((grandchild, child.link.name) for grandchild in reversed(child.children))
    return RobotModel(root.name, links, joints, list(root.pins))

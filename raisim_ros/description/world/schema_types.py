"""Elements and attributes of world files: how they are told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How the text of an attribute is read."""

    NUMBER = "number"
    POSITIVE = "positive number"
    RATE = "number above 0, at most 1e6"
    COUNT = "integer, at least 0"
    VEC3 = "3 numbers"
    SCALE = "1 or 3 numbers"
    QUATERNION = "quaternion w x y z"
    NUMBERS = "numbers"
    INDICES = "integers, at least 0"
    SOLVER_MODE = "xpbd or pbd"
    BUILD_MODE = "surface or filled"
    STRUTS = "none or pairs_within_radius"
    TEXT = "text"
    PATH = "path"
    GROUPS = "collision groups"
    BODY_TYPE = "dynamic, kinematic or static"
    MESH_MODE = "original, convex_hull or convexify"
    LINK_MESH_MODE = "hull, original or convexify"
    SELF_COLLISION = "auto, all or none"
    GYRO_MODE = "energy_conserving, implicit_body, implicit_world, explicit or none"
    BROADPHASE = "none, sap_3_axis or multi_box_prune"
    SWITCH = "true or false"
    DRIVE_TYPE = "differential, skid, mecanum or holonomic"
    ODOMETRY = "none, truth or wheels"
    FRAMES = "all, base, links or none (true: all, false: none)"
    NAMES = "names separated by spaces or commas"
    BASE = "auto, fixed or floating"
    SCHEME = "trapezoid, semi_implicit, euler, runge_kutta_4 or midpoint"
    CONTROL = "force_and_torque or pd_plus_feedforward_torque"
    COLOR = "red, green, blue from 0 to 1"
    LIGHT_TYPE = "directional, point or spot"
    WIRE_TYPE = "stiff, compliant or custom"
    STRETCH_TYPE = "stretch_only, compression_only or both"
    LIMITS = "numbers; inf: no limit"
    RANGE = "2 numbers; inf: no limit"


class Default(Enum):
    """What stands in the place of a default."""

    REQUIRED = "required"
    ENGINE = "the engine's"  # the attribute is left out of what was read


REQUIRED, ENGINE = Default.REQUIRED, Default.ENGINE


@dataclass(frozen=True)
class Attribute:
    """One attribute: its names (the first is canonical), how it is read, its default."""

    names: tuple[str, ...]
    kind: Kind
    default: object
    meaning: str


@dataclass(frozen=True)
class Element:
    """One element: its names (the first is canonical), attributes and the elements it may contain."""

    names: tuple[str, ...]
    meaning: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[str, ...] = ()  # canonical names, keys of ELEMENTS


def attribute(names: str, kind: Kind, default: object, meaning: str) -> Attribute:
    """One attribute; its names are separated by spaces."""
    return Attribute(tuple(names.split()), kind, default, meaning)


FILTER = (
    attribute("collision_group collisionGroup", Kind.GROUPS, 1, "groups it belongs to"),
    attribute("collision_mask collisionMask", Kind.GROUPS, 2**64 - 1, "groups it collides with"),
)
COMMON = (
    attribute("name", Kind.TEXT, "", "name; need not be unique"),
    attribute("material", Kind.TEXT, "default", "contact material"),
    attribute("appearance", Kind.TEXT, "", 'colour name, "r g b a", texture name or "hidden"'),
    *FILTER,
)
# What the state topic of an object holds, by the names in InterfaceSettings.
PUBLISHED = (
    attribute("publish_children_names", Kind.SWITCH, False, "state topic: names of all descendants"),
    attribute("publish_joint_names", Kind.SWITCH, True, "state topic: names of the joints"),
    attribute("publish_joint_positions", Kind.SWITCH, False, "state topic: positions, velocities, efforts of joints"),
    attribute("publish_links", Kind.SWITCH, False, "each link has a state and a command topic of its own"),
    attribute("publish_tf", Kind.FRAMES, "all", "which of its frames are in /tf: its own one, those of its links"),
    attribute("odometry", Kind.ODOMETRY, "none", "odom topic: the true pose, or that of the drive's wheels"),
    attribute("odom_tf", Kind.SWITCH, False, "its frame is given in a frame odom, and that in the world"),
    attribute("min_rate_hz", Kind.RATE, None, "state topic: rate [Hz] while it is not commanded; default: the node's"),
    attribute("max_rate_hz", Kind.RATE, None, "state topic: rate [Hz] while it is commanded; default: the node's"),
)

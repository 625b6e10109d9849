"""Bodies and joints of MJCF files as they are written, angles in rad."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from lxml import etree

from raisim_ros.description.mjcf.geom import Geom, GeomReader, MassProperties, total_of
from raisim_ros.description.mjcf.source import Item, MjcfSource
from raisim_ros.description.robot.model import Place, Pose
from raisim_ros.description.rotation import Array

_WITHOUT_EFFECT = ("site", "camera", "light")
_JOINT_TYPES = ("free", "ball", "slide", "hinge")


@dataclass(eq=False)
class MjcfJoint:
    """A joint in the frame of its body."""

    name: str
    type: str
    anchor: Array
    axis: Array
    place: Place
    reference: float = 0.0  # coordinate in the initial pose
    lower: float = -math.inf
    upper: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    spring_reference: float = 0.0
    effort_limit: float = math.inf

    @property
    def is_passive(self) -> bool:
        """Moves freely: nothing but inertia resists."""
        forces = (self.damping, self.friction, self.armature, self.stiffness)
        return not any(forces) and math.isinf(self.lower) and math.isinf(self.upper)


@dataclass(eq=False)
class MjcfBody:
    """A body with everything on it."""

    name: str
    pose: Pose  # in the parent body
    place: Place
    joints: list[MjcfJoint] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    mass: MassProperties = field(default_factory=MassProperties)
    children: list[MjcfBody] = field(default_factory=list)

    def moves(self) -> bool:
        """Has this body or one on it a joint?"""
        return bool(self.joints) or any(child.moves() for child in self.children)

    def all_bodies(self) -> list[MjcfBody]:
        """This body and those on it, depth first."""
        return [self, *(body for child in self.children for body in child.all_bodies())]


class BodyReader:
    """Reads the <worldbody> of a file."""

    def __init__(self, source: MjcfSource) -> None:
        self._source = source
        self._compiler = source.compiler
        self._geoms = GeomReader(source)
        self._names: set[str] = set()
        self._joint_names: set[str] = set()

    def read_world(self) -> MjcfBody:
        """The world body; its geoms do not move, its children are the bodies of the file."""
        world = MjcfBody("world", Pose(), self._source.place(self._source.root))
        for element in self._source.root.findall("worldbody"):
            self._read_content(world, element, "", Pose())
        self._bound_and_scale(world)
        return world

    def _read_body(self, element: etree._Element, parent: MjcfBody, child_class: str, frame: Pose) -> MjcfBody:
        item = self._source.item(element, "")
        name = item.text("name") or f"{parent.name}_{len(parent.children)}"
        if name in self._names or name == "world":
            item.fail(f"a second body '{name}'")
        self._names.add(name)
        body = MjcfBody(name, frame @ self._pose(item), item.place)
        inertial = self._read_content(body, element, item.text("childclass") or child_class, Pose())
        body.mass = self._mass(body, inertial)
        return body

    def _pose(self, item: Item) -> Pose:
        return Pose(item.vector("pos", (0.0, 0.0, 0.0)), self._compiler.rotation(item))

    def _read_content(
        self, body: MjcfBody, element: etree._Element, child_class: str, frame: Pose
    ) -> MassProperties | None:
        """What stands inside a <body> or <frame>; returns the mass that an <inertial> gives."""
        inertial = None
        for child in element:
            if child.tag == "body":
                body.children.append(self._read_body(child, body, child_class, frame))
            elif child.tag == "frame":
                item = self._source.item(child, "")
                inner = item.text("childclass") or child_class
                inertial = self._read_content(body, child, inner, frame @ self._pose(item)) or inertial
            elif child.tag in ("joint", "freejoint"):
                joint = self._joint(self._source.item(child, child_class), body, frame)
                body.joints.append(joint)
            elif child.tag == "geom":
                geom = self._geoms.read(self._source.item(child, child_class), frame)
                if geom is not None:
                    body.geoms.append(geom)
            elif child.tag == "inertial":
                inertial = self._inertial(self._source.item(child, "")).placed(frame)
            elif child.tag not in _WITHOUT_EFFECT:
                self._source.notes.add(str(child.tag))
        return inertial

    # ---- joints ----

    def _joint(self, item: Item, body: MjcfBody, frame: Pose) -> MjcfJoint:
        kind = "free" if item.tag == "freejoint" else item.word("type", _JOINT_TYPES, "hinge")
        name = item.text("name") or f"{body.name}_joint_{len(body.joints)}"
        if name in self._joint_names:
            item.fail(f"a second joint '{name}'")
        self._joint_names.add(name)
        position, rotation = (frame @ Pose(item.vector("pos", (0.0, 0.0, 0.0)))).arrays()
        axis = rotation @ item.vector("axis", (0.0, 0.0, 1.0))
        length = float(np.linalg.norm(axis))
        if kind in ("slide", "hinge") and length < 1e-14:
            item.fail("the axis is zero")
        turn = self._compiler.angle if kind != "slide" else float
        joint = MjcfJoint(name, kind, position, axis / length if length else axis, item.place)
        if item.tag == "freejoint":
            return joint
        joint.damping = self._not_negative(item, "damping")
        joint.friction = self._not_negative(item, "frictionloss")
        joint.armature = self._not_negative(item, "armature")
        joint.stiffness = self._not_negative(item, "stiffness")
        if kind in ("slide", "hinge"):
            joint.reference = turn(item.number("ref", 0.0))
            joint.spring_reference = turn(item.number("springref", 0.0))
        if kind == "free" and not joint.is_passive:
            self._source.notes.add("armature, damping, friction and stiffness of free joints")
        if kind != "free":
            self._read_limits(item, joint)
        return joint

    @staticmethod
    def _not_negative(item: Item, name: str) -> float:
        value = item.number(name, 0.0)
        if value < 0.0:
            item.fail(f'attribute {name}="{item.text(name)}"; expected zero or more')
        return value

    def _read_limits(self, item: Item, joint: MjcfJoint) -> None:
        given = item.numbers("range", 2)
        if given is None and item.switch("limited", False):
            item.fail('limited="true" without an attribute \'range\'')
        if given is not None and item.switch("limited", self._compiler.autolimits):
            turn = self._compiler.angle if joint.type != "slide" else float
            joint.lower, joint.upper = turn(given[0]), turn(given[1])
            if not joint.lower <= joint.upper or (joint.type == "ball" and joint.lower != 0.0):
                item.fail(f"attribute range=\"{item.text('range')}\"; expected the lower number first")
        force = item.numbers("actuatorfrcrange", 2)
        if force is not None and item.switch("actuatorfrclimited", self._compiler.autolimits):
            if force[0] != -force[1]:
                self._source.notes.add("joint actuatorfrcrange that is not symmetric")
            else:
                joint.effort_limit = force[1]

    # ---- masses ----

    def _inertial(self, item: Item) -> MassProperties:
        mass = item.number("mass", -1.0)
        if mass < 0.0:
            item.fail("attribute 'mass' is missing or negative")
        diagonal, full = item.numbers("diaginertia", 3), item.numbers("fullinertia", 6)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            inertia = np.diag(diagonal or (0.0, 0.0, 0.0))
        return MassProperties(mass, np.zeros(3), inertia).placed(self._pose(item))

    def _mass(self, body: MjcfBody, inertial: MassProperties | None) -> MassProperties:
        choice, (low, high) = self._compiler.inertia_from_geom, self._compiler.inertia_groups
        if choice == "true" or (choice == "auto" and inertial is None):
            geoms = [geom for geom in body.geoms if low <= geom.group <= high]
            if any(geom.open_mesh for geom in geoms):
                self._source.notes.add("masses of open meshes, whose convex hulls count instead")
            return total_of([geom.mass.placed(geom.pose) for geom in geoms])
        return inertial or MassProperties()

    def _bound_and_scale(self, world: MjcfBody) -> None:
        """The compiler's lower bounds of masses and moments of inertia, then its total mass."""
        compiler = self._compiler
        bodies = world.all_bodies()[1:]
        for body in bodies:
            mass = body.mass
            mass.mass = max(mass.mass, compiler.bound_mass)
            if compiler.bound_inertia > 0.0:
                moments, axes = np.linalg.eigh(mass.inertia)
                mass.inertia = axes @ np.diag(np.maximum(moments, compiler.bound_inertia)) @ axes.T
        total = sum(body.mass.mass for body in bodies)
        if compiler.total_mass > 0.0 and total > 0.0:
            for body in bodies:
                body.mass.mass *= compiler.total_mass / total
                body.mass.inertia = body.mass.inertia * (compiler.total_mass / total)

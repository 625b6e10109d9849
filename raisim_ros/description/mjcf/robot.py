"""From a body of an MJCF file to a kinematic tree.

MuJoCo lets a body have several joints, and joints away from its origin. Here each joint carries a link of its own;
only the last link has mass and shapes. Its frame lies where the last hinge or ball does, with the axes of the body.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from raisim_ros.description.errors import ParseError
from raisim_ros.description.mjcf.actuator import Drive
from raisim_ros.description.mjcf.body import MjcfBody, MjcfJoint
from raisim_ros.description.mjcf.contact import Filters, Materials
from raisim_ros.description.mjcf.geom import Geom
from raisim_ros.description.mjcf.source import Item, Notes
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.robot.model import Collision, Joint, Link, Pin, Pose, RobotModel, Visual
from raisim_ros.description.robot.tree_builder import WORLD_LINK, build_tree
from raisim_ros.description.rotation import Array, matrix_from_axis_angle, quaternion_from_matrix
from raisim_ros.description.urdf.export import urdf_text

_JOINT_TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}


def is_floating(body: MjcfBody) -> bool:
    """A free joint, or the three slides and a ball that older models have in its place."""
    if [joint.type for joint in body.joints] == ["free"]:
        return True
    if [joint.type for joint in body.joints] != ["slide", "slide", "slide", "ball"]:
        return False
    axes = np.array([joint.axis for joint in body.joints[:3]])
    world_axes = axes @ body.pose.arrays()[1].T
    return (
        all(joint.is_passive and joint.reference == 0.0 for joint in body.joints)
        and not body.joints[3].anchor.any()
        and np.allclose(world_axes, np.eye(3), atol=1e-12)
    )


class RobotBuilder:
    """Makes the tree of one top body."""

    def __init__(self, top: MjcfBody, filters: Filters, materials: Materials, notes: Notes) -> None:
        self._filters = filters
        self._materials = materials
        self._notes = notes
        self._top = top
        self._floating = is_floating(top)
        self._bodies = {body.name: body for body in top.all_bodies()}
        self._joints = {joint.name: joint for body in self._bodies.values() for joint in body.joints}
        self._offsets: dict[str, Array] = {}  # of the link's frame in the body's frame
        self._static: set[str] = set()  # bodies that the world holds
        self._model = RobotModel(top.name, [], [], place=top.place)
        self._initial: list[float] = []
        if self._floating:
            self._add_base()
        else:
            self._model.links.append(Link(WORLD_LINK, place=top.place))
            self._attach(top, WORLD_LINK, np.zeros(3), static=True)

    # ---- links and joints ----

    def _add_base(self) -> None:
        top = self._top
        position, rotation = top.pose.arrays()
        self._initial += [*position, *quaternion_from_matrix(rotation)]
        self._offsets[top.name] = np.zeros(3)
        self._model.links.append(self._link(top, np.zeros(3)))
        for child in top.children:
            self._attach(child, top.name, np.zeros(3), static=False)

    def _attach(self, body: MjcfBody, parent: str, parent_offset: Array, static: bool) -> None:
        """Add a body, its joints and all bodies on it to the model."""
        frame = Pose(-parent_offset) @ body.pose  # of the body, in the link carried last
        carrier, offset = parent, np.zeros(3)
        static = static and not body.joints
        if not body.joints:
            self._model.joints.append(Joint(f"{body.name}_weld", "fixed", frame, parent=parent, child=body.name))
        for joint in body.joints:
            last = joint is body.joints[-1]
            link = body.name if last else self._free_name(f"{body.name}_{joint.name}")
            offset = np.zeros(3) if joint.type == "slide" else joint.anchor
            self._model.joints.append(self._joint(joint, frame, offset, carrier, link))
            self._initial += [1.0, 0.0, 0.0, 0.0] if joint.type == "ball" else [joint.reference]
            if not last:
                self._model.links.append(Link(link, place=joint.place))
            carrier, frame = link, Pose(-offset)
        self._offsets[body.name] = offset
        if static:
            self._static.add(body.name)
        elif len(body.joints) > 1 and parent not in self._static and parent != WORLD_LINK:
            # The links between hide from the engine that these two are parent and child.
            self._model.ignored_pairs.append((parent, body.name))
        self._model.links.append(self._link(body, offset, with_shapes=not static))
        for child in body.children:
            self._attach(child, body.name, offset, static)

    def _free_name(self, name: str) -> str:
        while name in self._bodies:
            name += "_"
        return name

    @staticmethod
    def _joint(joint: MjcfJoint, frame: Pose, offset: Array, parent: str, child: str) -> Joint:
        if joint.type == "free":
            raise ParseError(
                joint.place.source,
                joint.place.line,
                f"free joint '{joint.name}': expected it alone in a body directly below <worldbody>",
            )
        back = Pose(-joint.reference * joint.axis)
        if joint.type != "slide":
            back = Pose(rotation=matrix_from_axis_angle(joint.axis, -joint.reference))
        ball = joint.type == "ball"
        return Joint(
            joint.name,
            _JOINT_TYPES[joint.type],
            frame @ Pose(offset) @ back,
            joint.axis,
            joint.lower,
            joint.upper,
            effort_limit=joint.effort_limit,
            damping=joint.damping,
            friction=joint.friction,
            rotor_inertia=joint.armature,
            stiffness=joint.stiffness,
            spring_mount=None if ball else joint.spring_reference,
            parent=parent,
            child=child,
            place=joint.place,
        )

    def _link(self, body: MjcfBody, offset: Array, with_shapes: bool = True) -> Link:
        shift = Pose(-offset)
        mass = body.mass.placed(shift)
        link = Link(body.name, mass.mass, mass.com, mass.inertia, place=body.place)
        shown = [geom for geom in body.geoms if geom.geometry is not None] if with_shapes else []
        if with_shapes and len(shown) < len(body.geoms):
            self._notes.add("planes on moving bodies")
        link.collisions = [self._collision(geom, shift) for geom in shown if not geom.contact.is_inert]
        link.visuals = [
            Visual(geom.geometry, shift @ geom.pose, geom.color, geom.place) for geom in shown if geom.geometry
        ]
        return link

    def _collision(self, geom: Geom, shift: Pose) -> Collision:
        assert geom.geometry is not None
        return Collision(
            geom.geometry,
            shift @ geom.pose,
            self._materials.name(geom.surface),
            geom.place,
            geom.geometry.shape == "mesh",
            self._filters.group(geom.contact),
            self._filters.mask(geom.contact),
        )

    # ---- what refers to bodies and joints ----

    def _is_part(self, *bodies: str) -> bool:
        return all(body in self._bodies and body not in self._static for body in bodies)

    def add_exclusions(self, items: Iterable[Item]) -> None:
        """Pairs of bodies that never collide."""
        for item in items:
            pair = item.text("body1"), item.text("body2")
            if self._is_part(*pair):
                self._model.ignored_pairs.append(pair)

    def add_pins(self, items: Iterable[Item]) -> None:
        """Points that two bodies share; a missing second body is the world."""
        for item in items:
            body1, body2 = item.text("body1"), item.text("body2", WORLD_LINK)
            held = body2 == WORLD_LINK and not self._floating and body1 in self._bodies
            if held or self._is_part(body1, body2):
                anchor = item.vector("anchor", (0.0, 0.0, 0.0)) - self._offsets[body1]
                self._model.pins.append(Pin(body1, body2, anchor, self._initial, item.place))

    def add_couplings(self, items: Iterable[Item]) -> None:
        """Joints that follow another one, or stay where they are."""
        joints = {joint.name: joint for joint in self._model.joints}
        for item in items:
            follower, leader = item.text("joint1"), item.text("joint2")
            if follower not in self._joints and leader not in self._joints:
                continue
            names = [name for name in (follower, leader) if name]
            constant, slope, *curve = item.vector("polycoef", (0.0, 1.0, 0.0, 0.0, 0.0))
            if not all(name in self._joints for name in names):
                self._notes.add("equality joint between two systems")
            elif any(self._joints[name].type not in ("hinge", "slide") for name in names):
                self._notes.add("equality joint of ball and free joints")
            elif leader and any(curve):
                self._notes.add("equality joint along a curve")
            else:
                offset = float(constant) + self._joints[follower].reference
                if leader:
                    offset -= float(slope) * self._joints[leader].reference
                    joints[follower].mimic = (leader, float(slope), offset)
                else:
                    joints[follower].lower = joints[follower].upper = offset

    def own(self, drives: Iterable[Drive]) -> list[Drive]:
        """The actuators on this robot's joints."""
        found = []
        for drive in drives:
            joint = self._joints.get(drive.joint)
            if joint is not None and joint.type not in ("hinge", "slide"):
                self._notes.add("actuators of ball and free joints")
            elif joint is not None:
                found.append(drive)
        return found

    def build(self) -> tuple[KinematicTree, Array]:
        """The tree, and its coordinates in the pose of the file."""
        tree = build_tree(self._model, base="floating" if self._floating else "fixed")
        tree.resource_dir = ""
        tree.robot_description = urdf_text(tree)
        return tree, np.array(self._initial)

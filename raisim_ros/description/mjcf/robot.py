"""From a body of a compiled model to a kinematic tree.

MuJoCo lets a body have several joints, and joints away from its origin. Here each joint carries a link of its own;
only the last link has mass and shapes. Its frame lies where the last hinge or ball does, with the axes of the body.
"""

from __future__ import annotations

import math

import numpy as np

from raisim_ros.description.errors import ParseError
from raisim_ros.description.mjcf.contacts import Filters, Materials, excluded_bodies, is_told_by_bodies
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.shapes import Shapes
from raisim_ros.description.mjcf.skeleton import Skeleton
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.robot.model import Collision, Geometry, Joint, Link, Pose, RobotModel, Visual
from raisim_ros.description.robot.tree_builder import WORLD_LINK, build_tree
from raisim_ros.description.rotation import Array, matrix_from_axis_angle, quaternion_from_matrix

JOINT_TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}


def is_floating(skeleton: Skeleton, body: int) -> bool:
    """A free joint, or the three slides and a ball that older models have in its place."""
    model, joints = skeleton.model, skeleton.joints(body)
    kinds = [model.kind("jnt_type", joint) for joint in joints]
    if kinds == ["free"]:
        return True
    if kinds != ["slide", "slide", "slide", "ball"]:
        return False
    axes = model["jnt_axis"][joints[0] : joints[0] + 3] @ skeleton.pose("body", body).arrays()[1].T
    return (
        not any(_resists(skeleton, joint) for joint in joints)
        and not any(model["qpos0"][model["jnt_qposadr"][joint]] for joint in joints[:3])
        and not model["jnt_pos"][joints[3]].any()
        and np.allclose(axes, np.eye(3), atol=1e-12)
    )


def _resists(skeleton: Skeleton, joint: int) -> bool:
    """Is there anything but inertia against its motion?"""
    model = skeleton.model
    dof = model["jnt_dofadr"][joint]
    forces = [model[f"dof_{name}"][dof] for name in ("damping", "frictionloss", "armature")]
    return bool(any(forces) or model["jnt_stiffness"][joint] or model["jnt_limited"][joint])


class RobotBuilder:
    """Makes the tree of one top body."""

    def __init__(
        self, skeleton: Skeleton, top: int, shapes: Shapes, filters: Filters, materials: Materials, notes: Notes
    ) -> None:
        self.skeleton = skeleton
        self.model = skeleton.model
        self.top = top
        self.is_floating = is_floating(skeleton, top)
        self.notes = notes
        self._shapes, self._filters, self._materials = shapes, filters, materials
        self.bodies = set(skeleton.below(top))
        self._names = {skeleton.body_names[body] for body in self.bodies} | {WORLD_LINK}
        self._joint_names = set(skeleton.joint_names)
        self._offsets: dict[int, Array] = {}  # of the link's frame in the body's frame
        place = skeleton.place("body", top)
        self.robot = RobotModel(skeleton.body_names[top], [], [], place=place)
        self.effort_bounds: dict[str, tuple[float, float]] = {}  # of joints whose limits differ in both directions
        self.joints: dict[int, Joint] = {}  # by the model's number, but those of a floating base
        self._draws_all = not any(shapes.is_shown(geom) for body in self.bodies for geom in skeleton.geoms(body))
        if self.is_floating:
            self._add_base()
        else:
            self.robot.links.append(Link(WORLD_LINK, place=place))
            self._attach(top, WORLD_LINK, np.zeros(3))
        self._add_exclusions()

    def name(self, body: int) -> str:
        """Of the link of a body."""
        return self.skeleton.body_names[body]

    def in_link(self, body: int, point: Array) -> Array:
        """A point of a body's frame in the frame of its link."""
        return np.asarray(point, dtype=np.float64) - self._offsets[body]

    # ---- links and joints ----

    def _add_base(self) -> None:
        self._offsets[self.top] = np.zeros(3)
        self.robot.links.append(self._link(self.top))
        dofs = [dof for joint in self.skeleton.joints(self.top) for dof in self._dofs(joint)]
        for name in ("damping", "armature", "frictionloss"):
            self.notes.add(f"{name} of free joints", bool(self.model[f"dof_{name}"][dofs].any()))
        for child in self.skeleton.children[self.top]:
            self._attach(child, self.name(self.top), np.zeros(3))

    def _dofs(self, joint: int) -> range:
        first = int(self.model["jnt_dofadr"][joint])
        return range(first, first + {"free": 6, "ball": 3}.get(self.model.kind("jnt_type", joint), 1))

    def _attach(self, body: int, parent: str, parent_offset: Array) -> None:
        """Add a body, its joints and all bodies on it to the model."""
        pending = [(body, parent, parent_offset)]
        while pending:
            body, parent, parent_offset = pending.pop()
            self._attach_one(body, parent, parent_offset)
            rest = [(child, self.name(body), self._offsets[body]) for child in self.skeleton.children[body]]
            pending.extend(reversed(rest))

    def _attach_one(self, body: int, parent: str, parent_offset: Array) -> None:
        name, joints = self.name(body), self.skeleton.joints(body)
        frame = Pose(-parent_offset) @ self.skeleton.pose("body", body)  # of the body, in the link carried last
        carrier, offset = parent, np.zeros(3)
        if not joints:
            weld = self.free_joint_name(f"{name}_weld")
            self.robot.joints.append(Joint(weld, "fixed", frame, parent=parent, child=name))
        for joint in joints:
            last = joint == joints[-1]
            link = name if last else self.free_name(f"{name}_{self.skeleton.joint_names[joint]}")
            is_slide = self.model.kind("jnt_type", joint) == "slide"
            offset = np.zeros(3) if is_slide else self.model["jnt_pos"][joint].astype(np.float64)
            self.joints[joint] = self._joint(joint, frame, offset, carrier, link)
            self.robot.joints.append(self.joints[joint])
            if not last:
                self.robot.links.append(Link(link, place=self.skeleton.place("jnt", joint)))
            carrier, frame = link, Pose(-offset)
        self._offsets[body] = offset
        above = int(self.model["body_parentid"][body])
        if len(joints) > 1 and not self.skeleton.is_static(above):
            # The links between hide from the engine that these two are parent and child.
            self.robot.ignored_pairs.append((parent, name))
        self.robot.links.append(self._link(body))

    def free_name(self, name: str) -> str:
        """A name that no other link has."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def free_joint_name(self, name: str) -> str:
        """A name that no other joint has."""
        while name in self._joint_names:
            name += "_"
        self._joint_names.add(name)
        return name

    def _joint(self, joint: int, frame: Pose, offset: Array, parent: str, child: str) -> Joint:
        model, kind = self.model, self.model.kind("jnt_type", joint)
        place = self.skeleton.place("jnt", joint)
        name = self.skeleton.joint_names[joint]
        if kind == "free":
            message = f"free joint '{name}': expected it alone in a body directly below <worldbody>"
            raise ParseError(place.file, place.line, message)
        dof, at = int(model["jnt_dofadr"][joint]), int(model["jnt_qposadr"][joint])
        axis = model["jnt_axis"][joint].astype(np.float64)
        back = Pose()
        if kind != "ball":
            reference = float(model["qpos0"][at])
            turned = kind == "hinge"
            back = Pose(rotation=matrix_from_axis_angle(axis, -reference)) if turned else Pose(-reference * axis)
        lower, upper = (float(end) for end in model["jnt_range"][joint])
        if not model["jnt_limited"][joint]:
            lower, upper = -math.inf, math.inf
        self.notes.add("polynomial stiffness and damping", self._is_curved(joint, dof))
        limited = model.has("jnt_actgravcomp", joint) and model.has("jnt_actfrclimited", joint)
        self.notes.add("actuatorgravcomp of joints with an actuatorfrcrange", limited and model.has("body_gravcomp"))
        return Joint(
            name,
            JOINT_TYPES[kind],
            frame @ Pose(offset) @ back,
            axis,
            lower,
            upper,
            effort_limit=self._effort_limit(joint),
            damping=float(model["dof_damping"][dof]),
            friction=float(model["dof_frictionloss"][dof]),
            rotor_inertia=float(model["dof_armature"][dof]),
            stiffness=float(model["jnt_stiffness"][joint]),
            spring_mount=model["qpos_spring"][at : at + 4] if kind == "ball" else float(model["qpos_spring"][at]),
            parent=parent,
            child=child,
            place=place,
        )

    def _is_curved(self, joint: int, dof: int) -> bool:
        model = self.model
        return model.has("jnt_stiffnesspoly", joint) or model.has("dof_dampingpoly", dof)

    def _effort_limit(self, joint: int) -> float:
        lower, upper = (float(end) for end in self.model["jnt_actfrcrange"][joint])
        if not self.model["jnt_actfrclimited"][joint]:
            return math.inf
        if lower != -upper:
            self.effort_bounds[self.skeleton.joint_names[joint]] = (lower, upper)
            return math.inf
        return upper

    def _link(self, body: int) -> Link:
        """Bodies that the world holds have their shapes as objects of their own."""
        shift = Pose(-self._offsets[body])
        mass, com, inertia = self.skeleton.inertia(body)
        link = Link(self.name(body), mass, shift.arrays()[0] + com, inertia, place=self.skeleton.place("body", body))
        link.gravity_compensation = float(self.model["body_gravcomp"][body])
        if self.skeleton.is_static(body):
            return link
        collisions, visuals = [], []
        for geom in self.skeleton.geoms(body):
            pose = shift @ self.skeleton.pose("geom", geom)
            collides = self._filters.collides(geom)
            shape = self._shapes.collision(geom) if collides else None
            if shape is not None:
                collisions.append(self._collision(geom, shape, pose))
            drawn = self._shapes.visual(geom) if self._draws_all or self._shapes.is_shown(geom) else None
            if drawn is not None:
                visuals.append(Visual(drawn, pose, self._shapes.color(geom), self.skeleton.place("geom", geom)))
            self.notes.add("planes and height fields on moving bodies", collides and shape is None)
        link.collisions, link.visuals = collisions, visuals
        return link

    def _collision(self, geom: int, shape: Geometry, pose: Pose) -> Collision:
        return Collision(
            shape,
            pose,
            self._materials.name(geom),
            self.skeleton.place("geom", geom),
            shape.shape == "mesh",
            self._filters.group(geom),
            self._filters.mask(geom),
        )

    def _add_exclusions(self) -> None:
        for one, other in excluded_bodies(self.model):
            if one in self.bodies and other in self.bodies and is_told_by_bodies(self.skeleton, one, other):
                self.robot.ignored_pairs.append((self.name(one), self.name(other)))

    # ---- the tree ----

    def coordinates(self, qpos: Array) -> Array:
        """The robot's q of the model's; the joints of a robot stand in the order of the file in both."""
        parts = []
        if self.is_floating:
            parts.append(self._base_coordinates(qpos))
        for joint in self.joints:
            at = int(self.model["jnt_qposadr"][joint])
            parts.append(qpos[at : at + (4 if self.model.kind("jnt_type", joint) == "ball" else 1)])
        return np.concatenate([np.zeros(0), *parts])

    def _base_coordinates(self, qpos: Array) -> Array:
        first = self.skeleton.joints(self.top)[0]
        at = int(self.model["jnt_qposadr"][first])
        base = qpos[at : at + 7].astype(np.float64)
        if self.model.kind("jnt_type", first) == "slide":  # slides count from the body's place
            position, rotation = self.skeleton.pose("body", self.top).arrays()
            base[:3] += position
            turned = rotation @ _matrix(base[3:])
            base[3:] = quaternion_from_matrix(turned)
        return base

    def velocities(self, qpos: Array, qvel: Array) -> Array:
        """The robot's u of the model's; MuJoCo has angular velocities of bases and balls in the moved frame."""
        parts = []
        if self.is_floating:
            base = self.skeleton.joints(self.top)
            at = int(self.model["jnt_dofadr"][base[0]])
            turn = _matrix(self._base_coordinates(qpos)[3:])
            parts += [qvel[at : at + 3], turn @ qvel[at + 3 : at + 6]]
        for joint in self.joints:
            dofs, at = self._dofs(joint), int(self.model["jnt_qposadr"][joint])
            moved = qvel[dofs[0] : dofs[0] + len(dofs)]
            parts.append(_matrix(qpos[at : at + 4]) @ moved if len(dofs) == 3 else moved)
        return np.concatenate([np.zeros(0), *parts])

    def build(self) -> tuple[KinematicTree, Array]:
        """The tree, and its coordinates in the pose of the file."""
        tree = build_tree(self.robot, base="floating" if self.is_floating else "fixed")
        tree.resource_dir = ""
        return tree, self.coordinates(self.model["qpos0"])


def _matrix(wxyz: Array) -> Array:
    from raisim_ros.description.rotation import matrix_from_quaternion

    return matrix_from_quaternion(wxyz / np.linalg.norm(wxyz))

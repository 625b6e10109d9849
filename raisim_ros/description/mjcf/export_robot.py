"""A robot as bodies of a file for MuJoCo.

Links keep their names; those that fixed joints hold are bodies without joints. Massless bodies between joints, which
MuJoCo does not take, go into the next one: it has several joints then. The pose of the file is that of the robot.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.mjcf.document import Document, Slot, add, placed
from raisim_ros.description.mjcf.export_contacts import BitFilters, Filter, Frictions
from raisim_ros.description.mjcf.export_shapes import COLLISION_GROUP, VISUAL_GROUP, ShapeWriter, add_inertial
from raisim_ros.description.mjcf.robot import JOINT_TYPES
from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody, TreeFrame
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.robot.tree_builder import WORLD_LINK
from raisim_ros.description.robot.tree_poses import (
    body_poses,
    coordinate_parts,
    joint_motion,
    link_poses,
    relative,
    velocity_parts,
)
from raisim_ros.description.rotation import Array, matrix_from_quaternion, quaternion_from_matrix
from raisim_ros.description.world.types import ArticulatedEntry, Numbers

_JOINTS = {JointType(kind): name for name, kind in JOINT_TYPES.items()}
_SET_JOINTS = ("damping", "friction", "rotor_inertia", "stiffness", "lower", "upper", "velocity_limit")
_ENDLESS = 1e10  # in place of the missing one of two limits

Origin = tuple[Numbers, Numbers]  # position, quaternion
ORIGIN: Origin = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def _with_settings(tree: KinematicTree, settings: dict[str, Numbers]) -> KinematicTree:
    """The tree with joints as they were set."""
    bodies, dof, place = [], 0, 0
    for body in tree.bodies:
        kind = body.joint_type
        if kind in _JOINTS:
            told: dict[str, Any] = {name: settings[name][dof] for name in _SET_JOINTS if name in settings}
            if "spring_mount" in settings:
                mount = settings["spring_mount"][place : place + kind.coordinate_dim]
                told["spring_mount"] = np.array(mount) if kind is JointType.SPHERICAL else mount[0]
            body = replace(body, **told)
        bodies.append(body)
        dof, place = dof + kind.velocity_dim, place + kind.coordinate_dim
    return replace(tree, bodies=bodies)


def shape_filters(entry: ArticulatedEntry) -> dict[str, Filter]:
    """Group and mask of each collision shape of a robot."""
    assert entry.tree is not None
    told = {shape.name: shape for shape in entry.shapes}
    found = {}
    for shape in (shape for body in entry.tree.bodies for shape in body.collisions):
        one = told.get(shape.name)
        group = one.collision_group if one is not None else None
        mask = one.collision_mask if one is not None else None
        found[shape.name] = (
            entry.collision_group if group is None else group,
            entry.collision_mask if mask is None else mask,
        )
    return found


def shape_materials(entry: ArticulatedEntry) -> dict[str, str]:
    """Material of each collision shape of a robot."""
    assert entry.tree is not None
    told = {shape.name: shape.material for shape in entry.shapes}
    shapes = [shape for body in entry.tree.bodies for shape in body.collisions]
    return {shape.name: told.get(shape.name) or shape.material for shape in shapes}


class RobotWriter:
    """Writes one robot; knows afterwards where its links and joints went."""

    def __init__(
        self,
        document: Document,
        entry: ArticulatedEntry,
        number: int,
        shapes: ShapeWriter,
        filters: BitFilters,
        frictions: Frictions,
    ) -> None:
        assert entry.tree is not None
        self.document, self.entry, self.number = document, entry, number
        self.tree = _with_settings(entry.tree, entry.joints)
        self._shapes, self._filters, self._frictions = shapes, filters, frictions
        self._groups, self._materials = shape_filters(entry), shape_materials(entry)
        self.start = np.array(entry.qpos) if entry.qpos is not None else self.tree.zero_configuration
        self._parts = coordinate_parts(self.tree, self.start)
        speeds = np.array(entry.qvel) if entry.qvel is not None else np.zeros(self.tree.velocity_dim)
        self._speeds = velocity_parts(self.tree, speeds)
        self._poses = link_poses(self.tree)
        self._below: dict[str, list[TreeFrame]] = {}
        for frame in self.tree.frames:
            self._below.setdefault(frame.parent_link, []).append(frame)
        self._referenced = _referenced_links(entry)
        self._elements: dict[str, etree._Element] = {"": document["worldbody"]}
        self.bodies: dict[str, str] = {}  # names in the file, by link
        self.joints: dict[str, str] = {}  # by joint
        self.references: dict[str, float] = {}  # value of each joint in the pose of the file
        self._in_world = Pose()  # of a base that is the world itself
        self._unreal: list[str] = []

    # ---- bodies ----

    def write(self) -> None:
        """Write the tree, and which of its bodies do not collide."""
        base = self.tree.bodies[0]
        element = self._add_base(base)
        pending = [(element, frame) for frame in reversed(self._below.get(base.name, []))]
        while pending:
            above, frame = pending.pop()
            last = frame.link
            if frame.is_child:
                inner, last = self._add_moved(above, frame)
            elif self._is_bare(frame):
                self._add_place(above, frame)
                continue
            else:
                inner = self._add_fixed(above, frame)
            pending += [(inner, one) for one in reversed(self._below.get(last, []))]
        self._add_exclusions()
        if self._unreal:
            links = ", ".join(f"'{name}'" for name in self._unreal)
            self.document.notes.add(f"inertias that no real body has (the largest moment was made less): {links}")

    def _add_base(self, base: TreeBody) -> etree._Element:
        pose, world = joint_motion(base, self._parts[0]), self.document["worldbody"]
        if self.tree.fixed_base:
            position, quaternion = self.entry.base_position or ORIGIN[0], self.entry.base_quaternion or ORIGIN[1]
            pose = Pose(position, matrix_from_quaternion(quaternion))
            bare = not (base.mass or base.collisions or base.visuals) and len(base.links) == 1
            if base.name == WORLD_LINK and bare and len(self._below.get(base.name, [])) <= 1:
                self._in_world = pose  # MuJoCo's own world takes its place
                self._elements[base.name], self.bodies[base.name] = world, WORLD_LINK
                return world
        taken = base.name == WORLD_LINK
        wanted = f"{self.entry.name or self.tree.name}_base" if taken else base.name
        element = self._add_element(world, base.name, pose, wanted)
        if not self.tree.fixed_base:
            self.joints[base.joint_name] = self.document.name("joint", f"{base.name}_free", self.entry.name)
            add(element, "freejoint", name=self.joints[base.joint_name])
            self._add_slot(0)
        self._add_content(element, base)
        return element

    def _add_element(self, above: etree._Element, link: str, pose: Pose, wanted: str = "") -> etree._Element:
        self.bodies[link] = self.document.name("body", wanted or link, self.entry.name)
        element = add(above, "body", name=self.bodies[link], **placed(pose))
        self._elements[link] = element
        return element

    def _is_bare(self, frame: TreeFrame) -> bool:
        """A link that is only a place."""
        body = self.tree.bodies[frame.body]
        shaped = any(shape.link == frame.link for shape in (*body.collisions, *body.visuals))
        return not shaped and not self._below.get(frame.link)

    def _add_place(self, above: etree._Element, frame: TreeFrame) -> None:
        pose = relative(self._poses[frame.parent_link], frame.position, frame.rotation)
        add(above, "site", name=self.document.name("site", frame.link, self.entry.name), **placed(pose))

    def _add_fixed(self, above: etree._Element, frame: TreeFrame) -> etree._Element:
        pose = relative(self._poses[frame.parent_link], frame.position, frame.rotation)
        element = self._add_element(above, frame.link, pose)
        self._add_shapes(element, self.tree.bodies[frame.body], frame.link)
        return element

    def _add_moved(self, above: etree._Element, frame: TreeFrame) -> tuple[etree._Element, str]:
        """A body with its joint, and with those of massless ones before it. The link that it ends with."""
        chain = [frame.body]
        while self._is_between(chain[-1]):
            chain.append(self._below[self.tree.bodies[chain[-1]].name][0].body)
        pose = _inverse(self._poses[frame.parent_link])
        if self.tree.bodies[frame.body].parent == 0:
            pose = self._in_world @ pose
        moved = []
        for index in chain:
            body = self.tree.bodies[index]
            pose = pose @ Pose(body.joint_position, body.joint_rotation)
            if body.joint_type is not JointType.SPHERICAL:  # of which the pose of the file is always zero
                pose = pose @ joint_motion(body, self._parts[index])
            moved.append(pose)
        last = self.tree.bodies[chain[-1]]
        element = self._add_element(above, last.name, pose)
        for index, place in zip(chain, moved, strict=True):
            self._add_joint(element, index, relative(pose, *place.arrays()))
        self._add_content(element, last)
        return element, last.name

    def _is_between(self, index: int) -> bool:
        """A body without mass, shapes and other links, that carries exactly one other one."""
        body = self.tree.bodies[index]
        below = self._below.get(body.name, [])
        bare = not (body.mass or body.inertia.any() or body.collisions or body.visuals or len(body.links) > 1)
        alone = len(below) == 1 and below[0].is_child and body.name not in self._referenced
        return bare and alone and body.joint_type is not JointType.SPHERICAL

    def _add_content(self, element: etree._Element, body: TreeBody) -> None:
        has_inertia = body.mass > 0.0 or body.joint_type is not JointType.FIXED
        if has_inertia and not add_inertial(element, body.mass, body.com, body.inertia):
            self._unreal.append(body.name)
        if body.lifted_mass:
            share = body.lifted_mass / body.mass
            element.set("gravcomp", repr(float(share)))
            differs = not np.allclose(body.lifted_com, body.com, rtol=0.0, atol=1e-9)
            self.document.notes.add("gravity compensation of parts of a body", differs)
        self._add_shapes(element, body, body.name)

    def _add_shapes(self, element: etree._Element, body: TreeBody, link: str) -> None:
        inner = self._poses[link]
        for visual in (shape for shape in body.visuals if shape.link == link):
            pose = placed(relative(inner, visual.position, visual.rotation))
            seen = {"contype": 0, "conaffinity": 0, "group": VISUAL_GROUP, "rgba": visual.color}
            add(element, "geom", **self._shapes.of_tree(visual), **pose, **seen)
        for shape in (shape for shape in body.collisions if shape.link == link):
            pose = placed(relative(inner, shape.position, shape.rotation))
            contact = self._filters.attributes(self._groups[shape.name])
            friction = self._frictions.attributes(self._materials[shape.name])
            add(element, "geom", **self._shapes.of_tree(shape), **pose, group=COLLISION_GROUP, **contact, **friction)
            as_triangles = shape.shape == "mesh" and self.entry.collision_meshes != "hull" and not shape.convex
            self.document.notes.add("meshes of links that collide otherwise than as their hulls", as_triangles)

    # ---- joints ----

    def _add_slot(self, index: int) -> None:
        body = self.tree.bodies[index]
        coordinate, velocity = moved_frame(body, self._parts[index], self._speeds[index])
        # As the file starts: a ball in its zero position, everything at rest.
        started = JointType.SPHERICAL.zero_coordinate if body.joint_type is JointType.SPHERICAL else coordinate
        self.document.slots.append(Slot(self.number, index, started, np.zeros(len(velocity))))

    def _add_joint(self, element: etree._Element, index: int, place: Pose) -> None:
        body = self.tree.bodies[index]
        name = self.document.name("joint", body.joint_name, self.entry.name)
        self.joints[body.joint_name] = name
        position, rotation = place.arrays()
        common: dict[str, Any] = {
            "name": name,
            "type": _JOINTS[body.joint_type],
            "pos": position if position.any() else None,
            "damping": body.damping or None,
            "armature": body.rotor_inertia or None,
            "frictionloss": body.friction or None,
            "stiffness": body.stiffness or None,
        }
        if body.joint_type is JointType.SPHERICAL:
            bounded = {"range": (0.0, body.upper)} if body.upper < math.inf else {}
            add(element, "joint", **common, **bounded)
            turned = not np.array_equal(body.spring_mount, body.joint_type.zero_coordinate)
            self.document.notes.add("springs of ball joints that rest elsewhere", turned and body.stiffness > 0.0)
        else:
            reference = float(self._parts[index][0])
            self.references[body.joint_name] = reference
            lower, upper = self._effort(index)
            effort = (max(lower, -_ENDLESS), min(upper, _ENDLESS)) if max(-lower, upper) < math.inf else None
            add(
                element,
                "joint",
                **common,
                axis=rotation @ body.axis,
                ref=reference or None,
                springref=float(np.asarray(body.spring_mount)) or None,
                range=_range(body),
                actuatorfrcrange=effort if effort and effort[0] < effort[1] else None,
            )
        self.document.notes.add("velocity limits of joints", body.velocity_limit < math.inf)
        self._add_slot(index)

    def _effort(self, index: int) -> tuple[float, float]:
        """Bounds of a joint's force; those of servos are bounds of their actuators."""
        body, settings = self.tree.bodies[index], self.entry.joints
        dof = sum(one.joint_type.velocity_dim for one in self.tree.bodies[:index])
        gains = [settings[name][dof] for name in ("p_gain", "d_gain") if name in settings]
        if "effort_lower" not in settings or "effort_upper" not in settings or any(gains):
            return -body.effort_limit, body.effort_limit
        return settings["effort_lower"][dof], settings["effort_upper"][dof]

    # ---- places ----

    def site(self, link: str, position: Numbers, quaternion: Numbers = ORIGIN[1]) -> str:
        """A new site at a place (quaternion w, x, y, z) in the frame of a body ("": the world)."""
        name = self.document.name("site", f"{self.entry.name or self.tree.name}_site")
        add(self._elements[link], "site", name=name, **self._placed(link, position, quaternion))
        return name

    def obstacle(self, link: str, position: Numbers, quaternion: Numbers, kind: str, radius: float) -> str:
        """A new geom, placed likewise, that only tendons go around."""
        name = self.document.name("geom", f"{self.entry.name or self.tree.name}_wrap")
        size = (radius,) if kind == "sphere" else (radius, radius)
        hidden = {"contype": 0, "conaffinity": 0, "group": 5}
        add(
            self._elements[link],
            "geom",
            name=name,
            type=kind,
            size=size,
            **self._placed(link, position, quaternion),
            **hidden,
        )
        return name

    def _placed(self, link: str, position: Numbers, quaternion: Numbers) -> dict[str, Any]:
        if link != self.tree.bodies[0].name or self._elements[link] is not self.document["worldbody"]:
            return {"pos": position, "quat": quaternion if tuple(quaternion) != ORIGIN[1] else None}
        return placed(self._in_world @ Pose(position, matrix_from_quaternion(quaternion)))

    def site_on(self, link: str, inner: Pose) -> str:
        """A new site at a place in the frame of a link ("": the base)."""
        name = link or self.tree.bodies[0].name
        body = next(body for body in self.tree.bodies if name in body.links)
        position, rotation = (self._poses[name] @ inner).arrays()
        return self.site(body.name, tuple(position), tuple(quaternion_from_matrix(rotation)))

    def pinned_points(self) -> list[tuple[str, str]]:
        """A site on each of both bodies of every pin."""
        found = []
        for pin in self.tree.pins:
            poses = body_poses(self.tree, pin.nominal_config)
            point = (poses[pin.body1] @ Pose(pin.anchor)).arrays()[0]
            other = relative(poses[pin.body2], point, np.eye(3)).arrays()[0]
            links = [self.tree.bodies[index].name for index in (pin.body1, pin.body2)]
            found.append((self.site(links[0], tuple(pin.anchor)), self.site(links[1], tuple(other))))
        return found

    # ---- contacts ----

    def _add_exclusions(self) -> None:
        """Pairs that do not collide; MuJoCo leaves out parents and children, but not those of what is fixed."""
        bodies = self.tree.bodies
        pairs = [tuple(pair) for pair in self.entry.ignored_links]
        if self.tree.fixed_base and not self.entry.collide_parent:
            pairs += [(bodies[0].name, body.name) for body in bodies if body.parent == 0]
        # A merged chain of joints: the body before it is the parent of the body at its end.
        if self.entry.collide_parent:
            add(self.document["option"], "flag", filterparent="disable")
        links = {body.name: [link for link in body.links if self._collides(body, link)] for body in bodies}
        for first, second in pairs:
            for one in links[first]:
                for other in links[second]:
                    add(self.document["contact"], "exclude", body1=self.bodies[one], body2=self.bodies[other])

    def _collides(self, body: TreeBody, link: str) -> bool:
        return any(shape.link == link for shape in body.collisions)


def moved_frame(body: TreeBody, coordinate: Array, velocity: Array) -> tuple[Array, Array]:
    """A joint's part of MuJoCo's qpos and qvel: angular velocities are in the moved frame."""
    if body.joint_type in (JointType.FLOATING, JointType.SPHERICAL):
        turn = matrix_from_quaternion(coordinate[-4:]).T
        velocity = np.concatenate([velocity[:-3], turn @ velocity[-3:]])
    return coordinate, velocity


def _range(body: TreeBody) -> tuple[float, float] | None:
    if not body.lower < body.upper or (math.isinf(body.lower) and math.isinf(body.upper)):
        return None  # a joint that cannot move has an equality
    return max(body.lower, -_ENDLESS), min(body.upper, _ENDLESS)


def _inverse(pose: Pose) -> Pose:
    position, rotation = pose.arrays()
    return Pose(-rotation.T @ position, rotation.T)


def _referenced_links(entry: ArticulatedEntry) -> set[str]:
    """Bodies that something else of the robot names."""
    assert entry.tree is not None
    pins = [entry.tree.bodies[index].name for pin in entry.tree.pins for index in (pin.body1, pin.body2)]
    route = [link for tendon in entry.tendons for point in tendon.route for link in (point.link, point.side_link)]
    both = [one.frames for one in entry.actuators] + [one.frames for one in entry.locks]
    pairs = [pair for pair in both if pair is not None]
    on = {sensors.link for sensors in entry.sensor_sets}
    carriers = {body.name for body in entry.tree.bodies if on & set(body.links)}
    return {*pins, *route, *carriers, *(link for pair in pairs for link in (pair.link, pair.reference_link))}

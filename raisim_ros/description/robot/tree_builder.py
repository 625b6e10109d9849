"""From links and joints to a KinematicTree: merges rigid groups of links into bodies."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from raisim_ros.description.errors import InvalidValueError, Place
from raisim_ros.description.robot.checks import check_model, fail
from raisim_ros.description.robot.kinematic_tree import (
    JointType,
    KinematicTree,
    TreeBody,
    TreeCollision,
    TreeFrame,
    TreePin,
    TreeSensor,
    TreeVisual,
)
from raisim_ros.description.robot.model import Geometry, Joint, Link, Pin, Pose, RobotModel, SensorReference
from raisim_ros.description.robot.tree_regularity import find_singular_body
from raisim_ros.description.robot.tree_topology import DEPTH_FIRST, ROOT_JOINT, Topology
from raisim_ros.description.rotation import Array

BASES = ("auto", "fixed", "floating")
WORLD_LINK = "world"

# Added to joints that move nothing with inertia, as a share of the robot's mass.
_LEAST_INERTIA = 1e-7  # revolute and spherical joints [m²]: that of a thousandth of the mass at a centimetre
_LEAST_MASS = 1e-5


def build_tree(
    model: RobotModel,
    joint_order: Sequence[str] | str = (),
    base: str = "auto",
    robot_description: str = "",
    resource_dir: str = "",
    lenient: bool = False,
) -> KinematicTree:
    """Check `model` and make its tree. Raises UrdfError (or InvalidValueError for a wrong option).

    `lenient`, for files of others: the last links of a branch may lack inertia, and a joint may mimic one that does not
    exist. They get the least inertia that is needed, and move on their own; a warning tells.
    """
    if base not in BASES:
        raise InvalidValueError(f"base is '{base}'; expected one of {', '.join(BASES)}")
    check_model(model)
    topology = Topology(model)
    has_floating_joint = topology.enter_floating_joint()
    if base == "auto":
        base = "fixed" if topology.root.name == WORLD_LINK and not has_floating_joint else "floating"
    builder = _Builder(model, topology, joint_order, base == "fixed", lenient)
    return builder.build(robot_description, resource_dir)


class _Builder:
    """Makes one tree; collects where each link went."""

    def __init__(
        self, model: RobotModel, topology: Topology, order: Sequence[str] | str, fixed_base: bool, lenient: bool
    ) -> None:
        self._model = model
        self._lenient = lenient
        self._topology = topology
        self._fixed_base = fixed_base
        self._joints = topology.joints_in_order(order)
        # The order that the file's author had in mind when writing nominal_config.
        self._file_joints = topology.joints_in_order(DEPTH_FIRST if order == DEPTH_FIRST else ())
        self._bodies: list[TreeBody] = []
        self._frames: list[TreeFrame] = []
        self._sensors: list[TreeSensor] = []
        self._where: dict[str, tuple[int, Pose]] = {}  # link → body, place in the body frame

    def build(self, robot_description: str, resource_dir: str) -> KinematicTree:
        self._add_base()
        for joint in self._joints:
            self._add_body(joint)
        self._resolve_mimics()
        tree = KinematicTree(
            name=self._model.name,
            bodies=self._bodies,
            frames=self._frames,
            pins=[self._pin(pin) for pin in self._model.pins],
            sensors=self._sensors,
            fixed_base=self._fixed_base,
            source=self._model.place.file,
            robot_description=robot_description,
            resource_dir=resource_dir,
            ignored_pairs=[
                (self._where[link1][0], self._where[link2][0]) for link1, link2 in self._model.ignored_pairs
            ],
        )
        singular = self._add_least_inertia(tree) if self._lenient else find_singular_body(tree)
        if singular is not None:
            self._refuse(tree, singular)
        return tree

    # ---- bodies ----

    def _add_base(self) -> None:
        root = self._topology.root
        floating = not self._fixed_base
        if floating:
            for joint in self._model.joints:
                if joint.name == ROOT_JOINT and joint.child != root.name:
                    fail(joint.place, f"joint '{ROOT_JOINT}': this name belongs to the joint of the floating base")
            self._frames.append(TreeFrame(ROOT_JOINT, root.name, "", 0, np.zeros(3), np.eye(3), True))
        base = TreeBody(
            name=root.name,
            links=[],
            parent=-1,
            joint_name=ROOT_JOINT if floating else "",
            joint_type=JointType.FLOATING if floating else JointType.FIXED,
            joint_position=np.zeros(3),
            joint_rotation=np.eye(3),
            axis=np.array([1.0, 0.0, 0.0]),
            mass=0.0,
            com=np.zeros(3),
            inertia=np.zeros((3, 3)),
        )
        self._add_links(base)

    def _add_body(self, joint: Joint) -> None:
        parent, parent_link_pose = self._where[joint.parent]
        position, rotation = (parent_link_pose @ joint.pose).arrays()
        joint_type = joint.tree_type
        self._frames.append(
            TreeFrame(joint.name, joint.child, joint.parent, len(self._bodies), np.zeros(3), np.eye(3), True)
        )
        lower, upper = _position_limits(joint)
        body = TreeBody(
            name=joint.child,
            links=[],
            parent=parent,
            joint_name=joint.name,
            joint_type=joint_type,
            joint_position=position,
            joint_rotation=rotation,
            axis=_unit_axis(joint),
            mass=0.0,
            com=np.zeros(3),
            inertia=np.zeros((3, 3)),
            damping=joint.damping,
            friction=joint.friction,
            rotor_inertia=joint.rotor_inertia,
            stiffness=joint.stiffness,
            spring_mount=_spring_mount(joint),
            lower=lower,
            upper=upper,
            velocity_limit=joint.velocity_limit,
            effort_limit=joint.effort_limit,
            mimic=joint.mimic,
            command_interfaces=joint.command_interfaces,
        )
        self._add_links(body)

    def _add_links(self, body: TreeBody) -> None:
        """Put the body's rigid group of links into it and append it."""
        index = len(self._bodies)
        placed = [(self._topology.links[name], pose) for name, pose in self._topology.rigid_group(body.name)]
        for link, pose in placed:
            body.links.append(link.name)
            self._where[link.name] = (index, pose)
            _add_shapes(body, link, pose)
            if link.name != body.name:
                joint = self._topology.joint_above[link.name]
                position, rotation = pose.arrays()
                self._frames.append(
                    TreeFrame(joint.name, link.name, joint.parent, index, position, rotation, False)
                )
            if link.sensor is not None:
                self._sensors.append(_sensor(link, link.sensor, pose, index))
        body.mass, body.com, body.inertia = merged_inertia(placed)
        body.lifted_mass, body.lifted_com = _lifted(placed)
        if body.joint_type is not JointType.FIXED:
            _check_moments(body, placed[0][0].place)
        self._bodies.append(body)

    # ---- what refers to bodies ----

    def _resolve_mimics(self) -> None:
        """Every mimic names a joint that leads: chains are followed to their end."""
        by_name = {joint.name: joint for joint in self._joints}
        followers = {body.joint_name: body for body in self._bodies if body.mimic is not None}
        unknown = []
        for name, body in followers.items():
            joint = by_name[name]
            try:
                body.mimic = self._resolved_mimic(joint, by_name)
            except KeyError as missing:
                if not self._lenient:
                    fail(joint.place, f"joint '{name}' mimics '{missing.args[0]}', which is not a movable joint")
                unknown.append(f"'{name}' ('{missing.args[0]}')")
                body.mimic = None
        if unknown:
            self._warn(f"joints mimic joints that do not exist and move on their own: {', '.join(unknown)}")

    def _resolved_mimic(self, joint: Joint, by_name: dict[str, Joint]) -> tuple[str, float, float]:
        """Leader, multiplier and offset of a joint that mimics. Raises KeyError with a name that does not exist."""
        leader, multiplier, offset = joint, 1.0, 0.0
        for _ in by_name:
            if leader.mimic is None:
                return leader.name, multiplier, offset
            what = f"joint '{leader.name}' mimics '{leader.mimic[0]}'"
            if not np.isfinite(leader.mimic[1:]).all():
                fail(leader.place, f"{what} with {leader.mimic[1:]}; expected finite numbers")
            follower, (name, factor, shift) = leader, leader.mimic
            offset, multiplier = offset + multiplier * shift, multiplier * factor
            leader = by_name[name]
            if "spherical" in (follower.type, leader.type):
                fail(follower.place, f"{what}; a spherical joint can neither mimic nor be mimicked")
        fail(joint.place, f"joint '{joint.name}' mimics joints that mimic each other in a circle")

    def _add_least_inertia(self, tree: KinematicTree) -> int | None:
        """Give joints at the ends of branches, where a file forgot the mass, just enough rotor inertia; index of a body
        whose joint lacks it elsewhere, or None."""
        total = sum(body.mass for body in tree.bodies)
        light = self._light_branches(tree)
        changed: list[str] = []
        while (index := find_singular_body(tree)) is not None and index in light and total > 0.0:
            body = tree.bodies[index]
            share = _LEAST_MASS if body.joint_type.slides else _LEAST_INERTIA
            light.discard(index)
            if index == 0:
                body.inertia = body.inertia + share * total * np.eye(3)
                self._warn(f"base '{body.name}' got {share * total:.3g} kg·m² about each axis: it had none about one")
            else:
                body.rotor_inertia += share * total
                changed.append(f"'{body.joint_name}' ({body.rotor_inertia:.3g})")
        if changed:
            self._warn(f"joints that move nothing with inertia got a small rotor inertia: {', '.join(changed)}")
        return index

    def _light_branches(self, tree: KinematicTree) -> set[int]:
        """Bodies that carry no mass: the last of their branch, or followed by massless ones only; a lone base."""
        carried = [0.0] * len(tree.bodies)
        for index in range(len(tree.bodies) - 1, 0, -1):
            carried[tree.bodies[index].parent] += tree.bodies[index].mass + carried[index]
        light = {index for index in range(1, len(tree.bodies)) if carried[index] == 0.0}
        return light | {0} if carried[0] == 0.0 and tree.bodies[0].mass > 0.0 else light

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self._model.place.file}: {text}", RuntimeWarning, stacklevel=6)

    def _pin(self, pin: Pin) -> TreePin:
        places = []
        for link in (pin.link1, pin.link2):
            if link not in self._where:
                fail(pin.place, f"pin: link '{link}' does not exist")
            places.append(self._where[link])
        (body1, pose1), (body2, _) = places
        if body1 == body2:
            fail(pin.place, f"pin: links '{pin.link1}' and '{pin.link2}' are parts of the same body")
        anchor = np.asarray(pin.anchor, dtype=np.float64)
        if anchor.shape != (3,) or not np.isfinite(anchor).all():
            fail(pin.place, f"pin: anchor is {pin.anchor!r}; expected 3 finite numbers")
        position, rotation = pose1.arrays()
        return TreePin(body1, body2, position + rotation @ anchor, self._nominal_config(pin))

    def _nominal_config(self, pin: Pin) -> Array:
        """The pin's q, from the order of the file to the order of the tree."""
        types = [joint.tree_type for joint in self._file_joints]
        base_type = self._bodies[0].joint_type
        if pin.nominal_config is None:
            return np.concatenate([body.joint_type.zero_coordinate for body in self._bodies])
        config = np.asarray(pin.nominal_config, dtype=np.float64)
        expected = sum(kind.coordinate_dim for kind in [base_type, *types])
        if config.shape != (expected,) or not np.isfinite(config).all():
            fail(pin.place, f"nominal_config has {config.size} numbers; expected {expected} finite ones")
        ends = np.cumsum([kind.coordinate_dim for kind in [base_type, *types]])
        parts = np.split(config, ends[:-1])
        for kind, part in zip([base_type, *types], parts, strict=True):
            _normalise_quaternion(kind, part, pin.place)
        by_joint = {joint.name: part for joint, part in zip(self._file_joints, parts[1:], strict=True)}
        return np.concatenate([parts[0], *(by_joint[joint.name] for joint in self._joints)])

    def _refuse(self, tree: KinematicTree, index: int) -> NoReturn:
        body = tree.bodies[index]
        if index == 0:
            place, what = self._topology.root.place, f"the floating base '{body.name}'"
            way_out = "or fix it to the world: base 'fixed', or a root link named 'world'"
        else:
            place, what = self._topology.joint_above[body.name].place, f"joint '{body.joint_name}'"
            way_out = "or the joint a rotor_inertia"
        fail(
            place,
            f"{what} moves without any inertia: link '{body.name}' has mass {body.mass:g} and nothing on it adds "
            f"what is missing; give it a mass and an inertia, {way_out}",
        )


def _unit_axis(joint: Joint) -> Array:
    axis = np.array(joint.axis, dtype=np.float64)
    if joint.type == "spherical":
        return np.array([1.0, 0.0, 0.0])
    length = float(np.linalg.norm(axis))
    return axis if abs(length - 1.0) < 1e-12 else axis / length  # a unit axis stays bit for bit


def _position_limits(joint: Joint) -> tuple[float, float]:
    if joint.type == "continuous":
        return -np.inf, np.inf
    if joint.type == "spherical":
        return 0.0, min(joint.lower, joint.upper) if joint.lower > 0.0 else joint.upper
    return joint.lower, joint.upper


def _spring_mount(joint: Joint) -> float | Array:
    if joint.type != "spherical":
        return 0.0 if joint.spring_mount is None else float(np.asarray(joint.spring_mount))
    if joint.spring_mount is None:
        return JointType.SPHERICAL.zero_coordinate
    mount = np.array(joint.spring_mount, dtype=np.float64)
    _normalise_quaternion(JointType.SPHERICAL, mount, joint.place)
    return mount


def _normalise_quaternion(kind: JointType, coordinate: Array, place: Place) -> None:
    """Give the quaternion in a joint's coordinate unit length; one that has it stays bit for bit."""
    if kind not in (JointType.FLOATING, JointType.SPHERICAL):
        return
    quaternion = coordinate[-4:]
    length = float(np.linalg.norm(quaternion))
    if not length > 0.0:
        fail(place, "a quaternion is zero")
    if abs(length - 1.0) > 1e-12:
        quaternion /= length


def _add_shapes(body: TreeBody, link: Link, link_pose: Pose) -> None:
    for k, collision in enumerate(link.collisions):
        shape = _shape_fields(link, k, collision.geometry, link_pose @ collision.pose)
        contact = collision.material, collision.convex, collision.collision_group, collision.collision_mask
        body.collisions.append(TreeCollision(*shape, *contact))
    for k, visual in enumerate(link.visuals):
        shape = _shape_fields(link, k, visual.geometry, link_pose @ visual.pose)
        body.visuals.append(TreeVisual(*shape, _clipped(visual.color)))


def _shape_fields(
    link: Link, number: int, geometry: Geometry, pose: Pose
) -> tuple[str, str, str, tuple[float, ...], str | None, Array, Array, Array]:
    """The fields of a TreeShape, in their order."""
    dim, scale = tuple(map(float, geometry.dim)), np.array(geometry.scale, dtype=np.float64)
    return f"{link.name}/{number}", link.name, geometry.shape, dim, geometry.mesh_file, scale, *pose.arrays()


def _check_moments(body: TreeBody, place: Place) -> None:
    """A single link may be wrong where a whole body is sound, as rounded small parts of real robots are."""
    moments = np.linalg.eigvalsh(body.inertia)
    rounding = 1e-9 * float(np.abs(body.inertia).max()) + 1e-15 * body.mass
    if moments[0] < -rounding:
        found = ", ".join(f"{moment:.6g}" for moment in moments)
        parts = f" (merged: {', '.join(body.links)})" if len(body.links) > 1 else ""
        fail(place, f"link '{body.name}'{parts}: principal moments of inertia {found}; expected none below zero")


def _sensor(link: Link, sensor: SensorReference, pose: Pose, body: int) -> TreeSensor:
    mass, com, inertia = merged_inertia([(link, pose)])
    return TreeSensor(link.name, body, sensor.file, sensor.serial_number, sensor.model, mass, com, inertia)


def _clipped(color: Sequence[float] | None) -> tuple[float, float, float, float] | None:
    """Colours out of range are only drawn, so they are no reason to refuse a robot."""
    if color is None:
        return None
    red, green, blue, alpha = (min(max(float(part), 0.0), 1.0) for part in color)
    return red, green, blue, alpha


def _lifted(placed: Sequence[tuple[Link, Pose]]) -> tuple[float, Array]:
    """Mass of which something else carries the weight, and its centre."""
    total, moment = 0.0, np.zeros(3)
    for link, pose in placed:
        position, rotation = pose.arrays()
        mass = link.gravity_compensation * link.mass
        total += mass
        moment += mass * (position + rotation @ np.asarray(link.com, dtype=np.float64))
    return total, moment / total if total else np.zeros(3)


def merged_inertia(placed: Sequence[tuple[Link, Pose]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of links placed in one frame."""
    parts = []
    for link, pose in placed:
        position, rotation = pose.arrays()
        inertia = rotation @ np.asarray(link.inertia, dtype=np.float64) @ rotation.T
        if link.mass or inertia.any():
            parts.append((float(link.mass), position + rotation @ np.asarray(link.com, dtype=np.float64), inertia))
    if not parts:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    if len(parts) == 1:
        return parts[0]  # bit for bit what the file says
    mass = sum(part[0] for part in parts)
    com = sum((m * c for m, c, _ in parts), np.zeros(3)) / mass if mass else np.zeros(3)
    total = np.zeros((3, 3))
    for m, c, inertia in parts:
        offset = c - com
        total += inertia + m * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return mass, com, total

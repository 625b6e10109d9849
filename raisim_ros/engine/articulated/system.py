"""Handle of an articulated system: a robot, or any tree of bodies and joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from raisim_ros.description.errors import InvalidValueError, near_names
from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeActuator
from raisim_ros.description.urdf.export import urdf_text
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.articulated.core import ArticulatedCore, vector
from raisim_ros.engine.articulated.dynamics import Dynamics
from raisim_ros.engine.articulated.frames import Frames
from raisim_ros.engine.articulated.joints import Joints
from raisim_ros.engine.errors import Named, check
from raisim_ros.engine.objects.shape_def import fill_shape
from raisim_ros.engine.types import ArticulatedSystemOption, LinkCollisionBody

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


System = TypeVar("System", bound="ArticulatedSystem")
JointNumbers = Mapping[str, float | VectorLike] | VectorLike | float


@dataclass
class _LinkEdits:
    """What users may change in place between update_mass_info() calls; one row per body."""

    joint_position: Vector
    joint_rotation: Vector
    axis: Vector
    mass: Vector
    com: Vector
    inertia: Vector  # n x 3 x 3


class _JointValue:
    """A joint's part of a vector of its robot, read and set as an attribute."""

    def __init__(self, field: int) -> None:
        self._field = field

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, joint: JointReference, owner: type) -> float | Vector:
        whole, part = joint._part(self._field)
        values = joint.system._read(self._field, whole)[part]
        return float(values[0]) if len(values) == 1 else values

    def __set__(self, joint: JointReference, value: float | VectorLike) -> None:
        whole, part = joint._part(self._field)
        given = arguments.vector(
            f"{self._name} of joint '{joint.name}'", np.atleast_1d(value), part.stop - part.start
        )
        with joint.system._world.locked():
            values = joint.system._read(self._field, whole)
            values[part] = given
            joint.system._write(self._field, values)


@dataclass(unsafe_hash=True, slots=True)  # not frozen: positions and the like are set through it
class JointReference:
    """A movable joint by name."""

    name: str
    idx: int
    type: JointType
    system: ArticulatedSystem

    position = _JointValue(lib.RS_FIELD_COORDINATE)
    """Coordinate [rad, m]; a spherical joint's quaternion w, x, y, z."""
    velocity = _JointValue(lib.RS_FIELD_VELOCITY)
    """Velocity [rad/s, m/s]; a spherical joint's three in the frame fixed to the parent."""
    target = _JointValue(lib.RS_FIELD_P_TARGET)
    """Target of the PD controller [rad, m]; a spherical joint's quaternion w, x, y, z."""
    force = _JointValue(lib.RS_FIELD_FEED_FORWARD)
    """Feed-forward force [N m, N]."""

    def _part(self, field: int) -> tuple[int, slice]:
        """Size of the whole vector and the joint's part of it."""
        system = self.system
        if field in (lib.RS_FIELD_COORDINATE, lib.RS_FIELD_P_TARGET):
            first, size, whole = system._q_first[self.idx], self.type.coordinate_dim, system._q_count
        else:
            first, size, whole = system._u_first[self.idx], self.type.velocity_dim, system._u_count
        return whole, slice(first, first + size)

    def get_position(self) -> Vector:
        """Place of the joint, which is the origin of its body [m]."""
        return self.system.get_body_position(self.idx)

    def get_generalized_coordinate(self) -> Vector:
        """The joint's part of q."""
        first = self.system._q_first[self.idx]
        return self.system.get_generalized_coordinate()[first : first + self.type.coordinate_dim]

    def get_generalized_velocity(self) -> Vector:
        """The joint's part of u."""
        first = self.system._u_first[self.idx]
        return self.system.get_generalized_velocity()[first : first + self.type.velocity_dim]


@dataclass(frozen=True)
class LinkReference:
    """A body by the name of one of its links."""

    name: str
    idx: int
    system: ArticulatedSystem

    def get_pose(self) -> tuple[Vector, Vector]:
        """Position [m] and rotation matrix (body to world)."""
        return self.system.get_body_pose(self.idx)

    def get_mass(self) -> float:
        """Mass of the body with all links merged into it [kg]."""
        return self.system.get_mass(self.idx)

    def get_com_b(self) -> Vector:
        """Centre of mass in the body frame [m]."""
        return self.system._com_of(self.idx)


class ArticulatedSystem(Joints, Dynamics, Frames):
    """A tree of bodies connected by joints. Made by World.add_articulated_system()."""

    _KEPT = (*ArticulatedCore._KEPT, "_collision_bodies")
    _collision_bodies: list[LinkCollisionBody]
    _build_options: ArticulatedSystemOption
    _edits: _LinkEdits | None  # what users edit,
    _edits_known: _LinkEdits | None  # and as it was before

    def __init__(
        self,
        world: Home,
        engine_id: int,
        tree: KinematicTree,
        collision_bodies: Sequence[LinkCollisionBody],
        options: ArticulatedSystemOption,
    ) -> None:
        super().__init__(world, engine_id, tree)
        self._collision_bodies = list(collision_bodies)
        self._build_options = options
        self._edits = self._edits_known = None

    def _copy(self: System, engine_id: int) -> System:
        other = super()._copy(engine_id)
        other._tree = deepcopy(self._tree)  # frames may be moved
        other._edits, other._edits_known = deepcopy(self._edits), deepcopy(self._edits_known)
        return other

    # ---- joints and links ----

    def get_joint_type(self, joint_idx: BodyLike) -> JointType:
        """Type of a joint."""
        return self._tree.bodies[self._joint(joint_idx)].joint_type

    @property
    def joints(self) -> Mapping[str, JointReference]:
        """The movable joints by name: ``robot.joints["knee"].position``; a floating base is not among them."""
        bodies = enumerate(self._tree.bodies)
        found = ((index, body) for index, body in bodies if body.parent >= 0)
        return Named(
            "joint",
            {body.joint_name: JointReference(body.joint_name, index, body.joint_type, self) for index, body in found},
        )

    @property
    def actuators(self) -> Mapping[str, TreeActuator]:
        """The motors that the robot's file gives it, by name, in the order of set_actuation()."""
        return Named("actuator", {motor.name or motor.joint: motor for motor in self._tree.actuators})

    def set_joint_targets(self, targets: JointNumbers, velocities: JointNumbers | None = None) -> None:
        """Set PD targets of joints alone [rad, m], and of their velocities [rad/s, m/s] if given.

        By their names, one number for all, or all of them in the order of q (u) without a floating base.
        """
        with self._world.locked():
            q = self._with_joints(lib.RS_FIELD_P_TARGET, "target", targets)
            if velocities is None:
                self._write(lib.RS_FIELD_P_TARGET, q)
            else:
                u = self._with_joints(lib.RS_FIELD_D_TARGET, "velocity target", velocities)
                self._write_two(lib.RS_FIELD_D_TARGET, u, lib.RS_FIELD_P_TARGET, q)
        self._note_targets()

    def set_joint_gains(self, p_gain: JointNumbers, d_gain: JointNumbers) -> None:
        """Set PD gains of joints alone: by their names (others keep theirs), one number for all, or one per degree of
        freedom without a floating base."""
        with self._world.locked():
            p = self._with_joints(lib.RS_FIELD_P_GAIN, "p gain", p_gain)
            self.set_pd_gains(p, self._with_joints(lib.RS_FIELD_D_GAIN, "d gain", d_gain))

    def _with_joints(self, field: int, what: str, given: JointNumbers) -> Vector:
        """A vector as the engine has it, in which numbers of joints are new."""
        like_q = field == lib.RS_FIELD_P_TARGET
        values = self._read(field, self._q_count if like_q else self._u_count)
        floating = JointType.FLOATING.coordinate_dim if like_q else JointType.FLOATING.velocity_dim
        own = values if self._tree.fixed_base else values[floating:]
        if isinstance(given, Mapping):
            joints = self.joints
            for name, value in given.items():
                part = joints[name]._part(field)[1]
                values[part] = arguments.vector(f"{what} of '{name}'", np.atleast_1d(value), part.stop - part.start)
        elif isinstance(given, (Sequence, np.ndarray)):
            own[:] = vector(f"joint {what}s", given, len(own))
        else:
            own[:] = arguments.number(what, given)
        return values

    def get_joint(self, name: str) -> JointReference:
        """A movable joint by name."""
        for index, body in enumerate(self._tree.bodies):
            if body.joint_name == arguments.text("name", name):
                return JointReference(name, index, body.joint_type, self)
        raise InvalidValueError(near_names("movable joint", name, self.get_movable_joint_names()))

    def get_link(self, name: str) -> LinkReference:
        """A body by the name of one of its links."""
        index = self.get_body_idx(name)
        if index < 0:
            known = (link for body in self._tree.bodies for link in body.links)
            raise InvalidValueError(near_names("link", name, known))
        return LinkReference(name, index, self)

    # ---- constants of bodies: edit in place, then update_mass_info() ----

    def _editable(self) -> _LinkEdits:
        """The arrays that users edit, always the same ones: what they did not edit is what the engine has now."""
        present = self._link_values()
        if self._edits is None or self._edits_known is None:
            self._edits, self._edits_known = present, deepcopy(present)
        for one in fields(_LinkEdits):
            edited, known, now = (getattr(table, one.name) for table in (self._edits, self._edits_known, present))
            edited[...] = np.where(edited == known, now, edited)
            known[...] = now
        return self._edits

    def _link_values(self) -> _LinkEdits:
        with self._world.locked():
            links = [self._link(index) for index in range(len(self._tree.bodies))]
            return _LinkEdits(
                np.array([list(link.joint_position) for link in links]),
                np.array([list(link.joint_rotation) for link in links]).reshape(-1, 3, 3),
                np.array([list(link.axis) for link in links]),
                np.array([link.mass for link in links]),
                np.array([list(link.com) for link in links]),
                np.array([arguments.matrix_of_symmetric6(list(link.inertia)) for link in links]),
            )

    def get_joint_pos_p(self) -> Vector:
        """Joint positions in the parents' frames, one per row [m]; editable, see update_mass_info()."""
        return self._editable().joint_position

    def get_joint_orientation_p(self) -> Vector:
        """Joint rotation matrices in the parents' frames; editable, see update_mass_info()."""
        return self._editable().joint_rotation

    def get_joint_axis_p(self) -> Vector:
        """Joint axes in the joint frames, one per row; editable, see update_mass_info()."""
        return self._editable().axis

    def get_joint_axis(self, joint_idx: BodyLike) -> Vector:
        """Axis of a joint in the world frame."""
        index = self._joint(joint_idx)
        if not self._tree.bodies[index].joint_type.has_axis:
            raise InvalidValueError(f"joint {index} is {self._tree.bodies[index].joint_type.value}: it has no axis")
        # The joint's own motion leaves its axis where it is.
        axis: Vector = self.get_body_orientation(index) @ np.array(list(self._link(index).axis))
        return axis

    def get_inertia(self) -> Vector:
        """Inertias about the centres of mass, body axes, n x 3 x 3; editable, see update_mass_info()."""
        return self._editable().inertia

    def get_body_com_b(self) -> Vector:
        """Centres of mass in the body frames, one per row [m]; editable, see update_mass_info()."""
        return self._editable().com

    def get_body_com_w(self) -> Vector:
        """Centres of mass in the world frame, one per row [m]."""
        with self._world.locked():
            position, rotation, _, _ = self._links()
            coms = np.array([self._com_of(index) for index in range(len(position))])
        centres: Vector = position + np.einsum("nij,nj->ni", rotation, coms)
        return centres

    def get_mass(self, local_idx: BodyLike) -> float:
        """Mass of a body [kg]."""
        return float(self._link(self._body(local_idx)).mass)

    def get_masses(self) -> Vector:
        """Masses of the bodies [kg]; editable, see update_mass_info()."""
        return self._editable().mass

    def set_mass(self, local_idx: BodyLike, mass: float) -> None:
        """Set the mass of a body [kg], at once; its inertia stays."""
        index = self._body(local_idx)
        with self._world.locked():
            changed = self._link(index)
            changed.mass = arguments.number("mass", mass)
            check(lib.rs_articulation_set_link(self._c, self._engine_id, index, changed))

    def update_mass_info(self) -> None:
        """Put what was edited in the arrays of masses, inertias, centres of mass and joint placements into effect.

        All or none: after an error the world is as it was, and the edits are undone. The arrays stay editable.
        """
        if self._edits is None:
            return
        with self._world.locked():
            edits = self._editable()
            before = [self._link(index) for index in range(len(self._tree.bodies))]
            for index in range(len(before)):
                changed = self._edited(edits, index)
                status = lib.rs_articulation_set_link(self._c, self._engine_id, index, changed)
                if status == lib.RS_OK:
                    continue
                try:
                    check(status)
                finally:
                    for k in range(index):
                        lib.rs_articulation_set_link(self._c, self._engine_id, k, before[k])
                    self._forget_edits()
            self._forget_edits()

    def _forget_edits(self) -> None:
        """The arrays hold what the engine has."""
        present = self._link_values()
        for one in fields(_LinkEdits):
            getattr(self._edits, one.name)[...] = getattr(self._edits_known, one.name)[...] = getattr(present, one.name)

    def _edited(self, edits: _LinkEdits, index: int) -> Any:
        changed = self._link(index)
        changed.joint_position = list(edits.joint_position[index])
        changed.joint_rotation = list(edits.joint_rotation[index].reshape(-1))
        changed.axis = list(edits.axis[index])
        changed.mass = edits.mass[index]
        changed.com = list(edits.com[index])
        changed.inertia = list(arguments.symmetric6("inertia", edits.inertia[index]))
        return changed

    def update_kinematics(self) -> None:
        """Do nothing that needs doing: positions and velocities follow every change of the state."""
        self._alive()

    # ---- collision ----

    def set_interface(self, settings: InterfaceSettings) -> None:
        """Say how the robot's topics shall be; a drive must name joints that turn or slide."""
        arguments.instance("settings", settings, InterfaceSettings)
        single = {
            body.joint_name
            for body in self.get_kinematic_tree().bodies
            if body.joint_type.has_axis
        }
        for joint in settings.drive.joints if settings.drive is not None else ():
            if joint not in single:
                known = ", ".join(sorted(single)) or "none"
                raise InvalidValueError(f"drive: no joint '{joint}' can be a wheel; there are: {known}")
        super().set_interface(settings)

    def _check_kept(self, kept: dict[str, Any]) -> None:
        both = self._collision_bodies, kept["_collision_bodies"]
        own, other = ([(shape.name, shape.body_index) for shape in shapes] for shapes in both)
        if own != other:
            raise InvalidValueError(f"the snapshot has other collision bodies of {self!r}")

    def get_collision_bodies(self) -> list[LinkCollisionBody]:
        """Collision shapes of all bodies, placed in their body frames, with their present materials."""
        return [
            replace(shape, material=material)
            for shape, material in zip(self._collision_bodies, self._materials(), strict=True)
        ]

    def get_collision_body(self, name: str) -> LinkCollisionBody:
        """The collision shape named "LINK/k"."""
        return self.get_collision_bodies()[self._shape_number(name)]

    def _shape_number(self, name: str) -> int:
        for number, shape in enumerate(self._collision_bodies):
            if shape.name == arguments.text("name", name):
                return number
        raise InvalidValueError(f"no collision body named '{name}' in '{self._tree.name}'")

    def ignore_collision_between(self, body_idx1: BodyLike, body_idx2: BodyLike) -> None:
        """Let two bodies of the robot pass through each other."""
        self.set_allowed_number_of_internal_contacts_between_two_bodies(body_idx1, body_idx2, 0)

    def get_ignored_collision_pairs(self) -> list[tuple[str, str]]:
        """Names of every two bodies with collision shapes that pass through each other, neighbours included."""
        bodies = self._tree.bodies
        shaped = [index for index, body in enumerate(bodies) if body.collisions]
        pairs = [(i, j) for k, i in enumerate(shaped) for j in shaped[k + 1 :]]
        return [(bodies[i].name, bodies[j].name) for i, j in pairs if not self.may_collide(i, j)]

    def may_collide(self, body_idx1: BodyLike, body_idx2: BodyLike) -> bool:
        """Whether two bodies of the robot can touch each other."""
        return self.get_allowed_number_of_internal_contacts_between_two_bodies(body_idx1, body_idx2) > 0

    def set_allowed_number_of_internal_contacts_between_two_bodies(
        self, body_idx1: BodyLike, body_idx2: BodyLike, count: int
    ) -> None:
        """Set how many contacts two bodies of the robot may have with each other, 0 to 8."""
        pair = self._body(body_idx1), self._body(body_idx2)
        number = arguments.count("count", count)
        check(lib.rs_articulation_set_self_contacts(self._c, self._engine_id, *pair, number))

    def get_allowed_number_of_internal_contacts_between_two_bodies(
        self, body_idx1: BodyLike, body_idx2: BodyLike
    ) -> int:
        """How many contacts two bodies of the robot may have with each other."""
        out = ffi.new("int32_t *")
        pair = self._body(body_idx1), self._body(body_idx2)
        check(lib.rs_articulation_get_self_contacts(self._c, self._engine_id, *pair, out))
        return int(out[0])

    def set_collision_body_shape_parameters(self, name: str, parameters: VectorLike) -> None:
        """Set the dimensions of the primitive named "LINK/k": as in CompoundChild.dim [m]."""
        shape = self.get_collision_body(name)
        self._replace_collision_body(replace(shape, dim=arguments.vector("parameters", parameters, len(shape.dim))))

    def set_collision_body_position_offset(self, name: str, position: VectorLike) -> None:
        """Move the collision shape named "LINK/k" within its body frame [m]."""
        shape = self.get_collision_body(name)
        self._replace_collision_body(replace(shape, position=arguments.vector("position", position, 3)))

    def set_collision_body_orientation_offset(self, name: str, orientation: VectorLike | Sequence[VectorLike]) -> None:
        """Turn the collision shape named "LINK/k" within its body frame (quaternion w, x, y, z or matrix)."""
        shape = self.get_collision_body(name)
        self._replace_collision_body(replace(shape, quaternion=arguments.orientation(orientation)))

    def _replace_collision_body(self, new: LinkCollisionBody) -> None:
        number = self._shape_number(new.name)
        with self._world.locked():
            definition = ffi.new("rs_shape_def *")
            fill_shape(definition, new, self._world._material(new.material))
            check(lib.rs_object_set_shape(self._c, self._engine_id, number, definition))
            shapes = list(self._collision_bodies)  # a snapshot may hold the old list
            shapes[number] = new
            self._collision_bodies = shapes

    def get_options(self) -> ArticulatedSystemOption:
        """How the robot was built."""
        return self._build_options

    # ---- files ----

    def get_kinematic_tree(self) -> KinematicTree:
        """What the robot was built from: bodies, joints, frames, shapes to draw. Not to be changed."""
        return self._tree

    def get_resource_dir(self) -> str:
        """Folder of the meshes."""
        return self._tree.resource_dir

    def get_robot_description(self) -> str:
        """URDF text after templating; of a robot that came from no URDF, what describes it there."""
        return self._tree.robot_description or urdf_text(self._tree)

    def get_robot_description_full_path(self) -> str:
        """Path of the file; empty for a robot made from text or in code."""
        return "" if self._tree.source == "text" else self._tree.source

    def get_robot_description_file_name(self) -> str:
        """Name of the file."""
        return Path(self.get_robot_description_full_path()).name

    def get_robot_description_top_dir_name(self) -> str:
        """Name of the folder that holds the file."""
        return Path(self.get_robot_description_full_path()).parent.name

    # As RaiSim spells them.
    get_robot_descriptionf_file_name = get_robot_description_file_name
    get_robot_descriptionf_top_dir_name = get_robot_description_top_dir_name

    def export_robot_description_to_urdf(self, path: str | Path) -> None:
        """Write the robot as a URDF file; sensors that its own files do not have go to files beside it."""
        from raisim_ros.engine.entries.describe_sensors import export_urdf  # which is built on this class

        with self._world.locked():
            export_urdf(self, arguments.path("path", path))

    def export_robot_description_to_mjcf(self, path: str | Path) -> None:
        """Write the robot, in its present pose, as a file for MuJoCo; one warning lists what that cannot hold."""
        from raisim_ros.engine.entries.export_mjcf import export_mjcf  # which is built on this class

        with self._world.locked():
            export_mjcf(arguments.path("path", path), self._world._describe([self]))

    # ---- printing ----

    def print_out_body_names_in_order(self) -> None:
        """Print the names of the bodies."""
        print("\n".join(self.get_body_names()))

    def print_out_movable_joint_names_in_order(self) -> None:
        """Print the names of the movable joints."""
        print("\n".join(self.get_movable_joint_names()))

    def print_out_frame_names_in_order(self) -> None:
        """Print the names of the frames."""
        print("\n".join(frame.name for frame in self.get_frames()))

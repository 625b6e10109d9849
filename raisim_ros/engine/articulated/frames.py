"""The part of ArticulatedSystem that places bodies and frames, and their Jacobians."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.kinematic_tree import TreeCollision, TreeFrame, TreeVisual
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.core import ArticulatedCore, vector
from raisim_ros.engine.errors import check
from raisim_ros.engine.types import SparseJacobian

FrameLike = int | str | TreeFrame


class Frames(ArticulatedCore):
    """Bodies are numbered like joints; frames are the places of all joints, fixed ones too. World frame throughout."""

    # ---- bodies ----

    def _links(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Origins, rotations, linear and angular velocities of all bodies."""
        count = len(self._tree.bodies)
        position, rotation = np.empty((count, 3)), np.empty((count, 3, 3))
        linear, angular = np.empty((count, 3)), np.empty((count, 3))
        check(
            lib.rs_articulation_read_links(
                self._c, self._engine_id, c_array(position), c_array(rotation), c_array(linear), c_array(angular)
            )
        )
        return position, rotation, linear, angular

    def get_body_idx(self, name: str) -> int:
        """Index of the body that a link belongs to, merged links too; -1 when there is no such link."""
        wanted = arguments.text("name", name)
        for index, body in enumerate(self._tree.bodies):
            if wanted in body.links:
                return index
        return -1

    def get_body_names(self) -> list[str]:
        """Names of the bodies in order."""
        return [body.name for body in self._tree.bodies]

    def get_parent_vector(self) -> list[int]:
        """Index of each body's parent; -1 for the base."""
        return [body.parent for body in self._tree.bodies]

    def get_body_pose(self, body_idx: BodyLike) -> tuple[Vector, Vector]:
        """Position [m] and rotation matrix (body to world) of a body's frame, in the order of set_pose()."""
        index = self._body(body_idx)
        position, rotation, _, _ = self._links()
        return position[index], rotation[index]

    def get_body_position(self, body_idx: BodyLike) -> Vector:
        """Origin of a body's frame [m]."""
        return self.get_body_pose(body_idx)[0]

    def get_body_orientation(self, body_idx: BodyLike) -> Vector:
        """Rotation matrix of a body (body to world)."""
        return self.get_body_pose(body_idx)[1]

    def get_position(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Origin of a body's frame, or a point given in that frame [m]."""
        position, rotation = self.get_body_pose(local_idx)
        if body_point is None:
            return position
        return position + rotation @ arguments.vector("body_point", body_point, 3)

    def get_orientation(self, local_idx: BodyLike = 0) -> Vector:
        """Rotation matrix of a body (body to world)."""
        return self.get_body_orientation(local_idx)

    def get_quaternion(self, local_idx: BodyLike = 0) -> Vector:
        """Orientation of a body as w, x, y, z; w is not negative, except that of a base as it was set."""
        if self._body(local_idx) == 0:
            return self.get_base_quaternion()
        quaternion = quaternion_from_matrix(self.get_body_orientation(local_idx))
        return -quaternion if quaternion[0] < 0.0 else quaternion

    def get_position_in_body_coordinate(self, body_idx: BodyLike, point: VectorLike) -> Vector:
        """A world point in the frame of a body [m]."""
        position, rotation = self.get_body_pose(body_idx)
        return rotation.T @ (arguments.vector("point", point, 3) - position)

    def get_velocity(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Velocity of the origin of a body's frame, or of a point given in that frame [m/s]."""
        index = self._body(local_idx)
        _, rotation, linear, angular = self._links()
        velocity: Vector = linear[index]
        if body_point is not None:
            arm = rotation[index] @ arguments.vector("body_point", body_point, 3)
            velocity = velocity + np.cross(angular[index], arm)
        return velocity

    def get_linear_velocity(self, local_idx: BodyLike = 0) -> Vector:
        """Velocity of the origin of a body's frame [m/s]. (Of a single body it is that of the centre of mass.)"""
        return self.get_velocity(local_idx)

    def get_angular_velocity(self, local_idx: BodyLike = 0) -> Vector:
        """Angular velocity of a body [rad/s]."""
        velocity: Vector = self._links()[3][self._body(local_idx)]
        return velocity

    # ---- frames ----

    def get_frames(self) -> list[TreeFrame]:
        """All frames; moving one in its body changes what the frame functions say, never the dynamics."""
        return self._tree.frames

    def get_frame_idx_by_name(self, name: str) -> int:
        """Index of the frame of a joint; -1 when there is none."""
        wanted = arguments.text("name", name)
        return next((k for k, frame in enumerate(self._tree.frames) if frame.name == wanted), -1)

    def get_frame_idx_by_link_name(self, name: str) -> int:
        """Index of the frame whose joint carries the link; -1 when there is none."""
        wanted = arguments.text("name", name)
        return next((k for k, frame in enumerate(self._tree.frames) if frame.link == wanted), -1)

    def get_frame_by_idx(self, idx: int) -> TreeFrame:
        """The frame with that index."""
        return self._tree.frames[arguments.index("frame index", idx, len(self._tree.frames))]

    def get_frame_by_name(self, name: str) -> TreeFrame:
        """The frame of a joint."""
        return self._named_frame(name, self.get_frame_idx_by_name(name), "joint")

    def get_frame_by_link_name(self, name: str) -> TreeFrame:
        """The frame whose joint carries the link."""
        return self._named_frame(name, self.get_frame_idx_by_link_name(name), "link")

    def _named_frame(self, name: str, index: int, kind: str) -> TreeFrame:
        if index < 0:
            raise InvalidValueError(f"no frame of a {kind} named '{name}' in '{self._tree.name}'")
        return self._tree.frames[index]

    def _frame(self, frame: FrameLike) -> TreeFrame:
        if isinstance(frame, TreeFrame):
            return frame
        return self.get_frame_by_name(frame) if isinstance(frame, str) else self.get_frame_by_idx(frame)

    def get_frame_position(self, frame: FrameLike) -> Vector:
        """Origin of a frame [m]."""
        at = self._frame(frame)
        return self.get_position(at.body, at.position)

    def get_position_in_frame(self, frame: FrameLike, local_position: VectorLike) -> Vector:
        """World position of a point given in a frame [m]."""
        at = self._frame(frame)
        local = np.asarray(at.rotation) @ arguments.vector("local_position", local_position, 3)
        return self.get_position(at.body, at.position + local)

    def get_frame_orientation(self, frame: FrameLike) -> Vector:
        """Rotation matrix of a frame (frame to world)."""
        at = self._frame(frame)
        orientation: Vector = self.get_body_orientation(at.body) @ at.rotation
        return orientation

    def get_frame_velocity(self, frame: FrameLike) -> Vector:
        """Velocity of a frame's origin [m/s]."""
        at = self._frame(frame)
        return self.get_velocity(at.body, at.position)

    def get_frame_angular_velocity(self, frame: FrameLike) -> Vector:
        """Angular velocity of a frame [rad/s]."""
        return self.get_angular_velocity(self._frame(frame).body)

    def get_frame_acceleration(self, frame: FrameLike) -> Vector:
        """Acceleration of a frame's origin at the present velocity and the last step's du/dt [m/s^2]."""
        at = self._frame(frame)
        with self._world.locked():
            point = self.get_frame_position(at)
            u, udot = self.get_generalized_velocity(), self.get_generalized_acceleration()
            jacobian = self.get_sparse_jacobian(at.body, point)
            rate = self.get_time_derivative_of_sparse_jacobian(at.body, point)
        acceleration: Vector = jacobian.v @ udot[jacobian.idx] + rate.v @ u[rate.idx]
        return acceleration

    # ---- shapes to draw ----

    def get_vis_ob(self) -> list[TreeVisual]:
        """Visual shapes of all bodies in order, placed in their body frames."""
        return [visual for body in self._tree.bodies for visual in body.visuals]

    def get_vis_col_ob(self) -> list[TreeCollision]:
        """Collision shapes of all bodies in order, as the file describes them."""
        return [collision for body in self._tree.bodies for collision in body.collisions]

    def get_vis_ob_pose(self, visual_idx: int) -> tuple[Vector, Vector]:
        """Rotation matrix (shape to world) and position of a visual shape."""
        owners = [index for index, body in enumerate(self._tree.bodies) for _ in body.visuals]
        return self._shape_pose(self.get_vis_ob(), owners, visual_idx)

    def get_vis_col_ob_pose(self, collision_idx: int) -> tuple[Vector, Vector]:
        """Rotation matrix (shape to world) and position of a collision shape."""
        owners = [index for index, body in enumerate(self._tree.bodies) for _ in body.collisions]
        return self._shape_pose(self.get_vis_col_ob(), owners, collision_idx)

    def _shape_pose(
        self, shapes: Sequence[TreeVisual | TreeCollision], owners: Sequence[int], index: int
    ) -> tuple[Vector, Vector]:
        arguments.index("shape index", index, len(shapes))
        position, rotation = self.get_body_pose(owners[index])
        return rotation @ shapes[index].rotation, position + rotation @ shapes[index].position

    # ---- Jacobians ----

    def _columns(
        self, body_idx: BodyLike, point: VectorLike, derivative: bool
    ) -> tuple[SparseJacobian, SparseJacobian]:
        at, count = vector("point", point, 3), ffi.new("int32_t *")
        index = np.empty(self._u_count, dtype=np.int32)
        linear, angular = np.empty((self._u_count, 3)), np.empty((self._u_count, 3))
        check(
            lib.rs_articulation_jacobian(
                self._c,
                self._engine_id,
                self._body(body_idx),
                c_array(at),
                derivative,
                c_array(index),
                c_array(linear),
                c_array(angular),
                count,
            )
        )
        n = int(count[0])
        return SparseJacobian(index[:n], linear[:n].T.copy()), SparseJacobian(index[:n], angular[:n].T.copy())

    def get_sparse_jacobian(self, body_idx: BodyLike, point: VectorLike) -> SparseJacobian:
        """Jacobian of the velocity of a body's point, given in the world frame: non-zero columns."""
        return self._columns(body_idx, point, False)[0]

    def get_sparse_rotational_jacobian(self, body_idx: BodyLike) -> SparseJacobian:
        """Jacobian of a body's angular velocity: non-zero columns."""
        return self._columns(body_idx, (0.0, 0.0, 0.0), False)[1]

    def get_time_derivative_of_sparse_jacobian(self, body_idx: BodyLike, point: VectorLike) -> SparseJacobian:
        """Time derivative of get_sparse_jacobian() for a point that moves with the body."""
        return self._columns(body_idx, point, True)[0]

    def get_time_derivative_of_sparse_rotational_jacobian(self, body_idx: BodyLike) -> SparseJacobian:
        """Time derivative of get_sparse_rotational_jacobian()."""
        return self._columns(body_idx, (0.0, 0.0, 0.0), True)[1]

    def convert_sparse_jacobian_to_dense(self, jacobian: SparseJacobian) -> Vector:
        """The 3 x DoF matrix of a sparse Jacobian."""
        arguments.instance("jacobian", jacobian, SparseJacobian)
        dense = np.zeros((3, self._u_count))
        dense[:, jacobian.idx] = jacobian.v
        return dense

    def get_dense_jacobian(self, body_idx: BodyLike, point: VectorLike) -> Vector:
        """3 x DoF Jacobian of the velocity of a body's point, given in the world frame."""
        return self.convert_sparse_jacobian_to_dense(self.get_sparse_jacobian(body_idx, point))

    def get_dense_rotational_jacobian(self, body_idx: BodyLike) -> Vector:
        """3 x DoF Jacobian of a body's angular velocity."""
        return self.convert_sparse_jacobian_to_dense(self.get_sparse_rotational_jacobian(body_idx))

    def get_jacobian(self, body_idx: BodyLike, point: VectorLike | None = None) -> Vector:
        """6 x DoF Jacobian of a body: rows 0 to 2 the velocity of a point, 3 to 5 the angular velocity, world axes.

        `point` is in the world frame [m]; None: the body's origin.
        """
        with self._world.locked():
            index = self._body(body_idx)
            at = self.get_body_position(index) if point is None else point
            linear, angular = self._columns(index, at, False)
        jacobian = np.zeros((6, self._u_count))
        jacobian[:3, linear.idx], jacobian[3:, angular.idx] = linear.v, angular.v
        return jacobian

    def get_dense_frame_jacobian(self, frame: FrameLike) -> Vector:
        """3 x DoF Jacobian of the velocity of a frame's origin."""
        at = self._frame(frame)
        with self._world.locked():
            return self.get_dense_jacobian(at.body, self.get_frame_position(at))

    def get_dense_frame_rotational_jacobian(self, frame: FrameLike) -> Vector:
        """3 x DoF Jacobian of a frame's angular velocity."""
        return self.get_dense_rotational_jacobian(self._frame(frame).body)

    # ---- names and indices ----

    def get_movable_joint_names(self) -> list[str]:
        """Names of the movable joints in order; ROOT first for a floating base."""
        return [body.joint_name for body in self._tree.bodies if body.joint_name]

    def get_generalized_velocity_index(self, joint_name: str) -> int:
        """Where the velocities of a joint begin in u; -1 when there is no such joint."""
        for index, body in enumerate(self._tree.bodies):
            if body.joint_name == arguments.text("joint_name", joint_name):
                return self._u_first[index]
        return -1

    def get_mapping_from_body_index_to_generalized_velocity_index(self) -> Sequence[int]:
        """Where the velocities of each body's joint begin in u."""
        return list(self._u_first)

    def get_mapping_from_body_index_to_generalized_coordinate_index(self) -> Sequence[int]:
        """Where the coordinates of each body's joint begin in q."""
        return list(self._q_first)

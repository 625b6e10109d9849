"""Poses given in frames of the simulation: the world, objects, and links of robots. For the stepping thread."""

from __future__ import annotations

from typing import Any

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.ros.conversions import BodyPose, Twist, rotate
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.rotation_vectors import multiply


class UnknownFrameError(InvalidValueError):
    """A pose is given in a frame that is not there."""


def pose_of_handle(handle: Any, body: int = 0) -> BodyPose:
    """Where a body, or a body of a robot, is in the world."""
    if isinstance(handle, ArticulatedSystem):
        return BodyPose(handle.get_position(body), quaternion_from_matrix(handle.get_orientation(body)))
    return BodyPose(handle.get_position(), handle.get_quaternion())


class KnownFrames:
    """Finds frames by the names that /tf has for them."""

    def __init__(self, names: FrameNames, table: ObjectTable) -> None:
        self._names = names
        self._table = table

    def pose_of(self, frame_id: str) -> BodyPose | None:
        """Where a frame is in the world; None for the world itself. UnknownFrameError for others."""
        if frame_id in ("", self._names.world, self._names.world_frame):
            return None
        for entry in self._table:
            frame = self._names.of(entry.name)
            if frame_id == frame:
                return pose_of_handle(entry.handle)
            if entry.joints is not None and frame_id.startswith(f"{frame}/"):
                link = frame_id.removeprefix(f"{frame}/")
                for index, body in enumerate(entry.handle.get_kinematic_tree().bodies):
                    if body.name == link:
                        return pose_of_handle(entry.handle, index)
        raise UnknownFrameError(f"frame '{frame_id}' is unknown; expected that of the world, an object or a link")

    def to_world(self, frame_id: str, pose: BodyPose) -> BodyPose:
        """A pose given in a frame, in the world."""
        frame = self.pose_of(frame_id)
        if frame is None:
            return pose
        return BodyPose(frame.position + rotate(frame.wxyz, pose.position), multiply(frame.wxyz, pose.wxyz))

    def twist_to_world(self, frame_id: str, twist: Twist) -> Twist:
        """A twist given in the axes of a frame, in those of the world."""
        frame = self.pose_of(frame_id)
        if frame is None:
            return twist
        return Twist(rotate(frame.wxyz, twist.linear), rotate(frame.wxyz, twist.angular))

"""`<object>/odom`: where an object is, as the world knows it or as its wheels tell. For the stepping thread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from std_msgs.msg import Header

from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.conversions import Vector, rotate
from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import period_in_steps, steps_until_multiple

_IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class _Track:
    """The way of one object since it was first seen; poses are x y z qx qy qz qw in its frame `odom`."""

    def __init__(self, entry: ObjectRow, names: FrameNames, pose: Vector) -> None:
        self.entry = entry
        self.from_wheels = entry.interface.odometry == "wheels"
        # What is true is given in the world; wheels only know the way from the beginning.
        self.origin = pose.copy() if self.from_wheels else _IDENTITY
        self._angles: Vector | None = None
        self._plane = np.zeros(3)  # x, y, yaw that the wheels tell
        self._plane_speed = np.zeros(3)
        self._last_time = 0.0
        header = Header(frame_id=names.of_odom(entry.name))
        self._message = FrozenMessage(Odometry(header=header, child_frame_id=names.of(entry.name)))
        self._stamp = self._message.numbers("header.stamp.sec", "header.stamp.nanosec").view(np.uint32)
        self._pose = self._message.numbers("pose.pose.position.x", "pose.pose.orientation.w")
        self._twist = self._message.numbers("twist.twist.linear.x", "twist.twist.angular.z")

    def advance(self, time: float) -> None:
        """Follows the wheels up to now: by their angles, so that no step is missed."""
        drive, joints = self.entry.interface.drive, self.entry.joints
        if not self.from_wheels or drive is None or joints is None:
            return
        places = joints.places(drive.joints, "drive")
        angles = joints.positions(self.entry.handle.get_generalized_coordinate())[places]
        if self._angles is not None and time > self._last_time:
            forward, left, turn = drive.base_motion(angles - self._angles)
            yaw = self._plane[2] + 0.5 * turn  # on the arc, to second order
            cosine, sine = math.cos(yaw), math.sin(yaw)
            self._plane += (cosine * forward - sine * left, sine * forward + cosine * left, turn)
            self._plane_speed = np.array((forward, left, turn)) / (time - self._last_time)
        self._angles, self._last_time = angles, time

    def pose(self, true_pose: Vector) -> Vector:
        """Where it is in `odom`, given where it truly is in the world."""
        if not self.from_wheels:
            return true_pose
        x, y, yaw = self._plane
        return np.array([x, y, 0.0, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])

    def message(self, moment: Moment, true_pose: Vector, true_twist: Vector) -> bytes:
        """The pose in `odom`, and the velocity in the frame of the object."""
        self._stamp[:] = moment.stamp
        self._pose[:] = self.pose(true_pose)
        if self.from_wheels:
            forward, left, turning = self._plane_speed
            self._twist[:] = (forward, left, 0.0, 0.0, 0.0, turning)
        else:
            wxyz = np.array([true_pose[6], *-true_pose[3:6]])
            self._twist[:3], self._twist[3:] = rotate(wxyz, true_twist[:3]), rotate(wxyz, true_twist[3:])
        return self._message.to_bytes()


class OdometryTopics:
    """Publishes the odometry of the objects that have it, at a rate [Hz of simulation time]."""

    def __init__(self, names: FrameNames, rate_hz: float) -> None:
        self._names = names
        self.rate_hz = rate_hz
        self._period = 1
        self._publishers: dict[int, Any] = {}
        self._tracks: dict[int, _Track] = {}
        self._rows: dict[int, int] = {}
        self._new: list[ObjectRow] = []

    def attach(self, object_id: int, publisher: Any) -> None:
        """From now on the odometry goes out through `publisher`."""
        self._publishers[object_id] = publisher

    def detach(self, object_id: int) -> None:
        """Lets go of the publisher of an object."""
        self._publishers.pop(object_id, None)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._period = period_in_steps(self.rate_hz, time_step)
        wanted = {entry.id: entry for entry in rows if entry.interface.odometry != "none"}
        self._rows = {entry.id: row for row, entry in enumerate(rows) if entry.id in wanted}
        self._tracks = {key: track for key, track in self._tracks.items() if key in wanted}
        self._new = [entry for key, entry in wanted.items() if key not in self._tracks]

    def begin_new(self, states: StateBuffer) -> None:
        """Objects that were not seen before begin their way here."""
        for entry in self._new:
            self._tracks[entry.id] = _Track(entry, self._names, states.poses[self._rows[entry.id]])
        self._new = []

    def restart(self) -> None:
        """States were set back: all ways begin again."""
        self._new += [track.entry for track in self._tracks.values()]
        self._tracks.clear()

    def origin(self, object_id: int) -> Vector:
        """Where the frame `odom` of an object is in the world."""
        return self._tracks[object_id].origin

    def in_odom(self, object_id: int, states: StateBuffer) -> Vector:
        """Where an object is in its frame `odom`."""
        return self._tracks[object_id].pose(states.poses[self._rows[object_id]])

    def steps_until_due(self, step: int) -> int:
        """Steps until the next message must go out."""
        return steps_until_multiple(step, self._period)

    def due(self, moment: Moment) -> bool:
        """Whether there is any odometry, and its time has come."""
        present = bool(self._tracks or self._new)
        return present and (bool(self._new) or moment.everything or moment.step % self._period == 0)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Follows the wheels and publishes to those who listen."""
        self.begin_new(states)
        for key, track in self._tracks.items():
            track.advance(moment.sim_time)
            publisher, row = self._publishers.get(key), self._rows[key]
            if publisher is not None and publisher.get_subscription_count():
                publisher.publish(track.message(moment, states.poses[row], states.twists[row]))

"""`contact_markers`: forces at contacts as lines, for rviz2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.topic import WallTimeTopic

# A force is drawn so long, and no longer than this [m/N], [m].
LENGTH_PER_NEWTON, LONGEST = 0.01, 1.0
_WIDTH = 0.01
_COLOUR = ColorRGBA(r=0.95, g=0.3, b=0.1, a=1.0)


def force_lines(contacts: Any, time_step: float) -> Any:
    """Ends (N x 2 x 3) of a line for each contact: from its point along the force on object A, world frame [m]."""
    forces = np.einsum("kij,ki->kj", contacts["frame"], contacts["impulse"]) / time_step
    lengths = np.linalg.norm(forces, axis=1, keepdims=True)
    shown = np.minimum(LENGTH_PER_NEWTON, LONGEST / np.maximum(lengths, 1e-300)) * forces
    return np.stack((contacts["position"], contacts["position"] + shown), axis=1)


class ContactMarkers(WallTimeTopic):
    """Draws all contact forces of the last step in one marker, at a rate in Hz of wall time."""

    def __init__(self, read_contacts: Callable[[], Any], world_frame: str, rate_hz: float, publisher: Any) -> None:
        super().__init__(rate_hz, publisher)
        self._read_contacts = read_contacts
        self._frame = world_frame
        self._time_step = 1.0

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over the time step."""
        self._time_step = time_step

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Draws the contacts; without any, nothing is left to see."""
        header = Header(frame_id=self._frame)
        header.stamp.sec, header.stamp.nanosec = moment.stamp
        marker = Marker(header=header, ns="contacts", id=0, type=Marker.LINE_LIST, action=Marker.ADD, color=_COLOUR)
        marker.scale.x = _WIDTH
        marker.pose.orientation.w = 1.0
        ends = force_lines(self._read_contacts(), self._time_step).reshape(-1, 3).tolist()
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in ends]
        if not ends:
            marker.action = Marker.DELETE
        self._publisher.publish(MarkerArray(markers=[marker]))

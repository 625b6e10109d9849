"""`world/viewpoint`: where viewers shall look from, as the world file says."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from std_msgs.msg import Header

from raisim_ros.description.world.scene_types import Viewpoint
from raisim_ros.engine.types import StateBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import NEVER


class ViewpointTopic:
    """Tells it when a world is loaded, and those who come later (latched). For the stepping thread."""

    def __init__(self, world: World, frames: FrameNames, publisher: Any) -> None:
        self._world, self._frames, self._publisher = world, frames, publisher
        self._told: Viewpoint | None = None
        self._changed = False

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Another world may have been loaded."""
        self._changed = self._world.get_viewpoint() != self._told

    def steps_until_due(self, step: int) -> int:
        """It changes with the world only."""
        return NEVER

    def due(self, moment: Moment) -> bool:
        """Whether it is another than was told."""
        return self._changed

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Tells it; a world without one has an offset of 0."""
        self._told, self._changed = self._world.get_viewpoint(), False
        view = self._told or Viewpoint()
        frame = self._frames.of(view.follow) if view.follow else self._frames.world
        x, y, z = (float(value) for value in view.offset)
        pose = Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=1.0))
        self._publisher.publish(PoseStamped(header=Header(stamp=moment.stamp, frame_id=frame), pose=pose))

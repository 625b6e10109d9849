"""`<robot>/<link>/state` of the links that have topics of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from raisim_ros.engine.types import ArticulationBuffer, StateBuffer
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import LinkRow, ObjectRow
from raisim_ros.ros.objects.state_topics import StateTopics


class LinkTopics:
    """Publishes the links as objects are published. For the stepping thread."""

    def __init__(self, states: StateTopics, read_articulations: Callable[[], ArticulationBuffer]) -> None:
        """`states` publishes them, as it would objects."""
        self.states = states
        self._read_articulations = read_articulations
        self._links: list[LinkRow] = []
        self._robot_rows = np.zeros(0, np.int64)  # of each link, in the world's object list

    def set_commanded(self, object_id: int, commanded: bool) -> None:
        """Chooses between the upper and the lower rate for all links of a robot."""
        for link in self._links:
            if link.id == object_id:
                self.states.set_commanded(link.key, commanded)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._links = [link for entry in rows for link in entry.links]
        self._robot_rows = np.array([row for row, entry in enumerate(rows) for _ in entry.links], np.int64)
        self.states.rebuild(self._links, time_step)

    def steps_until_due(self, step: int) -> int:
        """Steps until the next state must go out."""
        return self.states.steps_until_due(step)

    def due(self, moment: Moment) -> bool:
        """Whether a state must go out at this moment."""
        return bool(self._links) and self.states.due(moment)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due."""
        robots = self._read_articulations()
        places = np.array([robots.link_first[link.id] + link.body for link in self._links], np.int64)
        of_links = StateBuffer(
            robots.configuration_number,
            states.ids[self._robot_rows],
            robots.link_poses[places],
            robots.link_twists[places],
            robots.link_wrenches[places],
            states.sleeping[self._robot_rows],
        )
        self.states.publish(moment, of_links)

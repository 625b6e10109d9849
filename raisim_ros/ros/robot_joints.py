"""The joints of a robot that ROS messages name: revolute and prismatic ones, with one coordinate each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.kinematic_tree import JointType
from raisim_ros.engine.articulated import ArticulatedSystem

_SINGLE = (JointType.REVOLUTE, JointType.PRISMATIC)


class RobotJoints:
    """Names, and where the joints lie in q and u."""

    def __init__(self, robot: ArticulatedSystem) -> None:
        tree = robot.get_kinematic_tree()
        single = [index for index, body in enumerate(tree.bodies) if body.joint_type in _SINGLE]
        q_first = robot.get_mapping_from_body_index_to_generalized_coordinate_index()
        u_first = robot.get_mapping_from_body_index_to_generalized_velocity_index()
        self.names = [tree.bodies[index].joint_name for index in single]
        self.q = np.array([q_first[index] for index in single], np.int64)
        self.u = np.array([u_first[index] for index in single], np.int64)
        self.link_names = [link for body in tree.bodies for link in body.links]
        self._places = {name: place for place, name in enumerate(self.names)}

    def places(self, names: Sequence[str], field: str) -> NDArray[np.int64]:
        """Where the named joints stand in `names`, `q` and `u`."""
        unknown = [name for name in names if name not in self._places]
        if unknown:
            known = ", ".join(self.names) or "none"
            raise InvalidValueError(f"{field}: no joint is named '{unknown[0]}'; there are: {known}")
        if len(set(names)) != len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InvalidValueError(f"{field}: joint '{twice}' occurs twice")
        return np.array([self._places[name] for name in names], np.int64)

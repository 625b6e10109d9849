"""The joints of a robot as ROS messages name them: a spherical joint has three entries, the others have one.

The entries of a spherical joint `ball` are `ball_x`, `ball_y` and `ball_z`: as positions its rotation vector, as
velocities its angular velocity, as efforts its torque, all in the joint frame that is fixed to the parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.ros.conversions import Vector
from raisim_ros.ros.rotation_vectors import quaternions_of, rotation_vectors

Places = NDArray[np.int64]


class RobotJoints:
    """Names of the entries, and where they lie in q and u."""

    def __init__(self, robot: ArticulatedSystem) -> None:
        tree = robot.get_kinematic_tree()
        q_first = robot.get_mapping_from_body_index_to_generalized_coordinate_index()
        u_first = robot.get_mapping_from_body_index_to_generalized_velocity_index()
        self.names: list[str] = []
        self.link_names = [link for body in tree.bodies for link in body.links]
        self._robot, self._tree = robot, tree
        u: list[int] = []
        single: list[tuple[int, int]] = []  # place in `names`, place in q
        self._spherical: list[tuple[int, int]] = []  # the same of the first entry
        for body, q, first in zip(tree.bodies, q_first, u_first, strict=True):
            if body.joint_type.has_axis:
                single.append((len(self.names), q))
                self.names.append(body.joint_name)
                u.append(first)
            elif body.joint_type is JointType.SPHERICAL:
                self._spherical.append((len(self.names), q))
                self.names += [f"{body.joint_name}_{axis}" for axis in "xyz"]
                u += range(first, first + 3)
        self.children_names = self.link_names[1:]
        self.command_interfaces = {body.joint_name: body.command_interfaces for body in tree.bodies}
        self.u = np.array(u, np.int64)
        self._single = np.array(single, np.int64).reshape(-1, 2)
        self._places = {name: place for place, name in enumerate(self.names)}

    def places(self, names: Sequence[str], field: str) -> Places:
        """Where the named entries stand in `names` and `u`; those of a spherical joint must be complete."""
        unknown = [name for name in names if name not in self._places]
        if unknown:
            known = ", ".join(self.names) or "none"
            raise InvalidValueError(f"{field}: no joint is named '{unknown[0]}'; there are: {known}")
        if len(set(names)) != len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InvalidValueError(f"{field}: joint '{twice}' occurs twice")
        places = np.array([self._places[name] for name in names], np.int64)
        for first, _ in self._spherical:
            entries = range(first, first + 3)
            if 0 < np.isin(entries, places).sum() < 3:
                missing = ", ".join(self.names[place] for place in entries if place not in places)
                raise InvalidValueError(f"{field}: a spherical joint is named by all its entries; {missing} is missing")
        return places

    def spherical_columns(self, places: Places) -> list[list[int]]:
        """Where the entries x, y, z of each spherical joint stand in `places`."""
        column = {int(place): k for k, place in enumerate(places)}
        return [[column[first + axis] for axis in range(3)] for first, _ in self._spherical if first in column]

    def whole(self, places: Iterable[int]) -> Places:
        """The places, and with one entry of a spherical joint the others too."""
        wanted = {int(place) for place in places}
        for first, _ in self._spherical:
            if wanted & {first, first + 1, first + 2}:
                wanted |= {first, first + 1, first + 2}
        return np.array(sorted(wanted), np.int64)

    def positions(self, coordinates: Vector) -> Vector:
        """The positions of all entries [m, rad] at coordinates q."""
        positions = np.empty(len(self.names))
        positions[self._single[:, 0]] = coordinates[self._single[:, 1]]
        for place, q in self._spherical:
            positions[place : place + 3] = rotation_vectors(coordinates[q : q + 4])
        return positions

    def put_positions(self, coordinates: Vector, places: Places, positions: Vector) -> None:
        """Writes the positions of some entries into q; NaN: as it is there."""
        every = np.full(len(self.names), np.nan)
        every[places] = positions
        given = ~np.isnan(every)
        single = self._single[given[self._single[:, 0]]]
        coordinates[single[:, 1]] = every[single[:, 0]]
        for place, q in self._spherical:
            if given[place]:
                coordinates[q : q + 4] = quaternions_of(every[place : place + 3])

    def below(self, body: int) -> JointsBelow:
        """The part of the robot that a body carries."""
        bodies = self._tree.bodies
        carried: set[int] = set()
        for index in range(body + 1, len(bodies)):  # parents come before their children
            if bodies[index].parent == body or bodies[index].parent in carried:
                carried.add(index)
        links = [*bodies[body].links[1:], *(link for index in sorted(carried) for link in bodies[index].links)]
        first = self._robot.get_mapping_from_body_index_to_generalized_velocity_index()
        degrees = {first[index] + k for index in carried for k in range(bodies[index].joint_type.velocity_dim)}
        return JointsBelow(self, links, np.array([k for k, u in enumerate(self.u) if int(u) in degrees], np.int64))


class JointsBelow:
    """The joints behind one link of a robot, as RobotJoints are those of the whole."""

    def __init__(self, joints: RobotJoints, children_names: list[str], places: Places) -> None:
        self._joints = joints
        self._places = places
        self.children_names = children_names
        self.names = [joints.names[place] for place in places]
        self.u = joints.u[places]

    def positions(self, coordinates: Vector) -> Vector:
        """The positions of its entries [m, rad] at coordinates q of the robot."""
        return np.asarray(self._joints.positions(coordinates)[self._places])

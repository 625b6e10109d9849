"""Frames of the links of robots: the tree of their descriptions, as transforms between neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine.types import ArticulationBuffer
from raisim_ros.ros.conversions import Vector, compose_xyzw, inverse_xyzw
from raisim_ros.ros.objects.object_table import ObjectRow

IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def pose_of(position: Vector, rotation: Vector) -> Vector:
    """x y z qx qy qz qw of a place given with a rotation matrix."""
    w, x, y, z = quaternion_from_matrix(np.asarray(rotation))
    return np.array([*position, x, y, z, w])


@dataclass(frozen=True)
class LinkTransform:
    """A link in the frame of its parent link. Links without a parent are in the frame of the robot itself."""

    parent: str  # "" for the robot
    child: str


def _places_in_bodies(tree: KinematicTree) -> dict[str, Vector]:
    """The frame of every link in the frame of the body it belongs to."""
    places = {body.name: IDENTITY for body in tree.bodies}
    for frame in tree.frames:
        places.setdefault(frame.link, pose_of(frame.position, frame.rotation))
    return places


class RobotLinks:
    """Frames of one robot's links: those that move in their parents' frames, and those that never do."""

    def __init__(self, entry: ObjectRow) -> None:
        tree: KinematicTree = entry.handle.get_kinematic_tree()
        places = _places_in_bodies(tree)
        self.id = entry.id
        self.moving: list[LinkTransform] = []
        self.fixed = [LinkTransform("", tree.bodies[0].name)]
        bodies, parents, offsets, fixed_poses = [], [], [], [IDENTITY]
        for frame in tree.frames:
            if frame.body == 0 and frame.is_child:
                continue  # a floating base: it is the robot's own frame
            transform = LinkTransform(frame.parent_link, frame.link)
            inverse = inverse_xyzw(places[frame.parent_link])
            if frame.is_child:
                self.moving.append(transform)
                bodies.append(frame.body)
                parents.append(tree.bodies[frame.body].parent)
                offsets.append(inverse)
            else:
                self.fixed.append(transform)
                fixed_poses.append(compose_xyzw(inverse, places[frame.link]))
        self.fixed_poses = np.array(fixed_poses)
        self.bodies = np.array(bodies, np.int64)
        self.parents = np.array(parents, np.int64)
        self.offsets = np.array(offsets).reshape(-1, 7)


class LinkFrames:
    """Transforms of the moving links of many robots, all computed at once."""

    def __init__(self, robots: list[RobotLinks], buffer: ArticulationBuffer) -> None:
        first = [buffer.link_first[robot.id] for robot in robots]
        nothing = np.zeros(0, np.int64)
        self._children = np.concatenate([nothing, *(at + r.bodies for at, r in zip(first, robots, strict=True))])
        self._parents = np.concatenate([nothing, *(at + r.parents for at, r in zip(first, robots, strict=True))])
        self._offsets = np.concatenate([np.zeros((0, 7)), *(robot.offsets for robot in robots)])

    def poses(self, buffer: ArticulationBuffer) -> Vector:
        """Poses of the links in their parents' frames, robot by robot."""
        links = buffer.link_poses
        between = compose_xyzw(inverse_xyzw(links[self._parents]), links[self._children])
        return compose_xyzw(self._offsets, between)

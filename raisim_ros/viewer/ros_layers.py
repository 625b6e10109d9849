"""What a node's markers do not show of robots: what collides, and where masses are. Their descriptions tell it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.world.world import World
from raisim_ros.ros import qos
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.scene import COLLISION, IDENTITY, INERTIA, ROBOT_KIND, Item, Part, SceneModel, Vector, to_world
from raisim_ros.viewer.world_scene import robot_parts

# Bodies with the centre of mass at their origin.
_CENTRED = ("sphere", "box", "cylinder", "cone", "capsule")


@dataclass(frozen=True, eq=False)
class _Robot:
    """Parts of a robot whose bodies are the frames 0, 1, …; names, masses [kg] and centres of mass of these."""

    parts: list[Part]
    links: tuple[str, ...]
    masses: Vector
    centres: Vector


class RobotLayers:
    """Listens to the descriptions of robots while somebody wants to see more than markers."""

    def __init__(self, node: Node, scene: MarkerScene) -> None:
        self.number = 0  # changes when another description came
        self._node, self._scene = node, scene
        self._subscriptions: dict[str, Any] = {}
        self._robots: dict[str, _Robot] = {}
        self._frames: list[tuple[str, str]] = []  # robots and links, behind those of the markers
        self._items: list[Item] = []

    def listen(self, wanted: bool) -> None:
        """To all robots of the last model, or to none."""
        names = {item.name for item in self._items if item.kind == ROBOT_KIND} if wanted else set()
        for name in names - set(self._subscriptions):
            take = self._taker(name)
            topic = f"{name}/robot_description"
            self._subscriptions[name] = self._node.create_subscription(String, topic, take, qos.LATCHED)
        for name in set(self._subscriptions) - names:
            self._node.destroy_subscription(self._subscriptions.pop(name))
            self._robots.pop(name, None)
            self.number += 1

    def _taker(self, name: str) -> Any:
        def take(message: String) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # whoever added it was told
                    self._robots[name] = _read(message.data)
            except (RaisimError, OSError):  # meshes on another machine: markers are all there is to see
                return
            self.number += 1

        return take

    def extend(self, model: SceneModel) -> SceneModel:
        """The model with what is known beside its markers; every body of a robot is a frame more."""
        items, self._frames, self._items = [], [], model.items
        for item in model.items:
            robot = self._robots.get(item.name)
            if robot is None:
                items.append(item)
                continue
            first = model.frames + len(self._frames)
            more = [replace(part, frame=first + part.frame) for part in robot.parts]
            items.append(replace(item, parts=[*item.parts, *more]))
            self._frames += [(item.name, link) for link in robot.links]
        return SceneModel(items, model.frames + len(self._frames))

    def poses(self) -> Vector:
        """Of the frames that extend() added."""
        rows = np.tile(IDENTITY, (len(self._frames), 1))
        for row, (name, link) in enumerate(self._frames):
            pose = self._scene.link_pose(name, link)
            if pose is not None:
                rows[row] = pose
        return rows

    def count(self) -> int:
        """How many frames extend() added."""
        return len(self._frames)

    def link_at(self, number: int) -> str:
        """The link of a frame that extend() added."""
        return self._frames[number][1] if number < len(self._frames) else ""

    def centres(self, poses: Vector) -> Vector:
        """Centres of mass of robots, and of bodies that have it at their origin; `poses`: of all frames."""
        first = len(poses) - len(self._frames)
        rows = [poses[item.first_frame, :3] for item in self._items if item.kind in _CENTRED and item.movable]
        for name in dict.fromkeys(name for name, _ in self._frames):
            robot = self._robots.get(name)
            places = [first + k for k, (owner, _) in enumerate(self._frames) if owner == name]
            if robot is not None and len(places) == len(robot.links) and robot.masses.sum() > 0.0:
                each = [to_world(poses[k], centre) for k, centre in zip(places, robot.centres, strict=True)]
                rows.append(np.average(each, axis=0, weights=robot.masses))
        return np.array(rows).reshape(-1, 3)


def _read(description: str) -> _Robot:
    robot = World().add_articulated_system(description)
    bodies = robot.get_kinematic_tree().bodies
    return _Robot(
        [part for part in robot_parts(robot, 0, (COLLISION, INERTIA)) if part.layer in (COLLISION, INERTIA)],
        tuple(body.name for body in bodies),
        np.array([body.mass for body in bodies]),
        np.array([body.com for body in bodies], float).reshape(-1, 3),
    )

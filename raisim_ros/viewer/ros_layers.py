"""What a node's markers do not show of robots: what collides, and where masses are. Their descriptions tell it."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.shapes import SHAPES
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.world.world import World
from raisim_ros.ros import qos
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.page_surfaces import PageSurfaces
from raisim_ros.viewer.scene import COLLISION, IDENTITY, INERTIA, ROBOT_KIND, Item, SceneModel, Vector, to_world
from raisim_ros.viewer.world_scene import robot_parts

LAYERS = (COLLISION, INERTIA)


@dataclass(frozen=True, eq=False)
class _Robot:
    """A robot in a world of its own; names, masses [kg] and centres of mass of its bodies."""

    handle: ArticulatedSystem
    links: tuple[str, ...]
    masses: Vector
    centres: Vector


class RobotLayers:
    """Listens to the descriptions of robots while somebody wants to see more than markers."""

    def __init__(self, node: Node, scene: MarkerScene) -> None:
        self._changes = 0
        self._meshes = PageSurfaces()
        self._node, self._scene = node, scene
        self._subscriptions: dict[str, Any] = {}
        self._robots: dict[str, _Robot] = {}
        self._frames: list[tuple[str, str]] = []  # robots and links, behind those of the markers
        self._items: list[Item] = []

    @property
    def number(self) -> int:
        """Changes when another description came, or more of its meshes."""
        return self._changes + self._meshes.number

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
            self._changes += 1

    def _taker(self, name: str) -> Any:
        def read(description: str) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # whoever added it was told
                    robot = _read(description)
            except (RaisimError, OSError):  # meshes on another machine: markers are all there is to see
                return
            if name in self._subscriptions:  # still
                self._robots[name] = robot
                self._changes += 1

        # Meshes take their time: markers are heard meanwhile.
        return lambda message: threading.Thread(target=read, args=(message.data,), daemon=True).start()

    def extend(self, model: SceneModel) -> SceneModel:
        """The model with what is known beside its markers; every body of a robot is a frame more."""
        items, self._frames, self._items = [], [], model.items
        for item in model.items:
            robot = self._robots.get(item.name)
            if robot is None:
                items.append(item)
                continue
            first = model.frames + len(self._frames)
            more = robot_parts(robot.handle, first, LAYERS, self._meshes)
            items.append(replace(item, parts=[*item.parts, *(part for part in more if part.layer in LAYERS)]))
            self._frames += [(item.name, link) for link in robot.links]
        return replace(model, items=items, frames=model.frames + len(self._frames))

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
        """Centres of mass of robots, and of primitives, whose origin it is; `poses`: of all frames."""
        first = len(poses) - len(self._frames)
        rows = [poses[item.first_frame, :3] for item in self._items if item.kind in SHAPES and item.movable]
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
        robot,
        tuple(body.name for body in bodies),
        np.array([body.mass for body in bodies]),
        np.array([body.com for body in bodies], float).reshape(-1, 3),
    )

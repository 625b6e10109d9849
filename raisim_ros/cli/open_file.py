"""A World from any file that describes one, or something to put into one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_kind import RECORDING, ROBOT, WORLD, kind_of
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import MeshCollisionMode
from raisim_ros.engine.world.world import World


def check_output(out: str, source: str) -> None:
    """Refuse to write over the file that is read."""
    try:
        same = Path(out).samefile(source)
    except (OSError, ValueError):  # there is none, or a name that no file can have, of which the writer tells
        same = False
    if same:
        raise InvalidValueError(f"'{out}' is the file that is read; expected another name")


def open_world(path: str, params: Mapping[str, str] | None = None) -> tuple[World, list[str]]:
    """The world of a file, or a ground with the robot or mesh of it; and what its reader warned of."""
    kind = kind_of(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        world = _open(path, kind, params)
    return world, [str(one.message) for one in caught]


def _open(path: str, kind: str, params: Mapping[str, str] | None) -> World:
    if kind == RECORDING:
        from raisim_ros.viewer.recording import Recording

        return Recording(path).world(0)
    if kind == WORLD:
        return World(path, dict(params) if params else None)
    world = World()
    world.set_time_step(0.002)
    world.add_ground().set_name("ground")
    if kind == ROBOT:
        robot = world.add_articulated_system(path, params=dict(params) if params else None)
        robot.set_name(Path(path).stem)
        if not robot.get_kinematic_tree().fixed_base:
            _stand(world, robot)
        return world
    mesh = world.add_mesh(path, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)
    mesh.set_name(Path(path).stem)
    mesh.set_position(0.0, 0.0, float(-mesh.get_mesh().bounds()[0][2]) + 0.01)
    return world


def _stand(world: World, robot: ArticulatedSystem) -> None:
    """Lift a floating robot until no part of it is below the ground."""
    height = 5.0
    robot.set_base_pos((0.0, 0.0, height))
    x, y, _ = robot.get_base_position()
    gaps = []
    for dx in (-0.6, -0.3, 0.0, 0.3, 0.6):
        for dy in (-0.6, -0.3, 0.0, 0.3, 0.6):
            hits = world.ray_test((x + dx, y + dy, 0.01), (0.0, 0.0, 1.0), 2.0 * height)
            gaps += [float(hit.position[2]) for hit in hits]
    lowest = min([*gaps, *(float(place[2]) for place in robot.get_body_com_w())], default=0.0)
    robot.set_base_pos((0.0, 0.0, height - lowest + 0.02))

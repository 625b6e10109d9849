"""A World from any file that describes one, or something to put into one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_kind import RECORDING, ROBOT, WORLD, kind_of
from raisim_ros.description.mjcf.file import is_mjcf
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import ArticulatedSystemOption, MeshCollisionMode
from raisim_ros.engine.world.world import World


def check_output(out: str, source: str) -> None:
    """Refuse to write over the file that is read."""
    try:
        same = Path(out).samefile(source)
    except (OSError, ValueError):  # there is none, or a name that no file can have, of which the writer tells
        same = False
    if same:
        raise InvalidValueError(f"'{out}' is the file that is read; expected another name")


def open_world(
    path: str, params: Mapping[str, str] | None = None, *, hold: bool = False, base: str = "auto"
) -> tuple[World, list[str]]:
    """The world of a file, or a ground with the robot or mesh of it; and what its reader warned of.

    `hold`: a robot stands as `viewer.stance` says, with this `base`; else it is as the file says, without gains. MJCF
    with one robot and nothing else gets a ground then, too.
    """
    kind = kind_of(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        world = _open(path, kind, params, hold, base)
    told = dict.fromkeys(str(one.message) for one in caught)  # a robot that shall stand is read twice
    return world, list(told)


def _open(path: str, kind: str, params: Mapping[str, str] | None, hold: bool, base: str) -> World:
    if kind == RECORDING:
        from raisim_ros.viewer.recording import Recording

        return Recording(path).world(0)
    if kind == WORLD:
        world = World(path, dict(params) if params else None)
        if hold and is_mjcf(path):
            _put_on_ground(world)
        return world
    world = World()
    world.set_time_step(0.002)
    world.add_ground().set_name("ground")
    if kind == ROBOT:
        _add_robot(world, path, params, hold, base)
        return world
    mesh = world.add_mesh(path, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)
    mesh.set_name(Path(path).stem)
    mesh.set_position(0.0, 0.0, float(-mesh.get_mesh().bounds()[0][2]) + 0.01)
    return world


def _put_on_ground(world: World) -> None:
    """A robot that is alone in its world would fall for ever."""
    from raisim_ros.viewer.stance import stance_of, take_stance

    robots = world.get_obj_list()
    if len(robots) == 1 and isinstance(robots[0], ArticulatedSystem):
        world.add_ground().set_name("ground")
        take_stance(robots[0], stance_of(robots[0]), (0.0, 0.0, 0.0))


def _add_robot(world: World, path: str, params: Mapping[str, str] | None, hold: bool, base: str) -> None:
    from raisim_ros.viewer.stance import find_stance, stance_of, take_stance

    given = dict(params) if params else None
    stance = find_stance(path, base, given) if hold else None
    options = ArticulatedSystemOption(base=stance.base if stance is not None else base)
    robot = world.add_articulated_system(path, options=options, params=given)
    robot.set_name(Path(path).stem)
    take_stance(robot, stance or stance_of(robot).limp(), (0.0, 0.0, 0.0))

"""How a robot stands by itself: a pose inside its limits, on the ground, and gains that keep it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mjcf.file import is_mjcf
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.solids import SOLIDS
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import ArticulatedSystemOption
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import AUTO, BASES, COLLISION, FIXED, FLOATING, VISUAL, Stance, Vector, rotate, to_world
from raisim_ros.viewer.world_scene import pose_of, robot_parts

# Joints come back to the pose as critically damped springs of this frequency [rad/s] that carry the whole robot.
FREQUENCY = 20.0
# What is no higher above the lowest point stands on the ground, as a share of the robot's height.
TOE = 0.02
# The balanced pose is sought in so many steps, each of which turns no joint further than this [rad, m].
TRIES, LARGEST_TURN = 30, 0.1


def take_stance(robot: ArticulatedSystem, stance: Stance, position: tuple[float, float, float]) -> None:
    """Let a robot that was read with the stance's base stand at a place of the ground."""
    x, y, z = position
    if stance.state:
        robot.set_state(stance.state)
    robot.set_generalized_coordinate(stance.coordinates)
    robot.set_base_pos((x, y, z + stance.height))
    if stance.p_gains.any():
        robot.set_pd_gains(stance.p_gains, stance.d_gains)
        robot.set_pd_target(robot.get_generalized_coordinate(), np.zeros(robot.get_dof()))


def find_stance(file: str | Path, base: str = AUTO, params: Mapping[str, str] | None = None) -> Stance:
    """The stance of the robot of a file (URDF, xacro, MJCF). `base` AUTO: see `_needs_bolts`."""
    if base not in BASES:
        raise InvalidValueError(f"base is '{base}'; expected one of {', '.join(BASES)}")
    options = ArticulatedSystemOption(base=base)
    robot = World().add_articulated_system(file, options=options, params=dict(params) if params else None)
    silent = base == AUTO and not robot.get_kinematic_tree().fixed_base and not is_mjcf(file)  # MJCF tells its base
    if silent and _needs_bolts(robot, _points(robot)):
        return find_stance(file, FIXED, params)
    return stance_of(robot)


def stance_of(robot: ArticulatedSystem) -> Stance:
    """The stance of a robot of a world; the robot is moved."""
    named = next(iter(robot.get_named_states()), "")
    if named:  # a keyframe of MJCF
        robot.set_state(named)
    else:
        robot.set_state(_inside_limits(robot), np.zeros(robot.get_dof()))
    points = _points(robot)
    floating = not robot.get_kinematic_tree().fixed_base
    held = bool(named) and _has_servos(robot)
    if floating and not held:
        _balance(robot, points)
    placed = _placed(robot, points)
    lowest = min((float(rows[:, 2].min()) for rows in placed.values()), default=0.0)
    p_gains, d_gains = _gains(robot)
    if held:  # by its own motors
        p_gains, d_gains = np.zeros_like(p_gains), np.zeros_like(d_gains)
    low, high = _extent(robot)
    base = robot.get_base_position()
    shift = np.array([base[0], base[1], lowest])
    return Stance(
        FLOATING if floating else FIXED,
        robot.get_generalized_coordinate(),
        float(base[2]) - lowest,
        p_gains,
        d_gains,
        low - shift,
        high - shift,
        named,
    )


# ---- the pose ----


def _joints(robot: ArticulatedSystem) -> dict[int, tuple[int, int]]:
    """Of the bodies whose joints have one coordinate: its places in q and u."""
    q_first = robot.get_mapping_from_body_index_to_generalized_coordinate_index()
    u_first = robot.get_mapping_from_body_index_to_generalized_velocity_index()
    bodies = robot.get_kinematic_tree().bodies
    return {k: (q_first[k], u_first[k]) for k, body in enumerate(bodies) if body.joint_type.has_axis}


def _inside_limits(robot: ArticulatedSystem) -> Vector:
    """The coordinates the robot has, but none beyond its limits."""
    q, limits = robot.get_generalized_coordinate(), robot.get_joint_limits()
    for place, dof in _joints(robot).values():
        low, high = limits[dof]
        q[place] = min(max(q[place], low), high) if low <= high else q[place]
    return q


def _balance(robot: ArticulatedSystem, points: dict[int, Vector]) -> None:
    """Turn the joints as little as needed for the centre of mass to be above the middle of the feet.

    Only when it is near their edge or beyond: a robot that stands keeps the pose that its makers gave it.
    """
    joints, start = list(_joints(robot).values()), robot.get_generalized_coordinate()
    if not joints or _stands(robot, points):
        return
    limits = robot.get_joint_limits()
    columns = [dof for _, dof in joints]
    for number in range(TRIES):
        if number % 10 == 0:  # a ball rolls: after some turns other points of it are the lowest
            soles = {body: _sole(rows, low) for body, (rows, low) in _feet(robot, points).items()}
        error, slopes = _lean(robot, soles)
        turn = -np.linalg.lstsq(slopes[:, columns], error, rcond=1e-3)[0]
        turn *= min(1.0, LARGEST_TURN / max(float(np.abs(turn).max()), 1e-12))
        q = robot.get_generalized_coordinate()
        for (place, dof), value in zip(joints, turn, strict=True):
            low, high = limits[dof]
            q[place] = min(max(q[place] + value, low), high) if low <= high else q[place]
        robot.set_generalized_coordinate(q)
    if not _stands(robot, points):
        robot.set_generalized_coordinate(start)  # there is none: two points cannot carry a robot


def _feet(robot: ArticulatedSystem, points: dict[int, Vector]) -> dict[int, tuple[Vector, Vector]]:
    """Of the bodies that stand on the ground, the points that do, in their frames, and their heights [m]."""
    heights = {body: rows[:, 2] for body, rows in _placed(robot, points).items()}
    if not heights:
        return {}
    everything = np.concatenate(list(heights.values()))
    lowest, reach = float(everything.min()), TOE * float(np.ptp(everything)) + 1e-4
    low = {body: height < lowest + reach for body, height in heights.items()}
    return {body: (points[body][low[body]], heights[body][low[body]] - lowest) for body in heights if low[body].any()}


def _sole(rows: Vector, heights: Vector) -> Vector:
    """What of a foot must stay on the ground: the corners of a flat one, the middle of a round one."""
    above = heights - heights.min()
    flat = rows[above <= 0.125 * above.max()]
    if float(np.ptp(flat, axis=0).max()) < 0.6 * float(np.ptp(rows, axis=0).max()):
        flat = rows.mean(axis=0, keepdims=True)
    corners: Vector = flat[np.unique(np.concatenate((flat.argmin(axis=0), flat.argmax(axis=0))))]
    return corners


def _stands(robot: ArticulatedSystem, points: dict[int, Vector]) -> bool:
    """Whether the centre of mass is above the inner half of the hull of what touches the ground, or nothing does."""
    from scipy.optimize import linprog

    feet = {body: rows for body, (rows, _) in _feet(robot, points).items()}
    if not feet:
        return True
    placed = _placed(robot, feet)
    around, middle = np.concatenate(list(placed.values()))[:, :2], _middle(placed)
    equal = np.vstack((0.5 * (around + middle).T, np.ones(len(around))))
    found = linprog(np.zeros(len(around)), A_eq=equal, b_eq=[*robot.get_com()[:2], 1.0], bounds=(0.0, None))
    return bool(found.status == 0)


def _middle(placed: dict[int, Vector]) -> Vector:
    middle: Vector = np.mean([rows[:, :2].mean(axis=0) for rows in placed.values()], axis=0)
    return middle


def _lean(robot: ArticulatedSystem, soles: dict[int, Vector]) -> tuple[Vector, Vector]:
    """How far the centre of mass is from the middle of the feet, and each point of them from their mean height [m].

    And how these change with the velocities of the robot.
    """
    placed = _placed(robot, soles)
    moves = {body: np.array([robot.get_dense_jacobian(body, p) for p in rows]) for body, rows in placed.items()}
    of_centre = robot.get_mass_matrix()[:2] / robot.get_total_mass()  # the base's rows are those of the momentum
    heights = np.concatenate([rows[:, 2] for rows in placed.values()])
    lifts = np.concatenate([rows[:, 2] for rows in moves.values()])
    shift = of_centre - np.mean([rows[:, :2].mean(axis=0) for rows in moves.values()], axis=0)
    error = (robot.get_com()[:2] - _middle(placed), heights - heights.mean())
    return np.concatenate(error), np.vstack((shift, lifts - lifts.mean(axis=0)))


def _needs_bolts(robot: ArticulatedSystem, points: dict[int, Vector]) -> bool:
    """Whether the base has to be fixed: nothing collides, or what the root carries would pull it over.

    That is so when the root is the lighter part and the robot stands on nothing else, and when all the rest hangs on
    one joint of the root (an arm, a finger, a torso without legs) and the robot does not stand on its root.
    """
    bodies = robot.get_kinematic_tree().bodies
    if not any(body.collisions for body in bodies):
        return True
    robot.set_state(_inside_limits(robot), np.zeros(robot.get_dof()))
    feet, masses = set(_feet(robot, points)), [body.mass for body in bodies]
    if feet == {0} and masses[0] < 0.5 * sum(masses):
        return True
    limbs = sum(body.parent == 0 for body in bodies)
    return limbs == 1 and (0 not in feet or not _stands(robot, points))


# ---- gains ----


def _has_servos(robot: ArticulatedSystem) -> bool:
    """Whether its file gives it motors with a law of their own, or gains; those that only push hold nothing."""
    return bool(robot.get_pd_gains()[0].any()) or any(motor.is_drive for motor in robot.get_actuators())


def _gains(robot: ArticulatedSystem) -> tuple[Vector, Vector]:
    """What moves when a joint turns is what lies beyond it, or, of a robot on its feet, all the rest."""
    matrix = robot.get_mass_matrix()
    bodies = robot.get_kinematic_tree().bodies
    whole = 0.0 if bodies[0].joint_type != JointType.FLOATING else float(np.trace(matrix[3:6, 3:6])) / 3.0
    carried = np.zeros(len(matrix))
    for index, (_, dof) in _joints(robot).items():
        slides = bodies[index].joint_type.slides
        carried[dof] = max(matrix[dof, dof], robot.get_total_mass() if slides and whole else whole)
    return FREQUENCY**2 * carried, 2.0 * FREQUENCY * carried


# ---- points ----


@cache
def _directions() -> Vector:
    vertices = np.asarray(SOLIDS["ball"]()[0], float)
    directions: Vector = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    return directions


def _points(robot: ArticulatedSystem) -> dict[int, Vector]:
    """Of each body with something that collides, or of a robot without, that is seen: its outermost points [m]."""
    found: dict[int, list[Vector]] = {}
    for part in robot_parts(robot, 0, (COLLISION,)) or robot_parts(robot, 0, (VISUAL,)):
        if len(part.surface.vertices):
            rows = part.pose[:3] + rotate(part.pose[3:], part.surface.vertices.astype(float) * part.scale)
            found.setdefault(part.frame, []).append(rows[np.unique((rows @ _directions().T).argmax(axis=0))])
    return {body: np.concatenate(rows) for body, rows in found.items()}


def _placed(robot: ArticulatedSystem, points: dict[int, Vector]) -> dict[int, Vector]:
    """The points in the world."""
    return {body: to_world(pose_of(robot, body), rows) for body, rows in points.items()}


def _extent(robot: ArticulatedSystem) -> tuple[Vector, Vector]:
    """Corners of the box around all that collides or is seen, in the world [m]."""
    corners = [robot.get_base_position()]
    for part in robot_parts(robot, 0, (COLLISION, VISUAL)):
        if len(part.surface.vertices):
            rows = part.pose[:3] + rotate(part.pose[3:], part.surface.vertices.astype(float) * part.scale)
            placed = to_world(pose_of(robot, part.frame), rows)
            corners += [placed.min(axis=0), placed.max(axis=0)]
    return np.min(corners, axis=0), np.max(corners, axis=0)

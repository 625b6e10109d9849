"""The volumes that objects fill: boxes in their own frames, and what overlaps with what."""

from __future__ import annotations

import itertools

import numpy as np

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.shapes import SHAPES, ShapeType
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import Ground
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import CollisionBody
from raisim_ros.ros.conversions import Vector, rotate
from raisim_ros.ros.objects.object_table import ObjectRow

Box = tuple[Vector, Vector]  # lowest and highest corner [m]


def _box_of(shape: ShapeType, dim: Vector) -> Box:
    """The box around a shape, in the shape's frame."""
    known = SHAPES.get(shape.name.lower())
    low, high = known.box(list(dim)) if known else ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return np.array(low), np.array(high)


def corners(box: Box) -> Vector:
    """The eight corners (8 x 3) of a box."""
    return np.array(list(itertools.product(*zip(*box, strict=True))))


def _around(points: Vector) -> Box:
    return points.min(axis=0), points.max(axis=0)


def _placed(body: CollisionBody) -> Vector:
    """Points whose box is that of a shape, in the frame of its body."""
    points = corners(_box_of(body.shape, body.dim))
    return rotate(np.asarray(body.quaternion), points) + np.asarray(body.position)


def local_box(entry: ObjectRow) -> Box | None:
    """The box around an object in its own frame, as it is now; None: it has no end, or nothing that collides."""
    handle = entry.handle
    if isinstance(handle, Ground):
        return None
    if isinstance(handle, Mesh):
        return _around(handle.get_mesh().vertices)
    if isinstance(handle, HeightMap):
        data = handle.get_data()
        half = 0.5 * np.array([data.x_size, data.y_size])
        return np.array([*-half, data.heights.min()]), np.array([*half, data.heights.max()])
    if isinstance(handle, ArticulatedSystem):
        return _robot_box(handle)
    if isinstance(handle, SoftObject):
        low, high = handle.get_bounds()
        return (low - handle.get_position(), high - handle.get_position()) if handle.get_num_particles() else None
    shapes = [_placed(body) for body in handle.get_collision_body_list()]
    return _around(np.concatenate(shapes)) if shapes else None


def _robot_box(robot: ArticulatedSystem) -> Box | None:
    base, turn = robot.get_position(0), robot.get_orientation(0)
    points = []
    for index, body in enumerate(robot.get_kinematic_tree().bodies):
        for shape in body.collisions:
            if shape.mesh_file is not None:
                try:
                    own = corners(_around(load_mesh(shape.mesh_file, list(shape.scale)).vertices))
                except RaisimError:
                    continue  # the file is gone since
            else:
                own = corners(_box_of(ShapeType[shape.shape.upper()], np.asarray(shape.dim)))
            in_body = own @ np.asarray(shape.rotation).T + np.asarray(shape.position)
            points.append(in_body @ robot.get_orientation(index).T + robot.get_position(index))
    return _around((np.concatenate(points) - base) @ turn) if points else None


def world_corners(box: Box, position: Vector, wxyz: Vector) -> Vector:
    """The corners of an object's box in the world."""
    return rotate(wxyz, corners(box)) + position


def overlaps_sphere(points: Vector, center: Vector, radius: float) -> bool:
    """Whether the axis-aligned box around points touches a ball."""
    low, high = _around(points)
    nearest = np.clip(center, low, high)
    return bool(np.linalg.norm(nearest - center) <= radius)


def overlaps_box(points: Vector, low: Vector, high: Vector) -> bool:
    """Whether the axis-aligned box around points touches another box."""
    own_low, own_high = _around(points)
    return bool((own_low <= high).all() and (low <= own_high).all())


def overlaps_hull(points: Vector, hull: Vector) -> bool:
    """Whether the hull of points touches another hull: some weights of each give the same point."""
    from scipy.optimize import linprog  # here: a node would take half as long again to start

    count, others = len(points), len(hull)
    equal = np.zeros((5, count + others))
    equal[:3, :count], equal[:3, count:] = points.T, -hull.T
    equal[3, :count], equal[4, count:] = 1.0, 1.0
    found = linprog(np.zeros(count + others), A_eq=equal, b_eq=[0.0, 0.0, 0.0, 1.0, 1.0], bounds=(0.0, None))
    return bool(found.status == 0)

"""Checks of single links, joints and shapes: each error names the element, what was found and what was expected."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from raisim_ros.description.errors import Place, UrdfError
from raisim_ros.description.robot.model import JOINT_TYPES, NOT_TURNED, SHAPES, Geometry, Joint, Link, Pose, RobotModel
from raisim_ros.description.rotation import Array

LARGEST = 1e30  # kg, m, kg·m²: products of a few such numbers still fit into a double
LEAST_MASS, LEAST_MOMENT = 1e-40, 1e-60  # kg, kg·m²: so do their inverses; zero is nothing at all
_ROUNDING = 1e-9  # relative size of an asymmetry that may come from rounded digits


def fail(place: Place, message: str) -> NoReturn:
    """Raise UrdfError for an element."""
    raise UrdfError(place.file, place.line, message)


def check_model(model: RobotModel) -> None:
    """Check every link and joint on its own; how they hang together is for the tree builder."""
    for link in model.links:
        check_link(link)
    for joint in model.joints:
        check_joint(joint)


def check_link(link: Link) -> None:
    """Name, mass, inertia and shapes of a link."""
    if not link.name:
        fail(link.place, "a link without a name")
    what = f"link '{link.name}'"
    if not 0.0 <= link.mass <= LARGEST:
        fail(link.place, f"{what}: mass is {link.mass!r}; expected zero or more, up to {LARGEST:g}")
    if 0.0 < link.mass < LEAST_MASS:
        fail(link.place, f"{what}: mass is {link.mass!r}; expected zero or at least {LEAST_MASS:g}")
    _check_array(link.place, f"{what}: centre of mass", link.com, (3,))
    _check_inertia(link, what)
    for k, collision in enumerate(link.collisions):
        _check_pose(collision.place, f"{what}: collision {k}", collision.pose)
        _check_geometry(collision.place, f"{what}: collision {k}", collision.geometry)
    for k, visual in enumerate(link.visuals):
        _check_pose(visual.place, f"{what}: visual {k}", visual.pose)
        _check_geometry(visual.place, f"{what}: visual {k}", visual.geometry)
        if visual.color is not None:
            _check_array(visual.place, f"{what}: colour of visual {k}", visual.color, (4,))


def _check_inertia(link: Link, what: str) -> None:
    inertia = _check_array(link.place, f"{what}: inertia", link.inertia, (3, 3))
    largest = float(np.abs(inertia).max())
    if np.abs(inertia - inertia.T).max() > _ROUNDING * largest:
        fail(link.place, f"{what}: the inertia is not symmetric")
    moments = np.abs(np.diagonal(inertia))
    if ((moments > 0.0) & (moments < LEAST_MOMENT)).any():
        fail(link.place, f"{what}: moments of inertia are {moments}; expected zero or at least {LEAST_MOMENT:g}")


def _check_geometry(place: Place, what: str, geometry: Geometry) -> None:
    """A known shape with positive sizes."""
    if geometry.shape not in SHAPES:
        fail(place, f"{what}: unknown shape '{geometry.shape}'; expected one of {', '.join(SHAPES)}")
    dim = _check_array(place, f"{what}: size of the {geometry.shape}", geometry.dim, (SHAPES[geometry.shape],))
    if not (dim > 0.0).all():
        sizes = " ".join(f"{value:g}" for value in dim)
        fail(place, f"{what}: size of the {geometry.shape} is {sizes}; expected positive numbers")
    if geometry.shape == "mesh":
        scale = _check_array(place, f"{what}: scale", geometry.scale, (3,))
        if not scale.all():
            fail(place, f"{what}: the scale of the mesh has a zero")
        if not geometry.mesh_file:
            fail(place, f"{what}: a mesh without a file name")


def check_joint(joint: Joint) -> None:
    """Name, type, frame, axis, limits and dynamics of a joint."""
    if not joint.name:
        fail(joint.place, "a joint without a name")
    what = f"joint '{joint.name}'"
    if joint.type not in JOINT_TYPES:
        fail(joint.place, f"{what}: unknown type '{joint.type}'; expected one of {', '.join(JOINT_TYPES)}")
    _check_pose(joint.place, what, joint.pose)
    if joint.has_axis:
        axis = _check_array(joint.place, f"{what}: axis", joint.axis, (3,))
        if not np.linalg.norm(axis) > 0.0:
            fail(joint.place, f"{what}: the axis is zero")
    for name in ("damping", "friction", "rotor_inertia", "stiffness"):
        value = getattr(joint, name)
        if not 0.0 <= value <= LARGEST:
            fail(joint.place, f"{what}: {name} is {value!r}; expected zero or more, up to {LARGEST:g}")
    _check_limits(joint, what)
    _check_spring_mount(joint, what)


def _check_limits(joint: Joint, what: str) -> None:
    for name in ("lower", "upper", "velocity_limit", "effort_limit"):
        if math.isnan(getattr(joint, name)):
            fail(joint.place, f"{what}: {name} is not a number")
    if not joint.effort_limit >= 0.0:
        fail(joint.place, f"{what}: effort limit is {joint.effort_limit!r}; expected zero or more")
    if not joint.velocity_limit > 0.0:
        fail(joint.place, f"{what}: velocity limit is {joint.velocity_limit!r}; expected more than zero")
    if joint.has_axis and joint.type != "continuous" and joint.lower > joint.upper:
        fail(joint.place, f"{what}: lower limit {joint.lower!r} is above the upper limit {joint.upper!r}")
    if joint.type == "spherical" and joint.upper < 0.0:
        fail(joint.place, f"{what}: the largest angle is {joint.upper!r}; expected zero or more")


def _check_spring_mount(joint: Joint, what: str) -> None:
    if joint.spring_mount is None:
        return
    expected = (4,) if joint.type == "spherical" else ()
    mount = _check_array(joint.place, f"{what}: spring_mount", joint.spring_mount, expected)
    if joint.type == "spherical" and not np.linalg.norm(mount) > 0.0:
        fail(joint.place, f"{what}: spring_mount is a zero quaternion")


def _check_pose(place: Place, what: str, pose: Pose) -> None:
    _check_array(place, f"{what}: position", pose.position, (3,))
    if pose.rotation is NOT_TURNED:
        return
    rotation = _check_array(place, f"{what}: rotation", pose.rotation, (3, 3))
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0.0:
        fail(place, f"{what}: the rotation is not a rotation matrix")


def _check_array(place: Place, what: str, value: Any, shape: tuple[int, ...]) -> Array:
    """`value` as an array of finite numbers of that shape."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        fail(place, f"{what}: expected numbers, found {value!r}")
    if array.shape != shape:
        counts = {(): "one number", (0,): "no numbers", (1,): "1 number"}
        expected = counts.get(shape, " by ".join(map(str, shape)) + " numbers")
        fail(place, f"{what}: expected {expected}, found {array.size}")
    if not (np.abs(array) <= LARGEST).all():  # also true for NaN
        fail(place, f"{what}: {value!r} has a value beyond {LARGEST:g}")
    return array

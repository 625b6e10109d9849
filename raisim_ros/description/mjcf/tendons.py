"""Tendons of a compiled model: sums of joint coordinates, or led from site to site."""

from __future__ import annotations

from raisim_ros.description.mjcf.actuators import ENDLESS
from raisim_ros.description.mjcf.places import Frame, Places
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import RoutePoint, TreeTendon


class _ElsewhereError(Exception):
    """Some of it belongs to another system."""


def tendons_of(builder: RobotBuilder, places: Places) -> dict[int, TreeTendon]:
    """The tendons of a robot, by their numbers in the model; what cannot be had is noted."""
    model = builder.model
    found = {}
    for number in range(len(model.names["tendon"])):
        first, count = int(model["tendon_adr"][number]), int(model["tendon_num"][number])
        own = [owner in builder.bodies for owner in _owners(builder, range(first, first + count))]
        if not any(own):
            continue
        try:
            found[number] = _tendon(builder, places, number, range(first, first + count))
        except _ElsewhereError:
            builder.notes.add("tendons between two systems")
    return found


def _owners(builder: RobotBuilder, wraps: range) -> list[int]:
    """Moving bodies that a tendon has to do with."""
    model = builder.model
    arrays = {"joint": "jnt_bodyid", "site": "site_bodyid", "sphere": "geom_bodyid", "cylinder": "geom_bodyid"}
    owners = []
    for wrap in wraps:
        array = arrays.get(model.kind("wrap_type", wrap))
        if array is not None:
            body = int(model[array][model["wrap_objid"][wrap]])
            if not builder.skeleton.is_static(body):
                owners.append(body)
    return owners


def _tendon(builder: RobotBuilder, places: Places, number: int, wraps: range) -> TreeTendon:
    model, notes = builder.model, builder.notes
    notes.add("armature of tendons", model.has("tendon_armature", number))
    notes.add("actuatorfrcrange of tendons", model.has("tendon_actfrclimited", number))
    curved = model.has("tendon_stiffnesspoly", number) or model.has("tendon_dampingpoly", number)
    notes.add("polynomial stiffness and damping", curved)
    lower, upper = model["tendon_range"][number] if model["tendon_limited"][number] else ENDLESS
    rest_lower, rest_upper = model["tendon_lengthspring"][number]
    is_fixed = model.kind("wrap_type", wraps[0]) == "joint"
    return TreeTendon(
        model.names["tendon"][number] or f"tendon_{number}",
        _terms(builder, wraps) if is_fixed else (),
        float(model["tendon_stiffness"][number]),
        float(model["tendon_damping"][number]),
        (float(rest_lower), float(rest_upper)),
        float(model["tendon_frictionloss"][number]),
        (float(lower), float(upper)),
        () if is_fixed else _route(builder, places, wraps),
    )


def _terms(builder: RobotBuilder, wraps: range) -> tuple[tuple[str, float], ...]:
    model = builder.model
    terms = []
    for wrap in wraps:
        joint = int(model["wrap_objid"][wrap])
        if joint not in builder.joints:
            raise _ElsewhereError
        terms.append((builder.skeleton.joint_names[joint], float(model["wrap_prm"][wrap])))
    return tuple(terms)


def _route(builder: RobotBuilder, places: Places, wraps: range) -> tuple[RoutePoint, ...]:
    model = builder.model
    route = []
    for wrap in wraps:
        kind, index, number = model.kind("wrap_type", wrap), int(model["wrap_objid"][wrap]), model["wrap_prm"][wrap]
        if kind == "pulley":
            route.append(RoutePoint("pulley", size=float(number)))
        elif kind == "site":
            frame = _known(places.of_site(index))
            route.append(RoutePoint("point", frame.link, frame.position))
        else:
            frame, radius = _known(places.of_geom(index)), float(model["geom_size"][index, 0])
            side = _known(places.of_site(round(float(number)))) if number >= 0 else Frame("", (), ())
            route.append(
                RoutePoint(kind, frame.link, frame.position, frame.quaternion, radius, side.link, side.position)
            )
    return tuple(route)


def _known(frame: Frame | None) -> Frame:
    if frame is None:
        raise _ElsewhereError
    return frame

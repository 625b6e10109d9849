"""Tendons, drives and locks of a tree as the engine takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.kinematic_tree import FramePair, KinematicTree, RoutePoint, TreeActuator, TreeLock
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib

_WORLD = -1
_ROUTES = {
    "point": lib.RS_ROUTE_POINT,
    "sphere": lib.RS_ROUTE_SPHERE,
    "cylinder": lib.RS_ROUTE_CYLINDER,
    "pulley": lib.RS_ROUTE_PULLEY,
}
DYNAMICS = {
    "none": lib.RS_DYNAMICS_NONE,
    "integrator": lib.RS_DYNAMICS_INTEGRATOR,
    "filter": lib.RS_DYNAMICS_FILTER,
    "filter_exact": lib.RS_DYNAMICS_FILTER_EXACT,
    "muscle": lib.RS_DYNAMICS_MUSCLE,
}
"""How activations follow controls."""
LAWS = {"constant": lib.RS_LAW_CONSTANT, "affine": lib.RS_LAW_AFFINE, "muscle": lib.RS_LAW_MUSCLE}
"""How gain and bias follow from length and speed."""


class Lines:
    """Everything along which a drive or lock acts is a tendon of the engine: the robot's tendons, then one for each
    drive on a joint or between frames, then those of the locks."""

    def __init__(self, tree: KinematicTree) -> None:
        self._joints = {body.joint_name: index for index, body in enumerate(tree.bodies)}
        self._bodies = {body.name: index for index, body in enumerate(tree.bodies)}
        self._tendons = {tendon.name: index for index, tendon in enumerate(tree.tendons)}
        self._kept: list[Any] = []  # arrays that the definitions point to
        self._lines: list[dict[str, Any]] = []
        for tendon in tree.tendons:
            line = self._route(tendon.route) if tendon.route else self._terms(tendon.terms)
            line |= {"stiffness": tendon.stiffness, "damping": tendon.damping, "friction": tendon.friction}
            line["rest_lower"], line["rest_upper"] = tendon.rest
            line["lower"], line["upper"] = tendon.range
            self._lines.append(line)
        self._drives = [self._drive(actuator) for actuator in tree.actuators if actuator.is_drive]
        for lock in tree.locks:
            self._lock(lock)

    def fill(self, definition: Any) -> None:
        """Write all of them into the definition of an articulated system, which points to parts of this object."""
        definition.tendon_count, definition.tendons = len(self._lines), self._array("rs_tendon_def", self._lines)
        definition.drive_count, definition.drives = len(self._drives), self._array("rs_drive_def", self._drives)

    def _array(self, kind: str, rows: list[dict[str, Any]]) -> Any:
        array = ffi.new(f"{kind}[]", rows)
        self._kept.append(array)
        return array

    def _add(self, line: dict[str, Any]) -> int:
        self._lines.append({"lower": -np.inf, "upper": np.inf} | line)
        return len(self._lines) - 1

    # ---- ways ----

    def _terms(self, terms: tuple[tuple[str, float], ...]) -> dict[str, Any]:
        array = ffi.new("rs_tendon_term[]", [(self._joints[joint], coefficient) for joint, coefficient in terms])
        self._kept.append(array)
        return {"kind": lib.RS_TENDON_FIXED, "term_count": len(terms), "terms": array}

    def _link(self, name: str) -> int:
        if name and name not in self._bodies:
            raise InvalidValueError(f"a tendon, actuator or lock refers to the link '{name}', which the robot lacks")
        return self._bodies[name] if name else _WORLD

    def _routed(self, points: list[dict[str, Any]]) -> dict[str, Any]:
        return {"route_count": len(points), "routes": self._array("rs_route_def", points)}

    def _route(self, route: tuple[RoutePoint, ...]) -> dict[str, Any]:
        points = []
        for point in route:
            if point.kind not in _ROUTES:
                raise InvalidValueError(f"a tendon comes by a '{point.kind}'; expected {', '.join(_ROUTES)}")
            placed = _placed(self._link(point.link), point.position, point.quaternion)
            placed |= {"kind": _ROUTES[point.kind], "size": point.size, "has_side": len(point.side) > 0}
            if point.side:
                placed["side_link"], placed["side"] = self._link(point.side_link), list(point.side)
            points.append(placed)
        return {"kind": lib.RS_TENDON_ROUTED} | self._routed(points)

    def _frames(self, pair: FramePair) -> dict[str, Any]:
        own = _placed(self._link(pair.link), pair.position, pair.quaternion)
        other = _placed(self._link(pair.reference_link), pair.reference_position, pair.reference_quaternion)
        flags = lib.RS_OWN_PUSH * pair.own_push + lib.RS_OWN_TURN * pair.own_turn
        flags += lib.RS_UNMEASURED * (not pair.is_measured)
        line = {"kind": lib.RS_TENDON_FRAMES, "gear": list(pair.gear), "flags": flags}
        return line | self._routed([own, other])

    # ---- drives and locks ----

    def _drive(self, actuator: TreeActuator) -> dict[str, Any]:
        if actuator.tendon:
            tendon = self._tendons[actuator.tendon]
        elif actuator.frames is not None:
            tendon = self._add(self._frames(actuator.frames))
        else:
            tendon = self._add(self._terms(((actuator.joint, 1.0),)))
        row: dict[str, Any] = {
            "tendon": tendon,
            "gear": actuator.gear,
            "gain": [actuator.gain],
            "bias": [actuator.bias],
            "control_range": list(actuator.control_range),
            "force_range": list(actuator.force_range),
            "activation_range": [-np.inf, np.inf],
        }
        law = actuator.law
        if law is not None:
            for what, name, known in (
                ("dynamics", law.dynamics, DYNAMICS),
                ("gain_law", law.gain_law, LAWS),
                ("bias_law", law.bias_law, LAWS),
            ):
                if name not in known:
                    raise InvalidValueError(f"actuator '{actuator.name}': {what} '{name}'; expected {', '.join(known)}")
                row[what] = known[name]
            row |= {
                "early": law.early,
                "dynamics_numbers": list(law.dynamics_numbers[:3]),
                "gain": list(law.gain_numbers[:9]),
                "bias": list(law.bias_numbers[:9]),
                "activation_range": list(law.activation_range),
                "length_range": list(law.length_range),
                "strength": law.strength,
            }
        return row

    def _lock(self, lock: TreeLock) -> None:
        if lock.frames is not None:
            self._add(self._frames(lock.frames) | {"lower": 0.0, "upper": 0.0})
            return
        if lock.joints:
            ends = [self._add(self._terms(((joint, 1.0),))) for joint in lock.joints]
        else:
            ends = [self._tendons[tendon] for tendon in lock.tendons]
        curve = {"of": ends, "reference": list(lock.references), "curve": list(lock.curve)}
        self._add({"kind": lib.RS_TENDON_CURVE, "lower": 0.0, "upper": 0.0} | curve)


def _placed(link: int, position: tuple[float, ...], quaternion: tuple[float, ...]) -> dict[str, Any]:
    return {
        "kind": lib.RS_ROUTE_POINT,
        "link": link,
        "side_link": _WORLD,
        "position": list(arguments.vector("position", position, 3)),
        "rotation": list(np.reshape(matrix_from_quaternion(np.asarray(quaternion)), -1)),
        "size": 1.0,
    }

"""An object of a World in words, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.world.world import World

_MOST_CONTACTS = 8
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def literal(text: str) -> str:
    """A name as Markdown that shows it and does nothing else: pages would draw the HTML and open the images in it."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return _MARKS.sub(r"\\\1", shown)


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns as Markdown."""
    return "\n".join(["| | |", "|---|---|", *(f"| {label} | {value} |" for label, value in rows)])


def numbers(values: Iterable[float], digits: int = 3) -> str:
    """Numbers side by side."""
    return " ".join(f"{round(float(value), digits) + 0.0:.{digits}f}" for value in values)  # no -0.000


def describe_object(world: World, handle: Object, name: str) -> str:
    """State, contacts and materials."""
    rows = [("type", handle.get_object_type().name.lower().replace("_", " ")), ("id", str(handle.get_id()))]
    if isinstance(handle, ArticulatedSystem):
        rows += _robot_rows(handle)
    elif isinstance(handle, SingleBodyObject):
        rows += _body_rows(handle)
    elif isinstance(handle, SoftObject):
        rows += _soft_rows(handle)
        rows.append(("material", literal(world.get_object_material(handle))))
        rows.append(("sleeping", "yes" if world.is_object_sleeping(handle) else "no"))
    if isinstance(handle, (ArticulatedSystem, SingleBodyObject)):
        materials = sorted(set(handle._materials()))
        if materials:
            rows.append(("material", literal(", ".join(materials))))
        rows.append(("sleeping", "yes" if world.is_object_sleeping(handle) else "no"))
    step = world.get_time_step()
    touches = []
    for contact in handle.get_contacts():
        other = world.get_object(contact.get_pair_object_index())
        touches.append((_name(other), float((contact.get_impulse() ** 2).sum()) ** 0.5 / step))
    return f"**{literal(name)}**\n\n{table([*rows, *contact_rows(touches)])}"


def contact_rows(touches: list[tuple[str, float]]) -> list[tuple[str, str]]:
    """How many contacts an object has; of the first ones what it touches, and the force [N]."""
    shown = [(f"… with {literal(other)}", f"{force:.1f} N") for other, force in touches[:_MOST_CONTACTS]]
    return [("contacts", str(len(touches))), *shown]


def _name(handle: Object | None) -> str:
    return "?" if handle is None else handle.get_name() or f"object {handle.get_id()}"


def _body_rows(body: SingleBodyObject) -> list[tuple[str, str]]:
    return [
        ("body type", body.get_body_type().name.lower()),
        ("mass [kg]", f"{body.get_mass():g}"),
        ("position [m]", numbers(body.get_position())),
        ("orientation (w x y z)", numbers(body.get_quaternion())),
        ("velocity [m/s]", numbers(body.get_linear_velocity())),
        ("angular velocity [rad/s]", numbers(body.get_angular_velocity())),
    ]


def _soft_rows(soft: SoftObject) -> list[tuple[str, str]]:
    low, high = soft.get_bounds()
    return [
        ("particles", str(soft.get_num_particles())),
        ("mass [kg]", f"{soft.get_mass():g}"),
        ("centre of mass [m]", numbers(soft.get_position())),
        ("velocity [m/s]", numbers(soft.get_velocity())),
        ("from [m]", numbers(low)),
        ("to [m]", numbers(high)),
        ("energy: kinetic, elastic [J]", numbers((soft.get_kinetic_energy(), soft.get_elastic_energy()))),
    ]


def _robot_rows(robot: ArticulatedSystem) -> list[tuple[str, str]]:
    return [
        ("bodies", str(len(robot.get_kinematic_tree().bodies))),
        ("degrees of freedom", str(robot.get_dof())),
        ("mass [kg]", f"{robot.get_total_mass():g}"),
        ("base position [m]", numbers(robot.get_base_position())),
        ("base orientation (w x y z)", numbers(robot.get_base_quaternion())),
        ("centre of mass [m]", numbers(robot.get_com())),
        ("control", robot.get_control_mode().name.lower().replace("_", " ")),
    ]

"""Which pairs of a robot's bodies may collide with each other."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.rotation import Array
from raisim_ros.description.urdf.srdf import load_srdf
from raisim_ros.engine._library import lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check

if TYPE_CHECKING:
    from raisim_ros.engine.articulated.system import ArticulatedSystem

_SHOWN = 6  # pairs named in a message


def reference_configuration(tree: KinematicTree) -> Array:
    """q with every joint as near to zero as its limits allow, the base in the origin; with closed loops: closed."""
    if tree.pins:
        return np.array(tree.pins[0].nominal_config)
    parts = []
    for body in tree.bodies:
        coordinate = body.joint_type.zero_coordinate
        if body.joint_type.has_axis:
            coordinate = np.clip(coordinate, body.lower, body.upper)
        parts.append(coordinate)
    return np.concatenate(parts)


def overlap_depths(robot: ArticulatedSystem, configuration: Array) -> Array:
    """Depth [m] to which the shapes of each two bodies overlap at `configuration`: 0 where they only touch, negative
    where they are apart. A square symmetric array."""
    count = len(robot._tree.bodies)
    q = np.ascontiguousarray(configuration, dtype=np.float64)
    depth = np.empty((count, count))
    check(lib.rs_articulation_overlaps(robot._c, robot._engine_id, c_array(q), c_array(depth)))
    return depth


def leave_out_pairs(robot: ArticulatedSystem) -> None:
    """Apply the robot's option `self_collision`, its SRDF and the pairs that its file excludes; tells of overlaps."""
    option, tree = robot.get_options(), robot._tree
    count = len(tree.bodies)
    pairs: set[tuple[int, int]] = {(min(pair), max(pair)) for pair in tree.ignored_pairs}
    if option.self_collision == "none":
        pairs |= {(i, j) for i in range(count) for j in range(i + 1, count)}
    enabled: set[tuple[int, int]] = set()
    if option.do_not_collide_with_parent:  # a pin joins neighbours as a joint does
        pairs |= {(min(pin.body1, pin.body2), max(pin.body1, pin.body2)) for pin in tree.pins}
    if option.srdf is not None:
        disabled, enabled = _srdf_pairs(robot)
        pairs |= disabled
    if option.self_collision == "auto":
        pairs |= _overlapping_pairs(robot, pairs | enabled)
    for first, second in sorted(pairs - enabled):
        robot.ignore_collision_between(first, second)
    for first, second in sorted(enabled):
        robot.set_allowed_number_of_internal_contacts_between_two_bodies(first, second, 1)


def _overlapping_pairs(robot: ArticulatedSystem, known: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs that could collide but overlap in the reference configuration; a warning names them."""
    bodies = robot._tree.bodies
    depth = overlap_depths(robot, reference_configuration(robot._tree))
    found = {
        (int(i), int(j))
        for i, j in np.argwhere(depth >= 0.0)
        if i < j and (int(i), int(j)) not in known
        # Neighbours are left out by another option; where it lets them collide, that was asked for.
        and i != bodies[j].parent
        and j != bodies[i].parent
    }
    if found:
        worst = sorted(found, key=lambda pair: (-depth[pair], pair))
        names = [f"{bodies[i].name} and {bodies[j].name} ({1e3 * depth[i, j]:.3g} mm)" for i, j in worst[:_SHOWN]]
        more = f" and {len(worst) - _SHOWN} more" if len(worst) > _SHOWN else ""
        warnings.warn(
            f"robot '{robot._tree.name}': links that overlap in the reference configuration are left out of self "
            f"collision: {'; '.join(names)}{more}. self_collision=\"all\" keeps them; "
            "get_ignored_collision_pairs() lists all",
            RuntimeWarning,
            stacklevel=5,
        )
    return found


def _srdf_pairs(robot: ArticulatedSystem) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of bodies that the SRDF disables and enables. Two bodies collide if any two of their links may."""
    option, bodies = robot.get_options(), robot._tree.bodies
    assert option.srdf is not None
    rules = load_srdf(option.srdf)
    body_of = {link: index for index, body in enumerate(bodies) for link in body.links}
    shaped = [sorted({shape.link for shape in body.collisions}) for body in bodies]
    unknown = sorted({link for pair in rules.disabled | rules.enabled for link in pair} - set(body_of))
    if unknown:
        text = f"robot '{robot._tree.name}' has no link {', '.join(unknown[:_SHOWN])}, which its SRDF names"
        warnings.warn(text, RuntimeWarning, stacklevel=5)
    disabled_links = rules.disabled_among([link for links in shaped for link in links])
    disabled, enabled = set(), set()
    for i in range(len(bodies)):
        for j in range(i + 1, len(bodies)):
            pairs = {frozenset((a, b)) for a in shaped[i] for b in shaped[j]}
            if pairs and pairs <= disabled_links:
                disabled.add((i, j))
            elif pairs & rules.enabled:
                enabled.add((i, j))
    return disabled, enabled

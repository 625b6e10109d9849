"""How wires look: rods of their own width and colour, or coloured by tension."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.appearance import wire_colour
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import DrawnWires, Vector

# Width [m], colour (empty: by tension) and id of a wire.
WireLook = tuple[float, str, int]


def wire_looks(world: World) -> list[WireLook]:
    """Of all wires, in the order of read_wires()."""
    return [(wire.get_visualization_width(), wire.get_color(), wire.get_id()) for wire in world.get_wires()]


def drawn_wires(ends: Vector, tensions: Vector, looks: list[WireLook]) -> DrawnWires:
    """Wires between points, N x 2 x 3 [m], with so much tension [N]."""
    largest = float(np.abs(tensions).max(initial=0.0))
    rows = zip(looks, tensions.tolist(), strict=True)
    colors = [wire_colour(color, number, tension, largest)[:3] for (_, color, number), tension in rows]
    return DrawnWires(ends.copy(), np.array([width for width, _, _ in looks]), np.array(colors).reshape(-1, 3))


def wires_of(world: World) -> DrawnWires:
    """All wires of a world, as they are now."""
    states = world.read_wires().states
    return drawn_wires(states["point"], states["tension"], wire_looks(world))


def rods(ends: Vector, radii: Vector) -> tuple[Vector, Vector, Vector]:
    """Places of unit rods along z: their middles N x 3, turns w x y z, and scales N x 3."""
    ways = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(ways, axis=1)
    scales = np.stack((2.0 * radii, 2.0 * radii, lengths), axis=1)
    return ends.mean(axis=1), turns_of_z(ways / np.maximum(lengths, 1e-12)[:, None]), scales


def turns_of_z(directions: Vector) -> Vector:
    """Quaternions w x y z that turn z into unit vectors, N x 3."""
    turns = np.stack((1.0 + directions[:, 2], -directions[:, 1], directions[:, 0], np.zeros(len(directions))), axis=1)
    turns[turns[:, 0] < 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(turns / np.linalg.norm(turns, axis=1, keepdims=True))

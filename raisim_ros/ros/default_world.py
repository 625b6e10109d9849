"""The world that is shown when no file is given: a pyramid of boxes under a rain of balls."""

from __future__ import annotations

import random

from raisim_ros.engine.world import World

_PYRAMID_LAYERS = 6
_BOX = 0.4  # edge [m]
_BALLS = 24
_RAIN_SEED = 5


def build_default_world() -> World:
    """A ground, a pyramid, and balls that fall on it from increasing heights."""
    world = World()
    world.add_ground().set_name("ground")
    _add_pyramid(world)
    _add_rain(world)
    return world


def _add_pyramid(world: World) -> None:
    for layer in range(_PYRAMID_LAYERS):
        count = _PYRAMID_LAYERS - layer
        for number in range(count):
            box = world.add_box(_BOX, _BOX, _BOX, mass=2.0)
            box.set_position(0.0, (number - 0.5 * (count - 1)) * 1.1 * _BOX, (layer + 0.5) * _BOX)
            box.set_name(f"box_{layer}_{number}")
            box.set_appearance("orange" if (layer + number) % 2 else "brown")


def _add_rain(world: World) -> None:
    chance = random.Random(_RAIN_SEED)
    for number in range(_BALLS):
        radius = chance.uniform(0.08, 0.2)
        ball = world.add_sphere(radius, mass=500.0 * radius**3)
        position = (chance.uniform(-0.6, 0.6), chance.uniform(-1.2, 1.2), 4.0 + 0.8 * number)
        ball.set_position(*position)
        ball.set_name(f"ball_{number}")
        ball.set_appearance("blue" if number % 3 else "cyan")

"""Draw the pictures of the documentation with the engine's own rays: `make pictures`.

    python tools/draw_pictures.py [NAME ...]

A picture for every example (docs/images/gallery/NAME.jpg), and the film at the top of the README (hero).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from raisim_ros import ArticulatedSystem, TerrainProperties, View, World
from raisim_ros.description.resources import resource
from raisim_ros.viewer.export import write_film

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = (560, 315)
FILM_SIZE, FILM_RATE, FILM_SECONDS = (512, 288), 16.0, 3.5
STANCE = np.array([0.0, 0.5, -1.0] * 4)


def load(path: Path) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_example(path: Path) -> None:
    """Run an example for its SECONDS and draw it."""
    example: Any = load(path)
    world = example.build()
    control = getattr(example, "control", None)
    for _ in range(round(example.SECONDS / world.get_time_step())):
        if control is not None:
            control(world)
        world.integrate()
    extras = {"contacts": getattr(example, "CONTACTS", False), "points": getattr(example, "POINTS", False)}
    picture = world.render(example.VIEW, *SIZE, "best", **extras)
    out = IMAGES / "gallery" / f"{path.stem}.jpg"
    out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(out, quality=86, optimize=True, progressive=True)


def hero_world() -> World:
    """Quadrupeds on a landscape under a rain of balls and boxes."""
    world = World()
    world.set_time_step(0.002)
    size = {"x_size": 12.0, "y_size": 12.0, "x_samples": 90, "y_samples": 90}
    terrain = world.add_height_map(TerrainProperties(frequency=0.3, z_scale=0.45, seed=11, **size))
    for number, (x, y) in enumerate(((0.0, 0.0), (-1.7, 1.2), (-2.2, -0.7))):
        robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
        robot.set_name(f"robot_{number}")
        q = np.r_[x, y, terrain.get_height(x, y) + 0.62, 1, 0, 0, 0, STANCE]
        robot.set_generalized_coordinate(q)
        robot.set_pd_gains(np.r_[np.zeros(6), np.full(12, 220.0)], np.r_[np.zeros(6), np.full(12, 9.0)])
        robot.set_pd_target(q, np.zeros(18))
    random = np.random.default_rng(5)
    for number in range(36):
        x, y = random.uniform(-2.6, 1.8), random.uniform(-2.4, 2.4)
        thing = world.add_sphere(0.1, 0.1) if number % 2 else world.add_box(0.18, 0.18, 0.18, 0.12)
        thing.set_position(x, y, 1.6 + 0.12 * number)
        thing.set_appearance(("orange", "blue", "red", "yellow", "purple", "cyan")[number % 6])
    return world


def hero_pictures(world: World) -> Iterator[np.ndarray[Any, np.dtype[np.uint8]]]:
    """The robots bend their knees under what falls on them."""
    steps = round(1.0 / (FILM_RATE * world.get_time_step()))
    robots = [one for one in world.get_obj_list() if isinstance(one, ArticulatedSystem)]
    world.integrate(150)
    for frame in range(round(FILM_SECONDS * FILM_RATE)):
        for number, robot in enumerate(robots):
            bend = 0.1 * np.sin(2.0 * np.pi * (frame / FILM_RATE * 0.6 + number / 3.0))
            target = robot.get_generalized_coordinate()
            target[7:] = STANCE + bend * np.array([0.0, 1.0, -2.0] * 4)
            robot.set_pd_target(target, np.zeros(18))
        world.integrate(steps)
        yield world.render(View((3.4, -3.0, 1.9), (-0.7, 0.0, 0.45), 0.85), *FILM_SIZE, "good")


def main(names: list[str]) -> None:
    """Draw all, or those that are named."""
    for path in sorted((ROOT / "examples").glob("*.py")):
        if not path.name.startswith("ros_") and (not names or path.stem in names):
            print(path.stem, flush=True)
            draw_example(path)
    if not names or "hero" in names:
        print("hero", flush=True)
        write_film(IMAGES / "hero.gif", hero_pictures(hero_world()), FILM_RATE)


if __name__ == "__main__":
    main(sys.argv[1:])

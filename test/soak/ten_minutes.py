"""Six scenes watched for ten simulated minutes each: `python test/soak/ten_minutes.py [--minutes 10] [--images FOLDER]`.

Told are the energy at the start and at the end, the largest gain in a single step, and how far anything moved in the last
minute. With --images, a picture at the start and at the end of each scene and a plot of all energies are drawn. Nothing
sleeps.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from raisim_ros import ArticulatedSystem, BodyType, View, World
from raisim_ros.description.resources import resource

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Watched:
    """A scene. Motors and lifts may give energy, so that of driven ones may grow."""

    name: str
    build: Callable[[], World]
    view: View | None = None
    control: Callable[[World], None] | None = None
    driven: bool = False
    prefix: str = ""  # of the names of the objects whose energy is meant


def house_of_cards() -> World:
    """Three leaning pairs, two cards flat on them, two pairs, one card, a pair on top."""
    world = World()
    world.set_time_step(0.002)
    world.set_default_material(0.6, 0.0, 0.0)
    world.add_ground()
    length, width, thickness, lean = 0.088, 0.063, 0.0003, 0.35
    rise, half_base = length * np.cos(lean) + thickness * np.sin(lean), 0.5 * (length * np.sin(lean) + thickness * np.cos(lean))
    for floor in range(3):
        z = floor * (rise + thickness)
        for pair in range(3 - floor):
            x = (pair - 0.5 * (2 - floor)) * 4.0 * half_base
            for side in (-1.0, 1.0):
                card = world.add_box(thickness, width, length, 0.0018)
                card.set_pose((x - side * half_base, 0.0, z + rise / 2), (np.cos(side * lean / 2), 0, np.sin(side * lean / 2), 0))
        for gap in range(2 - floor):
            card = world.add_box(length, width, thickness, 0.0018)
            card.set_position((gap - 0.5 * (1 - floor)) * 4.0 * half_base, 0.0, z + rise + thickness / 2)
    return world


def fallen_humanoid() -> World:
    """Gymnasium's humanoid, limp, let fall on its side."""
    import gymnasium

    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    robot = world.add_articulated_system(Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml")
    coordinates = robot.get_generalized_coordinate().copy()
    coordinates[:7] = 0.0, 0.0, 1.6, np.cos(0.6), np.sin(0.6), 0.0, 0.0
    robot.set_generalized_coordinate(coordinates)
    return world


def scenes() -> list[Watched]:
    crane, gripper, cradle = example("crane"), example("gripper"), example("newtons_cradle")
    return [
        Watched("default_world", lambda: World(resource("worlds/default.xml")), driven=True),
        Watched("crane", crane.build, crane.VIEW, driven=True),
        Watched("newtons_cradle", cradle.build, cradle.VIEW, prefix="ball_"),  # others hang on a spring
        Watched("house_of_cards", house_of_cards, View((0.15, -0.45, 0.25), (0.0, 0.0, 0.12))),
        Watched("gripper", gripper.build, gripper.VIEW, gripper.control, driven=True),
        Watched("fallen_humanoid", fallen_humanoid, View((3.2, -3.2, 2.4), (0.0, 0.0, 0.8))),
    ]


def moving(world: World, prefix: str) -> list:
    objects = [one for one in world.get_obj_list() if one.get_name().startswith(prefix) and hasattr(one, "get_energy")]
    return [one for one in objects if one.get_body_type() == BodyType.DYNAMIC]


def places(objects: list) -> np.ndarray:
    return np.array([one.get_base_position() if isinstance(one, ArticulatedSystem) else one.get_position() for one in objects])


def watch(scene: Watched, minutes: float, images: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Times and energies, ten a second."""
    world = scene.build()
    world.set_sleeping_enabled(False)
    objects = moving(world, scene.prefix)
    picture(world, scene, "start", images)
    steps, often = round(60.0 * minutes / world.get_time_step()), max(1, round(0.1 / world.get_time_step()))
    energy = before = sum(one.get_energy() for one in objects)
    times, energies, gain, last_minute = [0.0], [energy], 0.0, places(objects)
    for step in range(1, steps + 1):
        if scene.control is not None:
            scene.control(world)
        world.integrate()
        now = sum(one.get_energy() for one in objects)
        gain, before = max(gain, now - before), now
        if step % often == 0:
            times.append(world.get_world_time())
            energies.append(now)
        if step == round(steps * (1.0 - 1.0 / max(minutes, 1.0))):
            last_minute = places(objects)
    picture(world, scene, "end", images)
    moved = np.linalg.norm(places(objects) - last_minute, axis=1).max()
    told = "driven" if scene.driven else f"largest gain in a step {gain:.2g} J"
    print(f"{scene.name}: energy {energy:.6g} to {before:.6g} J, {told}, moved {moved:.2g} m in the last minute", flush=True)
    return np.array(times), np.array(energies)


def picture(world: World, scene: Watched, when: str, images: Path | None) -> None:
    if images is not None:
        from PIL import Image

        image = world.render(scene.view, 480, 270, "good")
        Image.fromarray(image).save(images / f"watch_{scene.name}_{when}.jpg", quality=84, optimize=True)


def plot(series: dict[str, tuple[np.ndarray, np.ndarray]], images: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(12, 5.5), constrained_layout=True)
    for axis, (name, (times, energies)) in zip(axes.flat, series.items(), strict=True):
        axis.plot(times / 60.0, energies)
        axis.set(title=name.replace("_", " "), xlabel="time [min]", ylabel="energy [J]")
    figure.savefig(images / "watch_energy.png", dpi=75)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--images", type=Path)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in scenes() if options.only is None or one.name in options.only]
    series = {one.name: watch(one, options.minutes, options.images) for one in chosen}
    if options.images is not None and options.only is None:
        plot(series, options.images)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Contacts beside other engines: energy over time, overlap against mass ratio, violation against sweeps.

All bodies are cubes and balls, whose inertia is the same about every axis: so the energy is known without asking the
engine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from engines import ENGINES, RaisimRos, Simulation, drake_engine
from scenes import Body, Scene
from section import Effort, table

RATIOS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
SWEEPS = (1, 2, 5, 10, 20, 50, 100, 150)


def engines() -> list[type[Simulation]]:
    """Those that are installed; Drake, which is large, only if somebody has brought it."""
    return [*ENGINES, *drake_engine()]


# ---- scenes ----


def pile() -> Scene:
    """Sixty balls and cubes fall on each other."""
    random = np.random.default_rng(5)
    scene = Scene("pile", "60 balls and cubes, masses 1 : 30, dropped on each other", 0.005, 1200, friction=0.6)
    for k in range(60):
        turn = random.normal(size=4)
        side, place = random.uniform(0.1, 0.3), (*random.uniform(-0.25, 0.25, 2).tolist(), 0.3 + 0.15 * k)
        shape, size = ("sphere", (side / 2,)) if k % 3 == 0 else ("box", (side,) * 3)
        mass = float(10 ** random.uniform(0.0, 1.5))
        scene.bodies.append(Body(shape, size, mass, place, tuple((turn / np.linalg.norm(turn)).tolist())))
    return scene


def struck_tower() -> Scene:
    """A heavy ball falls on a tower of cubes."""
    scene = Scene("struck tower", "a ball of 100 kg falls 4 m on 3 x 3 x 8 cubes of 1 kg", 0.005, 1200, friction=0.7)
    for i, j, k in np.ndindex(3, 3, 8):
        scene.bodies.append(Body("box", (0.2,) * 3, 1.0, (0.2 * i, 0.2 * j, 0.1 + 0.2 * k)))
    scene.bodies.append(Body("sphere", (0.3,), 100.0, (0.15, 0.25, 6.0)))
    return scene


def heavy_on_light() -> Scene:
    """Each cube four times as heavy as the one below it."""
    scene = Scene("heavy on light", "6 cubes, each 4 times as heavy as the one below", 0.005, 1200)
    for k in range(6):
        scene.bodies.append(Body("box", (0.2,) * 3, 4.0**k, (0.0, 0.0, 0.1 + 0.2 * k)))
    return scene


def two_cubes(ratio: float) -> Scene:
    """A cube on a lighter one."""
    scene = Scene("two cubes", "", 0.005, 400)
    scene.bodies = [Body("box", (0.2,) * 3, mass, (0.0, 0.0, z)) for mass, z in ((1.0, 0.1), (ratio, 0.3))]
    return scene


# ---- what is measured ----


def energy(scene: Scene, simulation: Simulation) -> float:
    """Kinetic and potential energy of all bodies [J]."""
    mass = np.array([body.mass for body in scene.bodies])
    inertia = np.array([body.mass * (0.4 * body.size[0] ** 2 if body.shape == "sphere" else body.size[0] ** 2 / 6)
                        for body in scene.bodies])
    linear, angular = simulation.velocities()
    kinetic = 0.5 * mass @ (linear**2).sum(1) + 0.5 * inertia @ (angular**2).sum(1)
    return float(kinetic - mass @ simulation.positions() @ np.array(scene.gravity))


def energies(scene: Scene, engine: type[Simulation], effort: Effort) -> np.ndarray:
    """Energy before the first and after every step, over that at the start."""
    simulation = engine(scene)
    series = [energy(scene, simulation)]
    for _ in range(effort.part(scene.steps)):
        simulation.step(1)
        series.append(energy(scene, simulation))
    return np.array(series) / series[0]


def overlap(engine: type[Simulation], ratio: float, effort: Effort) -> float:
    """Largest overlap of two cubes at rest over their size."""
    scene = two_cubes(ratio)
    simulation = engine(scene)
    simulation.step(effort.part(scene.steps))
    heights = simulation.positions()[:, 2]
    return float(max(0.1 - heights[0], 0.2 - (heights[1] - heights[0]), 1e-12) / 0.2)


def violations(sweeps: int, effort: Effort) -> np.ndarray:
    """Largest violation of the laws of contact in every step of the pile, over the approach speed."""
    scene = pile()
    simulation = RaisimRos(scene)
    threshold = simulation.world.get_contact_solver_param()[1]
    simulation.world.set_contact_solver_param(1.0, 1.0, 1.0, sweeps, threshold)
    found = []
    for _ in range(effort.part(600)):
        simulation.step(1)
        found.append(simulation.world.get_collision_counters().solver_relative_error)
    return np.array(found)


def gain(series: np.ndarray) -> float:
    """What the energy grew by in all steps in which it grew."""
    return float(np.maximum(np.diff(series), 0.0).sum())


# ---- the section ----


def draw(effort: Effort, series: dict[str, dict[str, np.ndarray]], overlaps: dict[str, list[float]],
         errors: dict[int, np.ndarray]) -> None:
    """The plots."""
    if effort.images is None:
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(series), figsize=(13, 6), sharex="col", constrained_layout=True)
    for (above, below), (scene, curves) in zip(axes.T, series.items(), strict=True):
        for name, curve in curves.items():
            seconds = 0.005 * np.arange(len(curve))
            above.plot(seconds, np.clip(curve, 0.0, 1.5), label=name)
            below.semilogy(seconds[1:], np.cumsum(np.maximum(np.diff(curve), 0.0)) + 1e-12, label=name)
        above.set_title(scene)
        below.set_xlabel("time [s]")
    axes[0, 0].set_ylabel("energy / at the start")
    axes[1, 0].set_ylabel("energy gained so far / at the start")
    axes[0, 0].legend()
    figure.savefig(effort.images / "physics_energy.png", dpi=80)
    plt.close(figure)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    for name, values in overlaps.items():
        left.loglog(RATIOS, values, "o-", label=name)
    left.set(xlabel="mass of the upper cube / lower cube", ylabel="overlap at rest / size")
    left.legend()
    for share in (50, 90, 99):
        levels = [max(np.percentile(errors[n], share), 1e-16) for n in SWEEPS]
        right.loglog(SWEEPS, levels, "o-", label=f"{share} % of the steps below")
    right.set(xlabel="most sweeps per step (150 unless told otherwise)", ylabel="violation / approach speed")
    right.legend()
    figure.savefig(effort.images / "physics_accuracy.png", dpi=80)
    plt.close(figure)


def measure(effort: Effort) -> str:
    """Run everything; the section as Markdown."""
    scenes = (pile(), struck_tower(), heavy_on_light())
    peers = engines()
    series = {scene.name: {engine.name: energies(scene, engine, effort) for engine in peers} for scene in scenes}
    overlaps = {engine.name: [overlap(engine, ratio, effort) for ratio in RATIOS] for engine in peers}
    errors = {sweeps: violations(sweeps, effort) for sweeps in SWEEPS}
    draw(effort, series, overlaps, errors)
    names = [engine.name for engine in peers]
    gains = [[scene.name, scene.content, *(f"{gain(series[scene.name][name]):.1e}" for name in names)]
             for scene in scenes]
    sinks = [[f"{ratio:g}", *(f"{overlaps[name][k]:.0e}" for name in names)] for k, ratio in enumerate(RATIOS)]
    return f"""## Contacts

Energy that was gained, summed over all steps in which the total energy grew, as a part of that at the start. Contacts
without restitution and motors may only take. (Six seconds at 5 ms; all engines with their default settings.)

{table(["scene", "", *names], gains)}

![Energy over time](images/physics_energy.png)

Overlap at rest of a cube on a lighter one, as a part of its size:

{table(["mass ratio", *names], sinks)}

![Overlap against mass ratio, violation against sweeps](images/physics_accuracy.png)
"""


if __name__ == "__main__":
    print(measure(Effort()))

"""Errors against closed forms and conserved quantities, the same in every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scenes
from engines import ENGINES, Simulation
from scenes import Scene
from section import Effort


@dataclass
class AccuracyRow:
    """One test: the error of each engine by its name."""

    name: str
    what: str
    target: str
    errors: dict[str, float]


def energy(simulation: Simulation, scene: Scene) -> float:
    """Kinetic and potential energy of the balls [J]."""
    v, w = simulation.velocities()
    z = simulation.positions()[:, 2]
    mass = np.array([body.mass for body in scene.bodies])
    radius = np.array([body.size[0] for body in scene.bodies])
    kinetic = 0.5 * mass * (v**2).sum(axis=1) + 0.2 * mass * radius**2 * (w**2).sum(axis=1)
    return float((kinetic - mass * scene.gravity[2] * z).sum())


def energy_error(simulation: Simulation, scene: Scene) -> float:
    """Relative change of the energy over the scene."""
    before = energy(simulation, scene)
    simulation.step(scene.steps)
    return abs(energy(simulation, scene) / before - 1.0)


def rolling_error(simulation: Simulation, scene: Scene) -> float:
    """Largest relative velocity error: balls roll at 5/7 of the pull, the box slides at the pull less friction."""
    simulation.step(scene.steps)
    pull = np.array(scene.gravity[:2])
    strength = np.linalg.norm(pull)
    time = scene.steps * scene.dt
    shares = np.array([5.0 / 7.0 if body.shape == "sphere" else 1.0 + scene.friction * scene.gravity[2] / strength
                       for body in scene.bodies])
    expected = shares[:, None] * pull * time
    found = simulation.velocities()[0][:, :2]
    return float((np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)).max())


def mean_overlap(simulation: Simulation, scene: Scene) -> float:
    """Mean overlap of all contacts over the scene, sampled every fifth step [m]."""
    total, count = 0.0, 0
    for _ in range(scene.steps // 5):
        simulation.step(5)
        overlaps = simulation.overlaps()
        total += float(overlaps.sum())
        count += len(overlaps)
    return total / max(count, 1)


def measure(effort: Effort) -> list[AccuracyRow]:
    """Run every test in every engine."""
    drop = scenes.balls(6, 0.005, 10.0)
    drop.accuracy_test = True
    elastic = scenes.balls(6, 0.001, 5.0, friction=0.0, restitution=1.0)
    elastic.accuracy_test = True
    tests: list[tuple[str, str, str, Scene, Callable[[Simulation, Scene], float]]] = [
        ("rolling", "largest relative velocity error after 4 s, dt 0.001", "< 1e-4", scenes.rolling(), rolling_error),
        ("bouncing", "relative energy error after 20 s, dt 0.001", "< 1 %", scenes.bouncing(), energy_error),
        ("666", "mean overlap of all contacts over 10 s, dt 0.005 [m]", "< 1e-4", drop, mean_overlap),
        ("elastic 666", "relative energy error after 5 s, dt 0.001", "< 2 %", elastic, energy_error),
    ]
    rows = []
    for name, what, target, whole, error in tests:
        scene = replace(whole, steps=effort.part(whole.steps))
        row = AccuracyRow(name, what, target, {engine.name: error(engine(scene), scene) for engine in ENGINES})
        print(f"{name:12}", {key: f"{value:.2e}" for key, value in row.errors.items()}, flush=True)
        rows.append(row)
    return rows

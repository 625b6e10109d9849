"""Scenes of rigid bodies that every engine simulates with the same numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Body:
    """A sphere (size: radius), box (full lengths), cylinder or capsule (radius, length along z) [m, kg]."""

    shape: str
    size: tuple[float, ...]
    mass: float
    position: Vector
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # w, x, y, z


@dataclass
class Scene:
    """Bodies above the ground z = 0; one friction and one restitution for all."""

    name: str
    content: str
    dt: float
    steps: int
    bodies: list[Body] = field(default_factory=list)
    friction: float = 0.8
    restitution: float = 0.0
    gravity: Vector = (0.0, 0.0, -9.81)
    accuracy_test: bool = False
    """No overlap correction (ERP) in this engine, elliptic friction cones in MuJoCo."""


def balls(n: int, dt: float, seconds: float, friction: float = 0.8, restitution: float = 0.0) -> Scene:
    """n x n x n balls that fall onto the ground, slightly out of line."""
    random = np.random.default_rng(0)
    name = f"{n}{n}{n} balls" if n < 10 else f"{n**3} balls"
    content = f"{n} x {n} x {n} spheres dropped on the ground"
    scene = Scene(name, content, dt, round(seconds / dt), friction=friction, restitution=restitution)
    for index in np.ndindex(n, n, n):
        x, y, z = (0.21 * np.array(index) + (0.0, 0.0, 0.3) + random.uniform(-0.001, 0.001, 3)).tolist()
        scene.bodies.append(Body("sphere", (0.1,), 10.0, (x, y, z)))
    return scene


def primitives() -> Scene:
    """Spheres on boxes."""
    scene = Scene("primitives", "16 boxes on the ground, a sphere dropped on each", 0.002, 2500)
    for i, j in np.ndindex(4, 4):
        x, y = 0.6 * i, 0.6 * j
        scene.bodies.append(Body("box", (0.4, 0.4, 0.4), 64.0, (x, y, 0.25)))
        scene.bodies.append(Body("sphere", (0.15,), 14.0, (x, y, 0.7)))
    return scene


def kapla_tower(seconds: float = 10.0) -> Scene:
    """Six floors: four planks on end, two across them, three as the floor above."""
    length, width, thickness = 1.2, 0.24, 0.08
    scene = Scene("kapla tower", "6 floors of 9 planks, uprights on end", 0.01, round(seconds / 0.01))
    z = 0.0
    for _ in range(6):
        for x in (-0.45, 0.45):
            for y in (-0.45, 0.45):
                scene.bodies.append(Body("box", (width, thickness, length), 0.5, (x, y, z + length / 2)))
        z += length
        for y in (-0.45, 0.45):
            scene.bodies.append(Body("box", (length, width, thickness), 0.5, (0.0, y, z + thickness / 2)))
        z += thickness
        for x in (-0.45, 0.0, 0.45):
            scene.bodies.append(Body("box", (width, length, thickness), 0.5, (x, 0.0, z + thickness / 2)))
        z += thickness
    return scene


def rolling() -> Scene:
    """Balls that roll and a box that slides, pulled along the ground by 5 m/s^2 at 30 degrees."""
    pull = 5.0 * np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])
    scene = Scene("rolling", "25 balls and a box pulled along the ground", 0.001, 4000, friction=0.4,
                  gravity=(pull[0], pull[1], -9.81), accuracy_test=True)
    for i, j in np.ndindex(5, 5):
        scene.bodies.append(Body("sphere", (0.5,), 10.0, (2.0 * i, 2.0 * j, 0.5)))
    scene.bodies.append(Body("box", (1.0, 1.0, 1.0), 10.0, (20.0, -10.0, 0.5)))
    return scene


def bouncing() -> Scene:
    """Elastic balls dropped from 5 m."""
    scene = Scene("bouncing", "49 elastic balls dropped from 5 m", 0.001, 20000, friction=0.0, restitution=1.0,
                  accuracy_test=True)
    for i, j in np.ndindex(7, 7):
        scene.bodies.append(Body("sphere", (0.5,), 10.0, (2.0 * i, 2.0 * j, 5.5)))
    return scene

"""Random worlds of soft objects, among themselves and with bodies.

Sizes from a millimetre to ten metres, steps of 0.5 to 10 ms, stiffness, iterations, damping, radii, modes over their ranges;
nothing blows and nothing drives. The same seed gives the same world.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from raisim_ros import DeformableMaterial, GranularMaterial, MeshBuildOptions, World

KINDS = ("cloth", "cloth", "rigid cloth", "shell", "jelly", "edges", "grains")


@dataclass
class SoftWorld:
    """A world and what moves in it."""

    name: str
    world: World
    seconds: float
    size: float
    soft: list[Any] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    free: bool = False  # nothing outside acts, not even gravity

    def moving(self) -> list[Any]:
        return [*self.soft, *self.bodies]

    def energy(self) -> float:
        return float(sum(one.get_energy() for one in self.moving()))

    def momentum(self) -> Any:
        return sum(one.get_linear_momentum() for one in self.moving())

    def scale(self) -> float:
        """Energy that the gains are compared with: motion, and the fall of everything by its size."""
        mass = sum(one.get_mass() for one in self.moving())
        kinetic = sum(one.get_kinetic_energy() for one in self.moving())
        return float(kinetic + mass * abs(self.world.get_gravity()[2]) * self.size)


def sheet(rows: int, columns: int, size: float) -> tuple[Any, Any]:
    """A square of triangles."""
    sides = [np.linspace(-0.5, 0.5, n) for n in (rows, columns)]
    x = np.array([[u, v, 0.0] for u in sides[0] for v in sides[1]]) * size
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[:-1, 1:], k[1:, 1:]))
    return x, np.r_[np.c_[a, b, d], np.c_[a, d, c]].astype(np.int32)


def material(
    rng: np.random.Generator, kind: str, size: float, mass: float, tears: bool, damped: bool
) -> DeformableMaterial:
    """As stiff as half of to ten thousand times what its weight needs."""
    weight = mass * 9.81
    more: dict[str, Any] = {"self_collision": bool(rng.random() < 0.5)}
    if kind == "jelly":
        more["youngs_modulus"] = float(weight / size**2 * 10 ** rng.uniform(0.7, 3))
        more["poisson_ratio"] = float(rng.uniform(0, 0.47))
    elif kind == "edges":
        more["distance_stiffness"] = float(weight / size * 10 ** rng.uniform(0.5, 3))
        more["volume_compliance"] = float(size**2 / weight * 10 ** rng.uniform(-3, 0))
    elif kind == "rigid cloth":
        more["solver_mode"] = "PBD"
    else:
        more["distance_stiffness"] = float(weight / size * 10 ** rng.uniform(0.5, 4))
    if kind in ("cloth", "shell", "rigid cloth") and rng.random() < 0.5:
        more["bend_compliance"] = float(1 / (weight * size * 10 ** rng.uniform(-4, 0)))
    if rng.random() < 0.3 and damped:
        more["damping"] = float(10 ** rng.uniform(-1, 1))
    if tears and kind != "rigid cloth":
        more["tear_strain"] = float(10 ** rng.uniform(-1.5, 0))
    radius = float(size * 10 ** rng.uniform(-2.3, -1.3))
    return DeformableMaterial(mass, collision_radius=radius, iterations=int(rng.choice([1, 3, 6, 6, 6, 20])), **more)


def add_grains(world: World, rng: np.random.Generator, size: float, density: float, place: Any) -> Any:
    """A box of grains, soft or hard."""
    radius = size * float(rng.uniform(0.05, 0.12))
    count = int(rng.integers(20, 200))
    mass = density * 4.19 * radius**3
    stiffness = mass * 9.81 / (radius * 10 ** rng.uniform(-3.5, -1.5)) * 10
    damping = float(rng.uniform(0, 0.7) * np.sqrt(stiffness * mass))
    friction, rolling = float(rng.uniform(0, 1)), float(rng.choice([0, 0.1]))
    grain = GranularMaterial(density, stiffness, damping, 0.0, 0.3 * damping, friction, rolling)
    grains = world.add_granular_particles(np.zeros((0, 3)), np.zeros(0), grain)
    half = size / 2
    seed = int(rng.integers(1 << 30))
    grains.emit_box_random(place - half, place + half, count, (0.6 * radius, radius), seed=seed)
    return grains


def add_soft(
    made: SoftWorld, rng: np.random.Generator, kind: str, size: float, density: float, place: Any, tears: bool
) -> Any:
    """An object of the kind."""
    world, turn = made.world, Rotation.random(random_state=rng)
    if kind == "grains":
        return add_grains(world, rng, size, density, place)
    if kind in ("cloth", "rigid cloth"):
        rows, columns = (int(n) for n in rng.integers(4, 12, 2))
        x, triangles = sheet(rows, columns, size)
        chosen = material(rng, kind, size, density * size**3 * 0.01, tears, not made.free)
        crumpled = rng.choice([0, 0, 0.02]) * size * rng.uniform(-1, 1, x.shape)
        return world.add_deformable_cloth(turn.apply(x) + place + crumpled, triangles, (), chosen)
    if kind == "shell":
        ball = trimesh.creation.icosphere(2, size / 2)
        chosen = material(rng, kind, size, density * size**3 * 0.03, tears, not made.free)
        return world.add_deformable_cloth(
            turn.apply(ball.vertices) + place, np.asarray(ball.faces, np.int32), (), chosen
        )
    mesh = trimesh.creation.box((size,) * 3) if rng.random() < 0.6 else trimesh.creation.icosphere(2, size / 2)
    chosen = material(rng, kind, size, float(density * mesh.volume), tears, not made.free)
    options = MeshBuildOptions(mode="filled", spacing=size * float(rng.uniform(0.2, 0.3)))
    return world.add_deformable_object((turn.apply(mesh.vertices) + place, mesh.faces), chosen, options)


def add_body(world: World, rng: np.random.Generator, size: float, mass: float) -> Any:
    """A ball, box, capsule or cone."""
    a, b, c = (float(value) for value in size * rng.uniform(0.15, 0.5, 3))
    return [
        lambda: world.add_sphere(a, mass),
        lambda: world.add_box(a, b, c, mass),
        lambda: world.add_capsule(a / 2, b, mass),
        lambda: world.add_cone(a, b, mass),
    ][rng.integers(4)]()


def make_world(seed: int) -> SoftWorld:
    """The world of a seed: one to three soft objects and up to two bodies above each other, on the ground or in space."""
    rng = np.random.default_rng(seed)
    size = float(10 ** rng.uniform(-3, 1))
    step = float(np.exp(rng.uniform(np.log(0.0005), np.log(0.01)))) * min(1.0, (size / 0.05) ** 0.5)
    made = SoftWorld("", World(), min(1.0, 200 * step), size, free=bool(rng.random() < 0.4))
    world = made.world
    world.set_time_step(step)
    world.set_default_material(float(rng.choice([0, rng.uniform(0, 1)])), 0.0, 0.01)
    if made.free:
        world.set_gravity([0, 0, 0])
    else:
        world.add_ground()
    density, tears = float(10 ** rng.uniform(2, 3.7)), bool(rng.random() < 0.3)
    speed = float(rng.choice([float(made.free), 1, 3])) * np.sqrt(9.81 * size)
    kinds = [KINDS[k] for k in rng.integers(len(KINDS), size=rng.integers(1, 4))]
    for k, kind in enumerate(kinds):
        place = np.array([*(0.3 * size * rng.uniform(-1, 1, 2)), size * (1.2 + 2.2 * k)])
        own_size, own_density = size * float(rng.uniform(0.6, 1.3)), density * 10 ** rng.uniform(-0.5, 0.5)
        made.soft.append(add_soft(made, rng, kind, own_size, own_density, place, tears))
    for _ in range(int(rng.integers(0, 3))):
        mass = float(np.clip(density * size**3 * 10 ** rng.uniform(-2, 0.5), 1e-9, 1e6))
        body = add_body(world, rng, size, mass)
        body.set_position([*(0.3 * size * rng.uniform(-1, 1, 2)), size * (1.2 + 2.2 * len(made.moving()))])
        body.set_orientation(Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]])
        made.bodies.append(body)
    for k, one in enumerate(made.moving()):
        way = np.array([*(0.3 * rng.normal(size=2)), rng.random() if k == 0 else -rng.random()])
        one.set_velocity(speed * way, 0.5 * speed / size * rng.normal(size=3))
    made.name = f"seed {seed}: {', '.join(kinds)} and {len(made.bodies)} bodies of {size:.2g} m, dt {step:.2g}"
    return made


class Lift:
    """What pushing bodies out of each other and out of the ground gave them: height without velocity, where they touch each
    other or the ground."""

    def __init__(self, made: SoftWorld) -> None:
        self.made, self.given, self.before = made, 0.0, [self._state(body) for body in made.bodies]

    @staticmethod
    def _state(body: Any) -> tuple[float, float]:
        return float(body.get_com_position()[2]), float(body.get_linear_velocity()[2])

    def count(self) -> None:
        dt, pull = self.made.world.get_time_step(), abs(self.made.world.get_gravity()[2])
        now = [self._state(body) for body in self.made.bodies]
        for body, (height, speed), (height_before, speed_before) in zip(self.made.bodies, now, self.before, strict=True):
            rise = height - height_before - 0.5 * dt * (speed + speed_before)
            self.given += body.get_mass() * pull * max(rise, 0.0) if body.get_contacts() else 0.0
        self.before = now


def watch(made: SoftWorld) -> tuple[float, float]:
    """Largest gain of energy over the least so far, and of momentum in space, relative to what there is."""
    scale, before, lift = made.scale(), made.momentum(), Lift(made)
    mass = sum(one.get_mass() for one in made.moving())
    least, gain, drift = made.energy(), 0.0, 0.0
    for _ in range(int(made.seconds / made.world.get_time_step())):
        made.world.integrate()
        lift.count()
        now = made.energy() - lift.given
        gain, least = max(gain, (now - least) / scale), min(least, now)
        if made.free:
            drift = max(drift, float(np.abs(made.momentum() - before).max() / np.sqrt(2 * mass * scale)))
    return gain, drift

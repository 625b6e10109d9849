"""Scenes drawn at random, so that nobody can tune for them: geometric means of speed with their spread, and accuracy.

    python bench/families.py [seed]

The seed is the date unless it is given; it stands in the table, so that a surprise can be looked at again.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import mujoco
import numpy as np

from raisim_ros import RaisimError, World

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

import sensors
import zoo
from engines import ENGINES, RaisimRos
from scenes import Body, Scene
from section import Effort, one_core, table

MEMBERS = 8  # scenes of a family


@dataclass
class Family:
    """Ratios of speed (times faster than a peer) and errors of every engine, one number per scene."""

    name: str
    content: str
    ratios: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, list[float]] = field(default_factory=dict)
    error: str = ""

    def add(self, seconds: dict[str, float], errors: dict[str, float]) -> None:
        """One scene: CPU times and errors by engine."""
        for name, spent in seconds.items():
            if name != RaisimRos.name:
                self.ratios.setdefault(name, []).append(spent / seconds[RaisimRos.name])
        for name, value in errors.items():
            self.errors.setdefault(name, []).append(value)

    def line(self, peers: list[str]) -> list[str]:
        """A line of the table."""
        errors = ", ".join(f"{name} {np.median(values):.0e}" for name, values in self.errors.items())
        return [self.name, self.content, *(spread(self.ratios.get(peer, [])) for peer in peers), self.error, errors]


def spread(ratios: list[float]) -> str:
    """Geometric mean, least and largest."""
    if not ratios:
        return ""
    return f"**{np.exp(np.mean(np.log(ratios))):.2f}** ({min(ratios):.2f} to {max(ratios):.2f})"


def spent(work: Callable[[], object]) -> float:
    """CPU time of a call [s]."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


# ---- piles ----


def random_pile(random: np.random.Generator) -> Scene:
    """Bodies of all shapes fall on each other."""
    dt, friction = float(random.choice([0.002, 0.005, 0.01])), float(random.uniform(0.2, 1.2))
    count, scale = int(random.integers(20, 150)), float(10 ** random.uniform(-1.0, 0.5))
    scene = Scene("pile", "", dt, round(1.5 / dt), friction=friction)
    for k in range(count):
        shape = str(random.choice(["sphere", "box", "cylinder", "capsule"]))
        sides = scale * random.uniform(0.1, 0.4, 3)
        size = {"sphere": sides[:1] / 2, "box": sides}.get(shape, np.array([sides[0] / 3, sides[1]]))
        turn = random.normal(size=4)
        x, y = scale * random.uniform(-0.5, 0.5, 2)
        mass = float(scale**3 * 10 ** random.uniform(0.0, 1.5))
        place = (float(x), float(y), float(scale * (0.3 + 0.12 * k)))
        quaternion = tuple((turn / np.linalg.norm(turn)).tolist())
        scene.bodies.append(Body(shape, tuple(size.tolist()), mass, place, quaternion))
    return scene


def measure_piles(random: np.random.Generator, effort: Effort) -> Family:
    content = "20 to 150 bodies of all shapes and masses fall on each other"
    family = Family("piles", content, error="mean overlap / size")
    for _ in range(effort.part(MEMBERS)):
        scene = random_pile(random)
        size = np.mean([max(body.size) for body in scene.bodies])
        seconds, errors = {}, {}
        for engine in ENGINES:
            simulation = engine(scene)
            steps = effort.part(scene.steps)
            seconds[engine.name] = spent(lambda made=simulation, steps=steps: made.step(steps))
            overlaps = simulation.overlaps()
            errors[engine.name] = float(overlaps.mean() / size) if len(overlaps) else 0.0
        family.add(seconds, errors)
    return family


# ---- trees ----


def random_tree(random: np.random.Generator) -> tuple[str, int]:
    """URDF of a tree of hinges and slides on a fixed base, and its degrees of freedom."""
    count = int(random.integers(6, 60))
    parts = ['<robot name="tree"><link name="world"/>']
    for k in range(count):
        mass = 10 ** random.uniform(-1.0, 0.5)
        x, y, z = random.uniform(-0.1, 0.1, 3)
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/>'
            f'<inertia ixx="{0.01 * mass}" iyy="{0.012 * mass}" izz="{0.015 * mass}" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
        )
        parent = "world" if k == 0 else f"l{int(random.integers(max(0, k - 4), k))}"
        kind = "prismatic" if random.uniform() < 0.1 else "continuous"
        axis, place = random.normal(size=3), random.uniform(-0.2, 0.2, 3)
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>'
            f'<limit effort="0" velocity="0" lower="-1e9" upper="1e9"/><origin xyz="{place[0]} {place[1]} {place[2]}"/>'
            f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/></joint>'
        )
    return "".join(parts) + "</robot>", count


def measure_trees(random: np.random.Generator, effort: Effort) -> Family:
    family = Family("trees", "6 to 60 joints on a fixed base fall freely", error="change of energy in 0.5 s")
    steps, dt = effort.part(500), 0.001
    for _ in range(effort.part(MEMBERS)):
        text, _ = random_tree(random)
        world = World()
        world.set_time_step(dt)
        robot = world.add_articulated_system(text)
        scale = float(robot.get_total_mass() * 9.81)  # of a metre
        before = robot.get_energy()
        ours = spent(lambda world=world: world.integrate(steps))
        model = mujoco.MjModel.from_xml_string(text)
        model.opt.timestep, model.opt.enableflags = dt, int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        start = data.energy.sum()
        model.opt.enableflags = 0
        theirs = spent(lambda model=model, data=data: mujoco.mj_step(model, data, steps))
        model.opt.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        mujoco.mj_forward(model, data)
        changes = {RaisimRos.name: robot.get_energy() - before, "MuJoCo": data.energy.sum() - start}
        errors = {name: abs(float(change)) / scale for name, change in changes.items()}
        family.add({RaisimRos.name: ours, "MuJoCo": theirs}, errors)
    return family


# ---- robots of the zoo ----


def measure_robots(random: np.random.Generator, effort: Effort) -> Family:
    content = "robots of the zoo on PD motors over a ground"
    family = Family("robots", content, error="joint speed left after 3 s [rad/s]")
    files = zoo.urdf_files()
    random.shuffle(files)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            try:
                world, robot = zoo.our_urdf(file)
                step = zoo.their_urdf(file, not robot.get_kinematic_tree().fixed_base, Path(folder))
            except (RaisimError, ValueError):
                continue  # one of the engines does not load it
            world.integrate(effort.part(500))
            step(effort.part(500))
            seconds = {RaisimRos.name: spent(lambda world=world: world.integrate(effort.part(1000))),
                       "MuJoCo": spent(lambda step=step: step(effort.part(1000)))}
            first = 0 if robot.get_kinematic_tree().fixed_base else 6
            left = robot.get_generalized_velocity()[first:]
            family.add(seconds, {RaisimRos.name: float(np.abs(left).max()) if len(left) else 0.0})
            if len(family.ratios["MuJoCo"]) >= effort.part(MEMBERS):
                break
    return family


# ---- lidar ----


def random_room(random: np.random.Generator) -> sensors.Scene:
    """Furniture of all shapes between four walls."""
    world, geoms = World(), ['<geom type="plane" size="0 0 1"/>']
    world.add_ground()
    for x, y, a, b in ((6, 0, 0.2, 12), (-6, 0, 0.2, 12), (0, 6, 12, 0.2), (0, -6, 12, 0.2)):
        world.add_box(a, b, 3.0, 1.0).set_position(x, y, 1.5)
        geoms.append(f'<geom type="box" size="{a / 2} {b / 2} 1.5" pos="{x} {y} 1.5"/>')
    for _ in range(int(random.integers(10, 120))):
        shape, (x, y) = str(random.choice(["box", "sphere", "cylinder"])), random.uniform(-5.5, 5.5, 2)
        if np.hypot(x - sensors.ORIGIN[0], y - sensors.ORIGIN[1]) < 1.0:
            continue
        a, b, c = random.uniform(0.1, 0.5, 3)
        size = {"box": (2 * a, 2 * b, 2 * c), "sphere": (a,), "cylinder": (a, 2 * c)}[shape]
        getattr(world, f"add_{shape}")(*size, 1.0).set_position(x, y, c)
        half = {"box": f"{a} {b} {c}", "sphere": f"{a}", "cylinder": f"{a} {c}"}[shape]
        geoms.append(f'<geom type="{shape}" size="{half}" pos="{x} {y} {c}"/>')
    return sensors.Scene("room", world, f"<worldbody>{''.join(geoms)}</worldbody>")


def measure_rooms(random: np.random.Generator, effort: Effort) -> Family:
    family = Family("lidar", "64 x 1024 rays in rooms with 10 to 120 things", error="distances differ by [m]")
    columns = effort.part(sensors.COLUMNS)
    rays = sensors.lidar_directions(columns)
    for _ in range(effort.part(MEMBERS)):
        room = random_room(random)
        ours = sensors.seconds(lambda room=room: sensors.scan(room.world, columns), effort)
        (peer,) = sensors.measure_peers(room, rays, effort)
        family.add({RaisimRos.name: ours, peer.name: peer.seconds}, {peer.name: peer.error})
    return family


def families(seed: int, effort: Effort) -> Iterator[Family]:
    """All of them."""
    for number, measure_family in enumerate((measure_piles, measure_trees, measure_robots, measure_rooms)):
        family = measure_family(np.random.default_rng((seed, number)), effort)
        print(*family.line([engine.name for engine in ENGINES[1:]]), sep=" | ", flush=True)
        yield family


@one_core()
def measure(effort: Effort, seed: int | None = None) -> str:
    """The section of the page."""
    seed = int(datetime.now(UTC).strftime("%Y%m%d")) if seed is None else seed
    peers = [engine.name for engine in ENGINES[1:]]
    lines = [family.line(peers) for family in families(seed, effort)]
    head = ["family", "scenes", *(f"x {peer}" for peer in peers), "error", "its median"]
    return f"""## Scenes that nobody chose

Drawn at random with the seed {seed} (the date; `python bench/families.py SEED` draws others): the geometric mean of how
many times faster this engine is, with the least and the largest of {effort.part(MEMBERS)} scenes.

{table(head, lines)}
"""


if __name__ == "__main__":
    print(measure(Effort(), int(sys.argv[1]) if len(sys.argv) > 1 else None))

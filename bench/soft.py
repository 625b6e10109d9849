"""Grains beside spheres of PyBullet and Rapier, cloth beside MuJoCo's flex; how cost grows, threads, memory.

    python bench/soft.py [grains]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from raisim_ros import DeformableMaterial, GranularMaterial, GranularSystem, World

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from engines import ENGINES, Mujoco, RaisimRos
from scenes import Body, Scene
from section import Effort, one_core, table

RADIUS, DENSITY, FRICTION, LAYERS = 0.05, 2500.0, 0.5, 20
MASS = DENSITY * 4.0 / 3.0 * np.pi * RADIUS**3
STEP = 0.002
# Springs that the weight of all layers presses together by a quarter of a hundredth of the radius.
STIFFNESS = LAYERS * MASS * 9.81 / (0.0025 * RADIUS)
GRAINS = 50_000
SETTLING, MEASURED = 20, 5  # steps
CLOTH, MODULUS, THICKNESS = 64, 3e5, 0.002


def block(count: int) -> np.ndarray:
    """Places of a loose block of so many layers, slightly out of line."""
    side = int(np.ceil(np.sqrt(count / LAYERS)))
    k = np.arange(count)
    cells = np.stack([k % side, k // side % side, k // side**2], axis=-1)
    shifts = np.random.default_rng(0).uniform(-1e-3, 1e-3, cells.shape)
    return np.asarray(RADIUS * (2.004 * (cells + 0.5) + shifts))


def grains(count: int, threads: int = 1) -> tuple[World, GranularSystem]:
    """The block in this engine."""
    world = World()
    world.set_time_step(STEP)
    world.set_sleeping_enabled(False)
    world.set_threads(threads)
    world.add_ground()
    damping = 0.3 * np.sqrt(STIFFNESS * MASS)
    material = GranularMaterial(DENSITY, STIFFNESS, damping, 0.0, 0.3 * damping, FRICTION)
    return world, world.add_granular_particles(block(count), RADIUS, material)


def per_step(step: Callable[[int], object], steps: int, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of a step."""
    begun = clock()
    step(steps)
    return (clock() - begun) / steps


def spheres(count: int) -> Scene:
    """The same block of rigid spheres."""
    bodies = [Body("sphere", (RADIUS,), MASS, tuple(place)) for place in block(count).tolist()]
    return Scene("spheres", "", STEP, SETTLING + MEASURED, bodies, FRICTION)


def grain_lines(count: int, effort: Effort) -> list[list[str]]:
    """This engine and those that are installed, but MuJoCo, which is not made for so many."""
    world, system = grains(count)
    world.integrate(effort.part(SETTLING))
    ours = per_step(world.integrate, effort.part(MEASURED))
    stats = system.get_last_step_stats()
    lines = [["raisim_ros", f"{1e3 * ours:.1f}", "", f"{100 * stats.largest_overlap:.2f}"]]
    for engine in ENGINES:
        if engine in (RaisimRos, Mujoco):
            continue
        simulation = engine(spheres(count))
        simulation.step(effort.part(SETTLING))
        seconds = per_step(simulation.step, effort.part(MEASURED))
        overlaps = simulation.overlaps()
        largest = f"{100 * overlaps.max() / RADIUS:.2f}" if len(overlaps) else ""
        lines.append([engine.name, f"{1e3 * seconds:.1f}", f"**{seconds / ours:.1f}**", largest])
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def growth(effort: Effort) -> list[list[str]]:
    """Cost of a grain, and memory, with their number; and what a second thread brings."""
    lines = []
    for count in (12_500, 25_000, 50_000, 100_000):
        world, _ = grains(effort.part(count))
        world.integrate(effort.part(SETTLING) // 2 + 1)
        one = per_step(world.integrate, effort.part(MEASURED), time.perf_counter)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        world.set_threads(2)
        world.integrate()  # which makes room for what threads share
        two = per_step(world.integrate, effort.part(MEASURED), time.perf_counter)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        number = effort.part(count)
        lines.append([f"{number}", f"{1e6 * one / number:.2f}", f"{one / two:.2f}", f"{grown / 1024:.0f}"])
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def cloth(n: int) -> World:
    """A sheet that hangs by two corners."""
    axis = np.linspace(0.0, 1.0, n)
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    place = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (place[:-1, :-1], place[1:, :-1], place[1:, 1:], place[:-1, 1:]))
    world = World()
    world.set_time_step(STEP)
    world.set_sleeping_enabled(False)
    material = DeformableMaterial(total_mass=0.2, youngs_modulus=MODULUS, thickness=THICKNESS, collision_radius=0.005)
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    world.add_deformable_cloth(np.c_[x, np.full(len(x), 2.0)], triangles, [0, n * (n - 1)], material)
    return world


def flex(n: int) -> Callable[[int], None]:
    """The same sheet in MuJoCo."""
    gap = 1.0 / (n - 1)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" integrator="discrete"/><size memory="500M"/><worldbody>'
        f'<flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" spacing="{gap} {gap} {gap}" mass="0.2"'
        ' radius="0.005">'
        '<contact selfcollide="none" conaffinity="0" contype="0"/>'
        f'<elasticity young="{MODULUS}" poisson="0.3" thickness="{THICKNESS}" elastic2d="both"/>'
        f'<pin id="0 {n * (n - 1)}"/></flexcomp></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    return lambda steps: mujoco.mj_step(model, data, steps)


def cloth_line(effort: Effort) -> list[str]:
    """Milliseconds of a step, here and in MuJoCo, while the sheet swings down."""
    n, steps = max(4, effort.part(CLOTH)), effort.part(60)
    ours, theirs = cloth(n).integrate, flex(n)
    ours(steps)
    theirs(steps)
    mine, other = per_step(ours, steps), per_step(theirs, steps)
    return [f"{n} x {n}", f"{1e3 * mine:.1f}", f"{1e3 * other:.1f}", f"**{other / mine:.1f}**"]


@one_core()
def compared(count: int, effort: Effort) -> tuple[list[list[str]], list[str]]:
    """What other engines do, too, on one core."""
    return grain_lines(count, effort), cloth_line(effort)


def measure(effort: Effort, count: int = GRAINS) -> str:
    """The section of the page."""
    lines, sheet = compared(effort.part(count), effort)
    return f"""## Grains and cloth

A block of {effort.part(count)} grains, {LAYERS} layers high, falls apart on the ground, steps of {1e3 * STEP:g} ms. The
others simulate as many rigid spheres; MuJoCo is not made for so many. Overlaps: largest, in hundredths of the radius.

{table(["engine", "ms per step", "times slower", "overlap [%]"], lines)}

Cloth of Young's modulus {MODULUS:g} N/m^2, {1e3 * THICKNESS:g} mm thick, hangs by two corners; in MuJoCo a flex that
is integrated implicitly:

{table(["vertices", "raisim_ros [ms]", "MuJoCo [ms]", "times slower"], [sheet])}

Wall time with the number of grains, what a second thread brings, and what the process grew by in these steps:

{table(["grains", "us per grain and step", "two threads", "MB more"], growth(effort))}
"""


if __name__ == "__main__":
    print(measure(Effort(), int(sys.argv[1]) if len(sys.argv) > 1 else GRAINS))

"""WorldBatch beside MuJoCo's batch and beside as many single Worlds in Python; its threads, resets and parameters.

    python bench/batch.py

Rates are environment steps per second of CPU time on one core, taken in turns.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import median

import gymnasium
import mujoco
import numpy as np

try:
    from mjbatch import Batch

    PEER = f"mjbatch (MuJoCo {mujoco.__version__})"
except ImportError:  # MuJoCo 4 has it built in
    from mujoco.batch import Batch

    PEER = f"mujoco.batch {mujoco.__version__}"

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, one_core, table
from tree_mjcf import motors_xml, robot_xml

from raisim_ros import ArticulatedSystem, World, WorldBatch
from raisim_ros.engine.types import StepProfile
from raisim_ros.envs.tasks.cart_pole import CartPole
from raisim_ros.envs.tasks.quadruped import STANCE, Quadruped

MEMBERS = 64
ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
Step = Callable[[int], None]


@dataclass
class Case:
    """A robot with random commands. `low`, `high`: of the commands, which are targets of joints or forces of motors."""

    name: str
    world: World
    model: mujoco.MjModel
    substeps: int
    low: np.ndarray
    high: np.ndarray
    commands_are: str = "forces"  # or position_targets, controls

    def commands(self, count: int) -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        return [rng.uniform(self.low, self.high, (count, len(self.low))) for _ in range(16)]

    @property
    def robot(self) -> ArticulatedSystem:
        return next(one for one in self.world if isinstance(one, ArticulatedSystem))


def without_contacts(case: Case) -> Case:
    """The same, and nothing touches."""
    world = case.world.copy()
    for one in world:
        world.set_object_collision_filter(one, 0, 0)
    model = deepcopy(case.model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return replace(case, name=f"{case.name}, no contacts", world=world, model=model)


def walker(name: str) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # softness of contacts: there is none here
        world = World(ASSETS / f"{name}.xml")
    robot = next(one for one in world if isinstance(one, ArticulatedSystem))
    motors = robot.get_actuators()
    low, high = np.array([motor.control_range for motor in motors]).T
    model = mujoco.MjModel.from_xml_path(str(ASSETS / f"{name}.xml"))
    return Case(name, world, model, 5, low, high, "controls")


def own_model(world: World, servos: str, ground: bool) -> mujoco.MjModel:
    """A robot of this package for MuJoCo."""
    tree = next(one for one in world if isinstance(one, ArticulatedSystem)).get_kinematic_tree()
    plane = '<geom type="plane" size="0 0 1"/>' if ground else ""
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{world.get_time_step()}" integrator="implicitfast"/>'
        f"<worldbody>{plane}{robot_xml(tree)}</worldbody>{servos}</mujoco>"
    )


def quadruped() -> Case:
    task = Quadruped()
    world = task.make_world()
    tree = world["quadruped"].get_kinematic_tree()
    stance = STANCE[7:]
    model = own_model(world, motors_xml(tree, 80.0, 2.0), ground=True)
    model.qpos0[:] = STANCE
    return Case("quadruped", world, model, task.substeps, stance - 0.1, stance + 0.1, "position_targets")


def cart_pole() -> Case:
    task = CartPole()
    world = task.make_world()
    slider = world["cart"].get_movable_joint_names()[0]
    model = own_model(world, f'<actuator><motor joint="{slider}"/></actuator>', ground=False)
    return Case("cart-pole", world, model, task.substeps, np.array([-20.0]), np.array([20.0]))


# ---- one environment step of all members ----


def batch_step(case: Case, threads: int) -> tuple[Step, WorldBatch]:
    batch = WorldBatch(case.world, MEMBERS, threads)
    robot = batch.robot(case.robot)
    q, u, commands = robot.coordinates, robot.velocities, case.commands(MEMBERS)
    rows = getattr(robot, case.commands_are)
    if case.commands_are == "forces":
        rows = rows[:, : len(case.low)]
    elif case.commands_are == "position_targets":
        rows = rows[:, q.shape[1] - len(case.low) :]

    def step(k: int) -> None:
        rows[:] = commands[k % 16]
        batch.step(case.substeps)
        np.hstack((q, u))

    return step, batch


def single_step(case: Case) -> Step:
    worlds = [case.world.copy() for _ in range(MEMBERS)]
    robots = [one[case.robot.get_name()] for one in worlds]
    commands, target = case.commands(MEMBERS), case.robot.get_generalized_coordinate()
    u = np.zeros(case.robot.get_dof())

    def step(k: int) -> None:
        for row, world, robot in zip(commands[k % 16], worlds, robots, strict=True):
            if case.commands_are == "controls":
                robot.set_actuation(row)
            elif case.commands_are == "position_targets":
                target[len(target) - len(row) :] = row
                robot.set_pd_target(target, u)
            else:
                u[: len(row)] = row
                robot.set_generalized_force(u)
            world.integrate(case.substeps)
            robot.get_state()

    return step


def peer_step(case: Case) -> Step:
    batch = Batch(case.model, MEMBERS, 1)
    control, q, u, commands = batch.bind("ctrl"), batch.bind("qpos"), batch.bind("qvel"), case.commands(MEMBERS)
    q[:] = case.robot.get_generalized_coordinate()

    def step(k: int) -> None:
        control[:] = commands[k % 16]
        batch.step(nstep=case.substeps)
        np.hstack((q, u))

    return step


# ---- measuring ----


def rate(step: Step, steps: int) -> float:
    begin = time.process_time()
    for k in range(steps):
        step(k)
    return MEMBERS * steps / (time.process_time() - begin)


def rates_in_turns(case: Case, effort: Effort) -> list[float]:
    """Of the batch, the single worlds and the peer: medians, each from the start of an episode."""
    found: list[list[float]] = [[], [], []]
    with one_core():
        for _ in range(effort.repeats):
            for kept, make in zip(found, (lambda c: batch_step(c, 1)[0], single_step, peer_step), strict=True):
                step = make(case)
                step(0)
                kept.append(rate(step, effort.part(40)))
    return [median(one) for one in found]


STAGES = [one.name for one in fields(StepProfile) if one.name != "steps"]


def profile(case: Case, effort: Effort) -> tuple[float, float]:
    """Part of a batch's time that is physics, and part of the physics that is solving for contacts and joints."""
    step, batch = batch_step(case, 1)
    members = [batch.member(k) for k in range(MEMBERS)]
    for member in members:
        member.set_profiling(True)
    step(0)
    before = [sum(getattr(member.get_profile(), name) for member in members) for name in STAGES]
    begin = time.perf_counter()
    for k in range(effort.part(40)):
        step(k)
    whole = time.perf_counter() - begin
    stages = dict(zip(STAGES, before, strict=True))
    parts = {name: sum(getattr(member.get_profile(), name) for member in members) - stages[name] for name in STAGES}
    return sum(parts.values()) / whole, parts["solve"] / sum(parts.values())


def threads_gain(case: Case, effort: Effort) -> float:
    """Rate with two threads over that with one, when both have a core of their own: by CPU time."""
    ratios = []
    for _ in range(effort.repeats):
        one, two = (batch_step(case, threads)[0] for threads in (1, 2))
        one(0), two(0)
        first = rate(one, effort.part(40))
        ratios.append(2.0 * rate(two, effort.part(40)) / first)
    return median(ratios)


def shortest(work: Callable[[], None], repeats: int) -> float:
    """CPU time of the fastest of some calls [ms]."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def thousand(world: World, effort: Effort) -> list[list[str]]:
    """Resets and randomisation of 1000 quadrupeds that have moved, on one thread."""
    rng, repeats = np.random.default_rng(0), effort.part(20)
    batch = WorldBatch(world, 1000, 1)
    robot = batch.robot()
    q = robot.coordinates
    batch.step(effort.part(20))
    state = batch.member(0)["quadruped"].get_state()
    rows = [["reset of all to the start", f"{shortest(batch.reset, repeats):.2f}", "1"]]
    tenth = np.arange(0, 1000, 10)
    given = shortest(lambda: batch.reset(tenth, {"quadruped": state}), repeats)
    rows.append(["reset of 100 to given states", f"{given:.2f}", ""])
    masses, friction = robot.masses(), batch.material_pair()
    nominal, values = masses[0].copy(), rng.uniform(0.9, 1.1, (1000, masses.shape[1]))

    def randomise() -> None:
        masses[:] = nominal * rng.permutation(values)
        friction[:, 0] = rng.uniform(0.5, 1.0, 1000)
        batch.refresh()

    rows.append(["masses of all links and friction", f"{shortest(randomise, repeats):.2f}", "2"])
    assert np.isfinite(q).all()
    return rows


def measure(effort: Effort) -> str:
    """The section of docs/benchmarks.md."""
    plain = [cart_pole(), quadruped(), walker("ant"), walker("humanoid")]
    cases = [plain[0], *(one for case in plain[1:] for one in (case, without_contacts(case)))]
    lines = []
    for case in cases:
        batch, single, peer = rates_in_turns(case, effort)
        physics, solve = profile(case, effort)
        lines.append([case.name, f"{1e-3 * batch:.1f}", f"**{batch / peer:.1f}**", f"**{batch / single:.2f}**",
                      f"{100 * min(physics, 1.0):.0f} %", f"{100 * solve:.0f} %",
                      f"{threads_gain(case, effort):.2f}"])  # fmt: skip
    head = ["world", "thousand steps/s", f"x {PEER}", "x single Worlds", "physics in the time of the batch",
            "solving in the physics", "threads 1 → 2, by CPU time"]  # fmt: skip
    parts = (
        "## Batches",
        f"{MEMBERS} members, random commands; environment steps (4 or 5 time steps) per second of CPU time on one "
        f"core, taken in turns; {len(os.sched_getaffinity(0))} processors; `python bench/batch.py`. Targets: "
        f"3 times {PEER}, 8 times single Worlds, 1.8 for two threads.",
        table(head, lines),
        "Single Worlds are called from Python once per environment step, at 1 to 2 µs a call: all that a batch can "
        "save on one core is what is not physics.",
        "Of 1000 quadrupeds, on one thread, CPU time of the fastest of 20 calls:",
        table(["work", "[ms]", "target"], thousand(plain[1].world, effort)),
    )
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(measure(Effort()))

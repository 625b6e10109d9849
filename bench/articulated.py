"""Speed and accuracy of robots beside MuJoCo.

    python bench/articulated.py

The robots are those of rsc/robots; MuJoCo gets the same trees (tree_mjcf.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import mujoco
import numpy as np

from raisim_ros import ControlMode, IntegrationScheme, TerrainProperties, World
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.terrain import generate_height_map
from raisim_ros.description.urdf.file import load_urdf

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, one_core, table
from tree_mjcf import motors_xml, robot_xml

ROBOTS = Path(__file__).resolve().parent.parent / "rsc" / "robots"
STANCE = np.array([0, 0.4, -0.8, 0, 0.4, -0.8, 0, -0.4, 0.8, 0, -0.4, 0.8])
P_GAIN, D_GAIN = 200.0, 10.0
HALF = np.sqrt(0.5)
SPRING_MOUNT = (HALF, 0.0, HALF, 0.0)  # 90 degrees about y
SPRING, DAMPING = 0.5, 0.01
BENT = 0.02  # each hinge at the start [rad]
TERRAIN = TerrainProperties(frequency=0.2, x_size=20.0, y_size=20.0, z_scale=0.3, fractal_octaves=3, seed=1)


@dataclass
class Scene:
    """The same robot in both engines; `step` of each takes a number of steps."""

    name: str
    content: str
    dt: float
    steps: int
    target: float
    ours: Callable[[], tuple[World, Callable[[int], None]]]
    mujoco: Callable[[], Callable[[int], None]]


def chain_tree(count: int):
    """The chain with a spring and a damper at each joint, at rest at 90 degrees; without shapes and limits."""
    tree = load_urdf(ROBOTS / "chain.urdf", params={"n": count})
    for body in tree.bodies:
        body.collisions, body.upper = [], np.inf
        if body.joint_type is JointType.SPHERICAL:
            body.stiffness, body.damping, body.spring_mount = SPRING, DAMPING, np.array(SPRING_MOUNT)
    return tree


def our_chain(count: int, dt: float):
    world = World()
    world.set_time_step(dt)
    robot = world.add_articulated_system(chain_tree(count))
    assert len(robot.get_springs()) == count
    return world, world.integrate


def hinge_tree(count: int):
    """The chain with damped hinges about x and y in turn; without shapes and limits."""
    tree = load_urdf(ROBOTS / "chain.urdf", params={"n": count})
    for number, body in enumerate(tree.bodies):
        body.collisions, body.lower, body.upper = [], -np.inf, np.inf
        if body.joint_type is JointType.SPHERICAL:
            body.joint_type, body.axis = JointType.REVOLUTE, np.eye(3)[number % 2]
            body.damping = DAMPING
    return tree


def our_hinges(count: int, dt: float):
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    robot = world.add_articulated_system(hinge_tree(count))
    robot.set_generalized_coordinate(np.full(count, BENT))
    return world, world.integrate


def mujoco_hinges(count: int, dt: float):
    model, data = mujoco_model(f"<worldbody>{robot_xml(hinge_tree(count), False)}</worldbody>", dt)
    data.qpos[:] = BENT
    return stepper(model, data)


def mujoco_model(xml: str, dt: float, head: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A model with MuJoCo's defaults and three-dimensional friction cones of 0.8."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" autolimits="true"/><option timestep="{dt}"/>'
        f'<default><geom condim="3" friction="0.8 0 0"/></default>{head}{xml}</mujoco>')
    return model, mujoco.MjData(model)


def stepper(model: mujoco.MjModel, data: mujoco.MjData) -> Callable[[int], None]:
    return lambda count: mujoco.mj_step(model, data, count)


def mujoco_chain(count: int, dt: float):
    model, data = mujoco_model(f"<worldbody>{robot_xml(chain_tree(count), False)}</worldbody>", dt)
    model.qpos_spring[:] = np.tile(SPRING_MOUNT, count)
    return stepper(model, data)


def quadruped_state(height: float) -> np.ndarray:
    return np.concatenate([[0, 0, height, 1, 0, 0, 0], STANCE])


def our_quadruped(dt: float, ground: str):
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    height = 0.555
    if ground == "plane":
        world.add_ground()
    elif ground == "terrain":
        height += world.add_height_map(TERRAIN).get_height(0, 0) + 0.15
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf")
    robot.set_generalized_coordinate(quadruped_state(height))
    robot.set_pd_gains(np.full(18, P_GAIN), np.full(18, D_GAIN))
    robot.set_p_target(quadruped_state(height))
    return world, world.integrate


def mujoco_quadruped(dt: float, ground: str):
    tree = load_urdf(ROBOTS / "quadruped.urdf")
    geom, head, height = "", "", 0.555
    if ground == "plane":
        geom = '<geom type="plane" size="0 0 1"/>'
    elif ground == "terrain":
        terrain = generate_height_map(TERRAIN)
        low, high = terrain.heights.min(), terrain.heights.max()
        head = f'<asset><hfield name="h" nrow="100" ncol="100" size="10 10 {high - low} 1"/></asset>'
        geom = f'<geom type="hfield" hfield="h" pos="0 0 {low}"/>'
        height += World().add_height_map(TERRAIN).get_height(0, 0) + 0.15
    xml = f"<worldbody>{geom}{robot_xml(tree)}</worldbody>{motors_xml(tree, P_GAIN, D_GAIN)}"
    model, data = mujoco_model(xml, dt, head)
    if ground == "terrain":
        model.hfield_data[:] = (np.ravel(terrain.heights) - low) / (high - low)
    data.qpos[:] = quadruped_state(height)
    data.ctrl[:] = STANCE
    return stepper(model, data)


SCENES = [
    Scene("chain10", "10 spherical joints with springs and dampers, no shapes", 0.001, 20000, 5.0,
          lambda: our_chain(10, 0.001), lambda: mujoco_chain(10, 0.001)),
    Scene("chain20", "the same with 20", 0.001, 20000, 8.0,
          lambda: our_chain(20, 0.001), lambda: mujoco_chain(20, 0.001)),
    Scene("hinges60", "60 hinges in a row with dampers, no shapes", 0.001, 20000, 5.0,
          lambda: our_hinges(60, 0.001), lambda: mujoco_hinges(60, 0.001)),
    Scene("quadruped standing", "18 degrees of freedom, motors, on the ground", 0.002, 20000, 4.0,
          lambda: our_quadruped(0.002, "plane"), lambda: mujoco_quadruped(0.002, "plane")),
    Scene("quadruped falling", "the same without ground", 0.002, 20000, 4.0,
          lambda: our_quadruped(0.002, "none"), lambda: mujoco_quadruped(0.002, "none")),
    Scene("quadruped on a heightmap", "20 m by 20 m, 10,000 samples, 3 octaves", 0.002, 20000, 6.0,
          lambda: our_quadruped(0.002, "terrain"), lambda: mujoco_quadruped(0.002, "terrain")),
]


def seconds(step: Callable[[int], None], steps: int) -> float:
    begin = time.process_time()
    step(steps)
    return time.process_time() - begin


def measure_speed(scene: Scene, effort: Effort) -> list[str]:
    """A line of the table; the engines take turns, so that a disturbance hits both."""
    own, peer, steps = [], [], effort.part(scene.steps)
    for _ in range(effort.repeats):
        world, step = scene.ours()
        own.append(seconds(step, steps))
        peer.append(seconds(scene.mujoco(), steps))
    ratio, rate = median(peer) / median(own), steps / median(own)
    print(f"{scene.name:26} {rate:9.0f} steps/s  {ratio:.1f} x MuJoCo", flush=True)
    return [scene.name, scene.content, f"{scene.dt:g}", str(steps), f"**{ratio:.1f}**", f"{scene.target:g}",
            f"`{world.get_state_hash():016x}`"]


def measure_growth(effort: Effort) -> tuple[list[int], list[float]]:
    """CPU time per step of chains of growing length [s]."""
    counts, times, steps = [10, 20, 40, 80, 160], [], effort.part(2000)
    for count in counts:
        _, step = our_chain(count, 0.001)
        times.append(min(seconds(step, steps) / steps for _ in range(effort.repeats)))
    return counts, times


# ---- accuracy ----


def our_momentum_error(dt: float, scheme: IntegrationScheme, samples: int) -> float:
    """Largest relative error of the linear momentum in 10 s: a ball of 10 kg strikes the robot in space at 5 m/s."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    world.set_erp(0.0)
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf")
    robot.set_integration_scheme(scheme)
    robot.set_generalized_coordinate(quadruped_state(0.0))
    robot.set_pd_gains(np.full(18, P_GAIN), np.full(18, D_GAIN))
    robot.set_p_target(quadruped_state(0.0))
    ball = world.add_sphere(0.1, 10.0)
    ball.set_position(0.2, -1.5, 0.03)
    ball.set_linear_velocity((0, 5, 0))
    worst = 0.0
    for _ in range(samples):
        world.integrate(round(0.1 / dt))
        total = robot.get_linear_momentum() + ball.get_linear_momentum()
        worst = max(worst, float(np.linalg.norm(total - [0, 50, 0])) / 50)
    return worst


def mujoco_momentum_error(dt: float, samples: int) -> float:
    tree = load_urdf(ROBOTS / "quadruped.urdf")
    ball = '<body pos="0.2 -1.5 0.03"><freejoint/><geom type="sphere" size="0.1" mass="10"/></body>'
    xml = (f"<worldbody>{robot_xml(tree)}{ball}</worldbody>"
           f"{motors_xml(tree, P_GAIN, D_GAIN)}")
    model, data = mujoco_model(xml, dt)
    model.opt.gravity[:] = 0
    data.qpos[:19] = quadruped_state(0.0)
    data.ctrl[:] = STANCE
    data.qvel[19] = 5.0
    worst = 0.0
    for _ in range(samples):
        mujoco.mj_step(model, data, round(0.1 / dt))
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        total = data.subtree_linvel[0] * model.body_subtreemass[0]
        worst = max(worst, float(np.linalg.norm(total - [0, 50, 0])) / 50)
    return worst


TUMBLE = np.concatenate([[0, 0, 0, 1, 2, 3], np.linspace(-2, 2, 12)])


def free_tree():
    """The quadruped without shapes and stops."""
    tree = load_urdf(ROBOTS / "quadruped.urdf")
    for body in tree.bodies:
        body.collisions, body.lower, body.upper, body.velocity_limit = [], -np.inf, np.inf, np.inf
    return tree


def our_energy_error(dt: float, scheme: IntegrationScheme, samples: int) -> float:
    """Largest error of the energy over the energy that the robot falls through in 4 s of tumbling."""
    world = World()
    world.set_time_step(dt)
    robot = world.add_articulated_system(free_tree())
    robot.set_control_mode(ControlMode.FORCE_AND_TORQUE)
    robot.set_integration_scheme(scheme)
    robot.set_state(quadruped_state(0.0), TUMBLE)
    first, worst = robot.get_energy(), 0.0
    for _ in range(samples):
        world.integrate(round(0.04 / dt))
        worst = max(worst, abs(robot.get_energy() - first))
    return worst / robot.get_kinetic_energy()


def mujoco_energy_error(dt: float, samples: int) -> float:
    model, data = mujoco_model(f"<worldbody>{robot_xml(free_tree(), False)}</worldbody>", dt)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data.qpos[:] = quadruped_state(0.0)
    data.qvel[:] = TUMBLE
    mujoco.mj_forward(model, data)
    first, worst = data.energy.sum(), 0.0
    for _ in range(samples):
        mujoco.mj_step(model, data, round(0.04 / dt))
        mujoco.mj_forward(model, data)
        worst = max(worst, abs(data.energy.sum() - first))
    return worst / data.energy[1]


def measure_accuracy(effort: Effort) -> list[list[str]]:
    """Lines of the table: default scheme, MIDPOINT, MuJoCo."""
    lines, samples = [], effort.part(100)
    for name, ours, peer in [("momentum, struck by a ball", our_momentum_error, mujoco_momentum_error),
                             ("energy, tumbling fall", our_energy_error, mujoco_energy_error)]:
        for dt in (0.004, 0.002, 0.001, 0.0005):
            errors = [ours(dt, IntegrationScheme.TRAPEZOID, samples), ours(dt, IntegrationScheme.MIDPOINT, samples),
                      peer(dt, samples)]
            print(name, dt, *(f"{error:.1e}" for error in errors), flush=True)
            lines.append([name, f"{dt:g}", *(f"{error:.1e}" for error in errors)])
    return lines


# ---- the section ----


def draw_growth(counts: list[int], times: list[float], path: Path) -> None:
    """Step time against the number of links, with a line through the origin."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot(counts, 1e6 * np.array(times), "o-", label="chain")
    axes.plot([0, counts[-1]], [0, 1e6 * times[-1]], "--", color="gray", label="linear")
    axes.set_xlabel("links (3 degrees of freedom each)")
    axes.set_ylabel("CPU time per step [µs]")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


@one_core()
def measure(effort: Effort) -> str:
    """Run everything; the section as Markdown."""
    speed = [measure_speed(scene, effort) for scene in SCENES]
    counts, times = measure_growth(effort)
    slope = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    print(f"cost grows with links to the power {slope:.2f}")
    errors = measure_accuracy(effort)
    if effort.images is not None:
        draw_growth(counts, times, effort.images / "benchmark_links.png")
    return f"""## Robots

{table(["scene", "content", "dt [s]", "steps", "times MuJoCo", "target", "state hash"], speed)}

The cost of a step grows with the number of links to the power {slope:.2f}:

![Cost against the number of links](images/benchmark_links.png)

Errors over what is conserved:

{table(["test", "dt [s]", "raisim_ros", "raisim_ros MIDPOINT", "MuJoCo"], errors)}

MuJoCo runs with its default integrator and solver; this engine with its default scheme where none is named. Targets at
dt 0.001: momentum below 1e-3, with MIDPOINT below 1e-5; energy below 1e-3; everywhere below MuJoCo's.
"""


if __name__ == "__main__":
    print(measure(Effort()))

"""Robots as they come, no option set, beside MuJoCo with its own defaults: speed, and whether they come to rest.

    python bench/zoo.py [pattern]

The URDF files of the PyPI package example-robot-data stand or lie on a ground, held by PD motors whose gains come from
the mass matrix; those of Gymnasium (MJCF) fall unactuated. MuJoCo gets the same files, meshes in formats that it does
not read as STL, and motors as springs and dampers of the joints.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import mujoco
import numpy as np

from raisim_ros import RaisimError, World, load_mesh
from raisim_ros.description.resource_paths import first_file, resource_candidates
from raisim_ros.engine.articulated.self_collision import reference_configuration

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, one_core, table

DT = 0.002
HEIGHT = 1.2  # where floating robots start [m]
STIFFNESS, DAMPING = 400.0, 40.0  # per unit of inertia [1/s², 1/s]
SETTLE, MEASURED, REST = 500, 500, 1500  # steps before, during and after the measurement of speed
AT_REST = 0.01  # rad/s
MUJOCO_MESHES = (".stl", ".obj", ".msh")
COMPILER = ('<mujoco><compiler strippath="false" balanceinertia="true" discardvisual="false" boundmass="1e-6" '
            'boundinertia="1e-9" fusestatic="false"/></mujoco>')


@dataclass
class Result:
    """CPU times of a step [s], and the joint speed left after 5 s [rad/s]; None where it does not apply."""

    name: str
    ours: float
    theirs: float
    speed: float | None

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def urdf_files() -> list[Path]:
    data = importlib.metadata.distribution("example-robot-data")
    return sorted(Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots"))).glob("**/*.urdf"))


def mjcf_files() -> list[Path]:
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        return []
    return sorted(Path(spec.origin).parent.glob("envs/mujoco/assets/*.xml"))


# ---- ours ----


def hold(robot) -> None:
    """Motors that keep every joint where it is: at zero, or at the limit next to it."""
    dof = robot.get_dof()
    q = reference_configuration(robot.get_kinematic_tree())
    floating = not robot.get_kinematic_tree().fixed_base
    if floating:
        q[2] = HEIGHT
    robot.set_state(q, np.zeros(dof))
    inertia = np.diag(robot.get_mass_matrix()).copy()
    if floating:
        inertia[:6] = 0.0
    robot.set_pd_gains(STIFFNESS * inertia, DAMPING * inertia)
    robot.set_pd_target(q, np.zeros(dof))


def our_urdf(file: Path) -> tuple[World, object]:
    world = World()
    world.add_ground()
    world.set_time_step(DT)
    robot = world.add_articulated_system(file)
    world.set_sleeping_enabled(False)
    hold(robot)
    return world, robot


def timed(start, effort: Effort) -> float:
    """CPU time of a step [s], the median of the repeats, each of which starts anew: `start()` gives what steps."""
    times = []
    for _ in range(effort.repeats):
        step = start()
        step(effort.part(SETTLE))
        begun = time.process_time()
        step(effort.part(MEASURED))
        times.append((time.process_time() - begun) / effort.part(MEASURED))
    return median(times)


def speed_left(world: World, robot, effort: Effort) -> float:
    """Root mean square of the joint speeds over the last second [rad/s]."""
    world.integrate(effort.part(REST))
    first = 0 if robot.get_kinematic_tree().fixed_base else 6
    squares = []
    for _ in range(effort.part(round(1.0 / DT))):
        world.integrate()
        squares.append(np.mean(np.square(robot.get_generalized_velocity()[first:])) if robot.get_dof() > first else 0.0)
    return float(np.sqrt(np.mean(squares)))


# ---- MuJoCo ----


def readable_mesh(address: str, file: Path, folder: Path) -> str:
    """The path of a mesh that MuJoCo reads."""
    found = first_file(resource_candidates(address, file.parent))
    if found is None or found.suffix.lower() in MUJOCO_MESHES:
        return str(found or address)
    copy = folder / f"{hashlib.sha256(str(found).encode()).hexdigest()[:16]}.stl"
    if not copy.exists():
        import trimesh

        mesh = load_mesh(found)
        trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False).export(copy)
    return str(copy)


def their_urdf(file: Path, floating: bool, folder: Path):
    text = re.sub(r"<visual\b.*?</visual>", "", file.read_text(errors="replace"), flags=re.DOTALL)
    text = re.sub(r'filename="([^"]*)"', lambda found: f'filename="{readable_mesh(found[1], file, folder)}"', text)
    spec = mujoco.MjSpec.from_string(re.sub(r"(<robot\b[^>]*>)", r"\1" + COMPILER, text, count=1))
    if floating and not spec.worldbody.first_body().joints:
        spec.worldbody.first_body().add_freejoint()
    ground = spec.worldbody.add_geom()
    ground.type, ground.size = mujoco.mjtGeom.mjGEOM_PLANE, [9, 9, 0.1]
    spec.option.timestep = DT
    model = spec.compile()
    data = mujoco.MjData(model)
    if floating:
        data.qpos[2] = HEIGHT
    mujoco.mj_forward(model, data)
    inertia = np.array([full_inertia(model, data)[v, v] for v in range(model.nv)])
    for j in range(model.njnt):
        if model.jnt_type[j] in (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE):
            v, q = model.jnt_dofadr[j], model.jnt_qposadr[j]
            model.jnt_stiffness[j], model.dof_damping[v] = STIFFNESS * inertia[v], DAMPING * inertia[v]
            model.qpos_spring[q] = data.qpos[q]
    return lambda count: mujoco.mj_step(model, data, count)


def full_inertia(model, data) -> np.ndarray:
    inertia = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, inertia)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, inertia, data.qM)
    return inertia


# ---- the zoo ----


def measure_urdf(file: Path, effort: Effort, folder: Path) -> Result:
    ours = timed(lambda: our_urdf(file)[0].integrate, effort)
    world, robot = our_urdf(file)
    world.integrate(effort.part(SETTLE + MEASURED))
    speed = speed_left(world, robot, effort)
    floating = not robot.get_kinematic_tree().fixed_base
    theirs = timed(lambda: their_urdf(file, floating, folder), effort)
    return Result(f"{file.parts[-3].removesuffix('_description')}: {file.stem}", ours, theirs, speed)


def measure_mjcf(file: Path, effort: Effort) -> Result:
    model = mujoco.MjModel.from_xml_path(str(file))

    def our_world():
        world = World(file)
        world.set_sleeping_enabled(False)
        world.set_time_step(model.opt.timestep)
        return world.integrate

    def their_world():
        data = mujoco.MjData(model)
        return lambda count: mujoco.mj_step(model, data, count)

    ours, theirs = timed(our_world, effort), timed(their_world, effort)
    return Result(f"gymnasium: {file.stem}", ours, theirs, None)


def measure_all(effort: Effort, pattern: str = "") -> tuple[list[Result], list[str]]:
    """Results, and the names of robots that one of the engines does not load, with the reason."""
    results, missing = [], []
    files = [file for file in [*urdf_files(), *mjcf_files()] if re.search(pattern, str(file))]
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(), one_core():
        warnings.simplefilter("ignore")
        for file in files[: max(2, effort.part(len(files)))]:
            try:
                is_urdf = file.suffix == ".urdf"
                results.append(measure_urdf(file, effort, Path(name)) if is_urdf else measure_mjcf(file, effort))
            except RaisimError as error:
                missing.append(f"{file.stem} (MuJoCo: {reason(error)})")
            except ValueError as error:
                missing.append(f"{file.stem} (raisim_ros: {reason(error)})")
    return results, missing


def reason(error: Exception) -> str:
    """The first words of an error, without the place of the file."""
    return re.sub(r"\S*/\S*", "…", str(error).splitlines()[0]).removeprefix("Error: ")[:60]


def plot(results: list[Result], images: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ordered = sorted(results, key=lambda result: result.ratio)
    figure, axes = plt.subplots(figsize=(7, 0.16 * len(ordered) + 1))
    axes.barh([result.name for result in ordered], [result.ratio for result in ordered], color="#3b76af")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("times MuJoCo's speed")
    axes.tick_params(axis="y", labelsize=5)
    axes.margins(y=0.01)
    figure.tight_layout()
    figure.savefig(images / "bench_zoo.png", dpi=130)
    plt.close(figure)


def summary(what: str, results: list[Result]) -> str:
    """A sentence on the speeds of some robots."""
    if not results:
        return ""
    ratios, worst = [result.ratio for result in results], min(results, key=lambda result: result.ratio)
    slower = sum(ratio < 1.0 for ratio in ratios)
    return (f"{len(results)} robots from {what}: median {median(ratios):.2f} times MuJoCo's speed, the slowest "
            f"{worst.ratio:.2f} ({worst.name}), {slower} slower than MuJoCo.")


def measure(effort: Effort, pattern: str = "") -> str:
    """The section of the page."""
    results, missing = measure_all(effort, pattern)
    if effort.images is not None and len(results) > 1:
        plot(results, effort.images)
    lines = [[result.name, f"{1e6 * result.ours:.1f}", f"{1e6 * result.theirs:.1f}", f"{result.ratio:.2f}",
              "" if result.speed is None else f"{result.speed:.4f}"] for result in results]
    judged = [result for result in results if result.speed is not None]
    resting = sum(result.speed < AT_REST for result in judged)
    columns = ["robot", "raisim_ros [µs]", "MuJoCo [µs]", "times MuJoCo", "joint speed left [rad/s]"]
    picture = "![Speed of every robot beside MuJoCo](images/bench_zoo.png)\n\n" if effort.images is not None else ""
    said = "Loaded by one engine only, which is named, with what the other says"
    left_out = f"\n\n{said}: {'; '.join(missing)}." if missing else ""
    return f"""## Real robots

Robots of `example-robot-data` (URDF) and Gymnasium (MJCF) as they come, both engines with their defaults: convex hulls,
self collision as each engine chooses it, time step {1e3 * DT:g} ms or that of the file (most files of Gymnasium ask for
Runge-Kutta, which only MuJoCo obeys).

{summary("URDF", judged)}
{summary("MJCF", [result for result in results if result.speed is None])}
Of those held by motors {resting} of {len(judged)} are at rest after 5 s (joint speed below {AT_REST} rad/s).

{picture}{table(columns, lines)}{left_out}
"""


if __name__ == "__main__":
    print(measure(Effort(), sys.argv[1] if len(sys.argv) > 1 else ""))

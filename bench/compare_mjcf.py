"""Models of a folder (Menagerie, for example) here and in MuJoCo, as tables for docs/mjcf.md.

    python bench/compare_mjcf.py FOLDER [--pattern "*/scene.xml"] [--part 0/1]

Accelerations: the largest difference at random states and controls, relative to the largest acceleration, with all
forces but those of contacts, limits, friction of joints and equalities. Steps: heights of bases and coordinates
of joints after 500 steps from the first keyframe; beside it how far MuJoCo with stiff contacts is from MuJoCo itself.
Where that is much, the way the model falls hangs on how soft contacts are.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np

from raisim_ros import ArticulatedSystem, InvalidValueError, World
from raisim_ros.engine._library import lib

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "engine"))
from mujoco_model import MujocoRobot

STEPS = 500
MOST_HEIGHT, MOST_JOINT = 0.01, 0.05  # m, rad or m
SHORT = 4e-9  # step in which accelerations are measured [s]
_OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY")


def robots_of(world: World, model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[ArticulatedSystem, MujocoRobot]]:
    """Robots of the world, each with its twin."""
    twin = SimpleNamespace(model=model, data=data)
    handles = [handle for handle in world.get_obj_list() if isinstance(handle, ArticulatedSystem)]
    return [(handle, MujocoRobot(twin, handle.get_kinematic_tree())) for handle in handles]


def acceleration_error(file: Path) -> float:
    """The largest relative difference."""
    model = mujoco.MjModel.from_xml_path(str(file))
    for flag in _OFF:
        model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
    data, world, rng = mujoco.MjData(model), World(file), np.random.default_rng(1)
    robots = robots_of(world, model, data)
    for robot, reference in robots:
        tree, dof = robot.get_kinematic_tree(), robot.get_dof()
        if tree.pins or tree.locks or any(body.mimic for body in tree.bodies):
            return float("nan")  # hard here, soft there
        with contextlib.suppress(InvalidValueError):  # of ball joints
            robot.set_joint_limits(np.tile([-np.inf, np.inf], (dof, 1)))
        robot._write(lib.RS_FIELD_FRICTION, np.zeros(dof))
        q, u = robot.get_generalized_coordinate(), 0.1 * rng.normal(size=dof)
        plain = [body.joint_type.value in ("revolute", "prismatic") for body in tree.bodies]
        at = np.cumsum([0, *(body.joint_type.coordinate_dim for body in tree.bodies)])[:-1]
        q[at[plain]] += 0.05 * rng.normal(size=sum(plain))
        robot.set_state(q, u)
        reference.set_state(q, u)
    set_controls(robots, model, data, rng)
    mujoco.mj_forward(model, data)
    before, start = [robot.get_generalized_velocity() for robot, _ in robots], world.save_snapshot()
    measured = []
    for step in (SHORT, 0.5 * SHORT):
        world.restore_snapshot(start)
        world.set_time_step(step)
        world.integrate_no_contact_detection()
        world.integrate2()
        after = [robot.get_generalized_velocity() for robot, _ in robots]
        measured.append([(u - old) / step for u, old in zip(after, before, strict=True)])
    worst = 0.0
    for (_, reference), longer, shorter in zip(robots, *measured, strict=True):
        found = 2.0 * shorter - longer  # without the part that grows with the step: servos are implicit
        expected = reference.turn() @ data.qacc[reference._rows()]
        worst = max(worst, float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max())))
    return worst


def set_controls(robots: list[tuple[ArticulatedSystem, MujocoRobot]], model, data, rng) -> None:  # type: ignore[no-untyped-def]
    """Random controls, the same in both."""
    names = {model.actuator(k).name or model.joint(model.actuator_trnid[k, 0]).name: k for k in range(model.nu)}
    for robot, _ in robots:
        actuators = robot.get_actuators()
        control = 0.3 * rng.normal(size=len(actuators))
        robot.set_actuation(control)
        for actuator, value in zip(actuators, control, strict=True):
            data.ctrl[names[actuator.name]] = value


def stiffened(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model with contacts as stiff as its step allows, and friction without creep."""
    model.geom_solref[:] = (2.0 * model.opt.timestep, 1.0)
    model.geom_solimp[:] = (0.99, 0.999, 0.001, 0.5, 2.0)
    model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    return model


def apart(states: list[tuple[np.ndarray, bool]], others: list[tuple[np.ndarray, bool]]) -> tuple[float, float]:
    """Largest difference of heights of bases and of joints."""
    height = joint = 0.0
    for (q, is_fixed), (other, _) in zip(states, others, strict=True):
        first = 0 if is_fixed else 7
        height = max(height, 0.0 if is_fixed else abs(q[2] - other[2]))
        joint = max(joint, float(np.abs(q[first:] - other[first:]).max(initial=0.0)))
    return height, joint


def keyframe_errors(file: Path) -> tuple[float, float, float, float] | None:
    """After 500 steps: ours against MuJoCo, and MuJoCo with stiff contacts against MuJoCo; None without keyframes."""
    models = [mujoco.MjModel.from_xml_path(str(file)) for _ in range(2)]
    if not models[0].nkey:
        return None
    stiffened(models[1])
    world, found = World(file), []
    for model in models:
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        robots = robots_of(world, model, data)
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
        found.append([(reference.get_state()[0], robot.get_kinematic_tree().fixed_base) for robot, reference in robots])
    for robot, _ in robots:
        robot.set_state(models[0].key(0).name or "key_0")
    world.integrate(STEPS)
    ours = [(robot.get_generalized_coordinate(), robot.get_kinematic_tree().fixed_base) for robot, _ in robots]
    return *apart(ours, found[0]), *apart(found[1], found[0])


def verdict(errors: tuple[float, float, float, float]) -> str:
    """In a word."""
    if errors[0] <= MOST_HEIGHT and errors[1] <= MOST_JOINT:
        return "same"
    return "hangs on softness" if errors[2] > MOST_HEIGHT or errors[3] > MOST_JOINT else "differs"


def main() -> None:
    """Print a row for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pattern", default="*/scene.xml")
    parser.add_argument("--part", default="0/1", help="K/N: only every N-th file, from the K-th on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first, count = map(int, options.part.split("/"))
    for file in sorted(options.folder.glob(options.pattern))[first::count]:
        name = str(file.relative_to(options.folder)).removesuffix("/scene.xml")
        try:
            error, errors = acceleration_error(file), keyframe_errors(file)
        except Exception as failure:  # a table with holes is better than none
            print(f"| {name} | {type(failure).__name__}: {str(failure)[:80]} | | | | | |", flush=True)
            continue
        shown = "couplings" if np.isnan(error) else f"{error:.0e}"
        steps = [f"{value:.4f}" for value in errors] + [verdict(errors)] if errors else ["", "", "", "", "no keyframe"]
        print(f"| {name} | {shown} | {' | '.join(steps)} |", flush=True)


if __name__ == "__main__":
    main()

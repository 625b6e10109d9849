"""A learnt policy walks the quadruped over ROS: it reads the states of base and joints and sends joint positions.

The policy is that of examples/learning/walk.py, made by train_quadruped.py; its actions are positions around a trot.
"""

import sys
from pathlib import Path

import numpy as np

from raisim_ros.client import Client
from raisim_ros.client.objects import Robot
from raisim_ros.description.resources import resource
from raisim_ros.description.rotation import matrix_from_quaternion

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "learning"))
from policy import Policy

LEGS = {"LF": 0.0, "RF": np.pi, "LH": np.pi, "RH": 0.0}  # phase of the trot
JOINTS = [f"{leg}_{joint}" for leg in LEGS for joint in ("HAA", "HFE", "KFE")]
STANCE = np.array([0.0, 0.5, -1.0] * 4)
RATE, LIFT, SCALE, PERIOD = 2.5, 0.25, 0.4, 0.02  # of the task Quadruped-v0


def observe(walker: Robot, command: np.ndarray, action: np.ndarray, phase: float) -> np.ndarray:
    """What the policy was trained on: up, velocities and command in the trunk's frame, joints, last action, phase."""
    to_trunk = matrix_from_quaternion(walker.quaternion).T
    position, velocity = walker.joint_positions, walker.joint_velocities
    angles, rates = (np.array([values[joint] for joint in JOINTS]) for values in (position, velocity))
    moving = (to_trunk @ walker.velocity, to_trunk @ walker.angular_velocity)
    clock = (np.sin(phase), np.cos(phase))
    return np.concatenate((to_trunk[:, 2], *moving, command, angles - STANCE, 0.1 * rates, action, clock))


def targets(action: np.ndarray, phase: float) -> dict[str, float]:
    """Joint positions that an action means: around a trot in place."""
    bend = LIFT * np.maximum(0.0, np.sin(phase + np.array(list(LEGS.values()))))
    trot = np.stack((np.zeros(4), bend, -2.0 * bend), axis=1).ravel()
    return dict(zip(JOINTS, (STANCE + trot + SCALE * action).tolist(), strict=True))


def run(world: Client, seconds: float = 4.0, speed: float = 0.6) -> tuple[float, float]:
    """How far it came forward, and how high its trunk is at the end [m]."""
    policy, action, command = Policy(), np.zeros(12), np.array([speed, 0.0, 0.0])
    world.pause()
    walker = world.spawn_robot(
        "walker",
        str(resource("robots/quadruped.urdf")),
        coordinates=[0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0, *STANCE.tolist()],
        p_gains=[80.0],
        d_gains=[2.0],
    )
    every = max(1, round(PERIOD / world.state.time_step))
    start, begin = world.time, walker.position[0]
    walker.command(positions=targets(action, 0.0))
    world.step(every)
    while world.time - start < seconds:
        phase = 2.0 * np.pi * RATE * (world.time - start)
        action = policy(observe(walker, command, action, phase))
        walker.command(positions=targets(action, phase))
        world.step(every)
    walker.release()
    x, _, z = walker.position
    return x - begin, z


if __name__ == "__main__":
    with Client() as client:
        distance, height = run(client, 6.0)
        print(f"it walked {distance:.2f} m, and its trunk is {height:.2f} m above the floor")

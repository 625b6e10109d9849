"""Walks a quadruped: a trot of diagonal legs, sent as positions of twelve joints."""

import math

from raisim_ros.client import Client
from raisim_ros.description.resources import resource

# Legs: sign of the knee, and phase of the trot.
LEGS = {"LF": (1.0, 0.0), "RF": (1.0, math.pi), "LH": (-1.0, math.pi), "RH": (-1.0, 0.0)}
STRIDE, LIFT, PERIOD = 0.15, 0.35, 0.4  # [rad], [rad], [s]


def posture(time: float) -> dict[str, float]:
    """Positions of all joints [rad] at a time [s] of the walk, which begins gently."""
    joints = {}
    ramp = min(1.0, time / 0.5)
    for leg, (sign, phase) in LEGS.items():
        angle = 2.0 * math.pi * time / PERIOD + phase
        swing = max(0.0, math.sin(angle))
        joints[f"{leg}_HAA"] = 0.0
        joints[f"{leg}_HFE"] = sign * 0.4 + ramp * (STRIDE * math.cos(angle) + sign * LIFT * swing)
        joints[f"{leg}_KFE"] = -sign * (0.8 + ramp * 2.0 * LIFT * swing)
    return joints


def run(world: Client, seconds: float = 3.0) -> tuple[float, float]:
    """How far it came forward, and how high its trunk is at the end [m]."""
    world.pause()
    stand = [posture(0.0)[f"{leg}_{joint}"] for leg in LEGS for joint in ("HAA", "HFE", "KFE")]
    walker = world.spawn_robot(
        "walker",
        str(resource("robots/quadruped.urdf")),
        coordinates=[0.0, 0.0, 0.56, 1.0, 0.0, 0.0, 0.0, *stand],
        p_gains=[200.0],
        d_gains=[8.0],
    )
    every = max(1, round(0.02 / world.state.time_step))
    start, begin = world.time, walker.position[0]
    while world.time - start < seconds:
        walker.command(positions=posture(world.time - start))
        world.step(every)
    walker.release()
    x, _, z = walker.position
    return x - begin, z


if __name__ == "__main__":
    with Client() as client:
        distance, height = run(client, 5.0)
        print(f"it walked {distance:.2f} m, and its trunk is {height:.2f} m above the floor")

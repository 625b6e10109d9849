"""Balances a pole on a cart: a force on the cart, computed from positions and velocities of both joints."""

import math

from raisim_ros.client import Client
from raisim_ros.description.resources import resource

# Of a linear-quadratic regulator for the cart-pole of rsc/robots: cart, pole, and their velocities.
GAINS = {"rail": (-10.0, -14.0), "hinge": (-80.0, -22.0)}


def run(world: Client, seconds: float = 3.0) -> float:
    """The largest angle of the pole in the last second [rad]."""
    world.pause()
    file = str(resource("robots/cartpole.urdf"))
    robot = world.spawn_robot("cartpole", file, position=(0.0, 0.0, 1.0), coordinates=[0.0, 0.1])
    time_step = world.state.time_step
    every = max(1, round(0.01 / time_step))  # steps between two commands
    angles = []
    for _ in range(round(seconds / (every * time_step))):
        positions, velocities = robot.joint_positions, robot.joint_velocities
        angle = math.remainder(positions["hinge"], 2.0 * math.pi)
        state = {"rail": (positions["rail"], velocities["rail"]), "hinge": (angle, velocities["hinge"])}
        force = -sum(gain * value for name in GAINS for gain, value in zip(GAINS[name], state[name], strict=True))
        robot.command(efforts={"rail": force})
        world.step(every)
        angles.append(abs(angle))
    robot.release()
    return max(angles[-round(1.0 / (every * time_step)) :])


if __name__ == "__main__":
    with Client() as client:
        print(f"the pole stayed within {math.degrees(run(client)):.2f} degrees")

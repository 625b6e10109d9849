"""Builds a tower of boxes and throws a ball at it."""

from geometry_msgs.msg import Twist, Vector3

from raisim_ros.client import Client

SIZE = 0.2  # [m]


def run(world: Client, floors: int = 6) -> tuple[float, float]:
    """Height of the topmost box while it stands, and after the ball came [m]."""
    world.pause()
    boxes = [
        world.spawn(f"floor_{number}", "box", position=(0.0, 0.0, SIZE * (number + 0.5)), size=[SIZE] * 3, mass=0.5)
        for number in range(floors)
    ]
    second = round(1.0 / world.state.time_step)
    world.step(second)
    standing = boxes[-1].position[2]
    throw = Twist(linear=Vector3(x=8.0, z=2.0))
    world.spawn("ball", "sphere", position=(-3.0, 0.0, 0.5), radius=0.12, mass=3.0, twist=throw)
    world.step(3 * second)
    return standing, boxes[-1].position[2]


if __name__ == "__main__":
    with Client() as client:
        before, after = run(client)
        print(f"the top was {before:.2f} m high, and is {after:.2f} m high")

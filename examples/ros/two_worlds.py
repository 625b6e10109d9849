"""Two worlds in one program: the same ball falls on the Earth and on the Moon.

ros2 launch raisim_ros worlds.launch.py worlds:="earth=empty.xml moon=empty.xml" paused:=true
"""

from raisim_ros.client import Client


def run(earth: Client, moon: Client, seconds: float = 0.5) -> tuple[float, float]:
    """How far the ball fell in each [m]."""
    moon.call("set_world_settings", gravity=[0.0, 0.0, -1.62])
    fallen = []
    for world in (earth, moon):
        world.pause()
        ball = world.spawn("ball", "sphere", position=(0.0, 0.0, 5.0), radius=0.1)
        world.step(round(seconds / world.state.time_step))
        fallen.append(5.0 - ball.position[2])
    return fallen[0], fallen[1]


if __name__ == "__main__":
    with Client("earth") as first, Client("moon") as second:
        print("the ball fell {:.3f} m on the Earth and {:.3f} m on the Moon".format(*run(first, second)))

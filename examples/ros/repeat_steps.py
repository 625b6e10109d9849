"""A test against a world: the same requests and steps give the same bits, however often."""

from raisim_ros.client import Client


def trial(world: Client) -> list[tuple[float, ...]]:
    """Drops five balls onto each other; their positions after a second, to the last bit."""
    world.pause()
    world.reset(state=True, spawned=True, time=True)
    balls = [
        world.spawn(f"ball_{number}", "sphere", position=(0.01 * number, 0.0, 1.0 + 0.3 * number), radius=0.1)
        for number in range(5)
    ]
    world.step(round(1.0 / world.state.time_step))
    return [ball.position for ball in balls]


def run(world: Client) -> bool:
    """Whether two trials agree."""
    return trial(world) == trial(world)


if __name__ == "__main__":
    with Client() as client:
        print("two runs gave", "the same bits" if run(client) else "different results")

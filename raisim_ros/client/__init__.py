"""A running world from Python, over ROS 2: connect, find, spawn, command, step, wait.

    from raisim_ros.client import Client

    with Client() as world:
        ball = world.spawn("ball", "sphere", radius=0.1, position=(0, 0, 2))
        world.pause()
        world.step(100)
        print(ball.position, ball.velocity)

Calls wait for their answers and raise `RequestRefusedError` with the node's reason, or `ConnectionLostError` when the
node does not answer. Each has a twin `…_async` through `call_async`, which gives a future. SI units, world axes,
quaternions w x y z.
"""

from raisim_ros.client.connection import Client
from raisim_ros.client.errors import ConnectionLostError, RequestRefusedError
from raisim_ros.client.objects import Object, Robot

__all__ = ["Client", "ConnectionLostError", "Object", "RequestRefusedError", "Robot"]

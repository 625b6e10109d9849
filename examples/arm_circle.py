"""An arm draws a circle: inverse kinematics with the Jacobian, every step."""

import numpy as np

from raisim_ros import ArticulatedSystem, BodyType, View, World
from raisim_ros.description.resources import resource

VIEW = View((1.7, -1.6, 1.3), (0.1, 0.0, 0.6))
SECONDS = 4.0
START = np.array([0.0, 0.5, -1.0, 0.0, -0.5, 0.0])
RADIUS, DOTS = 0.25, 60


def build() -> World:
    """PD control holds the joints where the circle wants them; dots that nothing touches show it."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    arm = world.add_articulated_system(resource("robots/arm.urdf"))
    arm.set_name("arm")
    arm.set_generalized_coordinate(START)
    arm.set_pd_gains([2000.0] * 3 + [500.0] * 3, [200.0] * 3 + [20.0] * 3)
    arm.set_pd_target(START, np.zeros(6))
    hand = arm.get_position(len(arm.get_body_names()) - 1)
    for angle in np.linspace(0.0, 2.0 * np.pi, DOTS, endpoint=False):
        dot = world.add_sphere(0.008, 1.0, collision_group=0, collision_mask=0, body_type=BodyType.STATIC)
        dot.set_position(hand + RADIUS * np.array([0.0, np.sin(angle), np.cos(angle) - 1.0]))
        dot.set_appearance("orange")
    return world


def control(world: World) -> None:
    """The hand shall move along a circle: damped least squares give the speeds of the joints."""
    arm = world.get_object("arm")
    assert isinstance(arm, ArticulatedSystem)
    hand, phase = len(arm.get_body_names()) - 1, 1.5 * world.get_world_time()
    wanted = RADIUS * 1.5 * np.array([0.0, np.cos(phase), -np.sin(phase)])
    jacobian = arm.get_dense_jacobian(hand, arm.get_position(hand))
    speeds = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-3 * np.eye(3), wanted)
    target = arm.get_pd_target()[0] + world.get_time_step() * speeds
    arm.set_pd_target(target, speeds)


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    Viewer(world, open_browser=True).run(control=lambda: control(world))

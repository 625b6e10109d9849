"""Robots made in code: chains of capsules on spherical joints swing from their bases."""

import numpy as np

from raisim_ros import BodyType, Child, Collision, Geometry, Joint, Link, Pose, View, Visual, World

VIEW = View((1.9, -3.3, 2.1), (0.0, 0.75, 1.2))
SECONDS = 0.9
CHAINS, LINKS, LENGTH = 7, 8, 0.2


def chain(number: int) -> Child:
    """Link `number` with all links below it."""
    middle = Pose(position=np.array([0.0, 0.0, -0.5 * LENGTH]))
    shape = Geometry("capsule", (0.035, LENGTH - 0.07))
    share = number / LINKS
    link = Link(
        f"link_{number}",
        mass=0.3,
        com=(0.0, 0.0, -0.5 * LENGTH),
        inertia=np.diag([1e-3, 1e-3, 2e-4]),
        collisions=[Collision(shape, middle)],
        visuals=[Visual(shape, middle, (0.9 - 0.6 * share, 0.35, 0.2 + 0.6 * share, 1.0))],
    )
    hinge = Pose(position=np.array([0.0, 0.0, 0.0 if number == 0 else -LENGTH]))
    joint = Joint(f"joint_{number}", "spherical", hinge, damping=0.002)
    below = [chain(number + 1)] if number + 1 < LINKS else []
    return Child(link, joint, below)


def build() -> World:
    """The root link is called world, so the base is fixed; each chain starts from another angle."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    bar = world.add_box(0.06, 0.3 * CHAINS, 0.06, 1.0, body_type=BodyType.STATIC)
    bar.set_position(0.0, 0.15 * (CHAINS - 1), 2.06)
    bar.set_appearance("0.2 0.2 0.22 1")
    for number in range(CHAINS):
        robot = world.add_articulated_system(Child(Link("world"), children=[chain(0)], name="chain"))
        robot.set_name(f"chain_{number}")
        robot.set_base_pos((0.0, 0.3 * number, 2.0))
        angle = 0.5 * (0.4 + 0.16 * number)
        q = robot.get_generalized_coordinate()
        q[:4] = np.cos(angle), 0.0, -np.sin(angle), 0.0  # the first joint: a quaternion
        robot.set_generalized_coordinate(q)
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()

"""The first world: a ground, a bouncing ball and a stack of boxes."""

from raisim_ros import View, World

VIEW = View((3.2, -3.2, 1.6), (0.2, 0.0, 0.5))
SECONDS = 0.65


def build() -> World:
    """Things are added to a world and placed; the rest is physics."""
    world = World()
    world.set_time_step(0.002)
    world.set_material_pair_prop("rubber", "default", friction=0.8, restitution=0.8, res_threshold=0.01)
    world.add_ground()
    for level in range(4):
        box = world.add_box(0.3, 0.3, 0.3, mass=1.0)
        box.set_position(0.8, 0.0, 0.15 + 0.3 * level)
        box.set_appearance("orange")
    ball = world.add_sphere(0.15, mass=2.0, material="rubber")
    ball.set_position(-0.9, 0.0, 0.9)
    ball.set_linear_velocity((4.0, 0.0, 1.0))
    ball.set_appearance("blue")
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()

"""Snapshots: the same moment is gone on from twice, to the same bits; a third time with a push."""

from collections.abc import Iterator

from raisim_ros import SingleBodyObject, View, World

VIEW = View((4.2, -3.6, 2.2), (0.2, 0.0, 0.35))
SECONDS = 0.0
PUSHES = (0.0, 0.0, 1.0)  # of the uppermost box [m/s]


def tower() -> World:
    """It begins to lean."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    for level in range(6):
        box = world.add_box(0.3, 0.3, 0.2, 1.0)
        box.set_name(f"box_{level}")
        box.set_position(0.05 * level, 0.0, 0.1 + 0.2 * level)
        box.set_appearance(("orange", "blue")[level % 2])
    return world


def futures() -> Iterator[World]:
    """The world after each of three futures of one moment."""
    world = tower()
    world.integrate(200)
    moment = world.save_snapshot()
    for push in PUSHES:
        world.restore_snapshot(moment)
        top = world.get_object("box_5")
        assert isinstance(top, SingleBodyObject)
        if push:
            top.set_linear_velocity((push, 0.0, 0.0))
        world.integrate(300)
        yield world


def branches() -> list[int]:
    """Hashes of their states: equal hashes mean equal bits."""
    return [world.get_state_hash() for world in futures()]


def build() -> World:
    """The three of them side by side."""
    world = World()
    world.add_ground()
    for number, future in enumerate(futures()):
        for box in future.get_obj_list()[1:]:
            assert isinstance(box, SingleBodyObject)
            copy = world.add_box(0.3, 0.3, 0.2, 1.0)
            x, y, z = box.get_position()
            copy.set_pose((x, y + 1.4 * (number - 1), z), box.get_quaternion())
            copy.set_appearance(box.get_appearance())
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    first, again, pushed = branches()
    print("the same future:", first == again, " another one:", pushed != first)
    Viewer(build(), open_browser=True).run()

"""Snapshots: the same moment is gone on from twice, to the same bits; a third time with a push."""

from raisim_ros import SingleBodyObject, View, World

VIEW = View((2.4, -2.6, 1.5), (0.0, 0.0, 0.5))
SECONDS = 1.5


def build() -> World:
    """A tower that begins to lean."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    for level in range(6):
        box = world.add_box(0.3, 0.3, 0.2, 1.0)
        box.set_name(f"box_{level}")
        box.set_position(0.05 * level, 0.0, 0.1 + 0.2 * level)
        box.set_appearance(("orange", "blue")[level % 2])
    return world


def branches() -> tuple[int, int, int]:
    """Hashes of the state after three futures of one moment: equal hashes mean equal bits."""
    world = build()
    world.integrate(200)
    moment = world.save_snapshot()
    hashes = []
    for push in (0.0, 0.0, 1.0):
        world.restore_snapshot(moment)
        top = world.get_object("box_5")
        assert isinstance(top, SingleBodyObject)
        if push:
            top.set_linear_velocity((push, 0.0, 0.0))
        world.integrate(300)
        hashes.append(world.get_state_hash())
    return hashes[0], hashes[1], hashes[2]


if __name__ == "__main__":
    first, again, pushed = branches()
    print("the same future:", first == again, " another one:", pushed != first)

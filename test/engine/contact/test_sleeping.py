"""Islands fall asleep when nothing moves, and wake for every reason to move."""

import numpy as np
import pytest
from shared_scenes import field_of_things

from raisim_ros import BodyType, World


@pytest.fixture
def room() -> World:
    world = World()
    world.add_ground()
    return world


def tower(world: World, count: int = 3) -> list:
    boxes = []
    for k in range(count):
        box = world.add_box(0.2, 0.2, 0.2, 1.0)
        box.set_position(0.0, 0.0, 0.1 + 0.2 * k)
        boxes.append(box)
    return boxes


def asleep(world: World, boxes) -> list[bool]:
    return [world.is_object_sleeping(box) for box in boxes]


def put_to_sleep(world: World, boxes) -> None:
    world.integrate(400)
    assert asleep(world, boxes) == [True] * len(boxes)


def test_resting_bodies_sleep_and_stop_completely(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    poses = room.read_states().poses.copy()
    assert np.abs(room.read_states().twists).max() == 0.0
    assert room.read_states().sleeping.tolist() == [0, 1, 1, 1]
    room.integrate(1000)
    assert (room.read_states().poses == poses).all()
    assert room.get_collision_counters().awake_bodies == 0


def test_contacts_of_sleeping_bodies_can_still_be_read(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    room.integrate(10)
    force = sum(c.get_impulse()[2] for c in boxes[0].get_contacts() if c.get_pair_object_index() == 0) / 0.005
    assert force == pytest.approx(3.0 * 9.81, rel=1e-2)


def test_nothing_sleeps_in_free_flight_or_at_a_turning_point(room):
    ball = room.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 5.0)
    ball.set_linear_velocity((0.0, 0.0, 9.81 * 0.5))  # stops at 0.5 s, then falls
    for _ in range(200):
        room.integrate()
        assert not room.is_object_sleeping(ball)


def test_a_weightless_body_at_rest_sleeps_and_a_drifting_one_does_not():
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    still, drifting = world.add_sphere(0.1, 1.0), world.add_sphere(0.1, 1.0)
    drifting.set_position(1.0, 0.0, 0.0)
    drifting.set_linear_velocity((0.01, 0.0, 0.0))
    world.integrate(10)
    assert world.is_object_sleeping(still)
    assert not world.is_object_sleeping(drifting)
    world.integrate(990)
    assert drifting.get_position() == pytest.approx([1.05, 0.0, 0.0], abs=1e-12)


def test_disabled_sleeping_wakes_all_for_good(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    room.set_sleeping_enabled(False)
    assert not room.is_sleeping_enabled()
    assert asleep(room, boxes) == [False] * 3
    room.integrate(400)
    assert asleep(room, boxes) == [False] * 3


def test_thresholds_and_quiet_steps_decide(room):
    room.set_sleeping_parameters(0.5, 0.5, 30)
    settings = room.get_sleeping_parameters()
    assert (settings.linear_vel_threshold, settings.angular_vel_threshold, settings.quiet_steps) == (0.5, 0.5, 30)
    box = tower(room, 1)[0]
    room.integrate(29)
    assert not room.is_object_sleeping(box)
    room.integrate(5)
    assert room.is_object_sleeping(box)


def test_a_blow_wakes_the_whole_tower(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    ball = room.add_sphere(0.1, 5.0)
    ball.set_position(-1.0, 0.0, 0.3)
    ball.set_linear_velocity((5.0, 0.0, 1.0))
    for _ in range(60):
        room.integrate()
        if not room.is_object_sleeping(boxes[1]):
            break
    assert asleep(room, boxes) == [False] * 3
    assert np.linalg.norm(boxes[1].get_linear_velocity()) > 0.1, "a blow is felt when it lands"


def test_a_body_resting_elsewhere_is_not_woken(room):
    boxes = tower(room)
    other = room.add_box(0.2, 0.2, 0.2, 1.0)
    other.set_position(5.0, 0.0, 0.1)
    put_to_sleep(room, [*boxes, other])
    boxes[0].set_linear_velocity((1.0, 0.0, 0.0))
    room.integrate(2)
    assert room.is_object_sleeping(other)
    assert asleep(room, boxes) == [False] * 3


def test_removing_the_support_wakes_what_stood_on_it(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    room.remove_object(boxes[0])
    room.integrate(20)
    assert boxes[1].get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-6)
    assert boxes[2].get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-6)


def test_removing_the_ground_wakes_everything_on_it(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    room.remove_object(room.get_object(0))
    room.integrate(20)
    for box in boxes:
        assert box.get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-6)


def test_moving_the_support_away_wakes_what_stood_on_it(room):
    boxes = tower(room)
    put_to_sleep(room, boxes)
    boxes[0].set_position(3.0, 0.0, 0.1)
    room.integrate(20)
    assert boxes[1].get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-2)


@pytest.mark.parametrize("body_type", [BodyType.STATIC, BodyType.KINEMATIC])
def test_moving_a_fixed_support_away_wakes_what_stood_on_it(room, body_type):
    table = room.add_box(1.0, 1.0, 0.2, 1.0)
    table.set_position(0.0, 0.0, 2.0)
    table.set_body_type(body_type)
    box = room.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 2.2)
    put_to_sleep(room, [box])
    table.set_position(5.0, 0.0, 2.0)
    room.integrate(20)
    assert box.get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-6)


def test_a_fixed_support_pushed_into_a_sleeper_wakes_it(room):
    box = tower(room, 1)[0]
    put_to_sleep(room, [box])
    wall = room.add_box(0.2, 0.2, 0.2, 1.0)
    wall.set_body_type(BodyType.KINEMATIC)
    wall.set_position(-0.5, 0.0, 0.11)
    wall.set_linear_velocity((1.0, 0.0, 0.0))
    room.integrate(200)
    assert box.get_position()[0] == pytest.approx(wall.get_position()[0] + 0.2, abs=2e-3)


def test_a_starting_conveyor_wakes_its_load(room):
    belt = room.add_box(10.0, 1.0, 0.2, 1.0)
    belt.set_position(0.0, 0.0, 1.0)
    belt.set_body_type(BodyType.KINEMATIC)
    box = room.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 1.2)
    put_to_sleep(room, [box])
    belt.set_linear_velocity((0.5, 0.0, 0.0))
    room.integrate(100)
    assert box.get_linear_velocity()[0] == pytest.approx(0.5, abs=1e-3)
    assert not room.is_object_sleeping(box)


SETTERS = {
    "position": lambda world, box: box.set_position(0.0, 0.0, 0.1),
    "orientation": lambda world, box: box.set_orientation(1.0, 0.0, 0.0, 0.0),
    "velocity": lambda world, box: box.set_velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "mass": lambda world, box: box.set_mass(2.0),
    "inertia": lambda world, box: box.set_inertia(np.eye(3)),
    "com": lambda world, box: box.set_com((0.01, 0.0, 0.0)),
    "damping": lambda world, box: box.set_linear_damping(0.1),
    "force": lambda world, box: box.set_external_force(0, (0.0, 0.0, 1.0)),
    "torque": lambda world, box: box.set_external_torque(0, (0.0, 0.0, 1.0)),
    "wrench": lambda world, box: box.set_command_wrench((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "filter": lambda world, box: world.set_object_collision_filter(box, 2, -1),
    "material": lambda world, box: world.set_object_material(box, "ice"),
    "wake": lambda world, box: world.wake_object(box),
    "wake all": lambda world, box: world.wake_all(),
    "gravity": lambda world, box: world.set_gravity((0.0, 0.0, -1.0)),
    "default material": lambda world, box: world.set_default_material(0.1, 0.0, 0.0),
    "pair": lambda world, box: world.set_material_pair_prop("default", "default", 0.1, 0.0, 0.0),
}


@pytest.mark.parametrize("setter", SETTERS)
def test_every_setter_wakes(room, setter):
    box = tower(room, 1)[0]
    put_to_sleep(room, [box])
    SETTERS[setter](room, box)
    assert not room.is_object_sleeping(box)


def test_getters_do_not_wake(room):
    box = tower(room, 1)[0]
    put_to_sleep(room, [box])
    for read in (box.get_position, box.get_energy, box.get_contacts, room.read_states, room.get_state_hash):
        read()
    assert room.is_object_sleeping(box)


def test_a_steeper_gravity_makes_a_sleeper_slide(room):
    box = tower(room, 1)[0]
    put_to_sleep(room, [box])
    room.set_gravity((9.81, 0.0, -9.81))
    room.integrate(100)
    assert box.get_linear_velocity()[0] == pytest.approx(9.81 * 0.2 * 0.5, rel=1e-3)


def test_a_filter_that_drops_the_ground_drops_the_box(room):
    box = tower(room, 1)[0]
    put_to_sleep(room, [box])
    room.set_object_collision_filter(box, 1, 1)
    room.integrate(20)
    assert box.get_linear_velocity()[2] == pytest.approx(-9.81 * 0.1, rel=1e-9)


def test_a_changed_ground_material_lets_a_sleeper_slide(room):
    room.set_material_pair_prop("default", "ice", 0.0, 0.0, 0.0)
    box = tower(room, 1)[0]
    room.set_gravity((3.0, 0.0, -9.81))
    put_to_sleep(room, [box])
    room.set_object_material(room.get_object(0), "ice")
    room.integrate(100)
    assert box.get_linear_velocity()[0] == pytest.approx(1.5, rel=1e-6)


def test_a_command_wrench_at_rest_does_not_keep_awake_but_stays(room):
    """The push is held by friction, the box sleeps; when the friction goes, the push is still there."""
    box = tower(room, 1)[0]
    box.set_command_wrench((2.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    put_to_sleep(room, [box])
    room.set_default_material(0.0, 0.0, 0.0)
    room.integrate(100)
    assert box.get_linear_velocity()[0] == pytest.approx(1.0, rel=1e-6)


# ---- what sleeps is not looked at ----


@pytest.mark.parametrize("seed", range(4))
def test_a_world_that_looks_at_everything_moves_alike(seed):
    """Placing the far box makes the step look at every body; it must not matter that the other world passes over sleepers."""
    lazy, eager = field_of_things(seed), field_of_things(seed)
    far = next(o for o in eager.get_obj_list() if o.get_position()[0] == 100.0)
    least = 1000
    for step in range(300):
        far.set_position(100.0, 0.0, 50.0)
        lazy.integrate()
        eager.integrate()
        least = min(least, lazy.get_collision_counters().awake_bodies)
        if step % 10 == 0:
            assert lazy.get_state_hash() == eager.get_state_hash()
            assert lazy.read_contacts().tobytes() == eager.read_contacts().tobytes()
    assert least < 40


def test_a_load_on_what_does_not_move_is_gone_after_a_step(room):
    box = room.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 5.0)
    box.set_body_type(BodyType.STATIC)
    room.integrate(20)
    box.set_external_force(0, (0.0, 0.0, 1e3))
    room.integrate(20)
    box.set_body_type(BodyType.DYNAMIC)
    room.integrate()
    assert box.get_linear_velocity()[2] < 0.0


def test_something_static_placed_into_sleepers_wakes_them(room):
    boxes = tower(room)
    wall = room.add_box(0.2, 1.0, 1.0, 1.0)
    wall.set_body_type(BodyType.STATIC)
    wall.set_position(5.0, 0.0, 0.5)
    put_to_sleep(room, boxes)
    room.integrate(50)
    wall.set_position(0.19, 0.0, 0.5)
    room.integrate(2)
    assert asleep(room, boxes) == [False] * 3

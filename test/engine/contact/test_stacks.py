"""Structures that must stand: towers, planks, cards, heavy on light, pyramids; and a pile that must not sink."""

import numpy as np
import pytest

from raisim_ros import World

BOX = 0.2  # edge [m]


def grounded(dt: float, sleeping: bool = False) -> World:
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(sleeping)
    world.add_ground()
    return world


def positions(world: World) -> np.ndarray:
    return world.read_states().poses[:, :3].copy()


def farthest_move(world: World, seconds: float) -> float:
    """How far any body strays from where it was built, looked at ten times [m]."""
    start, farthest = positions(world), 0.0
    for _ in range(10):
        world.integrate(round(seconds / world.get_time_step() / 10))
        farthest = max(farthest, float(np.abs(positions(world) - start).max()))
    return farthest


def build_tower(world: World, masses) -> list:
    boxes = []
    for k, mass in enumerate(masses):
        box = world.add_box(BOX, BOX, BOX, mass)
        box.set_position(0.0, 0.0, BOX * (k + 0.5))
        boxes.append(box)
    return boxes


def test_twenty_boxes_stand_for_a_minute():
    world = grounded(0.005, sleeping=True)
    boxes = build_tower(world, [1.0] * 20)
    assert farthest_move(world, 60.0) < 1e-5
    assert all(world.is_object_sleeping(box) for box in boxes)


def test_twenty_boxes_stand_without_falling_asleep():
    world = grounded(0.005)
    build_tower(world, [1.0] * 20)
    assert farthest_move(world, 20.0) < 1e-5


def test_a_heavy_box_does_not_sink_into_a_light_one():
    world = grounded(0.005)
    build_tower(world, [1.0, 100.0])
    assert farthest_move(world, 20.0) < 1e-6
    world = grounded(0.005)
    build_tower(world, [1.0, 1.0, 1.0, 1.0, 1000.0])
    assert farthest_move(world, 10.0) < 1e-4


def test_contact_forces_in_a_tower_add_up_to_the_weight_above():
    world = grounded(0.005)
    boxes = build_tower(world, [1.0, 3.0, 2.0, 5.0])
    world.integrate(200)
    contacts = world.read_contacts()
    weight_above = 11.0
    for box in boxes:
        here = box.get_id()
        below = contacts[
            ((contacts["object_a"] == here) & (contacts["frame"][:, 2, 2] > 0))
            | ((contacts["object_b"] == here) & (contacts["frame"][:, 2, 2] < 0))
        ]
        assert below["impulse"][:, 2].sum() / 0.005 == pytest.approx(weight_above * 9.81, rel=1e-3)
        weight_above -= box.get_mass()


@pytest.mark.parametrize("on_edge", [False, True])
def test_a_kapla_tower_stands(quaternion_about, on_edge):
    world = grounded(0.01)
    length, width, thickness = 0.12, 0.024, 0.008
    rise, depth = (width, thickness) if on_edge else (thickness, width)
    for floor in range(6):
        across = floor % 2 == 1
        for side in (-1, 1) if on_edge else (-1, 0, 1):
            plank = world.add_box(length, depth, rise, 0.0145)
            place = np.array([0.0, 0.045 * side, (floor + 0.5) * rise])
            if across:
                place[:2] = place[1::-1]
            plank.set_pose(place, quaternion_about((0.0, 0.0, 1.0), np.pi / 2 if across else 0.0))
    assert farthest_move(world, 30.0) < 1e-4


def test_a_house_of_cards_stands(quaternion_about):
    """Two leaning pairs, a ceiling and a third pair on it: held by friction alone."""
    world = grounded(0.005)
    lean, length, width, thickness = np.radians(20.0), 0.09, 0.06, 0.001
    rise = length * np.cos(lean) + thickness * np.sin(lean)
    half_base = (length * np.sin(lean) + thickness * np.cos(lean)) / 2.0

    def add_pair(x, z):
        for side in (-1, 1):
            card = world.add_box(thickness, width, length, 0.0018)
            card.set_pose((x - side * half_base, 0.0, z + rise / 2.0), quaternion_about((0.0, 1.0, 0.0), side * lean))

    add_pair(-2.05 * half_base, 0.0)
    add_pair(2.05 * half_base, 0.0)
    ceiling = world.add_box(0.125, width, thickness, 0.0025)
    ceiling.set_position(0.0, 0.0, rise + thickness / 2.0)
    add_pair(0.0, rise + thickness)
    assert farthest_move(world, 30.0) < 1e-9


def test_cards_on_ice_fall(quaternion_about):
    """The same pair with friction below tan(lean)/2 slides apart: the test above can fail."""
    world = grounded(0.005)
    world.set_default_material(0.1, 0.0, 0.0)
    lean, length, thickness = np.radians(20.0), 0.09, 0.001
    half_base = (length * np.sin(lean) + thickness * np.cos(lean)) / 2.0
    rise = length * np.cos(lean) + thickness * np.sin(lean)
    for side in (-1, 1):
        card = world.add_box(thickness, 0.06, length, 0.0018)
        card.set_pose((-side * half_base, 0.0, rise / 2.0), quaternion_about((0.0, 1.0, 0.0), side * lean))
    assert farthest_move(world, 2.0) > 0.02


@pytest.mark.parametrize(("size", "dt"), [((0.4, 0.2, 0.2), 0.005), ((0.1, 0.1, 0.05), 0.002), ((3.0, 1.0, 0.7), 0.01)])
def test_a_wall_of_equal_bricks_rests_at_once(size, dt):
    """Flush faces of one size keep their four corners however they are turned by rounding, and their loads with them."""
    world, bricks = grounded(dt), []
    for row, column in np.ndindex(6, 6):
        bricks.append(world.add_box(*size, 2.0))
        bricks[-1].set_position((column + 0.5 * (row % 2)) * size[0], 0, (row + 0.5) * size[2])
    world.integrate()
    contacts = sum(len(b.get_contacts()) for b in bricks)
    world.integrate(20)
    for _ in range(20):
        world.integrate()
        assert sum(len(b.get_contacts()) for b in bricks) == contacts
        assert world.get_collision_counters().solver_iterations <= 16  # exact steps at most, no sweeps
        assert world.get_collision_counters().solver_error < 1e-7


def test_equal_faces_touch_at_their_corners():
    """One turned against the other by less than can be seen: its sides cross those of the other in their middles."""
    rng = np.random.default_rng(5)
    for turn in rng.uniform(-1e-6, 1e-6, (20, 3)):
        world = grounded(1e-4)
        lower, upper = world.add_box(0.3, 0.2, 0.1, 1.0), world.add_box(0.3, 0.2, 0.1, 1.0)
        lower.set_position(0, 0, 0.05)
        upper.set_position(0, 0, 0.15)
        upper.set_orientation(np.array([1.0, *turn]) / np.linalg.norm([1.0, *turn]))
        world.integrate()
        points = np.array([c.get_position() for c in upper.get_contacts()])
        assert len(points) == 4
        assert np.abs(points[:, :2]) == pytest.approx(np.tile([0.15, 0.1], (4, 1)), abs=1e-5)


def test_a_pyramid_does_not_creep():
    world = grounded(0.005)
    rows = 8
    for row in range(rows):
        for k in range(rows - row):
            box = world.add_box(BOX, BOX, BOX, 1.0)
            box.set_position((k - (rows - row) / 2.0) * 1.05 * BOX, 0.0, BOX * (row + 0.5))
    assert farthest_move(world, 20.0) < 1e-5


def test_a_struck_block_that_rests_again_starts_from_its_loads():
    """Cubes side by side bear nothing between them and creep by what the solves leave: no reason to solve anew from nothing."""
    world = grounded(0.005)
    world.set_default_material(0.7, 0.0, 0.0)
    for i, j, k in np.ndindex(2, 2, 4):
        world.add_box(BOX, BOX, BOX, 1.0).set_position(BOX * i, BOX * j, BOX * (k + 0.5))
    ball = world.add_sphere(0.3, 100.0)
    ball.set_position(0.15, 0.25, 1.4)
    ball.set_linear_velocity((0.0, 0.0, -3.0))
    world.integrate(100)
    iterations = []
    for _ in range(100):
        world.integrate()
        iterations.append(world.get_collision_counters().solver_iterations)
    assert ball.get_position()[2] == pytest.approx(1.1, abs=1e-3)
    assert np.median(iterations) < 150


def test_a_pile_of_balls_does_not_sink_into_itself():
    """SimBenchmark's 666 without overlap correction: mean penetration over all contacts of 10 s."""
    world = grounded(0.005)
    world.set_erp(0.0)
    random = np.random.default_rng(1)
    for index in np.ndindex(6, 6, 6):
        ball = world.add_sphere(0.1, 10.0)
        ball.set_position(np.array(index) * 0.21 + [0.0, 0.0, 0.5] + random.uniform(-0.001, 0.001, 3))
    total, count = 0.0, 0
    for _ in range(2000):
        world.integrate()
        depths = world.read_contacts()["depth"]
        total += np.maximum(0.0, -depths).sum()
        count += len(depths)
    assert count > 100000
    assert total / count < 1e-4


def test_overlap_is_pushed_out_gently():
    """A box placed 5 cm into the ground comes up without being thrown."""
    world = grounded(0.005)
    box = world.add_box(BOX, BOX, BOX, 1.0)
    box.set_position(0.0, 0.0, BOX / 2.0 - 0.05)
    highest = 0.0
    for _ in range(400):
        world.integrate()
        highest = max(highest, box.get_position()[2])
    assert box.get_position()[2] == pytest.approx(BOX / 2.0, abs=1e-4)
    assert highest < BOX / 2.0 + 1e-3


def test_without_erp_overlap_stays():
    world = grounded(0.005)
    world.set_erp(0.0)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.08)
    world.integrate(400)
    assert ball.get_position()[2] == pytest.approx(0.08, abs=1e-6)


@pytest.mark.parametrize(("across", "up", "speed"), [(3, 4, 0.03), (2, 6, 0.02)])
def test_loads_are_not_found_from_nothing_while_a_heavy_ball_rolls_over_a_tower(across, up, speed):
    """They change a little in every step: each solve begins with those of the step before, and ends where that is good enough."""
    world = grounded(0.005)
    world.set_default_material(0.6, 0.0, 0.0)
    for i, j, k in np.ndindex(across, across, up):
        box = world.add_box(BOX, BOX, BOX, 1.0)
        box.set_position(*(BOX * np.array([i - (across - 1) / 2.0, j - (across - 1) / 2.0, k + 0.5])))
    ball = world.add_sphere(BOX, 100.0)
    ball.set_position(0.03, 0.02, BOX * (up + 1.0))
    ball.set_velocity((speed, 0.6 * speed, 0.0), (-0.6 * speed / BOX, speed / BOX, 0.0))
    start, iterations, violations = positions(world), [], []
    for _ in range(150):
        world.integrate()
        counters = world.get_collision_counters()
        iterations.append(counters.solver_iterations)
        violations.append(counters.solver_relative_error)
    assert np.mean(iterations[20:]) < 200.0  # from nothing: 300 and more
    assert np.quantile(violations, 0.99) < 1e-4
    assert np.abs(positions(world) - start)[:-1].max() < 1e-4
    assert ball.get_linear_velocity()[:2] == pytest.approx([speed, 0.6 * speed], rel=0.02)

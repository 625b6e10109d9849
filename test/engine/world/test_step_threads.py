"""A step shared by several threads: the same bits for any number of them."""

import numpy as np
import pytest
from random_worlds import make_world
from shared_scenes import field_of_things

from raisim_ros import DepthCameraProperties, InvalidValueError, World
from raisim_ros.description.resources import resource
from raisim_ros.engine.errors import DivergedError

THREADS = (2, 3, 8)


def troop(seed: int) -> World:
    """Robots that fall, each with a heap of its own, and two that meet."""
    rng = np.random.default_rng(seed)
    world = World()
    world.add_ground()
    for k in range(12):
        robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
        pose = np.array(robot.get_generalized_coordinate())
        pose[:3] = 1.5 * (k % 4) * (k != 1), 1.5 * (k // 4), 0.6 + 0.2 * rng.random() + (k == 1)
        robot.set_generalized_coordinate(pose)
        robot.set_pd_gains(np.full(18, 50.0), np.full(18, 1.0))
        robot.set_pd_target(pose, np.zeros(18))
    for _ in range(40):
        world.add_box(*rng.uniform(0.1, 0.3, 3), 1.0).set_position(*rng.uniform(-1, 6, 2), rng.uniform(1, 2))
    return world


def heap(seed: int) -> World:
    """One pile of many shapes beside many that lie alone."""
    rng = np.random.default_rng(seed)
    world = World()
    world.add_ground()
    for k in range(200):
        body = world.add_sphere(0.1, 1.0) if rng.random() < 0.5 else world.add_box(*rng.uniform(0.1, 0.3, 3), 1.0)
        at = rng.uniform(0.0, 1.0, 3) * (1, 1, 3) if k < 100 else np.r_[rng.uniform(2, 20, 2), 0.2]
        body.set_position(*at)
        body.set_velocity(rng.normal(size=3), rng.normal(size=3))
    return world


def slab(seed: int) -> World:
    """Three layers of balls, all in one island whose rows threads share, and a stack beside it."""
    rng = np.random.default_rng(seed)
    world = World()
    world.add_ground()
    for i, j, k in np.ndindex(24, 24, 3):
        at = 0.2 * np.array([i, j, k]) + (0.0, 0.0, 0.1) + rng.uniform(-1e-4, 1e-4, 3)
        world.add_sphere(0.1, 1.0).set_position(*at)
    world.add_sphere(0.3, 30.0).set_position(2.0, 2.0, 1.2)
    for k in range(5):
        world.add_box(0.2, 0.2, 0.2, 1.0).set_position(-1.0, 0.0, 0.1 + 0.2 * k)
    return world


def marks(world: World, threads: int, steps: int) -> list:
    """Hashes, contacts and counters along the way."""
    world.set_threads(threads)
    assert world.get_threads() == threads
    found = []
    for _ in range(steps // 20):
        world.integrate(20)
        found.append((world.get_state_hash(), world.read_contacts().tobytes(), world.get_collision_counters()))
    return found


@pytest.mark.parametrize("make", [troop, heap, field_of_things])
@pytest.mark.parametrize("seed", [1, 2])
def test_bits_do_not_depend_on_the_number_of_threads(make, seed):
    alone = marks(make(seed), 1, 100)
    for threads in THREADS:
        assert marks(make(seed), threads, 100) == alone


def test_threads_share_the_rows_of_one_large_island():
    found = []
    for threads in (1, 3):
        world = slab(1)
        world.set_threads(threads)
        world.integrate(4)
        found.append((world.get_state_hash(), world.read_contacts().tobytes(), world.get_collision_counters()))
    assert found[0][2].solver_iterations > 0
    assert found[0] == found[1]


def test_threads_share_rays():
    pictures = []
    for threads in (1, 2, 5):
        world = field_of_things(3)
        world.integrate(20)
        world.set_threads(threads)
        place = np.array([0.0, 0.0, 2.0])
        lidar = world.ray_test_lidar(np.eye(3), place, 0, 359, np.pi / 180, 1, 17, -0.8, 0.05, 0.0, 50.0)
        seen = world.capture_depth_camera(place, np.eye(3), DepthCameraProperties(101, 67, 1.5, 0.05, 50.0))
        pictures.append((lidar.tobytes(), seen.depth.tobytes(), seen.segmentation.tobytes()))
    assert len(lidar) > 300
    assert pictures[0] == pictures[1] == pictures[2]


@pytest.mark.parametrize("seed", range(20))
def test_random_worlds_move_alike_with_three_threads(seed):
    assert marks(make_world(seed).world, 3, 60) == marks(make_world(seed).world, 1, 60)


def test_threads_may_change_between_steps():
    steady, changing = heap(3), heap(3)
    for threads in (2, 1, 5, 5, 3, 1):
        changing.set_threads(threads)
        changing.integrate(10)
        steady.integrate(10)
    assert changing.get_state_hash() == steady.get_state_hash()


def test_diverging_bodies_are_named_alike():
    texts = []
    for threads in (1, 4):
        world = heap(4)
        world.set_threads(threads)
        world.integrate(5)
        world.set_time_step(0.1)
        for body in world.get_obj_list()[-3:]:
            body.set_position(9.99e49, 0.0, 0.0)
            body.set_linear_velocity((9e49, 0.0, 0.0))
        with pytest.raises(DivergedError) as error:
            world.integrate()
        texts.append((str(error.value), world.get_state_hash()))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("threads", [0, -1, 257, 1.5, "two"])
def test_impossible_numbers_of_threads_are_refused(threads):
    world = World()
    with pytest.raises(InvalidValueError, match="threads"):
        world.set_threads(threads)
    assert world.get_threads() == 1

"""Two bodies meeting in free space: impulse laws and conserved quantities."""

import numpy as np
import pytest

from raisim_ros import World


def elastic(world: World, restitution: float = 1.0, friction: float = 0.0) -> None:
    world.set_default_material(friction, restitution, 0.0)


@pytest.mark.parametrize(("m1", "m2"), [(1.0, 1.0), (3.0, 0.5), (0.2, 7.0)])
def test_head_on_elastic_collision(weightless, m1, m2):
    elastic(weightless)
    a, b = weightless.add_sphere(0.1, m1), weightless.add_sphere(0.2, m2)
    a.set_position(-1.0, 0.0, 0.0)
    a.set_linear_velocity((2.0, 0.0, 0.0))
    b.set_linear_velocity((-1.0, 0.0, 0.0))
    weightless.integrate(1000)
    v = (m1 * 2.0 - m2 * 1.0) / (m1 + m2)
    assert a.get_linear_velocity() == pytest.approx([2 * v - 2.0, 0.0, 0.0], abs=1e-10)
    assert b.get_linear_velocity() == pytest.approx([2 * v + 1.0, 0.0, 0.0], abs=1e-10)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_oblique_collision_of_smooth_balls(weightless, e, angular_momentum):
    """Only the component along the line of centres changes, by the law of restitution."""
    elastic(weightless, e)
    a, b = weightless.add_sphere(0.1, 2.0), weightless.add_sphere(0.15, 3.0)
    a.set_position(-0.8, 0.12, -0.05)
    start_a, start_b = np.array([2.0, 0.1, 0.3]), np.array([-0.5, 0.2, 0.0])
    a.set_linear_velocity(start_a)
    b.set_linear_velocity(start_b)
    momentum = angular_momentum(a) + angular_momentum(b)
    while weightless.read_contacts().size == 0 or a.get_linear_velocity() == pytest.approx(start_a, abs=1e-9):
        weightless.integrate()
        assert weightless.get_world_time() < 1.0
    contact = weightless.get_contact_problem()[0]
    normal = contact.get_normal()
    assert contact.get_pair_object_index() == b.get_index_in_world()
    approach = -(start_a - start_b) @ normal
    impulse = (1.0 + e) * approach / (1 / 2.0 + 1 / 3.0)
    weightless.integrate(10)
    assert a.get_linear_velocity() == pytest.approx(start_a + impulse / 2.0 * normal, abs=1e-2 if e == 0 else 1e-9)
    assert b.get_linear_velocity() == pytest.approx(start_b - impulse / 3.0 * normal, abs=1e-2 if e == 0 else 1e-9)
    # the balls meet where the closed form says, within the way of one step
    separation, relative = np.array([-0.8, 0.12, -0.05]), start_a - start_b
    along = separation @ relative / (relative @ relative)
    miss2 = separation @ separation - along**2 * (relative @ relative)
    meeting = separation - relative * (along + np.sqrt((0.25**2 - miss2) / (relative @ relative)))
    assert normal == pytest.approx(meeting / 0.25, abs=2 * np.linalg.norm(relative) * 0.001 / 0.25)
    assert angular_momentum(a) + angular_momentum(b) == pytest.approx(momentum, abs=1e-12)
    assert a.get_linear_momentum() + b.get_linear_momentum() == pytest.approx(2 * start_a + 3 * start_b, abs=1e-12)


def tumbling_pair(world: World):
    """A box with a shifted centre of mass and a lying cylinder, about to collide while spinning."""
    box = world.add_box(0.3, 0.5, 0.2, 2.0)
    box.set_com((0.03, -0.05, 0.02))
    box.set_pose((-0.7, 0.1, 0.05), (0.8, 0.0, 0.6, 0.0))
    box.set_velocity((1.5, 0.0, 0.1), (1.0, -2.0, 3.0))
    rod = world.add_cylinder(0.1, 0.6, 1.2)
    rod.set_orientation(0.5, 0.5, 0.5, -0.5)
    rod.set_velocity((-0.5, 0.1, 0.0), (0.0, 2.0, -1.0))
    return box, rod


def test_momentum_survives_a_collision_of_tumbling_bodies_with_friction(weightless, angular_momentum):
    elastic(weightless, 0.5, 0.6)
    bodies = tumbling_pair(weightless)
    linear = sum(body.get_linear_momentum() for body in bodies)
    angular = sum(angular_momentum(body) for body in bodies)
    before = [body.get_linear_velocity() for body in bodies]
    weightless.integrate(1500)
    assert np.linalg.norm(bodies[0].get_linear_velocity() - before[0]) > 0.1, "they must have met"
    assert sum(body.get_linear_momentum() for body in bodies) == pytest.approx(linear, abs=1e-12)
    assert sum(angular_momentum(body) for body in bodies) == pytest.approx(angular, abs=2e-3)


def test_contacts_never_create_energy(weightless):
    elastic(weightless, 1.0, 0.3)
    bodies = tumbling_pair(weightless)
    energies = []
    for _ in range(1500):
        weightless.integrate()
        energies.append(sum(body.get_kinetic_energy() for body in bodies))
    assert max(energies) <= energies[0] * (1.0 + 1e-3)
    assert energies[-1] < energies[0]


def test_a_row_of_balls_passes_the_blow_on(weightless):
    """Five equal balls with small gaps: only the last one leaves, as in Newton's cradle."""
    elastic(weightless)
    balls = []
    for k in range(5):
        ball = weightless.add_sphere(0.1, 1.0)
        ball.set_position(0.21 * k, 0.0, 0.0)
        balls.append(ball)
    balls[0].set_position(-0.5, 0.0, 0.0)
    balls[0].set_linear_velocity((3.0, 0.0, 0.0))
    weightless.integrate(400)
    speeds = [ball.get_linear_velocity()[0] for ball in balls]
    assert speeds == pytest.approx([0.0, 0.0, 0.0, 0.0, 3.0], abs=1e-9)


def test_elastic_pile_keeps_its_energy():
    """SimBenchmark's elastic 666: 6 x 6 x 6 balls, restitution 1, dropped on the ground."""
    world = World()
    world.set_time_step(0.001)
    world.set_erp(0.0)
    elastic(world)
    world.add_ground()
    random = np.random.default_rng(1)
    balls = []
    for index in np.ndindex(6, 6, 6):
        ball = world.add_sphere(0.1, 10.0)
        ball.set_position(np.array(index) * 0.21 + [0.0, 0.0, 0.5] + random.uniform(-0.001, 0.001, 3))
        balls.append(ball)
    start = sum(ball.get_energy() for ball in balls)
    world.integrate(3000)
    end = sum(ball.get_energy() for ball in balls)
    assert abs(end / start - 1.0) < 0.02

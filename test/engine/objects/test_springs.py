"""Random chains of springs: whatever turns, goes slack or swings, what the springs lose is what the bodies gain."""

import itertools

import numpy as np
import pytest

from raisim_ros import StretchType, World


def random_chain(seed, stretch_type, off_centre):
    """Two to five bodies that turn and fly apart; the phase of a spring with its ends is up to 1 rad in a step."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(float(10 ** rng.uniform(-3.3, -2)))
    world.set_gravity((0, 0, -9.81 * rng.integers(2)))
    bodies, springs = [], []
    for k in range(rng.integers(2, 6)):
        body = world.add_sphere(0.1, float(10 ** rng.uniform(-1, 1)), collision_mask=0)
        body.set_position(*(np.array([k, 0.0, 0.0]) + rng.uniform(-0.2, 0.2, 3)))
        body.set_velocity(3 * rng.normal(size=3), 3 * rng.normal(size=3))
        bodies.append(body)
    for a, b in itertools.pairwise(bodies):
        frequency = min(10 ** rng.uniform(0, 2.5), 1 / world.get_time_step())
        length = float(np.linalg.norm(a.get_position() - b.get_position())) * (1 + 0.3 * rng.uniform(-1, 1))
        points = [tuple(map(float, off_centre * rng.uniform(-0.1, 0.1, 3))) for _ in range(2)]
        lightness = sum(
            (1 + np.dot(point, point) / (0.4 * 0.1**2)) / o.get_mass() for o, point in zip((a, b), points, strict=True)
        )
        spring = world.add_compliant_wire(a, 0, points[0], b, 0, points[1], length, float(frequency**2 / lightness))
        spring.set_stretch_type(stretch_type)
        springs.append(spring)
    return world, bodies, springs


@pytest.mark.parametrize("off_centre", [0.0, 1.0], ids=["centred", "off centre"])
@pytest.mark.parametrize("stretch_type", list(StretchType))
@pytest.mark.parametrize("seed", range(8))
def test_springs_neither_give_nor_take_energy(seed, stretch_type, off_centre):
    world, bodies, springs = random_chain(seed, stretch_type, off_centre)
    start = sum(o.get_energy() for o in (*bodies, *springs))
    scale = sum(b.get_kinetic_energy() for b in bodies) + sum(s.get_energy() for s in springs)
    for _ in range(300):
        world.integrate()
        scale = max(scale, sum(b.get_kinetic_energy() for b in bodies))
        assert sum(o.get_energy() for o in (*bodies, *springs)) == pytest.approx(start, abs=1e-5 * scale)


@pytest.mark.parametrize("stretch_type", list(StretchType))
def test_springs_conserve_momenta(stretch_type):
    world, bodies, _ = random_chain(3, stretch_type, 1.0)
    world.set_gravity((0, 0, 0))

    def momenta():
        along = sum(b.get_mass() * b.get_linear_velocity() for b in bodies)
        around = sum(b.get_mass() * np.cross(b.get_position(), b.get_linear_velocity())
                     + b.get_inertia_matrix_w() @ b.get_angular_velocity() for b in bodies)  # fmt: skip
        return along, around

    before = momenta()
    world.integrate(300)
    after = momenta()
    assert after[0] == pytest.approx(before[0], abs=1e-9)
    assert after[1] == pytest.approx(before[1], abs=1e-3 * np.linalg.norm(before[1]))

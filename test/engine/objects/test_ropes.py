"""Ropes of point masses on wires: whatever happens to them, they gain nothing."""

import itertools
import math

import numpy as np
import pytest
from wire_scenes import G, anchor, ball, tie

from raisim_ros import BodyType, World


def random_rope(seed):
    """A rope of light beads or of any masses, with a heavy or a free end, at rest or thrown, straight or crumpled."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_sleeping_enabled(False)
    world.set_time_step(float(rng.choice([0.001, 0.002, 0.005, 0.01])))
    last, kind = anchor(world), seed % 4
    if kind == 1:
        last.set_body_type(0)
    count, length, slack = int(rng.integers(3, 25)), float(rng.uniform(0.05, 0.5)), float(rng.choice([1.0, 0.8]))
    step, thrown = rng.normal(size=3), rng.normal(size=3) * float(rng.choice([0.0, 5.0, 20.0]))
    place, beads = np.zeros(3), [last] if kind == 1 else []
    for k in range(count):
        step = step + (0.5 * rng.normal(size=3) if kind == 3 else 0.0)
        step /= np.linalg.norm(step)
        place = place + slack * length * step
        light = 0.1 if k < count - 1 else float(10 ** rng.uniform(0, 3))
        mass = float(10 ** rng.uniform(-2, 2)) if kind == 2 else light
        beads.append(ball(world, place, mass, (k + 1) / count * thrown))
        tie(world, last, beads[-1], length)
        last = beads[-1]
    return world, beads


def watch_energy(world, beads, seconds):
    """Only stretch and overlap that are taken back lift what hangs on the rope."""
    weight = G * sum(bead.get_mass() for bead in beads)
    before = start = sum(bead.get_energy() for bead in beads)
    for _ in range(round(seconds / world.get_time_step())):
        lift = weight * sum(max(0.0, wire.get_stretch()) for wire in world.get_wires())
        kinetic = sum(bead.get_kinetic_energy() for bead in beads)
        world.integrate()
        lift += weight * max((c.get_depth() for bead in beads for c in bead.get_contacts()), default=0.0)
        now = sum(bead.get_energy() for bead in beads)
        assert now - before <= lift + 1e-5 * kinetic + 1e-9 * abs(start)
        before = now


@pytest.mark.parametrize("seed", range(16))
def test_ropes_of_any_kind_gain_nothing(seed):
    """Whips, jerks, heavy ends."""
    watch_energy(*random_rope(seed), 0.6)


@pytest.mark.parametrize("friction", [0.0, 0.8])
def test_a_rope_that_falls_over_a_bar_gains_nothing(world, friction):
    """Contacts and wires in one solve: what wires give back is part of the certificate."""
    world.set_time_step(0.005)
    world.set_default_material(friction, 0.0, 0.0)
    bar = world.add_cylinder(0.1, 1.0, 1.0)
    bar.set_body_type(2)
    bar.set_orientation((math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    beads = []
    for k in range(30):
        bead = world.add_sphere(0.03, 5.0 if k in (0, 29) else 0.05)
        bead.set_position(0.08 * (k - 12), 0.0, 0.3)
        if beads:
            tie(world, beads[-1], bead, 0.08)
        beads.append(bead)
    watch_energy(world, beads, 1.5)


def bridge(count, half, gap, slack, sides, mass, dt):
    """Planks between two posts, tied to each other by short stiff wires; returns the world and the wires."""
    world = World()
    world.set_time_step(dt)
    posts, planks, wires = [], [], []
    for k in range(-1, count + 1):
        plank = world.add_box(2 * half, 1.0, 0.05, mass)
        plank.set_position(k * (2 * half + gap), 0, 2)
        (posts if k in (-1, count) else planks).append(plank)
    for post in posts:
        post.set_body_type(BodyType.STATIC)
    row = [posts[0], *planks, posts[1]]
    for a, b in itertools.pairwise(row):
        wires += [world.add_stiff_wire(a, 0, (half, y, 0), b, 0, (-half, y, 0), slack * gap) for y in sides]
    return world, wires


@pytest.mark.parametrize(
    ("count", "half", "gap", "slack", "sides", "mass"),
    [
        (20, 0.09, 0.02, 1.2, (-0.45, 0.45), 2.0),
        (20, 0.09, 0.02, 1.2, (0.0,), 2.0),
        (23, 0.17, 0.041, 1.04, (-0.4, 0.4), 2.4),
        (12, 0.08, 0.064, 1.3, (-0.4, 0.4), 4.9),
        (18, 0.05, 0.015, 1.1, (-0.2, 0.3), 0.3),
    ],
)
def test_short_wires_of_a_bridge_hold(count, half, gap, slack, sides, mass):
    """What takes back the stretch of many short wires in a row must not turn them so far that it stretches them."""
    world, wires = bridge(count, half, gap, slack, sides, mass, 0.005)
    for _ in range(1200):
        world.integrate()
    assert max(wire.get_distance() - wire.get_length() for wire in wires) < 0.1 * (2 * half + gap)

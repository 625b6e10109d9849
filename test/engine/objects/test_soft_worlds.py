"""The worlds with cloth and grains that come with the package: ten seconds, and nothing comes from nowhere."""

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.description.resources import resource
from raisim_ros.engine.objects.soft_handles import SoftObject


def _world(name, **params):
    return World(resource(f"worlds/{name}.xml"), params)


def _watched(world, seconds=10.0):
    """Energies and greatest speeds of the particles ten times a second."""
    (soft,) = (handle for handle in world if isinstance(handle, SoftObject))
    steps = round(0.1 / world.get_time_step())
    energies, speeds = [soft.get_energy()], []
    for _ in range(round(seconds / 0.1)):
        world.integrate(steps)
        energies.append(soft.get_energy())
        speeds.append(float(np.linalg.norm(soft.get_velocities(), axis=1).max()))
    return soft, np.array(energies), np.array(speeds)


def test_a_flag_streams_in_the_wind():
    world = _world("flag", cells=10)
    flag, energies, speeds = _watched(world)
    assert speeds.max() < 2.0 * 7.1  # the tip of a flag may crack, but the wind drives it
    assert speeds[-20:].max() > 0.3
    places = flag.get_positions()
    assert places[:, 0].mean() > 0.5  # downwind of the pole
    assert np.abs(places[flag.get_pinned_vertices(), 0] - 0.05).max() < 1e-12
    assert (energies < energies[0] + 1.5).all()


def test_a_cloth_lies_over_a_ball_and_loses_energy_only():
    cloth, energies, speeds = _watched(_world("cloth_over_ball", cells=13))
    assert np.diff(energies).max() < 1e-4 * energies[0]
    assert speeds[-1] < 0.05
    distances = np.linalg.norm(cloth.get_positions() - np.array([0.0, 0.0, 0.35]), axis=1)
    assert distances.min() > 0.35
    assert cloth.get_positions()[:, 2].max() > 0.7  # on top of the ball
    assert cloth.get_positions()[:, 2].min() > 0.0


def test_a_hopper_empties_into_the_box():
    grains, energies, speeds = _watched(_world("grain_hopper", grains=300))
    assert np.diff(energies).max() < 1e-6 * energies[0]
    assert speeds[-1] < 1e-3
    places = grains.get_positions()
    assert len(places) == 300
    assert (places[:, 2] < 0.3).all()
    assert (np.abs(places[:, :2]) < 0.28).all()


def test_a_rover_drives_through_gravel():
    world = _world("rover_in_gravel", grains=300)
    rover, start = world["rover"], world["rover"].get_base_position()
    gravel, energies, speeds = _watched(world)
    assert speeds.max() < 2.0  # nothing is flung
    assert (energies[1:] < energies[0]).all()
    free = 0.1 * 4.0 * 10.0
    assert 0.6 * free < rover.get_base_position()[0] - start[0] < 1.03 * free
    assert rover.get_base_position()[2] == pytest.approx(0.1, abs=0.01)  # out on the floor again
    assert gravel.get_positions()[:, 2].min() > 0.0


def test_a_robot_stands_with_one_foot_on_jelly():
    world = _world("jelly_foot", spacing=0.05)
    robot, jelly = world["robot"], world["jelly"]
    volume = jelly.get_volume()
    _watched(world)
    assert robot.get_base_position()[2] == pytest.approx(0.65, abs=0.03)
    assert jelly.get_volume() == pytest.approx(volume, rel=0.1)
    weight = 9.81 * robot.get_total_mass()
    on_robot = sum(one.impulse[2] for one in jelly.get_impulses() if one.object is robot)
    assert 0.04 * weight < abs(on_robot) / world.get_time_step() < 0.45 * weight
    assert jelly.get_elastic_energy() > 0.2
    speeds = np.linalg.norm(jelly.get_velocities(), axis=1)
    assert speeds.max() < 0.05

"""Numbers that double precision cannot carry: refused at the door, and what diverges all the same stops alone."""

import contextlib

import numpy as np
import pytest

from raisim_ros import DeformableObject, GranularMaterial, World
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.engine.errors import DivergedError

HUGE = [1e51, 1e100, 1e155, 1e200, 1e300, 1.7e308]
TINY = [1e-41, 1e-100, 1e-160, 1e-300, 1e-320, 5e-324]


def robot(mass=1.0, inertia=0.1, base="1", length=1.0):
    def link(name, m, i):
        return (
            f'<link name="{name}"><inertial><mass value="{m}"/>'
            f'<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'
            '<collision><geometry><sphere radius="0.3"/></geometry></collision></link>'
        )

    return (
        f'<robot name="r">{link("a", base, base)}{link("b", mass, inertia)}'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
        f'<origin xyz="{length} 0 0"/></joint></robot>'
    )


def all_finite(world):
    states = world.read_states()
    arrays = [states.poses, states.twists]
    for handle in world.get_obj_list():
        if hasattr(handle, "get_generalized_coordinate"):
            arrays += [handle.get_generalized_coordinate(), handle.get_generalized_velocity()]
    return all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("mass", [*TINY, 1e41, 1e300])
def test_masses_that_cannot_be_carried_are_refused(mass):
    world = World()
    with pytest.raises(InvalidValueError, match="mass"):
        world.add_sphere(1.0, mass)
    with pytest.raises(RaisimError, match="text:1: link 'b': mass"):
        world.add_articulated_system(robot(mass))
    if mass > 1.0:  # a link of the end without inertia is given the least that will do
        with pytest.raises(RaisimError, match=r"text:1: .*link 'b'"):
            world.add_articulated_system(robot(1.0, mass * 1e5))
    box = world.add_box(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(InvalidValueError, match="mass"):
        box.set_mass(mass)
    with pytest.raises(InvalidValueError, match="inertia"):
        box.set_inertia(np.eye(3) * mass * (1e-30 if mass < 1.0 else 1e8 if mass > 1e100 else 1e10))
    assert world.get_obj_list() == [box]


@pytest.mark.parametrize("value", HUGE)
def test_states_and_loads_that_cannot_be_carried_are_refused(value):
    world = World()
    box = world.add_box(1.0, 1.0, 1.0, 1.0)
    for call in (
        lambda: box.set_position(value, 0.0, 0.0),
        lambda: box.set_velocity((0.0, -value, 0.0), (0.0, 0.0, 0.0)),
        lambda: box.set_angular_velocity((value, 0.0, 0.0)),
        lambda: box.set_external_force(0, (0.0, 0.0, value)),
        lambda: world.set_gravity((0.0, 0.0, value)),
        lambda: world.set_time_step(value),
        lambda: world.set_time_step(1.0 / value),
    ):
        before = world.get_state_hash()
        with pytest.raises(InvalidValueError):
            call()
        assert world.get_state_hash() == before


@pytest.mark.parametrize("size", [1e-13, 1e-100, 1e-320])
def test_shapes_and_maps_without_extent_are_refused(size):
    world = World()
    for call in (
        lambda: world.add_sphere(size, 1.0),
        lambda: world.add_box(1.0, size, 1.0, 1.0),
        lambda: world.add_cylinder(1.0, size, 1.0),
        lambda: world.add_height_map(2, 2, 1.0, size, 0.0, 0.0, [0.0] * 4),
    ):
        with pytest.raises(RaisimError):
            call()
    assert world.get_obj_list() == []


def scene():
    """A body that will diverge, one that lies on it, one beside it on the same ground, one far away."""
    world = World()
    world.add_ground()
    wild = world.add_box(1.0, 1.0, 1.0, 1.0)
    wild.set_position(0.0, 0.0, 0.5)
    above = world.add_box(1.0, 1.0, 1.0, 1.0)
    above.set_position(0.0, 0.0, 1.5)
    beside = world.add_sphere(0.5, 1.0)
    beside.set_position(3.0, 0.0, 0.5)
    falling = world.add_sphere(0.5, 1.0)
    falling.set_position(0.0, 50.0, 50.0)
    return world, wild, (above, beside, falling)


@pytest.mark.parametrize(
    "drive",
    [
        lambda body: body.set_external_force(0, (0.0, 0.0, 1e50)),
        lambda body: body.set_external_force(0, (0.0, 1e50, 0.0), (0.0, 0.0, 1e50)),
        lambda body: body.set_external_torque(0, (1e50, 1e30, 0.0)),
        lambda body: (body.set_mass(1e-40), body.set_external_force(0, (0.0, 0.0, -1e50))),
        lambda body: body.set_velocity((0.0, 0.0, -1e50), (0.0, 0.0, 0.0)),
        lambda body: body.set_velocity((0.0, 0.0, 0.0), (1e50, -1e50, 1e50)),
    ],
)
def test_what_diverges_stops_alone(drive):
    world, wild, others = scene()
    world.integrate(10)
    drive(wild)
    diverged = []
    for _ in range(200):
        try:
            world.integrate()
        except DivergedError as error:
            diverged.append(str(error))
        assert all_finite(world)
    assert all(f"object {wild.get_id()} " in text for text in diverged)
    _, beside, falling = others
    assert beside.get_position() == pytest.approx((3.0, 0.0, 0.5), abs=0.01)
    assert falling.get_position()[2] < 50.0
    assert falling.get_linear_velocity()[2] < -1.0


def test_a_robot_that_diverges_stops_alone():
    world = World()
    world.add_ground()
    wild = world.add_articulated_system(robot())
    wild.set_generalized_coordinate([0, 0, 0.3, 1, 0, 0, 0, 0])
    beside = world.add_box(1.0, 1.0, 1.0, 1.0)
    beside.set_position(0.0, 0.0, 1.1)
    far = world.add_sphere(0.5, 1.0)
    far.set_position(30.0, 0.0, 10.0)
    wild.set_generalized_velocity([0, 0, 0, 1e40, 0, 1e40, 1e49])
    diverged = 0
    for _ in range(100):
        try:
            world.integrate()
        except DivergedError:
            diverged += 1
        assert all_finite(world)
    assert diverged
    assert far.get_position()[2] < 9.9


def test_the_same_with_forces_on_a_robot():
    world = World()
    wild = world.add_articulated_system(robot())
    wild.set_generalized_force([1e50] * 7)
    for _ in range(50):
        with contextlib.suppress(DivergedError):
            world.integrate()
        assert all_finite(world)


@pytest.mark.parametrize("link", [0, 1])
def test_a_command_that_drove_a_robot_away_is_dropped(link):
    """As those of bodies are: it would diverge again in every step in which something wakes it."""
    world = World()
    wild = world.add_articulated_system(robot())
    wild.set_command_wrench([0, 0, 0], [1e40, 1e40, 0], link)
    with pytest.raises(DivergedError):
        world.integrate(50)
    wild.set_generalized_velocity([0.0] * 7)  # wakes it
    world.integrate(50)
    assert abs(wild.get_generalized_velocity()[0]) < 1e-3


def test_extreme_neighbours_stay_finite():
    """Everything at the edge of what is accepted, in one heap: errors or not, every state stays finite."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        world = World()
        world.add_ground()
        for _ in range(8):
            mass = 10.0 ** rng.uniform(-40, 40)
            body = world.add_sphere(10.0 ** rng.uniform(-2, 1), mass)
            body.set_position(rng.uniform(-1, 1, 3))
            body.set_velocity(rng.normal(size=3) * 10.0 ** rng.uniform(-10, 50), rng.normal(size=3))
        for _ in range(20):
            with contextlib.suppress(DivergedError):
                world.integrate()
            assert all_finite(world)


@pytest.mark.parametrize("seed", range(6))
def test_soft_objects_that_diverge_stop_where_they_were(seed):
    rng = np.random.default_rng(seed)
    world = World()
    world.add_ground()
    bystander = world.add_sphere(0.1, 1.0)
    bystander.set_position(50.0, 0.0, 5.0)
    arm = world.add_articulated_system(resource("robots/arm.urdf"))
    arm.set_base_pos((70.0, 0.0, 3.0))
    world.load(resource("worlds/flag.xml" if seed % 2 else "worlds/cloth_over_ball.xml"))
    cloth = next(thing for thing in world.get_obj_list() if isinstance(thing, DeformableObject))
    before = cloth.get_positions().copy()
    cloth.set_velocities(rng.normal(size=before.shape) * 10.0 ** rng.uniform(46.0, 49.0))
    diverged = False
    for _ in range(5):
        try:
            world.integrate()
        except DivergedError:
            diverged = True
        assert np.isfinite([cloth.get_positions(), cloth.get_velocities()]).all()
        assert all_finite(world)
    assert diverged
    alone = World()
    alone.set_time_step(world.get_time_step())
    same_ball, same_arm = alone.add_sphere(0.1, 1.0), alone.add_articulated_system(resource("robots/arm.urdf"))
    same_ball.set_position(50.0, 0.0, 5.0)
    alone.integrate(5)
    assert bystander.get_position() == pytest.approx(same_ball.get_position(), abs=1e-12)
    assert arm.get_generalized_coordinate() == pytest.approx(same_arm.get_generalized_coordinate(), abs=1e-12)


@pytest.mark.parametrize(("radius", "density"), [(0.05, 1e-320), (1e-12, 1e-8), (1e12, 1600.0)])
def test_grains_whose_mass_cannot_be_carried_are_refused(radius, density):
    world, material = World(), GranularMaterial(density=density)
    with pytest.raises(RaisimError, match="particle 0 has a mass of"):
        world.add_granular_particles([(0, 0, 1)], [radius], material)
    grains = world.add_granular_particles([(0, 0, 1)], [0.05])
    with pytest.raises(RaisimError, match="particle 0 has a mass of"):
        grains.add_particles([(0, 0, 1)], [radius], material=material)
    assert grains.get_num_particles() == 1
    mass = grains.get_mass()
    with pytest.raises(RaisimError, match="particle 0 has a mass of"):
        grains.set_particle_material(0, GranularMaterial(density=1e-320))
    assert grains.get_mass() == mass


@pytest.mark.parametrize(("stiffness", "step"), [(1e5, 10.0), (1e12, 0.005), (1e20, 0.005)])
def test_grains_that_are_too_stiff_for_a_step_are_stopped_and_say_so(stiffness, step):
    # Millions of substeps, which nothing could interrupt, were made of such a step.
    world = World()
    world.set_time_step(step)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(50.0, 0.0, 5.0)
    places = [(0.0, 0.0, 1.0), (0.0, 0.0, 1.02)]
    grains = world.add_granular_particles(places, 0.01, GranularMaterial(normal_stiffness=stiffness))
    with pytest.raises(DivergedError, match="at most 10000 are made"):
        world.integrate()
    assert grains.get_positions() == pytest.approx(np.array(places))
    assert ball.get_linear_velocity()[2] == pytest.approx(-9.81 * step)


def test_more_substeps_are_made_where_they_are_asked_for():
    world = World()
    world.set_time_step(0.01)
    material = GranularMaterial(normal_stiffness=1e10, substeps=100000)
    grains = world.add_granular_particles([(0.0, 0.0, 1.0)], 0.01, material)
    world.integrate()
    assert grains.get_last_step_stats().substeps == 100000
    assert grains.get_velocities()[0, 2] == pytest.approx(-0.0981)

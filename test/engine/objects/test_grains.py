"""Grains: contact laws against closed forms, conservation, rest, and everything that objects can do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from raisim_ros import (
    BodyType,
    GranularMaterial,
    GranularSystem,
    InvalidValueError,
    ObjectRemovedError,
    ParseError,
    World,
)
from raisim_ros.description.world.soft_types import scatter

GRAVITY = 9.81


def weightless() -> World:
    world = World()
    world.set_gravity([0, 0, 0])
    return world


def damped_restitution(k: float, c: float, mass: float) -> float:
    """Of a spring and a damper that never pull (Schwager and Poeschel, Granular Matter 9, 2007)."""
    beta, omega0 = c / (2 * mass), math.sqrt(k / mass)
    omega = math.sqrt(omega0**2 - beta**2)
    if beta < omega0 / math.sqrt(2):
        return math.exp(-beta / omega * (math.pi - math.atan(2 * beta * omega / (omega**2 - beta**2))))
    return math.exp(-beta / omega * math.atan(-2 * beta * omega / (omega**2 - beta**2)))


@pytest.mark.parametrize("damping", [0.0, 2.0, 8.0, 20.0, 30.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])  # sizes 0.01 mm to 0.3 m: stiffness and damping along
@pytest.mark.parametrize(("substeps", "tolerance"), [(1, 0.06), (300, 2e-3)])
def test_two_grains_bounce_as_the_closed_form_says(
    damping: float, scale: float, substeps: int, tolerance: float
) -> None:
    world = weightless()
    radius, density = 0.01 * scale, 2000.0
    mass = 4 / 3 * math.pi * radius**3 * density
    k, c, speed = 1e5 * scale, damping * scale**2, 1.0
    material = GranularMaterial(density=density, normal_stiffness=k, normal_damping=c, friction=0.0, substeps=substeps)
    grains = world.add_granular_particles(
        [[0, 0, 0], [2.1 * radius, 0, 0]], radius, material, velocities=[[speed, 0, 0], [0, 0, 0]]
    )
    world.set_time_step(0.2 * radius)
    world.integrate(10)
    v = grains.get_velocities()[:, 0]
    assert v.sum() == pytest.approx(speed, rel=1e-12)
    assert v[1] - v[0] == pytest.approx(damped_restitution(k, c, mass / 2) * speed, abs=tolerance)


def test_hertzian_grains_keep_their_energy_and_give_way_as_the_closed_form_says() -> None:
    world = weightless()
    radius, k, speed = 0.01, 5e7, 0.8
    material = GranularMaterial(normal_stiffness=k, normal_damping=0.0, friction=0.0, hertz=True)
    grains = world.add_granular_particles(
        [[0, 0, 0], [2.05 * radius, 0, 0]], radius, material, velocities=[[speed, 0, 0], [0, 0, 0]]
    )
    mass = grains.get_mass() / 4  # effective
    deepest = 0.0
    world.set_time_step(2e-4)
    for _ in range(60):
        world.integrate()
        deepest = max(deepest, grains.get_last_step_stats().largest_overlap * radius)
    v = grains.get_velocities()[:, 0]
    assert v[1] - v[0] == pytest.approx(speed, rel=5e-3)
    assert deepest == pytest.approx((1.25 * mass * speed**2 / (k * math.sqrt(radius / 2))) ** 0.4, rel=0.02)


def test_a_sliding_grain_ends_up_rolling_at_five_sevenths() -> None:
    world = World()
    world.add_ground()
    grains = world.add_granular_particles([[0, 0, 0.00999]], 0.01, velocities=[[0.7, 0, 0]])
    world.integrate(100)
    assert grains.get_velocities()[0, 0] == pytest.approx(0.5, rel=0.01)
    assert grains.get_angular_velocities()[0, 1] == pytest.approx(0.5 / 0.01, rel=0.02)


@pytest.mark.parametrize("rolling", [0.0, 0.1])
def test_rolling_friction_holds_up_to_its_angle(rolling: float) -> None:
    """On a slope of 4 degrees a grain rolls with 5/7 g sin, or stays where rolling friction exceeds the tangent."""
    angle = math.radians(4)
    world = World()
    world.set_gravity([GRAVITY * math.sin(angle), 0, -GRAVITY * math.cos(angle)])
    world.add_ground()
    material = GranularMaterial(rolling_friction=rolling)
    grains = world.add_granular_particles([[0, 0, 0.00999]], 0.01, material)
    world.integrate(60)
    before = grains.get_velocities()[0, 0]
    world.integrate(40)
    rate = (grains.get_velocities()[0, 0] - before) / 0.2
    assert rate == pytest.approx(0.0 if rolling else 5 / 7 * GRAVITY * math.sin(angle), abs=0.02)


def cloud(world: World, seed: int, count: int = 60) -> GranularSystem:
    random = np.random.default_rng(seed)
    material = GranularMaterial(
        normal_stiffness=3e4, normal_damping=1.0, friction=0.6, rolling_friction=0.1, tangential_damping=0.2
    )
    x = random.uniform(-0.12, 0.12, (count, 3))
    return world.add_granular_particles(
        x, random.uniform(0.005, 0.015, count), material, velocities=-8 * x + random.normal(0, 0.4, (count, 3))
    )


@pytest.mark.parametrize("seed", range(4))
def test_momentum_is_kept_among_grains_and_bodies(seed: int) -> None:
    world = weightless()
    random = np.random.default_rng(100 + seed)
    bodies: list[Any] = [
        world.add_box(0.08, 0.05, 0.06, 0.3),
        world.add_sphere(0.04, 0.1),
        world.add_capsule(0.03, 0.08, 0.2),
        world.add_cone(0.05, 0.1, 0.4),
    ]
    for body in bodies:
        body.set_position(random.uniform(-0.1, 0.1, 3))
        body.set_velocity(random.normal(0, 0.2, 3), random.normal(0, 2, 3))
    grains = cloud(world, seed)

    def momentum() -> np.ndarray[Any, Any]:
        linear, angular = grains.get_linear_momentum(), grains.get_angular_momentum()
        for body in bodies:
            p = body.get_mass() * body.get_linear_velocity()
            linear = linear + p
            spin = body.get_inertia_matrix_w() @ body.get_angular_velocity()
            angular = angular + np.cross(body.get_com_position(), p) + spin
        return np.concatenate([linear, angular])

    scale = np.abs(grains.get_linear_momentum()).max() + 0.1
    for _ in range(30):
        before = momentum()
        world.integrate()
        change = momentum() - before
        assert np.abs(change[:3]).max() < 1e-9 * scale


def test_impulses_on_a_body_are_reported_and_are_what_changed_it() -> None:
    world = weightless()
    box = world.add_box(0.1, 0.1, 0.1, 0.5)
    box.set_position([0.065, 0.01, 0.02])
    grains = world.add_granular_particles([[0, 0, 0]], 0.01, velocities=[[2, 0, 0]])
    total = np.zeros(3)
    for _ in range(10):
        world.integrate()
        total += sum((one.impulse for one in grains.get_impulses()), np.zeros(3))
    assert total == pytest.approx(0.5 * box.get_linear_velocity(), rel=1e-9)
    assert np.linalg.norm(total) > 1e-3


LINK = """<robot name="r"><link name="base"><inertial><mass value="2"/><inertia ixx=".02" iyy=".02" izz=".02"
ixy="0" ixz="0" iyz="0"/></inertial></link><link name="arm"><inertial><origin xyz="0 0 -.1"/><mass value="0.4"/>
<inertia ixx=".002" iyy=".002" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 -.1"/>
<geometry><box size=".05 .05 .2"/></geometry></collision></link><joint name="j" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="100"/></joint></robot>"""


def test_grains_push_links_of_a_free_robot_and_momentum_is_kept() -> None:
    world = weightless()
    robot = world.add_articulated_system(LINK)
    robot.set_base_pos([0.06, 0, 0.1])
    grains = world.add_granular_particles([[0, 0, -0.05], [0, 0.02, 0.03]], 0.012, velocities=[[3, 0, 0], [2, 0, 0]])

    def momentum() -> np.ndarray[Any, Any]:
        return grains.get_linear_momentum() + robot.get_linear_momentum()

    before = momentum()
    world.integrate(40)
    assert momentum() == pytest.approx(before, abs=1e-9)
    assert abs(robot.get_generalized_velocity()[6]) > 0.05
    assert robot.get_linear_momentum()[0] > 0.01


def pile(world: World, count: int = 150, **properties: float) -> GranularSystem:
    material = GranularMaterial(normal_stiffness=2e4, normal_damping=3.0, tangential_damping=1.0, **properties)
    random = np.random.default_rng(7)
    side = math.ceil(count ** (1 / 3))
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)[:count] * 0.022
    return world.add_granular_particles(
        places + random.normal(0, 5e-4, (count, 3)) + [-0.05, -0.05, 0.012],
        random.uniform(0.009, 0.011, count),
        material,
    )


def test_a_pile_comes_to_rest_sleeps_and_wakes_when_something_falls_on_it() -> None:
    world = World()
    world.add_ground()
    grains = pile(world, 60, friction=0.6, rolling_friction=0.3)
    world.integrate(1400)
    assert world.is_object_sleeping(grains)
    assert grains.get_last_step_stats().largest_overlap < 0.02
    before = grains.get_positions().copy()
    world.integrate(100)
    assert np.array_equal(grains.get_positions(), before)
    ball = world.add_sphere(0.02, 0.05)
    ball.set_position([*before[before[:, 2].argmax(), :2], 0.2])
    world.integrate(60)
    assert not world.is_object_sleeping(grains)
    assert np.abs(grains.get_positions() - before).max() > 1e-3


def test_a_box_on_grains_is_held_and_sleeps_with_them_or_not_at_all() -> None:
    world = World()
    world.add_ground()
    grains = pile(world, 1, friction=0.6, rolling_friction=0.1)
    grains.set_container_box([-0.07, -0.07, 0.0], [0.07, 0.07, 1.0])
    grains.emit_box_random([-0.07, -0.07, 0.03], [0.07, 0.07, 0.4], 250, (0.009, 0.011))
    world.integrate(200)
    box = world.add_box(0.08, 0.08, 0.03, 0.05)
    box.set_position([0, 0, 0.03 + grains.get_positions()[:, 2].max()])
    world.integrate(300)
    height, weight = box.get_position()[2], 0.0
    for _ in range(100):
        world.integrate()
        assert world.is_object_sleeping(box) <= world.is_object_sleeping(grains)
        held = [one for one in grains.get_impulses() if one.object is box]
        weight += sum(one.impulse[2] for one in held) / 0.5
    assert box.get_position()[2] == pytest.approx(height, abs=1e-3)
    if not world.is_object_sleeping(box):
        assert weight == pytest.approx(0.05 * GRAVITY, rel=0.02)


def test_energy_never_grows() -> None:
    world = World()
    world.add_ground()
    grains = pile(world, friction=0.5, rolling_friction=0.1)
    world.integrate()  # springs of pairs are known from the first step on
    energy = grains.get_energy()
    for _ in range(60):
        world.integrate(5)
        assert grains.get_energy() < energy + 1e-3 * abs(energy)
        energy = grains.get_energy()


def test_snapshots_clones_and_hashes_continue_to_the_same_bits() -> None:
    world = World()
    world.add_ground()
    grains = pile(world, friction=0.5)
    box = world.add_box(0.05, 0.05, 0.05, 0.2)
    box.set_position([0, 0, 0.2])
    world.integrate(40)
    saved = world.save_snapshot()
    world.integrate(40)
    expected, positions = world.get_state_hash(), grains.get_positions().copy()
    world.restore_snapshot(saved)
    world.integrate(40)
    assert world.get_state_hash() == expected
    assert np.array_equal(grains.get_positions(), positions)
    clone = world.clone_object(grains, "copy")
    assert np.array_equal(clone.get_positions(), grains.get_positions())
    count = len(world.get_obj_list())
    world.remove_object(grains)
    assert len(world.get_obj_list()) == count - 1
    with pytest.raises(ObjectRemovedError):
        grains.get_positions()
    world.integrate(10)


def test_threads_change_no_bits() -> None:
    """More grains than a block, in a container and on a body, periodic along one axis."""
    hashes = set()
    for threads in (1, 2, 3, 7):
        world = World()
        world.set_threads(threads)
        world.add_ground()
        box = world.add_box(0.1, 0.1, 0.1, 0.5)
        box.set_position([0.1, 0.1, 0.55])
        material = GranularMaterial(density=2000, normal_stiffness=5e3, normal_damping=0.5, rolling_friction=0.1)
        grains = world.add_granular_particles(np.zeros((0, 3)), 0.01, material)
        grains.emit_box_random([0, 0, 0.02], [0.2, 0.2, 0.45], 2000, (0.008, 0.01), seed=3)
        grains.set_periodic_boundary([0, 0, 0], [0.2, 0.2, 1], [True, False, False])
        grains.set_container_box([0, 0, -1], [0.2, 0.2, 2])
        world.integrate(40)
        hashes.add(world.get_state_hash())
    assert len(hashes) == 1


def test_grains_bounce_across_a_periodic_border() -> None:
    world = weightless()
    material = GranularMaterial(normal_damping=0.0, friction=0.0)
    x = [[-0.48, 0, 0], [0.45, 0, 0]]
    grains = world.add_granular_particles(x, 0.01, material, velocities=[[-1, 0, 0], [0, 0, 0]])
    grains.set_periodic_boundary([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5], (True, False, False))
    world.integrate(30)
    assert grains.get_velocities()[:, 0] == pytest.approx([0, -1], abs=5e-3)
    world.integrate(200)
    assert (np.abs(grains.get_positions()[:, 0]) <= 0.52).all()


def test_container_and_ground_plane_hold_the_grains() -> None:
    world = World()
    grains = pile(world, friction=0.3)
    grains.set_container_box([-0.07, -0.07, 0.0], [0.09, 0.09, 1.0])
    world.integrate(200)
    x = grains.get_positions()
    assert x[:, :2].min() > -0.0701 + 0.0085
    assert x[:, :2].max() < 0.0901 - 0.0085
    assert x[:, 2].min() > 0.008
    grains.disable_container_box()
    grains.set_ground_plane(-0.5)
    world.integrate(200)
    x = grains.get_positions()
    assert x[:, 2].min() == pytest.approx(-0.491, abs=2e-3)


def test_frictionless_grains_carry_a_light_box_and_let_a_heavy_one_sink() -> None:
    heights = {}
    for density in (300.0, 6000.0):
        world = World()
        material = GranularMaterial(normal_stiffness=1e4, normal_damping=1.0, friction=0.0, density=1600)
        grains = world.add_granular_particles([[0, 0, 0.012]], 0.01, material)
        grains.set_ground_plane()
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            wall = world.add_box(0.2 if y else 0.04, 0.2 if x else 0.04, 1, 1)
            wall.set_body_type(BodyType.STATIC)
            wall.set_position([0.1 * x, 0.1 * y, 0.5])
        grains.emit_box((-0.08, -0.08, 0.025), (0.08, 0.08, 0.2), 0.01, 0.0201)
        world.integrate(150)
        box = world.add_box(0.05, 0.05, 0.05, density * 0.05**3)
        box.set_position([0, 0, grains.get_positions()[:, 2].max() + 0.05])
        world.integrate(300)
        heights[density] = box.get_position()[2] - grains.get_positions()[:, 2].max()
    assert heights[300.0] > -0.01  # its middle is near the tops of the highest grains
    assert heights[6000.0] < -0.05


def test_adding_removing_and_fixing_grains() -> None:
    world = World()
    grains = pile(world, 20)
    stone = GranularMaterial(density=5000)
    index = grains.add_particle([0, 0, 1], 0.02, [0, 0, 1], stone)
    assert index == 20
    assert grains.get_num_particles() == 21
    assert grains.get_material(grains.get_particle_materials()[20]).density == 5000
    grains.set_particle_fixed(20)
    world.integrate(20)
    assert grains.get_positions()[20] == pytest.approx([0, 0, 1])
    last = grains.get_positions()[20].copy()
    grains.remove_particle(3)
    assert grains.get_num_particles() == 20
    assert grains.get_positions()[3] == pytest.approx(last)
    mass = grains.get_mass()
    grains.set_particle_material(0, stone)
    assert grains.get_mass() > mass
    assert grains.emit_box_random([1, 1, 1], [1.2, 1.2, 1.2], 30, (0.01, 0.02), seed=3) == 30
    x, r = grains.get_positions()[-30:], grains.get_radii()[-30:]
    gaps = np.linalg.norm(x[:, None] - x[None], axis=-1) - r[:, None] - r[None] + 10 * np.eye(30)
    assert gaps.min() >= 0.0
    world.integrate(5)


def test_states_are_saved_and_loaded(tmp_path: Any) -> None:
    world = World()
    grains = pile(world, 20)
    grains.set_particle_material(4, GranularMaterial(density=900))
    grains.set_particle_fixed(2)
    world.integrate(10)
    grains.save_granular_state(tmp_path / "grains.npz")
    other = World().add_granular_particles([[0, 0, 0]], 0.1)
    other.load_granular_state(tmp_path / "grains.npz")
    for name in ("positions", "velocities", "angular_velocities", "radii"):
        assert np.array_equal(getattr(other, f"get_{name}")(), getattr(grains, f"get_{name}")())
    assert other.get_fixed().tolist() == grains.get_fixed().tolist()
    assert other.get_mass() == pytest.approx(grains.get_mass())
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(ParseError, match=r"bad\.npz"):
        other.load_granular_state(tmp_path / "bad.npz")
    assert other.get_num_particles() == 20


def test_rays_see_grains() -> None:
    world = World()
    grains = world.add_granular_particles([[0, 0, 1], [1, 0, 1]], [0.1, 0.2])
    hit = world.ray_test([0, 0, 3], [0, 0, -1], 10)[0]
    assert hit.object is grains
    distances, ids, normals = world.cast_rays([[1, 0, 3], [5, 0, 3]], [[0, 0, -1]] * 2, 10)
    assert distances[0] == pytest.approx(1.8)
    assert ids[0] == grains.get_id()
    assert np.isnan(distances[1])
    assert normals[0] == pytest.approx([0, 0, 1])
    picture = world.render(width=64, height=48)
    assert picture.std() > 0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"positions": [[0, 0, math.nan]], "radii": 0.1}, "position of particle 0"),
    ({"positions": [[0, 0, 0]], "radii": 0.0}, "radius of particle 0"),
    ({"positions": [[0, 0, 0]], "radii": -1.0}, "radius of particle 0"),
    ({"positions": [[0, 0, 0]] * 3, "radii": [0.1, 0.1]}, "radii has 2 numbers"),
    ({"positions": [[0, 0]], "radii": 0.1}, "positions"),
    ({"positions": "abc", "radii": 0.1}, "positions"),
    ({"positions": [[0, 0, 0]], "radii": 0.1, "velocities": [[0, 0, math.inf]]}, "velocity of particle 0"),
]


@pytest.mark.parametrize(("arguments", "text"), BAD)
def test_bad_grains_are_refused_and_change_nothing(arguments: dict[str, Any], text: str) -> None:
    world = World()
    before = world.get_configuration_number()
    with pytest.raises(InvalidValueError, match=text):
        world.add_granular_particles(**arguments)
    assert world.get_configuration_number() == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("density", 0), ("normal_stiffness", -1), ("friction", -0.1), ("substeps", 0), ("density", math.nan)],
)
def test_bad_materials_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=name.replace("_", "[_ ]")):
        World().add_granular_particles([[0, 0, 0]], 0.1, GranularMaterial(**{name: value}))


def test_bad_indices_and_boxes_are_refused() -> None:
    grains = World().add_granular_particles([[0, 0, 0]], 0.1)
    for call in (
        lambda: grains.remove_particle(1),
        lambda: grains.set_particle_fixed(-1),
        lambda: grains.set_particle_material(7, GranularMaterial()),
        lambda: grains.set_container_box([0, 0, 0], [1, 0, 1]),
        lambda: grains.set_periodic_boundary([0, 0, 0], [0.5, 1, 1]),
        lambda: grains.set_positions(np.zeros((2, 3))),
    ):
        with pytest.raises(InvalidValueError):
            call()


def test_a_million_grains_are_served() -> None:
    world = World()
    count = 1_000_000
    grains = world.add_granular_particles(np.random.default_rng(0).uniform(0, 100, (count, 3)), 1e-3)
    assert grains.get_num_particles() == count
    assert grains.get_positions().shape == (count, 3)


def test_an_object_without_grains_does_nothing() -> None:
    world = World()
    grains = world.add_granular_particles(np.zeros((0, 3)), 0.1)
    world.integrate(3)
    assert grains.get_num_particles() == 0
    grains.add_particle([0, 0, 1], 0.1)
    world.integrate(3)
    assert grains.get_positions()[0, 2] < 1


def test_more_random_grains_than_the_limit_are_refused_at_once() -> None:
    grains = World().add_granular_particles(np.zeros((0, 3)), 0.01)
    with pytest.raises(InvalidValueError, match="max_random_grains"):
        grains.emit_box_random([0, 0, 0], [100, 100, 100], 10_000_000, (0.01, 0.02))
    assert len(grains.get_positions()) == 0


def test_random_grains_overlap_neither_each_other_nor_those_near() -> None:
    """In a box with room for a part of them."""
    rng = np.random.default_rng(5)
    near, near_radii = rng.uniform(0, 1, (15, 3)), rng.uniform(0.02, 0.08, 15)
    places, radii = scatter(rng, np.zeros(3), np.ones(3), rng.uniform(0.03, 0.06, 2000), near, near_radii)
    assert 300 < len(places) < 2000
    x, r = np.r_[places, near], np.r_[radii, near_radii]
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2) - r[:, None] - r[None]
    gaps[len(places) :, len(places) :] = np.inf  # those that were there before may overlap
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > -1e-12
    assert (places - radii[:, None]).min() >= 0.0
    assert (places + radii[:, None]).max() <= 1.0

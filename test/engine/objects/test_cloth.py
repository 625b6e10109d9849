"""Cloth: stretch and bending against independent solutions, contacts both ways, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from world_promises import goes_on_to_the_same_bits

from raisim_ros import BodyType, DeformableMaterial, DeformableObject, InvalidValueError, RaisimError, World
from raisim_ros.description.resources import resource
from raisim_ros.engine.objects.bending import bending_rows


def sheet(n: int, size: float, z: float = 0.0) -> tuple[Any, Any]:
    """A square of n x n vertices."""
    along = np.linspace(-size / 2, size / 2, n)
    x = np.stack(np.meshgrid(along, along, indexing="ij"), -1).reshape(-1, 2)
    place = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (place[:-1, :-1], place[1:, :-1], place[:-1, 1:], place[1:, 1:]))
    return np.c_[x, np.full(len(x), z)], np.r_[np.c_[a, b, d], np.c_[a, d, c]]


def strip(n: int = 8) -> tuple[Any, Any]:
    x = np.array([[0, 0, -0.1 * k] for k in range(n)] + [[0.1, 0, -0.1 * k] for k in range(n)])
    triangles = [t for k in range(n - 1) for t in ([k, k + 1, n + k], [n + k, k + 1, n + k + 1])]
    return x, np.array(triangles)


def static_strip(x: Any, triangles: Any, stiffness: float, mass: float) -> Any:
    """Least energy of springs along the edges under gravity, the upper two vertices held."""
    n = len(x) // 2
    edges = np.unique(np.sort(np.r_[triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]], axis=1), axis=0)
    rest = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    areas = 0.5 * np.linalg.norm(
        np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]]), axis=1
    )
    masses = np.zeros(len(x))
    for k in range(3):
        np.add.at(masses, triangles[:, k], areas / 3)
    masses *= mass / masses.sum()
    free = np.array([k for k in range(len(x)) if k not in (0, n)])

    def energy(values: Any) -> tuple[float, Any]:
        y = x.copy()
        y[free] = values.reshape(-1, 3)
        d = y[edges[:, 0]] - y[edges[:, 1]]
        length = np.linalg.norm(d, axis=1)
        pull = stiffness * (length - rest)
        slope = np.zeros_like(x)
        np.add.at(slope, edges[:, 0], (pull / length)[:, None] * d)
        np.add.at(slope, edges[:, 1], -(pull / length)[:, None] * d)
        slope[:, 2] += 9.81 * masses
        return 0.5 * stiffness * float(((length - rest) ** 2).sum()) + 9.81 * float(masses @ y[:, 2]), slope[
            free
        ].ravel()

    found = minimize(
        energy, x[free].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-10}
    )
    y = x.copy()
    y[free] = found.x.reshape(-1, 3)
    return y


@pytest.mark.parametrize("iterations", [1, 6, 30])
@pytest.mark.parametrize("dt", [0.005, 0.0025])
def test_a_hanging_strip_is_the_static_solution_whatever_iterations_and_step(iterations: int, dt: float) -> None:
    x, triangles = strip()
    expected = static_strip(x, triangles, 300.0, 0.5)
    world = World()
    world.set_time_step(dt)
    material = DeformableMaterial(total_mass=0.5, distance_stiffness=300.0, damping=4.0, iterations=iterations)
    cloth = world.add_deformable_cloth(x, triangles, [0, len(x) // 2], material)
    world.integrate(int(6 / dt))
    stretch = np.abs(expected - x).max()
    assert np.abs(cloth.get_positions() - expected).max() < 1e-3 * stretch


@pytest.mark.parametrize("damping", [2.0, 10.0, 50.0])
def test_damping_takes_nothing_off_the_weight(damping: float) -> None:
    """A vertex hangs by two edges: each is stretched by its compliance times its force."""
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0.05, 0, -0.1]])
    compliance, mass = 1e-3, 0.3
    world = World()
    material = DeformableMaterial(total_mass=mass, distance_compliance=compliance, damping=damping)
    cloth = world.add_deformable_cloth(x, [[0, 1, 2]], [0, 1], material)
    world.integrate(3000)
    hanging = cloth.get_positions()[2]
    length = float(np.linalg.norm(hanging - x[0]))
    force = mass / 3 * 9.81 / 2 * length / -hanging[2]
    assert length - np.linalg.norm(x[2] - x[0]) == pytest.approx(force * compliance, rel=2e-3)


@pytest.mark.parametrize("step", [0.001, 0.01])
def test_velocities_decay_with_the_rate_of_damping_whatever_the_step(step: float) -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    world.set_time_step(step)
    x, triangles = sheet(3, 0.2)
    cloth = world.add_deformable_cloth(x, triangles, (), DeformableMaterial(damping=3.0))
    cloth.set_velocity([2, 0, 0])
    world.integrate(round(0.5 / step))
    assert cloth.get_velocity()[0] == pytest.approx(2.0 * math.exp(-1.5), rel=1e-9)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("cells", [12, 20])
def test_a_cantilever_sags_as_a_beam(cells: int, turned: bool) -> None:
    """q l^4 / (8 D), whichever way the diagonals run; the first two columns are clamped."""
    n, length, width, rigidity, mass = cells + 1, 0.6, 0.15, 0.3, 0.02
    x = np.array([[length * k / cells, y, 0] for y in (0.0, width / 2, width) for k in range(n)])
    triangles = []
    for row in range(2):
        for k in range(cells):
            a = row * n + k
            triangles += (
                [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]
                if turned
                else [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]
            )
    pins = [row * n + k for row in range(3) for k in range(2)]
    world = World()
    material = DeformableMaterial(
        total_mass=mass, distance_stiffness=300.0, bend_compliance=1 / rigidity, damping=3.0, collision_radius=0.001
    )
    cloth = world.add_deformable_cloth(x, np.array(triangles), pins, material)
    world.set_gravity([0, 0, -1.0])
    world.integrate(800)
    closed = mass / length / width * (length - length / cells) ** 4 / (8 * rigidity)
    found = -float(cloth.get_positions()[n - 1 :: n, 2].mean())
    assert found == pytest.approx(closed, rel=0.05 if cells == 20 else 0.08)


@pytest.mark.parametrize("seed", range(3))
def test_bending_energy_is_that_of_a_plate_in_every_direction(seed: int) -> None:
    """Grids of either diagonal and random triangles: half of rigidity * area * |curvature|^2."""
    random = np.random.default_rng(seed)
    flat, triangles = sheet(9, 1.0)
    if seed == 1:
        flat[:, :2] += random.uniform(-0.03, 0.03, (len(flat), 2))
    if seed == 2:
        flat[:, 0] *= -0.7
    angle = random.uniform(0, math.pi)
    way = np.array([math.cos(angle), math.sin(angle)])
    curvature = 0.02
    bent = flat.copy()
    bent[:, 2] = 0.5 * curvature * (flat[:, :2] @ way) ** 2
    world = World()
    cloth = world.add_deformable_cloth(
        flat, triangles, (), DeformableMaterial(bend_compliance=0.25, distance_compliance=1e9)
    )
    cloth.set_positions(bent)
    area = (
        0.7
        if seed == 2
        else float(
            np.abs(
                np.cross(
                    flat[triangles[:, 1], :2] - flat[triangles[:, 0], :2],
                    flat[triangles[:, 2], :2] - flat[triangles[:, 0], :2],
                )
            ).sum()
            / 2
        )
    )
    assert cloth.get_elastic_energy() == pytest.approx(0.5 * 4.0 * area * curvature**2, rel=0.01)


def test_energy_never_grows_and_a_drape_does_not_pass_through_a_box() -> None:
    world = World()
    world.add_ground()
    box = world.add_box(0.4, 0.4, 0.3, 5.0)
    box.set_position([0, 0, 0.15])
    x, triangles = sheet(13, 0.9, 0.4)
    material = DeformableMaterial(total_mass=0.3, distance_stiffness=3000.0, damping=0.5, collision_radius=0.02)
    cloth = world.add_deformable_cloth(x, triangles, (), material)
    energy = cloth.get_energy()
    for _ in range(50):
        world.integrate(4)
        assert cloth.get_energy() < energy + 1e-6
        energy = cloth.get_energy()
        y = cloth.get_positions()
        assert not ((np.abs(y[:, :2]) < 0.195).all(axis=1) & (y[:, 2] < 0.29)).any()
        assert y[:, 2].min() > 0.01
    assert y[:, 2].min() < 0.15  # it hangs down beside the box
    assert box.get_position() == pytest.approx([0, 0, 0.15], abs=1e-3)


def test_momentum_is_kept_between_cloth_and_bodies() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    x, triangles = sheet(9, 0.6)
    cloth = world.add_deformable_cloth(x, triangles, (), DeformableMaterial(total_mass=0.2))
    ball = world.add_sphere(0.1, 0.5)
    ball.set_position([0.02, 0.01, 0.15])
    ball.set_velocity([0, 0, -3], [0, 1, 0])
    before = cloth.get_linear_momentum() + 0.5 * ball.get_linear_velocity()
    for _ in range(40):
        world.integrate()
        after = cloth.get_linear_momentum() + 0.5 * ball.get_linear_velocity()
        assert after == pytest.approx(before, abs=2e-9)
    assert cloth.get_velocity()[2] < -0.5


def test_momentum_is_kept_in_thousands_of_substeps_far_from_the_origin() -> None:
    """Places there are rounded to 1e-14 m, and a substep takes some microseconds."""
    world = World()
    world.set_gravity([0, 0, 0])
    there = np.array([100.0, -70.0, 50.0])
    x, triangles = sheet(5, 0.3)
    material = DeformableMaterial(total_mass=0.2, substeps=1500, iterations=1)
    cloth = world.add_deformable_cloth(x + there, triangles, (), material)
    ball = world.add_sphere(0.1, 0.5)
    ball.set_position(there + np.array([0.02, 0.01, 0.115]))
    ball.set_velocity([0, 0, -1], [0, 1, 0])
    before = cloth.get_linear_momentum() + 0.5 * ball.get_linear_velocity()
    world.integrate(5)
    after = cloth.get_linear_momentum() + 0.5 * ball.get_linear_velocity()
    assert cloth.get_velocity()[2] < -0.1
    assert np.abs(after - before).max() < 1e-12


def test_a_ball_bounces_on_a_pinned_sheet() -> None:
    world = World()
    x, triangles = sheet(13, 1.0)
    rim = [k for k in range(len(x)) if np.abs(x[k, :2]).max() > 0.499]
    cloth = world.add_deformable_cloth(x, triangles, rim, DeformableMaterial(total_mass=0.1))
    ball = world.add_sphere(0.12, 0.5)
    ball.set_position([0, 0, 0.4])
    heights = []
    for _ in range(160):
        world.integrate()
        heights.append(ball.get_position()[2])
    lowest = int(np.argmin(heights))
    assert 0.0 < heights[lowest] < 0.12
    assert max(heights[lowest:]) > 0.2
    assert np.abs(ball.get_position()[:2]).max() < 0.1
    assert cloth.get_positions()[rim] == pytest.approx(x[rim])


def rebound(iterations: int, mass: float) -> float:
    """How high a ball comes back from a pinned sheet; energy never grows on the way."""
    world = World()
    world.set_time_step(0.002)
    x, triangles = sheet(13, 1.0)
    rim = [k for k in range(len(x)) if np.abs(x[k, :2]).max() > 0.499]
    material = DeformableMaterial(total_mass=0.3, distance_stiffness=2000.0, iterations=iterations)
    cloth = world.add_deformable_cloth(x, triangles, rim, material)
    ball = world.add_sphere(0.15, mass)
    ball.set_position([0.013, 0.007, 0.17])
    least, heights = math.inf, []
    for _ in range(400):
        world.integrate()
        energy = cloth.get_energy() + ball.get_energy()
        assert energy < least + 1e-4 * mass * 9.81
        least = min(least, energy)
        heights.append(float(ball.get_position()[2]))
    return max(heights[int(np.argmin(heights[:200])) :])


@pytest.mark.parametrize("mass", [0.1, 20.0])
def test_a_ball_comes_back_as_high_whatever_the_iterations(mass: float) -> None:
    """The heavy one weighs as much as seventy sheets, or ten thousand particles."""
    few, many = rebound(6, mass), rebound(40, mass)
    assert few == pytest.approx(many, abs=0.002)
    assert few > 0.139


THIN: dict[str, Callable[[World], Any]] = {
    "ball": lambda world: world.add_sphere(0.02, 0.2),
    "needle": lambda world: world.add_capsule(0.005, 0.3, 0.2),
    "rod": lambda world: world.add_cylinder(0.01, 0.3, 0.2),
    "box": lambda world: world.add_box(0.1, 0.1, 0.1, 0.2),
    "cone": lambda world: world.add_cone(0.05, 0.2, 0.2),
}


@pytest.mark.parametrize("speed", [3.0, 10.0])
@pytest.mark.parametrize("kind", THIN)
def test_thin_things_do_not_slip_between_vertices(kind: str, speed: float) -> None:
    """Thrown at a sheet whose cells are a quarter of a metre wide: none is below it while it is over it."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        world = World()
        x, triangles = sheet(5, 1.0)
        rim = [k for k in range(len(x)) if np.abs(x[k, :2]).max() > 0.499]
        material = DeformableMaterial(total_mass=0.5, distance_stiffness=2000.0, damping=1.0)
        cloth = world.add_deformable_cloth(x, triangles, rim, material)
        body = THIN[kind](world)
        body.set_position([*random.uniform(-0.2, 0.2, 2), 0.35])
        quaternion = random.normal(size=4)
        body.set_orientation(quaternion / np.linalg.norm(quaternion))
        body.set_velocity([*random.uniform(-0.5, 0.5, 2), -speed], random.uniform(-3, 3, 3))
        turned = False
        for _ in range(400):
            world.integrate()
            place = body.get_position()
            turned = turned or body.get_linear_velocity()[2] > 0.0
            over = np.abs(place[:2]).max() < 0.45
            assert not (over and place[2] < cloth.get_positions()[:, 2].min() - 0.1)
        assert turned


def test_a_ridge_of_terrain_holds_a_coarse_sheet() -> None:
    world = World()
    heights = np.zeros((41, 41))
    heights[20, :] = 0.3
    world.add_height_map(41, 41, 4.0, 4.0, 0.0, 0.0, heights.ravel())
    x, triangles = sheet(4, 1.0, 0.35)
    cloth = world.add_deformable_cloth(x, triangles, (), DeformableMaterial(total_mass=0.3, damping=2.0))
    world.integrate(300)
    assert cloth.get_position()[2] > 0.05  # it lies over the ridge, which none of its vertices touches
    y, t = cloth.get_positions(), cloth.get_triangles()
    sides = np.concatenate([np.linspace(y[t[:, a]], y[t[:, b]], 9) for a, b in ((0, 1), (1, 2), (2, 0))]).reshape(-1, 3)
    ridge = 0.3 * np.maximum(0.0, 1.0 - np.abs(sides[:, 1]) / 0.1)
    assert (sides[:, 2] > ridge - 0.05).all()


@pytest.mark.parametrize("radius", [0.25, 0.33, 0.4, 0.47])
def test_a_flag_that_is_pinned_inside_its_pole_is_not_thrown(radius: float, tmp_path: Any) -> None:
    """Near a pinned vertex the others have hardly a lever: what pushes there must not throw them."""
    text = resource("worlds/flag.xml").read_text().replace('collision_radius="0.01"', f'collision_radius="{radius}"')
    file = tmp_path / "flag.xml"
    file.write_text(text)
    world = World(file)
    flag = next(thing for thing in world.get_obj_list() if isinstance(thing, DeformableObject))
    for _ in range(40):
        world.integrate()
        assert np.linalg.norm(flag.get_velocities(), axis=1).max() < 500.0
    assert np.abs(flag.get_positions()).max() < 5.0


def test_wind_carries_a_flag() -> None:
    world = World()
    x, triangles = sheet(7, 0.6)
    x = x[:, [0, 2, 1]]
    pole = [k for k in range(len(x)) if x[k, 0] < -0.299]
    flag = world.add_deformable_cloth(x, triangles, pole, DeformableMaterial(total_mass=0.1, air_drag=0.6, damping=0.3))
    world.integrate(100)
    calm = flag.get_position()[1]
    flag.set_wind([0, 6, 0])
    world.integrate(200)
    assert flag.get_position()[1] > calm + 0.1
    assert flag.get_wind() == pytest.approx([0, 6, 0])


def test_rays_go_on_where_cloth_has_left_what_boxes_of_meshes_can_hold() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    x, triangles = sheet(3, 0.5, 1.0)
    cloth = world.add_deformable_cloth(x, triangles)
    ground = world.add_ground()
    assert world.ray_test([0.02, 0.01, 2], [0, 0, -1], 5)[0].object is cloth
    cloth.set_velocity([1e12, 0, 0])
    world.integrate(10)
    assert abs(cloth.get_positions()).max() > 1e9
    assert world.ray_test([0.02, 0.01, 2], [0, 0, -1], 5)[0].object is ground


def test_snapshots_pins_clones_and_rays() -> None:
    world = World()
    x, triangles = sheet(6, 0.5, 1.0)
    cloth = world.add_deformable_cloth(x, triangles, [0, 5], DeformableMaterial(bend_compliance=100.0))
    assert cloth.get_num_particles() == 36
    assert cloth.get_distance_constraint_count() == 85
    assert cloth.get_bending_constraint_count() == 150
    assert cloth.get_triangles().shape == (50, 3)
    hit = world.ray_test([0.02, 0.01, 2], [0, 0, -1], 5)[0]
    assert hit.object is cloth
    assert hit.distance == pytest.approx(1.0)
    world.integrate(20)
    assert goes_on_to_the_same_bits(world, 30)
    clone = world.clone_object(cloth)
    assert np.array_equal(clone.get_positions(), cloth.get_positions())
    cloth.unpin_vertex(5)
    cloth.pin_vertex(35, [0.3, 0.3, 1.2])
    assert cloth.get_pinned_vertices() == [0, 35]
    assert cloth.add_internal_struts(0.12) > 0
    cloth.set_position_offset([0, 0, 1])
    world.integrate(10)
    assert cloth.get_visual_position(35) == pytest.approx([0.3, 0.3, 2.2])
    world.remove_object(cloth)
    world.integrate(2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"triangles_or_scale": [[0, 1, 99]]}, "vertices that do not exist"),
        ({"triangles_or_scale": [[0, 1, 1]]}, "no area|twice"),
        ({"triangles_or_scale": []}, "triangles"),
        ({"mesh": [[0, 0, math.nan], [1, 0, 0], [0, 1, 0]]}, "finite"),
        ({"pinned_vertices": [7]}, "pinned vertex"),
        ({"pinned_vertices": 0.2}, "pinned_vertices"),
    ],
)
def test_bad_cloth_is_refused_and_changes_nothing(change: dict[str, Any], text: str) -> None:
    world = World()
    before = world.get_configuration_number()
    arguments: dict[str, Any] = {"mesh": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "triangles_or_scale": [[0, 1, 2]]}
    with pytest.raises(InvalidValueError, match=text):
        world.add_deformable_cloth(**arguments | change)
    assert world.get_configuration_number() == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("total_mass", 0), ("distance_stiffness", -1), ("bend_compliance", -3), ("damping", math.nan), ("iterations", 0),
     ("poisson_ratio", 0.5), ("solver_mode", "FEM"), ("self_collision", 2)],
)  # fmt: skip
def test_bad_materials_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidValueError, match=name):
        DeformableMaterial(**{name: value})


def test_cloth_rests_on_static_shapes() -> None:
    world = World()
    table = world.add_cylinder(0.3, 0.1, 1)
    table.set_body_type(BodyType.STATIC)
    x, triangles = sheet(7, 0.3, 0.1)
    cloth = world.add_deformable_cloth(
        x, triangles, (), DeformableMaterial(total_mass=0.1, distance_stiffness=500, damping=1)
    )
    world.integrate(150)
    assert cloth.get_positions()[:, 2] == pytest.approx(0.06, abs=2e-3)


def test_vertices_pinned_to_bodies_pull_both_ways() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    x, triangles = sheet(5, 0.4)
    cloth = world.add_deformable_cloth(x, triangles, (), DeformableMaterial(total_mass=0.3))
    box = world.add_box(0.1, 0.1, 0.1, 1.0)
    box.set_position([0.25, 0.2, 0.0])
    box.set_velocity([1.0, 0.5, 0.3], [0, 0, 2])
    cloth.pin_vertex(24, None, box)
    assert [(index, one[0] is box, one[1]) for index, one in cloth.get_tied_vertices().items()] == [(24, True, 0)]
    local = x[24] - box.get_position()
    before = cloth.get_linear_momentum() + box.get_linear_velocity()
    for _ in range(100):
        world.integrate()
        after = cloth.get_linear_momentum() + box.get_linear_velocity()
        assert after == pytest.approx(before, abs=1e-9)
        held = box.get_position() + box.get_rotation_matrix() @ local
        assert np.linalg.norm(cloth.get_positions()[24] - held) < 2e-3
    assert cloth.get_velocity()[0] > 0.1
    cloth.unpin_vertex(24)
    assert cloth.get_tied_vertices() == {}


def test_a_weight_hangs_on_a_pinned_cloth() -> None:
    world = World()
    x, triangles = strip()
    n = len(x) // 2
    material = DeformableMaterial(total_mass=0.05, distance_stiffness=2000.0, damping=3.0)
    cloth = world.add_deformable_cloth(x, triangles, [0, n], material)
    weight = world.add_sphere(0.03, 0.5)
    weight.set_position([0.05, 0.0, -0.75])
    for vertex in (n - 1, 2 * n - 1):
        cloth.pin_vertex(vertex, None, weight)
    world.integrate(600)
    pull = np.zeros(3)
    for _ in range(400):
        world.integrate()
        pull += sum(one.impulse for one in cloth.get_impulses())
    assert weight.get_position()[:2] == pytest.approx([0.05, 0.0], abs=0.01)
    assert -0.85 < weight.get_position()[2] < -0.75
    assert pull == pytest.approx([0, 0, 0.5 * 9.81 * 400 * world.get_time_step()], abs=0.1)
    world.remove_object(weight)
    world.integrate(50)
    assert cloth.get_tied_vertices() == {}
    with pytest.raises(RaisimError, match="made of particles"):
        cloth.pin_vertex(3, None, cloth)
    with pytest.raises(RaisimError, match="vertex 999"):
        cloth.pin_vertex(999, None, world.add_sphere(0.1, 1))


def test_cloth_pinned_to_a_link_swings_with_it(tmp_path: Any) -> None:
    arm = (
        '<link name="arm"><inertial><origin xyz="0 0 -0.25"/><mass value="0.5"/>'
        '<inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = '<joint name="j" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
    (tmp_path / "arm.urdf").write_text(f'<robot name="p"><link name="world"/>{arm}{joint}</robot>')
    world = World()
    robot = world.add_articulated_system(str(tmp_path / "arm.urdf"))
    x, triangles = strip(6)
    x = x[:, [2, 0, 1]] * [-1, 1, 1] - [0, 0, 0.5]
    cloth = world.add_deformable_cloth(
        x, triangles, [5, 11], DeformableMaterial(total_mass=0.1, distance_stiffness=1e3)
    )
    for vertex in (0, 6):
        cloth.pin_vertex(vertex, None, robot, robot.get_body_idx("arm"))
    angles = []
    for _ in range(400):
        world.integrate()
        angles.append(float(robot.get_generalized_coordinate()[0]))
        tip = [-0.5 * math.sin(angles[-1]), 0.0, -0.5 * math.cos(angles[-1])]
        assert cloth.get_positions()[0] == pytest.approx(tip, abs=1e-3)
    assert min(angles) < -0.1  # the cloth sags and pulls the arm along


@pytest.mark.parametrize("far", [0.0, 1e-30, 1e30, 1e50])
def test_bending_of_triangles_without_area_is_none(far: float) -> None:
    """Vertices that coincide, and one that is very far away."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, far, 0], [0, 0, 0]], dtype=np.float64)
    triangles = np.array([[0, 1, 2], [0, 2, 3], [2, 3, 4], [3, 4, 5], [0, 3, 5]])
    _, weights = bending_rows(x, triangles)
    assert np.isfinite(weights).all()

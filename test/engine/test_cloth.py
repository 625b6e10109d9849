"""Cloth: stretch and bending against independent solutions, contacts both ways, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from raisim_ros import BodyType, DeformableMaterial, InvalidValueError, World


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
    assert np.abs(cloth.get_positions() - expected).max() < 0.01 * stretch


def test_a_cantilever_sags_as_a_beam() -> None:
    """Small deflection of a beam with as many hinges; with ever more of them it is q l^4 / (8 D)."""
    n, length, width, rigidity, mass = 13, 0.6, 0.1, 1.0, 0.02
    x = np.array([[length * k / (n - 1), y, 0] for y in (0.0, width / 2, width) for k in range(n)])
    triangles = []
    for row in range(2):
        for k in range(n - 1):
            a = row * n + k
            triangles += [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]
    pins = [row * n + k for row in range(3) for k in range(2)]
    world = World()
    material = DeformableMaterial(
        total_mass=mass, distance_stiffness=300.0, bend_compliance=1 / rigidity, damping=3.0, collision_radius=0.001
    )
    cloth = world.add_deformable_cloth(x, np.array(triangles), pins, material)
    world.integrate(1000)
    step = length / (n - 1)  # hinges stand so far apart; each turns by moment * step / rigidity
    masses = np.full(n, mass * step / length)
    masses[[0, -1]] /= 2
    sag = 0.0
    for hinge in range(1, n - 1):
        arms = step * (np.arange(n) - hinge)
        moment = 9.81 * float((masses * arms)[arms > 0].sum()) / width
        sag += moment * step / rigidity * step * (n - 1 - hinge)
    assert -cloth.get_positions()[2 * n - 1, 2] == pytest.approx(sag, rel=0.25)


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


def test_snapshots_pins_clones_and_rays() -> None:
    world = World()
    x, triangles = sheet(6, 0.5, 1.0)
    cloth = world.add_deformable_cloth(x, triangles, [0, 5], DeformableMaterial(bend_compliance=100.0))
    assert cloth.get_num_particles() == 36
    assert cloth.get_distance_constraint_count() == 85
    assert cloth.get_bending_constraint_count() == 65
    assert cloth.get_triangles().shape == (50, 3)
    hit = world.ray_test([0.02, 0.01, 2], [0, 0, -1], 5)[0]
    assert hit.object is cloth
    assert hit.distance == pytest.approx(1.0)
    world.integrate(20)
    saved = world.save_snapshot()
    world.integrate(30)
    expected = world.get_state_hash()
    world.restore_snapshot(saved)
    world.integrate(30)
    assert world.get_state_hash() == expected
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
     ("poisson_ratio", 0.5), ("solver_mode", "FEM"), ("self_collision", True)],
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

"""What is small behaves as what is large, in its own units."""

import numpy as np
import pytest

from raisim_ros import BodyType, CompoundChild, MeshCollisionMode, MeshData, ShapeType, World

SCALES = [1e-3, 1e-2, 1e2]


def scaled_world(scale: float) -> World:
    """Lengths and gravity times `scale`: times stay."""
    world = World()
    world.set_gravity((0.0, 0.0, -9.81 * scale))
    world.set_sleeping_enabled(False)
    return world


def tumble(scale: float) -> np.ndarray:
    """Bodies of all kinds dropped on a floor of boxes, on a half-space and on each other: their ways over half a second."""
    world = scaled_world(scale)
    world.add_ground()
    density = 1000.0 * scale**3
    floor = world.add_box(4 * scale, 4 * scale, 0.2 * scale, density)
    floor.set_body_type(BodyType.STATIC)
    floor.set_position(0.0, 0.0, 0.1 * scale)
    corners = scale * np.array([[0.1, 0, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05], [0, 0, 0.12]])
    hull = MeshData(corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]), is_closed=True)
    pair = [CompoundChild(ShapeType.SPHERE, (0.05 * scale,), (x * scale, 0.0, 0.0)) for x in (-0.08, 0.08)]
    bodies = [
        world.add_box(0.2 * scale, 0.3 * scale, 0.1 * scale, density),
        world.add_sphere(0.1 * scale, density),
        world.add_cylinder(0.1 * scale, 0.2 * scale, density),
        world.add_capsule(0.05 * scale, 0.2 * scale, density),
        world.add_cone(0.1 * scale, 0.2 * scale, density),
        world.add_mesh(hull, density, collision_mode=MeshCollisionMode.CONVEX_HULL),
        world.add_compound(pair, density),
    ]
    rng = np.random.default_rng(4)
    for k, body in enumerate(bodies):
        q = np.array([1.0, *(0.2 * rng.normal(size=3))])
        body.set_pose(scale * np.array([0.5 * k - 1.5, 0.0, 0.5]), q / np.linalg.norm(q))
        body.set_linear_velocity(scale * rng.normal(size=3) * 0.3)
    ways = []
    for _ in range(100):
        world.integrate()
        ways.append([body.get_position() / scale for body in bodies])
    return np.array(ways)


@pytest.mark.parametrize("scale", SCALES)
def test_dropped_bodies_go_the_same_way(scale):
    """Until the ways part by chance: a tumbling body doubles rounding again and again."""
    difference = np.abs(tumble(scale) - tumble(1.0)).max(axis=(1, 2))
    assert difference[:60].max() < 1e-6
    assert difference.max() < 1e-2


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1e-1, 1e2])
def test_a_stack_rests_at_every_size(scale):
    world = scaled_world(scale)
    world.add_ground()
    boxes = [world.add_box(scale, scale, scale, scale**3) for _ in range(5)]
    for k, box in enumerate(boxes):
        box.set_position(0.0, 0.0, scale * (0.5 + k))
    world.integrate(400)
    for k, box in enumerate(boxes):
        assert box.get_position() / scale == pytest.approx([0.0, 0.0, 0.5 + k], abs=1e-4)


@pytest.mark.parametrize("size", [1e-4, 1e-3, 1e-2, 1.0])
def test_small_parts_lie_on_a_large_floor(size):
    """The floor is 100 m wide: its size must not blur theirs."""
    world = World()
    world.set_gravity((0.0, 0.0, -9.81 * min(1.0, 100.0 * size)))
    floor = world.add_box(100.0, 100.0, 1.0, 1.0)
    floor.set_body_type(BodyType.STATIC)
    floor.set_position(0.0, 0.0, -0.5)
    box = world.add_box(size, size, size, size**3)
    cylinder = world.add_cylinder(0.5 * size, size, size**3)
    edge = world.add_box(size, size, size, size**3)
    for body, x in ((box, 0.0), (cylinder, 5.0), (edge, 10.0)):
        body.set_position(x * size, 0.0, 0.6 * size)
    edge.set_pose((10.0 * size, 0.0, 0.8 * size), (np.cos(0.3), np.sin(0.3), 0.0, 0.0))
    world.integrate(1000)
    assert box.get_position()[2] / size == pytest.approx(0.5, abs=1e-3)
    assert cylinder.get_position()[2] / size == pytest.approx(0.5, abs=1e-3)
    assert edge.get_position()[2] / size == pytest.approx(0.5, abs=2e-3)
    assert abs(edge.get_orientation()[2, 2]) == pytest.approx(1.0, abs=1e-3) or abs(
        edge.get_orientation()[1, 2]
    ) == pytest.approx(1.0, abs=1e-3)

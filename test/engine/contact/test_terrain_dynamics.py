"""Bodies on heightmaps and meshes: rest, slide and roll as on the plane of the same slope."""

import numpy as np
import pytest

from raisim_ros import BodyType, InvalidValueError, MeshCollisionMode, MeshData, TerrainError, World, WrongTypeError

GRAVITY = 9.81


def plane_heights(samples: int, size: float, slope_x: float, slope_y: float = 0.0) -> np.ndarray:
    x = np.linspace(-size / 2, size / 2, samples)
    return (slope_x * x[None, :] + slope_y * x[:, None]).ravel()


def box_mesh(x: float, y: float, z: float) -> MeshData:
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * [x / 2, y / 2, z / 2]
    triangles = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip
    return MeshData(corners, np.array(triangles), is_closed=True)


def add_floor(world: World, kind: str):
    if kind == "heightmap":
        return world.add_height_map(41, 41, 8.0, 8.0, 0.0, 0.0, np.zeros(41 * 41))
    floor = world.add_mesh(box_mesh(8.0, 8.0, 0.4), 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
    floor.set_position(0.0, 0.0, -0.2)
    floor.set_body_type(BodyType.STATIC)
    return floor


SHAPES = {
    "sphere": (lambda world: world.add_sphere(0.1, 1.0), 0.1),
    "box": (lambda world: world.add_box(0.3, 0.2, 0.1, 1.0), 0.05),
    "cylinder": (lambda world: world.add_cylinder(0.1, 0.3, 1.0), 0.15),
    "cone": (lambda world: world.add_cone(0.1, 0.2, 1.0), 0.05),
    "capsule": (lambda world: world.add_capsule(0.1, 0.2, 1.0), 0.2),
}


@pytest.mark.parametrize("floor", ["heightmap", "mesh"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_rests_on_a_flat_surface(world, floor, shape):
    add_floor(world, floor)
    make, height = SHAPES[shape]
    body = make(world)
    body.set_position(0.13, 0.07, height + 0.02)
    world.integrate(1000)
    assert body.get_position() == pytest.approx([0.13, 0.07, height], abs=2e-3)
    assert np.linalg.norm(body.get_linear_velocity()) < 1e-3


@pytest.mark.parametrize("floor", ["heightmap", "mesh"])
def test_a_box_slides_across_edges_as_on_a_plane(world, floor):
    """No bump at inner edges: mu g, straight, flat."""
    add_floor(world, floor)
    world.set_default_material(0.3, 0.0, 0.0)
    box = world.add_box(0.3, 0.2, 0.1, 1.0)
    box.set_position(-1.5, -0.4, 0.05)
    box.set_linear_velocity((3.0, 1.0, 0.0))
    world.integrate(500)
    speed = np.sqrt(10.0) - 0.3 * GRAVITY * 0.5
    heading = np.array([3.0, 1.0, 0.0]) / np.sqrt(10.0)
    assert box.get_linear_velocity() == pytest.approx(speed * heading, abs=0.02)
    assert box.get_position()[2] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("floor", ["heightmap", "mesh"])
def test_a_ball_rolls_across_edges_without_a_bump(world, floor):
    add_floor(world, floor)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(-2.0, 0.03, 0.1)
    ball.set_velocity((2.0, 0.5, 0.0), (-5.0, 20.0, 0.0))
    world.integrate(1500)
    assert ball.get_position() == pytest.approx([1.0, 0.78, 0.1], abs=2e-3)
    assert ball.get_linear_velocity() == pytest.approx([2.0, 0.5, 0.0], abs=5e-3)


@pytest.mark.parametrize(("slope_x", "slope_y"), [(-0.2, 0.0), (0.1, -0.15)])
def test_a_ball_rolls_down_a_sloping_heightmap_at_five_sevenths(world, slope_x, slope_y):
    """Asymmetric slopes: a wrong sign or a swapped axis would send it elsewhere."""
    terrain = world.add_height_map(41, 41, 20.0, 20.0, 0.0, 0.0, plane_heights(41, 20.0, slope_x, slope_y))
    normal = np.array([-slope_x, -slope_y, 1.0]) / np.sqrt(1 + slope_x**2 + slope_y**2)
    assert terrain.get_normal(1.23, -0.7) == pytest.approx(normal, abs=1e-9)
    ball = world.add_sphere(0.2, 1.0)
    start = np.array([0.3, -0.2, terrain.get_height(0.3, -0.2)]) + 0.2 * normal
    ball.set_position(start)
    world.integrate(1000)
    gravity = np.array([0.0, 0.0, -GRAVITY])
    downhill = gravity - (gravity @ normal) * normal
    assert ball.get_linear_velocity() == pytest.approx(5.0 / 7.0 * downhill, abs=5e-3)
    assert ball.get_position() == pytest.approx(start + 0.5 * 5.0 / 7.0 * downhill, abs=5e-3)


def test_heights_are_where_the_samples_say():
    """A single peak at ix = 3, iy = 1 of 5 x 4 samples: nothing is transposed."""
    world = World()
    heights = np.zeros(20)
    heights[1 * 5 + 3] = 1.0
    terrain = world.add_height_map(5, 4, 4.0, 6.0, 10.0, 20.0, heights)
    x, y = 10.0 - 2.0 + 3 * 1.0, 20.0 - 3.0 + 1 * 2.0
    assert terrain.get_height(x, y) == pytest.approx(1.0, abs=1e-12)
    assert terrain.get_height(x - 1.0, y) == pytest.approx(0.0, abs=1e-12)
    assert (terrain.get_x_samples(), terrain.get_y_samples()) == (5, 4)
    assert (terrain.get_x_size(), terrain.get_y_size()) == (4.0, 6.0)
    assert (terrain.get_center_x(), terrain.get_center_y()) == (10.0, 20.0)
    assert (terrain.get_height_vector() == heights).all()
    ball = world.add_sphere(0.05, 1.0)
    ball.set_position(x, y, 2.0)
    world.set_gravity((0.0, 0.0, -1.0))
    for _ in range(600):
        world.integrate()
        if ball.get_contacts():
            break
    assert ball.get_position()[2] == pytest.approx(1.05, abs=0.02)


def test_a_ball_stays_in_a_bowl(world):
    x = np.linspace(-1.0, 1.0, 61)
    bowl = (0.5 * (x[None, :] ** 2 + x[:, None] ** 2)).ravel()
    world.add_height_map(61, 61, 2.0, 2.0, 0.0, 0.0, bowl)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.4, 0.0, 0.35)
    energy = ball.get_energy()
    for _ in range(8):
        world.integrate(500)
        position = ball.get_position()
        assert np.hypot(*position[:2]) < 0.55
        assert ball.get_energy() < energy
    assert ball.get_position()[2] > 0.095


def test_updated_terrain_carries_at_its_new_height(world):
    terrain = world.add_height_map(11, 11, 4.0, 4.0, 0.0, 0.0, np.zeros(121))
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.1)
    world.set_sleeping_enabled(True)
    world.integrate(500)
    assert world.is_object_sleeping(box)
    terrain.update(0.0, 0.0, 4.0, 4.0, np.full(121, -0.3))
    assert terrain.is_updated()
    world.integrate(1000)
    assert box.get_position()[2] == pytest.approx(-0.2, abs=1e-3)
    assert terrain.get_height(0.1, 0.1) == pytest.approx(-0.3, abs=1e-12)


def test_moving_a_heightmap_moves_its_surface(world):
    terrain = world.add_height_map(11, 11, 4.0, 4.0, 0.0, 0.0, np.zeros(121))
    terrain.set_position(5.0, 1.0, 0.7)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(5.0, 1.0, 0.9)
    world.integrate(500)
    assert ball.get_position()[2] == pytest.approx(0.8, abs=1e-4)
    assert terrain.get_height(5.0, 1.0) == pytest.approx(0.7, abs=1e-12)
    with pytest.raises(WrongTypeError, match="static"):
        terrain.set_body_type(BodyType.DYNAMIC)


def test_a_wrong_update_changes_nothing(world):
    terrain = world.add_height_map(11, 11, 4.0, 4.0, 0.0, 0.0, np.zeros(121))
    for arguments in (
        (0.0, 0.0, 4.0, 4.0, np.zeros(120)),
        (0.0, 0.0, 4.0, 4.0, np.full(121, np.nan)),
        (0.0, 0.0, -4.0, 4.0, np.zeros(121)),
        (np.nan, 0.0, 4.0, 4.0, np.zeros(121)),
    ):
        with pytest.raises((TerrainError, InvalidValueError)):
            terrain.update(*arguments)
        assert terrain.get_height_vector().tolist() == [0.0] * 121
        assert terrain.get_position() == pytest.approx([0.0, 0.0, 0.0], abs=0)


@pytest.mark.parametrize("mode", [MeshCollisionMode.ORIGINAL_MESH, MeshCollisionMode.CONVEX_HULL])
def test_a_box_given_as_a_mesh_falls_rests_and_slides_like_a_box(world, mode):
    world.add_ground()
    mesh = world.add_mesh(box_mesh(0.3, 0.2, 0.1), 2.0, collision_mode=mode)
    box = world.add_box(0.3, 0.2, 0.1, 2.0)
    assert mesh.get_inertia_matrix_b() == pytest.approx(box.get_inertia_matrix_b(), rel=1e-9)
    for body, y in ((mesh, -1.0), (box, 1.0)):
        body.set_position(0.0, y, 0.06)
        body.set_linear_velocity((2.0, 0.0, 0.0))
    world.integrate(1000)
    assert mesh.get_position() - box.get_position() == pytest.approx([0.0, -2.0, 0.0], abs=2e-3)
    assert mesh.get_position()[2] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("mode", [MeshCollisionMode.ORIGINAL_MESH, MeshCollisionMode.CONVEX_HULL])
def test_boxes_stack_on_a_mesh(world, mode):
    world.add_ground()
    table = world.add_mesh(box_mesh(1.0, 1.0, 0.2), 5.0, collision_mode=mode)
    table.set_position(0.0, 0.0, 0.1)
    boxes = [world.add_box(0.2, 0.2, 0.2, 1.0) for _ in range(3)]
    for k, box in enumerate(boxes):
        box.set_position(0.1, 0.05, 0.3 + 0.2 * k)
    world.integrate(3000)
    for k, box in enumerate(boxes):
        assert box.get_position() == pytest.approx([0.1, 0.05, 0.3 + 0.2 * k], abs=2e-3)


def add_prism(world: World, mode: MeshCollisionMode):
    return world.add_mesh(box_mesh(0.2, 0.16, 0.14), 1.0, collision_mode=mode)


STRUCK_SHAPES = {
    **{name: make for name, (make, _) in SHAPES.items()},
    "mesh": lambda world: add_prism(world, MeshCollisionMode.ORIGINAL_MESH),
    "hull": lambda world: add_prism(world, MeshCollisionMode.CONVEX_HULL),
}


@pytest.mark.parametrize("shape", STRUCK_SHAPES)
def test_terrain_ends_in_sides_that_stop_what_comes_from_beside_it(shape):
    rng = np.random.default_rng(sum(map(ord, shape)))
    for _ in range(6):
        world = World()
        world.set_time_step(float(rng.choice([0.002, 0.005, 0.01])))
        world.set_default_material(float(rng.choice([0.0, 0.5])), 0.0, 0.0)
        world.add_ground()
        samples, size = rng.integers(2, 15, 2), rng.uniform(0.3, 2.0, 2)
        heights = rng.uniform(0.6, 1.0, samples.prod())
        world.add_height_map(int(samples[0]), int(samples[1]), size[0], size[1], 0.0, 0.0, heights)
        angle = rng.uniform(0.0, 2 * np.pi)
        towards = np.array([np.cos(angle), np.sin(angle), 0.0])
        body = STRUCK_SHAPES[shape](world)
        body.set_position(-towards * (0.5 * np.linalg.norm(size) + 0.4) + [0.0, 0.0, 0.3])
        body.set_linear_velocity(towards * rng.uniform(1.0, 10.0))
        body.set_angular_velocity(rng.normal(size=3))
        before = body.get_energy()
        for _ in range(100):
            world.integrate(2)
            energy, position = body.get_energy(), body.get_position()
            assert energy < before + 0.01  # overlap of a few tenths of a millimetre taken back
            assert np.any(np.abs(position[:2]) > 0.5 * size)
            before = energy

"""Rays against closed forms, an independent triangle intersector and MuJoCo."""

import mujoco
import numpy as np
import pytest
import trimesh

import raisim_ros
from raisim_ros import CompoundChild, DepthCameraProperties, InvalidValueError, MeshCollisionMode, ShapeType, World

RNG = np.random.default_rng(7)
POSE = np.array([0.3, -0.7, 0.9]), np.array([0.5, -0.4, 0.6, 0.2]) / np.linalg.norm([0.5, -0.4, 0.6, 0.2])


def rotation(q):
    return trimesh.transformations.quaternion_matrix(q)[:3, :3]


def sphere_surface(count):
    points = RNG.normal(size=(count, 3))
    normals = points / np.linalg.norm(points, axis=1)[:, None]
    return 0.5 * normals, normals


def box_surface(count):
    half = np.array([0.25, 0.4, 0.55])
    points = RNG.uniform(-1, 1, (count, 3)) * half
    normals = np.zeros((count, 3))
    axis, side = RNG.integers(0, 3, count), RNG.choice([-1.0, 1.0], count)
    rows = np.arange(count)
    points[rows, axis], normals[rows, axis] = side * half[axis], side
    return points, normals


def circle(count):
    angle = RNG.uniform(0, 2 * np.pi, count)
    return np.c_[np.cos(angle), np.sin(angle)]


def cylinder_surface(count):
    on_cap = RNG.random(count) < 0.4
    round_ = circle(count)
    side = RNG.choice([-1.0, 1.0], count)
    radius = np.where(on_cap, 0.4 * np.sqrt(RNG.random(count)), 0.4)
    z = np.where(on_cap, 0.5 * side, RNG.uniform(-0.5, 0.5, count))
    normals = np.where(on_cap[:, None], np.c_[np.zeros((count, 2)), side], np.c_[round_, np.zeros(count)])
    return np.c_[radius[:, None] * round_, z], normals


def capsule_surface(count):
    ball = RNG.normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    on_tube = RNG.random(count) < 0.5
    normals = np.where(on_tube[:, None], np.c_[circle(count), np.zeros(count)], ball)
    z = np.where(on_tube, RNG.uniform(-0.4, 0.4, count), np.copysign(0.4, ball[:, 2]))
    return 0.3 * normals + np.c_[np.zeros((count, 2)), z], normals


def cone_surface(count):  # radius 0.5, height 1.2, origin a quarter of the height above the base
    on_base = RNG.random(count) < 0.3
    round_ = circle(count)
    share = np.sqrt(RNG.random(count))  # distance from the apex, 1 at the base
    slope = np.array([1.2, 0.5]) / np.hypot(1.2, 0.5)
    normals = np.where(on_base[:, None], [0, 0, -1], np.c_[slope[0] * round_, np.full(count, slope[1])])
    z = np.where(on_base, -0.3, 0.9 - 1.2 * share)
    return np.c_[0.5 * share[:, None] * round_, z], normals


CONVEX = {
    "sphere": (lambda world: world.add_sphere(0.5, 1.0), sphere_surface),
    "box": (lambda world: world.add_box(0.5, 0.8, 1.1, 1.0), box_surface),
    "cylinder": (lambda world: world.add_cylinder(0.4, 1.0, 1.0), cylinder_surface),
    "capsule": (lambda world: world.add_capsule(0.3, 0.8, 1.0), capsule_surface),
    "cone": (lambda world: world.add_cone(0.5, 1.2, 1.0), cone_surface),
}


@pytest.mark.parametrize("shape", CONVEX)
@pytest.mark.parametrize("inside", [False, True], ids=["from_outside", "from_inside"])
def test_hit_is_the_point_aimed_at(shape, inside):
    """A convex body is hit first where a ray arrives against (inside: along) the outward normal."""
    add, surface = CONVEX[shape]
    world = World()
    add(world).set_pose(*POSE)
    points, normals = surface(4000)
    turn = rotation(POSE[1])
    points, normals = points @ turn.T + POSE[0], normals @ turn.T
    directions = RNG.normal(size=points.shape)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    along = np.einsum("ij,ij->i", directions, normals)
    directions *= np.where((along > 0) == inside, 1.0, -1.0)[:, None]
    clear = np.abs(along) > 1e-3
    # from inside: start at the centre of the body, so that the target is where the ray leaves
    starts = np.broadcast_to(POSE[0], points.shape) if inside else points - 3.0 * directions
    aim = points - starts
    distances, ids, hit_normals = world.cast_rays(starts, aim, 10.0)
    expected = np.linalg.norm(aim, axis=1)
    assert np.all(ids == 1)
    np.testing.assert_allclose(distances[clear], expected[clear], rtol=0, atol=1e-9)
    sharp = np.einsum("ij,ij->i", hit_normals, normals) < 1 - 1e-9  # only at edges may another face win
    assert np.mean(sharp) < 0.001


def test_misses_and_range():
    world = World()
    ball = world.add_sphere(0.5, 1.0)
    ball.set_position(0, 0, 2)
    assert world.ray_test((0, 0, 0), (0, 0, 1), 1.4999) == []
    (hit,) = world.ray_test((0, 0, 0), (0, 0, 5), 1.5001)  # directions need not be unit
    assert hit.get_object() is ball
    np.testing.assert_allclose(hit.get_position(), (0, 0, 1.5), atol=1e-12)
    np.testing.assert_allclose(hit.normal, (0, 0, -1), atol=1e-12)
    grazing, _, _ = world.cast_rays((0.5 - 1e-9, 0, 0), [(0, 0, 1)], 10.0)
    assert grazing[0] == pytest.approx(2.0, abs=1e-4)
    passing, _, _ = world.cast_rays((0.5 + 1e-9, 0, 0), [(0, 0, 1)], 10.0)
    assert np.isnan(passing[0])


def test_ignored_object_and_mask():
    world = World()
    near, far = world.add_sphere(0.2, 1.0), world.add_box(1, 1, 1, 1.0, collision_group=1 << 5)
    near.set_position(1, 0, 0)
    far.set_position(3, 0, 0)
    assert world.ray_test((0, 0, 0), (1, 0, 0), 10)[0].get_object() is near
    assert world.ray_test((0, 0, 0), (1, 0, 0), 10, near.get_index_in_world())[0].get_object() is far
    assert world.ray_test((0, 0, 0), (1, 0, 0), 10, collision_mask=1 << 5)[0].get_object() is far
    assert world.ray_test((0, 0, 0), (1, 0, 0), 10, collision_mask=1 << 7) == []


def test_rays_see_the_present_pose():
    world = World()
    ball = world.add_sphere(0.5, 1.0)
    assert world.ray_test((0, 0, -3), (0, 0, 1), 10)[0].distance == pytest.approx(2.5)
    ball.set_position(0, 0, 1)
    assert world.ray_test((0, 0, -3), (0, 0, 1), 10)[0].distance == pytest.approx(3.5)
    world.integrate(10)
    expected = ball.get_position()[2] - 0.5 + 3
    assert world.ray_test((0, 0, -3), (0, 0, 1), 10)[0].distance == pytest.approx(expected, abs=1e-12)
    world.remove_object(ball)
    assert world.ray_test((0, 0, -3), (0, 0, 1), 10) == []


@pytest.fixture(scope="module")
def torus(tmp_path_factory):
    path = tmp_path_factory.mktemp("mesh") / "torus.stl"
    trimesh.creation.torus(0.6, 0.25, major_sections=24, minor_sections=12).export(path)
    return path


def reference_distances(mesh, starts, directions):
    """Nearest hit of each ray: every ray against the plane and the three edges of every triangle."""
    a, b, c = mesh.triangles.transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    nearest = np.full(len(starts), np.inf)
    for ray, (start, unit) in enumerate(zip(starts, units, strict=True)):
        distance = np.einsum("ij,ij->i", a - start, normals) / (normals @ unit)
        point = start + distance[:, None] * unit
        within = distance >= 0
        for tail, head in ((a, b), (b, c), (c, a)):
            within &= np.einsum("ij,ij->i", np.cross(head - tail, point - tail), normals) >= 0
        nearest[ray] = distance[within].min(initial=np.inf)
    return np.where(np.isinf(nearest), np.nan, nearest)


def random_rays(count, center, spread):
    starts = center + RNG.normal(size=(count, 3)) * spread
    return starts, center + RNG.normal(size=(count, 3)) * 0.4 - starts


@pytest.mark.parametrize("mode", [MeshCollisionMode.ORIGINAL_MESH, MeshCollisionMode.CONVEX_HULL])
def test_mesh_agrees_with_trimesh(torus, mode):
    world = World()
    body = world.add_mesh(torus, 1.0, collision_mode=mode)
    body.set_pose(*POSE)
    mesh = trimesh.load(torus)
    mesh = mesh if mode == MeshCollisionMode.ORIGINAL_MESH else mesh.convex_hull
    pose = trimesh.transformations.quaternion_matrix(POSE[1])
    pose[:3, 3] = POSE[0]
    mesh.apply_transform(pose)
    starts, directions = random_rays(1500, POSE[0], 1.5)
    distances, _, _ = world.cast_rays(starts, directions, 100.0)
    expected = reference_distances(mesh, starts, directions)
    disagree = np.isnan(distances) != np.isnan(expected)
    assert disagree.mean() < 0.002  # rays along an edge may go either way
    both = ~np.isnan(distances) & ~np.isnan(expected)
    np.testing.assert_allclose(distances[both], expected[both], rtol=0, atol=1e-6)


def test_heightmap_agrees_with_its_triangles():
    world = World()
    properties = raisim_ros.TerrainProperties(seed=4, x_samples=23, y_samples=31, y_size=7.0)
    terrain = world.add_height_map(properties, center_x=2.0)
    data = terrain.get_data()
    x, y = np.meshgrid(
        np.linspace(-data.x_size / 2, data.x_size / 2, data.x_samples) + 2.0,
        np.linspace(-data.y_size / 2, data.y_size / 2, data.y_samples),
    )
    corner = np.add.outer(np.arange(data.y_samples - 1) * data.x_samples, np.arange(data.x_samples - 1)).ravel()
    width = data.x_samples
    faces = np.r_[
        np.c_[corner, corner + 1, corner + width + 1], np.c_[corner, corner + width + 1, corner + width]
    ]
    mesh = trimesh.Trimesh(np.c_[x.ravel(), y.ravel(), data.heights.ravel()], faces, process=False)
    starts = np.c_[RNG.uniform(-4, 8, 1500), RNG.uniform(-5, 5, 1500), RNG.uniform(-2, 4, 1500)]
    directions = RNG.normal(size=starts.shape)
    distances, _, _ = world.cast_rays(starts, directions, 50.0)
    expected = reference_distances(mesh, starts, directions)
    assert (np.isnan(distances) != np.isnan(expected)).mean() < 0.002
    both = ~np.isnan(distances) & ~np.isnan(expected)
    assert both.sum() > 200
    np.testing.assert_allclose(distances[both], expected[both], rtol=0, atol=1e-9)


def test_mixed_scene_agrees_with_mujoco():
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><worldbody>
          <geom type="plane" size="50 50 1"/>
          <geom type="sphere" size="0.5" pos="2 0 1"/>
          <geom type="box" size="0.3 0.2 0.6" pos="0 2 1" quat="0.8 0.2 0.5 0.3"/>
          <geom type="capsule" size="0.2 0.4" pos="-2 0 1" quat="0.7 0.1 0.6 -0.2"/>
          <geom type="cylinder" size="0.3 0.5" pos="0 -2 1" quat="0.3 0.9 -0.1 0.4"/>
        </worldbody></mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    world = World()
    world.add_ground()
    world.add_sphere(0.5, 1.0).set_position(2, 0, 1)
    world.add_box(0.6, 0.4, 1.2, 1.0).set_pose((0, 2, 1), (0.8, 0.2, 0.5, 0.3))
    world.add_capsule(0.2, 0.8, 1.0).set_pose((-2, 0, 1), (0.7, 0.1, 0.6, -0.2))
    world.add_cylinder(0.3, 1.0, 1.0).set_pose((0, -2, 1), (0.3, 0.9, -0.1, 0.4))
    origin = np.array([0.1, 0.2, 1.3])
    directions = RNG.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    distances, _, _ = world.cast_rays(origin, directions, 40.0)
    geom = np.zeros(1, dtype=np.int32)
    expected = np.array([mujoco.mj_ray(model, data, origin, d, None, 1, -1, geom) for d in directions])
    hit = (expected >= 0) & (expected < 40)
    np.testing.assert_array_equal(hit, ~np.isnan(distances))
    np.testing.assert_allclose(distances[hit], expected[hit], rtol=0, atol=1e-9)


def test_compound_is_hit_at_its_children():
    world = World()
    children = [
        CompoundChild(ShapeType.SPHERE, (0.1,), (0.5, 0, 0)),
        CompoundChild(ShapeType.SPHERE, (0.2,), (0, 0.7, 0)),
    ]
    world.add_compound(children, 1.0).set_orientation(np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # x becomes y, y becomes -x
    assert world.ray_test((0, 2, 0), (0, -1, 0), 5)[0].distance == pytest.approx(2 - 0.6)
    assert world.ray_test((-2, 0, 0), (1, 0, 0), 5)[0].distance == pytest.approx(2 - 0.9)


def test_lidar_points_lie_on_the_walls_and_in_order():
    world = World()
    wall = world.add_box(0.2, 20, 20, 1.0)  # ahead, its face at x = 2.9
    wall.set_position(3, 0, 0)
    turn = rotation([np.cos(0.25), 0, 0, np.sin(0.25)])  # the sensor looks 0.5 rad to the left
    points = world.ray_test_lidar(turn, (0.5, 0, 0.2), -3, 4, 0.1, 1, 5, -0.2, 0.1, 0.1, 20.0)
    assert points.shape == (8 * 5, 3)
    np.testing.assert_allclose((points @ turn.T + [0.5, 0, 0.2])[:, 0], 2.9, atol=1e-12)
    yaw = np.arctan2(points[:, 1], points[:, 0]).reshape(8, 5)
    pitch = np.arcsin(points[:, 2] / np.linalg.norm(points, axis=1)).reshape(8, 5)
    np.testing.assert_allclose(yaw, np.repeat(np.arange(-3, 5) * 0.1, 5).reshape(8, 5), atol=1e-12)
    np.testing.assert_allclose(pitch, np.tile(np.arange(-2, 3) * 0.1, (8, 1)), atol=1e-12)
    clockwise = world.ray_test_lidar(turn, (0.5, 0, 0.2), -3, 4, 0.1, -1, 1, 0.0, 0.1, 0.1, 20.0)
    np.testing.assert_allclose(np.arctan2(clockwise[:, 1], clockwise[:, 0]), -np.arange(-3, 5) * 0.1, atol=1e-12)
    assert len(world.ray_test_lidar(turn, (0.5, 0, 0.2), 0, 0, 0.1, 1, 1, 0.0, 0.1, 4.0, 20.0)) == 0  # too near


def test_depth_image_is_not_mirrored_or_rotated():
    """A low box on the left and a high one on the right, asymmetric in every way."""
    world = World()
    left = world.add_box(0.2, 0.3, 0.3, 1.0)
    left.set_position(3.0, 1.0, -0.5)
    right = world.add_sphere(0.2, 1.0)
    right.set_position(2.0, -0.6, 0.6)
    camera = DepthCameraProperties(width=64, height=48, horizontal_fov=np.pi / 2, near=0.1, far=10.0)
    frame = world.capture_depth_camera((0, 0, 0), np.eye(3), camera, with_points=True)
    focal = 32 / np.tan(np.pi / 4)
    # pixel of a point (x, y, z): column grows to the right (-y), row grows downwards (-z)
    column, row = 32 - focal * 1.0 / 2.9, 24 + focal * 0.5 / 2.9
    assert frame.segmentation[int(row), int(column)] == left.get_index_in_world()
    assert frame.depth[int(row), int(column)] == pytest.approx(2.9, abs=1e-6)
    column, row = 32 + focal * 0.6 / 2.0, 24 - focal * 0.6 / 2.0
    assert frame.segmentation[int(row), int(column)] == right.get_index_in_world()
    seen = frame.segmentation >= 0
    assert np.array_equal(seen, ~np.isnan(frame.depth))
    assert seen[:24, :32].sum() == seen[24:, 32:].sum() == 0  # nothing up left or down right
    on_ball = frame.segmentation == right.get_index_in_world()
    np.testing.assert_allclose(np.linalg.norm(frame.points[on_ball] - right.get_position(), axis=1), 0.2, atol=1e-9)
    clipped = world.capture_depth_camera((0, 0, 0), np.eye(3), DepthCameraProperties(64, 48, np.pi / 2, 2.5, 10.0))
    assert set(np.unique(clipped.segmentation)) == {-1, left.get_index_in_world()}


def test_depth_noise_repeats_with_its_seed():
    world = World()
    world.add_box(1, 10, 10, 1.0).set_position(3, 0, 0)
    noisy = {"noise_type": "gaussian", "noise_mean": 0.1, "noise_std": 0.02}
    cameras = [DepthCameraProperties(200, 150, **noisy, noise_seed=seed) for seed in (1, 1, 2)]
    frames = [world.capture_depth_camera((0, 0, 0), np.eye(3), camera).depth for camera in cameras]
    assert np.array_equal(frames[0], frames[1])
    assert not np.array_equal(frames[0], frames[2])
    assert frames[0].mean() == pytest.approx(2.6, abs=1e-3)
    assert frames[0].std() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda w: w.ray_test((0, 0, np.nan), (1, 0, 0), 1), "start"),
        (lambda w: w.ray_test((0, 0, 0), (0, 0, 0), 1), "direction"),
        (lambda w: w.ray_test((0, 0, 0), (1, 0, 0), -1), "length"),
        (lambda w: w.ray_test((0, 0, 0), (1, 0, 0), 1, 99), "object_id"),
        (lambda w: w.cast_rays((0, 0, 0), [(1, 0)], 1), "directions"),
        (lambda w: w.ray_test_lidar(np.eye(3), (0, 0, 0), 0, 10**9, 0.1, 1, 64, 0, 0.1, 0, 1), "rays"),
        (lambda w: w.ray_test_lidar(np.eye(3), (0, 0, 0), 0, 1, 0.1, 1, 1, 0, 0.1, 2, 1), "range min"),
        (lambda w: w.ray_test_lidar(np.eye(3), (0, 0, 0), 0, 1, 0.1, 0, 1, 0, 0.1, 0, 1), "spin direction"),
        (lambda w: w.capture_depth_camera((0, 0, 0), np.eye(3), DepthCameraProperties(horizontal_fov=0)), "fov"),
        (lambda w: w.capture_depth_camera((0, 0, 0), np.eye(3), DepthCameraProperties(10**6, 10**6)), "image"),
        (lambda w: w.capture_depth_camera((0, np.inf, 0), np.eye(3), DepthCameraProperties()), "pos"),
    ],
)
def test_absurd_requests_are_refused(call, named):
    world = World()
    world.add_ground()
    with pytest.raises(InvalidValueError, match=named):
        call(world)

"""Rays where they are easily lost: exactly on edges and corners, along faces, through seams; and what they must not see."""

import numpy as np
import pytest
import trimesh

from raisim_ros import DepthCameraProperties, MeshCollisionMode, World

RNG = np.random.default_rng(5)
HALF = np.array([0.5, 0.75, 0.25])  # exact in binary, so that "on the edge" is exact


def box_world():
    world = World()
    world.add_box(*(2 * HALF), 1.0)
    return world


def corners():
    return np.array(np.meshgrid(*[(-1, 1)] * 3)).T.reshape(-1, 3) * HALF


# ---- primitives ----


def test_straight_at_the_edges_and_corners_of_a_box():
    """Along an axis, on the very rim of a face: the surface belongs to the box."""
    world = box_world()
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        for shares in ((1, 1), (1, 0.3), (-1, 0.3), (0.3, -1), (-1, -1)):
            start, direction = np.zeros(3), np.zeros(3)
            start[axis], direction[axis] = -4.0, 1.0
            start[others] = np.array(shares) * HALF[others]
            distances, _, normals = world.cast_rays(start, [direction], 10.0)
            assert distances[0] == pytest.approx(4.0 - HALF[axis], abs=1e-12)
            if axis == 0:  # the same as a bundle
                points = world.ray_test_lidar(np.eye(3), start, 0, 0, 0.1, 1, 1, 0.0, 0.1, 0.0, 10.0)
                np.testing.assert_allclose(points, [[4.0 - HALF[0], 0, 0]], atol=1e-12)
            outside = start.copy()
            outside[others] *= 1 + 1e-12
            if 1.0 in np.abs(shares):
                assert np.isnan(world.cast_rays(outside, [direction], 10.0)[0][0])
            assert np.linalg.norm(normals[0]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("inside", [False, True])
def test_aimed_at_corners_and_edges_of_a_box(inside):
    """From outside towards a corner a ray may pass by a rounding error, but never hits anything else; from inside it
    can get out nowhere."""
    world = box_world()
    ends = corners()
    targets = np.concatenate([ends, *(0.5 * (ends + ends[shift]) for shift in RNG.permuted(np.tile(np.arange(8), (30, 1)), axis=1))])
    on_surface = np.isclose(np.abs(targets / HALF).max(axis=1), 1.0)
    targets = targets[on_surface]
    starts = RNG.uniform(-0.9, 0.9, targets.shape) * HALF if inside else 4 * targets + RNG.normal(size=targets.shape) * 0.2
    distances, _, _ = world.cast_rays(starts, targets - starts, 20.0)
    expected = np.linalg.norm(targets - starts, axis=1)
    if inside:
        np.testing.assert_allclose(distances, expected, rtol=0, atol=1e-9)
        return
    hit = np.isfinite(distances)
    assert hit.mean() > 0.4
    first = distances[hit] <= expected[hit] + 1e-9
    assert first.all()


def test_along_a_face_of_a_box():
    """Within the plane of a face: seen at the edge that comes first, not behind it."""
    world = box_world()
    (distance,), _, _ = world.cast_rays((-3.0, 0.1, HALF[2]), [(1, 0, 0)], 10.0)
    assert distance == pytest.approx(2.5, abs=1e-12)
    assert np.isnan(world.cast_rays((-3.0, 0.1, HALF[2] + 1e-12), [(1, 0, 0)], 10.0)[0][0])


@pytest.mark.parametrize(
    ("add", "start", "direction", "distance"),
    [
        (lambda w: w.add_cylinder(0.5, 1.0, 1.0), (0.5, 0, 3), (0, 0, -1), 2.5),  # on the rim of the cap
        (lambda w: w.add_cylinder(0.5, 1.0, 1.0), (-3, 0, 0.5), (1, 0, 0), 2.5),  # along the cap
        (lambda w: w.add_cylinder(0.5, 1.0, 1.0), (0.5, -3, 0), (0, 1, 0), 3.0),  # touches the side
        (lambda w: w.add_cone(0.5, 1.0, 1.0), (0, 0, 4), (0, 0, -1), 3.25),  # at the tip
        (lambda w: w.add_cone(0.5, 1.0, 1.0), (0, 0, -4), (0, 0, 1), 3.75),  # middle of the base
        (lambda w: w.add_cone(0.5, 1.0, 1.0), (-3, 0, -0.25), (1, 0, 0), 2.5),  # along the base
        (lambda w: w.add_capsule(0.5, 1.0, 1.0), (0, 0, 3), (0, 0, -1), 2.0),  # at the pole
        (lambda w: w.add_capsule(0.5, 1.0, 1.0), (-3, 0, 0.5), (1, 0, 0), 2.5),  # at the seam of side and cap
        (lambda w: w.add_capsule(0.5, 1.0, 1.0), (0.5, 0, -3), (0, 0, 1), 2.5),  # along the side
        (lambda w: w.add_sphere(0.5, 1.0), (0, 0.5, -2), (0, 0, 1), 2.0),  # touches
    ],
)
def test_rims_tips_and_seams(add, start, direction, distance):
    world = World()
    add(world)
    (found,), _, _ = world.cast_rays(start, [direction], 10.0)
    assert found == pytest.approx(distance, abs=1e-7)


def test_starts_on_a_surface():
    """The length of a ray begins at 0: what it starts on is hit there, whichever way it goes."""
    world = box_world()
    for direction in ((1, 0, 0), (-1, 0, 0)):
        (found,), _, _ = world.cast_rays((HALF[0], 0, 0), [direction], 10.0)
        assert found == pytest.approx(0.0, abs=1e-12) or found == pytest.approx(2 * HALF[0], abs=1e-12)
    assert world.ray_test((0, 0, 0), (1, 0, 0), HALF[0])[0].distance == pytest.approx(HALF[0], abs=1e-15)


# ---- meshes ----


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    path = tmp_path_factory.mktemp("mesh") / "ball.stl"
    trimesh.creation.icosphere(3, 1.0).export(path)
    return path


@pytest.mark.parametrize("mode", [MeshCollisionMode.ORIGINAL_MESH, MeshCollisionMode.CONVEX_HULL])
def test_no_ray_gets_out_of_a_closed_mesh(ball, mode):
    """Aimed exactly at vertices, edges and faces: there are no cracks, neither for single rays nor for bundles."""
    world = World()
    world.add_mesh(ball, 1.0, collision_mode=mode)
    mesh = trimesh.load(ball)
    edges = mesh.vertices[mesh.edges_unique]
    targets = np.concatenate([mesh.vertices, edges.mean(axis=1), 0.3 * edges[:, 0] + 0.7 * edges[:, 1]])
    for start in (np.zeros(3), np.array([0.3, -0.2, 0.5])):
        distances, _, _ = world.cast_rays(start, targets - start, 5.0)
        np.testing.assert_allclose(distances, np.linalg.norm(targets - start, axis=1), rtol=0, atol=1e-6)
    camera = DepthCameraProperties(400, 300, 2.0, 0.0, 5.0)
    assert np.isfinite(world.capture_depth_camera((0, 0, 0), np.eye(3), camera).depth).all()
    assert len(world.ray_test_lidar(np.eye(3), (0, 0, 0), 0, 719, np.pi / 360, 1, 90, -np.pi / 2, np.pi / 90, 0.0, 5.0)) == 720 * 90


def test_mesh_agrees_with_embree(ball):
    rtcore_scene = pytest.importorskip("embreex.rtcore_scene", reason="needs embreex")
    from embreex.mesh_construction import TriangleMesh

    world = World()
    world.add_mesh(ball, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
    scene = rtcore_scene.EmbreeScene()
    kept = TriangleMesh(scene, trimesh.load(ball).triangles.astype(np.float32))
    starts = RNG.normal(size=(5000, 3)) * 2
    directions = RNG.normal(size=(5000, 3)) * 0.5 - starts
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    theirs = scene.run(starts.astype(np.float32), directions.astype(np.float32), query="DISTANCE").astype(float)
    distances, _, _ = world.cast_rays(starts, directions, 50.0)
    hit = theirs < 50.0
    assert kept is not None
    assert (hit != np.isfinite(distances)).mean() < 0.001  # single precision at the silhouette
    both = hit & np.isfinite(distances)
    assert both.sum() > 2000
    assert np.quantile(np.abs(distances[both] - theirs[both]), 0.99) < 1e-5


# ---- what rays must not see ----

ARM = """<robot name="arm">
  <link name="world"><collision><geometry><sphere radius="0.3"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><origin xyz="1 0 0"/><geometry><sphere radius="0.3"/></geometry></collision></link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><origin xyz="1 0 0"/><geometry><sphere radius="0.3"/></geometry></collision></link>
  <joint name="a" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="9"/></joint>
  <joint name="b" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/><origin xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="9"/></joint>
</robot>"""


@pytest.fixture
def lane():
    """A robot of three balls at x = 0, 1, 2, a box of group 4 at x = 5 and a wall of group 8 at x = 9."""
    world = World()
    world.add_sphere(0.1, 1.0).set_position(0, 0, 50)  # so that indices are not all zero
    robot = world.add_articulated_system(ARM)
    box = world.add_box(1, 1, 1, 1.0, collision_group=4)
    box.set_position(5, 0, 0)
    wall = world.add_box(1, 9, 9, 1.0, collision_group=8)
    wall.set_position(9, 0, 0)
    return world, robot, box, wall


CASES = [
    ({}, 2.7),
    ({"local_id": 0}, 2.7),  # without an object it means nothing
    ({"object_id": 1, "local_id": 0}, 3.7),  # through the base, not through the arm
    ({"object_id": 1, "local_id": 2}, 2.7),
    ({"object_id": 1}, 7.5),  # through the whole robot
    ({"object_id": 2}, 2.7),
    ({"collision_mask": 4}, 7.5),
    ({"collision_mask": 8}, 11.5),
    ({"collision_mask": 4 | 8}, 7.5),
    ({"object_id": 1, "collision_mask": 8 | 1}, 11.5),
    ({"collision_mask": 2}, None),
]


@pytest.mark.parametrize(("rule", "distance"), CASES)
def test_single_rays_lidars_and_cameras_pass_through_the_same(lane, rule, distance):
    """From x = -3 along x; the same rule for every kind of ray."""
    world = lane[0]
    hits = world.ray_test((-3, 0, 0), (2, 0, 0), 20.0, **rule)
    assert [hit.distance for hit in hits] == ([] if distance is None else [pytest.approx(distance, abs=1e-9)])
    points = world.ray_test_lidar(np.eye(3), (-3, 0, 0), 0, 0, 0.1, 1, 1, 0.0, 0.1, 0.0, 20.0, **rule)
    np.testing.assert_allclose(points, np.empty((0, 3)) if distance is None else [[distance, 0, 0]], atol=1e-9)
    camera = DepthCameraProperties(3, 3, 0.01, 0.0, 20.0)
    depth = world.capture_depth_camera((-3, 0, 0), np.eye(3), camera, **rule).depth[1, 1]
    assert np.isnan(depth) if distance is None else depth == pytest.approx(distance, abs=1e-5)


def test_frames_carry_the_time_of_the_world(lane):
    world = lane[0]
    world.integrate(7)
    frame = world.capture_depth_camera((0, 0, 9), np.eye(3), DepthCameraProperties(2, 2))
    assert frame.timestamp == world.get_world_time() == pytest.approx(0.035)


def test_filters_that_change_count_at_once(lane):
    world, robot, box, _ = lane
    assert world.ray_test((-3, 0, 0), (1, 0, 0), 20.0, collision_mask=32) == []
    world.set_object_collision_filter(box, 32, -1)
    assert world.ray_test((-3, 0, 0), (1, 0, 0), 20.0, collision_mask=32)[0].get_object() is box
    world.remove_object(robot)
    assert world.ray_test((-3, 0, 0), (1, 0, 0), 20.0)[0].get_object() is box

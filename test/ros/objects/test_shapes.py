"""Every shape over ROS: spawned, described, drawn, put into the frame tree, cloned, removed."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Quaternion
from service_calls import ok
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description.world.scene_types import LightSettings, ViewCameraSettings
from raisim_ros.description.world_file import load_world_file
from raisim_ros.msg import CompoundChild, ObjectState, ResultCode, TerrainProperties
from raisim_ros.ros import qos
from raisim_ros.srv import (
    CloneObject,
    GetObjectInfo,
    ListObjects,
    RemoveObject,
    SaveWorld,
    SpawnHeightMap,
    SpawnObject,
    Step,
)

pytestmark = pytest.mark.usefixtures("fresh_world")

HALF = math.sqrt(0.5)
PLACE = Pose(position=Point(x=20.0, y=-3.0, z=5.0), orientation=Quaternion(x=0.0, y=HALF, z=0.0, w=HALF))
TETRAHEDRON = """v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


@pytest.fixture(scope="module")
def mesh_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("mesh") / "tetrahedron.obj"
    file.write_text(TETRAHEDRON)
    return file


def info(probe, name):
    return ok(probe.call(GetObjectInfo, "get_object_info", name=name))


def markers_of(arrays, kind):
    """The newest marker of every id in a namespace, without those that were deleted."""
    alive = {}
    for marker in (marker for array in arrays for marker in array.markers):
        if marker.action == Marker.DELETEALL:
            alive.clear()
        elif marker.action == Marker.DELETE:
            alive.pop((marker.ns, marker.id), None)
        else:
            alive[(marker.ns, marker.id)] = marker
    return [marker for marker in alive.values() if marker.ns == kind]


def drawn_markers(probe, kind, count):
    """The markers of a kind, when a viewer that comes now sees so many of them."""
    with probe.subscribed(MarkerArray, "markers", qos.LATCHED) as arrays:
        probe.spin_until(lambda: len(markers_of(arrays, kind)) == count, f"{count} markers of kind {kind}")
    return markers_of(arrays, kind)


SHAPES = {
    "sphere": ({"radius": 0.3}, [Marker.SPHERE]),
    "box": ({"size": [0.1, 0.2, 0.3]}, [Marker.CUBE]),
    "cylinder": ({"radius": 0.3, "height": 0.8}, [Marker.CYLINDER]),
    "cone": ({"radius": 0.3, "height": 0.8}, [Marker.TRIANGLE_LIST]),
    "capsule": ({"radius": 0.3, "height": 0.8}, [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE]),
}
# Principal moments of inertia per mass about the centre of mass, of uniform solids.
R, H = 0.3, 0.8
MOMENTS = {
    "sphere": [0.4 * R * R] * 3,
    "box": sorted([(0.04 + 0.09) / 12.0, (0.01 + 0.09) / 12.0, (0.01 + 0.04) / 12.0]),
    "cylinder": sorted([(3 * R * R + H * H) / 12.0] * 2 + [0.5 * R * R]),
    "cone": sorted([0.15 * R * R + 0.0375 * H * H] * 2 + [0.3 * R * R]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_primitive_is_spawned_described_and_drawn(probe, shape):
    dimensions, kinds = SHAPES[shape]
    before = {"sphere": 6, "box": 3}.get(shape, 0)
    ok(probe.call(SpawnObject, "spawn_object", name="new", shape=shape, mass=3.0, pose=PLACE, **dimensions))
    response = info(probe, "new")
    told = response.info
    assert (told.type, told.mass) == (shape, 3.0)
    assert (told.radius, told.height) == (dimensions.get("radius", 0.0), dimensions.get("height", 0.0))
    assert response.state.pose == PLACE
    if shape in MOMENTS:
        moments = response.state.principal_inertia
        assert [moments.x, moments.y, moments.z] == pytest.approx([3.0 * m for m in MOMENTS[shape]], rel=1e-9)
    new = drawn_markers(probe, shape, before + len(kinds))[before:]
    assert sorted(marker.type for marker in new) == sorted(kinds)
    drawn = new[[marker.type for marker in new].index(kinds[0])]
    assert drawn.header.frame_id == "world"
    assert [drawn.pose.position.x, drawn.pose.position.y, drawn.pose.position.z] == pytest.approx([20, -3, 5])
    assert drawn.color.a == 1.0
    ok(probe.call(RemoveObject, "remove_object", name="new"))
    assert len(drawn_markers(probe, shape, before)) == before


def test_the_ends_of_a_capsule_are_drawn_where_they_are(probe):
    fields = {"name": "pill", "shape": "capsule", "radius": 0.3, "height": 0.8, "pose": PLACE}
    ok(probe.call(SpawnObject, "spawn_object", **fields))
    ends = sorted(m.pose.position.x for m in drawn_markers(probe, "capsule", 3) if m.type == Marker.SPHERE)
    assert ends == pytest.approx([19.6, 20.4], abs=1e-12), "its axis was turned from z to x"


def test_a_ground_is_drawn_and_found_in_tf_static(probe):
    ok(probe.call(SpawnObject, "spawn_object", name="lower", shape="ground", height=-2.0))
    assert info(probe, "lower").state.pose.position.z == -2.0
    assert sorted(round(m.pose.position.z, 6) for m in drawn_markers(probe, "ground", 2)) == [-2.01, -0.01]
    with probe.subscribed(TFMessage, "/tf_static", qos.LATCHED) as messages:
        probe.spin_until(lambda: messages, "/tf_static")
    frames = {t.child_frame_id: t.transform.translation.z for t in messages[-1].transforms}
    assert frames == {"ground": 0.0, "lower": -2.0}


def test_a_compound_is_one_body_of_several_shapes(probe):
    children = [
        CompoundChild(shape="box", size=[0.2, 0.2, 0.2], pose=Pose(position=Point(z=0.5))),
        CompoundChild(shape="sphere", radius=0.1, pose=Pose(position=Point(z=-0.5))),
    ]
    ok(probe.call(SpawnObject, "spawn_object", name="dumbbell", shape="compound", children=children, pose=PLACE))
    assert info(probe, "dumbbell").info.type == "compound"
    drawn = {marker.type: marker.pose.position.x for marker in drawn_markers(probe, "compound", 2)}
    assert drawn == pytest.approx({Marker.CUBE: 20.5, Marker.SPHERE: 19.5})
    bad = probe.call(
        SpawnObject, "spawn_object", name="bad", shape="compound", children=[CompoundChild(shape="ground")]
    )
    assert bad.result == ResultCode.INVALID_VALUE
    assert "children[0].shape" in bad.message


@pytest.mark.parametrize("mode", ["original", "convex_hull"])
def test_a_mesh_is_read_scaled_and_drawn(probe, mesh_file, mode):
    fields = {"mesh_file": str(mesh_file), "mesh_mode": mode, "scale": [1.0, 2.0, 3.0], "mass": 6.0}
    ok(probe.call(SpawnObject, "spawn_object", name="tetra", shape="mesh", pose=PLACE, **fields))
    told = info(probe, "tetra").info
    assert (told.type, told.mesh_file, told.mass) == ("mesh", str(mesh_file), 6.0)
    (marker,) = drawn_markers(probe, "mesh", 1)
    corners = {(point.x, point.y, point.z) for point in marker.points}
    assert corners == {(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)}


def test_a_broken_mesh_is_refused(probe, tmp_path):
    file = tmp_path / "broken.obj"
    file.write_text("v 0 0 zero\nf 1 2 3\n")
    fields = {"name": "broken", "shape": "mesh", "mesh_file": str(file)}
    response = probe.call(SpawnObject, "spawn_object", **fields)
    assert response.result == ResultCode.PARSE_ERROR
    assert str(file) in response.message
    bad_mode = probe.call(SpawnObject, "spawn_object", **{**fields, "mesh_mode": "soft"})
    assert bad_mode.result in (ResultCode.INVALID_VALUE, ResultCode.PARSE_ERROR)


def test_a_request_says_all_that_a_world_file_can_say(probe, tmp_path):
    drag = {"linear_damping": 0.3, "angular_damping": [0.1, 0.2, 0.3], "gyroscopic_mode": "none"}
    ok(probe.call(SpawnObject, "spawn_object", name="slow", shape="box", size=[1.0, 1.0, 2.0], **drag))
    lamp = {"light_type": "spot", "light_color": [1.0, 0.5, 0.0], "light_cutoff": 0.3, "light_shadows": True}
    ok(probe.call(SpawnObject, "spawn_object", name="lamp", shape="light", pose=PLACE, **lamp))
    view = {"horizontal_fov": 0.9, "near": 0.2, "far": 50.0}
    ok(probe.call(SpawnObject, "spawn_object", name="view", shape="view_camera", **view))
    hills = {"source": "values", "x_samples": 2, "y_samples": 2, "heights": [0.0, 0.1, 0.2, 0.3]}
    ok(spawn_height_map(probe, **hills, publish_tf="none", min_rate_hz=3.0, max_rate_hz=7.0))
    file = tmp_path / "saved.xml"
    ok(probe.call(SaveWorld, "save_world", file=str(file)))
    entries = {entry.name: entry for entry in load_world_file(file).objects}
    slow, hill = entries["slow"], entries["terrain"].interface
    assert (slow.linear_damping, slow.angular_damping, slow.gyroscopic_mode) == (0.3, (0.1, 0.2, 0.3), "none")
    assert entries["lamp"].settings == LightSettings("spot", (1.0, 0.5, 0.0), 0.3, True)
    assert entries["view"].settings == ViewCameraSettings(0.9, 0.2, 50.0)
    assert (hill.publish_tf, hill.min_rate_hz, hill.max_rate_hz) == ("none", 3.0, 7.0)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"shape": "sphere", "radius": 0.1, "linear_damping": -1.0}, "damping"),
        ({"shape": "sphere", "radius": 0.1, "gyroscopic_mode": "some"}, "gyroscopic_mode"),
        ({"shape": "light", "light_type": "laser"}, "light"),
        ({"shape": "view_camera", "far": 0.01}, "far"),
        ({"shape": "sphere", "radius": 0.1, "inertia": [1.0]}, "inertia"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_added(probe, fields, told):
    before = len(probe.call(ListObjects, "list_objects").names)
    answer = probe.call(SpawnObject, "spawn_object", name="odd", **fields)
    assert answer.result == ResultCode.INVALID_VALUE
    assert told in answer.message
    assert len(probe.call(ListObjects, "list_objects").names) == before


# ---- height maps ----


def spawn_height_map(probe, **fields):
    return probe.call(SpawnHeightMap, "spawn_height_map", **{"name": "terrain", **fields})


def test_height_map_from_values_carries_a_ball(probe):
    heights = [0.5] * 16
    fields = {"x_samples": 4, "y_samples": 4, "heights": heights, "x_size": 4.0, "y_size": 4.0, "center_x": 30.0}
    ok(spawn_height_map(probe, source="values", **fields))
    told = info(probe, "terrain").info
    assert (told.type, told.body_type, list(told.size[:2])) == ("heightmap", "static", [4.0, 4.0])
    assert told.collision_group == 1 << 63
    above = Pose(position=Point(x=30.0, y=0.0, z=0.6))
    ok(probe.call(SpawnObject, "spawn_object", name="resting", shape="sphere", radius=0.1, pose=above))
    ok(probe.call(Step, "step", steps=100))
    assert info(probe, "resting").state.pose.position.z == pytest.approx(0.6, abs=1e-3)
    (marker,) = drawn_markers(probe, "heightmap", 1)
    assert len(marker.points) == 9 * 6
    assert {point.z for point in marker.points} == {0.5}


def test_height_map_from_a_text_file_an_image_and_the_generator(probe, tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    text = tmp_path / "terrain.txt"
    text.write_text("2 3 1.0 2.0\n0 1\n2 3\n4 5\n")
    ok(spawn_height_map(probe, name="by_text", source="text", file=str(text), center_x=40.0))
    image = tmp_path / "terrain.png"
    image_module.fromarray(np.full((4, 5), 100, np.uint8)).save(image)
    scaled = {"x_size": 5.0, "y_size": 4.0, "height_scale": 0.01, "height_offset": -1.0}
    ok(spawn_height_map(probe, name="by_image", source="png", file=str(image), **scaled))
    terrain = TerrainProperties(x_size=6.0, y_size=7.0, x_samples=20, y_samples=30, seed=3)
    ok(spawn_height_map(probe, name="by_generator", source="generator", terrain=terrain, center_y=50.0))
    sizes = {name: list(info(probe, name).info.size[:2]) for name in ("by_text", "by_image", "by_generator")}
    assert sizes == {"by_text": [1.0, 2.0], "by_image": [5.0, 4.0], "by_generator": [6.0, 7.0]}
    points = {len(marker.points): {p.z for p in marker.points} for marker in drawn_markers(probe, "heightmap", 3)}
    assert points[2 * 6] == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert points[12 * 6] == {0.0}
    assert len(points[19 * 29 * 6]) > 100


BAD_HEIGHT_MAPS = {
    "no source": ({}, ResultCode.INVALID_VALUE, "source"),
    "wrong count": (
        {"source": "values", "x_samples": 3, "y_samples": 3, "heights": [0.0] * 8},
        ResultCode.INVALID_VALUE,
        "8 heights",
    ),
    "one row": (
        {"source": "values", "x_samples": 3, "y_samples": 1, "heights": [0.0] * 3},
        ResultCode.INVALID_VALUE,
        "samples",
    ),
    "NaN": (
        {"source": "values", "x_samples": 2, "y_samples": 2, "heights": [0.0, 0.0, math.nan, 0.0]},
        ResultCode.INVALID_VALUE,
        "nan",
    ),
    "missing file": ({"source": "text", "file": "/no/such.txt"}, ResultCode.MISSING_FILE, "/no/such.txt"),
    "no file": ({"source": "png"}, ResultCode.INVALID_VALUE, "file is empty"),
    "bad generator": (
        {"source": "generator", "terrain": TerrainProperties(frequency=-1.0)},
        ResultCode.INVALID_VALUE,
        "frequency",
    ),
    "NaN centre": (
        {"source": "generator", "center_x": math.nan},
        ResultCode.INVALID_VALUE,
        "center",
    ),
}


@pytest.mark.parametrize("case", BAD_HEIGHT_MAPS)
def test_a_bad_height_map_is_refused_and_changes_nothing(probe, case):
    fields, code, text = BAD_HEIGHT_MAPS[case]
    response = spawn_height_map(probe, **fields)
    assert response.result == code, response.message
    assert text in response.message
    assert len(ok(probe.call(ListObjects, "list_objects")).names) == probe.OBJECTS


# ---- clones and frames ----


def test_clones_of_every_shape_have_its_looks_mass_and_filter(probe, mesh_file):
    children = [CompoundChild(shape="box", size=[0.2, 0.2, 0.2]), CompoundChild(shape="sphere", radius=0.2)]
    sources = {shape: dimensions for shape, (dimensions, _) in SHAPES.items()}
    sources["mesh"] = {"mesh_file": str(mesh_file), "mesh_mode": "convex_hull"}
    sources["compound"] = {"children": children}
    for shape, dimensions in sources.items():
        fields = {"mass": 2.0, "material": "rubber", "collision_group": 2, "appearance": "red", **dimensions}
        if shape == "compound":
            fields.pop("material")
        ok(probe.call(SpawnObject, "spawn_object", name=f"{shape}_source", shape=shape, pose=PLACE, **fields))
        elsewhere = Pose(position=Point(x=30.0, y=1.0, z=2.0))
        ok(probe.call(CloneObject, "clone_object", source=f"{shape}_source", name=f"{shape}_clone", pose=elsewhere))
        source, clone = info(probe, f"{shape}_source"), info(probe, f"{shape}_clone")
        assert clone.state.pose == elsewhere
        assert clone.info.id != source.info.id
        for field in ("type", "mass", "material", "collision_group", "collision_mask", "appearance", "radius"):
            assert getattr(clone.info, field) == getattr(source.info, field), (shape, field)
        assert list(clone.info.inertia) == pytest.approx(list(source.info.inertia), rel=1e-12)


def test_a_clone_may_keep_the_pose_and_leave_collision_properties(probe):
    fields = {"radius": 0.1, "material": "rubber", "collision_group": 2, "pose": PLACE}
    ok(probe.call(SpawnObject, "spawn_object", name="one", shape="sphere", **fields))
    options = {"keep_pose": True, "copy_collision_properties": False}
    ok(probe.call(CloneObject, "clone_object", source="one", name="two", **options))
    clone = info(probe, "two")
    assert clone.state.pose == PLACE
    assert (clone.info.material, clone.info.collision_group) == ("default", 1)


def test_bad_clones_are_refused(probe):
    assert probe.call(CloneObject, "clone_object", source="nobody", name="a").result == ResultCode.UNKNOWN_OBJECT
    assert probe.call(CloneObject, "clone_object", source="ground", name="a").result == ResultCode.UNSUPPORTED
    assert probe.call(CloneObject, "clone_object", source="ball_0", name="ball_1").result == ResultCode.NAME_TAKEN
    assert len(ok(probe.call(ListObjects, "list_objects")).names) == probe.OBJECTS


def test_tf_has_the_pose_of_every_moving_object_and_leaves_out_who_wants_none(probe):
    fields = {"shape": "sphere", "radius": 0.1, "pose": PLACE}
    ok(probe.call(SpawnObject, "spawn_object", name="seen", **fields))
    ok(probe.call(SpawnObject, "spawn_object", name="unseen", publish_tf="none", **fields))
    with probe.subscribed(TFMessage, "/tf", qos.TF) as messages, probe.subscribed(ObjectState, "seen/state") as states:
        ok(probe.call(Step, "step", steps=8))
        probe.spin_until(lambda: states and states[-1].sim_step == 8, "the state")
        stamp = states[-1].header.stamp
        probe.spin_until(lambda: messages and messages[-1].transforms[0].header.stamp == stamp, "its transform")
    transforms = {transform.child_frame_id: transform for transform in messages[-1].transforms}
    assert len(transforms) == probe.OBJECTS, "the moving objects of the world, and one more"
    assert "unseen" not in transforms
    seen, pose = transforms["seen"], states[-1].pose
    assert seen.header.frame_id == "world"
    assert seen.transform.rotation == pose.orientation
    translation = seen.transform.translation
    assert (translation.x, translation.y, translation.z) == (pose.position.x, pose.position.y, pose.position.z)

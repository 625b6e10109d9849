"""A table of wrong values, field by field and service by service: each is refused with its code; nothing changes."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from robot_calls import robot
from service_calls import ok

import raisim_ros.srv as srv
from raisim_ros.msg import CompoundChild, MaterialPair, ResultCode, TerrainProperties

NAN, INF, HUGE = float("nan"), float("inf"), 1e300
INVALID, UNKNOWN, TAKEN = ResultCode.INVALID_VALUE, ResultCode.UNKNOWN_OBJECT, ResultCode.NAME_TAKEN
MISSING, PARSE, UNSUPPORTED = ResultCode.MISSING_FILE, ResultCode.PARSE_ERROR, ResultCode.UNSUPPORTED

POSES = [
    Pose(position=Point(x=NAN)),
    Pose(position=Point(y=INF)),
    Pose(position=Point(z=HUGE)),
    Pose(orientation=Quaternion(w=0.0)),
    Pose(orientation=Quaternion(w=NAN)),
]
TWISTS = [Twist(linear=Vector3(x=NAN)), Twist(angular=Vector3(z=INF)), Twist(linear=Vector3(y=HUGE))]
LENGTHS = [0.0, -1.0, NAN, INF, HUGE]
RATES = [0.0, NAN, INF]

SPHERE = {"name": "new", "shape": "sphere", "radius": 0.1}
BOX = {"name": "new", "shape": "box", "size": [1.0, 1.0, 1.0]}
ROBOT = {"name": "new", "file": robot("chain")}
LIDAR, CAMERA, IMU = ({"object": "box_0", "name": "new"} for _ in range(3))
WIRE = {"name": "new", "object1": "box_0", "object2": "box_1", "length": 1.0}
HILLS = {"name": "new", "source": "generator"}
VALUES = {"name": "new", "source": "values", "x_samples": 2, "y_samples": 2, "heights": [0.0] * 4}
PAIR = {"material_1": "a", "material_2": "b"}

# service, what a good request has, the field, wrong values, the code
TABLE = [
    ("spawn_object", SPHERE, "radius", LENGTHS, INVALID),
    ("spawn_object", SPHERE, "mass", [0.0, -1.0, NAN, INF], INVALID),
    ("spawn_object", SPHERE, "pose", POSES, INVALID),
    ("spawn_object", SPHERE, "twist", TWISTS, INVALID),
    ("spawn_object", SPHERE, "body_type", ["", "frozen", "Dynamic"], INVALID),
    ("spawn_object", SPHERE, "shape", ["", "torus", "Sphere"], INVALID),
    ("spawn_object", SPHERE, "appearance", ["colour", "1 2", "0.1 0.2 x", "-1 0 0 1", "0.5 0.5 nan 1", "255 0 0"], INVALID),
    ("spawn_object", SPHERE, "material", ["", "  "], INVALID),
    ("spawn_object", SPHERE, "com", [[0.0], [NAN, 0.0, 0.0]], INVALID),
    ("spawn_object", SPHERE, "inertia", [[1.0], [0.0] * 6, [NAN] * 6, [-1.0, 0.0, 0.0, 1.0, 0.0, 1.0]], INVALID),
    ("spawn_object", SPHERE, "min_rate_hz", RATES, INVALID),
    ("spawn_object", SPHERE, "max_rate_hz", RATES, INVALID),
    ("spawn_object", SPHERE, "publish_tf", ["", "true", "some"], INVALID),
    ("spawn_object", SPHERE, "odometry", ["", "gps", "wheels"], INVALID),
    ("spawn_object", SPHERE, "odom_tf", [True], INVALID),
    ("spawn_object", SPHERE, "name", ["", "box_0", "world", "?!", "box_0/lid", "states/x"], TAKEN),
    ("spawn_object", BOX, "size", [[0.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, NAN], [INF, 1.0, 1.0]], INVALID),
    ("spawn_object", {**SPHERE, "shape": "cylinder", "height": 1.0}, "height", LENGTHS, INVALID),
    ("spawn_object", {**SPHERE, "shape": "cone", "height": 1.0}, "height", LENGTHS, INVALID),
    ("spawn_object", {**SPHERE, "shape": "capsule", "height": 1.0}, "height", [-1.0, NAN, INF], INVALID),
    ("spawn_object", {"name": "new", "shape": "mesh"}, "mesh_file", ["/no/such.obj", "package://gone/a.obj", "no/such.obj"], MISSING),
    ("spawn_object", {"name": "new", "shape": "compound"}, "children", [[], [CompoundChild(shape="ring")], [CompoundChild(shape="sphere")]], INVALID),
    ("spawn_articulated_system", ROBOT, "pose", POSES, INVALID),
    ("spawn_articulated_system", ROBOT, "base", ["", "free"], INVALID),
    ("spawn_articulated_system", ROBOT, "coordinates", [[1.0], [NAN] * 3], INVALID),
    ("spawn_articulated_system", ROBOT, "velocities", [[1.0], [NAN] * 3], INVALID),
    ("spawn_articulated_system", ROBOT, "p_gains", [[-1.0], [NAN], [1.0, 2.0]], INVALID),
    ("spawn_articulated_system", ROBOT, "d_gains", [[-1.0], [INF]], INVALID),
    ("spawn_articulated_system", ROBOT, "joint_order", [["nobody"]], INVALID),
    ("spawn_articulated_system", ROBOT, "parameter_names", [["a"], ["a", "b"]], INVALID),
    ("spawn_articulated_system", ROBOT, "publish_tf", ["yes"], INVALID),
    ("spawn_articulated_system", ROBOT, "modules", [["/no/module.urdf"]], MISSING),
    ("spawn_articulated_system", {"name": "new"}, "file", ["/no/such.urdf", "package://gone/a.urdf"], MISSING),
    ("spawn_articulated_system", {"name": "new"}, "text", ["<robot>", "<sphere/>", "no xml <"], PARSE),
    ("spawn_articulated_system", {"name": "new"}, "text", [""], INVALID),
    ("spawn_height_map", HILLS, "source", ["", "sea"], INVALID),
    ("spawn_height_map", HILLS, "terrain", [TerrainProperties(x_samples=1), TerrainProperties(x_size=0.0), TerrainProperties(frequency=NAN)], INVALID),
    ("spawn_height_map", VALUES, "heights", [[0.0] * 3, [NAN] * 4, [INF] * 4], INVALID),
    ("spawn_height_map", VALUES, "x_size", [0.0, -1.0, NAN], INVALID),
    ("spawn_height_map", VALUES, "center_x", [NAN, INF, HUGE], INVALID),
    ("spawn_height_map", {"name": "new", "source": "png"}, "file", ["/no/such.png"], MISSING),
    ("spawn_height_map", {"name": "new", "source": "text"}, "file", ["/no/such.txt"], MISSING),
    ("spawn_lidar", LIDAR, "object", ["nobody", ""], UNKNOWN),
    ("spawn_lidar", LIDAR, "update_rate", [*RATES, -1.0], INVALID),
    ("spawn_lidar", LIDAR, "yaw_samples", [0, 2**32 - 1], INVALID),
    ("spawn_lidar", LIDAR, "pitch_samples", [0, 2**32 - 1], INVALID),
    ("spawn_lidar", LIDAR, "pitch_min", [1.0, -1.6, -4.0, NAN], INVALID),
    ("spawn_lidar", LIDAR, "spin_rate", [-1.0, NAN, INF], INVALID),
    ("spawn_lidar", LIDAR, "range_max", [0.0, -1.0, NAN], INVALID),
    ("spawn_lidar", LIDAR, "noise_type", ["", "pink"], INVALID),
    ("spawn_lidar", LIDAR, "noise_stddev", [-0.1, NAN, HUGE], INVALID),
    ("spawn_lidar", LIDAR, "noise_mean", [NAN, HUGE], INVALID),
    ("spawn_lidar", LIDAR, "dropout", [-0.1, 1.5, NAN], INVALID),
    ("spawn_lidar", LIDAR, "pose", POSES, INVALID),
    ("spawn_depth_camera", CAMERA, "object", ["nobody"], UNKNOWN),
    ("spawn_depth_camera", CAMERA, "kind", ["", "thermal"], INVALID),
    ("spawn_depth_camera", CAMERA, "width", [0, 2**32 - 1], INVALID),
    ("spawn_depth_camera", CAMERA, "horizontal_fov", [0.0, -1.0, 4.0, NAN], INVALID),
    ("spawn_depth_camera", CAMERA, "near", [-1.0, 30.0, NAN], INVALID),
    ("spawn_imu", IMU, "object", ["nobody"], UNKNOWN),
    ("spawn_imu", IMU, "update_rate", [*RATES, -1.0], INVALID),
    ("spawn_imu", IMU, "acc_stddev", [-0.1, NAN, HUGE], INVALID),
    ("spawn_imu", IMU, "acc_limit", [0.0, -1.0, NAN], INVALID),
    ("spawn_wire", WIRE, "object1", ["nobody", ""], UNKNOWN),
    ("spawn_wire", WIRE, "type", ["", "rope"], INVALID),
    ("spawn_wire", WIRE, "stretch_type", ["always"], INVALID),
    ("spawn_wire", WIRE, "length", [-1.0, NAN, INF], INVALID),
    ("spawn_wire", WIRE, "position1", [Point(x=NAN)], INVALID),
    ("spawn_wire", WIRE, "local_index1", [7, -2], INVALID),
    ("spawn_wire", WIRE, "color", ["purplish", "1 2 3 4 5", "2 0 0"], INVALID),
    ("spawn_sensor_set", {"object": "box_0"}, "text", ["<sensor_set/>", "<sensor_set name='a'></sensor_set>"], INVALID),
    ("spawn_wire", WIRE, "name", ["", "box_0"], TAKEN),
    ("clone_object", {"name": "new"}, "source", ["nobody", ""], UNKNOWN),
    ("clone_object", {"name": "new"}, "source", ["ground"], UNSUPPORTED),
    ("clone_object", {"name": "new", "source": "box_0"}, "pose", POSES, INVALID),
    ("clone_object", {"source": "box_0"}, "name", ["", "box_1"], TAKEN),
    ("remove_object", {}, "name", ["nobody", ""], UNKNOWN),
    ("get_object_info", {}, "name", ["nobody"], UNKNOWN),
    ("set_object_state", {}, "name", ["nobody"], UNKNOWN),
    ("set_object_state", {"name": "box_0"}, "pose", POSES, INVALID),
    ("set_object_state", {"name": "box_0"}, "twist", TWISTS, INVALID),
    ("set_object_state", {"name": "box_0"}, "joint_names", [["elbow"]], UNSUPPORTED),
    ("set_object_material", {"material": "m"}, "name", ["nobody"], UNKNOWN),
    ("set_object_material", {"name": "box_0", "material": "m"}, "local_index", [9], INVALID),
    ("set_collision_filter", {}, "name", ["nobody"], UNKNOWN),
    ("set_collision_filter", {"name": "box_0"}, "local_index", [9], INVALID),
    ("set_material_pair", PAIR, "properties", [MaterialPair(friction=-1.0), MaterialPair(friction=NAN), MaterialPair(restitution=2.0)], INVALID),
    ("set_default_material", {}, "properties", [MaterialPair(friction=-1.0), MaterialPair(static_friction=NAN)], INVALID),
    ("set_joint_gains", {"p_gains": [1.0]}, "name", ["nobody"], UNKNOWN),
    ("set_joint_gains", {"p_gains": [1.0]}, "name", ["box_0"], UNSUPPORTED),
    ("set_world_settings", {}, "gravity", [[1.0], [NAN, 0.0, 0.0]], INVALID),
    ("set_world_settings", {}, "time_step", [-1.0, 1e-9, NAN, 7.0], INVALID),
    ("set_world_settings", {}, "erp", [[1.0]], INVALID),
    ("set_world_settings", {}, "sleeping", [3], INVALID),
    ("set_world_settings", {}, "real_time_factor", [1e9, NAN, INF], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "solver_threshold", [5.0, NAN, INF], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "solver_iterations", [2**32 - 1], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "threads", [1000], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "clock_rate_hz", [0.0, 1e9, NAN], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "state_max_rate_hz", [1.0, INF], INVALID),
    ("set_world_settings", {"gravity": [0.0, 0.0, -1.0]}, "command_watchdog_action", ["releas"], INVALID),
    ("set_world_settings", {}, "world_watchdog_s", [NAN, INF], INVALID),
    ("set_object_rates", {}, "name", ["nobody"], UNKNOWN),
    ("set_object_rates", {"name": "box_0"}, "min_rate_hz", RATES, INVALID),
    ("set_object_rates", {"name": "box_0", "min_rate_hz": 20.0}, "max_rate_hz", [*RATES, 10.0], INVALID),
    ("remove_sensor", {"object": "box_0"}, "name", ["nobody"], UNKNOWN),
    ("remove_wire", {}, "name", ["nobody"], UNKNOWN),
    ("ray_test", {}, "direction", [Vector3(), Vector3(x=NAN)], INVALID),
    ("ray_test", {"direction": Vector3(x=1.0)}, "length", [-1.0, NAN], INVALID),
    ("ray_test", {"direction": Vector3(x=1.0)}, "ignored_object", ["nobody"], UNKNOWN),
    ("step", {}, "steps", [0], INVALID),
    ("restore_snapshot", {}, "name", ["nobody"], INVALID),
    ("save_snapshot", {}, "name", [""], INVALID),
    ("save_world", {}, "file", [""], INVALID),
    ("save_world", {}, "file", ["/no/such/folder/world.xml"], MISSING),
    ("load_world_file", {}, "file", ["/no/such.xml", "package://gone/a.xml"], MISSING),
    ("list_objects", {}, "type", ["ball", "Sphere"], INVALID),
]  # fmt: skip


def type_of(service):
    if service == "load_world_file":
        return srv.LoadWorld
    return getattr(srv, "".join(word.capitalize() for word in service.split("_")))


def test_the_table_is_long_enough():
    assert sum(len(values) for *_, values, _ in TABLE) >= 150


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("service", sorted({row[0] for row in TABLE}))
def test_every_wrong_value_is_refused_with_its_code(probe, service):
    before = ok(probe.call(srv.ListObjects, "list_objects"))
    mistaken = []
    for name, fields, field, values, code in TABLE:
        for value in values if name == service else ():
            answer = probe.call(type_of(service), service, **{**fields, field: value})
            if answer.result != code or not answer.message:
                mistaken.append(f"{field}={value!r}: {answer.result} instead of {code}: {answer.message}")
    assert mistaken == []
    assert probe.call(srv.ListObjects, "list_objects") == before

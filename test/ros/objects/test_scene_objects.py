"""Lights and cameras of viewers over ROS: states, commands, frames and markers like those of other objects."""

import math

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3, Wrench
from service_calls import load_text, ok
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros import World
from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.ros import qos
from raisim_ros.srv import GetObjectInfo, ListObjects, RemoveObject, SaveWorld, SpawnObject, Step

HALF = math.sqrt(0.5)
WORLD = """<raisim><camera follow="lamp" x="3"/><objects><ground name="ground"/>
<light name="lamp" type="spot" color="1 0.5 0"><state pos="0 0 3"/></light>
<view_camera name="view"><state pos="-2 0 1" lin_vel="0 0.1 0"/></view_camera>
</objects></raisim>"""


@pytest.fixture(autouse=True)
def scene(shared_node, probe, tmp_path):
    load_text(probe, tmp_path, WORLD)


def info(probe, name):
    return ok(probe.call(GetObjectInfo, "get_object_info", name=name))


def test_they_have_states_of_their_own(probe):
    listed = ok(probe.call(ListObjects, "list_objects"))
    assert list(zip(listed.names, listed.types, listed.body_types, strict=True)) == [
        ("ground", "ground", "static"),
        ("lamp", "light", "kinematic"),
        ("view", "view_camera", "kinematic"),
    ]
    with probe.subscribed(ObjectState, "view/state") as states:
        ok(probe.call(Step, "step", steps=20))
        probe.spin_until(lambda: states and states[-1].sim_step >= 20, "the state of the camera")
    assert (states[-1].type, states[-1].mass) == ("view_camera", 0.0)
    assert states[-1].pose.position.y == pytest.approx(0.1 * states[-1].sim_time)
    lamp = info(probe, "lamp")
    assert (lamp.info.mass, lamp.info.collision_group, lamp.info.material) == (0.0, 0, "")


def test_a_pose_moves_a_light_and_a_wrench_does_nothing(probe):
    target = Pose(position=Point(x=1.0, y=-2.0, z=4.0), orientation=Quaternion(x=HALF, y=0.0, z=0.0, w=HALF))
    with probe.publisher(ObjectCmd, "lamp/cmd") as commands:
        commands.publish(ObjectCmd(wrench=Wrench(force=Vector3(x=100.0))))
        ok(probe.call(Step, "step", steps=20))
        assert info(probe, "lamp").state.pose == Pose(position=Point(z=3.0))
        commands.publish(ObjectCmd(enable_position_controller=True, pose=target, twist=Twist(linear=Vector3(z=1.0))))
        probe.spin_until(lambda: info(probe, "lamp").state.pose == target, "the light to move")
        ok(probe.call(Step, "step", steps=10))
        assert info(probe, "lamp").state.pose.position.z == pytest.approx(4.05)


def test_they_are_in_the_frame_tree_and_drawn(probe):
    with (
        probe.subscribed(TFMessage, "/tf", qos.TF) as frames,
        probe.subscribed(MarkerArray, "markers", qos.LATCHED) as markers,
    ):
        ok(probe.call(Step, "step", steps=1))

        def framed():
            return {transform.child_frame_id for message in frames for transform in message.transforms}

        def drawn():
            return [marker for message in markers for marker in message.markers if marker.action == Marker.ADD]

        probe.spin_until(lambda: {"lamp", "view"} <= framed(), "their frames")
        probe.spin_until(lambda: {"light", "view_camera"} <= {one.ns for one in drawn()}, "their markers")
    light = [one for one in drawn() if one.ns == "light"]
    assert {one.type for one in light} == {Marker.SPHERE, Marker.ARROW}
    assert all((one.color.r, one.color.g, one.color.b) == (1.0, 0.5, 0.0) for one in light)
    # Arrows point along their x: here down, along the light's -z.
    arrow = next(one for one in light if one.type == Marker.ARROW)
    assert arrow.pose.position.z == pytest.approx(3.0)
    assert arrow.pose.orientation.y == pytest.approx(HALF)


def test_they_are_spawned_saved_and_removed(probe, tmp_path):
    for shape in ("light", "view_camera"):
        ok(probe.call(SpawnObject, "spawn_object", name=f"new_{shape}", shape=shape, pose=Pose(position=Point(x=7.0))))
    file = tmp_path / "saved.xml"
    ok(probe.call(SaveWorld, "save_world", file=str(file)))
    saved = World(file)
    assert [one.get_name() for one in saved.get_obj_list()] == ["ground", "lamp", "view", "new_light", "new_view_camera"]
    assert saved.get_object("lamp").get_settings().color == (1.0, 0.5, 0.0)
    assert saved.get_object("new_light").get_position() == pytest.approx((7.0, 0.0, 0.0))
    assert saved.get_viewpoint().follow == "lamp"
    ok(probe.call(RemoveObject, "remove_object", name="lamp"))
    assert "lamp" not in probe.call(ListObjects, "list_objects").names

"""Copies of robots over ROS: topics, frames, state and gains of their own."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Quaternion
from robot_calls import ARM_JOINTS, LATCHED, STAND, send_until, spawn, spawn_arm, state, step
from sensor_msgs.msg import JointState
from service_calls import ok
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from raisim_ros.msg import ResultCode
from raisim_ros.srv import CloneObject, GetObjectInfo, ListObjects, RemoveObject

pytestmark = pytest.mark.usefixtures("fresh_world")

ELSEWHERE = Pose(position=Point(x=24.0, y=1.0, z=0.5), orientation=Quaternion(x=0.0, y=0.0, z=0.6, w=0.8))
OWN_TOPICS = {"state", "cmd", "joint_states", "joint_cmd", "joint_trajectory", "robot_description"}


def clone(probe, source="arm", name="twin", **fields):
    return ok(probe.call(CloneObject, "clone_object", source=source, name=name, **fields))


def test_a_copy_has_the_state_of_its_source_at_a_place_of_its_own(probe):
    spawn_arm(probe, coordinates=[0.3, -0.4, 0.5, 0.1, -0.2, 0.3], velocities=[0.1, 0.2, -0.3, 0.4, 0.5, -0.6])
    source = state(probe)
    answer = clone(probe, pose=ELSEWHERE)
    copy = state(probe, "twin")
    assert copy.id == answer.id != source.id
    assert (copy.name, copy.type) == ("twin", "articulated_system")
    assert copy.pose == ELSEWHERE
    for field in ("joint_names", "joint_positions", "joint_velocities", "children_names", "mass", "principal_inertia"):
        assert getattr(copy, field) == getattr(source, field), field
    step(probe, 5)
    assert list(state(probe, "twin").joint_positions) == pytest.approx(list(state(probe).joint_positions), abs=1e-9)
    clone(probe, name="third", keep_pose=True)
    assert state(probe, "third").pose == source.pose


def test_a_copy_has_topics_frames_and_commands_of_its_own(probe):
    spawn_arm(probe)
    clone(probe, pose=ELSEWHERE)
    probe.spin_until(lambda: {f"/twin/{name}" for name in OWN_TOPICS} <= probe.topics(), "the copy's topics")
    with probe.subscribed(String, "twin/robot_description", LATCHED) as texts:
        probe.spin_until(lambda: texts, "the description")
    with probe.subscribed(TFMessage, "/tf") as messages:
        step(probe)
        probe.spin_until(lambda: messages, "transforms")
    frames = {transform.child_frame_id for message in messages for transform in message.transforms}
    assert "twin/forearm" in frames
    assert {frame.removeprefix("twin/") for frame in frames if frame.startswith("twin/")} == {
        frame.removeprefix("arm/") for frame in frames if frame.startswith("arm/")
    }
    with probe.publisher(JointState, "twin/joint_cmd") as publisher:
        message = JointState(name=["elbow"], position=[0.4])
        send_until(probe, publisher, message, lambda: step(probe, 20) and state(probe, "twin").joint_positions[2] > 0.1)
    assert abs(state(probe).joint_positions[2]) < 0.02, "the source holds still"
    ok(probe.call(RemoveObject, "remove_object", name="twin"))
    probe.wait_for_topics_to_go(lambda topic: topic.startswith("/twin/"))
    assert "arm" in ok(probe.call(ListObjects, "list_objects")).names


def test_a_copy_of_a_robot_under_force_holds_its_place_with_the_described_gains(probe):
    """The command acts on the source alone; the copy takes positions, for which the source has no gain just now."""
    spawn_arm(probe)
    with probe.publisher(JointState, "arm/joint_cmd") as publisher:
        message = JointState(name=["elbow"], effort=[40.0])
        send_until(probe, publisher, message, lambda: step(probe, 5) and abs(state(probe).joint_positions[2]) > 0.05)
    clone(probe, pose=ELSEWHERE)
    elbow = state(probe, "twin").joint_positions[2]
    step(probe, 400)
    assert state(probe, "twin").joint_positions[2] == pytest.approx(elbow, abs=0.05)
    with probe.publisher(JointState, "twin/joint_cmd") as publisher:
        target = JointState(name=["elbow"], position=[elbow + 0.3])
        send_until(
            probe, publisher, target, lambda: step(probe, 20) and state(probe, "twin").joint_positions[2] > elbow + 0.2
        )


def test_collision_properties_are_copied_or_not(probe):
    spawn(probe, "dog", "quadruped", coordinates=[20.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, *STAND], collision_group=4)
    clone(probe, "dog", "same", pose=ELSEWHERE)
    clone(probe, "dog", "plain", pose=ELSEWHERE, copy_collision_properties=False)
    groups = [
        ok(probe.call(GetObjectInfo, "get_object_info", name=name)).info.collision_group for name in ("same", "plain")
    ]
    assert groups == [4, 1]


def test_a_name_that_is_taken_is_refused_or_replaced(probe):
    spawn_arm(probe)
    answer = probe.call(CloneObject, "clone_object", source="arm", name="arm")
    assert answer.result == ResultCode.NAME_TAKEN
    assert clone(probe, name="arm", allow_renaming=True, pose=ELSEWHERE).name == "arm_1"
    assert state(probe, "arm_1").joint_names == ARM_JOINTS

"""Robots over ROS: spawned, published, driven by their joints, and removed without a trace."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3, Wrench
from robot_calls import ARM_JOINTS, LATCHED, STAND, robot, send_until, spawn, spawn_arm, state, step
from sensor_msgs.msg import JointState
from service_calls import ok
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description.resources import resource
from raisim_ros.engine.world.robots import ArticulatedSystemOption
from raisim_ros.engine.world.world import World
from raisim_ros.msg import ObjectCmd, ObjectState, ObjectStateArray, ResultCode
from raisim_ros.srv import (
    GetObjectInfo,
    ListObjects,
    Play,
    RemoveObject,
    Reset,
    RestoreSnapshot,
    SaveSnapshot,
    SetObjectState,
    SpawnArticulatedSystem,
)

pytestmark = pytest.mark.usefixtures("fresh_world")

# ---- spawning ----


def test_a_robot_is_listed_and_described(probe):
    answer = spawn_arm(probe)
    assert answer.joint_names == ARM_JOINTS
    assert answer.link_names[0] == "world"
    listed = ok(probe.call(ListObjects, "list_objects", type="articulated_system"))
    assert (listed.names, listed.body_types) == (["arm"], ["dynamic"])
    reply = ok(probe.call(GetObjectInfo, "get_object_info", name="arm"))
    reference = World().add_articulated_system(robot("arm"))
    assert reply.info.mass == pytest.approx(reference.get_total_mass())
    assert reply.info.joint_names == ARM_JOINTS
    assert reply.info.link_names == answer.link_names
    assert reply.state.children_names == answer.link_names[1:]
    assert reply.state.pose.position.x == 20.0


def test_text_parameters_order_and_coordinates_are_taken(probe):
    text = resource("robots/cartpole.urdf").read_text()
    fields = {"text": text, "coordinates": [0.5, 0.1], "velocities": [0.0, -0.2]}
    spawn(probe, "cart", parameter_names=["cart_mass", "pole_l"], parameter_values=["7", "2.5"], **fields)
    cart = state(probe, "cart")
    assert cart.mass == pytest.approx(7.2)
    assert list(cart.joint_positions) == [0.5, 0.1]
    assert list(cart.joint_velocities) == [0.0, -0.2]
    order = ["LH_HAA", "LH_HFE", "LH_KFE", "RF_HAA", "RF_HFE", "RF_KFE", "RH_HAA", "RH_HFE", "RH_KFE"]
    order += ["LF_HAA", "LF_HFE", "LF_KFE"]
    assert spawn(probe, "dog", "quadruped", joint_order=order).joint_names == order


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"file": "/nowhere/robot.urdf"}, ResultCode.MISSING_FILE, "robot.urdf"),
        ({"file": ""}, ResultCode.INVALID_VALUE, "both empty"),
        ({"text": "<robot/>"}, ResultCode.INVALID_VALUE, "both given"),
        ({"file": "", "text": "<robot><link"}, ResultCode.PARSE_ERROR, "text:1"),
        ({"file": "", "text": "<robot name='a'><link name='a'/><link name='b'/></robot>"}, ResultCode.PARSE_ERROR, "root"),
        ({"parameter_names": ["a"]}, ResultCode.INVALID_VALUE, "parameter_values"),
        ({"base": "flying"}, ResultCode.INVALID_VALUE, "flying"),
        ({"collision_meshes": "soft"}, ResultCode.INVALID_VALUE, "collision_meshes is 'soft'; expected one of hull"),
        ({"self_collision": "some"}, ResultCode.INVALID_VALUE, "self_collision is 'some'; expected one of auto"),
        ({"srdf": "<robot><disable_collisions link1='a'/></robot>"}, ResultCode.PARSE_ERROR, "has no attribute 'link2'"),
        ({"coordinates": [0.0]}, ResultCode.INVALID_VALUE, "coordinate"),
        ({"coordinates": [math.nan] * 6}, ResultCode.INVALID_VALUE, "coordinates"),
        ({"p_gains": [1.0, 2.0]}, ResultCode.INVALID_VALUE, "p_gains"),
        ({"d_gains": [-1.0]}, ResultCode.INVALID_VALUE, "d_gains"),
        ({"joint_order": ["nobody"]}, ResultCode.INVALID_VALUE, "nobody"),
        ({"name": ""}, ResultCode.NAME_TAKEN, "empty"),
        ({"modules": ["/nowhere/module.urdf"]}, ResultCode.MISSING_FILE, "modules[0]"),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(probe, fields, code, words):
    before = ok(probe.call(ListObjects, "list_objects"))
    request = {"name": "bad", "file": robot("arm")} | fields
    answer = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **request)
    assert answer.result == code, answer.message
    assert words in answer.message
    assert ok(probe.call(ListObjects, "list_objects")).ids == before.ids


def test_a_removed_robot_leaves_no_topic(probe):
    spawn_arm(probe)
    own = {"state", "cmd", "joint_states", "joint_cmd", "joint_trajectory", "robot_description"}
    probe.spin_until(lambda: {f"/arm/{name}" for name in own} <= probe.topics(), "the robot's topics")
    ok(probe.call(RemoveObject, "remove_object", name="arm"))
    probe.wait_for_topics_to_go(lambda topic: topic.startswith("/arm/"))


# ---- what is published ----


def test_description_is_latched_and_complete(probe):
    spawn_arm(probe)
    with probe.subscribed(String, "arm/robot_description", LATCHED) as texts:
        probe.spin_until(lambda: texts, "the description")
    assert World().add_articulated_system(texts[0].data).get_movable_joint_names() == ARM_JOINTS


def test_joint_states_are_those_of_the_same_robot_simulated_here(probe):
    q0 = [0.3, -0.4, 0.5, 0.1, -0.2, 0.3]
    spawn(probe, coordinates=q0)
    world = World()
    reference = world.add_articulated_system(robot("arm"))
    reference.set_base_pos((20.0, 0.0, 0.0))
    reference.set_generalized_coordinate(q0)
    time_step = step(probe).sim_time
    world.set_time_step(time_step)
    with probe.subscribed(JointState, "arm/joint_states") as messages:
        done = step(probe, 99)
        probe.spin_until(lambda: messages and stamp(messages[-1]) == pytest.approx(done.sim_time), "joint_states")
    world.integrate(100)
    assert messages[-1].name == ARM_JOINTS
    q, u = reference.get_state()
    assert list(messages[-1].position) == pytest.approx(q.tolist(), abs=1e-9)
    assert list(messages[-1].velocity) == pytest.approx(u.tolist(), abs=1e-9)
    assert list(messages[-1].effort) == [0.0] * 6


def stamp(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def chain(transforms, frame):
    """Pose of a frame in the world: position and rotation matrix."""
    position, rotation = np.zeros(3), np.eye(3)
    while frame != "world":
        t = transforms[frame]
        q = t.transform.rotation
        x, y, z, w = q.x, q.y, q.z, q.w
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        v = t.transform.translation
        position, rotation = turn @ position + (v.x, v.y, v.z), turn @ rotation
        frame = t.header.frame_id
    return position, rotation


@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_tf_leads_to_every_link(probe, name):
    reference = World().add_articulated_system(robot(name))
    rng = np.random.default_rng(1)
    q = reference.get_generalized_coordinate()
    q[-6:] = rng.uniform(-1.0, 1.0, 6)
    if name == "quadruped":
        q[:7] = [1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5]
    reference.set_generalized_coordinate(q)
    spawn(probe, "robot", name, coordinates=q.tolist(), pose=Pose())
    with (
        probe.subscribed(TFMessage, "/tf_static", LATCHED) as fixed,
        probe.subscribed(TFMessage, "/tf", 100) as moving,
    ):
        wanted = {f"robot/{link}" for link in state(probe, "robot").children_names} | {"robot"}
        found = {}

        def complete():
            for message in [*fixed, *moving]:
                found.update({t.child_frame_id: t for t in message.transforms})
            return wanted <= found.keys()

        probe.spin_until(complete, "all frames")
    for frame in reference.get_frames():
        position, rotation = chain(found, f"robot/{frame.link}")
        assert position == pytest.approx(reference.get_frame_position(frame), abs=1e-9)
        assert rotation == pytest.approx(reference.get_frame_orientation(frame), abs=1e-9)


def test_markers_draw_the_visuals_where_the_links_are(probe):
    q = [0.7, -0.5, 0.9, 0.2, 0.3, -0.4]
    reference = World().add_articulated_system(robot("arm"))
    reference.set_generalized_coordinate(q)
    expected = []
    for index, body in enumerate(reference.get_kinematic_tree().bodies):
        position, rotation = reference.get_body_pose(index)
        expected += [(position + rotation @ np.asarray(v.position), v.color) for v in body.visuals if v.shape != "capsule"]
    assert expected
    with probe.subscribed(MarkerArray, "markers", LATCHED) as arrays:
        spawn(probe, coordinates=q, pose=Pose())

        def drawn():
            return [m for a in arrays[-1:] for m in a.markers if m.ns == "articulated_system" and m.action == Marker.ADD]

        probe.spin_until(lambda: arrays and drawn(), "markers of the robot")
        found = [(np.array([m.pose.position.x, m.pose.position.y, m.pose.position.z]), m.color) for m in drawn()]
        for position, color in expected:
            nearest = min(found, key=lambda item: float(np.linalg.norm(item[0] - position)))
            assert nearest[0] == pytest.approx(position, abs=1e-6)
            if color is not None:
                c = nearest[1]
                assert (c.r, c.g, c.b, c.a) == pytest.approx(color, abs=1e-6)
        ok(probe.call(RemoveObject, "remove_object", name="arm"))
        probe.spin_until(
            lambda: any(m.action == Marker.DELETE and m.ns == "articulated_system" for a in arrays for m in a.markers),
            "the deletion",
        )


def test_mesh_visuals_are_left_to_the_viewer(probe):
    mesh = resource("meshes/unit_sphere.obj")
    text = f"""<robot name="ball"><link name="ball"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="{mesh}" scale="0.1 0.2 0.3"/></geometry></visual></link></robot>"""
    with probe.subscribed(MarkerArray, "markers", LATCHED) as arrays:
        spawn(probe, "meshy", text=text)

        def meshes():
            return [m for a in arrays for m in a.markers if m.type == Marker.MESH_RESOURCE and m.action == Marker.ADD]

        probe.spin_until(meshes, "a mesh marker")
    assert meshes()[0].mesh_resource == mesh.absolute().as_uri()
    scale = meshes()[0].scale
    assert (scale.x, scale.y, scale.z) == (0.1, 0.2, 0.3)


# ---- state, with its joints ----


def test_joint_fields_come_and_go_with_the_flags(probe):
    spawn_arm(probe, coordinates=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    with (
        probe.subscribed(ObjectState, "arm/state") as singles,
        probe.subscribed(ObjectStateArray, "states") as arrays,
        probe.publisher(ObjectCmd, "arm/cmd") as command,
    ):
        probe.spin_until(lambda: singles and arrays, "states")
        assert singles[-1].joint_names == ARM_JOINTS
        assert (len(singles[-1].joint_positions), len(singles[-1].children_names)) == (0, 0)
        every = ObjectCmd(publish_joint_positions=ObjectCmd.ON, publish_children_names=ObjectCmd.ON)
        send_until(probe, command, every, lambda: len(singles[-1].joint_positions) == 6)
        in_array = next(s for s in arrays[-1].states if s.name == "arm")
        probe.spin_until(lambda: next(s for s in arrays[-1].states if s.name == "arm").children_names, "the array")
        in_array = next(s for s in arrays[-1].states if s.name == "arm")
        for message in (singles[-1], in_array):
            assert list(message.joint_positions) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
            assert message.children_names == state(probe).children_names
            assert len(message.joint_velocities) == len(message.joint_efforts) == 6
        none = ObjectCmd(publish_joint_names=ObjectCmd.OFF)
        send_until(probe, command, none, lambda: not singles[-1].joint_names)
        assert len(singles[-1].joint_positions) == 0


# ---- commands ----


def joint(probe, name, field="joint_positions"):
    return getattr(state(probe), field)[ARM_JOINTS.index(name)]


def test_joints_go_where_joint_cmd_says(probe):
    spawn_arm(probe)
    with probe.publisher(JointState, "arm/joint_cmd") as command:
        command.publish(JointState(name=["elbow", "wrist_2"], position=[0.5, -0.3]))
        command.publish(JointState(name=["shoulder_pan"], position=[0.2]))
        ok(probe.call(Play, "play"))
        message = JointState(name=["elbow", "wrist_2", "shoulder_pan"], position=[0.5, -0.3, 0.2])
        send_until(probe, command, message, lambda: abs(joint(probe, "elbow") - 0.5) < 0.05)
        send_until(probe, command, message, lambda: abs(joint(probe, "wrist_2") + 0.3) < 0.05)
        send_until(probe, command, message, lambda: abs(joint(probe, "shoulder_pan") - 0.2) < 0.02)


def test_command_types_mix(probe):
    """A cart pushed by a force moves as Newton says while its pole is held by position."""
    # The hinge of the file has no motor: give it one.
    text = resource("robots/cartpole.urdf").read_text().replace('effort="0"', 'effort="1e6"')
    spawn(probe, "cart", text=text, p_gains=[0.0, 1e4], d_gains=[0.0, 1e3])
    with probe.publisher(ObjectCmd, "cart/cmd") as command, probe.subscribed(ObjectState, "cart/state") as states:
        message = ObjectCmd(
            joint_names=["rail", "hinge"],
            joint_cmds=[2.4, 0.0],
            joint_cmds_types=[ObjectCmd.FORCE, ObjectCmd.POSITION],
            publish_joint_positions=ObjectCmd.ON,
        )
        send_until(probe, command, message, lambda: states and len(states[-1].joint_positions) == 2)
    before = state(probe, "cart").joint_velocities[0]
    first = step(probe).sim_time
    last = step(probe, 79).sim_time
    # 2.4 N on 1.2 kg, the pole carried along.
    gained = state(probe, "cart").joint_velocities[0] - before
    assert gained == pytest.approx(2.0 * (last - first) * 80 / 79, rel=1e-3)
    assert abs(state(probe, "cart").joint_positions[1]) < 1e-3


def test_a_wrench_pushes_the_base(probe):
    spawn(probe, "dog", "quadruped", pose=Pose(position=Point(x=30.0, z=50.0)))
    mass = state(probe, "dog").mass
    with probe.publisher(ObjectCmd, "dog/cmd") as command:
        push = ObjectCmd(wrench=Wrench(force=Vector3(z=9.81 * mass + 50.0)))
        with probe.subscribed(ObjectState, "dog/state") as states:
            command.publish(push)
            ok(probe.call(Play, "play"))
            send_until(probe, command, push, lambda: states and states[-1].wrench.force.z > 0.0)
            start = states[-1]
            send_until(probe, command, push, lambda: states[-1].sim_time > start.sim_time + 0.3)
            end = states[-1]
    # The base is pushed up, against gravity.
    assert end.twist.linear.z > start.twist.linear.z


def test_a_stale_joint_force_is_released_and_a_position_stays(probe):
    spawn_arm(probe)
    with probe.publisher(JointState, "arm/joint_cmd") as command:
        command.publish(JointState(name=["shoulder_pan"], effort=[20.0]))
        command.publish(JointState(name=["elbow"], position=[0.6]))
        ok(probe.call(Play, "play"))
        send_until(
            probe,
            command,
            JointState(name=["shoulder_pan"], effort=[20.0]),
            lambda: joint(probe, "shoulder_pan", "joint_velocities") > 0.05,
        )
        command.publish(JointState(name=["elbow"], position=[0.6]))
        # Nothing renews them: after half a second the pan holds where it is, the elbow stays at its target.
        probe.spin_until(
            lambda: abs(joint(probe, "shoulder_pan", "joint_velocities")) < 1e-3 and joint(probe, "elbow") > 0.55,
            "the arm to come to rest",
        )


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (JointState(name=["nobody"], position=[0.0]), "nobody"),
        (JointState(name=["elbow"], position=[0.0, 1.0]), "position has 2 numbers"),
        (JointState(name=["elbow"], position=[math.inf]), "finite"),
        (JointState(name=["elbow"]), "all empty"),
        (JointState(name=["elbow", "elbow"], position=[0.0, 1.0]), "twice"),
    ],
)
def test_a_wrong_joint_command_is_refused_with_a_reason(probe, shared_node, message, words):
    spawn_arm(probe, allow_renaming=True)
    before = list(state(probe).joint_positions)
    with probe.publisher(JointState, "arm/joint_cmd") as command:
        send_until(probe, command, message, lambda: words in shared_node.output)
    step(probe)
    assert list(state(probe).joint_positions) == pytest.approx(before, abs=1e-3)


def test_a_joint_without_gains_follows_no_position(probe, shared_node):
    spawn(probe, "limp")
    with probe.publisher(JointState, "limp/joint_cmd") as command:
        message = JointState(name=["elbow"], position=[0.0])
        send_until(probe, command, message, lambda: "has no position gain" in shared_node.output)


# ---- trajectories ----


def point(positions, seconds, velocities=()):
    whole = int(seconds)
    after = Duration(sec=whole, nanosec=round((seconds - whole) * 1e9))
    return JointTrajectoryPoint(positions=positions, velocities=list(velocities), time_from_start=after)


def test_a_trajectory_is_followed_in_simulation_time(probe):
    spawn_arm(probe)
    with probe.publisher(JointTrajectory, "arm/joint_trajectory") as command:
        command.publish(
            JointTrajectory(
                joint_names=["wrist_3", "shoulder_pan"],
                points=[point([0.2, 0.5], 0.5, [0.4, 1.0]), point([0.4, 1.0], 1.0, [0.0, 0.0])],
            )
        )
        # It begins with the step before which it arrives.
        time_step = step(probe).sim_time
        probe.spin_until(lambda: step(probe) and joint(probe, "shoulder_pan", "joint_velocities") > 1e-3, "its begin")
        step(probe, round(0.5 / time_step) - 1)
        assert joint(probe, "shoulder_pan") == pytest.approx(0.5, abs=0.05)
        assert joint(probe, "shoulder_pan", "joint_velocities") == pytest.approx(1.0, abs=0.15)
        step(probe, round(1.0 / time_step))
        assert joint(probe, "shoulder_pan") == pytest.approx(1.0, abs=0.02)
        assert joint(probe, "wrist_3") == pytest.approx(0.4, abs=0.02)
        assert abs(joint(probe, "elbow")) < 0.2, "joints that it does not name stay"


# ---- state, reset, snapshots ----


def test_joints_are_set_at_once(probe):
    spawn_arm(probe)
    names = ["elbow", "wrist_1"]
    fields = {"joint_names": names, "joint_positions": [0.3, 0.4], "joint_velocities": [0.0, 1.5]}
    ok(probe.call(SetObjectState, "set_object_state", name="arm", set_pose=False, set_twist=False, **fields))
    assert (joint(probe, "elbow"), joint(probe, "wrist_1")) == (0.3, 0.4)
    assert joint(probe, "wrist_1", "joint_velocities") == 1.5
    turned = Pose(position=Point(x=1.0, y=2.0, z=3.0), orientation=Quaternion(z=1.0, w=0.0))
    ok(probe.call(SetObjectState, "set_object_state", name="arm", pose=turned))
    assert state(probe).pose == turned
    moving = Twist(linear=Vector3(x=1.0))
    answer = probe.call(SetObjectState, "set_object_state", name="arm", set_pose=False, twist=moving)
    assert (answer.result, "fixed base" in answer.message) == (ResultCode.UNSUPPORTED, True)
    answer = probe.call(SetObjectState, "set_object_state", name="arm", joint_names=["nobody"], joint_positions=[0.0])
    assert answer.result == ResultCode.INVALID_VALUE
    assert state(probe).pose == turned


def test_reset_gives_coordinates_and_targets_back(probe):
    q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    spawn_arm(probe, coordinates=q)
    with probe.publisher(JointState, "arm/joint_cmd") as command:
        command.publish(JointState(name=["elbow"], position=[-1.0]))
        probe.spin_until(lambda: step(probe, 20) and joint(probe, "elbow") < 0.0, "the elbow to follow")
    ok(probe.call(Reset, "reset", state=True))
    assert list(state(probe).joint_positions) == q
    assert not any(state(probe).joint_velocities)
    step(probe, 200)
    assert joint(probe, "elbow") == pytest.approx(0.3, abs=0.1)


def test_a_snapshot_brings_a_robot_back_to_the_bit(probe):
    spawn(probe, coordinates=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    step(probe, 10)
    ok(probe.call(SaveSnapshot, "save_snapshot", name="here"))
    step(probe, 50)
    after = list(state(probe).joint_positions)
    ok(probe.call(RemoveObject, "remove_object", name="arm"))
    ok(probe.call(RestoreSnapshot, "restore_snapshot", name="here"))
    step(probe, 50)
    assert list(state(probe).joint_positions) == after


def test_the_quadruped_stands_on_its_gains(probe):
    q = [30.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0, *STAND]
    spawn(probe, "dog", "quadruped", coordinates=q, p_gains=[100.0], d_gains=[2.0])
    time_step = step(probe).sim_time
    step(probe, round(1.5 / time_step))
    before = state(probe, "dog").pose
    step(probe, round(1.0 / time_step))
    after = state(probe, "dog").pose
    assert after.position.z > 0.3
    assert after.orientation.w == pytest.approx(1.0, abs=0.02)
    assert abs(after.position.z - before.position.z) < 0.005


def test_a_floating_base_falls_and_a_fixed_one_does_not(probe):
    text = resource("robots/arm.urdf").read_text()
    free = World().add_articulated_system(text, options=ArticulatedSystemOption(base="floating"))
    assert free.get_generalized_coordinate_dim() == 13
    up = Pose(position=Point(x=20.0, z=30.0))
    spawn(probe, "falling", base="floating", pose=up)
    spawn(probe, "standing", base="fixed", pose=up, collision_mask=0)
    done = step(probe, 50)
    assert state(probe, "falling").pose.position.z == pytest.approx(30.0 - 0.5 * 9.81 * done.sim_time**2, abs=0.02)
    assert state(probe, "standing").pose.position.z == 30.0

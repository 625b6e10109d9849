"""Links with topics of their own: states, wrenches, watchdog, and no trace after removal."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Vector3, Wrench
from robot_calls import STAND, robot, send_until, spawn, spawn_arm, step
from service_calls import ok

from raisim_ros.engine.world.world import World
from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.srv import CloneObject, ListObjects, LoadWorld, RemoveObject, Reset

pytestmark = pytest.mark.usefixtures("fresh_world")

DOG = [20.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0, *STAND]


def newest(probe, messages, count=1):
    """The state after some steps."""
    sim_step = step(probe, count).sim_step
    probe.spin_until(lambda: messages and messages[-1].sim_step == sim_step, "the state of the link")
    return messages[-1]


def vector(message):
    return np.array([message.x, message.y, message.z])


def assert_moves_like(message, reference, body):
    pose, twist = message.pose, message.twist
    assert vector(pose.position) == pytest.approx(reference.get_position(body), abs=1e-9)
    xyzw = np.array([pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w])
    wxyz = reference.get_quaternion(body)
    assert abs(xyzw @ wxyz[[1, 2, 3, 0]]) == pytest.approx(1.0, abs=1e-12)
    assert vector(twist.linear) == pytest.approx(reference.get_linear_velocity(body), abs=1e-9)
    assert vector(twist.angular) == pytest.approx(reference.get_angular_velocity(body), abs=1e-9)


def test_every_link_but_the_base_has_a_pair_of_topics_on_request(probe):
    spawn(probe, "dog", "quadruped", coordinates=DOG, publish_links=True)
    spawn(probe, "plain", "quadruped", coordinates=DOG)
    bodies = World().add_articulated_system(robot("quadruped")).get_body_names()
    wanted = {f"/dog/{name}/{topic}" for name in bodies[1:] for topic in ("state", "cmd")}
    probe.spin_until(lambda: wanted <= probe.topics(), "the topics of the links")
    found = probe.topics()
    assert {topic for topic in found if topic.startswith("/dog/") and topic.count("/") == 3} == wanted
    assert not [topic for topic in found if topic.startswith("/plain/") and topic.count("/") == 3]
    ok(probe.call(RemoveObject, "remove_object", name="dog"))
    probe.wait_for_topics_to_go(lambda topic: topic.startswith("/dog/"))
    assert "plain" in ok(probe.call(ListObjects, "list_objects")).names


def test_the_state_of_a_link_is_that_of_the_same_robot_simulated_here(probe):
    spawn(probe, "dog", "quadruped", coordinates=DOG, publish_links=True)
    world = World()
    reference = world.add_articulated_system(robot("quadruped"))
    reference.set_generalized_coordinate(DOG)
    names = reference.get_body_names()
    body = names.index("LF_THIGH")
    with probe.subscribed(ObjectState, "dog/LF_THIGH/state") as messages:
        message = newest(probe, messages, 4)
    world.set_time_step(message.sim_time / 4)
    world.integrate(4)
    assert (message.name, message.type, message.body_type) == ("dog/LF_THIGH", ObjectState.LINK, "dynamic")
    assert message.header.frame_id == "world"
    assert message.mass == pytest.approx(reference.get_mass(body))
    assert_moves_like(message, reference, body)
    assert message.joint_names == ["LF_KFE"], "the joints that it carries"
    assert message.children_names == []
    assert list(message.joint_positions) == []


def test_flags_of_a_command_show_what_a_link_carries(probe):
    spawn(probe, "dog", "quadruped", coordinates=DOG, publish_links=True)
    reference = World().add_articulated_system(robot("quadruped"))
    tree = reference.get_kinematic_tree()
    hip, thigh, shank = (tree.bodies[reference.get_body_idx(f"LF_{part}")] for part in ("HIP", "THIGH", "SHANK"))
    command = ObjectCmd(publish_children_names=1, publish_joint_positions=1)
    with probe.subscribed(ObjectState, "dog/LF_HIP/state") as messages:
        with probe.publisher(ObjectCmd, "dog/LF_HIP/cmd") as publisher:
            probe.deliver(publisher, command)  # at once: in every step that it takes to arrive the robot falls on
            send_until(probe, publisher, command, lambda: newest(probe, messages).children_names)
        message = messages[-1]
    assert message.children_names == [*hip.links[1:], *thigh.links, *shank.links]
    assert message.joint_names == ["LF_HFE", "LF_KFE"]
    assert list(message.joint_positions) == pytest.approx(STAND[1:3], abs=0.1)
    assert len(message.joint_velocities) == len(message.joint_efforts) == 2


def test_a_wrench_acts_on_the_link_until_the_watchdog_drops_it(probe):
    spawn_arm(probe, publish_links=True)
    world = World()
    reference = world.add_articulated_system(robot("arm"))
    reference.set_base_pos((20.0, 0.0, 0.0))
    reference.set_pd_gains([400.0] * 6, [40.0] * 6)
    body = reference.get_body_idx("forearm")
    force, torque = (30.0, -20.0, 10.0), (1.0, 2.0, -3.0)
    wrench = Wrench(force=Vector3(x=30.0, y=-20.0, z=10.0), torque=Vector3(x=1.0, y=2.0, z=-3.0))
    with probe.subscribed(ObjectState, "arm/forearm/state") as messages:
        first = newest(probe, messages)
        time_step = first.sim_time
        with probe.publisher(ObjectCmd, "arm/forearm/cmd") as publisher:
            send_until(probe, publisher, ObjectCmd(wrench=wrench), lambda: newest(probe, messages).wrench.force.x)
        acted = messages[-1]
        assert (acted.wrench, first.wrench) == (wrench, Wrench())
        world.set_time_step(time_step)
        world.integrate(acted.sim_step - 1)
        reference.set_command_wrench(force, torque, body)
        world.integrate()
        assert_moves_like(acted, reference, body)
        later = newest(probe, messages, 10)
        world.integrate(10)
        assert_moves_like(later, reference, body)
        # Its last sign came with step `acted`, or a little later: the command may have been sent twice.
        probe.spin_until(lambda: newest(probe, messages, 10).wrench == Wrench(), "the watchdog")
        assert messages[-1].sim_time >= acted.sim_time + 0.5 - 1e-9


def test_a_reset_ends_the_wrench(probe):
    spawn_arm(probe, publish_links=True)
    with probe.subscribed(ObjectState, "arm/forearm/state") as messages:
        with probe.publisher(ObjectCmd, "arm/forearm/cmd") as publisher:
            command = ObjectCmd(wrench=Wrench(force=Vector3(x=30.0)))
            send_until(probe, publisher, command, lambda: newest(probe, messages).wrench.force.x)
        ok(probe.call(Reset, "reset", state=True))
        assert newest(probe, messages).wrench == Wrench()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (ObjectCmd(enable_position_controller=True), "a link takes wrenches"),
        (ObjectCmd(joint_names=["elbow"], joint_cmds=[1.0]), "through arm/cmd"),
        (ObjectCmd(wrench=Wrench(force=Vector3(x=float("nan")))), "finite"),
        (ObjectCmd(publish_joint_names=7), "publish_joint_names is 7"),
    ],
)
def test_commands_that_make_no_sense_are_refused(probe, shared_node, command, reason):
    spawn_arm(probe, publish_links=True)
    told = shared_node.output.count(reason)
    with probe.publisher(ObjectCmd, "arm/forearm/cmd") as publisher:
        send_until(probe, publisher, command, lambda: shared_node.output.count(reason) > told)
    assert any("arm/forearm/cmd refused" in line for line in shared_node.output.splitlines() if reason in line)


def test_a_copy_has_links_of_its_own(probe):
    spawn_arm(probe, publish_links=True)
    ok(probe.call(CloneObject, "clone_object", source="arm", name="twin", keep_pose=True))
    with probe.subscribed(ObjectState, "twin/forearm/state") as messages:
        assert newest(probe, messages).name == "twin/forearm"


def test_a_world_file_can_ask_for_them(probe, tmp_path):
    file = tmp_path / "world.xml"
    file.write_text(
        f"""<raisim version="1.0"><objects>
        <articulated_system name="arm" urdf_path="{robot("arm")}" publish_links="true" publish_children_names="true"/>
        </objects></raisim>"""
    )
    ok(probe.call(LoadWorld, "load_world_file", file=str(file)))
    with probe.subscribed(ObjectState, "arm/wrist_1_link/state") as messages:
        message = newest(probe, messages)
    assert message.children_names
    ok(probe.call(LoadWorld, "load_world_file"))
    probe.wait_for_topics_to_go(lambda topic: topic.startswith("/arm/"))

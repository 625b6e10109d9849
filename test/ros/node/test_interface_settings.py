"""What descriptions say about topics is done: flags, rates and frames from world files, kept by saved worlds."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose
from service_calls import load_text, ok
from tf2_msgs.msg import TFMessage

from raisim_ros import InterfaceSettings, World
from raisim_ros.description.resources import resource
from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.ros import qos
from raisim_ros.srv import CloneObject, GetObjectInfo, SaveWorld, SpawnObject, Step

WORLD = f"""<raisim><objects>
<sphere name="slow" mass="2" min_rate_hz="10" max_rate_hz="100" publish_tf="false">
  <dim radius="0.1"/><state pos="0 0 50"/><controller linear="200 0 40" angular="1 0 0.1"/></sphere>
<sphere name="usual" mass="1"><dim radius="0.1"/><state pos="2 0 50"/></sphere>
<articulated_system name="talkative" urdf_path="{resource("robots/cartpole.urdf")}"
  publish_children_names="true" publish_joint_positions="true"/>
<articulated_system name="silent" urdf_path="{resource("robots/cartpole.urdf")}" publish_joint_names="false">
  <state base_pos="0 5 0"/></articulated_system>
</objects></raisim>"""


@pytest.fixture(autouse=True)
def loaded(shared_node, probe, tmp_path):
    load_text(probe, tmp_path, WORLD)


def step(probe, steps):
    return ok(probe.call(Step, "step", steps=steps)).sim_step


def last_state(probe, name):
    """The newest state on the topic of an object."""
    with probe.subscribed(ObjectState, f"{name}/state") as states:
        now = step(probe, 1)
        probe.spin_until(lambda: states and states[-1].sim_step == now, f"the state of {name}")
    return states[-1]


def test_rates_are_those_of_the_description(probe):
    with (
        probe.subscribed(ObjectState, "slow/state", 1000) as slow,
        probe.subscribed(ObjectState, "usual/state", 1000) as usual,
    ):
        begin = step(probe, 1)
        end = step(probe, 100)
        probe.spin_until(lambda: slow and usual and slow[-1].sim_step == usual[-1].sim_step == end, "the last states")
        between = range(begin + 1, end)
        # 10 Hz and the node's 50 Hz at a time step of 5 ms.
        assert {s.sim_step for s in slow} & set(between) == {k for k in between if k % 20 == 0}
        assert {s.sim_step for s in usual} & set(between) == {k for k in between if k % 4 == 0}


def test_a_commanded_object_has_its_own_upper_rate(probe):
    with probe.publisher(ObjectCmd, "slow/cmd") as commands, probe.subscribed(ObjectState, "slow/state", 1000) as slow:
        commands.publish(ObjectCmd(enable_position_controller=True, pose=Pose(position=Point(x=0.5, z=50.0))))
        probe.spin_until(lambda: step(probe, 1) and slow and slow[-1].wrench.force.x > 0.0, "the controller to act")
        begin = slow[-1].sim_step
        end = step(probe, 40)
        probe.spin_until(lambda: slow[-1].sim_step == end, "the last state")
        between = range(begin + 1, end)
        assert {s.sim_step for s in slow} & set(between) == {k for k in between if k % 2 == 0}  # 100 Hz


def test_the_gains_of_the_description_drive_it(probe):
    """A plain PD: it comes to rest where the spring holds the weight."""
    with probe.publisher(ObjectCmd, "slow/cmd") as commands:
        for _ in range(60):
            commands.publish(ObjectCmd(enable_position_controller=True, pose=Pose(position=Point(z=50.0))))
            step(probe, 20)
    state = ok(probe.call(GetObjectInfo, "get_object_info", name="slow")).state
    assert state.pose.position.z == pytest.approx(50.0 - 2 * 9.81 / 200.0, abs=1e-3)


def test_a_pose_for_a_fixed_base_is_refused(shared_node, probe):
    with probe.publisher(ObjectCmd, "talkative/cmd") as commands:
        commands.publish(ObjectCmd(enable_position_controller=True))
        probe.spin_until(
            lambda: step(probe, 1) and "talkative/cmd refused: a robot with a fixed base" in shared_node.output, "the line"
        )


def test_fields_are_those_of_the_description_and_of_the_flags_of_a_command(probe):
    talkative, silent = last_state(probe, "talkative"), last_state(probe, "silent")
    assert talkative.children_names
    assert len(talkative.joint_names) == len(talkative.joint_positions) == len(talkative.joint_velocities) == 2
    assert (silent.children_names, silent.joint_names, list(silent.joint_positions)) == ([], [], [])
    with probe.publisher(ObjectCmd, "silent/cmd") as commands:
        commands.publish(ObjectCmd(publish_joint_names=ObjectCmd.ON, publish_children_names=ObjectCmd.ON))
        probe.spin_until(lambda: len(last_state(probe, "silent").joint_names) == 2, "the names of the joints")
        assert last_state(probe, "silent").children_names == talkative.children_names
        commands.publish(ObjectCmd())
        probe.spin_until(lambda: not last_state(probe, "silent").joint_names, "what the description says")


def test_frames_can_be_left_out(probe):
    with probe.subscribed(TFMessage, "/tf", qos.TF) as frames:

        def framed():
            return {transform.child_frame_id for message in frames for transform in message.transforms}

        probe.spin_until(lambda: step(probe, 10) and "usual" in framed(), "the frames")
    assert "slow" not in framed()


def test_a_saved_world_keeps_all_of_it_also_of_spawned_and_copied_objects(probe, tmp_path):
    fields = {"shape": "sphere", "radius": 0.1, "pose": Pose(position=Point(x=9.0))}
    ok(probe.call(SpawnObject, "spawn_object", name="new", publish_tf="none", min_rate_hz=5.0, max_rate_hz=25.0, **fields))
    ok(probe.call(CloneObject, "clone_object", source="slow", name="copy"))
    file = tmp_path / "saved.xml"
    ok(probe.call(SaveWorld, "save_world", file=str(file)))
    saved = World(file)
    slow = InterfaceSettings((200, 0, 40), (1, 0, 0.1), publish_tf="none", min_rate_hz=10.0, max_rate_hz=100.0)
    assert saved.get_object("slow").get_interface() == slow
    assert saved.get_object("copy").get_interface() == slow
    assert saved.get_object("new").get_interface() == InterfaceSettings(
        publish_tf="none", min_rate_hz=5.0, max_rate_hz=25.0
    )
    assert saved.get_object("talkative").get_interface() == InterfaceSettings(
        publish_children_names=True, publish_joint_positions=True
    )
    assert saved.get_object("silent").get_interface() == InterfaceSettings(publish_joint_names=False)

"""A node records by parameter and by service; what was recorded from its beginning is replayed to the same bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Point, Pose, Twist, Vector3, Wrench
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.duration import Duration
from robot_calls import ARM_JOINTS, robot
from sensor_msgs.msg import JointState
from service_calls import ok
from simulation_interfaces.msg import Resource, Result
from simulation_interfaces.msg import SpawnEntity as EntityToSpawn
from simulation_interfaces.srv import SpawnEntities, SpawnEntity
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros import Recording, srv
from raisim_ros.description.resources import resource
from raisim_ros.msg import ObjectCmd, Pull, ResultCode, WireCmd, WorldCmd

SEED = 20261117


def at(rng, z=2.0):
    return Pose(position=Point(x=rng.uniform(-1.0, 1.0), y=rng.uniform(-1.0, 1.0), z=z + rng.random()))


def point(rng, seconds):
    goal = [rng.uniform(-1.0, 1.0) for _ in ARM_JOINTS]
    return JointTrajectoryPoint(positions=goal, time_from_start=Duration(seconds=seconds).to_msg())


class Client:
    """Sends everything that a node takes, at whatever moment it arrives."""

    def __init__(self, probe, seed):
        self.probe = probe
        self.rng = random.Random(seed)

    def begin(self):
        rng, call = self.rng, self.probe.call
        ok(call(srv.SpawnArticulatedSystem, "spawn_articulated_system", name="arm", file=robot("arm"),
                pose=Pose(position=Point(x=20.0)), p_gains=[400.0], d_gains=[40.0]))
        ok(call(srv.SpawnObject, "spawn_object", name="anchor", shape="sphere", radius=0.1, mass=1.0, body_type="static",
                pose=at(rng, 6.0)))
        ok(call(srv.SpawnObject, "spawn_object", name="load", shape="box", size=[0.3] * 3, mass=2.0, pose=at(rng, 4.0)))
        ok(call(srv.SpawnWire, "spawn_wire", name="rope", type="stiff", object1="anchor", object2="load", length=1.5))
        self.action = self.probe.action_client(FollowJointTrajectory, "arm/follow_joint_trajectory")
        self.probe.spin_until(self.action.server_is_ready, "the action")

    def commands(self):
        rng, publisher = self.rng, self.probe.publisher
        with publisher(ObjectCmd, "load/cmd") as wrench, publisher(JointState, "arm/joint_cmd") as joints, \
                publisher(JointTrajectory, "arm/joint_trajectory") as path, publisher(WireCmd, "rope/cmd") as rope, \
                publisher(Pull, "world/pull") as hand:
            for _ in range(20):
                force = Vector3(x=rng.uniform(-20.0, 20.0), y=rng.uniform(-20.0, 20.0))
                wrench.publish(ObjectCmd(wrench=Wrench(force=force)))
                names = rng.sample(ARM_JOINTS, 3)
                joints.publish(JointState(name=names, position=[rng.uniform(-1.0, 1.0) for _ in names]))
                hand.publish(Pull(name="ball_0", grip=Point(x=0.05, z=2.0), target=Point(x=rng.uniform(-2.0, 2.0), z=3.0)))
                hand.publish(Pull(name="arm", link="forearm", grip=Point(x=20.0, z=1.0), target=Point(x=rng.random(), z=1.0)))
                self.wait(0.01)
            path.publish(JointTrajectory(joint_names=ARM_JOINTS, points=[point(rng, 0.1), point(rng, 0.2)]))
            rope.publish(WireCmd(set_length=True, length=1.2))
            self.wait(0.1)

    def goal(self):
        rng = self.rng
        path = JointTrajectory(joint_names=ARM_JOINTS, points=[point(rng, 0.2), point(rng, 5.0)])
        future = self.action.send_goal_async(FollowJointTrajectory.Goal(trajectory=path))
        self.probe.spin_until(future.done, "the goal to be accepted")
        self.wait(0.2)
        cancelled = future.result().cancel_goal_async()
        self.probe.spin_until(cancelled.done, "the goal to be cancelled")

    def requests(self):
        rng, call = self.rng, self.probe.call
        for number in range(5):
            ok(call(srv.SpawnObject, "spawn_object", name=f"pearl_{number}", shape="sphere", radius=0.2, mass=1.0, pose=at(rng)))
            self.wait(0.02)
        ok(call(srv.CloneObject, "clone_object", source="pearl_1", name="twin", keep_pose=False, pose=at(rng)))
        ok(call(srv.RemoveObject, "remove_object", name="pearl_0"))
        ok(call(srv.SaveSnapshot, "save_snapshot", name="here"))
        ok(call(srv.SetWorldSettings, "set_world_settings", gravity=[0.5, 0.0, -5.0]))
        self.spawn_entities()
        self.wait(0.1)
        value = ParameterValue(type=8, double_array_value=[0.0, 0.0, -9.81])
        changes = [Parameter(name="gravity", value=value)]
        assert call(SetParametersAtomically, "world_node/set_parameters_atomically", parameters=changes).result.successful
        self.wait(0.1)
        ok(call(srv.RestoreSnapshot, "restore_snapshot", name="here", restore_time=False))
        refused = call(srv.SpawnObject, "spawn_object", name="load", shape="sphere", radius=0.1, mass=1.0)
        assert refused.result == ResultCode.NAME_TAKEN
        ok(call(srv.Pause, "pause"))
        ok(call(srv.Step, "step", steps=7))
        ok(call(srv.SetObjectState, "set_object_state", name="load", set_twist=True, twist=Twist(linear=Vector3(z=1.0))))
        ok(call(srv.Play, "play"))
        with self.probe.publisher(WorldCmd, "world/cmd") as world:
            world.publish(WorldCmd(real_time_factor=2.0))
            self.wait(0.1)

    def spawn_entities(self):
        """One alone, then three by one request, of which the first is long work."""
        ball = '<sphere mass="1"><dim radius="0.1"/></sphere>'
        mesh = f'<mesh mass="1" file_name="{resource("meshes/unit_sphere.obj")}" scale="0.2"/>'
        entity = SpawnEntity.Request()
        fields = {"entity_resource": Resource(resource_string=ball)} if hasattr(entity, "entity_resource") else {"resource_string": ball}
        entity.initial_pose.pose = at(self.rng)
        answer = self.probe.call(SpawnEntity, "spawn_entity", name="entity", initial_pose=entity.initial_pose, **fields)
        assert answer.result.result == Result.RESULT_OK, answer.result.error_message
        wanted = []
        for number, text in enumerate((mesh, ball, ball)):
            one = EntityToSpawn(name=f"entity_{number}", entity_resource=Resource(resource_string=text))
            one.initial_pose.pose = at(self.rng, 3.0 + number)
            wanted.append(one)
        answer = self.probe.call(SpawnEntities, "spawn_entities", spawn_requests=wanted)
        assert answer.result.result == Result.RESULT_OK, answer

    def reset(self):
        call = self.probe.call
        ok(call(srv.Reset, "reset", state=True, spawned=False, time=True))
        self.wait(0.1)

    def wait(self, seconds):
        end = self.probe.node.get_clock().now().nanoseconds + int(1e9 * seconds)
        self.probe.spin_until(lambda: self.probe.node.get_clock().now().nanoseconds >= end, "time to pass")



def frames(file):
    """All that was recorded, and when."""
    recording = Recording(file)
    names = ("poses", "twists", "wrenches", "coordinates", "velocities", "efforts")
    return recording, [[recording.array(name, frame).tobytes() for name in names] for frame in range(len(recording))]


def test_a_run_with_every_kind_of_input_is_replayed_to_the_same_bits(start_node, probe, tmp_path):
    first, second = tmp_path / "first.raisim", tmp_path / "second.raisim"
    node = start_node(record=first, record_rate_hz=100.0)
    client = Client(probe, SEED)
    client.begin()
    client.commands()
    client.requests()
    client.goal()
    client.reset()
    client.commands()
    assert node.interrupt()[0] == 0, node.output
    again = start_node(world="''", replay=first, record=second, record_rate_hz=100.0, real_time_factor=0.0)
    again.wait_for_output("replay is over", 60.0)
    assert "equal, bit by bit" in again.output, again.output
    assert again.interrupt()[0] == 0, again.output
    recorded, there = frames(first)
    replayed, here = frames(second)
    count = min(len(there), len(here))
    assert count >= len(there) - 2 > 50
    assert np.array_equal(recorded.times[:count], replayed.times[:count])
    assert there[:count] == here[:count]
    for frame in np.random.default_rng(SEED).choice(count, 12):  # and any moment of it can be gone on from
        branch = recorded.branch(frame=int(frame))
        exact = max(k for k in range(frame + 1) if recorded.times[k] == branch.get_world_time())
        assert exact > frame - 20
        states, robots = branch.read_states(), branch.read_articulations()
        assert np.array_equal(recorded.array("poses", exact), np.vstack((states.poses, robots.link_poses)))
        assert np.array_equal(recorded.array("velocities", exact), robots.velocities)
        branch.integrate(5)


def test_a_recording_is_started_and_stopped_by_services(start_node, probe, tmp_path):
    node = start_node()
    file = tmp_path / "run.raisim"
    ok(probe.call(srv.StartRecording, "start_recording", file=str(file), rate_hz=50.0))
    again = probe.call(srv.StartRecording, "start_recording", file=str(tmp_path / "other.raisim"))
    assert again.result == ResultCode.WRONG_STATE
    assert str(file) in again.message
    ok(probe.call(srv.SpawnObject, "spawn_object", name="later", shape="sphere", radius=0.1, mass=1.0))
    Client(probe, SEED).wait(0.5)
    stopped = ok(probe.call(srv.StopRecording, "stop_recording"))
    assert stopped.file == str(file)
    assert stopped.duration > 0.2
    recording = Recording(file)
    assert recording.times[-1] - recording.times[0] == pytest.approx(stopped.duration, abs=0.1)
    assert recording.epoch_of(len(recording) - 1) > 0
    assert probe.call(srv.StopRecording, "stop_recording").result == ResultCode.WRONG_STATE
    for fields, code in (
        ({"file": str(file)}, ResultCode.WRONG_STATE),
        ({"file": ""}, ResultCode.INVALID_VALUE),
        ({"file": "/etc/run.raisim"}, ResultCode.MISSING_FILE),
        ({"file": str(tmp_path / "no" / "run.raisim")}, ResultCode.MISSING_FILE),
        ({"file": str(tmp_path)}, ResultCode.INVALID_VALUE),
        ({"file": str(tmp_path / "x.raisim"), "rate_hz": 0.0}, ResultCode.INVALID_VALUE),
        ({"file": str(tmp_path / "x.raisim"), "rate_hz": float("nan")}, ResultCode.INVALID_VALUE),
    ):
        assert probe.call(srv.StartRecording, "start_recording", **fields).result == code, fields
    link = tmp_path / "link.raisim"
    link.symlink_to(file)
    assert probe.call(srv.StartRecording, "start_recording", file=str(link), overwrite=True).result == ResultCode.INVALID_VALUE
    assert not (tmp_path / "x.raisim").exists()
    assert len(Recording(file)) == len(recording)
    node.end()
    replay = start_node(world="''", replay=file)
    assert replay.wait_for_exit() == 2
    assert "in the middle of a run" in replay.output


@pytest.mark.parametrize("content", [b"", b"RAISIM01", b"<raisim/>"], ids=["empty", "no chunks", "a world"])
def test_what_is_no_recording_of_a_node_is_not_replayed(start_node, tmp_path, content):
    file = tmp_path / "run.raisim"
    file.write_bytes(content)
    node = start_node(world="''", replay=file)
    assert node.wait_for_exit() == 2
    assert str(file) in node.output


def test_a_replay_has_its_own_world(start_node, tmp_path):
    file = tmp_path / "run.raisim"
    node = start_node(replay=file)
    assert node.wait_for_exit() == 2
    assert str(file) in node.output

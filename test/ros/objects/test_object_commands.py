"""Commands to objects: wrench, kinematic pose and velocity, watchdog, publishing rates, refusals."""

import math

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Twist, Vector3, Wrench

from raisim_ros.msg import ObjectCmd, ObjectState, ResultCode
from raisim_ros.srv import GetObjectInfo, SpawnObject, Step

pytestmark = pytest.mark.usefixtures("fresh_world")

MASS, DT = 2.0, 0.005
START = Pose(position=Point(x=50.0, y=0.0, z=1000.0))
UP = Wrench(force=Vector3(x=3.0, y=0.0, z=9.81 * MASS), torque=Vector3(x=0.0, y=0.0, z=0.02))


def spawn(probe, name, body_type="dynamic", **fields):
    response = probe.call(
        SpawnObject,
        "spawn_object",
        name=name,
        shape="sphere",
        radius=0.1,
        mass=MASS,
        pose=START,
        body_type=body_type,
        **fields,
    )
    assert response.result == ResultCode.OK, response.message


def step(probe, steps):
    response = probe.call(Step, "step", steps=steps)
    assert response.result == ResultCode.OK, response.message
    return response.sim_time


def state_of(probe, name):
    return probe.call(GetObjectInfo, "get_object_info", name=name).state


def test_wrench_acts_at_the_centre_of_mass_every_step(probe):
    spawn(probe, "pushed")
    with probe.publisher(ObjectCmd, "pushed/cmd") as commands:
        commands.publish(ObjectCmd(wrench=UP))
        # The command is taken between steps; the first state that shows it tells when it began.
        probe.spin_until(lambda: step(probe, 1) and state_of(probe, "pushed").wrench == UP, "the wrench to act")
        begin = state_of(probe, "pushed")
        elapsed = step(probe, 40) - begin.sim_time
        end = state_of(probe, "pushed")
    assert elapsed == pytest.approx(40 * DT, abs=1e-12)
    assert end.wrench == UP
    assert end.twist.linear.x - begin.twist.linear.x == pytest.approx(UP.force.x / MASS * elapsed, abs=1e-9)
    assert end.twist.linear.z == pytest.approx(begin.twist.linear.z, abs=1e-9)
    spin = UP.torque.z / (0.4 * MASS * 0.1**2) * elapsed
    assert end.twist.angular.z - begin.twist.angular.z == pytest.approx(spin, rel=1e-6)


def test_watchdog_drops_a_stale_wrench_after_half_a_second(probe):
    spawn(probe, "pushed")
    with probe.publisher(ObjectCmd, "pushed/cmd") as commands, probe.subscribed(ObjectState, "pushed/state") as states:
        commands.publish(ObjectCmd(wrench=UP))
        probe.spin_until(lambda: step(probe, 1) and state_of(probe, "pushed").wrench == UP, "the wrench to act")
        begin = state_of(probe, "pushed").sim_step - 1
        step(probe, 200)
        probe.spin_until(lambda: states[-1].sim_step == begin + 201, "the last state")
        pushed = [state.sim_step for state in states if state.wrench == UP]
        assert max(pushed) == begin + 100
        assert state_of(probe, "pushed").wrench == Wrench()


def test_a_commanded_object_is_published_every_step_others_at_the_lower_rate(probe):
    spawn(probe, "pushed")
    spawn(probe, "idle")
    with (
        probe.publisher(ObjectCmd, "pushed/cmd") as commands,
        probe.subscribed(ObjectState, "pushed/state", 1000) as pushed,
        probe.subscribed(ObjectState, "idle/state", 1000) as idle,
    ):
        commands.publish(ObjectCmd(wrench=UP))
        probe.spin_until(lambda: step(probe, 1) and state_of(probe, "pushed").wrench == UP, "the wrench to act")
        begin = state_of(probe, "pushed").sim_step
        step(probe, 80)
        end = begin + 80
        probe.spin_until(lambda: pushed[-1].sim_step == idle[-1].sim_step == end, "the last states")
        steps = {state.sim_step for state in pushed if begin < state.sim_step <= end}
        assert steps == set(range(begin + 1, end + 1))
        # 50 Hz at a time step of 5 ms: every fourth step; and the last, at which the step request ended.
        steps = {state.sim_step for state in idle if begin < state.sim_step <= end}
        assert steps == {step for step in range(begin + 1, end + 1) if step % 4 == 0} | {end}


def test_pose_moves_a_kinematic_object_and_its_twist_carries_it_on(probe):
    spawn(probe, "mover", body_type="kinematic")
    target = Pose(position=Point(x=60.0, y=1.0, z=2.0))
    twist = Twist(linear=Vector3(x=0.5, y=0.0, z=0.0))
    with probe.publisher(ObjectCmd, "mover/cmd") as commands:
        commands.publish(ObjectCmd(enable_position_controller=True, pose=target, twist=twist))
        probe.spin_until(lambda: state_of(probe, "mover").pose == target, "the object to move")
        step(probe, 10)
        state = state_of(probe, "mover")
        assert state.pose.position.x == pytest.approx(60.0 + 0.5 * 10 * DT, abs=1e-12)
        assert state.body_type == "kinematic"
        # A stale command lets it stop.
        step(probe, 200)
        assert state_of(probe, "mover").twist == Twist()


def test_a_controller_drives_a_dynamic_object_to_a_pose_until_it_is_released(probe):
    spawn(probe, "driven")
    target = Pose(position=Point(x=50.5, y=-0.3, z=1000.2))
    command = ObjectCmd(enable_position_controller=True, pose=target)
    with probe.publisher(ObjectCmd, "driven/cmd") as commands:
        for _ in range(40):
            commands.publish(command)
            step(probe, 10)
        state = state_of(probe, "driven")
        for axis in "xyz":
            assert getattr(state.pose.position, axis) == pytest.approx(getattr(target.position, axis), abs=0.01)
        assert state.wrench.force.z == pytest.approx(9.81 * MASS, abs=0.5)
        step(probe, 120)  # more than the half second after which a command is stale
        before = state_of(probe, "driven")
        step(probe, 20)
        after = state_of(probe, "driven")
    assert after.wrench == Wrench()
    assert after.twist.linear.z - before.twist.linear.z == pytest.approx(-9.81 * 20 * DT, abs=1e-9)


def test_velocity_moves_a_kinematic_object(probe):
    spawn(probe, "mover", body_type="kinematic")
    twist = Twist(linear=Vector3(x=0.0, y=1.0, z=0.0), angular=Vector3(x=0.0, y=0.0, z=2.0))
    command = ObjectCmd(enable_position_controller=True, cartesian_cmd_type=ObjectCmd.VELOCITY, twist=twist)
    with probe.publisher(ObjectCmd, "mover/cmd") as commands:
        commands.publish(command)
        probe.spin_until(lambda: state_of(probe, "mover").twist == twist, "the velocity")
        step(probe, 20)
    state = state_of(probe, "mover")
    assert state.pose.position.y == pytest.approx(20 * DT, abs=1e-12)
    half_angle = math.atan2(state.pose.orientation.z, state.pose.orientation.w)
    assert 2.0 * half_angle == pytest.approx(2.0 * 20 * DT, abs=1e-9)


def test_wrench_does_nothing_to_a_kinematic_object(probe):
    spawn(probe, "mover", body_type="kinematic")
    with probe.publisher(ObjectCmd, "mover/cmd") as commands:
        commands.publish(ObjectCmd(wrench=UP))
        for _ in range(20):
            step(probe, 1)
    state = state_of(probe, "mover")
    assert (state.pose, state.twist) == (START, Twist())


REFUSED = {
    "NaN": (ObjectCmd(wrench=Wrench(force=Vector3(x=math.nan))), "wrench.force: expected finite numbers"),
    "joints": (ObjectCmd(joint_names=["hip"], joint_cmds=[1.0]), "it commands joints"),
    "type": (ObjectCmd(cartesian_cmd_type=7), "cartesian_cmd_type is 7"),
    "controller": (ObjectCmd(cartesian_cmd_type=ObjectCmd.POSITION), "needs enable_position_controller"),
    "pose": (
        ObjectCmd(enable_position_controller=True, pose=Pose(position=Point(y=math.inf))),
        "pose.position: expected finite numbers",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_command_is_refused_with_one_line_and_changes_nothing(shared_node, probe, case):
    message, text = REFUSED[case]
    name = f"refused_{case.lower()}"
    spawn(probe, name)
    with probe.publisher(ObjectCmd, f"{name}/cmd") as commands:
        for _ in range(10):
            commands.publish(message)
            step(probe, 1)
        shared_node.wait_for_output(f"{name}/cmd refused")
    lines = [line for line in shared_node.output.splitlines() if f"{name}/cmd refused" in line]
    assert len(lines) == 1
    assert text in lines[0]
    state = state_of(probe, name)
    t = state.sim_time
    assert state.pose.position.z == pytest.approx(1000.0 - 0.5 * 9.81 * t * t, abs=1e-9)


def test_static_object_refuses_commands(shared_node, probe):
    with probe.publisher(ObjectCmd, "ground/cmd") as commands:
        commands.publish(ObjectCmd(wrench=UP))
        shared_node.wait_for_output("ground/cmd refused: a static object takes no commands")

"""Carries a box with an arm, moved by the action follow_joint_trajectory as MoveIt would; a wire is the gripper."""

from typing import Any

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Point
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

from raisim_ros.client import Client
from raisim_ros.description.resources import resource

# Tool above the box, and turned by a quarter above where it shall go: [rad].
ABOVE = {"shoulder_pan": 0.0, "shoulder_lift": 0.9, "elbow": 1.1, "wrist_1": 1.1, "wrist_2": 0.0, "wrist_3": 0.0}
HIGH = {**ABOVE, "shoulder_lift": 0.4}
TURNED = {**HIGH, "shoulder_pan": 1.5}


def move(world: Client, action: Any, target: dict[str, float], seconds: float) -> int:
    """Sends one goal and waits for its end; the error code."""
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(target)
    point = JointTrajectoryPoint(positions=list(target.values()), time_from_start=Duration(sec=int(seconds)))
    goal.trajectory.points = [point]
    accepted = action.send_goal_async(goal)
    world.wait_until(accepted.done, timeout=60.0)
    result = accepted.result().get_result_async()
    world.wait_until(result.done, timeout=60.0)
    return int(result.result().result.error_code)


def run(world: Client) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Where the box was, and where it is in the end."""
    arm = world.spawn_robot(
        "arm", str(resource("robots/arm.urdf")), coordinates=list(ABOVE.values()), p_gains=[900.0], d_gains=[90.0]
    )
    world.play()
    world.wait(0.2)
    info = world.call("get_object_info", name=arm.name)
    assert "elbow" in info.info.joint_names
    box = world.spawn("box", "box", position=(0.75, 0.0, 0.05), size=[0.1, 0.1, 0.1], mass=0.2)
    world.wait(0.5)
    before = box.position
    action = ActionClient(world.node, FollowJointTrajectory, f"{world.prefix}arm/follow_joint_trajectory")
    world.wait_until(action.server_is_ready, timeout=20.0)
    # The gripper: a short wire from the tool to the top of the box.
    ends = {"object1": "arm", "frame1": "tool_mount", "object2": "box", "position2": Point(z=0.05)}
    world.call("spawn_wire", name="grip", type="stiff", length=0.35, **ends)
    for target in (HIGH, TURNED):
        code = move(world, action, target, 2.0)
        assert code == FollowJointTrajectory.Result.SUCCESSFUL, code
    world.wait(1.0)
    world.call("remove_wire", name="grip")
    world.wait(1.0)
    action.destroy()
    return before, box.position


if __name__ == "__main__":
    with Client() as client:
        begin, end = run(client)
        print("the box was at {:.2f}, {:.2f}, {:.2f}".format(*begin), "and is at {:.2f}, {:.2f}, {:.2f}".format(*end))

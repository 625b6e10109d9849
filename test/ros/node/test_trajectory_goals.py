"""Goals that are cancelled at awkward moments, with a queue that is served by hand."""

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("control_msgs", reason="needs control_msgs")

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.description.resources import resource
from raisim_ros.engine.world.world import World
from raisim_ros.ros.node import inputs
from raisim_ros.ros.node.deferred_action import GoalEnd
from raisim_ros.ros.node.trajectory_goals import TrajectoryActions
from raisim_ros.ros.objects.commands import Commands, StaleAction, Watchdog
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.request_queue import RequestQueue


class NotedGoal:
    """A goal that notes how it ended."""

    def __init__(self):
        point = JointTrajectoryPoint(positions=[0.5], time_from_start=Duration(sec=5))
        self.request = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=["elbow"], points=[point]))
        self.ended = None
        self.wants_cancel = False
        self.on_cancel = lambda: None

    def tell(self, feedback):
        pass

    def end(self, how, result):
        self.ended = how

    def cancel(self):
        """As the client asks for it."""
        self.wants_cancel = True
        self.on_cancel()


@pytest.fixture
def robot():
    """How goals are begun for an arm, the queue, and the kinds of inputs that would be recorded."""
    world = World()
    table = ObjectTable(world)
    handle = world.add_articulated_system(str(resource("robots/arm.urdf")))
    handle.set_pd_gains([100.0] * 6, [10.0] * 6)
    entry = table.add(handle, "arm", spawned=True)
    queue, recorded = RequestQueue(), []
    queue.listeners.append(lambda origin: recorded.append(origin.kind))
    commands = Commands(Watchdog(0.5, StaleAction.RELEASE), lambda *_: None, lambda *_: None)
    actions = TrajectoryActions(None, None, queue, SimpleNamespace(table=table, world=world, commands=commands))
    return lambda goal: queue.post(lambda: actions._begin(goal, entry.id)), queue, recorded


def test_a_cancelled_goal_ends(robot):
    begin, queue, recorded = robot
    goal = NotedGoal()
    begin(goal)
    queue.run_pending()
    goal.cancel()
    queue.run_pending()
    assert goal.ended is GoalEnd.CANCELED
    assert recorded == [inputs.CANCEL]


def test_a_goal_that_is_cancelled_before_it_begins_ends(robot):
    begin, queue, _ = robot
    goal = NotedGoal()
    begin(goal)
    goal.cancel()
    queue.run_pending()
    assert goal.ended is GoalEnd.CANCELED


def test_the_cancel_of_a_goal_that_was_just_replaced_leaves_its_successor_alone(robot):
    begin, queue, recorded = robot
    first, second = NotedGoal(), NotedGoal()
    begin(first)
    queue.run_pending()
    begin(second)
    first.cancel()
    queue.run_pending()
    assert first.ended is not None
    assert second.ended is None
    assert recorded == []

"""Trajectories are sampled as their polynomials say, checked as a whole, and followed to their end."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from builtin_interfaces.msg import Duration, Time
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.resources import resource
from raisim_ros.engine.world.world import World
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.objects.topic import NEVER
from raisim_ros.ros.robots.trajectories import Trajectories, trajectory_of

NAMES = ["elbow", "wrist_1"]


@pytest.fixture
def arm():
    """An arm whose joints follow positions."""
    world = World()
    handle = world.add_articulated_system(str(resource("robots/arm.urdf")))
    handle.set_pd_gains([100.0] * 6, [10.0] * 6)
    return ObjectTable(world).add(handle, "arm", spawned=True)


def point(seconds, positions, velocities=(), effort=()):
    whole = int(seconds // 1)
    after = Duration(sec=whole, nanosec=round((seconds - whole) * 1e9))
    return JointTrajectoryPoint(
        positions=positions, velocities=list(velocities), effort=list(effort), time_from_start=after
    )


def message(*points, names=NAMES, start=0.0):
    header = Header(stamp=Time(sec=int(start), nanosec=round((start % 1) * 1e9)))
    return JointTrajectory(header=header, joint_names=names, points=list(points))


def test_without_velocities_it_is_a_straight_line_from_where_the_joints_are(arm):
    arm.handle.set_generalized_coordinate([0.0, 0.0, 0.4, -0.2, 0.0, 0.0])
    trajectory = trajectory_of(arm, message(point(2.0, [1.4, 0.8]), point(4.0, [1.4, 0.0])), now=5.0)
    halfway = trajectory.sample(6.0)
    assert halfway.positions == pytest.approx([0.9, 0.3])
    assert halfway.velocities == pytest.approx([0.5, 0.5])
    later = trajectory.sample(8.5)
    assert later.positions == pytest.approx([1.4, 0.2])
    assert later.velocities == pytest.approx([0.0, -0.4])
    assert trajectory.end == 9.0


def test_with_velocities_it_is_the_cubic_through_them(arm):
    """p(t) = t^3 - 2 t^2 + 3 t - 1 is a cubic: its own values must come back between its ends."""

    def p(t):
        return t**3 - 2 * t**2 + 3 * t - 1

    def v(t):
        return 3 * t**2 - 4 * t + 3

    points = [point(t, [p(t), -p(t)], [v(t), -v(t)]) for t in (0.0, 0.7, 1.5)]
    trajectory = trajectory_of(arm, message(*points), now=10.0)
    for t in (0.0, 0.2, 0.69, 0.7, 1.1, 1.49):
        targets = trajectory.sample(10.0 + t)
        assert targets.positions == pytest.approx([p(t), -p(t)], abs=1e-12)
        assert targets.velocities == pytest.approx([v(t), -v(t)], abs=1e-11)


def test_before_and_behind_it_the_joints_rest_at_its_ends(arm):
    points = [point(0.0, [0.1, 0.2], [1.0, 1.0]), point(1.0, [0.3, 0.4], [1.0, 1.0])]
    trajectory = trajectory_of(arm, message(*points, start=20.0), now=19.0)
    for time, expected in ((19.5, [0.1, 0.2]), (21.0, [0.3, 0.4]), (30.0, [0.3, 0.4])):
        assert trajectory.sample(time).positions.tolist() == expected
        assert trajectory.sample(time).velocities.tolist() == [0.0, 0.0]


def test_efforts_change_evenly_between_the_points(arm):
    points = [point(0.0, [0.0, 0.0], effort=[2.0, 0.0]), point(2.0, [0.0, 0.0], effort=[6.0, -4.0])]
    assert trajectory_of(arm, message(*points), now=0.0).sample(0.5).forces == pytest.approx([3.0, -1.0])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (message(point(1.0, [0.0, 0.0]), names=["elbow", "nobody"]), "nobody"),
        (message(point(1.0, [0.0])), "points[0].positions has 1"),
        (message(point(1.0, [0.0, 0.0]), point(2.0, [0.0])), "points[1].positions"),
        (message(point(1.0, [0.0, float("nan")])), "finite"),
        (message(point(1.0, [0.0, 0.0]), point(1.0, [0.0, 0.0])), "ascending"),
        (message(point(-1.0, [0.0, 0.0])), "ascending"),
        (message(point(1.0, [0.0, 0.0], [1.0, 1.0]), point(2.0, [0.0, 0.0])), "points[1].velocities"),
        (message(point(1.0, [])), "no positions"),
        (message(point(1.0, [0.0, 0.0]), start=2.0), "ended at 3 s"),
        (message(), "empty"),
    ],
)
def test_a_wrong_trajectory_is_refused_and_the_old_one_goes_on(arm, wrong, words):
    trajectories = Trajectories()
    trajectories.accept(arm, message(point(1.0, [0.5, 0.5])), now=10.0)
    with pytest.raises(InvalidValueError) as caught:
        trajectories.accept(arm, wrong, now=10.0)
    assert words in str(caught.value)
    trajectories.advance(11.0, lambda _: arm)
    assert arm.handle.get_pd_target()[0][[2, 3]].tolist() == [0.5, 0.5]


def test_a_joint_without_gains_cannot_follow(arm):
    table = ObjectTable(arm.handle._world)
    handle = arm.handle._world.add_articulated_system(str(resource("robots/arm.urdf")))
    limp = table.add(handle, "limp", spawned=True)
    with pytest.raises(InvalidValueError, match="no position gain"):
        Trajectories().accept(limp, message(point(1.0, [0.5, 0.5])), now=0.0)


def test_it_asks_for_every_step_until_its_end_and_can_be_stopped(arm):
    trajectories = Trajectories()
    assert trajectories.steps_until_due() == NEVER
    trajectories.accept(arm, message(point(1.0, [0.5, 0.5])), now=0.0)
    assert trajectories.steps_until_due() == 1
    trajectories.advance(1.0, lambda _: arm)
    assert trajectories.steps_until_due() == NEVER
    trajectories.accept(arm, message(point(1.0, [0.7, 0.7])), now=1.0)
    trajectories.accept(arm, JointTrajectory(), now=1.0)
    trajectories.advance(2.0, lambda _: pytest.fail("it was stopped"))
    assert arm.handle.get_pd_target()[0][[2, 3]].tolist() == [0.5, 0.5]

"""What a command means, and how long it lasts; with a body that only notes what is done to it."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from types import SimpleNamespace

import numpy as np

from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.engine.types import BodyType
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.objects.commands import Commands, StaleAction, Twist, Watchdog, Wrench, target_of
from raisim_ros.ros.objects.topic import NEVER

DT = 0.005


class NotingBody:
    """A dynamic body that notes its command wrench."""

    def __init__(self, body_type=BodyType.DYNAMIC):
        self.body_type = body_type
        self.notes = []

    def get_body_type(self):
        return self.body_type

    def set_command_wrench(self, force, torque):
        self.notes.append("wrench")

    def set_command_pose(self, position, orientation, linear_velocity, angular_velocity):
        self.notes.append("pose")

    def set_command_velocity(self, linear, angular):
        self.notes.append("driven")

    def clear_command(self):
        self.notes.append("cleared")

    def set_velocity(self, linear, angular):
        self.notes.append("velocity")


def entry(body, object_id=1):
    return SimpleNamespace(id=object_id, name="body", handle=body, joints=None, interface=InterfaceSettings())


def commands(timeout=0.5, action=StaleAction.RELEASE):
    commanded = {}
    return Commands(Watchdog(timeout, action), commanded.__setitem__, lambda *_: None), commanded


def test_a_command_is_a_wrench_unless_the_controller_is_enabled():
    assert isinstance(target_of(ObjectCmd()), Wrench)
    pose, twist = target_of(ObjectCmd(enable_position_controller=True))
    assert np.array_equal(pose.wxyz, [1, 0, 0, 0])
    assert not twist.linear.any()
    velocity = ObjectCmd(enable_position_controller=True, cartesian_cmd_type=ObjectCmd.VELOCITY)
    assert isinstance(target_of(velocity), Twist)


def test_a_renewed_command_lasts_and_a_stale_one_is_released():
    acting, commanded = commands()
    body = NotingBody()
    acting.accept(entry(body), ObjectCmd(), step=0)
    assert commanded == {1: True}
    assert acting.steps_until_due(0, DT) == 100
    acting.accept(entry(body), ObjectCmd(), step=60)
    acting.drop_stale(159, DT, lambda _: entry(body))
    assert commanded == {1: True}
    assert acting.steps_until_due(159, DT) == 1
    acting.drop_stale(160, DT, lambda _: entry(body))
    assert commanded == {1: False}
    assert body.notes == ["wrench", "wrench", "cleared"]
    assert acting.steps_until_due(160, DT) == NEVER


def test_a_dynamic_body_is_driven_to_a_pose_until_the_watchdog_releases_it():
    acting, _ = commands()
    body = NotingBody()
    acting.accept(entry(body), ObjectCmd(enable_position_controller=True), step=0)
    velocity = ObjectCmd(enable_position_controller=True, cartesian_cmd_type=ObjectCmd.VELOCITY)
    acting.accept(entry(body), velocity, step=10)
    acting.drop_stale(110, DT, lambda _: entry(body))
    assert body.notes == ["pose", "driven", "cleared"]


def test_hold_keeps_a_stale_command_acting():
    acting, commanded = commands(action=StaleAction.HOLD)
    body = NotingBody()
    acting.accept(entry(body), ObjectCmd(), step=0)
    acting.drop_stale(100, DT, lambda _: entry(body))
    assert body.notes == ["wrench"]
    assert commanded == {1: False}, "it is published at the lower rate again"


def test_without_a_watchdog_a_command_never_becomes_stale():
    acting, commanded = commands(timeout=0.0)
    body = NotingBody()
    acting.accept(entry(body), ObjectCmd(), step=0)
    acting.drop_stale(10**9, DT, lambda _: entry(body))
    assert acting.steps_until_due(10**9, DT) == NEVER
    assert (body.notes, commanded) == (["wrench"], {1: True})


def test_a_stale_command_stops_a_kinematic_body():
    acting, _ = commands()
    body = NotingBody(BodyType.KINEMATIC)
    acting.accept(entry(body), ObjectCmd(), step=0)
    acting.drop_stale(100, DT, lambda _: entry(body))
    assert body.notes == ["velocity"]


def test_a_forgotten_object_is_never_asked_for_again():
    acting, commanded = commands()
    acting.accept(entry(NotingBody()), ObjectCmd(), step=0)
    acting.forget(1)
    acting.forget(2)
    acting.drop_stale(1000, DT, lambda _: pytest.fail("it is gone"))
    assert commanded == {1: False}

"""The inbox asks those to which something has come; where nobody tells, busy ones every time and quiet ones in turn."""

from collections import deque

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.ros.objects.command_inbox import CommandInbox, CommandTopic


class FakeSubscription:
    """A subscription whose messages the test puts in."""

    msg_type, raw = object, False

    def __init__(self):
        self.handle = self
        self.messages = deque()
        self.asked = 0

    def take_message(self, message_type, raw):
        self.asked += 1
        return (self.messages.popleft(), None) if self.messages else None


@pytest.fixture
def clock():
    return [0.0]


class Silent:
    """A middleware that does not tell of arrivals."""

    def watch(self, key, subscription):
        return False

    def forget(self, key):
        return False

    def new(self):
        return []


class Telling(Silent):
    """One that does."""

    def __init__(self):
        self.watched, self.told = set(), []

    def watch(self, key, subscription):
        self.watched.add(key)
        return True

    def forget(self, key):
        self.watched.remove(key)
        return True

    def new(self):
        told, self.told = self.told, []
        return told


@pytest.fixture
def inbox(clock):
    return CommandInbox(Silent(), lambda: clock[0])


def key(object_id, topic=CommandTopic.OBJECT):
    return object_id, topic


def attach(inbox, count):
    subscriptions = [FakeSubscription() for _ in range(count)]
    for object_id, subscription in enumerate(subscriptions):
        inbox.attach(key(object_id), subscription)
    return subscriptions


def test_only_the_newest_message_counts(inbox):
    (subscription,) = attach(inbox, 1)
    subscription.messages.extend(["old", "older", "new"])
    assert list(inbox.take()) == [(key(0), "new")]
    assert list(inbox.take()) == []


def test_every_message_to_joints_counts(inbox):
    subscription = FakeSubscription()
    inbox.attach(key(4, CommandTopic.JOINTS), subscription)
    subscription.messages.extend(["elbow", "wrist"])
    assert [message for _, message in inbox.take()] == ["elbow", "wrist"]
    assert list(inbox.take()) == []


def test_every_message_is_found_soon_among_many_quiet_ones(inbox):
    subscriptions = attach(inbox, 1000)
    subscriptions[999].messages.append("hello")
    rounds = 0
    while not list(inbox.take()):
        rounds += 1
    assert rounds <= 1000 // 64
    # From now on it is asked every time, and the others are still not all asked.
    asked = sum(subscription.asked for subscription in subscriptions)
    subscriptions[999].messages.append("again")
    assert list(inbox.take()) == [(key(999), "again")]
    assert sum(subscription.asked for subscription in subscriptions) - asked <= 64 + 2


def test_a_busy_subscription_becomes_quiet_again(inbox, clock):
    subscriptions = attach(inbox, 200)
    subscriptions[0].messages.append("hello")
    assert list(inbox.take()) == [(key(0), "hello")]
    clock[0] += 2.0
    list(inbox.take())
    asked = subscriptions[0].asked
    list(inbox.take())
    assert subscriptions[0].asked == asked, "it waits for its turn"
    subscriptions[0].messages.append("later")
    assert any(list(inbox.take()) for _ in range(10))


def test_a_removed_object_is_never_asked_again(inbox):
    subscriptions = attach(inbox, 3)
    subscriptions[1].messages.append("hello")
    assert list(inbox.take()) == [(key(1), "hello")]
    for object_id in range(3):
        inbox.detach(key(object_id))
    asked = [subscription.asked for subscription in subscriptions]
    assert list(inbox.take()) == []
    assert [subscription.asked for subscription in subscriptions] == asked
    inbox.detach(key(7))


def test_who_is_told_asks_nobody_else():
    arrivals = Telling()
    inbox = CommandInbox(arrivals)
    subscriptions = attach(inbox, 1000)
    for number in (3, 998):
        subscriptions[number].messages.extend(["old", f"new {number}"])
        arrivals.told.append(key(number))
    assert list(inbox.take()) == [(key(3), "new 3"), (key(998), "new 998")]
    assert list(inbox.take()) == []
    assert sum(subscription.asked for subscription in subscriptions) == 6, "each until it has no more"
    inbox.detach(key(3))
    assert key(3) not in arrivals.watched

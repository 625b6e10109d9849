"""How fast the states of 1000 objects are published.

    python bench/ros_publish.py

Three measurements, each through the node's own code (reading the engine, filling the frozen messages, publishing):
`<object>/state` of all objects without subscribers, the same with another process that subscribes to all of them,
and `states` with that process. The other process counts what arrives.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(101 + os.getpid() % 50))

import numpy as np
import rclpy
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node

from raisim_ros import World
from raisim_ros.msg import ObjectState, ObjectStateArray
from raisim_ros.ros import qos
from raisim_ros.ros.many_publishers import ManyPublishers
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.command_inbox import HiddenGroup
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.objects.state_topics import ShownFields, StateRates, StateTable, StateTopics, freeze_state

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table

OBJECTS = 1000
SECONDS = 3.0  # of one measurement
TARGETS = {"unmatched": 100_000.0, "matched": 50_000.0, "states": 500.0}
LABELS = {
    "unmatched": "`<object>/state`, no subscriber",
    "skipped": "`<object>/state` as the node does it, no subscriber: skipped",
    "matched": "`<object>/state`, another process subscribes to all",
    "states": "`states` with all objects, another process subscribes",
}


def count_messages(objects: int, stop: Event, counts: multiprocessing.Queue) -> None:
    """The other process: takes everything, as bytes, and counts."""
    rclpy.init()
    node = Node("counter")
    group, quiet = HiddenGroup(), SubscriptionEventCallbacks(use_default_callbacks=False)

    def subscribe(message_type, topic, profile):
        options = {"raw": True, "callback_group": group, "event_callbacks": quiet}
        return node.create_subscription(message_type, topic, lambda message: None, profile, **options)

    array = subscribe(ObjectStateArray, "states", qos.STATE_ARRAY)
    singles = [subscribe(ObjectState, f"o{number}/state", qos.STATE) for number in range(objects)]
    received = {"matched": 0, "states": 0}
    idle = False
    while not (stop.is_set() and idle):
        idle = True
        for kind, subscriptions in (("states", [array]), ("matched", singles)):
            for subscription in subscriptions:
                while subscription.handle.take_message(subscription.msg_type, True) is not None:
                    received[kind] += 1
                    idle = False
        if idle:
            time.sleep(0.001)
    counts.put(received)
    node.destroy_node()
    rclpy.shutdown()


class Publishing:
    """A world of falling balls and the topics of the node."""

    def __init__(self, objects: int) -> None:
        self.world = World()
        for number in range(objects):
            ball = self.world.add_sphere(0.1, 1.0)
            ball.set_name(f"o{number}")
            ball.set_position(0.5 * (number % 40), 0.5 * (number // 40), 100.0)
        table = ObjectTable(self.world)
        table.add_world()
        self.node = Node("publishing")
        quiet = PublisherEventCallbacks(use_default_callbacks=False)
        rows = table.rows()
        self.publishers = [
            self.node.create_publisher(ObjectState, f"{entry.name}/state", qos.STATE, event_callbacks=quiet)
            for entry in rows
        ]
        self.array = self.node.create_publisher(ObjectStateArray, "states", qos.STATE_ARRAY)
        self.arrays = ManyPublishers([self.array])
        self.table = StateTable("world", [freeze_state(entry, "world", ShownFields()) for entry in rows], rows)
        robots = partial(self.world.read_articulations, xyzw=True)
        self.topics = StateTopics(StateRates(50.0, 1000.0, 50.0), "world", self.array, robots)
        self.topics.rebuild(rows, self.world.get_time_step())
        for entry, publisher in zip(rows, self.publishers, strict=True):
            self.topics.attach(entry.id, publisher)

    def moment(self, everything: bool = True) -> Moment:
        """The present moment."""
        return Moment.now(self.world.get_step_count(), self.world.get_world_time(), everything)

    def publish_regardless(self) -> int:
        """Every state once, also to nobody; the node itself skips topics without a subscriber."""
        self.table.update(self.world.read_states(xyzw=True), self.moment())
        for row, publisher in enumerate(self.publishers):
            publisher.publish(self.table.message(row))
        return len(self.publishers)

    def publish_array(self) -> int:
        """The array once."""
        moment = self.moment()
        self.table.update(self.world.read_states(xyzw=True), moment)
        return 1 - self.arrays.publish(self.table.array_message(moment), np.zeros(1, np.int64))

    def publish_round(self) -> int:
        """What the node does at a moment at which everything is due."""
        self.topics.publish(self.moment(), self.world.read_states(xyzw=True))
        return len(self.publishers)

    def wait_for_matches(self) -> None:
        """Until the other process has subscribed to everything."""
        end = time.monotonic() + 120.0
        while not all(p.get_subscription_count() for p in [*self.publishers, self.array]):
            if time.monotonic() > end:
                raise TimeoutError("the other process did not subscribe to everything")
            time.sleep(0.05)


@dataclass(frozen=True)
class Rate:
    """Messages a second, median of three runs, and computing time for one [us, all threads]."""

    per_second: float
    computing: float


def rate(work: Callable[[], int], seconds: float) -> Rate:
    """How fast `work` is; it returns the number of messages."""
    rates, total, computing = [], 0, time.process_time()
    for _ in range(3):
        done, started = 0, time.perf_counter()
        while not done or time.perf_counter() - started < seconds / 3.0:
            done += work()
        rates.append(done / (time.perf_counter() - started))
        total += done
    return Rate(median(rates), (time.process_time() - computing) / total * 1e6)


def run(objects: int, seconds: float) -> tuple[dict[str, Rate], dict[str, int]]:
    """All measurements, and how many messages arrived in the other process."""
    processes = multiprocessing.get_context("spawn")
    stop, counts = processes.Event(), processes.Queue()
    counter = processes.Process(target=count_messages, args=(objects, stop, counts))
    rclpy.init()
    publishing = Publishing(objects)
    rates = {
        "unmatched": rate(publishing.publish_regardless, seconds),
        "skipped": rate(publishing.publish_round, seconds),
    }
    counter.start()
    try:
        publishing.wait_for_matches()
        rates["matched"] = rate(publishing.publish_regardless, seconds)
        rates["states"] = rate(publishing.publish_array, seconds)
    finally:
        stop.set()
        received = counts.get(timeout=60.0)
        counter.join()
        publishing.node.destroy_node()
        rclpy.shutdown()
    return rates, received


def measure(effort: Effort) -> str:
    """Run everything; the section as Markdown."""
    objects = effort.part(OBJECTS)
    rates, received = run(objects, effort.share * SECONDS)
    lines = [
        [LABELS[kind], f"**{one.per_second:.0f}**", f"≥ {TARGETS[kind]:.0f}" if kind in TARGETS else "",
         f"{one.computing:.1f}", str(received.get(kind, ""))]
        for kind, one in rates.items()
    ]
    return f"""## Publishing

The states of {objects} objects through the node's own code: reading the engine, filling the frozen messages,
publishing.

{table(["topic", "messages/s", "target", "computing time per message, all threads [µs]", "arrived"], lines)}
"""


if __name__ == "__main__":
    print(measure(Effort()))

"""How fast the states of 1000 objects are published.

    python bench/ros_publish.py [--objects 1000] [--seconds 3]

Three measurements, each through the node's own code (reading the engine, filling the frozen messages, publishing):
`<object>/state` of all objects without subscribers, the same with another process that subscribes to all of them,
and `states` with that process. The other process counts what arrives.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from multiprocessing.synchronize import Event

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(101 + os.getpid() % 50))

import rclpy
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node

from raisim_ros import World
from raisim_ros.msg import ObjectState, ObjectStateArray
from raisim_ros.ros import qos
from raisim_ros.ros.command_inbox import HiddenGroup
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.object_table import ObjectTable
from raisim_ros.ros.state_topics import StateRates, StateTable, StateTopics, freeze_state

TARGETS = {"unmatched": 100_000.0, "matched": 50_000.0, "states": 500.0}


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
    while not stop.is_set():
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
        self.table = StateTable("world", [freeze_state(entry, "world") for entry in rows])
        self.topics = StateTopics(StateRates(50.0, 1000.0, 50.0), "world", self.array)
        self.topics.rebuild(rows, self.world.get_time_step())
        for entry, publisher in zip(rows, self.publishers, strict=True):
            self.topics.attach(entry.id, publisher)

    def moment(self, everything: bool = True) -> Moment:
        """The present moment."""
        return Moment.now(self.world.get_step_count(), self.world.get_world_time(), everything)

    def publish_regardless(self) -> int:
        """Every state once, also to nobody; the node itself skips topics without a subscriber."""
        self.table.update(self.world.read_states(), self.moment())
        for row, publisher in enumerate(self.publishers):
            publisher.publish(self.table.message(row))
        return len(self.publishers)

    def publish_array(self) -> int:
        """The array once."""
        moment = self.moment()
        self.table.update(self.world.read_states(), moment)
        self.array.publish(self.table.array_message(moment))
        return 1

    def publish_round(self) -> int:
        """What the node does at a moment at which everything is due."""
        self.topics.publish(self.moment(), self.world.read_states())
        return len(self.publishers)

    def wait_for_matches(self) -> None:
        """Until the other process has subscribed to everything."""
        end = time.monotonic() + 120.0
        while not all(p.get_subscription_count() for p in [*self.publishers, self.array]):
            if time.monotonic() > end:
                raise TimeoutError("the other process did not subscribe to everything")
            time.sleep(0.05)


def rate(work, seconds: float) -> tuple[float, float]:
    """What `work` counts per second, median of three runs, and the computing time for one [us, all threads]."""
    rates, total, computing = [], 0, time.process_time()
    for _ in range(3):
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds / 3.0:
            done += work()
        rates.append(done / (time.perf_counter() - started))
        total += done
    return sorted(rates)[1], (time.process_time() - computing) / total * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each measurement")
    arguments = parser.parse_args()
    processes = multiprocessing.get_context("spawn")
    stop, counts = processes.Event(), processes.Queue()
    counter = processes.Process(target=count_messages, args=(arguments.objects, stop, counts))
    rclpy.init()
    publishing = Publishing(arguments.objects)
    results = {"unmatched": rate(publishing.publish_regardless, arguments.seconds)}
    skipping = rate(publishing.publish_round, arguments.seconds)
    counter.start()
    try:
        publishing.wait_for_matches()
        results["matched"] = rate(publishing.publish_regardless, arguments.seconds)
        results["states"] = rate(publishing.publish_array, arguments.seconds)
    finally:
        stop.set()
        received = counts.get(timeout=60.0)
        counter.join()
    title = f"{arguments.objects} objects"
    print(f"{title:<34} messages/s    target  CPU us/message  arrived")
    labels = {
        "unmatched": "<object>/state, no subscriber",
        "matched": "<object>/state, other process",
        "states": "states, other process",
    }
    for kind, label in labels.items():
        per_second, computing = results[kind]
        arrived = received.get(kind, "-")
        print(f"  {label:<32} {per_second:>10.0f} {TARGETS[kind]:>9.0f} {computing:>15.1f} {arrived:>8}")
    print(f"  {'skipped, nobody listens':<32} {skipping[0]:>10.0f} {'-':>9} {skipping[1]:>15.1f} {'-':>8}")
    publishing.node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()

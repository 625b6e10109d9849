"""Spawning and removing for a long time: memory stays flat, no topic and no frame is left.

RAISIM_SOAK_CYCLES sets the number of cycles (200 unless told otherwise; 10000 for a thorough run).
"""

import contextlib
import os
import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from visualization_msgs.msg import MarkerArray

from raisim_ros.description.resources import resource
from raisim_ros.msg import ContactArray, ObjectCmd, ObjectStateArray, ResultCode
from raisim_ros.ros import qos
from raisim_ros.srv import ListObjects, RemoveObject, SpawnArticulatedSystem, SpawnObject

CYCLES = int(os.environ.get("RAISIM_SOAK_CYCLES", "200"))
# Caches and the allocator settle during the first cycles.
WARM_UP = 100
# Growth per cycle that counts as a leak: one forgotten publisher costs more than ten times this [bytes].
ALLOWED_PER_CYCLE = 500
# What the allocator may take or give back at any time [bytes].
NOISE = 1_000_000


def cycle(probe, number):
    name = f"soak_{number % 7}"
    shape = {"shape": "sphere", "radius": 0.1} if number % 2 else {"shape": "box", "size": [0.1, 0.2, 0.3]}
    if number % 3:
        spawned = probe.call(SpawnObject, "spawn_object", name=name, **shape)
    else:
        file = str(resource("robots/cartpole.urdf"))
        fields = {"name": name, "file": file, "publish_links": True}
        spawned = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **fields)
    assert spawned.result == ResultCode.OK, spawned.message
    removed = probe.call(RemoveObject, "remove_object", name=spawned.name)
    assert removed.result == ResultCode.OK, removed.message


@pytest.mark.timeout(120 + CYCLES * 0.1)
@pytest.mark.parametrize("watched", [False, True], ids=["unwatched", "watched"])
def test_memory_is_flat_and_no_topic_is_left(start_node, probe, watched):
    node = start_node()
    with contextlib.ExitStack() as viewers:
        if watched:
            viewers.enter_context(probe.subscribed(MarkerArray, "markers", qos.LATCHED))
            viewers.enter_context(probe.subscribed(ObjectStateArray, "states"))
            viewers.enter_context(probe.subscribed(ContactArray, "contacts"))
        for number in range(WARM_UP):
            cycle(probe, number)
        before = node.resident_bytes()
        started = time.monotonic()
        for number in range(CYCLES):
            cycle(probe, number)
        grown = node.resident_bytes() - before
    print(f"{CYCLES} cycles, {(time.monotonic() - started) / CYCLES * 1e3:.1f} ms each, {grown / 1e6:.2f} MB grown")
    assert grown < NOISE + ALLOWED_PER_CYCLE * CYCLES
    probe.spin_until(lambda: not [t for t in probe.topics() if "soak" in t], "all topics to go")
    assert len(probe.call(ListObjects, "list_objects").names) == probe.OBJECTS
    node.end()


def test_commanding_an_object_while_it_is_removed_does_no_harm(start_node, probe):
    node = start_node(namespace="/harm")
    for number in range(20):
        name = f"victim_{number}"
        assert probe.call(SpawnObject, "/harm/spawn_object", name=name, shape="sphere", radius=0.1).result == 1
        with probe.publisher(ObjectCmd, f"/harm/{name}/cmd") as commands:
            for _ in range(3):
                commands.publish(ObjectCmd())
            assert probe.call(RemoveObject, "/harm/remove_object", name=name).result == ResultCode.OK
            commands.publish(ObjectCmd())
    assert node.process.poll() is None, node.output
    assert len(probe.call(ListObjects, "/harm/list_objects").names) == probe.OBJECTS

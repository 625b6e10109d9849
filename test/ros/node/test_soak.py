"""Spawning and removing for a long time: memory stays flat, no topic and no frame is left.

RAISIM_SOAK_CYCLES sets the number of cycles (200 unless told otherwise; 10000 for a thorough run).
"""

import contextlib
import os
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from visualization_msgs.msg import MarkerArray

from raisim_ros.description.resources import resource
from raisim_ros.msg import ContactArray, ObjectCmd, ObjectStateArray, ResultCode
from raisim_ros.ros import qos
from raisim_ros.srv import ListObjects, RemoveObject, SpawnArticulatedSystem, SpawnObject

CYCLES = int(os.environ.get("RAISIM_SOAK_CYCLES", "200"))
# Caches and the allocator settle during the first cycles, most of it here and the rest within a thousand: 3 to 5 kB a cycle in the
# first 350, 400 bytes after 600, 100 to 200 after 1600.
WARM_UP = 450
# Growth per cycle that counts as a leak [bytes]: one forgotten publisher costs more than 5000.
ALLOWED_PER_CYCLE = 500 if CYCLES >= 2000 else 4000
# The allocator takes or gives back a megabyte at any time; a leak grows in all stretches, so half of them tell.
STRETCHES = 11


def cycle(probe, world, number):
    name = f"soak_{number % 7}"
    shape = {"shape": "sphere", "radius": 0.1} if number % 2 else {"shape": "box", "size": [0.1, 0.2, 0.3]}
    if number % 3:
        spawned = probe.call(SpawnObject, f"{world}/spawn_object", name=name, **shape)
    else:
        file = str(resource("robots/cartpole.urdf"))
        fields = {"name": name, "file": file, "publish_links": True}
        spawned = probe.call(SpawnArticulatedSystem, f"{world}/spawn_articulated_system", **fields)
    assert spawned.result == ResultCode.OK, spawned.message
    removed = probe.call(RemoveObject, f"{world}/remove_object", name=spawned.name)
    assert removed.result == ResultCode.OK, removed.message


@pytest.mark.timeout(120 + CYCLES * 0.1)
@pytest.mark.parametrize("watched", [False, True], ids=["unwatched", "watched"])
def test_memory_is_flat_and_no_topic_is_left(start_node, probe, watched):
    world = "/watched" if watched else "/unwatched"
    node = start_node(namespace=world)
    readings = []
    started = time.monotonic()
    with contextlib.ExitStack() as after:
        after.callback(node.end)  # a second try has a node of the same name
        with contextlib.ExitStack() as viewers:
            if watched:
                viewers.enter_context(probe.subscribed(MarkerArray, f"{world}/markers", qos.LATCHED))
                viewers.enter_context(probe.subscribed(ObjectStateArray, f"{world}/states"))
                viewers.enter_context(probe.subscribed(ContactArray, f"{world}/contacts"))
            for number in range(WARM_UP):
                cycle(probe, world, number)
            for stretch in range(STRETCHES):
                readings.append(node.resident_bytes())
                for number in range(CYCLES // STRETCHES):
                    cycle(probe, world, stretch + number)
            readings.append(node.resident_bytes())
        grown = np.diff(readings) / (CYCLES // STRETCHES)
        print(f"{(time.monotonic() - started) / (WARM_UP + CYCLES) * 1e3:.1f} ms a cycle, grown by {grown.round()} bytes in each")
        assert np.median(grown) < ALLOWED_PER_CYCLE
        probe.wait_for_topics_to_go(lambda topic: "soak" in topic)
        assert len(probe.call(ListObjects, f"{world}/list_objects").names) == probe.OBJECTS


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

"""What is drawn of soft objects, without a node: what moves, a few repeats of what rests, deletions."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rclpy.serialization import deserialize_message
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros import World
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.markers import REPEATS
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.soft.markers import SoftMarkers


class Publisher:
    def __init__(self):
        self.sent = []

    def publish(self, data):
        self.sent.append(deserialize_message(data, MarkerArray))


def test_what_came_to_rest_is_repeated_a_few_times_and_then_no_more():
    world = World()
    cloth = world.add_deformable_cloth([(0.0, 0.0, 1.0), (0.2, 0.0, 1.0), (0.0, 0.2, 1.0)], [(0, 1, 2)])
    row = ObjectRow(cloth.get_id(), "towel", "deformable", "dynamic", cloth, False, None)
    publisher = Publisher()
    markers = SoftMarkers("world", 30.0, publisher)
    markers.rebuild([row], world.get_time_step())

    def published():
        before = len(publisher.sent)
        for _ in range(3 * REPEATS):
            markers.publish(Moment.now(0, world.get_world_time(), True), None)
        return publisher.sent[before:]

    for _ in range(2):  # new, and moved
        world.integrate(10)
        height = cloth.get_positions()[:, 2].mean()
        sent = published()
        assert len(sent) == 1 + REPEATS
        for message in sent:
            (marker,) = message.markers
            assert marker.action == Marker.ADD
            assert sum(point.z for point in marker.points) / len(marker.points) == pytest.approx(height, abs=1e-3)
    markers.rebuild([], world.get_time_step())
    assert [message.markers[0].action for message in published()] == [Marker.DELETE] * REPEATS

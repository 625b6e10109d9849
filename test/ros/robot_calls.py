"""What tests of robots over ROS share: places, and calls that must succeed."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose
from rclpy.qos import DurabilityPolicy, QoSProfile
from service_calls import ok

from raisim_ros.description.resources import resource
from raisim_ros.srv import GetObjectInfo, SpawnArticulatedSystem, Step

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ARM_JOINTS = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
AT = Pose(position=Point(x=20.0, y=0.0, z=0.0))
STAND = [0.0, 0.4, -0.8] * 2 + [0.0, -0.4, 0.8] * 2


def robot(name):
    return str(resource(f"robots/{name}.urdf"))


def spawn(probe, name="arm", file="arm", **fields):
    source = {} if "text" in fields else {"file": robot(file)}
    fields = {"name": name, "pose": AT} | source | fields
    return ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **fields))


def spawn_arm(probe, **fields):
    return spawn(probe, p_gains=[400.0], d_gains=[40.0], **fields)


def state(probe, name="arm"):
    return ok(probe.call(GetObjectInfo, "get_object_info", name=name)).state


def step(probe, steps=1):
    return ok(probe.call(Step, "step", steps=steps))


def send_until(probe, publisher, message, applied):
    """Sends a command again and again until the node did what it says: one that is not repeated may be dropped."""
    end = [0]

    def sent():
        if end[0] % 20 == 0:
            publisher.publish(message)
        end[0] += 1
        return applied()

    probe.spin_until(sent, "the command to be applied")

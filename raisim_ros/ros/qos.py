"""Quality of service of every topic, in one place."""

from __future__ import annotations

import copy
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# Only the newest time counts, and a slow subscriber must not hold it up.
CLOCK = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)  # fmt: skip

STATE = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)

STATE_BEST_EFFORT = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)

# One large message: the newest is enough.
STATE_ARRAY = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.RELIABLE)

# What drivers of real sensors use: the newest counts, and a slow subscriber must not hold up the simulation.
SENSOR = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

COMMAND = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)

# Requests wait in this queue while one is carried out: with a shorter one, those of a burst are lost.
SERVICE = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1000, reliability=ReliabilityPolicy.RELIABLE)

# What tf2's own broadcasters use.
TF = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.RELIABLE)

# The last message waits for subscribers that come later.
LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# For subscribers of what several publishers latch on one topic: with room for one message, theirs push each other out.
LATCHED_BY_SEVERAL = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


def check_depth(profile: QoSProfile) -> SetParametersResult:
    """Refuses what the middleware would, which says less about it."""
    deepest = 2**31 - 1
    reason = "" if 0 <= profile.depth <= deepest else f"depth is {profile.depth}; expected 0 to {deepest}"
    return SetParametersResult(successful=not reason, reason=reason)


def overridden(node: Node, topic: str, profile: QoSProfile) -> QoSProfile:
    """The profile, with what the parameters ``qos_overrides.<topic>.publisher.<policy>`` say.

    For topics that come and go: the parameters are declared only to be read and leave nothing behind.
    """
    chosen = copy.copy(profile)
    prefix = f"qos_overrides.{node.resolve_topic_name(topic)}.publisher"
    chosen.depth = _read_once(node, f"{prefix}.depth", profile.depth)
    if not (checked := check_depth(chosen)).successful:
        node.get_logger().error(f"parameter '{prefix}.depth': {checked.reason}")
        chosen.depth = profile.depth
    for policy, choices in (("history", HistoryPolicy), ("reliability", ReliabilityPolicy)):
        value = _read_once(node, f"{prefix}.{policy}", getattr(profile, policy).name.lower())
        if value.upper() in choices.__members__:
            setattr(chosen, policy, choices[value.upper()])
        else:
            known = ", ".join(one.lower() for one in choices.__members__)
            node.get_logger().error(f"parameter '{prefix}.{policy}' is '{value}'; expected one of {known}")
    return chosen


def _read_once(node: Node, name: str, default: Any) -> Any:
    """The value of a parameter that nobody can set later; one of a wrong type is told and ignored."""
    try:
        value = node.declare_parameter(name, default).value
    except ParameterException as error:
        node.get_logger().error(str(error))
        return default
    node.undeclare_parameter(name)
    return value

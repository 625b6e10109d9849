"""What the node says when it starts."""

from __future__ import annotations

from collections.abc import Sequence

from raisim_ros.ros.node.parameters import Parameters
from raisim_ros.ros.node.stepping import SteppingLoop

_TOPICS = (
    "world/state",
    "world/cmd",
    "<object>/state",
    "<object>/cmd",
    "<robot>/joint_states",
    "<robot>/joint_cmd",
    "<robot>/joint_trajectory",
    "<robot>/robot_description",
    "<robot>/cmd_vel",
    "<object>/odom",
    "<robot>/<link>/state",
    "<robot>/<link>/cmd",
    "<wire>/state",
    "<wire>/cmd",
    "states",
    "contacts",
    "markers",
    "contact_markers",
)


def banner(values: Parameters, loop: SteppingLoop, namespace: str, services: Sequence[str]) -> str:
    """World, pace, topics and services."""
    prefix = namespace.rstrip("/")
    factor = "as fast as possible" if values.real_time_factor == 0.0 else f"{values.real_time_factor:g} x real time"
    pace = f"{factor}, paused" if values.paused else factor
    names = [entry.name for entry in loop.table]
    examples = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
    shown = {
        "/clock": values.publish_clock,
        "/tf": values.publish_tf,
        "/tf_static": values.publish_tf,
        "/diagnostics": True,
    }
    topics = [name for name, published in shown.items() if published]
    topics += [f"{prefix}/{name}" for name in _TOPICS if "markers" not in name or values.publish_markers]
    world = values.world or (f"replay of {values.replay}" if values.replay else "default world")
    return "\n".join(
        (
            f"raisim_ros: {world}, {len(names)} objects ({examples})",
            f"  time step {loop.world.get_time_step():g} s, {pace}",
            f"  topics    {_wrapped(topics)}",
            f"  services  {_wrapped([f'{prefix}/{name}' for name in sorted(services)])}",
            "  stop with Ctrl-C",
        )
    )


def _wrapped(words: Sequence[str], width: int = 90) -> str:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word}  "
    return ("\n" + " " * 12).join(line.rstrip() for line in lines)

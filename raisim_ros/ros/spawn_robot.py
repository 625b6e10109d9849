"""`spawn_robot`: adds a robot to a running world, from the command line or a launch file."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import Any

from raisim_ros.client import Client
from raisim_ros.description.errors import RaisimError

# Robots may have meshes to be decomposed [s].
_PATIENCE = 600.0


def main(args: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit code."""
    parser = argparse.ArgumentParser(prog="spawn_robot", description=main.__doc__)
    parser.add_argument("--file", required=True, help="URDF, xacro or MJCF file: path, package:// or file:// address")
    parser.add_argument("--name", default="robot", help="its name, which is the namespace of its topics")
    parser.add_argument("--world", default="", help="namespace of the world")
    parser.add_argument("--position", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"))
    parser.add_argument("--yaw", type=float, default=0.0, help="[rad]")
    parser.add_argument("--p-gain", type=float, default=0.0, help="position gain of all joints; 0: none")
    parser.add_argument("--d-gain", type=float, default=0.0, help="velocity gain of all joints; 0: none")
    parser.add_argument("--timeout", type=float, default=30.0, help="how long to wait for the world [s]")
    own = list(sys.argv[1:] if args is None else args)
    if "--ros-args" in own:  # what launch adds
        own = own[: own.index("--ros-args")]
    chosen = parser.parse_args(own)
    quaternion = (math.cos(0.5 * chosen.yaw), 0.0, 0.0, math.sin(0.5 * chosen.yaw))
    gains: dict[str, Any] = {}
    if chosen.p_gain or chosen.d_gain:
        gains = {"p_gains": [chosen.p_gain], "d_gains": [chosen.d_gain]}
    try:
        with Client(chosen.world, chosen.timeout) as world:
            place = (chosen.file, chosen.position, quaternion)
            if chosen.file.endswith((".urdf", ".xacro")):
                name = world.spawn_robot(chosen.name, *place, _PATIENCE, **gains).name
            else:
                name = world.spawn_entity(chosen.name, *place, timeout=_PATIENCE).name
                if gains:
                    world.call("set_joint_gains", name=name, **gains)
            print(f"spawn_robot: added '{name}'", flush=True)
    except RaisimError as error:
        print(f"spawn_robot: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""tools/env.sh: which ROS 2 it takes."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def flavour(prefix):
    """The flavour it chooses with an AMENT_PREFIX_PATH, and what that becomes."""
    command = 'source tools/env.sh && printf "%s\\n%s" "$RAISIM_FLAVOUR" "$AMENT_PREFIX_PATH"'
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "AMENT_PREFIX_PATH": str(prefix)}
    output = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    name, _, path = output.stdout.partition("\n")
    return name, path.split(":")


def test_a_prefix_without_rclpy_is_no_ros_installation(tmp_path):
    (tmp_path / "share" / "something").mkdir(parents=True)
    name, path = flavour(tmp_path)
    assert name == "jazzy"
    assert path[-1] == str(tmp_path)


def test_a_prefix_with_rclpy_is_one(tmp_path):
    (tmp_path / "share" / "rclpy").mkdir(parents=True)
    name, path = flavour(f"/no/such/overlay:{tmp_path}")
    assert name == "system-unknown"
    assert str(tmp_path) in path

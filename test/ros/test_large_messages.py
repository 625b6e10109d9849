"""With the FastDDS profile of the package, large best-effort messages arrive; without it most are lost."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

ENDS = Path(__file__).with_name("large_message_ends.py")
PROFILE = Path(__file__).parents[2] / "config" / "fastdds.xml"


def test_every_image_arrives(ros_environment):
    if ros_environment.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp") != "rmw_fastrtps_cpp":
        pytest.skip("the profile is for FastDDS")
    fastdds_2 = ros_environment.get("ROS_DISTRO") in ("humble", "jazzy")
    variable = "FASTRTPS_DEFAULT_PROFILES_FILE" if fastdds_2 else "FASTDDS_DEFAULT_PROFILES_FILE"
    environment = {**ros_environment, variable: str(PROFILE)}
    publisher = subprocess.Popen([sys.executable, str(ENDS), "publish"], env=environment)
    try:
        subscriber = subprocess.run(
            [sys.executable, str(ENDS), "subscribe"], env=environment, capture_output=True, text=True, timeout=90
        )
    finally:
        publisher.kill()
        publisher.wait()
    assert "XMLPARSER" not in subscriber.stderr
    assert subscriber.stdout.strip() == "100", subscriber.stderr

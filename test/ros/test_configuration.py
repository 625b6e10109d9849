"""Shipped files and documentation agree with the code."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("yaml", reason="needs PyYAML")

import yaml

from raisim_ros.ros.node import parameters
from raisim_ros.ros.node.dds_profile import OWN, SHARED, choose_own_profile

ROOT = Path(__file__).parents[2]
FASTDDS_2, FASTDDS_3 = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"


def test_parameter_file_has_every_parameter_at_its_default():
    content = yaml.safe_load((ROOT / "config" / "world.yaml").read_text())
    shipped = content["/**"]["ros__parameters"]
    declared = {name: default for name, (default, *_) in parameters._DECLARATIONS.items()}
    assert shipped == declared
    assert {name: type(value) for name, value in shipped.items()} == {
        name: type(value) for name, value in declared.items()
    }


def test_every_interface_and_parameter_is_documented():
    documentation = (ROOT / "docs" / "ros_interface.md").read_text()
    for service in (ROOT / "srv").glob("*.srv"):
        assert service.stem in documentation
        assert re.sub(r"(?<!^)(?=[A-Z])", "_", service.stem).lower() in documentation
    for rate in (name for name in parameters._DECLARATIONS if name.endswith(("_hz", "_s"))):
        assert rate in documentation


def test_every_service_answers_with_result_and_message():
    for service in (ROOT / "srv").glob("*.srv"):
        answer = service.read_text().split("---\n")[1].splitlines()
        fields = [line.split()[:2] for line in answer if line and not line.startswith("#")]
        assert fields[:2] == [["uint8", "result"], ["string", "message"]], service.name


def profiles(file):
    """Elements of a FastDDS profile below <profiles>: writers, and all others as text, without properties."""
    space = "{http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles}"
    found = list(ElementTree.parse(ROOT / "config" / file).getroot().find(f"{space}profiles"))
    for participant in (one for one in found if one.tag == f"{space}participant"):
        settings = participant.find(f"{space}rtps")
        for properties in settings.findall(f"{space}propertiesPolicy"):
            settings.remove(properties)
    writers = {one.get("profile_name"): one for one in found if one.tag == f"{space}data_writer"}
    return writers, [ElementTree.canonicalize(ElementTree.tostring(one), strip_text=True) for one in found if one not in writers.values()]


def test_only_states_of_the_node_wait_before_they_are_sent_again():
    """Requests, answers and commands are sent while their readers are discovered; a fresh client waited 3 s for every
    tenth answer when these writers, too, ignored for a second that something was missed."""
    writers, others = profiles(OWN[FASTDDS_2])
    assert profiles(SHARED) == profiles(OWN[FASTDDS_3]) == ({}, others)
    assert others
    assert writers.pop("raisim_ros_writer").get("is_default_profile") == "true"
    assert {name: len(one) for name, one in writers.items()} == {"service": 0, "client": 0}


ENDPOINTS = """
import os, time, rclpy
from rosgraph_msgs.msg import Clock
rclpy.init()
here = rclpy.create_node("here")
other = rclpy.Context()
other.init()
elsewhere = rclpy.create_node("elsewhere", context=other)
publisher = here.create_publisher(Clock, "topic", 1)
readers = [node.create_subscription(Clock, "topic", print, 1) for node in (here, elsewhere)]
end = time.monotonic() + 20
while publisher.get_subscription_count() == 0 and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(publisher.get_subscription_count(), here.count_subscribers("topic"), flush=True)
os._exit(0)
"""


def test_topics_of_the_node_are_not_compared_with_each_other(ros_environment):
    """3000 objects took half a minute to get their topics: every reader was matched against all the node's writers."""
    variable = FASTDDS_2 if ros_environment.get("ROS_DISTRO") in ("humble", "jazzy") else FASTDDS_3
    environment = ros_environment | {variable: str(ROOT / "config" / OWN[variable])}
    run = subprocess.run([sys.executable, "-c", ENDPOINTS], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["1", "2"], run.stderr  # who else reads is served, and both are seen in the graph


@pytest.mark.parametrize("variable", [FASTDDS_2, FASTDDS_3])
def test_the_node_takes_its_own_profile_unless_the_user_has_one(variable, tmp_path, monkeypatch):
    theirs = tmp_path / SHARED  # of that name, elsewhere, alone
    theirs.write_text("<dds/>")
    for given, taken in ((ROOT / "config" / SHARED, ROOT / "config" / OWN[variable]), (theirs, theirs)):
        monkeypatch.setenv(variable, str(given))
        choose_own_profile()
        choose_own_profile()
        assert os.environ[variable] == str(taken)
    monkeypatch.delenv(variable)
    choose_own_profile()
    assert variable not in os.environ


def test_both_versions_of_fastdds_read_the_shared_profile():
    """FastDDS 3 refuses a whole file for a word that it does not know, as those of writers' times."""
    text = (ROOT / "config" / SHARED).read_text()
    assert "data_writer" not in text
    assert "Duration>" not in text.replace("leaseDuration>", "")

"""What docs/robot_files.md shows is true."""

import re
from pathlib import Path

import numpy as np
import pytest

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.resources import resource, resource_dir
from raisim_ros.description.robot.model import Child
from raisim_ros.description.urdf.file import load_urdf, tree_from_child

PAGE = Path(__file__).resolve().parents[3] / "docs/robot_files.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_template_loads():
    (template,) = (block for block in blocks("xml") if block.startswith("<robot"))
    assert [body.joint_name for body in load_urdf(template).bodies] == ["ROOT", "joint_1", "joint_2", "joint_3"]
    assert len(load_urdf(template, params={"n": 10}).bodies) == 11


def test_the_pin_is_that_of_the_four_bar_linkage():
    (pin,) = (block for block in blocks("xml") if block.startswith("<constraints"))
    text = load_urdf(resource("robots/four_bar.urdf")).robot_description
    own = re.search(r"<constraints.*</constraints>", text, re.DOTALL)
    assert own is not None
    assert own.group().split() == pin.split()


def test_the_robot_in_code():
    (code,) = (block for block in blocks("python") if "Child(" in block)
    names = {}
    exec(code.partition("system =")[0], names)
    assert isinstance(names["robot"], Child)
    tree = tree_from_child(names["robot"])
    assert tree.fixed_base
    np.testing.assert_array_equal(tree.bodies[1].axis, (0, 1, 0))


def test_every_robot_is_listed():
    listed = set(re.findall(r"^\| `(\w+\.urdf)` \| (?=[0-9a-z`])", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {path.name for path in (resource_dir() / "robots").glob("*.urdf")} <= listed


def test_the_errors_are_worded_as_shown():
    shown = PAGE.read_text(encoding="utf-8")
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{}</link>'
    joint = '<joint name="elbow" type="hinge"><parent link="base"/><child link="camera"/></joint>'
    mesh = '<visual><geometry><mesh filename="meshes/hand.stl"/></geometry></visual>'
    two = link.format("base", "") + link.format("camera", "")
    for body in (two, two + joint, link.format("gripper", mesh)):
        with pytest.raises(RaisimError) as caught:
            load_urdf(f"<robot>{body}</robot>")
        message = str(caught.value).partition(": ")[2].partition("looked at")[0]
        assert message in shown

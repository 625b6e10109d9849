"""URDF as people write it: what other tools leave behind, and what authors forget, is no reason to refuse a robot."""

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.description.robot.tree_regularity import find_singular_body
from raisim_ros.description.urdf.file import load_urdf

BODY = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
BOX = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'


def link(name, content=BODY):
    return f'<link name="{name}">{content}</link>'


def hinge(name, parent, child, more="", axis="0 0 1"):
    return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0.3 0 0"/><axis xyz="{axis}"/>{more}</joint>')


def test_massless_tips_get_a_little_inertia_and_a_warning_names_them():
    text = ("<robot name='r'>" + link("a") + link("b") + link("tip", "") + link("end", "") + hinge("j", "a", "b")
            + hinge("k", "b", "tip") + hinge("l", "tip", "end") + "</robot>")
    with pytest.warns(RuntimeWarning, match=r"small rotor inertia: 'l' \(4e-07\)"):
        tree = load_urdf(text)
    assert find_singular_body(tree) is None
    assert tree.bodies[1].rotor_inertia == 0.0
    assert [body.mass for body in tree.bodies] == [2.0, 2.0, 0.0, 0.0]  # no mass was added
    robot = World().add_articulated_system(tree)
    assert np.linalg.eigvalsh(robot.get_mass_matrix()).min() > 0.0


def test_a_joint_that_mimics_nobody_moves_on_its_own():
    text = "<robot name='r'>" + link("a") + link("b") + hinge("j", "a", "b", '<mimic joint="gone"/>') + "</robot>"
    with pytest.warns(RuntimeWarning, match=r"joints mimic joints that do not exist and move on their own: 'j' \('gone'\)"):
        assert load_urdf(text).bodies[1].mimic is None


def test_a_chain_of_mimics_is_followed_to_its_leader():
    text = ("<robot name='r'>" + "".join(map(link, "abcd")) + hinge("j", "a", "b")
            + hinge("k", "b", "c", '<mimic joint="j" multiplier="2" offset="0.5"/>')
            + hinge("l", "c", "d", '<mimic joint="k" multiplier="-3" offset="0.1"/>') + "</robot>")
    bodies = load_urdf(text).bodies
    assert bodies[2].mimic == ("j", 2.0, 0.5)
    assert bodies[3].mimic == ("j", -6.0, pytest.approx(0.1 - 1.5))


def test_what_belongs_to_other_tools_is_passed_over():
    extras = ('''<gazebo reference="b"><mu1>0.9</mu1><sensor type="imu" name="s"><update_rate>100</update_rate></sensor></gazebo>
        <gazebo><plugin filename="libgazebo_ros2_control.so" name="c"><parameters>@@x $(find y)</parameters></plugin></gazebo>
        <transmission name="t"><joint name="j"/><actuator name="m"/></transmission>
        <ros2_control name="h" type="system"><joint name="j"><command_interface name="position"/></joint></ros2_control>
        <sensor name="cam"><parent link="b"/></sensor>''')
    nested = link("b", BODY + BOX + '<sensor name="cam" type="camera"><camera/></sensor><self_collide>1</self_collide>')
    plain, full = (load_urdf(f"<robot name='r'>{link('a')}{nested}{hinge('j', 'a', 'b')}{more}</robot>") for more in ("", extras))
    assert [body.joint_name for body in full.bodies] == [body.joint_name for body in plain.bodies]
    assert len(full.bodies[1].collisions) == 1


def test_names_may_have_slashes_and_blanks():
    text = (f"<robot name='r'>{link('left/arm', BODY + BOX)}{link('left/hand palm', BODY + BOX)}"
            f"{hinge('left/wrist', 'left/arm', 'left/hand palm')}</robot>")
    robot = World().add_articulated_system(text)
    assert robot.get_body_names() == ["left/arm", "left/hand palm"]
    assert robot.get_collision_body("left/hand palm/0").name == "left/hand palm/0"
    assert robot.get_movable_joint_names() == ["ROOT", "left/wrist"]


def test_output_of_a_tool_and_a_second_declaration_before_the_robot(tmp_path):
    file = tmp_path / "robot.urdf"
    declaration = '<?xml version="1.0" ?>\n'
    file.write_text("Warning: deprecated\n" + declaration + "<!-- by xacro -->\n" + declaration + f"<robot name='r'>{link('a')}</robot>")
    assert load_urdf(file).name == "r"

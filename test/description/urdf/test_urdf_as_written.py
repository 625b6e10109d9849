"""URDF as people write it: what other tools leave behind, and what authors forget, is no reason to refuse a robot."""

import numpy as np
import pytest

from raisim_ros import UrdfError, World
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


def test_a_lone_link_without_inertia_about_one_axis_gets_a_little():
    rod = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0"/></inertial>'
    with pytest.warns(RuntimeWarning, match=r"base 'a' got 2e-07 kg·m² about each axis"):
        tree = load_urdf(f"<robot name='r'>{link('a', rod + BOX)}</robot>")
    assert find_singular_body(tree) is None
    assert tree.bodies[0].mass == 2.0
    with pytest.raises(UrdfError, match="the floating base 'a' moves without any inertia"):
        load_urdf(f"<robot name='r'>{link('a', BOX)}</robot>")


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


def test_the_same_of_many_links_is_told_once():
    names = [f"l{k}" for k in range(6)]
    links = "".join(map(link, names)) + "".join(hinge(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(5))
    blocks = "".join(f'<gazebo reference="{name}"><s:ray xmlns:s="http://x.org/#sensor"/><stopKd>1</stopKd></gazebo>' for name in names)
    with pytest.warns(RuntimeWarning) as told:
        load_urdf(f"<robot name='r'>{links}{blocks}<gazebo><canonicalBody/></gazebo></robot>")
    expected = "<gazebo> <ray> of 'l0' and 5 more; <gazebo> <stopKd> of 'l0' and 5 more; <gazebo> <canonicalBody>"
    assert [str(one.message) for one in told] == [f"text: not read: {expected}"]


def test_what_belongs_to_other_tools_is_passed_over():
    extras = ('''<gazebo reference="b"><mu1>0.9</mu1><sensor type="imu" name="s"><update_rate>100</update_rate></sensor></gazebo>
        <gazebo><plugin filename="libgazebo_ros2_control.so" name="c"><parameters>@@x $(find y)</parameters></plugin></gazebo>
        <transmission name="t"><joint name="j"/><actuator name="m"/></transmission>
        <ros2_control name="h" type="system"><joint name="j"><command_interface name="position"/></joint></ros2_control>
        <sensor name="cam"><parent link="b"/></sensor>''')
    nested = link("b", BODY + BOX + '<sensor name="cam" type="camera"><camera/></sensor><self_collide>1</self_collide>')
    plain = load_urdf(f"<robot name='r'>{link('a')}{nested}{hinge('j', 'a', 'b')}</robot>")
    with pytest.warns(RuntimeWarning, match=r"not read: <gazebo> sensor 's' \(imu\); <gazebo> plugin 'c'") as told:
        full = load_urdf(f"<robot name='r'>{link('a')}{nested}{hinge('j', 'a', 'b')}{extras}</robot>")
    assert len(told) == 1
    assert [body.joint_name for body in full.bodies] == [body.joint_name for body in plain.bodies]
    assert len(full.bodies[1].collisions) == 1


@pytest.mark.parametrize("block", [
    "<mu1>0.3</mu1><mu2>0.3</mu2>", "<mu>0.3</mu>", "<mu2>0.3</mu2><kp>1e6</kp>",
    "<collision><surface><friction><ode><mu>0.3</mu><mu2>0.3</mu2></ode></friction></surface></collision>",
])
def test_friction_of_gazebo_acts(block, recwarn):
    """A box on a slope: it slides with the acceleration of its own friction, whatever the default one is."""
    flat = BOX.replace("0.1 0.1 0.1", "1 1 0.1")
    text = f"<robot name='r'>{link('a', BODY + flat)}<gazebo reference='a'>{block}</gazebo></robot>"
    world, angle = World(), 0.6
    world.set_default_material(1.5, 0.0, 0.0)
    world.add_ground()
    world.set_gravity((9.81 * np.sin(angle), 0, -9.81 * np.cos(angle)))
    robot = world.add_articulated_system(text)
    assert robot.get_collision_body("a/0").material == "gazebo_0.3"
    robot.set_base_pos((0, 0, 0.05))
    world.integrate(round(0.5 / world.get_time_step()))
    expected = 9.81 * (np.sin(angle) - 0.3 * np.cos(angle)) * 0.5
    assert robot.get_generalized_velocity()[0] == pytest.approx(expected, rel=1e-3)
    assert not [warning for warning in recwarn if "not read" in str(warning.message)]


def test_of_two_frictions_of_gazebo_the_smaller_holds():
    world = World()
    world.set_material_pair_prop("gazebo_0.7", "default", 0.1, 0.0, 0.0)
    for mu in (0.3, 0.7):
        world.add_articulated_system(f"<robot name='r'>{link('a', BODY + BOX)}<gazebo reference='a'><mu1>{mu}</mu1></gazebo></robot>")
    friction = {pair: world.get_material_pair_properties(*pair).friction
                for pair in (("gazebo_0.3", "gazebo_0.7"), ("gazebo_0.3", "default"), ("default", "gazebo_0.7"))}
    assert list(friction.values()) == [0.3, 0.3, 0.1]  # what a user has set stays
    contact = "<material><contact name='ice'/></material>"
    shape = BOX.replace("</collision>", f"{contact}</collision>")
    tree = load_urdf(f"<robot name='r'>{link('a', BODY + shape)}<gazebo reference='a'><mu1>0.5</mu1></gazebo></robot>")
    assert tree.bodies[0].collisions[0].material == "ice"


def test_friction_of_gazebo_that_cannot_be_read_is_told():
    block = "<mu1>0.5</mu1><mu2>0.1</mu2>"
    text = f"<robot name='r'>{link('a', BODY + BOX)}<gazebo reference='{{}}'>{{}}</gazebo></robot>"
    for name, found, words in (("a", block, "mu2 of 'a'"), ("gone", block, "friction of 'gone', which is no link")):
        with pytest.warns(RuntimeWarning, match=words):
            load_urdf(text.format(name, found))
    huge = load_urdf(text.format("a", "<mu1>1e14</mu1><mu2>1e14</mu2>"))  # does not slip
    assert huge.bodies[0].collisions[0].material == "gazebo_2"
    for odd in ("-1", "${mu}", "nan", ""):
        assert load_urdf(text.format("a", f"<mu1>{odd}</mu1>")).bodies[0].collisions[0].material == "default"


def test_limits_of_ros2_control_narrow_those_of_the_joint():
    def bounds(name, low, high):
        return f"<command_interface name='{name}'><param name='min'>{low}</param><param name='max'>{high}</param></command_interface>"

    limit = '<limit lower="-1" upper="2" effort="50" velocity="3"/>'
    control = bounds("position", -0.5, 9) + bounds("velocity", -2, 2) + bounds("effort", -80, 80)
    text = ("<robot name='r'>" + link("a") + link("b") + hinge("j", "a", "b", limit).replace("continuous", "revolute")
            + "<ros2_control name='h' type='system'><joint name='j'>{}</joint></ros2_control></robot>")
    body = load_urdf(text.format(control)).bodies[1]
    assert (body.lower, body.upper, body.velocity_limit, body.effort_limit) == (-0.5, 2.0, 2.0, 50.0)
    body = load_urdf(text.format(bounds("position", 1, -1))).bodies[1]  # nothing is left: the joint's own stay
    assert (body.lower, body.upper) == (-1.0, 2.0)
    with pytest.warns(RuntimeWarning, match="command interface 'stiffness' of joint 'j'"):
        load_urdf(text.format("<command_interface name='stiffness'/>"))


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


def test_a_nul_behind_the_robot(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_bytes(f"<robot name='r'>{link('a')}</robot>\r\n\0".encode())
    assert load_urdf(file).name == "r"


def test_variables_of_a_launch_file_have_the_values_that_are_written_with_them(monkeypatch):
    monkeypatch.setenv("IMU_XYZ", "9 9 9")  # what the environment says is not the file's
    text = ("<robot name='r'>" + link("a") + link("b")
            + hinge("j", "a", "b").replace("0.3 0 0", "$(optenv IMU_XYZ 0.1 0.2 0.3)") + "</robot>")
    np.testing.assert_array_equal(load_urdf(text).bodies[1].joint_position, [0.1, 0.2, 0.3])


def test_visuals_without_extent_are_left_out_with_a_warning():
    flat = ('<visual><geometry><sphere radius="0"/></geometry></visual><visual><geometry><box size="1 1 1"/></geometry></visual>')
    with pytest.warns(RuntimeWarning, match="not read: visuals of link 'a' whose size is zero"):
        tree = load_urdf(f"<robot name='r'>{link('a', BODY + flat)}</robot>")
    assert [visual.shape for visual in tree.bodies[0].visuals] == ["box"]

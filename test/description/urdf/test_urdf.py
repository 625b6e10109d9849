"""Every construct of a robot file."""

import sys

import numpy as np
import pytest
import trimesh

from raisim_ros.description.errors import FileMissingError, InvalidValueError, ParseError, TemplateError
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.rotation import matrix_from_rpy
from raisim_ros.description.urdf.file import load_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def two_links(joint, child="", parent=INERTIAL):
    """A base and a link on one joint."""
    return f"""<robot name="two">
      <link name="base">{parent}</link>
      <link name="tip">{INERTIAL}{child}</link>
      {joint.replace("PC", '<parent link="base"/><child link="tip"/>')}
    </robot>"""


def tip(joint, **options):
    return load_urdf(two_links(joint), **options).bodies[1]


# ---- joints ----


def test_revolute_joint_with_everything():
    body = tip(
        """<joint name="j" type="revolute">PC
             <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/> <axis xyz="0 0 2"/>
             <limit lower="-1.5" upper="0.5" effort="20" velocity="3"/>
             <dynamics damping="0.1" friction="0.2" rotor_inertia="0.3" stiffness="4" spring_mount="0.5"/>
           </joint>"""
    )
    assert (body.name, body.joint_name, body.joint_type, body.parent) == ("tip", "j", JointType.REVOLUTE, 0)
    np.testing.assert_array_equal(body.joint_position, (1, 2, 3))
    np.testing.assert_array_equal(body.joint_rotation, matrix_from_rpy((0.1, 0.2, 0.3)))
    np.testing.assert_array_equal(body.axis, (0, 0, 1))  # made a unit vector
    assert (body.lower, body.upper, body.effort_limit, body.velocity_limit) == (-1.5, 0.5, 20.0, 3.0)
    assert (body.damping, body.friction, body.rotor_inertia) == (0.1, 0.2, 0.3)
    assert (body.stiffness, body.spring_mount) == (4.0, 0.5)


def test_what_a_joint_does_not_say():
    body = tip('<joint name="j" type="revolute">PC</joint>')
    np.testing.assert_array_equal(body.axis, (1, 0, 0))
    np.testing.assert_array_equal(body.joint_rotation, np.eye(3))
    assert (body.lower, body.upper, body.effort_limit, body.velocity_limit) == (-np.inf, np.inf, np.inf, np.inf)
    assert (body.damping, body.friction, body.rotor_inertia, body.stiffness, body.spring_mount) == (0, 0, 0, 0, 0)
    assert body.mimic is None


def test_one_sided_and_infinite_limits():
    body = tip('<joint name="j" type="prismatic">PC<limit lower="0.5" upper="inf"/></joint>')
    assert (body.joint_type, body.lower, body.upper) == (JointType.PRISMATIC, 0.5, np.inf)


def test_zero_velocity_limit_is_no_limit_and_zero_effort_is_one():
    body = tip('<joint name="j" type="revolute">PC<limit effort="0" velocity="0"/></joint>')
    assert (body.effort_limit, body.velocity_limit) == (0.0, np.inf)


def test_continuous_joint_has_no_position_limits():
    body = tip('<joint name="j" type="continuous">PC<limit lower="-1" upper="1" effort="2"/></joint>')
    assert (body.joint_type, body.lower, body.upper, body.effort_limit) == (JointType.REVOLUTE, -np.inf, np.inf, 2.0)


def test_spherical_joint():
    body = tip(
        """<joint name="j" type="spherical">PC<limit lower="0.7" upper="0"/>
             <dynamics stiffness="3" spring_mount="2 0 0 0"/></joint>"""
    )
    assert (body.joint_type, body.upper) == (JointType.SPHERICAL, 0.7)
    np.testing.assert_array_equal(body.spring_mount, (1, 0, 0, 0))
    free = tip('<joint name="j" type="spherical">PC</joint>')
    assert free.upper == np.inf
    np.testing.assert_array_equal(free.spring_mount, (1, 0, 0, 0))


def test_mimic():
    text = two_links('<joint name="j" type="revolute">PC</joint>').replace(
        "</robot>",
        f"""<link name="finger">{INERTIAL}</link><joint name="k" type="revolute">
            <parent link="base"/><child link="finger"/>
            <mimic joint="j" multiplier="-2" offset="0.5"/></joint></robot>""",
    )
    assert load_urdf(text).bodies[2].mimic == ("j", -2.0, 0.5)
    plain = text.replace(' multiplier="-2" offset="0.5"', "")
    assert load_urdf(plain).bodies[2].mimic == ("j", 1.0, 0.0)


def test_commas_and_spaces_between_numbers():
    body = tip('<joint name="j" type="revolute">PC<origin xyz="1, 2 ,3"/><axis xyz="0,1,0"/></joint>')
    np.testing.assert_array_equal(body.joint_position, (1, 2, 3))
    np.testing.assert_array_equal(body.axis, (0, 1, 0))


# ---- base ----


@pytest.mark.parametrize(
    ("root", "base", "fixed"),
    [
        ("world", "auto", True),
        ("base", "auto", False),
        ("world", "floating", False),
        ("base", "fixed", True),
    ],
)
def test_base(root, base, fixed):
    tree = load_urdf(f'<robot><link name="{root}">{INERTIAL}</link></robot>', base=base)
    assert tree.fixed_base is fixed
    body = tree.bodies[0]
    assert (body.name, body.parent) == (root, -1)
    if fixed:
        assert (body.joint_name, body.joint_type, tree.frames) == ("", JointType.FIXED, [])
        assert (tree.coordinate_dim, tree.velocity_dim) == (0, 0)
    else:
        assert (body.joint_name, body.joint_type) == ("ROOT", JointType.FLOATING)
        assert [frame.name for frame in tree.frames] == ["ROOT"]
        assert (tree.coordinate_dim, tree.velocity_dim) == (7, 6)
        np.testing.assert_array_equal(tree.zero_configuration, (0, 0, 0, 1, 0, 0, 0))


def test_fixed_base_needs_no_mass():
    tree = load_urdf(two_links('<joint name="j" type="revolute">PC</joint>', parent=""), base="fixed")
    assert tree.bodies[0].mass == 0.0


def test_floating_joint_below_world_is_a_floating_base():
    text = two_links('<joint name="j" type="floating">PC</joint>', parent="").replace('"base"', '"world"')
    tree = load_urdf(text)
    assert (tree.fixed_base, len(tree.bodies), tree.bodies[0].name) == (False, 1, "tip")
    assert tree.bodies[0].joint_name == "ROOT"
    assert load_urdf(text, base="fixed").fixed_base


def test_dimensions():
    text = """<robot><link name="world"/>""" + "".join(
        f"""<link name="l{i}">{INERTIAL}</link><joint name="j{i}" type="{kind}">
            <parent link="world"/><child link="l{i}"/></joint>"""
        for i, kind in enumerate(["revolute", "spherical", "prismatic"])
    )
    tree = load_urdf(text + "</robot>")
    assert (tree.coordinate_dim, tree.velocity_dim) == (6, 5)
    np.testing.assert_array_equal(tree.zero_configuration, (0, 1, 0, 0, 0, 0))


# ---- links ----


def test_inertial_frame_is_turned_into_the_link():
    text = """<robot><link name="a"><inertial><origin xyz="1 2 3" rpy="0.3 -0.5 1.1"/><mass value="2"/>
              <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial></link></robot>"""
    body = load_urdf(text).bodies[0]
    rotation = matrix_from_rpy((0.3, -0.5, 1.1))
    own = np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])
    assert body.mass == 2.0
    np.testing.assert_array_equal(body.com, (1, 2, 3))
    np.testing.assert_allclose(body.inertia, rotation @ own @ rotation.T, rtol=1e-14)


def test_shapes(tmp_path):
    trimesh.creation.box().export(tmp_path / "box.stl")
    shapes = [
        ('<box size="1 2 3"/>', "box", (1, 2, 3)),
        ('<sphere radius="0.5"/>', "sphere", (0.5,)),
        ('<cylinder radius="0.5" length="2"/>', "cylinder", (0.5, 2)),
        ('<capsule radius="0.5" height="2"/>', "capsule", (0.5, 2)),
        ('<capsule radius="0.5" length="3"/>', "capsule", (0.5, 3)),
        ('<mesh filename="box.stl" scale="1 2 -3"/>', "mesh", ()),
        ('<mesh filename="box.stl"/>', "mesh", ()),
    ]
    parts = "".join(
        f'<{kind}><origin xyz="0 0 {k}" rpy="0 0 0.5"/><geometry>{xml}</geometry></{kind}>'
        for kind in ("collision", "visual")
        for k, (xml, _, _) in enumerate(shapes)
    )
    body = load_urdf(f'<robot><link name="a">{INERTIAL}{parts}</link></robot>', res_path=tmp_path).bodies[0]
    for found in (body.collisions, body.visuals):
        assert [part.name for part in found] == [f"a/{k}" for k in range(len(shapes))]
        for k, (part, (_, shape, dim)) in enumerate(zip(found, shapes, strict=True)):
            assert (part.shape, part.dim, part.link) == (shape, dim, "a")
            np.testing.assert_array_equal(part.position, (0, 0, k))
            np.testing.assert_array_equal(part.rotation, matrix_from_rpy((0, 0, 0.5)))
        assert found[5].mesh_file == str(tmp_path / "box.stl")
        np.testing.assert_array_equal(found[5].scale, (1, 2, -3))
        np.testing.assert_array_equal(found[6].scale, (1, 1, 1))
        assert found[0].mesh_file is None


def test_contact_materials():
    shape = '<geometry><sphere radius="1"/></geometry>'
    text = f"""<robot><link name="a">{INERTIAL}
       <collision>{shape}<material><contact name="ice"/></material></collision>
       <collision>{shape}</collision><collision>{shape}<material name="grey"/></collision></link></robot>"""
    assert [part.material for part in load_urdf(text).bodies[0].collisions] == ["ice", "default", "default"]


def test_colours():
    shape = '<geometry><sphere radius="1"/></geometry>'
    text = f"""<robot>
      <link name="a">{INERTIAL}
        <visual>{shape}<material name="later"/></visual>
        <visual>{shape}<material name="own"><color rgba="0.1 0.2 0.3 0.4"/></material></visual>
        <visual>{shape}<material name="own"/></visual>
        <visual>{shape}<material name="nowhere"/></visual>
        <visual>{shape}</visual>
        <visual>{shape}<material name=""><color rgba="255 -1 0 1"/></material></visual>
      </link><material name="later"><color rgba="1 0 0 1"/></material></robot>"""
    own = (0.1, 0.2, 0.3, 0.4)
    colors = [part.color for part in load_urdf(text).bodies[0].visuals]
    assert colors == [(1, 0, 0, 1), own, own, None, None, (1, 0, 0, 1)]


def test_what_belongs_to_other_tools_is_passed_over():
    text = f"""<robot xmlns:xacro="http://ros.org/wiki/xacro">
      <xacro:property name="x" value="${{1+1}}"/>
      <gazebo reference="a"><plugin>{{not: math}} @@nor_this</plugin></gazebo>
      <link name="a">{INERTIAL}<contact><lateral_friction value="1"/></contact><self_collision_checking/></link>
      <link name="b">{INERTIAL}</link>
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/>
        <safety_controller k_velocity="0"/><calibration rising="0"/><joint_properties damping="9" friction="9"/></joint>
      <transmission name="t"><joint name="nowhere"/></transmission>
      <ros2_control name="r" type="system"><joint name="also_nowhere"/></ros2_control>
      <actuator name="m"/><verbose value="Debug"/>
    </robot>"""
    tree = load_urdf(text)
    assert len(tree.bodies) == 2
    assert tree.bodies[1].damping == 0.0
    assert "gazebo" in tree.robot_description  # other readers of the description may need it


# ---- sensors, modules, pins ----

SENSOR_SET = """<sensor_set name="imu"><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
  <link><inertial><origin xyz="0.2 0 0"/><mass value="0.5"/><inertia ixx="1" iyy="2" izz="2.5"/></inertial>
    <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <sensor name="i" type="imu" update_rate="100"/></sensor_set>"""


def test_sensor_link(tmp_path):
    (tmp_path / "sensors").mkdir()
    (tmp_path / "sensors/imu.xml").write_text(SENSOR_SET)
    (tmp_path / "r.urdf").write_text(
        f"""<robot><link name="a">{INERTIAL}</link><link name="s" sensor="imu.xml" serial_number="7" model="m"/>
        <joint name="j" type="fixed"><parent link="a"/><child link="s"/><origin xyz="1 0 0"/></joint></robot>"""
    )
    tree = load_urdf(tmp_path / "r.urdf")
    (sensor,) = tree.sensors
    assert (sensor.link, sensor.body, sensor.serial_number, sensor.model) == ("s", 0, "7", "m")
    assert sensor.file == str(tmp_path / "sensors/imu.xml")
    assert (tree.bodies[0].mass, sensor.mass) == (1.5, 0.5)
    np.testing.assert_allclose(sensor.com, (1, 0.2, 0.1), atol=1e-15)  # the set's origin turns x to y
    np.testing.assert_allclose(sensor.inertia, np.diag((2, 1, 2.5)), atol=1e-15)
    np.testing.assert_allclose(tree.bodies[0].collisions[0].position, (1, 0, 0.1))


MODULE = f"""<link name="hand">{INERTIAL}</link>
<joint name="wrist" type="revolute"><parent link="tip"/><child link="hand"/><origin xyz="@@reach 0 0"/></joint>"""


@pytest.mark.parametrize("text", [MODULE, f"<robot>{MODULE}</robot>", f'<?xml version="1.0"?>\n{MODULE}'])
def test_modules(tmp_path, text):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/hand.urdf").write_text(text)
    (tmp_path / "r.urdf").write_text(two_links('<joint name="j" type="revolute">PC</joint>'))
    tree = load_urdf(tmp_path / "r.urdf", modules=["hand.urdf"], params={"reach": 0.3})
    assert [body.joint_name for body in tree.bodies] == ["ROOT", "j", "wrist"]
    np.testing.assert_array_equal(tree.bodies[2].joint_position, (0.3, 0, 0))
    assert 'name="wrist"' in tree.robot_description
    assert len(load_urdf(tree.robot_description).bodies) == 3


def test_mistakes_in_modules_name_the_module(tmp_path):
    (tmp_path / "r.urdf").write_text(two_links('<joint name="j" type="revolute">PC</joint>'))
    with pytest.raises(FileMissingError, match=r"module \(looked at .*modules/hand\.urdf.*'hand\.urdf' does not exist"):
        load_urdf(tmp_path / "r.urdf", modules=["hand.urdf"])
    (tmp_path / "hand.urdf").write_text('<link name="hand"/>\n<joint name="w" type="fixed">')
    with pytest.raises(ParseError, match=r"hand\.urdf:2: malformed"):
        load_urdf(tmp_path / "r.urdf", modules=["hand.urdf"])
    (tmp_path / "hand.urdf").write_text('\n<link name="tip"/>')
    with pytest.raises(ParseError, match=r"hand\.urdf:2: a second link 'tip'; the first one is in line 3"):
        load_urdf(tmp_path / "r.urdf", modules=["hand.urdf"])


PINNED = f"""<robot><link name="world"/><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>
  <link name="stick"/>
  <joint name="s" type="fixed"><parent link="b"/><child link="stick"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="ja" type="spherical"><parent link="world"/><child link="a"/></joint>
  <joint name="jb" type="revolute"><parent link="world"/><child link="b"/></joint>
  <constraints nominal_config="2 0 0 0 0.5"><pin body1="stick" body2="a" anchor="1 0 0"/></constraints></robot>"""


def test_pins():
    (pin,) = load_urdf(PINNED).pins
    assert (pin.body1, pin.body2) == (2, 1)
    np.testing.assert_allclose(pin.anchor, (0, 1, 1), atol=1e-15)  # from the stick's frame to its body's
    np.testing.assert_array_equal(pin.nominal_config, (1, 0, 0, 0, 0.5))


def test_nominal_config_follows_a_new_joint_order():
    (pin,) = load_urdf(PINNED, joint_order=["jb", "ja"]).pins
    assert (pin.body1, pin.body2) == (1, 2)
    np.testing.assert_array_equal(pin.nominal_config, (0.5, 1, 0, 0, 0))


def test_nominal_config_is_zero_by_default():
    (pin,) = load_urdf(PINNED.replace(' nominal_config="2 0 0 0 0.5"', "")).pins
    np.testing.assert_array_equal(pin.nominal_config, (1, 0, 0, 0, 0))


# ---- sources ----


def test_path_and_text_give_the_same(tmp_path, same_tree):
    text = two_links('<joint name="j" type="revolute">PC</joint>')
    file = tmp_path / "r.urdf"
    file.write_text("\n<!-- made by hand -->\n<?xml version='1.0'?>\n" + text)
    from_path, from_text = load_urdf(str(file)), load_urdf(text)
    same_tree(from_path, from_text, 0.0)
    assert (from_path.source, from_text.source) == (str(file), "text")
    assert from_path.resource_dir == str(tmp_path)
    assert from_path.name == "two"


def test_template(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(
        f"""<robot name="r@@n"><params><n value="2"/><l value="0.5"/></params><link name="l0">{INERTIAL}</link>
        <array idx="@@i" start="1" end="@@n"><link name="l@@i">{INERTIAL}</link>
          <joint name="j@@i" type="revolute"><parent link="l{{@@i-1}}"/><child link="l@@i"/>
            <origin xyz="{{@@l*2}} 0 0"/></joint></array>
        <link name="spare" exist="false"/></robot>"""
    )
    assert [body.joint_name for body in load_urdf(file).bodies] == ["ROOT", "j1", "j2"]
    tree = load_urdf(file, params={"n": 30})
    assert (tree.name, len(tree.bodies)) == ("r30", 31)
    np.testing.assert_array_equal(tree.bodies[30].joint_position, (1, 0, 0))
    assert "@@" not in tree.robot_description
    assert len(load_urdf(tree.robot_description).bodies) == 31
    with pytest.raises(TemplateError, match=r"r\.urdf:2: .*start ≤ end"):
        load_urdf(file, params={"n": 0})


def test_this_dir(tmp_path):
    trimesh.creation.box().export(tmp_path / "box.stl")
    (tmp_path / "r.urdf").write_text(
        f"""<robot><link name="a">{INERTIAL}<visual><geometry><mesh filename="[THIS_DIR]/box.stl"/></geometry></visual>
        </link></robot>"""
    )
    assert load_urdf(tmp_path / "r.urdf").bodies[0].visuals[0].mesh_file == str(tmp_path / "box.stl")


def test_description_can_be_read_anywhere(tmp_path, same_tree):
    (tmp_path / "sensors").mkdir()
    (tmp_path / "sensors/imu.xml").write_text(SENSOR_SET)
    trimesh.creation.box().export(tmp_path / "box.stl")
    (tmp_path / "r.urdf").write_text(
        f"""<robot><link name="a">{INERTIAL}<visual><geometry><mesh filename="box.stl"/></geometry></visual></link>
        <link name="s" sensor="imu.xml"/>
        <joint name="j" type="fixed"><parent link="a"/><child link="s"/></joint></robot>"""
    )
    tree = load_urdf(tmp_path / "r.urdf")
    assert f"file://{tmp_path}/box.stl" in tree.robot_description
    same_tree(load_urdf(tree.robot_description), tree, 0.0)


XACRO = f"""<robot name="x" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="reach" default="0.25"/>
  <xacro:macro name="part" params="name"><link name="${{name}}">{INERTIAL}</link></xacro:macro>
  <xacro:part name="a"/><xacro:part name="b"/>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="${{2*$(arg reach)}} 0 0"/></joint>
</robot>"""


def test_xacro(tmp_path):
    pytest.importorskip("xacro")
    file = tmp_path / "r.urdf.xacro"
    file.write_text(XACRO)
    np.testing.assert_array_equal(load_urdf(file).bodies[1].joint_position, (0.5, 0, 0))
    np.testing.assert_array_equal(load_urdf(file, params={"reach": 1}).bodies[1].joint_position, (2, 0, 0))
    file.write_text(XACRO.replace("2*", "2*undefined*"))
    with pytest.raises(ParseError, match=r"r\.urdf\.xacro: xacro: .*undefined"):
        load_urdf(file)
    with pytest.raises(FileMissingError):
        load_urdf(tmp_path / "none.xacro")


def test_xacro_file_without_xacro_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    (tmp_path / "r.xacro").write_text(XACRO)
    with pytest.raises(ParseError, match=r"pip install raisim_ros\[xacro\]"):
        load_urdf(tmp_path / "r.xacro")


def test_missing_file_and_wrong_options():
    with pytest.raises(FileMissingError, match=r"robot file 'none\.urdf' does not exist"):
        load_urdf("none.urdf")
    with pytest.raises(FileMissingError):
        load_urdf("")
    with pytest.raises(InvalidValueError, match="base is 'loose'; expected one of auto, fixed, floating"):
        load_urdf(f'<robot><link name="a">{INERTIAL}</link></robot>', base="loose")

"""Broken robots: each answer names the file, the line and the reason."""

import pytest

from raisim_ros.description.errors import ParseError, UrdfError
from raisim_ros.description.urdf.file import load_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
A, B, C = (f'<link name="{name}">{INERTIAL}</link>' for name in "abc")


def joint(name, parent, child, inside="", kind="revolute"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def ab(inside, kind="revolute"):
    """Two links; the joint between them is in line 3."""
    return f"{A}{B}\n{joint('j', 'a', 'b', inside, kind)}"


def in_link(inside):
    """A link in line 3."""
    return f'\n<link name="a">{inside}</link>'


def in_visual(geometry):
    return in_link(f"{INERTIAL}<visual><geometry>{geometry}</geometry></visual>")


def mass(value, ixx="1", iyy="1", izz="1", more=""):
    return (
        f'<inertial><mass value="{value}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" {more}/></inertial>'
    )


MIMIC = '<mimic joint="k"/>'


def pin(inside, nominal=""):
    """Pins in line 3, on two links and a joint."""
    config = f' nominal_config="{nominal}"' if nominal else ""
    return f"{A}{B}{joint('j', 'a', 'b')}\n<constraints{config}><pin {inside}/></constraints>"


PIN_AB = 'body1="a" body2="b" anchor="0 0 0"'

CASES = {
    # How links and joints hang together
    "two roots": (f"{A}\n{B}", "2 links without a parent joint ('a', 'b'); expected one root link"),
    "no link": ("", "the robot has no link", 1),
    "loop without root": (f"{A}{B}\n{joint('j', 'a', 'b')}{joint('k', 'b', 'a')}", "form a loop through link 'b'"),
    "loop beside the root": (
        f'<link name="r"/>{A}{B}\n{joint("j", "a", "b")}{joint("k", "b", "a")}',
        "joint 'j' is part of a loop that the root link does not reach",
    ),
    "own parent": (f"{A}\n{joint('j', 'a', 'a')}", "loop through link 'a'"),
    "two parents": (
        f"{A}{B}{C}{joint('j', 'a', 'c')}\n{joint('k', 'b', 'c')}",
        "link 'c' is the child of two joints, 'j' and 'k'; a closed loop is made with <constraints>",
    ),
    "duplicate link": (f"{A}\n{A}", "a second link 'a'; the first one is in line 2"),
    "duplicate joint": (
        f"{A}{B}{C}{joint('j', 'a', 'b')}\n{joint('j', 'b', 'c')}",
        "a second joint 'j'; the first one is in line 2",
    ),
    "unknown parent": (f"{A}{B}\n{joint('j', 'nobody', 'b')}", "joint 'j': its parent link 'nobody' does not exist"),
    "unknown child": (f"{A}{B}\n{joint('j', 'a', 'nobody')}", "joint 'j': its child link 'nobody' does not exist"),
    "floating joint in the middle": (
        f"{A}{B}{C}{joint('j', 'a', 'b')}\n{joint('k', 'b', 'c', kind='floating')}",
        "joint 'k': a floating joint is possible only for the root",
    ),
    "floating joint on a body": (ab("", "floating"), "link 'a' above floating joint 'j' must be empty"),
    "joint named as the base's": (f"{A}{B}\n{joint('ROOT', 'a', 'b')}", "belongs to the joint of the floating base"),
    # Names
    "link without name": ("\n<link/>", "<link> has no attribute 'name'"),
    "link with empty name": ('\n<link name=" "/>', "<link> has no attribute 'name'"),
    "joint without name": (f"{A}{B}\n<joint type='fixed'/>", "<joint> has no attribute 'name'"),
    "joint without type": (f"{A}{B}\n<joint name='j'/>", "<joint> has no attribute 'type'"),
    "joint without parent": (f'{A}\n<joint name="j" type="fixed"/>', "joint 'j' has no <parent>"),
    "joint without child": (
        f'{A}\n<joint name="j" type="fixed"><parent link="a"/></joint>',
        "joint 'j' has no <child>",
    ),
    # Joints
    "unknown joint type": (ab("", "planar"), "joint 'j': unknown type 'planar'; expected one of fixed, floating, revo"),
    "zero axis": (ab('<axis xyz="0 0 0"/>'), "joint 'j': the axis is zero"),
    "axis of two": (ab('<axis xyz="0 1"/>'), '<axis xyz="0 1">; expected 3 numbers'),
    "axis of words": (ab('<axis xyz="0 1 up"/>'), "'up' is not a finite number"),
    "axis without xyz": (ab("<axis/>"), "<axis> has no attribute 'xyz'"),
    "nan": (ab('<origin xyz="0 nan 0"/>'), "'nan' is not a finite number"),
    "infinite": (ab('<origin rpy="0 inf 0"/>'), "'inf' is not a finite number"),
    "digits with underscores": (ab('<origin xyz="1_0 0 0"/>'), "'1_0' is not a finite number"),
    "crossed limits": (ab('<limit lower="1" upper="-1"/>'), "lower limit 1.0 is above the upper limit -1.0"),
    "limit of words": (ab('<limit lower="low"/>'), '<limit lower="low">; expected a number'),
    "negative effort": (ab('<limit effort="-1"/>'), "effort limit is -1.0; expected zero or more"),
    "negative velocity": (ab('<limit velocity="-1"/>'), "velocity limit is -1.0; expected more than zero"),
    "negative cone": (ab('<limit lower="-1"/>', "spherical"), "the largest angle is -1.0; expected zero or more"),
    "negative damping": (ab('<dynamics damping="-1"/>'), "damping is -1.0; expected zero or more"),
    "negative friction": (ab('<dynamics friction="-1"/>'), "friction is -1.0"),
    "negative rotor inertia": (ab('<dynamics rotor_inertia="-1"/>'), "rotor_inertia is -1.0"),
    "negative stiffness": (ab('<dynamics stiffness="-1"/>'), "stiffness is -1.0"),
    "spring mount of four": (ab('<dynamics spring_mount="1 0 0 0"/>'), "expected 1 number"),
    "spring mount of one": (ab('<dynamics spring_mount="1"/>', "spherical"), "expected 4 numbers"),
    "zero spring mount": (ab('<dynamics spring_mount="0 0 0 0"/>', "spherical"), "spring_mount is a zero quaternion"),
    "mimic of itself": (ab('<mimic joint="j"/>'), "joint 'j' mimics joints that mimic each other in a circle"),
    "mimic of a ball": (
        f"{A}{B}{C}{joint('k', 'a', 'c', kind='spherical')}\n{joint('j', 'a', 'b', MIMIC)}",
        "a spherical joint can neither mimic nor be mimicked",
    ),
    # Mass
    "huge mass": (in_link(mass(1e31)), "mass is 1e+31; expected zero or more, up to 1e+30"),
    "huge offset": (ab('<origin xyz="1e200 0 0"/>'), "joint 'j': position: (1e+200, 0.0, 0.0) has a value beyond"),
    "negative mass": (in_link(mass(-1)), "link 'a': mass is -1.0; expected zero or more"),
    "massless floating base": (in_link(""), "the floating base 'a' moves without any inertia: link 'a' has mass 0"),
    "massless link before a heavy one about the same axis": (
        f'{A}<link name="b"/>{C}\n{joint("j", "a", "b")}{joint("k", "b", "c")}',
        "joint 'j' moves without any inertia: link 'b' has mass 0",
    ),
    "negative inertia": (in_link(mass(1, -1)), "link 'a': principal moments of inertia -1, 1, 1; expected none below"),
    "indefinite inertia": (in_link(mass(1, more='ixy="2"')), "principal moments of inertia -1, 1, 3"),
    "inertial without mass": (in_link("<inertial/>"), "<inertial> of link 'a' has no <mass>"),
    "mass without value": (in_link("<inertial><mass/></inertial>"), "<mass> has no attribute 'value'"),
    "mass without inertia": (in_link('<inertial><mass value="1"/></inertial>'), "has no <inertia>"),
    "inertia without ixx": (
        in_link('<inertial><mass value="1"/><inertia iyy="1" izz="1"/></inertial>'),
        "<inertia> has no attribute 'ixx'",
    ),
    # Shapes
    "no geometry": (in_link("<collision/>"), "<collision> of link 'a' has no <geometry>"),
    "empty geometry": (in_visual(""), "link 'a': <geometry> is empty"),
    "unknown shape": (in_visual("<torus/>"), "unknown shape <torus>; expected sphere, box, cylinder, capsule or mesh"),
    "box of two": (in_visual('<box size="1 2"/>'), '<box size="1 2">; expected 3 numbers'),
    "negative box": (in_visual('<box size="1 -2 1"/>'), "visual 0: size of the box is 1 -2 1; expected positive"),
    "zero sphere": (
        in_link(f'{INERTIAL}<collision><geometry><sphere radius="0"/></geometry></collision>'),
        "size of the sphere is 0; expected positive numbers",
    ),
    "cylinder without length": (in_visual('<cylinder radius="1"/>'), "<cylinder> has no attribute 'length'"),
    "capsule without height": (in_visual('<capsule radius="1"/>'), "<capsule> has no attribute 'length'"),
    "mesh without file": (in_visual("<mesh/>"), "<mesh> has no attribute 'filename'"),
    "missing mesh": (in_visual('<mesh filename="none.stl"/>'), "link 'a': mesh 'none.stl' not found; looked at "),
    "missing package": (in_visual('<mesh filename="package://p/none.stl"/>'), "mesh 'package://p/none.stl' not found"),
    "flat scale": (in_visual('<mesh filename="FILE" scale="1 0 1"/>'), "the scale of the mesh has a zero"),
    "scale of two": (in_visual('<mesh filename="FILE" scale="1 1"/>'), "expected 1 or 3 numbers"),
    "colour of three": (
        in_link('<visual><geometry><sphere radius="1"/></geometry><material><color rgba="1 0 0"/></material></visual>'),
        '<color rgba="1 0 0">; expected 4 numbers',
    ),
    "contact without name": (
        in_link('<collision><geometry><sphere radius="1"/></geometry><material><contact/></material></collision>'),
        "<contact> has no attribute 'name'",
    ),
    # Pins and sensors
    "pin to nobody": (pin('body1="a" body2="x" anchor="0 0 0"'), "pin: link 'x' does not exist"),
    "pin within a body": (
        pin(PIN_AB).replace("revolute", "fixed"),
        "pin: links 'a' and 'b' are parts of the same body",
    ),
    "pin without anchor": (pin('body1="a" body2="b"'), "<pin> has no attribute 'anchor'"),
    "short nominal_config": (pin(PIN_AB, "0 0 0"), "nominal_config has 3 numbers; expected 8"),
    "zero quaternion": (pin(PIN_AB, "0 0 0 0 0 0 0 0"), "a quaternion is zero"),
    "missing sensor file": ('\n<link name="a" sensor="none.xml"/>', "sensor file 'none.xml' not found; looked at"),
    "sensor link with content": ('\n<link name="a" sensor="s.xml"><inertial/></link>', "expected no element below it"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_broken_robot(case, tmp_path):
    body, reason, line = (*CASES[case], 3)[:3]
    file = tmp_path / "broken.urdf"
    file.write_text(f"<robot>\n{body.replace('FILE', str(file))}</robot>")
    with pytest.raises(UrdfError) as caught:
        load_urdf(file)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert (caught.value.path, caught.value.line) == (file, line)


def test_every_place_a_mesh_was_looked_for_is_named(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(f"<robot>{in_visual('<mesh filename=' + chr(34) + 'none.stl' + chr(34) + '/>')}</robot>")
    with pytest.raises(UrdfError) as caught:
        load_urdf(file, res_path=tmp_path / "meshes")
    assert str(tmp_path / "meshes/none.stl") in str(caught.value)
    assert str(tmp_path / "none.stl") in str(caught.value)


def test_wrong_root_element(tmp_path):
    (tmp_path / "w.urdf").write_text("\n<raisim/>")
    with pytest.raises(UrdfError, match=r"w\.urdf:2: root element is <raisim>; expected <robot>"):
        load_urdf(tmp_path / "w.urdf")


def test_malformed_xml(tmp_path):
    (tmp_path / "m.urdf").write_text("<robot>\n<link name='a'>\n</robot>")
    with pytest.raises(ParseError, match=r"m\.urdf:3: malformed XML: .*mismatch"):
        load_urdf(tmp_path / "m.urdf")
    with pytest.raises(ParseError, match="text:1: malformed XML"):
        load_urdf("<robot")


def test_wrong_sensor_file(tmp_path):
    (tmp_path / "s.xml").write_text("\n<robot/>")
    (tmp_path / "r.urdf").write_text('<robot><link name="a" sensor="s.xml"/></robot>')
    with pytest.raises(UrdfError, match=r"s\.xml:2: root element is <robot>; expected <sensor_set>"):
        load_urdf(tmp_path / "r.urdf")

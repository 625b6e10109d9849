"""World files: every construct, every spelling, every mistake."""

import importlib.util
import math
from pathlib import Path

import pytest

from raisim_ros.description.errors import FileMissingError, ParseError, RaisimError
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.schema import ELEMENTS
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    MeshEntry,
    PrimitiveEntry,
)
from raisim_ros.description.world.values import collision_groups
from raisim_ros.description.world_file import load_world_file

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def read(world_file):
    """Reads the text of a world file."""
    return lambda text, **params: load_world_file(world_file(text), params)


def objects(inside):
    return f"<raisim><objects>{inside}</objects></raisim>"


BALL = '<sphere mass="2"><dim radius="0.1"/></sphere>'


def test_settings(read):
    world = read("""
        <raisim version="1"><gravity value="0, 0 -1.62"/><timeStep value="0.001"/><erp erp="0.3" erp2="0.1"/>
        <simulation time="2.5"><solver max_iterations="7"/><sleeping enabled="false"/><contact broadphase="none"/></simulation>
        <camera follow="nobody" x="1" y="2" z="3"/></raisim>""")
    assert world.settings.gravity == (0, 0, -1.62)
    assert world.settings.time_step == 0.001
    assert world.settings.erp == {"erp": 0.3, "erp2": 0.1}
    assert world.settings.time == 2.5
    assert world.settings.solver == {"max_iterations": 7}  # the rest is left to the engine
    assert world.settings.sleeping["enabled"] is False
    assert world.settings.contact["broadphase"] == "none"
    assert (world.viewpoint.follow, world.viewpoint.offset) == ("nobody", (1, 2, 3))
    assert world.warnings == []


def test_defaults(read):
    world = read("<raisim/>")
    assert world.objects == []
    assert world.materials is None
    assert (world.settings.gravity, world.settings.time_step, world.settings.erp) == (None, None, None)


def test_primitive_with_everything(read):
    (box,) = read(
        objects("""
        <box name="b" material="ice" appearance="1,0,0,1" collision_group="collision[2]" collisionMask="collision[0|61]"
             body_type="Kinematic" mass="3" com="0.1 0 0" linear_damping="0.5" angular_damping="1 2 3"
             gyroscopic_mode="none">
          <dim z="3" x="1" y="2"/>
          <inertia zz="3" xx="1" yy="2.5" xy="0.1" xz="0.2" yz="0.3"/>
          <state ang_vel="4 5 6" quat="0 1 0 0" pos="1 2 3" linVel="7 8 9"/>
        </box>""")
    ).objects
    assert isinstance(box, PrimitiveEntry)
    assert (box.shape, box.dim) == ("box", (1, 2, 3))  # in this order, whatever the order in the file
    assert box.inertia == (1, 0.1, 0.2, 2.5, 0.3, 3)
    assert (box.name, box.material, box.appearance, box.body_type) == ("b", "ice", "1,0,0,1", "kinematic")
    assert (box.collision_group, box.collision_mask) == (4, 1 | 1 << 61)
    assert (box.mass, box.com) == (3, (0.1, 0, 0))
    assert (box.linear_damping, box.angular_damping, box.gyroscopic_mode) == (0.5, (1, 2, 3), "none")
    assert (box.state.position, box.state.quaternion) == ((1, 2, 3), (0, 1, 0, 0))
    assert (box.state.linear_velocity, box.state.angular_velocity) == ((7, 8, 9), (4, 5, 6))


@pytest.mark.parametrize("shape", ["cylinder", "cone", "capsule"])
def test_round_primitives(read, shape):
    (entry,) = read(objects(f'<{shape} mass="1"><dim height="0.5" radius="0.2"/></{shape}>')).objects
    assert (entry.shape, entry.dim) == (shape, (0.2, 0.5))


def test_compound(read):
    (entry,) = read(
        objects("""<compound mass="2" com="0 0 0.1"><children>
            <sphere name="ignored" mass="5"><dim radius="0.1"/><state pos="1 0 0"/></sphere>
            <box material="ice"><dim x="1" y="2" z="3"/></box>
            <sphere appearance="red"><dim radius="0.3"/></sphere></children></compound>""")
    ).objects
    assert isinstance(entry, CompoundEntry)
    assert [child.shape for child in entry.children] == ["sphere", "box", "sphere"]  # order of the file
    assert entry.children[0].position == (1, 0, 0)
    assert entry.children[1].material == "ice"
    assert entry.com == (0, 0, 0.1)


def test_mesh_path_is_looked_up_beside_the_file(read, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.obj").write_text("")
    (entry,) = read(objects(r'<mesh mass="1" fileName="parts\a.obj" scale="2"/>')).objects
    assert isinstance(entry, MeshEntry)
    assert entry.file == tmp_path / "parts" / "a.obj"
    assert entry.scale == (2, 2, 2)
    assert entry.collision_mode == "convexify"


def test_articulated_system(read, tmp_path):
    (tmp_path / "robot.urdf").write_text("")
    (entry,) = read(
        objects("""<articulatedSystem name="r" urdfPath="robot.urdf" resDir="parts" joint_order="b, a" modules="m.urdf n.urdf"
            base="fixed" collide_parent="true" convexifyMeshes="true" collisionGroup="2" collision_mask="3"
            integration_scheme="euler" control_mode="pd_plus_feedforward_torque">
          <state qpos="1 2" qvel="3 4" base_pos="1 2 3" baseQuat="0 1 0 0"/>
          <joints p_gain="5 6" upper="1 inf"/>
          <collision_shape name="l/0" material="ice" collision_group="4" convex="true"/>
          <ignore_collision link1="l" link2="k"/>
          <actuator joint="a" gear="2" control_range="-1 inf"/>
        </articulatedSystem>""")
    ).objects
    assert isinstance(entry, ArticulatedEntry)
    assert (entry.name, entry.urdf, entry.res_dir) == ("r", tmp_path / "robot.urdf", tmp_path / "parts")
    assert (entry.joint_order, entry.modules, entry.base) == (("b", "a"), ("m.urdf", "n.urdf"), "fixed")
    assert (entry.collide_parent, entry.convexify_meshes) == (True, True)
    assert (entry.collision_group, entry.collision_mask) == (2, 3)
    assert (entry.integration_scheme, entry.control_mode) == ("euler", "pd_plus_feedforward_torque")
    assert (entry.qpos, entry.qvel) == ((1, 2), (3, 4))
    assert (entry.base_position, entry.base_quaternion) == ((1, 2, 3), (0, 1, 0, 0))
    assert entry.joints == {"p_gain": (5, 6), "upper": (1, math.inf)}
    (shape,) = entry.shapes
    assert (shape.name, shape.material, shape.collision_group, shape.collision_mask, shape.convex) == (
        "l/0", "ice", 4, None, True,
    )  # fmt: skip
    assert entry.ignored_links == [("l", "k")]
    (actuator,) = entry.actuators
    assert (actuator.name, actuator.joint, actuator.gear, actuator.control_range) == ("a", "a", 2, (-1, math.inf))


@pytest.mark.parametrize(
    "inside",
    [
        '<sphere mass="1" {}><dim radius="1"/>{}</sphere>',
        '<compound mass="1" {}><children><sphere><dim radius="1"/></sphere></children>{}</compound>',
        '<mesh mass="1" file_name="a.obj" {}>{}</mesh>',
        '<articulated_system urdf_path="a.urdf" {}>{}</articulated_system>',
    ],
)
def test_what_the_topics_of_an_object_hold(read, inside):
    (plain,) = read(objects(inside.format("", ""))).objects
    assert plain.interface == InterfaceSettings()
    flags = (
        'publish_children_names="true" publish_joint_names="false" publish_joint_positions="true" publish_links="true"'
    )
    (told,) = read(objects(inside.format(flags, '<controller linear="1 2 3" angular="4,5,6"/>'))).objects
    assert told.interface == InterfaceSettings((1, 2, 3), (4, 5, 6), True, False, True, True)
    (linear,) = read(objects(inside.format("", '<controller linear="1 2 3"/>'))).objects
    assert linear.interface == InterfaceSettings((1, 2, 3))


def test_joint_order_may_be_depth_first(read):
    (entry,) = read(objects('<articulated_system urdf_path="r.urdf" joint_order="depth_first"/>')).objects
    assert entry.joint_order == "depth_first"


def test_ground_ignores_its_group(read):
    (entry,) = read(objects('<ground height="1.5" collision_group="3"/>')).objects
    assert isinstance(entry, GroundEntry)
    assert (entry.height, entry.collision_group) == (1.5, 1 << 61)


@pytest.mark.parametrize(
    ("attributes", "inside", "chosen"),
    [
        ('x_sample="2" ySample="2" height="1 2 3 4" png="a.png" text="a.txt"', "", "heights"),
        ('png="a.png"', '<terrainProperties zScale="3" fractalOctaves="2"/>', "terrain"),
        ('png="a.png" text="a.txt" zScale="0.5" heightOffset="-2"', "", "png"),
        ('text="a.txt"', "", "text"),
    ],
)
def test_heightmap_sources_have_an_order(read, attributes, inside, chosen):
    (entry,) = read(objects(f'<heightmap centerX="3" {attributes}>{inside}</heightmap>')).objects
    assert isinstance(entry, HeightMapEntry)
    assert [name for name in ("heights", "terrain", "png", "text") if getattr(entry, name) is not None] == [chosen]
    assert entry.center == (3, 0, 0)
    if chosen == "png":
        assert (entry.z_scale, entry.z_offset) == (0.5, -2)
    if chosen == "terrain":
        assert (entry.terrain.z_scale, entry.terrain.fractal_octaves, entry.terrain.seed) == (3, 2, 0)


def test_materials_may_follow_objects(read):
    world = read(f"""<raisim><objects>{BALL}</objects><material>
        <default friction="0.5" restitution="0.1" restitution_threshold="0.2"/>
        <pair_prop name1="a" name2="b" friction="1" static_friction="1.5" static_friction_velocity_threshold="0.01"/>
        </material></raisim>""")
    assert world.materials.default.restitution == 0.1
    pair = world.materials.pairs["a", "b"]
    assert (pair.friction, pair.static_friction, pair.static_friction_velocity_threshold) == (1, 1.5, 0.01)


def wire(attributes="", ends='<object1 name="a"/><object2 name="a" pos="0 0 1"/>', kind="stiff"):
    return f'<raisim><wire type="{kind}" length="1" {attributes}>{ends}</wire></raisim>'


def test_friction_against_turning_is_read(read):
    inside = '<default friction="0.5" rolling_friction="0.1"/><pair_prop name1="a" name2="b" friction="1" spinning_friction="2"/>'
    world = read(f"<raisim><material>{inside}</material></raisim>")
    assert world.warnings == []
    default, pair = world.materials.default, world.materials.pairs["a", "b"]
    assert (default.rolling_friction, default.spinning_friction) == (0.1, 0.0)
    assert (pair.rolling_friction, pair.spinning_friction) == (0.0, 2.0)


ELEMENT_TEXTS = {
    "time_step": '<{0} value="0.1"/>',
    "terrain_properties": '<objects><heightmap><{0} frequency="0.3"/></heightmap></objects>',
    "articulated_system": '<objects><{0} urdf_path="a.urdf" name="r"/></objects>',
    "view_camera": '<objects><{0} name="v"/></objects>',
}


def test_every_spelling_of_every_element_means_the_same(read):
    spelled = {element.names[0] for element in ELEMENTS.values() if len(element.names) > 1}
    assert spelled == set(ELEMENT_TEXTS)
    for canonical, text in ELEMENT_TEXTS.items():
        worlds = [read(f"<raisim>{text.format(name)}</raisim>") for name in ELEMENTS[canonical].names]
        assert all((world.settings, world.objects) == (worlds[0].settings, worlds[0].objects) for world in worlds)
        assert all(world.warnings == [] for world in worlds)


def test_whatever_does_not_exist_is_left_out(read):
    world = read(
        '<raisim><gravity value="0 0 -1" exist="false"/><include value="none.xml" exist="False"/>'
        '<material exist="false"><default friction="x"/></material>'
        '<objects><sphere exist="false"/><array idx="@@i" start="1" end="3" exist="false"><ground/></array>'
        '<ground exist="true"/><light exist="false"/></objects><wire exist="false"/><camera exist="false"/></raisim>'
    )
    assert [type(entry) for entry in world.objects] == [GroundEntry]
    assert (world.settings.gravity, world.materials, world.wires, world.viewpoint) == (None, None, [], None)
    assert world.warnings == []


def test_wires(read):
    text = wire(
        'name="w" stiffness="20" stretch_type="BOTH" explicit="true" width="0.1" color="red"',
        '<object1 name="a" local_index="2" pos="1 2 3"/><object2 index="1" frame="tip"/>',
        "compliant",
    )
    (entry,) = read(text).wires
    first, second = entry.ends
    assert (entry.name, entry.type, entry.length, entry.stiffness) == ("w", "compliant", 1.0, 20.0)
    assert (entry.stretch_type, entry.explicit, entry.width, entry.color) == ("both", True, 0.1, "red")
    assert (first.name, first.index, first.local_index, first.position) == ("a", None, 2, (1.0, 2.0, 3.0))
    assert (second.name, second.index, second.frame, second.position) == ("", 1, "tip", (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("kind", "given", "meant"),
    [
        ("stiff", "", "stretch_only"),
        ("custom", "", "compression_only"),
        ("custom", 'stretch_type="stretch_only"', "stretch_only"),
        ("stiff", 'stretch_type="STRETCH_RESISTANT_ONLY"', "stretch_only"),
        ("stiff", 'stretch_type="compression_resistant_only"', "compression_only"),
    ],
)
def test_stretch_types_of_wires(read, kind, given, meant):
    assert read(wire(given, kind=kind)).wires[0].stretch_type == meant


def test_wires_count_the_objects_of_their_own_file(tmp_path):
    (tmp_path / "inner.xml").write_text(objects("<ground/><ground/>"))
    ends = '<object1 index="0"/><object2 name="x"/>'
    (tmp_path / "outer.xml").write_text(wire("", ends).replace("<wire", '<include value="inner.xml"/><wire'))
    assert load_world_file(tmp_path / "outer.xml").wires[0].ends[0].index == 2


def test_every_spelling_of_every_attribute_means_the_same(read):
    """Each alias of each element is read like the canonical name."""
    samples = {
        "integer, at least 0": "3",
        "quaternion w x y z": "1 0 0 0",
        "3 numbers": "1 2 3",
        "collision groups": "5",
        "red, green, blue from 0 to 1": "0.1 0.2 0.3",
    }
    checked = 0
    for element in ELEMENTS.values():
        for attribute in element.attributes:
            if len(attribute.names) == 1 or attribute.names[0] == "version":
                continue
            sample = samples.get(attribute.kind.value, "2.5")
            words = {
                "body_type": "static",
                "collision_mode": "original",
                "collision_meshes": "original",
                "self_collision": "none",
                "gyroscopic_mode": "none",
                "integration_scheme": "euler",
                "control_mode": "pd_plus_feedforward_torque",
                "stretch_type": "both",
            }
            sample = words.get(attribute.names[0], "mesh.obj" if attribute.kind.value == "path" else sample)
            sample = "true" if attribute.kind.value == "true or false" else sample
            results = [_read_attribute(read, element.names[0], name, sample) for name in attribute.names]
            assert all(result == results[0] for result in results), attribute.names
            checked += 1
    assert checked > 15


def _read_attribute(read, element, name, sample):
    if element == "heightmap":
        return _plain(read(objects(f'<heightmap height="1 2 3 4" {name}="{sample}"/>')).objects[0])
    if element == "terrain_properties":
        return _plain(read(objects(f'<heightmap><terrain_properties {name}="{sample}"/></heightmap>')).objects[0])
    if element == "state":
        return _plain(read(objects(f'<sphere mass="1"><dim radius="1"/><state {name}="{sample}"/></sphere>')).objects[0])
    if element in ("solver", "sleeping"):
        return read(f'<raisim><simulation><{element} {name}="{sample}"/></simulation></raisim>').settings
    if element == "mesh":
        more = "" if name in ("file_name", "fileName") else 'file_name="a.obj"'
        return _plain(read(objects(f'<mesh mass="1" {more} {name}="{sample}"/>')).objects[0])
    if element in ("articulated_system", "collision_shape"):
        more = "" if name in ("urdf_path", "urdfPath") else 'urdf_path="a.urdf"'
        robot = f'<articulated_system {more} {name}="{sample}"/>'
        if element == "collision_shape":
            robot = f'<articulated_system {more}><collision_shape name="a" {name}="{sample}"/></articulated_system>'
        (entry,) = read(objects(robot)).objects
        return _plain(entry) | {"shapes": [_plain(shape) for shape in entry.shapes]}
    if element == "wire":
        return _plain(read(wire(f'{name}="{sample}"')).wires[0])
    if element in ("object1", "object2"):
        text = wire().replace(f'<{element} name="a"', f'<{element} name="a" {name}="{sample}"')
        return _plain(read(text).wires[0])
    if element == "deformable":
        more = "" if name in ("file_name", "fileName") else 'file_name="a.obj"'
        return _plain(read(objects(f'<deformable {more} {name}="{sample}"/>')).objects[0])
    if element in ("ground", "light", "view_camera", "granular"):
        return _plain(read(objects(f'<{element} {name}="{sample}"/>')).objects[0])
    dim = {"box": 'x="1" y="1" z="1"', "sphere": 'radius="1"'}.get(element, 'radius="1" height="1"')
    inside = '<children><box><dim x="1" y="1" z="1"/></box></children>' if element == "compound" else f"<dim {dim}/>"
    return _plain(read(objects(f'<{element} mass="1" {name}="{sample}">{inside}</{element}>')).objects[0])


def _plain(entry):
    return {name: value for name, value in vars(entry).items() if name != "place"}


@pytest.mark.parametrize("tag", ["time_step", "timeStep", "timestep"])
def test_spellings_of_the_time_step(read, tag):
    assert read(f'<raisim><{tag} value="0.01"/></raisim>').settings.time_step == 0.01


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1", 1),
        ("-1", 2**64 - 1),
        ("-2147483648", 2**64 - 2147483648),
        ("18446744073709551615", 2**64 - 1),
        ("collision[1]", 2),
        ("collision[1|4|6]", 2 | 16 | 64),
        ("collision[ 1 | 1 ]", 2),
        ("collision[-1]", 2**64 - 1),
        ("collision[63]", 1 << 63),
    ],
)
def test_collision_groups(text, bits):
    assert collision_groups(text) == bits


def test_templates_includes_and_parameters(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.xml").write_text(
        '<raisim><params><r value="0.1"/></params><objects><array idx="@@i" start="0" end="@@n" increment="2">'
        '<sphere name="s_@@i" mass="1"><dim radius="@@r"/><state pos="{2*@@i} 0 1"/></sphere></array>'
        '<box exist="False" mass="1"><dim x="1" y="1" z="1"/></box></objects></raisim>'
    )
    (tmp_path / "world.xml").write_text(
        f'\n<!-- first -->\n<raisim Version="2"><include value="[THIS_DIR]/sub/inner.xml"/><objects>{BALL}</objects></raisim>'
    )
    world = load_world_file(tmp_path / "world.xml", {"n": 4})
    assert [entry.name for entry in world.objects] == ["s_0", "s_2", "s_4", ""]  # includes come first, the end counts
    assert [entry.state.position[0] for entry in world.objects[:3]] == [0, 4, 8]
    wider = load_world_file(tmp_path / "world.xml", {"n": 0, "r": 0.7})
    assert [entry.dim for entry in wider.objects] == [(0.7,), (0.1,)]


def test_unknown_names_are_warned_about(read):
    world = read(objects('<spere/>' + '<sphere mass="1" colision_group="2"><dim radius="1"/></sphere>'))
    assert len(world.objects) == 1
    assert "did you mean 'sphere'" in world.warnings[0]
    assert "did you mean 'collision_group'" in world.warnings[1]
    assert "world.xml:1" in world.warnings[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<raisim>", "malformed XML"),
        ("<robot/>", "root element is <robot>; expected <raisim>"),
        (objects('<sphere mass="-1"><dim radius="1"/></sphere>'), 'mass="-1": -1 is not greater than 0'),
        (objects('<sphere><dim radius="1"/></sphere>'), "'mass' is missing"),
        (objects('<sphere mass="1"/>'), "<dim> is missing"),
        (objects('<sphere mass="1"><dim/></sphere>'), "'radius' is missing"),
        (objects('<sphere mass="1"><dim radius="nan"/></sphere>'), "'nan' is not a finite number"),
        (objects('<sphere mass="1"><dim radius="1"/><dim radius="1"/></sphere>'), "stands twice"),
        (objects('<box mass="1"><dim x="1" y="2"/></box>'), "'z' is missing"),
        (objects(BALL.replace("/></sphere>", '/><state pos="1 2"/></sphere>')), "2 numbers found; expected 3"),
        (objects(BALL.replace("/></sphere>", '/><state quat="0 0 0 0"/></sphere>')), "quaternion is zero"),
        (objects(BALL.replace("<sphere", '<sphere body_type="soft"')), "'soft' is unknown; expected dynamic"),
        (objects(BALL.replace("<sphere", '<sphere collision_mask="collision[64]"')), "outside 0 to 63"),
        (objects(BALL.replace("<sphere", '<sphere collision_mask="x"')), "neither a number nor collision"),
        (objects(BALL.replace("<sphere", '<sphere linear_damping="1" linearDamping="2"')), "given twice"),
        (objects('<compound mass="1"/>'), "<children> is missing"),
        (objects('<compound mass="1"><children/></compound>'), "no primitives"),
        (objects("<heightmap/>"), "expected height, <terrain_properties>, png or text"),
        (objects('<sphere mass="{1/0}"><dim radius="1"/></sphere>'), "divides by zero"),
        (objects('<sphere mass="@@m"><dim radius="1"/></sphere>'), "'@@m' has no value"),
        (objects("""<sphere mass="{__import__('os')}"><dim radius="1"/></sphere>"""), "expression"),
        ('<raisim><include value="none.xml"/></raisim>', "'none.xml' does not exist"),
        ('<raisim><include value="world.xml"/></raisim>', "includes itself"),
        ("<raisim><include/></raisim>", "<include>: attribute 'value' is missing; expected a path"),
        (objects('<ground min_rate_hz="2e6"/>'), "2e+06 is more than 1e+06; expected number above 0, at most 1e6"),
        (objects('<ground max_rate_hz="0"/>'), "0 is not greater than 0"),
        (objects('<ground publish_tf="maybe"/>'), "'maybe' is neither true nor false; expected all, base, links or none"),
        (objects('<ground collision_mask="99999999999999999999"/>'), "does not fit into 64 bits"),
        ('<raisim><simulation><solver max_iterations="1.5"/></simulation></raisim>', "'1.5' is not an integer, at least 0"),
        ('<raisim><gravity value="0 0"/></raisim>', "2 numbers found; expected 3"),
        ('<raisim><time_step value="0"/></raisim>', "not greater than 0"),
        (objects('<array idx="@@i" start="0" end="1000000000" increment="1"><ground/></array>'), "expected at most"),
        (
            objects('<sphere mass="1"><dim radius="1"/><controller linear="1 -2 3"/></sphere>'),
            "<controller>: linear_gains is (1.0, -2.0, 3.0); expected 3 numbers, zero or more",
        ),
        (objects("<articulated_system/>"), "<articulated_system>: attribute 'urdf_path' is missing"),
        (
            objects('<articulated_system urdf_path="r"><joints lower="nan"/></articulated_system>'),
            "<joints>: attribute lower=\"nan\": 'nan' is not a number; expected numbers; inf: no limit",
        ),
        (
            objects('<articulated_system urdf_path="r"><actuator joint="a" force_range="2 1"/></articulated_system>'),
            "the lower number must come first",
        ),
        (wire(kind="elastic"), "'elastic' is unknown; expected stiff, compliant or custom"),
        (wire(kind="compliant"), "<wire>: attribute 'stiffness' is missing; a compliant wire needs one"),
        (wire('stretch_type="none"'), "'none' is unknown; expected stretch_only"),
        (wire(ends='<object1 name="a"/>'), "<wire>: <object2> is missing"),
        (wire(ends='<object1/><object2 name="a"/>'), "<object1>: expected either the name or the index"),
        (wire(ends='<object1 name="a" index="1"/><object2 name="a"/>'), "expected either the name or the index"),
        (wire('length="nan"').replace('length="1" ', ""), "'nan' is not a finite number"),
        ('<!DOCTYPE r [<!ENTITY a "b">]><raisim/>', "document type declaration"),
    ],
)
def test_mistakes_are_told_with_file_and_line(read, text, expected):
    with pytest.raises(ParseError) as caught:
        read(text)
    assert expected in str(caught.value)
    assert "world.xml" in str(caught.value)


def test_line_numbers_are_those_of_the_file(read):
    with pytest.raises(ParseError, match=r"world\.xml:5: <dim>"):
        read('\n\n<raisim><objects>\n<sphere mass="1">\n<dim radius="x"/></sphere></objects></raisim>')


def test_missing_file(tmp_path):
    with pytest.raises(FileMissingError, match="world file"):
        load_world_file(tmp_path / "nothing.xml")


def test_all_errors_are_of_one_family():
    assert issubclass(ParseError, RaisimError)


def test_document_is_up_to_date():
    spec = importlib.util.spec_from_file_location("document_world_file", ROOT / "tools" / "document_world_file.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.DOCUMENT.read_text(encoding="utf-8") == module.document(), "run tools/document_world_file.py"

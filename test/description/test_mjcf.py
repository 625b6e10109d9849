"""The MJCF reader: default classes, includes, what it refuses and what it says it leaves out."""

import numpy as np
import pytest

from raisim_ros.description.errors import ParseError, RaisimError
from raisim_ros.description.world.types import ArticulatedEntry, GroundEntry, MeshEntry, PrimitiveEntry
from raisim_ros.description.world_file import load_world_file


@pytest.fixture
def load(tmp_path):
    def loader(inside, name="model.xml"):
        file = tmp_path / name
        file.write_text(f"<mujoco>{inside}</mujoco>")
        return load_world_file(file)

    return loader


def arm(joint='<joint name="j"/>', geom='<geom size="0.1"/>'):
    return f'<body name="arm">{joint}{geom}</body>'


def only_body(world):
    (entry,) = world.objects
    assert isinstance(entry, ArticulatedEntry)
    return entry.tree.bodies[-1]


# ---- default classes ----


def test_classes_inherit_and_elements_choose_among_them(load):
    world = load("""
      <default><joint damping="1" armature="2"/><geom size="0.2" rgba="1 0 0 1"/>
        <default class="a"><joint damping="3"/><default class="b"><joint armature="4"/></default></default></default>
      <default><joint frictionloss="7"/></default>
      <worldbody><body name="top" childclass="a"><joint name="j1"/><joint name="j2" class="b" axis="1 0 0"/>
        <joint name="j3" class="main" axis="0 1 0"/><geom/></body></worldbody>""")
    _, first, second, third = world.objects[0].tree.bodies
    assert (first.damping, first.rotor_inertia) == (3, 2)
    assert (second.damping, second.rotor_inertia) == (3, 4)
    assert (third.damping, third.rotor_inertia, third.friction) == (1, 2, 7)
    assert third.collisions[0].dim == (0.2,)
    assert third.visuals[0].color == (1, 0, 0, 1)


def test_kinds_of_actuators_share_defaults(load):
    world = load(f"""<default><general ctrlrange="-1 2" gear="3"/></default>
      <worldbody>{arm()}</worldbody><actuator><motor joint="j"/></actuator>""")
    (motor,) = world.objects[0].tree.actuators
    assert (motor.control_range, motor.gear, motor.name) == ((-1, 2), 3, "j")


def test_limits_follow_autolimits(load):
    limited = arm('<joint name="j" range="-90 45"/>')
    body = only_body(load(f"<worldbody>{limited}</worldbody>"))
    np.testing.assert_allclose((body.lower, body.upper), np.radians((-90, 45)))
    assert only_body(load(f'<compiler autolimits="false"/><worldbody>{limited}</worldbody>')).upper == np.inf
    off = arm('<joint name="j" range="-90 45" limited="false"/>')
    assert only_body(load(f"<worldbody>{off}</worldbody>")).upper == np.inf
    in_radians = arm("<joint range='-1 2'/>")
    radians = load(f'<compiler angle="radian"/><worldbody>{in_radians}</worldbody>')
    assert (only_body(radians).lower, only_body(radians).upper) == (-1, 2)


# ---- structure ----


def test_bodies_with_several_joints_have_massless_links_between(load):
    world = load("""<worldbody><body name="base"><freejoint/><geom size="0.1"/><body name="hip">
      <joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0"/><geom size="0.1" pos="0 0 1"/></body></body></worldbody>""")
    tree = world.objects[0].tree
    assert [body.name for body in tree.bodies] == ["base", "hip_x", "hip"]
    assert [body.mass > 0 for body in tree.bodies] == [True, False, True]
    assert tree.ignored_pairs == [(0, 2)]  # parent and child, although a link lies between


def test_what_the_world_holds_is_static(load):
    world = load("""<worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 0.5"/>
      <body name="post" pos="1 0 0"><geom type="box" size="0.1 0.1 0.5"/>
        <body name="lever" pos="0 0 1"><joint/><geom size="0.1" pos="0.1 0 0"/></body></body>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/></worldbody>""")
    floor, ellipsoid, post, lever = world.objects
    assert isinstance(floor, GroundEntry)
    assert floor.height == 0.5
    assert isinstance(ellipsoid, MeshEntry)
    assert (ellipsoid.scale, ellipsoid.collision_mode) == ((0.1, 0.2, 0.3), "convex_hull")
    assert isinstance(post, PrimitiveEntry)
    assert (post.shape, post.body_type, post.state.position) == ("box", "static", (1, 0, 0))
    assert lever.name == "post"
    assert lever.tree.fixed_base
    assert [len(body.collisions) for body in lever.tree.bodies] == [0, 1]


def test_geoms_that_collide_with_nothing_are_only_drawn(load):
    ghost = arm(geom='<geom size="0.1" contype="0" conaffinity="0"/>')
    body = only_body(load(f"<worldbody>{ghost}</worldbody>"))
    assert (len(body.collisions), len(body.visuals)) == (0, 1)
    assert body.mass > 0


def test_pins_and_exclusions(load):
    world = load("""<worldbody><body name="a"><joint name="j" ref="90" pos="0 0 1"/><geom size="0.1"/>
        <body name="b" pos="0 0 -1"><joint/><geom size="0.1" pos="0.1 0 0"/>
          <body name="c" pos="0 0 -1"><joint/><geom size="0.1" pos="0.1 0 0"/></body></body></body></worldbody>
      <contact><exclude body1="a" body2="c"/></contact>
      <equality><connect body1="a" body2="c" anchor="1 2 3"/><connect body1="c" anchor="0 0 0"/>
        <connect body1="a" body2="b" anchor="0 0 0" active="false"/></equality>""")
    tree = world.objects[0].tree
    assert tree.ignored_pairs == [(1, 3)]
    between, to_world = tree.pins
    assert (between.body1, between.body2) == (1, 3)
    np.testing.assert_allclose(between.anchor, (1, 2, 2))  # the body's frame lies in its joint
    np.testing.assert_allclose(between.nominal_config, (np.pi / 2, 0, 0))
    assert (to_world.body1, to_world.body2) == (3, 0)


def test_an_included_file_takes_part_and_is_named_in_errors(load, tmp_path):
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n<geom size="0.3"/><joint name="j"/></mujocoinclude>')
    assert only_body(load('<worldbody><body><include file="part.xml"/></body></worldbody>')).collisions[0].dim == (0.3,)
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n<geom size="-1"/></mujocoinclude>')
    with pytest.raises(ParseError, match=r"part\.xml:2: <geom>: a sphere of size -1"):
        load('<worldbody><body><include file="part.xml"/></body></worldbody>')
    (tmp_path / "part.xml").write_text('<mujocoinclude><include file="part.xml"/></mujocoinclude>')
    with pytest.raises(ParseError, match=r"'part\.xml' includes itself"):
        load('<worldbody><body><include file="part.xml"/></body></worldbody>')


def test_a_raisim_file_may_include_a_mujoco_file(tmp_path):
    (tmp_path / "model.xml").write_text(f"<mujoco><worldbody>{arm()}</worldbody></mujoco>")
    file = tmp_path / "world.xml"
    file.write_text('<raisim><include value="model.xml"/><time_step value="0.01"/><objects><ground/></objects></raisim>')
    world = load_world_file(file)
    assert [type(entry).__name__ for entry in world.objects] == ["ArticulatedEntry", "GroundEntry"]
    assert world.settings.time_step == 0.01


def test_meshes_are_found_without_the_mesh_folder(load, tmp_path):
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    world = load("""<compiler meshdir="gone"/><asset><mesh file="t.obj"/></asset>
      <worldbody><body><joint/><geom type="mesh" mesh="t"/></body></worldbody>""")
    body = only_body(world)
    assert body.collisions[0].convex
    assert body.mass == pytest.approx(1000 / 6)
    np.testing.assert_allclose(body.com, (0.25, 0.25, 0.25))


# ---- warnings ----


def test_all_that_is_left_out_stands_in_one_warning(load):
    world = load(f"""<option viscosity="0.1"/><worldbody>{arm('<joint name="j" solreflimit="0.1 1" springdamper="1 1"/>')}
      <composite/><geom size="1" condim="6"/></worldbody><sensor><jointpos joint="j"/></sensor>
      <actuator><muscle joint="j"/></actuator><equality><weld body1="arm"/></equality>
      <contact><pair geom1="a" geom2="b"/></contact><visual><map/></visual>""")
    (warning,) = world.warnings
    for feature in (
        "option viscosity", "sensor", "actuator muscle", "equality weld", "contact pair", "composite",
        "joint springdamper", "softness of contacts and limits", "torsional and rolling friction (condim 4 and 6)",
    ):  # fmt: skip
        assert feature in warning
    assert "visual" not in warning


BALL = '<body name="ball"><joint name="b" type="ball"/><geom size="0.1"/></body>'


@pytest.mark.parametrize(
    ("inside", "feature"),
    [
        ('<asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>', "hfield"),
        ('<option><flag contact="disable"/></option>', "flag contact"),
        ('<worldbody><geom type="hfield" hfield="h"/></worldbody>', "geoms of type hfield and sdf"),
        ('<worldbody><geom type="plane" size="1 1 1" euler="20 0 0"/></worldbody>', "planes that are tilted"),
        ('<worldbody><body><joint/><geom size="1"/><geom type="plane" size="1 1 1"/></body></worldbody>', "planes on moving"),
        ('<worldbody><body><joint type="free" damping="1"/><geom size="1"/></body></worldbody>', "damping, friction"),
        ('<worldbody><body><joint actuatorfrcrange="-1 2"/><geom size="1"/></body></worldbody>', "frcrange that is not"),
        (f'<worldbody>{arm()}</worldbody><actuator><motor site="s"/></actuator>', "do not act on a joint"),
        (f'<worldbody>{BALL}</worldbody><actuator><motor joint="b"/></actuator>', "actuators of ball and free joints"),
        (f'<worldbody>{arm()}</worldbody><actuator><position joint="j" forcerange="-1 1"/><velocity joint="j"/></actuator>',
         "forcerange of servos that share a joint"),
        (f'<worldbody>{arm()}{BALL}</worldbody><contact><exclude body1="arm" body2="ball"/></contact>',
         "exclude between two systems"),
    ],
)  # fmt: skip
def test_each_thing_that_is_left_out_is_named(load, inside, feature):
    (warning,) = load(inside).warnings
    assert warning.count("not supported and left out:") == 1
    assert feature in warning


def test_meshes_that_do_not_count_as_mujoco_counts_them_are_named(load, tmp_path):
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    (warning,) = load("""<asset><mesh file="open.obj" inertia="shell"/></asset>
      <worldbody><body><joint/><geom type="mesh" mesh="open"/></body></worldbody>""").warnings
    assert "masses of open meshes" in warning
    assert "inertia of a shell" in warning


def test_disabled_gravity(load):
    world = load('<option gravity="0 0 -5"><flag gravity="disable"/></option>')
    assert world.settings.gravity == (0.0, 0.0, 0.0)
    assert world.warnings == []


def test_a_tilted_plane_is_the_upper_side_of_a_box(load):
    """Turned by 30 degrees about x: its normal is (0, -1/2, √3/2)."""
    (entry,) = load('<worldbody><geom type="plane" size="4 0 1" pos="1 2 3" euler="30 0 0"/></worldbody>').objects
    assert (entry.shape, entry.body_type, entry.dim) == ("box", "static", (8.0, 200.0, 2.0))
    assert entry.state.position == pytest.approx((1.0, 2.0 + 0.5, 3.0 - np.sqrt(0.75)))


def test_nothing_left_out_nothing_said(load):
    assert load(f"<worldbody>{arm()}</worldbody>").warnings == []


# ---- errors ----


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<worldbody>\n<geom type="ball" size="1"/></worldbody>', ':2: <geom>: attribute type="ball"; expected one of'),
        ('<worldbody>\n<geom size="nan"/></worldbody>', ':2: <geom>: attribute size="nan"; expected finite numbers'),
        ('<worldbody>\n<geom type="box" size="1 1"/></worldbody>', ":2: <geom>: a box of size 1 1; expected 3 numbers"),
        ('<worldbody>\n<geom size="1" pos="1 2"/></worldbody>', ':2: <geom>: attribute pos="1 2"; expected 3 numbers'),
        ('<worldbody>\n<geom size="1" class="x"/></worldbody>', ":2: <geom>: default class 'x' does not exist"),
        ('<worldbody>\n<geom type="mesh" mesh="x"/></worldbody>', ":2: <geom>: mesh 'x' does not exist"),
        ('<worldbody>\n<geom size="1" quat="1 0 0 0" euler="0 0 0"/></worldbody>', ":2: .*more than one orientation"),
        ('<worldbody>\n<body quat="0 0 0 0"/></worldbody>', ":2: .*expected a vector that is not zero"),
        (f"<worldbody>{arm()}\n{arm()}</worldbody>", ":2: <body>: a second body 'arm'"),
        ('<worldbody><body>\n<joint axis="0 0 0"/><geom size="1"/></body></worldbody>', ":2: .*axis is zero"),
        ('<worldbody><body>\n<joint range="2 1"/><geom size="1"/></body></worldbody>', ":2: .*lower number"),
        ('<worldbody><body>\n<joint damping="-2"/><geom size="1"/></body></worldbody>', ":2: .*zero or more"),
        ('<worldbody><body><joint/><geom size="1"/>\n<body><freejoint/></body></body></worldbody>', ":2: free joint"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><motor joint='x'/></actuator>", ":2: <motor>: joint 'x' does not"),
        (f"<worldbody>{arm()}</worldbody>\n<contact><exclude body1='arm' body2='x'/></contact>", ":2: .*body 'x' does"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><position joint='j' kp='-1'/></actuator>", ":2: .*negative gain"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><motor joint='j' ctrlrange='1 0'/></actuator>", ":2: .*ctrlrange"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><motor joint='j' ctrllimited='true'/></actuator>", ":2: .*'ctrlrange'"),
        ('<worldbody><body>\n<joint limited="true"/><geom size="1"/></body></worldbody>', ":2: .*without an attribute 'range'"),
        ('<worldbody><body><joint name="j"/>\n<joint name="j"/><geom size="1"/></body></worldbody>', ":2: .*a second joint"),
        ('<worldbody><body><joint/>\n<inertial pos="0 0 0"/></body></worldbody>', ":2: <inertial>: attribute 'mass' is"),
        ('<worldbody>\n<geom type="capsule" size="1" fromto="1 2 3 1 2 3"/></worldbody>', ":2: .*two different points"),
        ('<worldbody>\n<geom size="1" friction="-1"/></worldbody>', ':2: <geom>: attribute friction="-1"; expected zero'),
        ('<worldbody>\n<geom size="1" mass="-1"/></worldbody>', ":2: <geom>: mass is -1; expected zero or more"),
        ('<worldbody>\n<geom size="1" condim="1.5"/></worldbody>', ':2: .*condim="1.5"; expected an integer'),
        ('<asset>\n<mesh name="m"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>', ":2: <mesh>: no attribute"),
        ('<asset>\n<mesh file="m.obj"/></asset><worldbody><geom mesh="m"/></worldbody>', ":2: <mesh>: mesh file '.*m.obj'"),
        ('\n<compiler coordinate="global"/>', ":2: .*global"),
        ('\n<compiler eulerseq="abc"/>', ":2: .*eulerseq"),
        ('\n<option timestep="0"/>', ":2: .*timestep"),
        ("<default>\n<default/></default>", ":2: .*no attribute 'class'"),
        ('\n<include file="none.xml"/>', ":2: <include>: file 'none.xml' does not exist"),
        (f"<worldbody>{arm(geom='')}</worldbody>", ":1: joint 'j' moves without any inertia"),
    ],
)
def test_mistakes_are_told_with_file_and_line(load, inside, message):
    with pytest.raises(ParseError, match=r"model\.xml" + message):
        load(inside)


def test_long_chains_load(load):
    depth = 120
    inside = '<body><joint axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/>' * depth + "</body>" * depth
    (entry,) = load(f"<worldbody>{inside}</worldbody>").objects
    assert len(entry.tree.bodies) == depth + 1


def test_fuzzed_files_load_or_tell(load):
    rng = np.random.default_rng(5)
    text = """<compiler angle="radian" eulerseq="zyx"/><option timestep="0.01" gravity="0 0 -9"/>
      <default><joint damping="1"/><geom density="100"/></default>
      <worldbody><geom type="plane" size="1 1 1"/><body name="a" pos="0 0 1" euler="1 2 3"><joint name="j" range="-1 1"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/><body name="b"><joint type="ball"/><geom size="0.1" contype="2"/>
      </body></body></worldbody><actuator><motor joint="j" gear="3" ctrlrange="-1 1"/></actuator>"""
    pieces = ['"', "<", ">", "/", "nan", "-1", "1e400", "body", "0", " ", "&", "é", "class=", "free"]
    outcomes = {"loaded": 0, "refused": 0}
    for number in range(200):
        start, cut = int(rng.integers(len(text))), int(rng.integers(0, 12))
        try:
            load(text[:start] + str(rng.choice(pieces)) + text[start + cut :], f"mutated_{number}.xml")
            outcomes["loaded"] += 1
        except RaisimError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10

"""The MJCF reader: default classes, includes, what it refuses and what it says it leaves out."""

import math

import numpy as np
import pytest

from raisim_ros.description.errors import ParseError, RaisimError
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.world.types import ArticulatedEntry, GroundEntry, HeightMapEntry, MeshEntry, PrimitiveEntry
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
    with pytest.raises(ParseError, match="`range` but not `limited`"):
        load(f'<compiler autolimits="false"/><worldbody>{limited}</worldbody>')
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
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n<geom siz="1"/></mujocoinclude>')
    with pytest.raises(ParseError, match=r"model\.xml: <geom>: .*'siz' \(in a file that it includes"):
        load('<worldbody><body><include file="part.xml"/></body></worldbody>')
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n<geom size="-1"/></mujocoinclude>')
    with pytest.raises(ParseError, match=r"model\.xml: size 0 must be positive .*in a file that it includes"):
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
    world = load(f"""<option viscosity="0.1"/><default><geom fluidshape="ellipsoid"/></default><worldbody>{arm('<joint name="j" solreflimit="0.1 1"/>')}
      <geom size="1"/></worldbody><sensor><user dim="2"/></sensor>
      <actuator><adhesion body="arm" ctrlrange="0 1"/></actuator><visual><map/></visual>""")
    (warning,) = world.warnings
    for feature in ("fluidshape ellipsoid", "sensors", "actuators of a body", "softness of contacts and limits"):
        assert feature in warning
    assert "visual" not in warning


BALL = '<body name="ball"><joint name="b" type="ball"/><geom size="0.1"/></body>'


@pytest.mark.parametrize(
    ("inside", "feature"),
    [
        ('<option><flag filterparent="disable"/></option>', "flag filterparent"),
        ('<worldbody><geom type="plane" size="1 1 1" euler="20 0 0"/></worldbody>', "planes that are tilted"),
        ('<worldbody><body><joint type="free" damping="1"/><geom size="1"/></body></worldbody>', "damping of free"),
        (f'<worldbody><light/><camera/><site/>{arm()}</worldbody>', ""),
        (f'<worldbody><camera mode="targetbody" target="arm"/>{arm()}</worldbody>', "cameras that move"),
        ('<worldbody><body><joint/><geom size="1"/><light/><camera/></body></worldbody>', "cameras that move, lights that move"),
        (f'<worldbody>{BALL}</worldbody><actuator><motor joint="b"/></actuator>', ""),
        (f'<worldbody>{arm()}</worldbody><actuator><position joint="j" forcerange="-1 1"/><velocity joint="j"/></actuator>', ""),
        (f'<worldbody>{arm()}</worldbody><actuator><position joint="j" kp="-1"/></actuator>', ""),
        (f'<worldbody>{arm()}{BALL}</worldbody><equality><connect body1="arm" body2="ball" anchor="0 0 0"/></equality>',
         "connect between two systems"),
        (f'<worldbody>{arm()}</worldbody><equality><joint joint1="j" polycoef="0 0 1"/></equality>', ""),
    ],
)  # fmt: skip
def test_each_thing_that_is_left_out_is_named(load, inside, feature):
    warnings = load(inside).warnings
    assert len(warnings) == bool(feature)
    if feature:
        assert warnings[0].count("not supported and left out:") == 1
        assert feature in warnings[0]


def test_cameras_and_lights_of_the_world_are_those_of_viewers(load):
    world = load(f"""<worldbody>
      <body pos="0 0 1" euler="0 0 90">
        <camera name="c" pos="1 0 0" xyaxes="0 -1 0 0 0 1" fovy="60" resolution="200 100"/>
        <light name="arm" type="spot" pos="0 0 2" dir="1 0 -1" diffuse="1 0.5 0" cutoff="30" castshadow="true"/>
      </body>
      <light type="point" active="false"/>{arm()}</worldbody>""")
    camera, light = world.objects[-2:]
    assert (camera.name, light.name) == ("c", "arm_")  # the body has the name
    looks = matrix_from_quaternion(camera.state.quaternion)
    np.testing.assert_allclose(camera.state.position, [0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(looks, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)  # forward, left and up are columns
    assert math.tan(camera.settings.horizontal_fov / 2) == pytest.approx(2 * math.tan(math.radians(30)))
    np.testing.assert_allclose(light.state.position, [0, 0, 3], atol=1e-12)
    shines = -matrix_from_quaternion(light.state.quaternion)[:, 2]
    np.testing.assert_allclose(shines, np.array([0, 1, -1]) / math.sqrt(2), atol=1e-12)
    assert (light.settings.kind, light.settings.color, light.settings.shadows) == ("spot", (1.0, 0.5, 0.0), True)
    assert light.settings.cutoff == pytest.approx(math.radians(30))
    assert world.warnings == []


def test_an_open_mesh_weighs_what_mujoco_says(load, tmp_path):
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    inside = """<asset><mesh file="open.obj" inertia="shell"/></asset>
      <worldbody><body><joint/><geom type="mesh" mesh="open" mass="3"/></body></worldbody>"""
    assert only_body(load(inside)).mass == pytest.approx(3.0)


def test_flags_switch_parts_off(load):
    limited = arm('<joint name="j" range="-10 10" damping="1" stiffness="2" frictionloss="3"/>')
    flags = 'limit="disable" damper="disable" spring="disable" frictionloss="disable" contact="disable"'
    body = only_body(load(f"<option><flag {flags}/></option><worldbody>{limited}</worldbody>"))
    assert (body.upper, body.damping, body.stiffness, body.friction) == (np.inf, 0, 0, 0)
    assert not body.collisions


def test_a_height_field_is_a_heightmap(load):
    (entry,) = load("""<asset><hfield name="h" nrow="2" ncol="3" size="2 1 4 0.1" elevation="0 1 2 3 4 4"/></asset>
      <worldbody><geom type="hfield" hfield="h" pos="5 6 7"/></worldbody>""").objects
    assert isinstance(entry, HeightMapEntry)
    assert (entry.x_samples, entry.y_samples, entry.x_size, entry.y_size) == (3, 2, 4.0, 2.0)
    assert entry.center == (5.0, 6.0, 7.0)
    # MuJoCo reads the rows of `elevation` from top to bottom, and scales them to 0..1
    np.testing.assert_allclose(entry.heights, (3, 4, 4, 0, 1, 2))


def test_a_mocap_body_is_kinematic(load):
    (entry,) = load('<worldbody><body name="hand" mocap="true" pos="1 2 3"><geom size="0.1"/></body></worldbody>').objects
    assert (entry.name, entry.body_type, entry.state.position) == ("hand", "kinematic", (1, 2, 3))


def test_keyframes_are_named_states(load):
    world = load(f"""<worldbody>{arm()}<body name="other" pos="0 0 5"><freejoint/><geom size="0.1"/>
        <body><joint/><geom size="0.1" pos="0.1 0 0"/></body></body></worldbody>
      <actuator><motor joint="j"/></actuator>
      <keyframe><key name="home" qpos="0.5 1 2 3 0 1 0 0 0.7" qvel="1 2 3 4 5 6 7 8" ctrl="0.25"/><key/></keyframe>""")
    first, second = (entry.tree.states["home"] for entry in world.objects)
    np.testing.assert_array_equal(first.coordinate, [0.5])
    np.testing.assert_array_equal(first.control, [0.25])
    np.testing.assert_array_equal(second.coordinate, (1, 2, 3, 0, 1, 0, 0, 0.7))
    # half a turn about x: MuJoCo's angular velocity of a free joint is that of the moved frame
    np.testing.assert_allclose(second.velocity, (2, 3, 4, 5, -6, -7, 8))
    assert set(world.objects[0].tree.states) == {"home", "key_1"}


def test_pairs_and_exclusions_across_bodies_are_kept_by_groups(load):
    world = load(f"""<worldbody>{arm(geom='<geom name="a" size="0.1" contype="0" conaffinity="0" friction="0.3"/>')}
      {BALL}<body name="third"><joint/><geom name="c" size="0.1"/></body>
      <geom name="post" type="box" size="1 1 1" pos="9 0 0"/></worldbody>
      <contact><pair geom1="a" geom2="c" friction="0.7" condim="3"/><exclude body1="ball" body2="third"/>
        <exclude body1="world" body2="third"/></contact>""")
    post, *robots = world.objects
    a, ball, c = (robot.tree.bodies[-1].collisions[0] for robot in robots)

    def collide(one, other):
        return bool(one.collision_group & other.collision_mask) and bool(other.collision_group & one.collision_mask)

    assert [collide(a, c), collide(a, ball), collide(ball, c)] == [True, False, False]
    assert [collide(post, one) for one in (a, ball, c)] == [False, True, False]
    pairs = world.materials.pairs
    told = pairs.get((a.material, c.material)) or pairs[c.material, a.material]
    assert told.friction == 0.7


def test_controls_of_zero_are_clamped(load):
    (entry,) = load(f"""<worldbody>{arm()}</worldbody>
      <actuator><motor joint="j" gear="3" ctrlrange="0.5 1"/></actuator>""").objects
    assert entry.joints["feed_forward"] == (1.5,)


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
        ('<worldbody>\n<geom type="ball" size="1"/></worldbody>', ":2: <geom>: invalid keyword: 'ball'"),
        ('<worldbody>\n<geom size="nan"/></worldbody>', ":2: nan size in geom"),
        ('<worldbody>\n<geom type="box" size="1 1"/></worldbody>', ":2: size 2 must be positive in geom"),
        ('<worldbody>\n<geom size="1" pos="1 2"/></worldbody>', ":2: <geom>: attribute 'pos' does not have enough data"),
        ('<worldbody>\n<geom size="1" class="x"/></worldbody>', ":2: <geom>: unknown default class name 'x'"),
        ('<worldbody>\n<geom type="mesh" mesh="x"/></worldbody>', ":2: mesh 'x' not found"),
        ('<worldbody>\n<body quat="0 0 0 0"/></worldbody>', ":2: <body>: zero quaternion"),
        (f"<worldbody>{arm()}\n{arm()}</worldbody>", ":2: <body>: repeated name 'arm'"),
        ('<worldbody><body>\n<joint axis="0 0 0"/><geom size="1"/></body></worldbody>', ":2: axis too small in joint"),
        ('<worldbody><body>\n<joint damping="-2"/><geom size="1"/></body></worldbody>', ":2: .*zero or more"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><motor joint='x'/></actuator>", ":2: .*transmission target 'x'"),
        (f"<worldbody>{arm()}</worldbody>\n<contact><exclude body1='arm' body2='x'/></contact>", ":2: body 'x' not found"),
        (f"<worldbody>{arm()}</worldbody>\n<actuator><motor joint='j' ctrllimited='true'/></actuator>", ":2: .*control range"),
        ('<worldbody>\n<geom size="1" friction="-1"/></worldbody>', ":2: <geom>: friction is -1 .*expected zero"),
        ('<asset>\n<mesh file="m.obj"/></asset><worldbody><geom mesh="m"/></worldbody>', ": .*'m.obj'"),
        ('\n<compiler coordinate="global"/>', ":2: .*global"),
        ('\n<option timestep="0"/>', ": the time step is 0; expected"),
        ("<default>\n<default/></default>", ":2: <default>: empty class name"),
        ('\n<include file="none.xml"/>', ":2: <include>: file 'none.xml' does not exist"),
        (f"<worldbody>{arm(geom='')}</worldbody>", ":1: 'arm': mass and inertia of moving bodies"),
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


# ---- the process that compiles ----


def test_a_compiler_that_ends_or_takes_too_long_is_told(tmp_path):
    from raisim_ros.description.mjcf import compiler

    file = tmp_path / "model.xml"
    file.write_text(f"<mujoco><worldbody>{arm()}</worldbody></mujoco>")
    assert compiler.compile_mjcf(file).names["body"] == ["world", "arm"]
    with pytest.raises(ParseError, match=r"model\.xml: MuJoCo's compiler took longer than 1e-06 s"):
        compiler.compile_mjcf(file, time_limit=1e-6)
    compiler.compile_mjcf(file)
    compiler._worker.process.kill()  # as an idle one ends: the next request starts another
    assert compiler.compile_mjcf(file).names["body"] == ["world", "arm"]


def test_without_mujoco_the_error_tells_how_to_get_it(load, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RaisimError, match=r"model\.xml: .*pip install 'raisim_ros\[mjcf\]'"):
        load("<worldbody/>")


def test_files_outside_the_allowed_folders_are_refused(load, tmp_path):
    from raisim_ros.description.errors import FileRefusedError
    from raisim_ros.description.file_access import set_allowed_folders

    inside = '<asset><mesh name="m" file="{}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>'
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    set_allowed_folders([tmp_path])
    try:
        assert len(load(inside.format("t.obj")).objects) == 1
        for outside in ("/etc/passwd", "../../secret.obj"):
            with pytest.raises(FileRefusedError):
                load(inside.format(outside))
        with pytest.raises(FileRefusedError):
            load(f'<compiler meshdir="/etc"/>{inside.format("t.obj")}')
    finally:
        set_allowed_folders(None)


def test_a_compiler_that_met_an_unknown_error_is_not_asked_again(tmp_path):
    """MuJoCo gives up on an empty anchor in the middle; what it compiles afterwards cannot be trusted."""
    from raisim_ros.description.mjcf import compiler

    bodies = '<body name="a"><freejoint/><geom size="1"/></body><body name="b"><freejoint/><geom size="1"/></body>'
    text = '<mujoco><worldbody>{}</worldbody><equality><connect body1="a" body2="b" anchor="{}"/></equality></mujoco>'
    file = tmp_path / "model.xml"
    compiler.compile_mjcf(file, text.format(bodies, "0 0 0"))
    before = compiler._worker
    with pytest.raises(ParseError, match=r"model\.xml"):
        compiler.compile_mjcf(file, text.format(bodies, ""))
    compiler.compile_mjcf(file, text.format(bodies, "0 0 0"))
    assert compiler._worker is not before

"""Worlds from files: what the reader says becomes objects, and what is written reads back to the same bits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
from equal_robots import assert_equal_robots

import raisim_ros
from raisim_ros import (
    ArticulatedSystem,
    BodyType,
    BroadphaseType,
    CompoundChild,
    ContactSettings,
    FileMissingError,
    GyroscopicMode,
    InterfaceSettings,
    LightObject,
    LightSettings,
    MeshCollisionMode,
    ParseError,
    RaisimError,
    ShapeType,
    SleepSettings,
    ViewCamera,
    ViewCameraSettings,
    Viewpoint,
    World,
)
from raisim_ros.engine.entries.describe import describe_world
from raisim_ros.engine.objects.soft_handles import SoftObject

RESOURCES = Path(__file__).resolve().parents[3] / "rsc"
WORLDS = sorted((RESOURCES / "worlds").glob("*.xml"))
ROBOTS = sorted((RESOURCES / "robots").glob("*.urdf"))


@pytest.fixture
def load(world_file):
    return lambda text, **params: World(world_file(text), params)


def test_what_an_element_leaves_out_has_the_engines_default(tmp_path):
    fresh = World()
    file = tmp_path / "world.xml"
    file.write_text(
        '<raisim><erp erp="0.4"/><simulation><solver max_iterations="7"/><contact gjk_max_iterations="9"/>'
        '<sleeping quiet_steps="5"/></simulation></raisim>'
    )
    world = World(file)
    assert world.get_erp() == (0.4, fresh.get_erp()[1])
    assert world.get_contact_solver_param() == (7, fresh.get_contact_solver_param()[1])
    assert world.get_contact_settings() == replace(fresh.get_contact_settings(), gjk_max_iterations=9)
    assert world.get_sleeping_parameters() == replace(fresh.get_sleeping_parameters(), quiet_steps=5)
    assert fresh.get_contact_settings() == ContactSettings()
    assert fresh.get_sleeping_parameters() == SleepSettings()


def test_objects_settings_and_states(load, tmp_path):
    world = load("""
        <raisim><gravity value="0 0 -5"/><timestep value="0.004"/><erp erp="0.2"/>
        <simulation><contact broadphase="multi_box_prune" swept_ccd_enabled="true"/><sleeping quiet_steps="9"/></simulation>
        <material><pair_prop name1="a" name2="b" friction="0.3" restitution="0.4" restitution_threshold="0.5"/></material>
        <objects>
          <ground height="-2" material="a"/>
          <box name="b" material="b" mass="3" body_type="kinematic" gyroscopic_mode="explicit"><dim x="1" y="2" z="3"/>
            <inertia xx="3" xy="0.1" xz="0.2" yy="4" yz="0.3" zz="5"/>
            <state pos="1 2 3" quat="0.8 0 0.6 0" lin_vel="1 0 0" ang_vel="0 1 0"/></box>
          <heightmap x_sample="2" y_sample="3" x_size="4" y_size="2" center_x="1" height="0 1 2 3 4 5"/>
        </objects></raisim>""")
    ground, box, terrain = world.get_obj_list()
    assert world.get_time_step() == 0.004
    np.testing.assert_array_equal(world.get_gravity(), (0, 0, -5))
    assert world.get_contact_settings().broadphase.type == BroadphaseType.MULTI_BOX_PRUNE
    assert world.get_contact_settings().swept_ccd_enabled
    assert world.get_sleeping_parameters().quiet_steps == 9
    assert world.get_material_pair_properties("b", "a").restitution == 0.4
    assert world.get_config_file() == str(tmp_path / "world.xml")
    assert ground.get_height() == -2
    assert world.get_object_material(box) == "b"
    assert (box.get_name(), box.get_body_type()) == ("b", BodyType.KINEMATIC)
    assert box.get_gyroscopic_mode() == GyroscopicMode.EXPLICIT
    np.testing.assert_array_equal(box.get_inertia_matrix_b(), [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])
    np.testing.assert_array_equal(box.get_position(), (1, 2, 3))
    np.testing.assert_array_equal(box.get_quaternion(), (0.8, 0, 0.6, 0))
    np.testing.assert_array_equal(box.get_linear_velocity(), (1, 0, 0))
    np.testing.assert_array_equal(box.get_angular_velocity(), (0, 1, 0))
    assert terrain.get_height(-1, -1) == 0  # first sample: lowest x and y
    assert terrain.get_height(3, -1) == 1  # x runs fastest
    assert terrain.get_height(-1, 1) == 4


def test_damping_and_raised_terrain(load, tmp_path):
    world = load(
        '<raisim><gravity value="0 0 0"/><objects><heightmap x_sample="2" y_sample="2" height="1 1 1 1" center_z="0.5"/>'
        '<box mass="2" linear_damping="4" angular_damping="0 0.3 0"><dim x="1" y="1" z="1"/>'
        '<state pos="0 0 9" lin_vel="1 0 0" ang_vel="0 2 0"/></box></objects></raisim>'
    )
    terrain, box = world.get_obj_list()
    assert terrain.get_height(0.0, 0.0) == 1.5
    world.set_time_step(1e-4)
    world.integrate(10000)
    np.testing.assert_allclose(box.get_linear_velocity(), (np.exp(-2.0), 0, 0), rtol=1e-3)
    np.testing.assert_allclose(box.get_angular_velocity(), (0, 2 * np.exp(-0.9), 0), rtol=1e-3)
    world.export_to_xml(tmp_path / "out.xml")
    assert 'angular_damping="0.0 0.3 0.0"' in (tmp_path / "out.xml").read_text()


def test_two_objects_of_one_name_are_found_in_their_order(load):
    world = load('<raisim><objects><sphere name="a" mass="1"><dim radius="1"/></sphere>'
                 '<sphere name="a" mass="2"><dim radius="1"/></sphere></objects></raisim>')  # fmt: skip
    assert world.get_object("a").get_mass() == 1.0
    world.remove_object(world.get_object("a"))
    assert world.get_object("a").get_mass() == 2.0


def test_load_adds_to_a_world(load, tmp_path):
    world = World()
    world.add_ground()
    file = tmp_path / "more.xml"
    file.write_text('<raisim><objects><sphere name="@@name" mass="1"><dim radius="1"/></sphere></objects></raisim>')
    world.load(file, {"name": "ball"})
    assert [type(handle).__name__ for handle in world.get_obj_list()] == ["Ground", "Sphere"]
    assert world.get_object("ball") is not None


@pytest.mark.parametrize(
    ("inside", "error", "message"),
    [
        ('<mesh mass="1" file_name="none.obj"/>', FileMissingError, r"world.xml:2: file .*none\.obj' does not exist"),
        ('<sphere mass="1"><dim radius="1"/><inertia xx="1" yy="1" zz="9"/></sphere>', ParseError, "world.xml:2: inertia"),
        ('<sphere mass="1"><dim radius="1e9"/></sphere>', ParseError, "world.xml:2: radius"),
        ('<heightmap x_sample="2" y_sample="2" height="1 2 3"/>', ParseError, "world.xml:2: "),
        ('<heightmap png="none.png"/>', FileMissingError, "world.xml:2: file"),
    ],
)
def test_a_failed_load_changes_nothing(tmp_path, inside, error, message):
    world = World()
    world.add_ground()
    world.add_sphere(0.1, 1.0).set_position(0, 0, 1)
    world.integrate(10)
    before = world.get_state_hash(), len(world.get_obj_list()), world.get_time_step()
    file = tmp_path / "world.xml"
    file.write_text(
        '<raisim><time_step value="0.1"/><gravity value="1 1 1"/><objects><sphere mass="1"><dim radius="1"/></sphere>\n'
        f"{inside}</objects></raisim>"
    )
    with pytest.raises(error, match=message):
        world.load(file)
    assert (world.get_state_hash(), len(world.get_obj_list()), world.get_time_step()) == before
    np.testing.assert_array_equal(world.get_gravity(), (0, 0, -9.81))


def random_world(seed, folder):
    """A world with a bit of everything, in motion."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(rng.choice([0.001, 0.0025, 0.005]))
    world.set_gravity(rng.normal(size=3) * 0.1 + [0, 0, -9.81])
    world.set_material_pair_prop("steel", "rubber", rng.random(), rng.random(), rng.random() * 0.1, 1.2, 0.05)
    world.set_erp(rng.random())
    if rng.random() < 0.7:
        world.add_ground(rng.normal() * 0.1, "rubber")
    else:
        world.add_height_map(raisim_ros.TerrainProperties(seed=seed, x_samples=12, y_samples=9), material="rubber")
    mesh = trimesh.creation.icosahedron()
    mesh.apply_scale(0.2)
    path = folder / f"mesh_{seed}.stl"
    mesh.export(path)
    makers = [
        lambda: world.add_sphere(*rng.uniform(0.1, 0.3, 2), "steel"),
        lambda: world.add_box(*rng.uniform(0.1, 0.5, 4), collision_group=3, collision_mask=-1),
        lambda: world.add_cylinder(*rng.uniform(0.1, 0.3, 3)),
        lambda: world.add_cone(*rng.uniform(0.1, 0.3, 3)),
        lambda: world.add_capsule(*rng.uniform(0.1, 0.3, 3)),
        lambda: world.add_compound(
            [
                CompoundChild(ShapeType.BOX, rng.uniform(0.1, 0.3, 3), rng.normal(size=3) * 0.1, (0.6, 0.8, 0, 0)),
                CompoundChild(ShapeType.SPHERE, (0.1,), rng.normal(size=3) * 0.1, material="steel"),
            ],
            2.0,
            rng.normal(size=3) * 0.02,
        ),
        lambda: world.add_mesh(path, 1.0, scale=(1.0, 1.5, 0.7), collision_mode=MeshCollisionMode.CONVEX_HULL),
    ]
    for number in range(rng.integers(3, 9)):
        body = makers[rng.integers(len(makers))]()
        quaternion = rng.normal(size=4)
        body.set_pose((*rng.uniform(-1, 1, 2), 0.8 + 0.5 * number), quaternion / np.linalg.norm(quaternion))
        body.set_velocity(rng.normal(size=3), rng.normal(size=3))
        body.set_name(f"body_{number % 3}")
        body.set_appearance(str(rng.choice(["red", "0.1 0.2 0.3 1", ""])))
        if rng.random() < 0.2:
            body.set_body_type(BodyType.KINEMATIC)
        if rng.random() < 0.3:
            body.set_linear_damping(rng.random())
        if rng.random() < 0.3:
            body.set_interface(
                InterfaceSettings((1.5, 0, 0.1), None, publish_children_names=True, publish_tf="none", min_rate_hz=12.5)
            )
    add_random_scene(world, rng)
    if rng.random() < 0.3:
        add_random_robot(world, rng)
    return world


def add_random_scene(world, rng):
    """What is only seen, and a wire."""
    if rng.random() < 0.5:
        light = world.add_light(LightSettings(str(rng.choice(["point", "spot"])), rng.random(3), rng.uniform(0.1, 3)))
        light.set_pose(rng.normal(size=3), (0.6, 0.0, 0.8, 0.0))
        light.set_velocity(rng.normal(size=3), rng.normal(size=3))
    if rng.random() < 0.5:
        world.add_view_camera(ViewCameraSettings(*rng.uniform(0.5, 1.0, 2), 7.5)).set_name("view")
        world.set_viewpoint(Viewpoint("view", rng.normal(size=3)))
    bodies = [one for one in world.get_obj_list() if one.get_body_type() == BodyType.DYNAMIC]
    if rng.random() < 0.5 and len(bodies) > 1:
        world.add_compliant_wire(bodies[0], 0, (0, 0, 0.01), bodies[1], 0, (0, 0, 0), 0.1, rng.uniform(1, 20)).set_name("w")


def add_random_robot(world, rng):
    """One of the package's robots above everything else, moving, with settings of its own."""
    without_sensors = [file for file in ROBOTS if "sensor=" not in file.read_text()]  # those take their time
    robot = world.add_articulated_system(without_sensors[rng.integers(len(without_sensors))], collision_group=3)
    robot.set_name("robot")
    for pin in robot._tree.pins:
        robot.set_generalized_coordinate(pin.nominal_config)  # where loops are closed
    robot.set_base_pos((0, 0, 8))
    robot.set_generalized_velocity(0.1 * rng.normal(size=robot.get_dof()))
    robot.set_joint_damping(rng.random(robot.get_dof()))
    if rng.random() < 0.5:
        robot.set_pd_gains(10 * rng.random(robot.get_dof()), rng.random(robot.get_dof()))


def assert_equal_worlds(first, second):
    a, b = first.read_states(), second.read_states()
    np.testing.assert_array_equal(a.poses, b.poses)
    np.testing.assert_array_equal(a.twists, b.twists)
    assert first.get_time_step() == second.get_time_step()
    assert first.get_world_time() == second.get_world_time()
    np.testing.assert_array_equal(first.get_gravity(), second.get_gravity())
    assert first.get_contact_settings() == second.get_contact_settings()
    assert first.get_sleeping_parameters() == second.get_sleeping_parameters()
    assert first.get_material_manager() == second.get_material_manager()
    assert first.get_viewpoint() == second.get_viewpoint()
    assert [(wire.get_name(), wire.get_length()) for wire in first.get_wires()] == [
        (wire.get_name(), wire.get_length()) for wire in second.get_wires()
    ]
    for one, other in zip(first.get_obj_list(), second.get_obj_list(), strict=True):
        assert type(one) is type(other)
        assert (one.get_name(), one.get_appearance()) == (other.get_name(), other.get_appearance())
        assert one.get_body_type() == other.get_body_type()
        assert one.get_interface() == other.get_interface()
        if isinstance(one, LightObject | ViewCamera):
            assert one.get_settings() == other.get_settings()
        if isinstance(one, ArticulatedSystem):
            assert_equal_robots(one, other, exactly=False)
            continue
        if isinstance(one, SoftObject):
            np.testing.assert_array_equal(one.get_positions(), other.get_positions())
            np.testing.assert_array_equal(one.get_velocities(), other.get_velocities())
            continue
        assert (one.get_mass(), one.get_collision_group(), one.get_collision_mask()) == (
            other.get_mass(),
            other.get_collision_group(),
            other.get_collision_mask(),
        )
        np.testing.assert_array_equal(one.get_inertia_matrix_b(), other.get_inertia_matrix_b())
        np.testing.assert_array_equal(one.get_com(), other.get_com())
        for shape, twin in zip(one.get_collision_body_list(), other.get_collision_body_list(), strict=True):
            assert (shape.shape, shape.material) == (twin.shape, twin.material)
            np.testing.assert_array_equal(shape.dim, twin.dim)
            np.testing.assert_array_equal(shape.position, twin.position)


@pytest.mark.parametrize("block", range(10))
def test_export_reads_back_to_the_same_world_and_steps_to_the_same_bits(tmp_path, block):
    for seed in range(20 * block, 20 * block + 20):
        original = random_world(seed, tmp_path)
        original.integrate(20)
        file = tmp_path / f"world_{seed}.xml"
        original.export_to_xml(tmp_path, file.name)
        first, second = World(file), World(file)
        assert_equal_worlds(original, first)
        first.integrate(1000)
        second.integrate(1000)
        assert first.get_state_hash() == second.get_state_hash()
        again = tmp_path / f"again_{seed}.xml"
        World(file).export_to_xml(again)
        assert again.read_text().replace("again_", "world_") == file.read_text()


def test_meshes_without_a_file_are_written_beside_the_world(tmp_path):
    world = World()
    box = trimesh.creation.box((0.2, 0.3, 0.4))
    path = tmp_path / "source.obj"
    box.export(path)
    world.add_mesh(raisim_ros.load_mesh(path), 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)
    world.export_to_xml(tmp_path / "out" / "world.xml")
    assert (tmp_path / "out" / "world_mesh_0.obj").is_file()
    assert_equal_worlds(world, World(tmp_path / "out" / "world.xml"))
    (written,) = world.export_mesh_assets_to_obj(tmp_path / "assets", "part")
    assert written.endswith("part_0.obj")
    np.testing.assert_array_equal(raisim_ros.load_mesh(written).vertices, world.get_obj_list()[0].get_mesh().vertices)


@pytest.mark.filterwarnings("ignore:.*is ignored:RuntimeWarning")
@pytest.mark.parametrize("source", ["exported", "written"])
def test_fuzzed_files_load_or_tell(tmp_path, source):
    """Mutations of a valid file: a typed error or a world, never anything else, nothing half loaded."""
    rng = np.random.default_rng(3)
    valid = tmp_path / "valid.xml"
    random_world(1, tmp_path).export_to_xml(valid)
    text = valid.read_text() if source == "exported" else EVERYTHING
    pieces = ['"', "<", ">", "/", "nan", "-1", "1e400", "{", "}", "@@x", "0", " ", "&", "collision[", "é", "false"]
    outcomes = {"loaded": 0, "refused": 0}
    world = World()
    world.add_sphere(0.1, 1.0).set_name("kept")
    before = world.save_snapshot()
    look = described(world)
    for number in range(200):
        start = int(rng.integers(len(text)))
        cut = int(rng.integers(0, 12))
        mutated = text[:start] + str(rng.choice(pieces)) + text[start + cut :]
        file = tmp_path / f"mutated_{number}.xml"
        file.write_text(mutated)
        try:
            world.load(file)
            outcomes["loaded"] += 1
            world.integrate(2)
            world.restore_snapshot(before)
        except RaisimError:
            outcomes["refused"] += 1
        assert described(world) == look
    assert min(outcomes.values()) > 10


def described(world):
    """All that a world file would say about a world."""
    return describe_world(world, {})


# Every kind of element and template, by hand.
EVERYTHING = """<?xml version="1.0"?>
<raisim version="1.0"><params><n value="2"/><size value="0.2"/></params>
<gravity value="0, 0, -9.8"/><timeStep value="0.002"/><erp erp="1" erp2="0.1"/>
<simulation time="1"><solver max_iterations="20"/><contact max_contacts_per_pair="4"/><sleeping quiet_steps="3"/></simulation>
<material><default friction="0.5"/><pair_prop name1="a" name2="b" friction="0.9" restitution="0.3"/></material>
<objects><ground height="-1" material="a"/>
<heightmap x_sample="2" y_sample="2" x_size="1" y_size="1" height="0 0 0 0" center_x="30"/>
<array idx="@@i" start="0" end="@@n" increment="1" exist="true">
<sphere name="s_@@i" mass="{1+@@i}" material="b" min_rate_hz="20"><dim radius="@@size"/><state pos="@@i 0 {sin(@@i)+3}"/>
<controller linear="10 1 2" angular="1 0 0.1"/></sphere></array>
<box mass="1" body_type="kinematic" collision_group="collision[1|2]"><dim x="1" y="1" z="@@size"/><state lin_vel="0 1 0"/></box>
<capsule mass="1"><dim radius="0.1" height="0.3"/><inertia xx="1" yy="1" zz="1"/><state pos="5 0 0" quat="0.6 0.8 0 0"/></capsule>
<compound mass="2" com="0 0 0.01" collisionMask="-1"><children><cone><dim radius="0.1" height="0.2"/></cone>
<cylinder material="a"><dim radius="0.1" height="0.2"/><state pos="0 0 0.3"/></cylinder></children><state pos="8 0 0"/></compound>
<light name="l" type="spot" color="1 0.5 0" cutoff="0.5"><state pos="0 0 4"/></light>
<view_camera name="v" horizontal_fov="1.1" near="0.1" far="20"/></objects>
<wire name="w" type="compliant" length="1" stiffness="10"><object1 name="s_0"/><object2 name="s_1" pos="0 0 0.1"/></wire>
<camera follow="s_0" x="1" y="2" z="3"/></raisim>"""


def test_everything_loads_without_a_warning(tmp_path, recwarn):
    file = tmp_path / "world.xml"
    file.write_text(EVERYTHING)
    world = World(file)
    assert [one.get_object_type().name.lower() for one in world.get_obj_list()] == [
        "ground", "heightmap", "sphere", "sphere", "sphere", "box", "capsule", "compound", "light", "view_camera",
    ]
    assert len(world.get_wires()) == 1
    assert list(recwarn) == []


@pytest.mark.parametrize("file", WORLDS, ids=lambda file: file.stem)
def test_the_worlds_that_come_with_the_package(file, tmp_path):
    world = World(file)
    assert len(world.get_obj_list()) >= (1 if file.stem == "empty" else 3)
    world.export_to_xml(tmp_path / "first.xml")
    first, second = World(tmp_path / "first.xml"), World(tmp_path / "first.xml")
    assert_equal_worlds(world, first)
    steps = 50 if any(isinstance(one, SoftObject) for one in world.get_obj_list()) else 1000  # as many as take a second
    first.integrate(steps)
    second.integrate(steps)
    assert first.get_state_hash() == second.get_state_hash()


def test_materials_world_slides_and_sticks():
    world = World(next(file for file in WORLDS if file.stem == "materials"))
    start = {name: world.get_object(name).get_position() for name in ("ice", "steel", "wood", "stiction")}
    world.integrate(200)  # 1 s
    moved = {name: np.linalg.norm(world.get_object(name).get_position() - start[name]) for name in start}
    for name, friction in (("ice", 0.02), ("steel", 0.3)):
        assert moved[name] == pytest.approx(0.5 * 9.81 * (np.sin(0.4) - friction * np.cos(0.4)), rel=0.01)
    assert moved["wood"] < 1e-4
    assert moved["stiction"] < 1e-4


def test_robots_world_stands_drives_and_turns():
    world = World(next(file for file in WORLDS if file.stem == "robots"))
    world.integrate(1000)  # 2 s
    assert world.get_object("quadruped").get_base_position()[2] == pytest.approx(0.555, abs=0.01)
    assert world.get_object("arm").get_generalized_coordinate()[0] == pytest.approx(0.6, abs=0.01)
    x, y, _ = world.get_object("wheeled_base").get_base_position()
    assert (x, y) == (pytest.approx(-1 + 5 * 0.1 * 2, abs=0.1), pytest.approx(-2, abs=0.01))
    four_bar = world.get_object("four_bar")
    (pin,) = four_bar._tree.pins
    nominal = World().add_articulated_system(next(file for file in ROBOTS if file.stem == "four_bar"))
    nominal.set_generalized_coordinate(pin.nominal_config)
    on_rocker = nominal.get_position_in_body_coordinate(pin.body2, nominal.get_position(pin.body1, pin.anchor))
    gap = four_bar.get_position(pin.body1, pin.anchor) - four_bar.get_position(pin.body2, on_rocker)
    assert np.linalg.norm(gap) < 1e-3


def test_mujoco_world_has_motors_and_lands():
    world = World(next(file for file in WORLDS if file.stem == "hopper"))
    hopper = world.get_object("hopper")
    assert [actuator.joint for actuator in hopper.get_actuators()] == ["hip", "knee", "ankle"]
    assert hopper.get_position(hopper.get_body_idx("thigh"))[2] == pytest.approx(1.3 - 0.22)
    world.integrate(200)
    assert any(contact.get_pair_object_index() == 0 for contact in hopper.get_contacts())
    assert world.get_object("ball").get_position()[2] == pytest.approx(0.1, abs=1e-3)

"""What people expect of a Python API beside RaiSim's names: keywords, names, live arrays, types."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import raisim_ros
from raisim_ros import (
    BodyType,
    Contact,
    InvalidValueError,
    MeshData,
    ParameterContainer,
    RaisimError,
    UnknownNameError,
    World,
    WorldBatch,
)
from raisim_ros.description.rotation import matrix_from_quaternion

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = ROOT / "rsc/robots"
CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)], dtype=float)
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                  [0, 6, 4], [1, 5, 7], [1, 7, 3]], dtype=np.int32)  # fmt: skip


def makers(world: World):
    child = raisim_ros.CompoundChild(raisim_ros.ShapeType.SPHERE, (0.1,))
    return {
        "sphere": lambda **k: world.add_sphere(0.1, 1.0, **k),
        "box": lambda **k: world.add_box(0.1, 0.2, 0.3, 1.0, **k),
        "cylinder": lambda **k: world.add_cylinder(0.1, 0.2, 1.0, **k),
        "cone": lambda **k: world.add_cone(0.1, 0.2, 1.0, **k),
        "capsule": lambda **k: world.add_capsule(0.1, 0.2, 1.0, **k),
        "compound": lambda **k: world.add_compound([child], 1.0, **k),
        "mesh": lambda **k: world.add_mesh(MeshData(CORNERS, FACES, True), 1.0, collision_mode=1, **k),
        "robot": lambda **k: world.add_articulated_system(ROBOTS / "quadruped.urdf", **k),
    }


@pytest.mark.parametrize("kind", list(makers(World())))
def test_every_add_takes_the_same_keywords(kind):
    world = World()
    turn = np.array([0.8, 0.0, 0.6, 0.0])
    extra = {} if kind == "robot" else {"body_type": BodyType.KINEMATIC}
    made = makers(world)[kind](
        name="thing", position=(1, 2, 3), orientation=turn, velocity=(1, 0, 0, 0, 0, 2), appearance="red", **extra
    )
    assert world["thing"] is made
    assert made.get_position(0) == pytest.approx((1, 2, 3))
    assert made.get_orientation(0) == pytest.approx(matrix_from_quaternion(turn))
    assert made.get_angular_velocity(0) == pytest.approx((0, 0, 2))
    assert made.get_appearance() == "red"
    if extra:
        assert made.get_body_type() == BodyType.KINEMATIC
    for wrong in ({"position": (1, 2)}, {"colour": "red"}, {"velocity": (1, 2)}, {"name": 5}, {"body_type": 17}):
        with pytest.raises(RaisimError):
            makers(world)[kind](**wrong)
    assert world.get_obj_list() == [made]


def test_ground_and_heightmap_take_a_name():
    world = World()
    assert world.add_ground(name="floor") is world["floor"]
    assert world.add_height_map(2, 2, 1, 1, 0, 0, [0] * 4, name="hill", position=(0, 0, 1)) is world["hill"]
    assert world["hill"].get_position()[2] == 1


@pytest.mark.parametrize("kind", ["add_light", "add_view_camera"])
def test_what_is_only_seen_takes_the_keywords_too(kind):
    world = World()
    made = getattr(world, kind)(name="seen", position=(1, 2, 3), velocity=(0, 0, 1))
    assert world["seen"] is made
    assert made.get_position().tolist() == [1, 2, 3]
    with pytest.raises(InvalidValueError, match="colour"):
        getattr(world, kind)(colour="red")
    assert len(world.get_obj_list()) == 1


def test_particles_are_placed_as_a_whole():
    world = World()
    places, turn = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]]), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # 90 deg about z
    placed = {"position": (0, 0, 2), "orientation": turn, "velocity": (1, 0, 0, 0, 0, 3), "appearance": "red"}
    for name, made in (
        ("sand", world.add_granular_particles(places, 0.1, name="sand", **placed)),
        ("cloth", world.add_deformable_cloth(places, [[0, 1, 2]], name="cloth", **placed)),
    ):
        assert world[name] is made
        assert made.get_positions() == pytest.approx(np.array([[0, 0, 2], [0, 1, 2], [-1, 1, 2.0]]), abs=1e-12)
        assert made.get_velocities() == pytest.approx(np.array([[1, 0, 0], [-2, 0, 0], [-2, -3, 0.0]]), abs=1e-12)
        assert made.get_appearance() == "red"
    with pytest.raises(InvalidValueError, match="body_type"):
        world.add_granular_particles(places, 0.1, body_type=BodyType.STATIC)
    assert len(world.get_obj_list()) == 2


def test_wires_take_a_name():
    world = World()
    a, b = (world.add_sphere(0.1, 1.0, position=(k, 0, 0)) for k in range(2))
    ends = (a, 0, (0, 0, 0), b, 0, (0, 0, 0), 1.0)
    for k, made in enumerate((
        world.add_stiff_wire(*ends, name="w0"), world.add_custom_wire(*ends, name="w1"),
        world.add_compliant_wire(*ends, 10.0, name="w2"),
    )):  # fmt: skip
        assert world[f"w{k}"] is made
    with pytest.raises(InvalidValueError):
        world.add_stiff_wire(*ends, name=3)
    assert len(world.get_wires()) == 3


def test_an_unknown_material_is_told_once():
    world = World()
    world.add_sphere(0.1, 1.0, "ruber")
    world.add_sphere(0.1, 1.0, "steel", position=(1, 0, 0))
    world.set_material_pair_prop("rubber", "steel", 0.9, 0.1, 0.0)
    with pytest.warns(RuntimeWarning, match="'ruber'; did you mean 'rubber'") as told:
        world.integrate()
    assert len(told) == 1
    assert Path(told[0].filename) == Path(__file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.integrate()
        late = World()
        late.add_sphere(0.1, 1.0, "rubber")
        late.set_material_pair_prop("rubber", "default", 0.9, 0.1, 0.0)  # told before the first step: nothing to say
        late.integrate()


@pytest.mark.parametrize("give", ["pd", "p", "d", "joints"])
def test_targets_without_gains_are_told_once(give):
    world = World()
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf")
    q, u = robot.get_state()

    def set_target(one):
        {"pd": lambda: one.set_pd_target(q, u), "p": lambda: one.set_p_target(q), "d": lambda: one.set_d_target(u),
         "joints": lambda: one.set_joint_targets(q[7:])}[give]()  # fmt: skip

    set_target(robot)
    with pytest.warns(RuntimeWarning, match="no gains") as told:
        world.integrate()
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        set_target(robot)
        world.integrate()
        other = world.add_articulated_system(ROBOTS / "quadruped.urdf", position=(3, 0, 1))
        set_target(other)
        other.set_pd_gains(10, 1)  # after the target: nothing to say
        world.integrate()


def test_one_order_of_quaternions_and_of_poses():
    world = World()
    turn = np.array([0.1, 0.7, -0.5, 0.5]) / np.linalg.norm([0.1, 0.7, -0.5, 0.5])
    world.add_box(1, 1, 1, 1.0, position=(1, 2, 3), orientation=turn)
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf", position=(4, 5, 6), orientation=turn)
    poses, links = world.read_states().poses, world.read_articulations().link_poses
    assert poses[0] == pytest.approx((1, 2, 3, *turn))
    assert abs(poses[1, 3:] @ turn) == pytest.approx(1)
    assert abs(links[0, 3:] @ turn) == pytest.approx(1)
    assert abs(robot.get_generalized_coordinate()[3:7] @ turn) == pytest.approx(1)
    ros = world.read_states(xyzw=True).poses
    assert np.array_equal(ros[:, [0, 1, 2, 6, 3, 4, 5]], poses)
    assert np.array_equal(world.read_articulations(xyzw=True).link_poses[:, [0, 1, 2, 6, 3, 4, 5]], links)
    assert poses is world.read_states().poses
    position, rotation = robot.get_body_pose(0)
    assert position.tolist() == [4, 5, 6]
    assert rotation == pytest.approx(matrix_from_quaternion(turn))
    assert np.array_equal(robot.get_link("base").get_pose()[0], position)


def test_docs_tell_the_order_of_quaternions():
    silent = []
    for kind in (getattr(raisim_ros, name) for name in raisim_ros.__all__):
        methods = inspect.getmembers(kind, lambda one: inspect.isfunction(one) or isinstance(one, property))
        for name, method in methods if inspect.isclass(kind) else [(kind.__class__.__name__, kind)]:
            text = inspect.getdoc(method) or ""
            if not name.startswith("_") and "quaternion" in (name + text) and not re.search("w,? x,? y,? z", text):
                silent.append(f"{kind.__name__}.{name}")
    assert not silent


def test_recordings_have_the_same_order(tmp_path):
    turn = np.array([0.1, 0.7, -0.5, 0.5])
    world = World()
    world.add_box(1, 1, 1, 1.0, orientation=turn, body_type=BodyType.STATIC)
    world.add_articulated_system(ROBOTS / "arm.urdf", orientation=turn)
    world.start_recording(tmp_path / "run", rate=1 / world.get_time_step())
    world.integrate(10)
    world.stop_recording()
    recording = raisim_ros.Recording(tmp_path / "run")
    poses = recording.array("poses", len(recording) - 1)
    assert np.array_equal(poses, np.vstack((world.read_states().poses, world.read_articulations().link_poses)))


def test_parameters_by_name_or_as_containers(tmp_path):
    text = """<{0}><params><size value="1"/></params>{1}</{0}>"""
    (tmp_path / "w.xml").write_text(text.format("raisim", """<objects><sphere mass="1"><dim radius="@@size"/></sphere>
        </objects>"""))
    urdf = """<robot name="r"><params><m value="1"/></params><link name="b"><inertial><mass value="@@m"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    given = [ParameterContainer("size", 0.25)]
    for world in (World(tmp_path / "w.xml", given), WorldBatch(tmp_path / "w.xml", 1, params=given).member(0)):
        assert world.get_obj_list()[0].get_radius() == 0.25
    later = World()
    later.load(tmp_path / "w.xml", given)
    robot = later.add_articulated_system(urdf, params=[ParameterContainer("m", 3)])
    assert (later.get_obj_list()[0].get_radius(), robot.get_total_mass()) == (0.25, 3)
    for wrong in ([("m", 3)], [ParameterContainer("n", 3)], [ParameterContainer("m", None)], [ParameterContainer(3, 3)], "m"):
        with pytest.raises(RaisimError):
            later.add_articulated_system(urdf, params=wrong)
    assert len(later.get_obj_list()) == 2


def test_misspelt_names_are_aliases():
    kind = raisim_ros.ArticulatedSystem
    assert kind.get_robot_descriptionf_file_name is kind.get_robot_description_file_name
    assert kind.get_robot_descriptionf_top_dir_name is kind.get_robot_description_top_dir_name


def test_import_loads_nothing_heavy_and_every_name_is_there():
    code = "import sys, raisim_ros; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "trimesh", "lxml", "raisim_ros.engine"} & set(loaded)
    code = "import sys; from raisim_ros import World; World().integrate(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scipy", "trimesh", "mujoco", "viser", "gymnasium", "ray"} & set(loaded)
    for name in raisim_ros.__all__:
        assert getattr(raisim_ros, name) is not None
    assert "Viewer" not in raisim_ros.__all__, "a star import must not need the package viser"
    assert "World" in dir(raisim_ros)
    with pytest.raises(AttributeError, match="Wrld"):
        raisim_ros.Wrld  # noqa: B018


def test_an_unknown_name_tells_which_are_near():
    world = World()
    ball = world.add_sphere(0.1, 1.0, name="ball")
    assert "ball" in world
    assert "bal" not in world
    assert list(world) == [ball]
    with pytest.raises(UnknownNameError, match="did you mean 'ball'"):
        world["bal"]
    with pytest.raises(KeyError, match="ball"):
        world["zzz"]
    assert "1 objects" in repr(world)


def test_joints_by_name():
    world = World()
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf", position=(0, 0, 1))
    names = list(robot.joints)
    assert len(names) == 12
    robot.joints[names[3]].position = 0.4
    robot.joints[names[3]].velocity = -0.5
    robot.joints[names[4]].force = 2.0
    assert robot.joints[names[3]].position == robot.get_generalized_coordinate()[7 + 3] == 0.4
    assert robot.get_generalized_velocity()[6 + 3] == -0.5
    assert robot.get_feed_forward_generalized_force()[6 + 4] == 2.0
    robot.set_joint_targets({names[0]: 0.1, names[11]: -0.2})
    assert robot.get_pd_target()[0][[7, 18]].tolist() == [0.1, -0.2]
    robot.set_joint_targets(np.arange(12.0))
    assert robot.get_pd_target()[0][7:].tolist() == list(range(12))
    robot.set_joint_gains(50.0, np.full(12, 2.0))
    p, d = robot.get_pd_gains()
    assert p.tolist() == [0.0] * 6 + [50.0] * 12
    assert d.tolist() == [0.0] * 6 + [2.0] * 12
    robot.set_pd_gains(30, 1)
    assert robot.get_pd_gains()[0].tolist() == [0.0] * 6 + [30.0] * 12
    with pytest.raises(UnknownNameError, match="did you mean"):
        robot.joints[names[0][:-1]]
    with pytest.raises(InvalidValueError, match=names[0]):
        robot.joints[names[0]].position = (1, 2)
    assert dict(robot.actuators) == {}


def test_joint_targets_and_gains_by_name_number_or_array():
    robot = World().add_articulated_system(ROBOTS / "quadruped.urdf")
    names = list(robot.joints)
    robot.set_joint_targets(0.25, {names[2]: -1.0})
    q, u = robot.get_pd_target()
    assert q[7:].tolist() == [0.25] * 12
    assert u.tolist() == [0.0] * 8 + [-1.0] + [0.0] * 9
    robot.set_joint_gains({names[1]: 5.0}, 0.5)
    robot.set_joint_gains({names[2]: 7.0}, {names[0]: 1.0})
    p, d = robot.get_pd_gains()
    assert p.tolist() == [0.0] * 7 + [5.0, 7.0] + [0.0] * 9
    assert d.tolist() == [0.0] * 6 + [1.0] + [0.5] * 11
    before = robot.get_pd_target()
    for wrong in ([0.0] * 11, "0.1", None, {"knee": 1.0}, {names[0]: (1, 2)}, float("nan")):
        with pytest.raises(RaisimError):
            robot.set_joint_targets(wrong)
        with pytest.raises(RaisimError):
            robot.set_joint_targets(0.0, [1.0])
    assert all(np.array_equal(a, b) for a, b in zip(before, robot.get_pd_target(), strict=True))


def test_links_and_joints_by_name_where_an_index_is_taken():
    world = World()
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf", position=(0, 0, 1))
    robot.set_state(robot.get_generalized_coordinate(), np.linspace(-1, 1, 18))
    for index, name in enumerate(robot.get_body_names()):
        for get in (robot.get_position, robot.get_quaternion, robot.get_velocity, robot.get_jacobian, robot.get_mass,
                    robot.get_inertia_matrix_b, robot.get_com_position, robot.get_dense_rotational_jacobian):  # fmt: skip
            assert np.array_equal(get(name), get(index))
        assert all(np.array_equal(a, b) for a, b in zip(robot.get_pose(name), robot.get_body_pose(index), strict=True))
    for name, joint in robot.joints.items():
        assert robot.get_joint_type(name) == robot.get_joint_type(joint.idx)
        assert np.array_equal(robot.get_joint_axis(name), robot.get_joint_axis(joint.idx))
    robot.set_mass("LF_SHANK", 0.75)
    assert robot.get_mass(robot.get_body_idx("LF_SHANK")) == 0.75
    robot.set_external_force("LF_SHANK", (1, 2, 3))
    assert [one.tolist() for one in robot.get_external_force("LF_SHANK")] == [[1, 2, 3]]
    assert robot.get_external_force("base") == []
    with pytest.raises(UnknownNameError, match="did you mean 'LF_SHANK'"):
        robot.get_jacobian("LF_SHAN")
    with pytest.raises(UnknownNameError, match="joint"):
        robot.get_joint_type("LF_SHANK")
    ball = world.add_sphere(0.1, 1.0, position=(1, 2, 3))
    assert ball.get_pose()[0].tolist() == [1, 2, 3]
    ball.set_pose(*ball.get_pose())
    with pytest.raises(InvalidValueError):
        ball.get_position("base")


def test_attributes_that_do_not_exist_cannot_be_set():
    world = World()
    ball = world.add_sphere(0.1, 1.0)
    robot = world.add_articulated_system(ROBOTS / "arm.urdf")
    batch = WorldBatch(world, 2)
    wire = world.add_stiff_wire(ball, 0, (0, 0, 0), robot, 0, (0, 0, 0), 1.0)
    joint = next(iter(robot.joints.values()))
    for thing in (world, ball, robot, batch, batch.robot(), batch.object(ball), wire, joint):
        with pytest.raises(AttributeError, match="positon"):
            thing.positon = 3.0
    with pytest.raises(AttributeError, match=r"did you mean set_mass\(\)"):
        ball.mass = 2.0

    class Mine(World):
        def __init__(self):
            super().__init__()
            self.score = 1

    assert Mine().score == 1


def test_arrays_of_a_batch_can_be_assigned():
    world = World()
    world.add_articulated_system(ROBOTS / "arm.urdf", name="arm")
    world.add_sphere(0.1, 1.0, position=(5, 0, 1), name="ball")
    batch = WorldBatch(world, 3, 1)
    arm, ball = batch.robot(), batch.object("ball")
    kept = arm.position_targets
    arm.position_targets = np.arange(6.0)
    arm.position_targets += 1.0
    ball.twists = (1, 0, 0, 0, 0, 0)
    batch.gravity = (0, 0, -1.5)
    batch.refresh()
    assert kept is arm.position_targets
    assert batch.member(2)["arm"].get_pd_target()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert batch.member(1)["ball"].get_linear_velocity().tolist() == [1, 0, 0]
    assert batch.member(0).get_gravity().tolist() == [0, 0, -1.5]
    with pytest.raises(InvalidValueError, match="coordinate"):
        arm.coordinates = [1.0, 2.0]
    with pytest.raises(InvalidValueError, match="read-only"):
        arm.accelerations = 0.0


def test_editable_arrays_stay_editable():
    robot = World().add_articulated_system(ROBOTS / "arm.urdf")
    arrays = {
        "masses": robot.get_masses(), "com": robot.get_body_com_b(), "inertia": robot.get_inertia(),
        "place": robot.get_joint_pos_p(),
    }  # fmt: skip
    axes, turns = robot.get_joint_axis_p(), robot.get_joint_orientation_p()
    third = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    for times in (1.1, 1.3):
        expected = {name: array * times for name, array in arrays.items()}
        for name, array in arrays.items():
            array[...] = expected[name]
        expected_axes, expected_turns = -axes, turns @ third
        axes[...], turns[...] = expected_axes, expected_turns
        robot.update_mass_info()
        fresh = robot._link_values()
        assert fresh.axis == pytest.approx(expected_axes)
        assert fresh.joint_rotation == pytest.approx(expected_turns)
        assert fresh.mass == pytest.approx(expected["masses"])
        assert fresh.com == pytest.approx(expected["com"])
        assert fresh.inertia == pytest.approx(expected["inertia"])
        assert fresh.joint_position == pytest.approx(expected["place"])
    before = robot.get_masses().copy()
    arrays["masses"][1] = -2.0
    with pytest.raises(InvalidValueError, match="mass"):
        robot.update_mass_info()
    assert np.array_equal(arrays["masses"], before)
    robot.set_mass(1, 7.0)
    assert robot.get_mass(1) == 7.0
    assert robot.get_masses()[1] == 7.0
    with pytest.raises(InvalidValueError, match="mass"):
        robot.set_mass(1, -1.0)


def test_setting_a_mass_keeps_the_bits_of_all_else():
    rng = np.random.default_rng(2)
    body = '<link name="l{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j{0}" type="revolute"><parent link="l0"/><child link="l{0}"/><axis xyz="{1} {2} {3}"/></joint>'
    joints = "".join(joint.format(k, *rng.normal(size=3)) for k in range(1, 40))
    robot = World().add_articulated_system(f'<robot name="r">{"".join(body.format(k) for k in range(40))}{joints}</robot>')
    axes = robot.get_joint_axis_p().copy()
    for k in range(40):
        robot.set_mass(k, 2.0)
    robot.update_mass_info()
    assert np.array_equal(robot.get_joint_axis_p(), axes)


def test_one_jacobian_and_forces_in_world_axes():
    world = World()
    world.add_ground()
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf", position=(0, 0, 0.6))
    rng = np.random.default_rng(5)
    robot.set_generalized_velocity(rng.normal(size=18))
    twist = robot.get_jacobian(3) @ robot.get_generalized_velocity()
    assert twist[:3] == pytest.approx(robot.get_velocity(3, (0, 0, 0)))
    assert twist[3:] == pytest.approx(robot.get_angular_velocity(3))
    box = world.add_box(1, 1, 1, 3.0, position=(3, 0, 0.5))
    world.integrate(20)
    total = sum((one.get_force_world() for one in box.get_contacts()), np.zeros(3))
    assert total == pytest.approx((0, 0, 3.0 * 9.81), abs=1e-6)
    assert isinstance(box.get_contacts()[0], Contact)


def test_everything_says_what_it_is():
    world = World()
    ball = world.add_sphere(0.1, 1.0, name="ball")
    models = (raisim_ros.ImuModel(name="imu"),)
    sensors = world.add_sensor_set(ball, raisim_ros.SensorSetModel(name="head", sensors=models))
    snapshot = world.save_snapshot()
    world.integrate(5)
    batch = WorldBatch(world, 2)
    kept = pickle.loads(pickle.dumps(snapshot))
    shown = {
        world: "1 objects at 0.0", ball: "Sphere 1 'ball'", sensors: "'head' on <Sphere 1 'ball'> with imu",
        sensors.get_sensor("imu"): "IMU 'imu' on <Sphere", snapshot: "at 0 s", kept: "read", batch: "2 members",
        batch.object("ball"): "'ball'", batch.save(0): "at 0.0",
    }  # fmt: skip
    for thing, text in shown.items():
        assert text in repr(thing)
        assert "object at 0x" not in repr(thing)


def test_version_and_resources():
    assert raisim_ros.__version__.count(".") == 2
    assert raisim_ros.resource("robots/arm.urdf").is_file()


USER_SCRIPT = """
from raisim_ros import World, WorldBatch

world = World()
box = world.add_box(1, 1, 1, 1.0, name="box", position=(0, 0, 1))
box.set_mass(2.0)
WorldBatch(world, 4).step(2)
"""


def test_mypy_finds_planted_mistakes_in_a_users_script(tmp_path):
    planted = USER_SCRIPT + 'box.set_mas(1)\nworld.add_sphere("big", 1.0)\nworld.add_sphere(1, 1, nam="x")\nbox.get_mass() + "a"\n'
    (tmp_path / "user.py").write_text(planted)
    if not (Path(raisim_ros.__file__).parent / "py.typed").is_file():
        pytest.fail("py.typed is missing")
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "user.py"]
    environment = {"MYPYPATH": str(Path(raisim_ros.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110, env=environment)
    lines = USER_SCRIPT.count("\n")
    for offset in range(1, 5):
        assert f"user.py:{lines + offset}: error" in done.stdout, done.stdout
    assert "Found 4 errors" in done.stdout, done.stdout

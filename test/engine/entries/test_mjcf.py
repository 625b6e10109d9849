"""MJCF files against MuJoCo itself: masses, mass matrices, motions and who collides with whom."""


import numpy as np
import pytest
from equal_robots import assert_equal_robots
from mjcf_models import gym_model, write_everything

from raisim_ros import ArticulatedSystem, Ground, IntegrationScheme, ParseError, World

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld, random_state, rotation_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*not supported and left out:RuntimeWarning")

GYM_MODELS = [
    "ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum", "inverted_pendulum",
    "point", "pusher", "pusher_v5", "reacher", "swimmer", "walker2d", "walker2d_v5",
]  # fmt: skip

@pytest.fixture(autouse=True)
def away_from_the_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the working folder


@pytest.fixture
def everything(tmp_path):
    return write_everything(tmp_path)


def systems_of(file):
    world, twin = World(file), MujocoWorld(file)
    robots = [handle for handle in world.get_obj_list() if isinstance(handle, ArticulatedSystem)]
    return world, twin, [(robot, MujocoRobot(twin, robot._tree)) for robot in robots]


def check_masses(file):
    """Number of coordinates, initial state, masses, total mass; mass matrices at 20 random states."""
    _, twin, systems = systems_of(file)
    rng = np.random.default_rng(1)
    assert sum(robot.get_generalized_coordinate_dim() for robot, _ in systems) == twin.model.nq
    assert sum(robot.get_dof() for robot, _ in systems) == twin.model.nv
    fixed = sum(robot.get_mass(0) for robot, _ in systems if robot._tree.fixed_base)
    assert sum(robot.get_total_mass() for robot, _ in systems) - fixed == pytest.approx(
        sum(twin.model.body_mass) - fixed, rel=1e-6
    )
    for robot, reference in systems:
        np.testing.assert_allclose(robot.get_generalized_coordinate(), reference.get_state()[0], rtol=0, atol=1e-12)
        for body in robot._tree.bodies[1:]:
            assert body.mass == pytest.approx(twin.mass_on_joint(body.joint_name), rel=1e-6)
        for _ in range(20):
            q, u = random_state(robot._tree, rng)
            robot.set_state(q, u)
            reference.set_state(q, u)
            expected = reference.mass_matrix()
            np.testing.assert_allclose(
                robot.get_mass_matrix(), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
            )


def check_motion(file, duration=0.1, dt=1e-4):
    """The same motors on, the same motion; neither contacts nor limits."""
    world, twin, systems = systems_of(file)
    rng = np.random.default_rng(2)
    world.set_time_step(dt)
    twin.model.opt.timestep = dt
    world.set_fluid()  # its drag is of first order in the step: test_fluid.py
    np.testing.assert_array_equal(world.get_gravity(), twin.model.opt.gravity)
    for robot, reference in systems:
        robot.set_integration_scheme(IntegrationScheme.RUNGE_KUTTA_4)
        robot.set_joint_limits(np.tile([-np.inf, np.inf], (robot.get_dof(), 1)))
        for joint, body in enumerate(robot._tree.bodies):
            if body.joint_type.value == "spherical":
                limits = robot.get_joint_limits()
                limits[robot._u_first[joint]] = (np.inf, np.inf)
                robot.set_joint_limits(limits)
        q = robot.get_generalized_coordinate()
        u = rng.normal(size=robot.get_dof())
        robot.set_state(q, u)
        reference.set_state(q, u)
        names = [actuator.joint for actuator in robot.get_actuators()]
        control = rng.uniform(-3, 3, len(names))
        robot.set_actuation(control)
        for k in range(twin.model.nu):
            joint = twin.model.joint(twin.model.actuator_trnid[k, 0]).name
            if joint in names:
                twin.data.ctrl[k] = control[names.index(joint)]
    for _ in range(round(duration / dt)):
        world.integrate_no_contact_detection()
        world.integrate2()
        mujoco.mj_step(twin.model, twin.data)
    for robot, reference in systems:
        q, u = robot.get_state()
        expected_q, expected_u = reference.get_state()
        scale = 1.0 + np.abs(expected_u).max()
        np.testing.assert_allclose(q, expected_q, rtol=0, atol=1e-7 * scale)
        np.testing.assert_allclose(u, expected_u, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("name", GYM_MODELS)
def test_gymnasium_models_have_the_masses_of_mujoco(name):
    check_masses(gym_model(name))


@pytest.mark.parametrize("name", GYM_MODELS)
def test_gymnasium_models_move_as_in_mujoco(name):
    check_motion(gym_model(name))


def test_every_way_of_writing_things_has_the_masses_of_mujoco(everything):
    check_masses(everything)


def test_every_way_of_writing_things_moves_as_in_mujoco(everything):
    check_motion(everything)


SERVOS = """<mujoco><compiler angle="radian"/><worldbody><body name="a" pos="0 0 1">
    <joint name="j1" axis="0 1 0" ref="0.4" damping="0.1"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
    <body name="b" pos="0.5 0 0"><joint name="j2" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      <body name="c" pos="0.5 0 0"><joint name="j3" type="slide" axis="1 0 0"/><geom size="0.1"/>
        <body name="d" pos="0.2 0 0"><joint name="j4" axis="1 1 0"/><geom size="0.1" pos="0 0.2 0"/></body></body></body>
  </body></worldbody><actuator>
    <position joint="j1" kp="300" kv="20" gear="1.5" ctrlrange="-1 1"/>
    <velocity joint="j2" kv="30" gear="-2"/>
    <general joint="j3" gainprm="400" biastype="affine" biasprm="0 -500 -40"/>
    <position joint="j4" kp="200" forcerange="-3 2" gear="2"/>
  </actuator></mujoco>"""


def test_servos_move_as_in_mujoco(tmp_path):
    file = tmp_path / "servos.xml"
    file.write_text(SERVOS)
    check_motion(file)
    (robot,) = World(file).get_obj_list()
    np.testing.assert_allclose(robot.get_pd_gains(), [(300 * 1.5**2, 0, 500, 200 * 2**2), (20 * 1.5**2, 30 * 4, 40, 0)])
    np.testing.assert_array_equal(robot.get_actuation_upper_limits(), (np.inf, np.inf, np.inf, 4))
    np.testing.assert_array_equal(robot.get_actuation_lower_limits(), (-np.inf, -np.inf, -np.inf, -6))
    assert [actuator.joint for actuator in robot.get_actuators()] == ["j1", "j2", "j3", "j4"]


def test_bodies_and_geoms_are_where_mujoco_has_them(everything):
    world, twin, systems = systems_of(everything)
    mujoco.mj_forward(twin.model, twin.data)
    for robot, _ in systems:
        for body in robot._tree.bodies:
            index = robot._tree.bodies.index(body)
            for name in body.links:
                if name == "world" or name not in {twin.model.body(k).name for k in range(twin.model.nbody)}:
                    continue
                com = robot.get_body_com_w()[index]
                if len(body.links) == 1:
                    np.testing.assert_allclose(com, twin.data.body(name).xipos, atol=1e-9)
                    np.testing.assert_allclose(
                        robot.get_body_orientation(index), twin.data.body(name).xmat.reshape(3, 3), atol=1e-9
                    )
    box = next(handle for handle in world.get_obj_list() if type(handle).__name__ == "Box")
    np.testing.assert_allclose(box.get_position(), (4, 0, 0))
    np.testing.assert_allclose(box.get_rotation_matrix(), twin.data.geom_xmat[1].reshape(3, 3), atol=1e-12)


def test_three_slides_and_a_ball_are_a_floating_base(tmp_path):
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    file = tmp_path / "model.xml"
    file.write_text(
        f'<mujoco><worldbody><body name="pelvis" pos="1 2 3">{joints}<joint type="ball"/><geom size="0.1"/>'
        '<body><joint axis="0 1 0"/><geom size="0.1" pos="0 0 1"/></body></body></worldbody></mujoco>'
    )
    world, twin = World(file), MujocoWorld(file)
    (robot,) = world.get_obj_list()
    np.testing.assert_allclose(robot.get_generalized_coordinate(), (1, 2, 3, 1, 0, 0, 0, 0))
    assert robot.get_dof() == twin.model.nv == 7
    q, u = random_state(robot._tree, np.random.default_rng(0))
    robot.set_state(q, u)
    twin.data.qpos[:] = [*(q[:3] - [1, 2, 3]), *q[3:]]
    turn = np.eye(7)
    turn[3:6, 3:6] = rotation_of(q[3:7])
    np.testing.assert_allclose(robot.get_mass_matrix(), turn @ twin.mass_matrix() @ turn.T, atol=1e-9)


def test_a_free_body_without_children_is_a_single_body(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="0 0 1"/>
        <body name="ball" pos="0 0 1"><freejoint/><geom size="0.1" rgba="1 0 0 1"/></body>
        <body name="pair" pos="1 0 2" quat="0.8 0.6 0 0"><freejoint/><geom size="0.1"/>
          <geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0" euler="0 0 20"/></body></worldbody></mujoco>""")
    world, twin = World(file), MujocoWorld(file)
    ground, ball, pair = world.get_obj_list()
    assert isinstance(ground, Ground)
    assert (type(ball).__name__, type(pair).__name__) == ("Sphere", "Compound")
    mujoco.mj_forward(twin.model, twin.data)
    for handle in (ball, pair):
        name = handle.get_name()
        assert handle.get_mass() == pytest.approx(twin.body_mass(name), rel=1e-12)
        np.testing.assert_allclose(handle.get_com_position(), twin.data.body(name).xipos, atol=1e-12)
        axes = twin.data.body(name).ximat.reshape(3, 3)
        inertia = axes @ np.diag(twin.model.body(name).inertia) @ axes.T
        np.testing.assert_allclose(handle.get_inertia_matrix_w(), inertia, atol=1e-12)
    world.integrate(2000)
    assert ball.get_position()[2] == pytest.approx(0.1, abs=1e-4)


def test_geoms_collide_by_the_rule_of_mujoco(tmp_path):
    """All pairs of 12 kinds: groups and masks say what contype and conaffinity do."""
    rng = np.random.default_rng(4)
    kinds = [(int(a), int(b)) for a, b in rng.integers(0, 8, (12, 2))]
    bodies = "".join(
        f'<body name="b{k}" pos="{k} 0 0"><freejoint/><geom size="0.1" contype="{a}" conaffinity="{b}"/></body>'
        for k, (a, b) in enumerate(kinds)
        if a or b
    )
    file = tmp_path / "model.xml"
    file.write_text(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1" contype="2" conaffinity="1"/>{bodies}</worldbody></mujoco>'
    )
    world = World(file)
    used = {f"b{k}": kind for k, kind in enumerate(kinds)}
    handles = [(handle, used.get(handle.get_name(), (2, 1))) for handle in world.get_obj_list()]
    outside = World().add_sphere(0.1, 1.0)  # what is added from code behaves as MuJoCo's default
    handles.append((outside, (1, 1)))
    for first, (contype, conaffinity) in handles:
        for second, (other_contype, other_conaffinity) in handles:
            expected = bool(contype & other_conaffinity or other_contype & conaffinity)
            found = first.get_collision_group() & second.get_collision_mask()
            found = bool(found) and bool(second.get_collision_group() & first.get_collision_mask())
            assert found == expected or (first is outside and second is outside)


def touching_bodies(world, depth):
    """Pairs of MuJoCo's bodies that penetrate by at least a depth [m], as MuJoCo's weld ids do; 0 is the world."""
    pairs = set()
    handles = {handle.get_id(): handle for handle in world.get_obj_list()}
    for contact in world.read_contacts():
        if contact["depth"] > -depth:
            continue
        names = []
        for side in "ab":
            handle = handles[int(contact[f"object_{side}"])]
            moves = isinstance(handle, ArticulatedSystem)
            names.append(handle.get_body_names()[contact[f"local_{side}"]] if moves else "world")
        pairs.add(frozenset(names))
    return pairs


def touching_bodies_of_mujoco(twin, names, depth):
    model, pairs = twin.model, set()
    for contact in twin.data.contact:
        if contact.dist <= -depth:
            pairs.add(frozenset(names[int(model.body_weldid[model.geom_bodyid[g]])] for g in contact.geom))
    return pairs


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "hopper", "humanoid", "pusher", "walker2d"])
def test_the_bodies_that_touch_are_those_that_touch_in_mujoco(name):
    """Random poses on the ground, folded enough for self-collisions: parents, excluded and filtered pairs agree."""
    world, twin, systems = systems_of(gym_model(name))
    model = twin.model
    model.opt.disableflags = 0
    model.geom_margin[:] = 0
    names = {0: "world"}
    for robot, _ in systems:
        for body in robot._tree.bodies[not robot._tree.fixed_base :]:
            if body.joint_name:
                names[int(model.jnt_bodyid[model.joint(body.joint_name).id])] = body.name
        if not robot._tree.fixed_base:
            names[model.body(robot.get_name()).id] = robot.get_body_names()[0]
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(40):
        for robot, reference in systems:
            q, _ = random_state(robot._tree, rng)
            q[:3] *= 0.3
            u = np.zeros(robot.get_dof())
            robot.set_state(q, u)
            reference.set_state(q, u)
        mujoco.mj_forward(model, twin.data)
        world.integrate1()
        ours, theirs = touching_bodies(world, 2e-3), touching_bodies_of_mujoco(twin, names, 2e-3)
        assert ours <= touching_bodies_of_mujoco(twin, names, 1e-3)
        assert theirs <= touching_bodies(world, 1e-3)
        found += len(ours)
        world.integrate2()
    assert found >= 10


def test_friction_of_pairs_is_that_of_mujoco(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.4"/>
        <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.7"/></body>
        <body name="b" pos="1 0 1"><freejoint/><geom size="0.1" friction="0.2" condim="1"/></body>
        <body name="c" pos="2 0 1"><freejoint/><geom size="0.1" friction="0.3" priority="1"/></body>
        </worldbody></mujoco>""")
    world = World(file)
    ground, a, b, c = (world.get_object_material(handle) for handle in world.get_obj_list())
    pairs = {(ground, a): 0.7, (ground, b): 0.4, (b, b): 0.0, (ground, c): 0.3, (a, c): 0.3, (a, b): 0.7}
    for (first, second), friction in pairs.items():
        assert world.get_material_pair_properties(first, second).friction == friction


def test_spinning_and_rolling_friction_are_those_of_mujoco(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.4 0.02 0.003"/>
        <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.7 0.01 0.005" condim="6"/></body>
        <body name="b" pos="1 0 1"><freejoint/><geom size="0.1" friction="0.7 0.01 0.005" condim="4"/></body>
        <body name="c" pos="2 0 1"><freejoint/><geom size="0.1" friction="0.7 0.01 0.005"/></body></worldbody></mujoco>""")
    world = World(file)
    ground, a, b, c = (world.get_object_material(handle) for handle in world.get_obj_list())
    expected = {a: (0.02, 0.005), b: (0.02, 0.0), c: (0.0, 0.0)}
    for material, moments in expected.items():
        pair = world.get_material_pair_properties(ground, material)
        assert (pair.friction, pair.spinning_friction, pair.rolling_friction) == (0.7, *moments)


def test_motors_clamp_and_gear(everything):
    _, _, systems = systems_of(everything)
    arm, drone = (robot for robot, _ in systems)
    assert [actuator.name for actuator in arm.get_actuators()] == ["twist_motor", "slide"]
    arm.set_actuation((100.0, -1.0))
    force = arm.get_feed_forward_generalized_force()
    assert force[arm.get_generalized_velocity_index("twist")] == 3 * 5
    assert force[arm.get_generalized_velocity_index("slide")] == -3 * 2
    arm.set_actuation((-100.0, 9.0))
    force = arm.get_feed_forward_generalized_force()
    assert force[arm.get_generalized_velocity_index("twist")] == -2 * 5
    assert force[arm.get_generalized_velocity_index("slide")] == 4 * 2
    drone.set_actuation([50.0])
    np.testing.assert_array_equal(drone.get_feed_forward_generalized_force(), [0] * 6 + [25])
    with pytest.raises(ValueError, match="control has 1 numbers; expected 2"):
        arm.set_actuation([1.0])


@pytest.mark.parametrize("actuator", ["motor", "position"])
def test_forces_of_joints_have_bounds_that_differ(actuator, tmp_path):
    gains = 'kp="50"' if actuator == "position" else 'gear="50"'
    file = tmp_path / "bounds.xml"
    file.write_text(f"""<mujoco><option timestep="1e-6"/><worldbody><body name="arm"><joint name="j" axis="0 1 0"
      actuatorfrcrange="-1 2.5"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody>
      <actuator><{actuator} joint="j" {gains}/></actuator></mujoco>""")
    for control in (-1.0, -0.01, 0.02, 1.0):
        world, twin, ((arm, _),) = systems_of(file)
        arm.set_actuation([control])
        twin.data.ctrl[0] = control
        world.integrate()
        mujoco.mj_forward(twin.model, twin.data)
        assert arm.get_generalized_velocity()[0] / 1e-6 == pytest.approx(twin.data.qacc[0], rel=1e-3)


def check_export(file, folder):
    """An export is a world file without MJCF; it reads back to the same robots and objects."""
    world = World(file)
    world.integrate(20)
    path = folder / "export" / "world.xml"
    world.export_to_xml(path)
    first, second = World(path), World(path)
    for one, other in zip(world.get_obj_list(), first.get_obj_list(), strict=True):
        assert (type(one), one.get_name()) == (type(other), other.get_name())
        if isinstance(one, ArticulatedSystem):
            assert_equal_robots(one, other, exactly=False)
        else:
            np.testing.assert_array_equal(one.get_position(), other.get_position())
            np.testing.assert_array_equal(one.get_quaternion(), other.get_quaternion())
            assert (one.get_collision_group(), one.get_collision_mask()) == (
                other.get_collision_group(), other.get_collision_mask(),
            )  # fmt: skip
    assert first.get_material_manager() == world.get_material_manager()
    first.integrate(200)
    second.integrate(200)
    assert first.get_state_hash() == second.get_state_hash()


@pytest.mark.parametrize("name", GYM_MODELS)
def test_gymnasium_models_are_exported(name, tmp_path):
    check_export(gym_model(name), tmp_path)


def test_everything_is_exported(everything, tmp_path):
    check_export(everything, tmp_path)


def test_servos_are_exported(tmp_path):
    (tmp_path / "servos.xml").write_text(SERVOS)
    check_export(tmp_path / "servos.xml", tmp_path)


def test_a_failed_load_changes_nothing(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(
        '<mujoco><option timestep="0.1"/><worldbody><geom type="plane" size="1 1 1"/>\n'
        '<body><joint type="hinge"/><geom size="0.1" mass="0"/></body></worldbody></mujoco>'
    )
    world = World()
    with pytest.raises(ParseError, match=r"model\.xml:2: mass and inertia of moving bodies"):
        world.load(file)
    assert world.get_obj_list() == []
    assert world.get_time_step() == 0.005


KEYED = """<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.3"/><body name="arm" pos="0 0 1">
    <joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0" friction="0.6"/></body></worldbody>
    <actuator><position joint="j" kp="50" kv="5"/></actuator>
    <keyframe><key name="up" qpos="0.5" qvel="0.25" ctrl="0.5"/></keyframe></mujoco>"""


def test_a_keyframe_sets_state_and_controls(tmp_path):
    (tmp_path / "model.xml").write_text(KEYED)
    world = World(tmp_path / "model.xml")
    world.export_to_xml(tmp_path / "again" / "world.xml")
    for loaded in (world, World(tmp_path / "again" / "world.xml")):
        robot = loaded.get_object("arm")
        robot.set_state("up")
        np.testing.assert_array_equal(np.concatenate(robot.get_state()), (0.5, 0.25))
        np.testing.assert_array_equal(robot.get_feed_forward_generalized_force(), [25.0])
        with pytest.raises(ValueError, match="no state 'down'; there are 'up'"):
            robot.set_state("down")
        with pytest.raises(ValueError, match="velocity is missing"):
            robot.set_state([0.0])


def test_a_robot_is_added_from_a_file_or_a_text(tmp_path):
    (tmp_path / "model.xml").write_text(KEYED)
    for source in (tmp_path / "model.xml", str(tmp_path / "model.xml"), KEYED, f"<?xml version='1.0'?><!-- <a> -->{KEYED}"):
        world = World()
        robot = world.add_articulated_system(source)
        assert world.get_obj_list() == [robot]
        np.testing.assert_array_equal(robot.get_pd_gains()[0], [50.0])
        robot.set_state("up")
        (name,) = {shape.material for shape in robot.get_collision_bodies()}
        assert world.get_material_pair_properties(name, name).friction == 0.6


def test_a_file_with_several_robots_is_no_robot(tmp_path):
    two = KEYED.replace("</worldbody>", '<body name="more"><joint/><geom size="0.1"/></body></worldbody>')
    world = World()
    with pytest.raises(ParseError, match="'arm', 'more'"):
        world.add_articulated_system(two)
    assert world.get_obj_list() == []

"""Worlds and robots written for MuJoCo: its own compiler reads them, and everything is where and as heavy as before."""

import numpy as np
import pytest
from mjcf_models import FIXED, LAWS, ROUTES, drives_model, gym_model, write_everything
from random_tree import make_body, random_state, random_tree, tree_of

from raisim_ros import ArticulatedSystem, BodyType, FileWriteError, LightSettings, ViewCameraSettings, World
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.kinematic_tree import JointType, TreeFrame, TreePin
from raisim_ros.description.urdf.export import urdf_text

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*left out:RuntimeWarning")


@pytest.fixture(autouse=True)
def away_from_the_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the working folder


def random_robot(seed):
    """Joints of all types with all their settings; massless bodies between joints, and links on links."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(2, 9)), floating=seed % 2 == 0)
    bodies = tree.bodies
    bodies[0].name, bodies[0].links = ("world", ["world"]) if seed % 4 == 1 else ("base", ["base"])
    bodies[0].joint_name = "ROOT" if seed % 2 == 0 else ""
    for body in bodies[1:]:
        if body.joint_type is not JointType.SPHERICAL and rng.random() < 0.3:
            body.mass, body.inertia, body.rotor_inertia = 0.0, np.zeros((3, 3)), 0.05
        body.damping, body.friction, body.stiffness = rng.uniform(0, 1, 3)
        if body.joint_type is not JointType.SPHERICAL:
            body.spring_mount = float(rng.normal())
            body.lower, body.upper = (-3.0, 3.5) if rng.random() < 0.5 else (-np.inf, np.inf)
            body.effort_limit = float(rng.choice([5.0, np.inf]))
    made = tree_of(bodies)
    on = int(rng.integers(len(bodies)))
    bodies[on].links.append("tool")
    pose = random_state(rng, tree_of([make_body(0, -1, JointType.FLOATING, rng)]))[0]
    made.frames.append(TreeFrame("grip", "tool", bodies[on].name, on, pose[:3], np.eye(3), False))
    made.robot_description = urdf_text(made)
    return made, rng


def check_in_mujoco(robot, twin, q, u):
    """Mass matrix, bias and places of all links at a state."""
    reference = MujocoRobot(twin, robot._tree)
    robot.set_state(q, u)
    reference.set_state(q, u)
    mass = reference.mass_matrix()
    np.testing.assert_allclose(robot.get_mass_matrix(), mass, rtol=0, atol=1e-9 * np.abs(mass).max())
    bias = reference.turn() @ twin.data.qfrc_bias[reference._rows()]
    np.testing.assert_allclose(robot.get_nonlinearities(), bias, rtol=0, atol=1e-9 * max(1.0, np.abs(bias).max()))
    count = 0
    for frame in robot._tree.frames:
        for kind, places, turns in (("BODY", twin.data.xpos, twin.data.xmat), ("SITE", twin.data.site_xpos, twin.data.site_xmat)):
            number = mujoco.mj_name2id(twin.model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), frame.link)
            if number >= 0:
                place, turn = robot.get_frame_position(frame.name), robot.get_frame_orientation(frame.name)
                np.testing.assert_allclose(place, places[number], rtol=0, atol=1e-9)
                np.testing.assert_allclose(turn, turns[number].reshape(3, 3), rtol=0, atol=1e-9)
                count += 1
    assert count


@pytest.mark.parametrize("seed", range(24))
def test_random_robots_are_the_same_in_mujoco_and_back(seed, tmp_path):
    tree, rng = random_robot(seed)
    world = World()
    robot = world.add_articulated_system(tree)
    if tree.fixed_base:
        robot.set_base_pos(rng.normal(size=3))
    q, u = random_state(rng, tree)
    robot.set_state(q, u)
    file = tmp_path / "robot.xml"
    robot.export_robot_description_to_mjcf(file)

    twin = MujocoWorld(file)
    mujoco.mj_resetDataKeyframe(twin.model, twin.data, twin.model.key("start").id)
    found_q, found_u = MujocoRobot(twin, tree).get_state()
    np.testing.assert_allclose(found_q, q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found_u, u, rtol=0, atol=1e-14)
    check_in_mujoco(robot, twin, *random_state(rng, tree))

    back = World(file)
    again = next(one for one in back.get_obj_list() if isinstance(one, ArticulatedSystem))
    assert set(again.get_movable_joint_names()) == set(robot.get_movable_joint_names())
    robot.set_state(q, u)
    again.set_state("start")
    for one in (world, back):
        one.set_time_step(1e-6)
        one.integrate()
    order = [again.get_movable_joint_names().index(name) for name in robot.get_movable_joint_names()]
    np.testing.assert_allclose(speeds(again, order), speeds(robot, range(len(order))), rtol=0, atol=1e-9)


def speeds(robot, order):
    """Velocities of the joints in an order of theirs."""
    parts, at = [], 0
    for body in robot._tree.bodies:
        size = body.joint_type.velocity_dim
        if size:
            parts.append(robot.get_generalized_velocity()[at : at + size])
        at += size
    return np.concatenate([parts[index] for index in order])


def test_a_pin_of_another_pose_is_the_same_point(tmp_path):
    rng = np.random.default_rng(4)
    tree = random_tree(rng, 4, floating=False)
    nominal, _ = random_state(rng, tree)
    tree.pins.append(TreePin(2, 0, np.array([0.1, 0.2, -0.1]), nominal))
    robot = World().add_articulated_system(tree)
    robot.export_robot_description_to_mjcf(tmp_path / "pin.xml")
    twin = MujocoWorld(tmp_path / "pin.xml")
    MujocoRobot(twin, tree).set_state(nominal, np.zeros(tree.velocity_dim))
    mujoco.mj_forward(twin.model, twin.data)
    assert twin.data.ne == 3
    np.testing.assert_allclose(twin.data.efc_pos[:3], 0.0, atol=1e-14)


# ---- what came from MuJoCo goes back ----


def check_the_same_model(file, out, rng, actuators=slice(None), count=4):
    """Accelerations of both files with all forces but those of contacts and limits, at random states and controls.

    `actuators`: the order of those of the first file in the second one, which has them robot by robot.
    """
    World(file).export_to_mjcf(out)
    models = [mujoco.MjModel.from_xml_path(str(one)) for one in (file, out)]
    sizes = [(one.nq, one.nv, one.nu, one.na, one.ntendon, one.nkey) for one in models]
    assert sizes[0] == sizes[1]
    for one in models:
        one.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
        one.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    datas = [mujoco.MjData(one) for one in models]
    np.testing.assert_allclose(datas[0].qpos, datas[1].qpos, rtol=0, atol=1e-14)
    for _ in range(count):
        q, v = datas[0].qpos.copy(), 0.3 * rng.normal(size=models[0].nv)
        mujoco.mj_integratePos(models[0], q, rng.normal(size=models[0].nv), 0.3)
        control, activation = rng.normal(size=models[0].nu), rng.uniform(size=models[0].na)
        for one, data, order in zip(models, datas, (slice(None), actuators), strict=True):
            data.qpos[:], data.qvel[:], data.ctrl[:], data.act[:] = q, v, control[order], activation
            mujoco.mj_forward(one, data)
        expected = datas[0].qacc
        np.testing.assert_allclose(datas[1].qacc, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ["humanoid", "hopper", "pusher"])
def test_models_of_gymnasium_stay_the_same(name, tmp_path):
    check_the_same_model(gym_model(name), tmp_path / "out.xml", np.random.default_rng(1))


def test_every_way_of_writing_things_stays_the_same(tmp_path):
    check_the_same_model(write_everything(tmp_path), tmp_path / "out.xml", np.random.default_rng(2), [0, 2, 1])


@pytest.mark.parametrize("base", ["", "<freejoint name='free'/>"])
@pytest.mark.parametrize("law", LAWS)
def test_drives_stay_the_same(base, law, tmp_path):
    targets = ['joint="hinge"', 'joint="last"', 'tendon="w"', 'site="s4"', 'site="s4" refsite="s5"', 'joint="ball"']
    gears = ["1.5", "-0.5", "0.7", "0.2 0 1 0 0.3 0", "1 0.5 0 0.2 0 0", "0.3 -0.2 0.5"]
    chosen = [pair for pair in zip(targets, gears, strict=True) if "muscle" not in law or "site" not in pair[0]]
    actuators = "".join(LAWS[law].format(target, gear) for target, gear in chosen)
    if base:
        actuators += "".join(f'<motor {kind}="free" gear="1 0.2 0 0.3 0 0.1"/>' for kind in ("joint", "jointinparent"))
    file = drives_model(tmp_path, base, FIXED, actuators)
    check_the_same_model(file, tmp_path / "out.xml", np.random.default_rng(3))


@pytest.mark.parametrize("route", ROUTES)
def test_led_tendons_stay_the_same(route, tmp_path):
    tendon = ROUTES[route].replace('name="w"', 'name="w" stiffness="30" damping="0.5" springlength="0.1 0.3"')
    file = drives_model(tmp_path, "", tendon, '<motor tendon="w" gear="2"/>')
    check_the_same_model(file, tmp_path / "out.xml", np.random.default_rng(4))


def test_equalities_and_keyframes_stay_the_same(tmp_path):
    (tmp_path / "eq.xml").write_text(EQUALITIES)
    rng = np.random.default_rng(6)
    check_the_same_model(tmp_path / "eq.xml", tmp_path / "out.xml", rng)
    models = [mujoco.MjModel.from_xml_path(str(tmp_path / name)) for name in ("eq.xml", "out.xml")]
    for name in ("key_qpos", "key_qvel", "key_ctrl"):
        np.testing.assert_allclose(getattr(models[1], name), getattr(models[0], name), rtol=0, atol=1e-14)
    q, residuals = models[0].qpos0 + 0.2 * rng.normal(size=models[0].nq), []
    for one in models:
        data = mujoco.MjData(one)
        data.qpos[:] = q
        mujoco.mj_forward(one, data)
        residuals.append(np.sort(np.abs(data.efc_pos[: data.ne])))
    np.testing.assert_allclose(residuals[1], residuals[0], rtol=0, atol=1e-12)


EQUALITIES = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.2" damping="0.1" actuatorfrcrange="-1 2"/><geom size="0.1"/>
    <body name="b" pos="0.3 0 0"><joint name="b" axis="0 1 0" ref="-0.1"/><geom size="0.1"/>
      <body name="c" pos="0.3 0 0"><joint name="c" axis="0 0 1"/><geom size="0.1" pos="0.1 0 0"/></body></body>
    <body name="d" pos="0 0.4 0"><joint name="d" type="slide" axis="1 0 0"/><geom size="0.1"/></body></body>
  </worldbody>
  <tendon><fixed name="s"><joint joint="a" coef="1"/><joint joint="d" coef="2"/></fixed>
    <fixed name="t"><joint joint="b" coef="1"/><joint joint="c" coef="-0.5"/></fixed></tendon>
  <equality><joint joint1="b" joint2="a" polycoef="0.1 0.5 0 0 0"/><joint joint1="c" joint2="d" polycoef="0 1 0.3 -0.2 0.1"/>
    <tendon tendon1="s" tendon2="t" polycoef="0.05 0.7 0.1 0 0"/><weld body1="c" body2="d"/></equality>
  <actuator><position joint="c" kp="3" gear="2"/><motor joint="a" gear="9"/></actuator>
  <keyframe><key name="one" qpos="0.1 0.2 0.3 0.4" qvel="1 2 3 4" ctrl="0.5 0.1"/><key name="two" qpos="0 0 0 1"/></keyframe>
</mujoco>"""


# ---- worlds ----


def mixed_world(rng):
    world = World()
    world.set_gravity((0.1, 0.0, -3.0))
    world.add_ground(-0.5).set_name("floor")
    adders = {
        "ball": lambda **filters: world.add_sphere(0.3, 1.5, **filters),
        "box": lambda **filters: world.add_box(0.2, 0.4, 0.6, 2.5, **filters),
        "rod": lambda **filters: world.add_capsule(0.1, 0.5, 0.7, **filters),
        "can": lambda **filters: world.add_cylinder(0.2, 0.5, 0.9, **filters),
        "hat": lambda **filters: world.add_cone(0.2, 0.6, 0.4, **filters),
        "mesh": lambda **filters: world.add_mesh(resource("meshes/unit_sphere.obj"), 0.6, **filters),
    }
    handles = []
    for name, add in adders.items():
        group, mask = (int(value) for value in rng.integers(1, 8, 2))
        handle = add(collision_group=group, collision_mask=mask)
        handle.set_name(name)
        handle.set_position(*rng.normal(size=3))
        quaternion = rng.normal(size=4)
        handle.set_orientation(quaternion / np.linalg.norm(quaternion))
        handle.set_velocity(rng.normal(size=3), rng.normal(size=3))
        handles.append(handle)
    return world, handles


@pytest.mark.parametrize("seed", range(4))
def test_single_bodies_are_where_they_were(seed, tmp_path):
    world, handles = mixed_world(np.random.default_rng(seed))
    handles[1].set_body_type(BodyType.STATIC if seed == 1 else BodyType.DYNAMIC)
    world.export_to_mjcf(tmp_path / "world.xml")
    twin = mujoco.MjModel.from_xml_path(str(tmp_path / "world.xml"))
    data = mujoco.MjData(twin)
    mujoco.mj_resetDataKeyframe(twin, data, 0)
    mujoco.mj_forward(twin, data)
    np.testing.assert_array_equal(twin.opt.gravity, (0.1, 0.0, -3.0))
    for handle in handles:
        if seed == 1 and handle is handles[1]:
            np.testing.assert_allclose(data.geom(handle.get_name()).xpos, handle.get_position(), atol=1e-12)
            continue
        body = twin.body(handle.get_name())
        assert body.mass[0] == pytest.approx(handle.get_mass(), rel=1e-12)
        np.testing.assert_allclose(data.xpos[body.id], handle.get_position(), atol=1e-12)
        np.testing.assert_allclose(data.xmat[body.id].reshape(3, 3), handle.get_rotation_matrix(), atol=1e-12)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(twin, data, mujoco.mjtObj.mjOBJ_BODY, body.id, velocity, 0)
        np.testing.assert_allclose(velocity[:3], handle.get_angular_velocity(), atol=1e-12)
        np.testing.assert_allclose(velocity[3:], handle.get_linear_velocity(), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_things_collide(seed, tmp_path):
    world, handles = mixed_world(np.random.default_rng(10 + seed))
    world.export_to_mjcf(tmp_path / "world.xml")
    twin = mujoco.MjModel.from_xml_path(str(tmp_path / "world.xml"))
    kinds = {
        handle.get_name(): twin.body(handle.get_name()).geomadr[0] if handle.get_name() != "floor" else 0
        for handle in handles
    }
    for one in handles:
        for other in handles:
            first, second = kinds[one.get_name()], kinds[other.get_name()]
            theirs = (twin.geom_contype[first] & twin.geom_conaffinity[second]) or (
                twin.geom_contype[second] & twin.geom_conaffinity[first]
            )
            ours = (one.get_collision_group() & other.get_collision_mask()) and (
                other.get_collision_group() & one.get_collision_mask()
            )
            assert bool(theirs) == bool(ours)


def test_terrain_is_as_high_as_it_was(tmp_path):
    rng = np.random.default_rng(3)
    world = World()
    terrain = world.add_height_map(7, 5, 3.0, 2.0, 0.4, -0.2, rng.normal(size=35))
    terrain.set_name("terrain")
    world.export_to_mjcf(tmp_path / "world.xml")
    twin = mujoco.MjModel.from_xml_path(str(tmp_path / "world.xml"))
    data = mujoco.MjData(twin)
    mujoco.mj_forward(twin, data)
    for x, y in rng.uniform((-1.0, -1.1), (1.8, 0.7), (30, 2)):
        geom = np.zeros(1, np.int32)
        start = np.array([x, y, 20.0])
        distance = mujoco.mj_ray(twin, data, start, np.array([0, 0, -1.0]), None, 1, -1, geom)
        assert 20.0 - distance == pytest.approx(terrain.get_height(x, y), abs=1e-5)


def test_pd_control_becomes_servos_and_effort_limits_motors(tmp_path):
    world = World()
    robot = world.add_articulated_system(resource("robots/arm.urdf"))
    robot.export_robot_description_to_mjcf(tmp_path / "motors.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "motors.xml")).nu == robot.get_dof()
    target = 0.1 * np.arange(robot.get_dof())
    robot.set_pd_gains(np.full(6, 30.0), np.full(6, 2.0))
    robot.set_pd_target(target, np.zeros(6))
    robot.export_robot_description_to_mjcf(tmp_path / "servos.xml")
    twin = mujoco.MjModel.from_xml_path(str(tmp_path / "servos.xml"))
    data = mujoco.MjData(twin)
    mujoco.mj_resetDataKeyframe(twin, data, twin.key("start").id)
    data.qvel[:] = 0.1
    mujoco.mj_forward(twin, data)
    np.testing.assert_allclose(np.sort(data.qfrc_actuator), np.sort(30.0 * target - 0.2), rtol=0, atol=1e-12)


def test_sites_and_sensors_stay_the_same(tmp_path):
    file, out = tmp_path / "model.xml", tmp_path / "out.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="9 9 1" pos="0 0 -2"/><body name="top"><freejoint/>
      <geom size="0.1"/><site name="s" pos="0.1 0.2 0.3" euler="10 20 30"/><site name="eye" euler="170 0 0"/></body></worldbody>
      <sensor><gyro site="s" cutoff="9"/><accelerometer site="s"/><force site="s"/><torque site="s"/><rangefinder site="eye"/>
      </sensor></mujoco>""")
    world = World()
    world.add_articulated_system(file)
    world.export_to_mjcf(out)
    read = []
    for name in (file, out):
        twin = mujoco.MjModel.from_xml_path(str(name))
        data = mujoco.MjData(twin)
        data.qpos[:], data.qvel[:] = np.array([0, 0, 1, 0.8, 0.6, 0, 0]), np.arange(6)
        mujoco.mj_forward(twin, data)
        read.append(np.concatenate([data.site("s").xpos, data.sensordata[:12]]))
    np.testing.assert_allclose(read[1], read[0], rtol=0, atol=1e-9)


def test_one_warning_tells_what_is_left_out(tmp_path):
    world = World()
    ball, other = world.add_sphere(0.1, 1.0), world.add_sphere(0.1, 1.0)
    world.add_stiff_wire(ball, 0, (0, 0, 0), other, 0, (0, 0, 0), 1.0)
    with pytest.warns(RuntimeWarning, match=r"out\.xml: not part of MJCF and left out: wires$") as told:
        world.export_to_mjcf(tmp_path / "out.xml")
    assert len(told) == 1
    with pytest.raises(FileWriteError):
        world.export_to_mjcf(tmp_path)


def test_inertias_that_no_body_has_are_told(tmp_path):
    text = """<robot name="r"><link name="base"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    robot = World().add_articulated_system(text)
    with pytest.warns(RuntimeWarning, match="no real body has .*'base'"):
        robot.export_robot_description_to_mjcf(tmp_path / "out.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml")).body("base").mass[0] == 1.0


def test_cameras_and_lights_go_there_and_back(tmp_path):
    world = World()
    turned = (0.5, -0.5, 0.5, 0.5)
    world.add_view_camera(ViewCameraSettings(horizontal_fov=0.7), name="eye", position=(1, 2, 3), orientation=turned)
    spot = LightSettings("spot", (1.0, 0.5, 0.25), 0.6, True)
    world.add_light(spot, name="lamp", position=(0, 0, 4), orientation=turned)
    world.export_to_mjcf(tmp_path / "scene.xml")
    back = World(tmp_path / "scene.xml")
    eye, lamp = back.get_object("eye"), back.get_object("lamp")
    np.testing.assert_allclose(eye.get_orientation(), world.get_object("eye").get_orientation(), atol=1e-12)
    np.testing.assert_array_equal([*eye.get_position(), *lamp.get_position()], [1, 2, 3, 0, 0, 4])
    assert eye.get_settings().horizontal_fov == pytest.approx(0.7)
    shown = lamp.get_settings()
    assert (shown.kind, shown.color, shown.shadows) == ("spot", (1.0, 0.5, 0.25), True)
    assert shown.cutoff == pytest.approx(0.6)
    shines = [light.get_orientation()[:, 2] for light in (lamp, world.get_object("lamp"))]
    np.testing.assert_allclose(*shines, atol=1e-12)

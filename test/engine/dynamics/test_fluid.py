"""A fluid slows down bodies and links: closed forms, MuJoCo, and files."""

import mujoco
import numpy as np
import pytest

from raisim_ros import Fluid, InvalidValueError, World

DIVER = """<mujoco><compiler angle="radian"/>
<option timestep="1e-6" density="{density}" viscosity="{viscosity}" wind="0.7 -0.4 0.2"/><worldbody>
<body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .05" mass="1" euler=".3 .2 .1"/>
  <body pos=".3 0 0"><joint axis="0 1 .3"/><geom type="capsule" size=".03 .2" mass=".4" euler="0 1.5707963267948966 0"/>
    <body pos=".3 .1 0"><joint type="slide" axis="0 .6 .8"/><geom type="ellipsoid" size=".1 .04 .02" mass=".2"/></body>
  </body></body>
<body name="stone" pos="5 0 1"><freejoint/><geom type="box" size=".3 .2 .1" mass="2"/></body>
</worldbody></mujoco>"""


def deep_world(**fluid):
    world = World()
    world.set_gravity((0, 0, 0))
    world.set_fluid(**fluid)
    return world


@pytest.mark.parametrize(("density", "viscosity"), [(1000.0, 0.0), (0.0, 5.0), (1.2, 1.8e-5), (300.0, 2.0)])
def test_accelerations_are_those_of_mujoco(tmp_path, density, viscosity):
    """A robot and a single body at random poses and velocities, in wind; the difference shrinks with the step."""
    text = DIVER.format(density=density, viscosity=viscosity)
    (tmp_path / "diver.xml").write_text(text)
    world, model = World(tmp_path / "diver.xml"), mujoco.MjModel.from_xml_string(text)
    assert world.get_fluid() == Fluid(density, viscosity, (0.7, -0.4, 0.2))
    robot, stone, data, dt = world["trunk"], world["stone"], mujoco.MjData(model), world.get_time_step()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
        for first in (3, 12):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        q[9:12] += 20.0  # far from the robot
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        turns = [data.xmat[model.body(name).id].reshape(3, 3) for name in ("trunk", "stone")]
        u, expected = v.copy(), data.qacc.copy()
        for first, turn in ((3, turns[0]), (11, turns[1])):  # in world axes
            u[first : first + 3], expected[first : first + 3] = turn @ v[first : first + 3], turn @ expected[first : first + 3]
        robot.set_state(q[:9], u[:8])
        stone.set_pose(q[9:12], q[12:])
        stone.set_velocity(u[8:11], u[11:])
        world.integrate()
        now = np.r_[robot.get_generalized_velocity(), stone.get_linear_velocity(), stone.get_angular_velocity()]
        assert (now - u) / dt == pytest.approx(expected, abs=2e-4 * np.abs(expected).max())


def test_drag_with_the_square_slows_down_as_the_closed_form_says():
    """v = v0 / (1 + v0 k t), exact for any step."""
    world = deep_world(density=1000.0)
    world.set_time_step(0.01)
    cube = world.add_box(0.1, 0.1, 0.1, 0.5)
    cube.set_linear_velocity((0, 0, 3.0))
    world.integrate(100)
    share = 0.5 * 1000.0 * 0.1 * 0.1 / 0.5
    assert cube.get_linear_velocity()[2] == pytest.approx(3.0 / (1 + 3.0 * share), rel=1e-9)


def test_what_falls_reaches_the_speed_at_which_drag_carries_it():
    world = World()
    world.set_time_step(0.002)
    world.set_fluid(density=1.2)
    cube = world.add_box(0.2, 0.2, 0.2, 1.0)
    cube.set_position(0, 0, 1e4)
    world.integrate(20000)
    assert -cube.get_linear_velocity()[2] == pytest.approx(np.sqrt(9.81 / (0.5 * 1.2 * 0.04)), rel=1e-4)


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_thick_fluids_take_energy_and_give_none(dt):
    """Light links and bodies in what is far too thick for an explicit step."""
    world = deep_world(density=1e4, viscosity=1e3)
    world.set_time_step(dt)
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="0.001"/><inertia ixx="1e-6" iyy="1e-6" izz="2e-7" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
        for k in range(4)
    )
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><origin xyz="0 0 0.1"/>'
        '<axis xyz="0 1 0"/></joint>'
        for k in range(3)
    )
    chain = world.add_articulated_system(f'<robot name="chain">{links}{joints}</robot>')
    chain.set_generalized_velocity(np.full(9, 5.0))
    rod = world.add_capsule(0.01, 0.2, 0.001)
    rod.set_position(5, 0, 0)
    rod.set_velocity((5, 3, 1), (10, 20, 30))
    energy = chain.get_kinetic_energy() + rod.get_kinetic_energy()
    start = energy
    for _ in range(50):
        world.integrate()
        now = chain.get_kinetic_energy() + rod.get_kinetic_energy()
        assert now <= energy * (1 + 1e-9)
        energy = now
    assert energy < 0.01 * start


def test_wind_carries_what_is_free_and_wakes_what_sleeps():
    world = World()
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 0.01)
    box.set_position(0, 0, 0.1)
    world.integrate(200)
    assert world.is_object_sleeping(box)
    world.set_fluid(density=1.2, wind=(30.0, 0, 0))
    world.integrate(200)
    assert box.get_linear_velocity()[0] > 1.0


def test_files_snapshots_and_copies_keep_the_fluid(tmp_path):
    world = deep_world(density=2.0, viscosity=0.5, wind=(1, 2, 3))
    ball = world.add_sphere(0.1, 1.0)
    before = world.save_snapshot()
    world.export_to_xml(tmp_path, "world.xml")
    world.save(tmp_path / "world.saved")
    for other in (World(tmp_path / "world.xml"), world.copy(), World.from_saved(tmp_path / "world.saved")):
        assert other.get_fluid() == world.get_fluid() == Fluid(2.0, 0.5, (1.0, 2.0, 3.0))
    world.export_to_mjcf(tmp_path / "world.mjcf.xml")
    option = mujoco.MjModel.from_xml_path(str(tmp_path / "world.mjcf.xml")).opt
    assert (option.density, option.viscosity, *option.wind) == (2.0, 0.5, 1.0, 2.0, 3.0)
    world.set_fluid()
    assert world.get_fluid() == Fluid()
    world.restore_snapshot(before)
    world.integrate(10)
    assert ball.get_linear_velocity()[0] > 0.0


@pytest.mark.parametrize("wrong", [{"density": -1.0}, {"viscosity": float("nan")}, {"wind": (1.0, 2.0)}, {"density": "thick"}])
def test_what_is_no_fluid_is_refused(wrong):
    world = deep_world(density=3.0)
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        world.set_fluid(**wrong)
    assert world.get_fluid() == Fluid(3.0)

"""What people expect of a Python API beside RaiSim's names: keywords, names, live arrays, types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raisim_ros
from raisim_ros import BodyType, Contact, InvalidValueError, MeshData, RaisimError, UnknownNameError, World

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
    assert made.get_orientation(0) == pytest.approx(raisim_ros.engine.arguments.rotation_of_quaternion(turn))
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


def test_editable_arrays_stay_editable():
    robot = World().add_articulated_system(ROBOTS / "arm.urdf")
    arrays = {
        "masses": robot.get_masses(), "com": robot.get_body_com_b(), "inertia": robot.get_inertia(),
        "place": robot.get_joint_pos_p(),
    }  # fmt: skip
    for times in (1.1, 1.3):
        expected = {name: array * times for name, array in arrays.items()}
        for name, array in arrays.items():
            array[...] = expected[name]
        robot.update_mass_info()
        fresh = robot._link_values()
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

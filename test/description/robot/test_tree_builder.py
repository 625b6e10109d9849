"""Merging of fixed links: masses, places, shapes; robots built in code."""

import numpy as np
import pytest

from raisim_ros.description.errors import InvalidValueError, UrdfError
from raisim_ros.description.robot.model import (
    Child,
    Collision,
    Geometry,
    Joint,
    Link,
    Pin,
    Pose,
    Visual,
)
from raisim_ros.description.robot.tree_builder import merged_inertia
from raisim_ros.description.rotation import matrix_from_rpy
from raisim_ros.description.urdf.file import load_urdf, tree_from_child

RNG = np.random.default_rng(5)


def cloud(count=40):
    return RNG.normal(size=(count, 3)), RNG.uniform(0.1, 1.0, count)


def link_of(points, masses, name="x"):
    """Point masses as a link: their mass, centre and inertia by definition."""
    com = masses @ points / masses.sum()
    offsets = points - com
    inertia = sum(m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, offsets, strict=True))
    return Link(name, float(masses.sum()), com, inertia)


def test_merging_equals_the_inertia_of_all_points():
    poses = [Pose(RNG.normal(size=3), matrix_from_rpy(RNG.normal(size=3))) for _ in range(4)]
    clouds = [cloud() for _ in poses]
    mass, com, inertia = merged_inertia([(link_of(*points), pose) for points, pose in zip(clouds, poses, strict=True)])
    moved = [np.asarray(pose.position) + points @ np.asarray(pose.rotation).T
             for (points, _), pose in zip(clouds, poses, strict=True)]  # fmt: skip
    whole = link_of(np.vstack(moved), np.concatenate([masses for _, masses in clouds]))
    assert mass == pytest.approx(whole.mass, rel=1e-14)
    np.testing.assert_allclose(com, whole.com, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(inertia, whole.inertia, rtol=1e-12)


def test_merging_far_from_the_origin_keeps_digits():
    far = np.array([1e5, -2e5, 3e5])
    points, masses = cloud()
    near = link_of(points, masses)
    shifted = [(near, Pose(far)), (near, Pose(far + np.array((1, 0, 0))))]
    _, _, inertia = merged_inertia(shifted)
    _, _, expected = merged_inertia([(near, Pose()), (near, Pose((1, 0, 0)))])
    np.testing.assert_allclose(inertia, expected, rtol=1e-9)


def test_a_single_massive_link_keeps_its_bits():
    link = Link("a", 0.1, (0.1, 0.2, 0.3), np.diag((0.1, 0.2, 0.25)))
    mass, com, inertia = merged_inertia([(Link("dummy"), Pose()), (link, Pose())])
    assert mass == 0.1
    assert np.array_equal(com, (0.1, 0.2, 0.3))
    assert np.array_equal(inertia, np.diag((0.1, 0.2, 0.25)))


FIXED_CHAIN = """<robot><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="plate"/><link name="pole"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><origin xyz="0 0 1"/><geometry><sphere radius="1"/></geometry></collision>
    <visual><origin xyz="0 1 0" rpy="0.1 0.2 0.3"/><geometry><sphere radius="1"/></geometry></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j1" type="fixed"><parent link="base"/><child link="plate"/>
    <origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="j2" type="fixed"><parent link="plate"/><child link="pole"/>
    <origin xyz="1 0 0" rpy="1.5707963267948966 0 0"/></joint>
  <joint name="j3" type="revolute"><parent link="pole"/><child link="arm"/><origin xyz="0 0 1"/></joint></robot>"""


def test_places_along_fixed_joints_by_hand():
    tree = load_urdf(FIXED_CHAIN)
    # plate: at x=1, its x is base's y. pole: at (1, 1, 0), its y is base's z, its z is base's x.
    pole = next(frame for frame in tree.frames if frame.name == "j2")
    rotation = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(pole.position, (1, 1, 0), atol=1e-15)
    np.testing.assert_allclose(pole.rotation, rotation, atol=1e-15)
    base, arm = tree.bodies
    np.testing.assert_allclose(arm.joint_position, (2, 1, 0), atol=1e-15)
    np.testing.assert_allclose(arm.joint_rotation, rotation, atol=1e-15)
    np.testing.assert_allclose(base.collisions[0].position, (2, 1, 0), atol=1e-15)
    np.testing.assert_allclose(base.visuals[0].position, (1, 1, 1), atol=1e-15)
    np.testing.assert_allclose(base.visuals[0].rotation, rotation @ matrix_from_rpy((0.1, 0.2, 0.3)), atol=1e-15)
    assert (base.collisions[0].name, base.collisions[0].link) == ("pole/0", "pole")
    assert base.mass == 3.0
    np.testing.assert_allclose(base.com, (2 / 3, 2 / 3, 0), atol=1e-15)


def test_a_wrong_small_part_of_a_sound_body_is_accepted():
    text = FIXED_CHAIN.replace('<link name="plate"/>', """<link name="plate"><inertial><mass value="0.001"/>
        <inertia ixx="-1e-6" iyy="1e-6" izz="1e-6"/></inertial></link>""")
    assert load_urdf(text).bodies[0].mass == pytest.approx(3.001)


# ---- robots from code ----


def arm_in_code():
    gripper = Child(Link("gripper", 0.5, inertia=np.eye(3) * 0.01), Joint("slide", "prismatic", axis=(0, 0, 2)))
    sensor = Child(Link("camera"), Joint("mount", "fixed", Pose((0, 0, 0.4))))
    upper = Child(
        Link(
            "upper", 1.0, (0, 0, 0.2), np.diag((0.02, 0.02, 0.001)),
            collisions=[Collision(Geometry("capsule", (0.05, 0.3)), Pose((0, 0, 0.2)), "ice")],
            visuals=[Visual(Geometry("box", (0.1, 0.1, 0.4)), color=(1, 0, 0, 1))],
        ),
        Joint("shoulder", "revolute", Pose((0, 0, 0.5)), (0, 1, 0), lower=-1.5, upper=1.5, rotor_inertia=0.1),
        [sensor, gripper],
    )  # fmt: skip
    ball = Child(Link("ball", 1.0, inertia=np.eye(3)), Joint("socket", "spherical", upper=0.5))
    return Child(Link("world"), children=[upper, ball], pins=[Pin("gripper", "ball", (0, 0, 1))], name="arm")


def test_robot_built_in_code():
    tree = tree_from_child(arm_in_code())
    assert (tree.name, tree.fixed_base) == ("arm", True)
    assert [body.joint_name for body in tree.bodies] == ["", "shoulder", "slide", "socket"]
    shoulder, slide, socket = tree.bodies[1:]
    assert shoulder.links == ["upper", "camera"]
    assert (shoulder.lower, shoulder.upper, shoulder.rotor_inertia) == (-1.5, 1.5, 0.1)
    assert (shoulder.collisions[0].shape, shoulder.collisions[0].material) == ("capsule", "ice")
    np.testing.assert_array_equal(slide.axis, (0, 0, 1))
    assert socket.upper == 0.5
    assert (tree.pins[0].body1, tree.pins[0].body2) == (2, 3)
    assert tree_from_child(arm_in_code(), base="floating", joint_order="depth_first") is not None


def test_robot_built_in_code_has_a_description(same_tree):
    tree = tree_from_child(arm_in_code())
    same_tree(load_urdf(tree.robot_description), tree, 1e-14)


@pytest.mark.parametrize(
    ("child", "error", "reason"),
    [
        (Child(Link("a"), Joint("j", "fixed")), InvalidValueError, "the root link 'a' of a Child tree has a joint"),
        (Child(Link("world"), children=[Child(Link("a"))]), InvalidValueError, "'a' of a Child tree has no joint"),
        (Child(Link("a", mass=float("nan"))), UrdfError, "Child tree: link 'a': mass is nan"),
        (Child(Link("a", 1.0, (0, 0))), UrdfError, "centre of mass: expected 3 numbers, found 2"),
        (Child(Link("a", 1.0, inertia=np.ones((2, 2)))), UrdfError, "inertia: expected 3 by 3 numbers, found 4"),
        (Child(Link("a", 1.0, inertia=np.arange(9).reshape(3, 3))), UrdfError, "the inertia is not symmetric"),
        (Child(Link("a", 1.0, ("x", 0, 0))), UrdfError, "centre of mass: expected numbers"),
        (Child(Link("a", collisions=[Collision(Geometry("cone"))])), UrdfError, "unknown shape 'cone'"),
        (Child(Link("a", collisions=[Collision(Geometry("box", (1,)))])), UrdfError, "size of the box: expected 3"),
        (Child(Link("a", visuals=[Visual(Geometry("mesh"))])), UrdfError, "a mesh without a file name"),
        (Child(Link("a", visuals=[Visual(Geometry("mesh", mesh_file="no.stl"))])), UrdfError, "'no.stl' not found"),
        (
            Child(Link("a", visuals=[Visual(Geometry("sphere", (1,)), Pose(rotation=-np.eye(3)))])),
            UrdfError,
            "visual 0: the rotation is not a rotation matrix",
        ),
        (Child(Link("")), UrdfError, "a link without a name"),
    ],
)  # fmt: skip
def test_mistakes_in_code(child, error, reason):
    with pytest.raises(error) as caught:
        tree_from_child(child)
    assert reason in str(caught.value)


def test_a_child_that_carries_itself_is_refused():
    loop = Child(Link("a"), Joint("j", "fixed"))
    loop.children = [loop]
    with pytest.raises(InvalidValueError, match="link 'a' occurs twice"):
        tree_from_child(Child(Link("world"), children=[loop]))

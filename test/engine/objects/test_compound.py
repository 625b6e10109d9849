"""Compounds: mass properties, rotated children and joint motion against the same body built otherwise."""

import numpy as np
import pytest

from raisim_ros import BodyType, CompoundChild, GyroscopicMode, InvalidValueError, RaisimError, ShapeType, World


def test_default_inertia_of_two_balls_is_the_parallel_axis_sum():
    children = [
        CompoundChild(ShapeType.SPHERE, (0.1,), (0.5, 0.0, 0.0)),
        CompoundChild(ShapeType.SPHERE, (0.1,), (-0.5, 0.0, 0.0)),
    ]
    body = World().add_compound(children, 2.0)
    own = 0.4 * 2.0 * 0.01
    assert body.get_inertia_matrix_b() == pytest.approx(np.diag([own, own + 0.5, own + 0.5]), abs=1e-12)


def test_a_turned_child_turns_its_inertia(quaternion_about):
    turn = quaternion_about((0.0, 1.0, 0.0), np.pi / 2)
    child = CompoundChild(ShapeType.BOX, (0.6, 0.4, 0.2), quaternion=turn)
    body = World().add_compound([child], 3.0)
    plain = World().add_box(0.2, 0.4, 0.6, 3.0)
    assert body.get_inertia_matrix_b() == pytest.approx(plain.get_inertia_matrix_b(), abs=1e-12)


def test_an_asymmetric_turn_gives_products_of_inertia_of_the_right_sign(quaternion_about):
    """A rod turned about z by +30 degrees lies in the first quadrant: Ixy < 0."""
    rod = CompoundChild(ShapeType.BOX, (1.0, 0.02, 0.02), quaternion=quaternion_about((0, 0, 1), np.pi / 6))
    inertia = World().add_compound([rod], 1.2).get_inertia_matrix_b()
    along = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0])
    expected = 1.2 / 12.0 * (1.0 - 0.02**2) * (np.eye(3) - np.outer(along, along)) + 1.2 / 6.0 * 0.02**2 * np.eye(3)
    assert inertia == pytest.approx(expected, abs=1e-12)
    assert inertia[0, 1] < -0.02


def test_a_box_cut_in_two_behaves_like_the_box():
    """Halves of a box as a compound: same rest, same bounce, same tumble."""
    worlds = [World(), World()]
    bodies = [
        worlds[0].add_box(0.4, 0.2, 0.2, 2.0),
        worlds[1].add_compound(
            [
                CompoundChild(ShapeType.BOX, (0.2, 0.2, 0.2), (0.1, 0.0, 0.0)),
                CompoundChild(ShapeType.BOX, (0.2, 0.2, 0.2), (-0.1, 0.0, 0.0)),
            ],
            2.0,
        ),
    ]
    assert bodies[1].get_inertia_matrix_b() == pytest.approx(bodies[0].get_inertia_matrix_b(), rel=1e-12)
    for world, body in zip(worlds, bodies, strict=True):
        world.set_time_step(0.0005)
        world.add_ground()
        body.set_pose((0.0, 0.0, 0.4), (np.cos(0.1), 0.0, np.sin(0.1), 0.0))
        world.integrate(4000)
    assert bodies[1].get_position() == pytest.approx(bodies[0].get_position(), abs=2e-3)
    assert bodies[0].get_position()[2] == pytest.approx(0.1, abs=1e-4)
    assert bodies[1].get_position()[2] == pytest.approx(0.1, abs=1e-4)


def test_the_centre_of_mass_decides_which_way_it_tips(world):
    """A plank over an edge falls on the side of its centre of mass, whatever its shapes."""
    for sign in (-1.0, 1.0):
        edge = world.add_box(0.02, 1.0, 0.5, 1.0)
        edge.set_position(10.0 * sign, 0.0, 0.25)
        edge.set_body_type(2)
        plank = world.add_compound(
            [CompoundChild(ShapeType.BOX, (1.0, 0.1, 0.05))], 1.0, com=(0.1 * sign, 0.0, 0.0), inertia=np.eye(3) * 0.1
        )
        plank.set_position(10.0 * sign, 0.0, 0.525)
        plank.set_name(f"{sign}")
    world.integrate(300)
    for sign in (-1.0, 1.0):
        plank = world.get_object(f"{sign}")
        assert plank.get_orientation()[2, 0] * sign < -0.05  # its end on that side is lower
        assert plank.get_angular_velocity()[1] * sign > 0.1


def test_contacts_name_the_child_that_touches(world):
    body = world.add_compound(
        [
            CompoundChild(ShapeType.SPHERE, (0.1,), (0.5, 0.0, 0.0)),
            CompoundChild(ShapeType.SPHERE, (0.1,), (-0.5, 0.0, 0.3)),
        ],
        1.0,
    )
    world.add_ground()
    body.set_position(0.0, 0.0, 0.1)
    world.integrate()
    contacts = body.get_contacts()
    assert len(contacts) == 1
    own = contacts[0].get_collision_body_a() if contacts[0].is_object_a() else contacts[0].get_collision_body_b()
    assert own == 0
    assert contacts[0].get_position() == pytest.approx([0.5, 0.0, 0.0], abs=1e-4)


def test_children_of_one_body_do_not_collide_with_each_other(weightless):
    body = weightless.add_compound(
        [CompoundChild(ShapeType.SPHERE, (0.2,), (0.1 * k, 0.0, 0.0)) for k in range(3)], 1.0
    )
    weightless.integrate(10)
    assert weightless.read_contacts().size == 0
    assert body.get_linear_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)


@pytest.mark.parametrize(
    ("children", "text"),
    [
        ([], "children"),
        ([CompoundChild(ShapeType.SPHERE, (0.1, 0.2))], "dim"),
        ([CompoundChild(ShapeType.BOX, (0.1,))], "dim"),
        ([CompoundChild(ShapeType.SPHERE, (-0.1,))], "radius"),
        ([CompoundChild(ShapeType.SPHERE, (0.1,), (np.nan, 0.0, 0.0))], "position"),
        ([CompoundChild(ShapeType.SPHERE, (0.1,), quaternion=(0.0, 0.0, 0.0, 0.0))], "quaternion"),
        ([CompoundChild(99, (0.1,))], "shape"),
        ([CompoundChild(ShapeType.MESH, ())], "shape"),
        (["sphere"], "child"),
    ],
)
def test_wrong_children_are_refused(children, text):
    world = World()
    with pytest.raises(InvalidValueError, match=text):
        world.add_compound(children, 1.0)
    assert world.get_obj_list() == []


def test_bodies_are_made_with_damping_gyroscopic_mode_and_mass_properties():
    world = World()
    box = world.add_box(
        1, 2, 3, 4.0, com=(0.1, 0.0, 0.0), inertia=np.diag([3.0, 2.0, 2.5]), linear_damping=0.5,
        angular_damping=(0.1, 0.2, 0.3), gyroscopic_mode=GyroscopicMode.EXPLICIT,
    )
    assert box.get_com() == pytest.approx([0.1, 0.0, 0.0])
    assert np.diag(box.get_inertia_matrix_b()) == pytest.approx([3.0, 2.0, 2.5])
    assert box.get_gyroscopic_mode() == GyroscopicMode.EXPLICIT
    twin = world.add_box(1, 2, 3, 4.0)
    twin._set_properties(
        com=(0.1, 0.0, 0.0), inertia=(3.0, 2.0, 2.5, 0, 0, 0), linear_damping=0.5, angular_damping=(0.1, 0.2, 0.3),
        gyroscopic_mode=int(GyroscopicMode.EXPLICIT),
    )
    for body in (box, twin):
        body.set_velocity([1.0, 2.0, 3.0], [0.3, 0.2, 0.1])
        world.set_object_collision_filter(body, 1, 0)
    world.integrate(50)
    assert box.get_position().tolist() == twin.get_position().tolist()
    assert box.get_quaternion().tolist() == twin.get_quaternion().tolist()


@pytest.mark.parametrize(
    "wrong",
    [{"linear_damping": -1.0}, {"angular_damping": (0, -1, 0)}, {"gyroscopic_mode": 9}, {"inertia": np.diag([1, 1, 5])}],
)
def test_a_body_with_wrong_properties_is_not_added(wrong):
    world = World()
    with pytest.raises(RaisimError):
        world.add_sphere(0.1, 1.0, **wrong)
    with pytest.raises(RaisimError):
        world.add_ground(com=(0, 0, 1))
    with pytest.raises(RaisimError):
        world.add_ground(body_type=BodyType.KINEMATIC)
    assert world.get_obj_list() == []

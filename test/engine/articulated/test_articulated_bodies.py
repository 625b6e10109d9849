"""Robots answer body by body what single bodies answer: places, velocities, inertias, loads, contacts."""

import numpy as np
import pytest
from pinocchio_model import PinocchioRobot, pin
from random_tree import random_state, random_tree

from raisim_ros import ArticulatedSystemOption, BodyType, InvalidValueError, World
from raisim_ros.description.rotation import matrix_from_quaternion

BALL_ON_STICK = """<robot name="stick">
  <link name="base"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="stick"/><axis xyz="0 1 0"/></joint>
  <link name="stick"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry></collision></link>
</robot>"""


@pytest.fixture
def moving():
    """A random tree in motion and the same one in Pinocchio."""
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 6, floating=True)
    world = World()
    robot = world.add_articulated_system(tree)
    twin = PinocchioRobot(tree)
    q, u = random_state(rng, tree)
    robot.set_state(q, u)
    twin.set_state(q, u)
    return world, robot, twin


def test_places_and_velocities_of_bodies_against_pinocchio(moving):
    _, robot, twin = moving
    point = np.array([0.3, -0.2, 0.1])
    for body, joint in enumerate(twin.joint_ids):
        position, rotation = twin.body_pose(body)
        assert robot.get_position(body) == pytest.approx(position, abs=1e-12)
        assert robot.get_position(body, point) == pytest.approx(position + rotation @ point, abs=1e-12)
        for turn in (
            robot.get_orientation(body),
            robot.get_rotation_matrix(body),
            matrix_from_quaternion(robot.get_quaternion(body)),
        ):
            assert turn == pytest.approx(rotation, abs=1e-12)
        velocity = pin.getVelocity(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        assert robot.get_linear_velocity(body) == pytest.approx(velocity.linear, abs=1e-12)
        assert robot.get_velocity(body) == pytest.approx(velocity.linear, abs=1e-12)
        assert robot.get_angular_velocity(body) == pytest.approx(velocity.angular, abs=1e-12)
        lever = np.cross(velocity.angular, rotation @ point)
        assert robot.get_velocity(body, point) == pytest.approx(velocity.linear + lever, abs=1e-12)


def test_masses_and_inertias_of_bodies_against_pinocchio(moving):
    _, robot, twin = moving
    for body, joint in enumerate(twin.joint_ids):
        inertia = twin.model.inertias[joint]
        position, rotation = twin.body_pose(body)
        assert robot.get_mass(body) == pytest.approx(inertia.mass, rel=1e-14)
        assert robot.get_com_position(body) == pytest.approx(position + rotation @ inertia.lever, abs=1e-12)
        assert robot.get_body_to_com_position_rs(body) == pytest.approx(rotation @ inertia.lever, abs=1e-12)
        assert robot.get_inertia_matrix_b(body) == pytest.approx(inertia.inertia, abs=1e-12)
        turned = rotation @ inertia.inertia @ rotation.T
        assert robot.get_inertia_matrix_w(body) == pytest.approx(turned, abs=1e-12)


def test_the_parts_add_up_to_the_whole(moving):
    """Energy, momentum and centre of mass from the bodies' own numbers; rotors hold energy of their own."""
    _, robot, _ = moving
    bodies = range(robot.get_number_of_joints())
    masses = np.array([robot.get_mass(body) for body in bodies])
    coms = np.array([robot.get_com_position(body) for body in bodies])
    velocities = np.array([robot.get_velocity(body, robot.get_body_com_b()[body]) for body in bodies])
    spins = [robot.get_angular_velocity(body) for body in bodies]
    assert robot.get_com() == pytest.approx(masses @ coms / masses.sum(), abs=1e-12)
    assert robot.get_linear_momentum() == pytest.approx(masses @ velocities, abs=1e-12)
    turning = sum(w @ robot.get_inertia_matrix_w(body) @ w for body, w in zip(bodies, spins, strict=True))
    rotors = robot.get_rotor_inertia() @ robot.get_generalized_velocity() ** 2
    kinetic = 0.5 * (masses @ (velocities**2).sum(axis=1) + turning + rotors)
    assert robot.get_kinetic_energy() == pytest.approx(kinetic, rel=1e-12)
    assert robot.get_potential_energy() == pytest.approx(9.81 * masses @ coms[:, 2], rel=1e-12)
    assert robot.get_energy() == pytest.approx(kinetic + robot.get_potential_energy(), rel=1e-12)


def test_the_base_answers_as_its_coordinates_say(moving):
    _, robot, _ = moving
    q, u = robot.get_state()
    assert robot.get_position().tolist() == q[:3].tolist()
    assert robot.get_quaternion().tolist() == q[3:7].tolist()
    assert robot.get_linear_velocity() == pytest.approx(u[:3], abs=1e-15)
    assert robot.get_angular_velocity() == pytest.approx(u[3:6], abs=1e-15)


def test_given_loads_can_be_read_body_by_body_until_the_step(moving):
    world, robot, _ = moving
    point, force, torque = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -3.0]), np.array([0.3, 0.2, -0.1])
    robot.set_external_force(2, point, force)
    robot.set_external_force(4, -force)
    robot.set_constraint_force(4, -point, 2.0 * force)
    robot.set_external_torque(2, torque)
    robot.set_external_torque_in_body_frame(3, torque)
    assert np.array(robot.get_external_force()) == pytest.approx(np.array([force, -force, 2.0 * force]))
    assert np.array(robot.get_external_force(2)) == pytest.approx(force[None])
    expected = [robot.get_com_position(4), robot.get_position(4, -point)]
    assert np.array(robot.get_external_force_position(4)) == pytest.approx(np.array(expected), abs=1e-14)
    assert robot.get_external_force(0) == robot.get_external_torque(4) == []
    turned = robot.get_orientation(3) @ torque
    assert np.array(robot.get_external_torque()) == pytest.approx(np.array([torque, turned]), abs=1e-14)
    assert robot.get_external_torque_position(3)[0] == pytest.approx(robot.get_com_position(3), abs=1e-14)
    world.integrate()
    assert robot.get_external_force() == robot.get_external_torque() == robot.get_external_force_position() == []


def test_cleared_loads_do_not_act(moving):
    world, robot, _ = moving
    twin = World().add_articulated_system(robot.get_kinematic_tree())
    twin.set_state(*robot.get_state())
    robot.set_external_force(2, (5.0, 0.0, 0.0))
    robot.clear_external_forces_and_torques()
    assert robot.get_external_force() == []
    world.integrate()
    twin._world.integrate()
    assert robot.get_generalized_velocity().tolist() == twin.get_generalized_velocity().tolist()


def test_a_force_at_a_point_does_the_work_of_its_jacobian(moving):
    """Generalised force of a load: J' f. The change of momentum M u of a short step tells it apart from its twin."""
    _, robot, twin = moving
    point, force = np.array([0.2, 0.1, -0.3]), np.array([3.0, -1.0, 2.0])
    world = robot._world
    world.set_time_step(1e-6)
    free = World().add_articulated_system(robot.get_kinematic_tree())
    free._world.set_time_step(1e-6)
    free.set_state(*robot.get_state())
    jacobian = twin.jacobian(3, robot.get_position(3, point))[:3]
    robot.set_external_force(3, point, force)
    world.integrate()
    free._world.integrate()
    change = robot.mass_matrix_vec_mul(robot.get_generalized_velocity() - free.get_generalized_velocity())
    assert change / 1e-6 == pytest.approx(jacobian.T @ force, rel=1e-4, abs=1e-4)


def test_a_commanded_wrench_on_a_link_acts_there_until_replaced():
    """A pendulum in weightlessness, pushed at its end: angular momentum grows by force times length."""
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_time_step(0.001)
    fixed = BALL_ON_STICK.replace('name="base"', 'name="world"').replace('link="base"', 'link="world"')
    robot = world.add_articulated_system(fixed)
    robot.set_command_wrench((-4.0, 7.0, 0.0), (0.0, 0.5, 0.0), local_idx=1)
    world.integrate(100)
    # About y: torque 0.5 + (-0.5)(-4), inertia 0.02 + 2 * 0.25; the angle stays small.
    assert robot.get_generalized_velocity()[0] == pytest.approx(2.5 * 0.1 / 0.52, rel=1e-3)
    buffer = world.read_articulations()
    assert buffer.link_wrenches.tolist() == [[0.0] * 6, [-4.0, 7.0, 0.0, 0.0, 0.5, 0.0]]
    assert world.read_states().wrenches[0].tolist() == [0.0] * 6  # of the base
    assert buffer.link_twists[1] == pytest.approx([0, 0, 0, 0, robot.get_generalized_velocity()[0], 0], abs=1e-12)
    robot.clear_command(1)
    before = robot.get_generalized_velocity()[0]
    world.integrate(50)
    assert robot.get_generalized_velocity()[0] == pytest.approx(before, rel=1e-9)
    assert world.read_articulations().link_wrenches.tolist() == [[0.0] * 6, [0.0] * 6]


def test_wrenches_on_links_are_part_of_a_snapshot():
    world = World()
    robot = world.add_articulated_system(BALL_ON_STICK)
    robot.set_command_wrench((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), local_idx=1)
    world.integrate(10)
    snapshot = world.save_snapshot()
    world.integrate(20)
    expected = robot.get_state()
    world.restore_snapshot(snapshot)
    robot.clear_command(1)
    world.restore_snapshot(snapshot)
    world.integrate(20)
    assert np.concatenate(robot.get_state()).tolist() == np.concatenate(expected).tolist()


def test_both_partners_of_a_contact_know_each_other():
    """A robot and a ball: types, places in each other's lists, velocities of the material."""
    world = World()
    world.set_time_step(0.001)
    world.set_gravity((0.0, 0.0, 0.0))
    robot = world.add_articulated_system(BALL_ON_STICK)
    robot.set_base_pos((0.0, 0.0, 0.6))
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, -0.099)
    ball.set_velocity((0.3, 0.0, 0.0), (0.0, 2.0, 0.0))
    robot.set_generalized_velocity([0.0] * 6 + [1.5])
    world.integrate1()
    world.integrate2()
    (of_robot,), (of_ball,) = robot.get_contacts(), ball.get_contacts()
    assert of_robot.get_pair_object_index() == ball.get_index_in_world()
    assert of_ball.get_pair_object_body_type() == of_robot.get_pair_object_body_type() == BodyType.DYNAMIC
    assert of_ball.get_pair_contact_index_in_pair_object() == of_robot.get_index_in_object_contact_list() == 0
    assert (of_robot.get_local_body_index(), of_ball.get_local_body_index()) == (1, 0)
    point = of_robot.get_position()
    expected = robot.get_dense_jacobian(1, point) @ robot.get_generalized_velocity()
    assert robot.get_contact_point_vel(0) == pytest.approx(expected, abs=1e-12)
    assert np.abs(expected).max() > 0.1
    arm = point - ball.get_com_position()
    turning = np.cross(ball.get_angular_velocity(), arm)
    assert ball.get_contact_point_vel(0) == pytest.approx(ball.get_linear_velocity() + turning, abs=1e-12)
    with pytest.raises(InvalidValueError, match="contact index is 1; expected 0 to 0"):
        robot.get_contact_point_vel(1)


def test_the_two_entries_of_a_self_collision_are_each_others_partners():
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    shape = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = f'<robot name="two"><link name="base">{mass}</link>'
    for side, x in (("left", 0.15), ("right", -0.15)):
        text += f"""<link name="{side}">{mass}{shape}</link><joint name="{side}" type="prismatic">
            <parent link="base"/><child link="{side}"/><origin xyz="{x} 0 0"/><axis xyz="1 0 0"/></joint>"""
    robot = world.add_articulated_system(text + "</robot>", options=ArticulatedSystemOption(self_collision="all"))
    world.integrate()
    first, second = robot.get_contacts()
    assert first.is_self_collision()
    assert [first.skip(), second.skip()] == [False, True]
    assert first.get_pair_contact_index_in_pair_object() == 1
    assert second.get_pair_contact_index_in_pair_object() == 0
    assert {first.get_local_body_index(), second.get_local_body_index()} == {1, 2}


def test_bodies_that_do_not_exist_are_named():
    robot = World().add_articulated_system(BALL_ON_STICK)
    for call in (
        lambda: robot.get_position(2),
        lambda: robot.get_quaternion(-1),
        lambda: robot.get_linear_velocity(2),
        lambda: robot.get_angular_velocity(2),
        lambda: robot.get_com_position(2),
        lambda: robot.get_mass(2),
        lambda: robot.get_inertia_matrix_w(2),
        lambda: robot.get_body_type(-1),
        lambda: robot.set_external_force(2, (0.0, 0.0, 1.0)),
        lambda: robot.set_external_force(-1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        lambda: robot.set_external_torque(2, (0.0, 0.0, 1.0)),
        lambda: robot.set_external_torque_in_body_frame(2, (0.0, 0.0, 1.0)),
        lambda: robot.set_command_wrench((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2),
    ):
        with pytest.raises(InvalidValueError, match=r"body index is -?[12]; expected 0 to 1"):
            call()
    assert robot.get_external_force() == robot.get_external_torque() == []


def test_a_robot_that_is_put_elsewhere_has_left_its_contacts_behind():
    world = World()
    world.add_ground()
    robot = world.add_articulated_system(BALL_ON_STICK)
    robot.set_base_pos((0.0, 0.0, 0.6))
    world.integrate(2)
    (contact,) = robot.get_contacts()
    assert contact.get_pair_object_body_type() == BodyType.STATIC
    robot.set_generalized_velocity(np.zeros(7))  # it is still there
    assert len(robot.get_contacts()) == 1
    q, u = robot.get_state()
    q[2] = 3.0
    robot.set_state(q, u)
    assert robot.get_contacts() == []
    world.integrate()
    assert robot.get_contacts() == []
    world.integrate1()
    robot.set_generalized_coordinate(q)  # within a step the contacts are still to be solved
    world.integrate2()

"""Robots that touch bodies, each other and themselves."""

import numpy as np
import pytest
from robot_scenes import ROBOTS, STANDING_HEIGHT, add_quadruped, contact_forces, force_on
from world_promises import goes_on_to_the_same_bits

from raisim_ros import ArticulatedSystemOption, ObjectRemovedError, ObjectType, World

GRAVITY = 9.81


def bar(name, length, mass=1.0, radius=0.02):
    """A link: a capsule that lies along +x from its joint."""
    inertia = mass * length**2 / 12
    return f"""<link name="{name}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>
      <inertia ixx="{0.1 * inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="{length / 2} 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><capsule radius="{radius}" height="{length - 4 * radius}"/></geometry></collision></link>"""


def hinge(name, parent, child, x=0.0, z=0.0, dynamics=""):
    return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{x} 0 {z}"/><axis xyz="0 1 0"/><limit lower="-6" upper="6"/>{dynamics}</joint>"""


FOLDING = f"""<robot name="folding"><link name="world"/>{hinge("a", "world", "one", z=1.0)}{bar("one", 0.5)}
  {hinge("b", "one", "two", x=0.5)}{bar("two", 0.1)}{hinge("c", "two", "three", x=0.1)}{bar("three", 0.5)}</robot>"""

PENDULUM = f"""<robot name="pendulum"><link name="world"/>{hinge("a", "world", "bar", z=1.0)}{bar("bar", 0.5)}</robot>"""


# ---- folding limbs ----


def folded(world, **options):
    """A limb of three bars that a motor folds until the first and the last would meet."""
    robot = world.add_articulated_system(FOLDING, options=ArticulatedSystemOption(**options))
    robot.set_pd_gains([500.0, 30.0, 30.0], [20.0, 2.0, 2.0])
    robot.set_p_target([0.0, np.pi / 2, np.pi / 2 + 0.6])
    return robot


def distance_of_outer_bars(robot):
    """Smallest distance of the third bar's axis from the first's, which lies along x through the first joint."""
    first, last = robot.get_body_idx("one"), robot.get_body_idx("three")
    inverse, origin = robot.get_orientation(first).T, robot.get_position(first)
    points = [inverse @ (robot.get_position(last, (x, 0, 0)) - origin) for x in np.linspace(0.04, 0.46, 50)]
    return min(abs(p[2]) for p in points)


def test_limbs_that_fold_onto_each_other_stop(weightless):
    robot = folded(weightless)
    weightless.integrate(3000)
    assert distance_of_outer_bars(robot) == pytest.approx(0.04, abs=1e-3)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-3
    contacts = robot.get_contacts()
    assert len(contacts) == 2
    assert all(c.is_self_collision() for c in contacts)
    assert sorted(c.skip() for c in contacts) == [False, True]
    assert {c.get_local_body_index() for c in contacts} == {robot.get_body_idx("one"), robot.get_body_idx("three")}
    # equal and opposite: the motors hold each other, nothing acts on the outside
    assert force_on(robot, 0.001) == pytest.approx(np.zeros(3), abs=1e-9)
    (pressing,) = [c for c in contacts if not c.skip()]
    assert pressing.get_impulse()[2] > 0
    tau = robot.get_generalized_force()
    for contact, force in contact_forces(robot, 0.001):
        tau += robot.get_dense_jacobian(contact.get_local_body_index(), contact.get_position()).T @ force
    assert tau == pytest.approx(np.zeros(3), abs=1e-2)


def test_ignored_pairs_pass_through_each_other(weightless):
    robot = folded(weightless)
    robot.ignore_collision_between(robot.get_body_idx("one"), robot.get_body_idx("three"))
    weightless.integrate(3000)
    assert robot.get_contacts() == []
    assert robot.get_generalized_coordinate() == pytest.approx([0.0, np.pi / 2, np.pi / 2 + 0.6], abs=1e-3)


def test_neighbours_collide_only_when_asked(weightless):
    text = PENDULUM.replace("</robot>", hinge("b", "bar", "second", x=0.5) + bar("second", 0.4) + "</robot>")
    free, bound = (
        weightless.add_articulated_system(text, options=ArticulatedSystemOption(do_not_collide_with_parent=flag))
        for flag in (True, False)
    )
    bound.set_base_pos((0, 5, 0))
    for robot in (free, bound):
        robot.set_pd_gains([500.0, 30.0], [20.0, 3.0])
        robot.set_p_target([0.0, 3.1])
        robot.set_generalized_coordinate([0.0, 1.0])
    weightless.integrate(3000)
    assert free.get_generalized_coordinate()[1] == pytest.approx(3.1, abs=1e-3)
    assert free.get_contacts() == []
    assert bound.get_generalized_coordinate()[1] < 3.0
    assert len(bound.get_contacts()) >= 2


# ---- robots and bodies ----


def test_an_arm_pushes_a_box(world):
    """The bar pushes at constant speed: its force is the friction of the box on the ground, whatever part of the weight it
    carries by its own friction."""
    world.add_ground()
    world.set_default_material(0.4, 0.0, 0.0)
    text = f"""<robot name="pusher"><link name="world"/><joint name="slide" type="prismatic"><parent link="world"/>
      <child link="hand"/><origin xyz="-0.5 0 0.1"/><axis xyz="1 0 0"/><limit lower="-1" upper="3"/></joint>
      {bar("hand", 0.3)}</robot>"""
    hand = world.add_articulated_system(text)
    box = world.add_box(0.2, 0.2, 0.2, 3.0)
    box.set_position(0, 0, 0.1)
    hand.set_pd_gains([0.0], [1e4])
    hand.set_d_target([0.5])
    world.integrate(2000)
    assert box.get_linear_velocity() == pytest.approx([0.5, 0, 0], abs=2e-3)
    resistance = 0.4 * (3.0 * GRAVITY + force_on(hand, 0.001)[2])
    assert abs(force_on(hand, 0.001)[2]) < 0.1 * resistance
    assert force_on(hand, 0.001)[0] == pytest.approx(-resistance, rel=1e-3)
    assert hand.get_generalized_force() == pytest.approx([resistance], rel=2e-2)
    assert force_on(box, 0.001)[2] == pytest.approx(3.0 * GRAVITY, rel=1e-3)


def test_a_body_lies_on_an_arm(world):
    """A ball on a hinged bar: the motor's moment is that of bar and ball together."""
    robot = world.add_articulated_system(PENDULUM)
    ball = world.add_sphere(0.05, 2.0)
    ball.set_position(0.3, 0, 1.07)
    robot.set_pd_gains([2e4], [200.0])
    robot.set_p_target([0.0])
    ball.set_angular_damping((10.0, 10.0, 10.0))
    world.integrate(50)
    for _ in range(100):
        world.integrate()
        x = ball.get_position()[0]
        moment = robot.get_generalized_force()[0]
    assert -moment == pytest.approx(1.0 * GRAVITY * 0.25 + 2.0 * GRAVITY * x, rel=2e-2)


@pytest.mark.parametrize("restitution", [0.0, 0.7, 1.0])
def test_a_ball_strikes_a_pendulum(weightless, restitution):
    """Closed form: angular momentum about the hinge, and the rebound of the point that was struck."""
    weightless.set_default_material(0.0, restitution, 0.0)
    weightless.set_erp(0.0)
    robot = weightless.add_articulated_system(PENDULUM)
    ball = weightless.add_sphere(0.05, 0.7)
    arm, speed = 0.3, 3.0
    ball.set_position(arm, 0, 1.0 + 0.08)
    ball.set_linear_velocity((0, 0, -speed))
    weightless.integrate(6)  # the blow falls in the fourth step
    inertia = 1.0 * (0.5**2 / 12 + 0.25**2)
    # m v r = I w + m v' r;  w r - v' = e v  (positive downwards; +y turns the bar down)
    turn = (1 + restitution) * speed * 0.7 * arm / (inertia + 0.7 * arm**2)
    after = turn * arm - restitution * speed
    assert robot.get_generalized_velocity() == pytest.approx([turn], rel=2e-3)
    assert ball.get_linear_velocity()[2] == pytest.approx(-after, abs=5e-3)


def test_cart_pole_closed_form(weightless):
    """A push on the cart: the centre of mass moves by force times time, the pole by its own inertia."""
    robot = weightless.add_articulated_system(ROBOTS / "cartpole.urdf")
    robot.set_generalized_force([2.0, 0.0])
    weightless.integrate(100)
    assert robot.get_linear_momentum()[0] == pytest.approx(0.2, rel=1e-5)
    masses, pole = robot.get_total_mass(), robot.get_mass(2)
    com = np.linalg.norm(robot.get_body_com_b()[2])
    inertia = robot.get_inertia()[2][1, 1] + pole * com**2
    expected = np.linalg.solve([[masses, pole * com], [pole * com, inertia]], [2.0, 0.0]) * 0.1
    assert robot.get_generalized_velocity() == pytest.approx(expected, rel=2e-2)


def test_cart_hits_a_wall(world):
    """The cart stops at a heavy box that lies on its way; its pole swings on."""
    world.add_ground()
    wall = world.add_box(0.2, 1.0, 2.0, 500.0)
    wall.set_position(1.0, 0, 1.0)
    robot = world.add_articulated_system(ROBOTS / "cartpole.urdf")
    robot.set_state([0.0, np.pi], [3.0, 0.0])
    width = robot.get_collision_body("cart/0").dim[0]
    world.integrate(2000)
    assert robot.get_generalized_coordinate()[0] < 1.0 - 0.1 - width / 2 + 0.01
    assert wall.get_position() == pytest.approx([1.0, 0, 1.0], abs=0.01)


# ---- wheels ----


@pytest.fixture
def rover(world):
    """The wheeled base on the ground, its casters without friction."""
    world.add_ground()
    world.set_material_pair_prop("caster", "default", 0.0, 0.0, 0.0)
    robot = world.add_articulated_system(ROBOTS / "wheeled_base.urdf")
    robot.set_base_pos((0, 0, 0.1))
    robot.set_pd_gains(np.zeros(8), np.concatenate([np.zeros(6), [20.0, 20.0]]))
    world.integrate(100)
    return robot


def drive(world, rover, left, right, seconds):
    """Ramp the wheels up gently, then drive; pose before and after the drive at full speed."""
    for step in range(500):
        share = (step + 1) / 500
        rover.set_d_target([0, 0, 0, 0, 0, 0, share * left, share * right])
        world.integrate()
    world.integrate(300)
    before = rover.get_generalized_coordinate(), rover.get_generalized_velocity()
    world.integrate(round(seconds / 0.001))
    return before, (rover.get_generalized_coordinate(), rover.get_generalized_velocity())


def yaw_of(q):
    w, x, y, z = q[3:7]
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y**2 + z**2))


def test_wheels_roll_straight_without_slip(world, rover):
    (q0, _), (q1, u1) = drive(world, rover, 5.0, 5.0, 2.0)
    rolled = 0.1 * (q1[7:] - q0[7:])
    assert rolled[0] == pytest.approx(1.0, rel=2e-2)
    assert q1[0] - q0[0] == pytest.approx(rolled.mean(), rel=1e-3)
    assert abs(q1[1]) < 5e-3
    assert abs(yaw_of(q1)) < 5e-3
    assert u1[:3] == pytest.approx([0.1 * u1[6], 0, 0], abs=2e-3)


@pytest.mark.parametrize("caster_friction", [0.0, 0.1])
@pytest.mark.parametrize("torque", [0.5, 2.0])
@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_equal_torques_drive_straight(world, dt, torque, caster_friction):
    """Nothing but exactness keeps the base from turning: the loads of the wheels are redundant, and symmetric."""
    world.set_time_step(dt)
    world.add_ground()
    world.set_material_pair_prop("caster", "default", caster_friction, 0.0, 0.0)
    robot = world.add_articulated_system(ROBOTS / "wheeled_base.urdf")
    robot.set_base_pos((0, 0, 0.1))
    robot.set_generalized_force([0, 0, 0, 0, 0, 0, torque, torque])
    while robot.get_base_position()[0] < 10.0:
        world.integrate(100)
        assert world.get_world_time() < 15.0
    assert abs(yaw_of(robot.get_generalized_coordinate())) < 1e-4
    assert abs(robot.get_base_position()[1]) < 1e-3


def test_wheels_turn_the_base(world, rover):
    """Differential drive: yaw rate = r (right - left) / track, up to the width of the wheels."""
    (q0, _), (q1, u1) = drive(world, rover, -2.0, 2.0, 2.0)
    rate = 0.1 * (u1[7] - u1[6]) / 0.4
    assert u1[5] == pytest.approx(rate, rel=0.12)
    assert q1[:2] == pytest.approx(q0[:2], abs=0.05)
    assert yaw_of(q1) - yaw_of(q0) == pytest.approx(2.0 * rate, rel=0.12)


def test_motors_accelerate_the_base(world, rover):
    """Torque over radius moves the mass, with the rolling inertia of wheels and rotors, less damping."""
    rover.set_pd_gains(np.zeros(8), np.zeros(8))
    rover.set_joint_damping(np.zeros(8))
    torque = 0.5
    rover.set_generalized_force([0, 0, 0, 0, 0, 0, torque, torque])
    world.integrate(200)
    rolling = 2 * (0.5 * 1.0 * 0.1**2 + 0.005) / 0.1**2
    expected = 2 * torque / 0.1 / (rover.get_total_mass() + rolling) * 0.2
    assert rover.get_generalized_velocity()[0] == pytest.approx(expected, rel=5e-3)


# ---- two robots ----


def test_two_quadrupeds_push_each_other():
    """One stands, one lies on its back: action and reaction, and the ground carries both."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    lower = add_quadruped(world, p_gain=400.0)
    upper = add_quadruped(world, (0, 0, STANDING_HEIGHT + 0.25), p_gain=0.0, d_gain=2.0)
    weight = (lower.get_total_mass() + upper.get_total_mass()) * GRAVITY
    touched = False
    for _ in range(500):
        world.integrate()
        between = np.zeros(3)
        for robot, other in ((lower, upper), (upper, lower)):
            for contact, force in contact_forces(robot, 0.002):
                if contact.get_pair_object_index() == other.get_index_in_world():
                    between += force
                    touched = True
        assert between == pytest.approx(np.zeros(3), abs=1e-9 * weight)
    assert touched
    world.integrate(3000)
    total = force_on(lower, 0.002) + force_on(upper, 0.002)
    assert total == pytest.approx([0, 0, weight], abs=0.05 * weight)
    assert np.isfinite(lower.get_generalized_coordinate()).all()


def crowd():
    """Robots and bodies in contact."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    robots = [add_quadruped(world), add_quadruped(world, (0.3, 0.1, 1.3), 50.0, 1.0)]
    for k in range(5):
        box = world.add_box(0.2, 0.2, 0.2, 2.0)
        box.set_position(0.1 * k, 0.05 * k, 2.0 + 0.3 * k)
    return world, robots


def test_same_bits_every_time():
    hashes = set()
    for _ in range(2):
        world, _ = crowd()
        world.integrate(800)
        hashes.add(world.get_state_hash())
    assert len(hashes) == 1


def test_snapshot_in_contact_continues_to_the_same_bits():
    world, robots = crowd()
    world.integrate(500)
    assert all(robot.get_contacts() for robot in robots)
    assert goes_on_to_the_same_bits(world, 300)


def test_removing_a_robot_in_contact():
    world, (lower, upper) = crowd()
    world.integrate(600)
    assert lower.get_contacts()
    world.remove_object(lower)
    with pytest.raises(ObjectRemovedError):
        lower.get_generalized_coordinate()
    world.integrate(3000)  # what it carried comes down and lies on the ground
    bodies = [body for body in world.get_obj_list() if body.get_object_type() == ObjectType.BOX]
    weight = GRAVITY * (upper.get_total_mass() + sum(body.get_mass() for body in bodies))
    (ground,) = [body for body in world.get_obj_list() if body.get_object_type() == ObjectType.GROUND]
    assert upper.get_base_position()[2] < 0.5
    assert -force_on(ground, 0.002)[2] == pytest.approx(weight, rel=0.05)


def test_moved_robot_drops_its_contacts(world):
    world.add_ground()
    robot = add_quadruped(world)
    world.integrate(1000)
    assert len(robot.get_contacts()) == 4
    q = robot.get_generalized_coordinate()
    q[2] += 0.5
    robot.set_state(q, np.zeros(18))
    world.integrate()
    assert robot.get_contacts() == []
    fall = robot.get_linear_momentum()[2] / robot.get_total_mass()
    assert fall == pytest.approx(-GRAVITY * 0.001, rel=1e-3)


def test_collision_filter_lets_a_robot_fall_through(world):
    world.add_ground(collision_mask=0)
    robot = add_quadruped(world)
    world.integrate(500)
    assert robot.get_contacts() == []
    assert robot.get_base_position()[2] == pytest.approx(STANDING_HEIGHT - 0.5 * GRAVITY * 0.25, abs=1e-3)


def test_contact_list_of_a_standing_robot(world):
    ground = world.add_ground()
    robot = add_quadruped(world)
    world.integrate(1000)
    contacts = robot.get_contacts()
    for place, contact in enumerate(contacts):
        assert not contact.is_self_collision()
        assert not contact.skip()
        assert contact.get_index_in_object_contact_list() == place
        assert contact.get_pair_object_index() == ground.get_index_in_world()
        assert abs(contact.get_normal()[2]) == pytest.approx(1.0)
        assert abs(contact.get_depth()) < 1e-3
        foot = robot.get_position(contact.get_local_body_index(), (0, 0, -0.32))
        assert contact.get_position() == pytest.approx([*foot[:2], 0.0], abs=1e-3)
        g = contact.get_inv_inertia()
        jacobian = contact.get_contact_frame() @ robot.get_dense_jacobian(
            contact.get_local_body_index(), contact.get_position())
        assert g == pytest.approx(jacobian @ robot.get_inverse_mass_matrix() @ jacobian.T, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("height", [0.0, 0.1], ids=["placed", "dropped"])
def test_feet_of_a_table_share_its_load(world, height):
    """Four feet are one more than needed; symmetry says how they share."""
    feet = "".join(
        f'<collision><origin xyz="{x} {y} -0.4"/><geometry><sphere radius="0.02"/></geometry></collision>'
        for x in (-0.5, 0.5) for y in (-0.3, 0.3)
    )
    table = world.add_articulated_system(
        f'''<robot name="table"><link name="top"><inertial><mass value="10"/>
        <inertia ixx="1" iyy="2" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>{feet}</link></robot>''')
    world.add_ground()
    table.set_base_pos((0, 0, 0.42 + height))
    world.integrate(1000)
    loads = [contact.get_impulse()[2] / world.get_time_step() for contact in table.get_contacts()]
    assert loads == pytest.approx(np.full(4, 10.0 * GRAVITY / 4), rel=1e-3)


def test_a_robot_that_stands_is_not_solved_anew_in_every_step():
    world = World()
    world.add_ground()
    world.set_time_step(0.002)
    world.set_sleeping_enabled(False)
    robot = world.add_articulated_system(ROBOTS / "quadruped.urdf")
    coordinates, dof = robot.get_generalized_coordinate(), robot.get_dof()
    coordinates[2] = 0.6
    robot.set_state(coordinates, np.zeros(dof))
    inertia = np.diag(robot.get_mass_matrix()) * (np.arange(dof) >= 6)
    robot.set_pd_gains(400.0 * inertia, 40.0 * inertia)
    robot.set_pd_target(coordinates, np.zeros(dof))
    world.integrate(1000)
    solved = 0
    for _ in range(200):
        world.integrate()
        counters = world.get_collision_counters()
        solved += counters.solver_iterations > 0
        assert counters.solver_relative_error < 2e-9  # as good as a new solution, for all that it matters
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-8
    assert solved < 100  # before: in all of them

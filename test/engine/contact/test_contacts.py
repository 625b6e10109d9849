"""What a contact tells: sides, frame, impulse, depth, partners."""

import threading

import numpy as np
import pytest

from raisim_ros import BodyType, BroadphaseSettings, BroadphaseType, CompoundChild, ShapeType, World


def test_both_sides_see_the_same_contact(world):
    """Normal towards A, impulse on A, negative depth when penetrating; the ball is the second object here."""
    ground = world.add_ground()
    ball = world.add_sphere(0.1, 2.0)
    ball.set_position(0.3, -0.2, 0.098)
    world.set_erp(0.0)
    world.integrate()
    (of_ball,), (of_ground,) = ball.get_contacts(), ground.get_contacts()
    assert of_ball.is_object_a() != of_ground.is_object_a()
    towards_ball = 1.0 if of_ball.is_object_a() else -1.0
    assert of_ball.get_normal() == pytest.approx([0.0, 0.0, towards_ball], abs=1e-12)
    frame = of_ball.get_contact_frame()
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-12)
    assert frame[2] == pytest.approx(of_ball.get_normal(), abs=0)
    assert of_ball.get_position()[:2] == pytest.approx([0.3, -0.2], abs=1e-9)
    assert of_ball.get_depth() == pytest.approx(-0.002, abs=1e-5)
    on_ball = towards_ball * frame.T @ of_ball.get_impulse()
    assert on_ball == pytest.approx([0.0, 0.0, 2.0 * 9.81 * 0.001], rel=1e-6, abs=1e-12)
    assert (of_ground.get_impulse() == of_ball.get_impulse()).all()
    assert of_ball.get_pair_object_index() == ground.get_index_in_world()
    assert of_ground.get_pair_object_index() == ball.get_index_in_world()
    assert of_ball.get_pair_object_body_type() == BodyType.STATIC
    assert of_ground.get_pair_object_body_type() == BodyType.DYNAMIC
    assert of_ball.get_pair_contact_index_in_pair_object() == 0
    assert of_ball.get_index_contact_problem() == 0
    assert not of_ball.is_self_collision()
    assert not of_ball.skip()


def test_the_effective_inverse_mass_of_a_ball_on_the_ground(world):
    """1/m along the normal, 1/m + r^2/I = 3.5/m across."""
    world.add_ground()
    ball = world.add_sphere(0.1, 2.0)
    ball.set_position(0.0, 0.0, 0.1)
    world.integrate()
    inverse = ball.get_contacts()[0].get_inv_inertia()
    assert inverse == pytest.approx(np.diag([1.75, 1.75, 0.5]), rel=1e-9, abs=1e-9)


def test_the_impulse_on_a_lopsided_body_explains_its_motion(weightless):
    """Newton and Euler with the reported point and impulse give the reported velocities."""
    body = weightless.add_compound(
        [
            CompoundChild(ShapeType.SPHERE, (0.1,), (0.3, 0.1, 0.0)),
            CompoundChild(ShapeType.BOX, (0.2, 0.1, 0.1), (-0.2, 0.0, 0.1)),
        ],
        2.0,
        com=(0.05, -0.02, 0.03),
        inertia=[[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.25]],
    )
    wall = weightless.add_box(0.1, 4.0, 4.0, 1.0)
    wall.set_body_type(BodyType.STATIC)
    wall.set_position(1.0, 0.0, 0.0)
    body.set_velocity((2.0, 0.3, -0.1), (0.5, -0.2, 1.0))
    while weightless.read_contacts().size == 0 or np.abs(weightless.read_contacts()["impulse"]).max() == 0.0:
        linear, momentum = body.get_linear_velocity(), body.get_inertia_matrix_w() @ body.get_angular_velocity()
        weightless.integrate()
        assert weightless.get_world_time() < 1.0
    gained, turned = np.zeros(3), np.zeros(3)
    com = body.get_com_position() - 0.5 * 0.001 * body.get_linear_velocity()  # at the midpoint
    for contact in body.get_contacts():
        impulse = contact.get_contact_frame().T @ contact.get_impulse() * (1.0 if contact.is_object_a() else -1.0)
        gained += impulse
        turned += np.cross(contact.get_position() - com, impulse)
    assert gained[0] < -1.0, "the wall pushes back"
    assert body.get_linear_velocity() - linear == pytest.approx(gained / 2.0, abs=1e-9)
    after = body.get_inertia_matrix_w() @ body.get_angular_velocity()
    assert after - momentum == pytest.approx(turned, abs=5e-3 * np.linalg.norm(turned))


def test_contact_points_move_with_the_body(world):
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.1)
    ball.set_velocity((1.0, 0.0, 0.0), (0.0, 4.0, 0.0))
    world.integrate()
    slip = ball.get_linear_velocity() + np.cross(ball.get_angular_velocity(), [0.0, 0.0, -0.1])
    # the point was found half a step ago: its arm is off by half the way of a step
    assert ball.get_contact_point_vel(0) == pytest.approx(slip, abs=5e-3)


def test_at_most_the_allowed_number_of_points(world):
    settings = world.get_contact_settings()
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    for allowed in (1, 2, 3, 4, 8):
        settings.max_contacts_per_pair = allowed
        world.set_contact_settings(settings)
        box.set_pose((0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.0))
        world.integrate()
        assert len(box.get_contacts()) == min(allowed, 4)


@pytest.mark.parametrize("broadphase", [BroadphaseType.NONE, BroadphaseType.MULTI_BOX_PRUNE])
def test_the_broad_phase_does_not_change_a_bit(broadphase):
    def run(method):
        world = World()
        world.set_broadphase_settings(BroadphaseSettings(method))
        world.add_ground()
        random = np.random.default_rng(5)
        for k in range(60):
            body = world.add_sphere(0.08, 1.0) if k % 2 else world.add_box(0.2, 0.1, 0.15, 1.0)
            body.set_pose(random.uniform(-0.5, 0.5, 3) + np.array([0.0, 0.0, 0.8 + 0.03 * k]), random.normal(size=4))
        hashes = []
        for _ in range(300):
            world.integrate()
            hashes.append(world.get_state_hash())
        return hashes

    assert run(broadphase) == run(BroadphaseType.SAP_3_AXIS)


def test_a_world_can_be_read_while_another_thread_steps():
    world = World()
    world.add_ground()
    for k in range(20):
        world.add_sphere(0.1, 1.0).set_position(0.05 * k, 0.0, 0.5 + 0.25 * k)
    failures = []

    def read():
        try:
            while world.get_step_count() < 2000:
                with world.locked():
                    states, contacts = world.read_states(), world.read_contacts()
                    assert np.isfinite(states.poses).all()
                    assert np.isfinite(contacts["impulse"]).all()
        except Exception as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    world.integrate(2000)
    reader.join(timeout=30)
    assert not reader.is_alive()
    assert failures == []

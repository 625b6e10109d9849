"""Wrong input to every public method: a typed error that names the argument, and a world that did not change."""

import math

import numpy as np
import pytest

from raisim_ros import (
    BroadphaseSettings,
    CompoundChild,
    ContactSettings,
    DivergedError,
    InvalidValueError,
    ObjectRemovedError,
    RaisimError,
    ShapeType,
    World,
    WrongStateError,
    WrongTypeError,
)

NAN, INF = math.nan, math.inf
NOT_POSITIVE = [0.0, -1.0, NAN, INF, "1", None]


@pytest.fixture
def scene() -> World:
    world = World()
    world.add_ground()
    world.add_box(0.2, 0.3, 0.4, 2.0).set_position(0.0, 0.0, 0.2)
    world.integrate(3)
    return world


class Unchanged:
    """``with Unchanged(world):`` asserts that state, objects and settings are the same afterwards."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _look(self):
        world = self._world
        boxes = [
            (b.get_mass(), b.get_inertia_matrix_b().tolist(), b.get_com().tolist(), b.get_body_type())
            for b in world.get_obj_list()
        ]
        settings = (world.get_contact_settings(), world.get_sleeping_parameters(), world.get_gravity().tolist())
        clock = (world.get_time_step(), world.get_world_time(), world.get_step_count())
        return world.get_state_hash(), world.get_configuration_number(), boxes, settings, clock

    def __enter__(self) -> None:
        self._before = self._look()

    def __exit__(self, *_) -> None:
        assert self._look() == self._before


def refuse(world: World, call, match: str, error: type[RaisimError] = InvalidValueError) -> None:
    with Unchanged(world), pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("bad", NOT_POSITIVE)
def test_sizes_and_masses(scene, bad):
    for match, call in [
        ("radius|dim", lambda: scene.add_sphere(bad, 1.0)),
        ("mass", lambda: scene.add_sphere(0.1, bad)),
        ("x|dim", lambda: scene.add_box(bad, 1.0, 1.0, 1.0)),
        ("y|dim", lambda: scene.add_box(1.0, bad, 1.0, 1.0)),
        ("z|dim", lambda: scene.add_box(1.0, 1.0, bad, 1.0)),
        ("mass", lambda: scene.add_box(1.0, 1.0, 1.0, bad)),
        ("radius|dim", lambda: scene.add_cylinder(bad, 1.0, 1.0)),
        ("height|dim", lambda: scene.add_cylinder(0.1, bad, 1.0)),
        ("radius|dim", lambda: scene.add_cone(bad, 1.0, 1.0)),
        ("height|dim", lambda: scene.add_cone(0.1, bad, 1.0)),
        ("radius|dim", lambda: scene.add_capsule(bad, 1.0, 1.0)),
        ("mass", lambda: scene.add_capsule(0.1, 1.0, bad)),
        ("mass", lambda: scene.get_obj_list()[1].set_mass(bad)),
        ("time step|dt", lambda: scene.set_time_step(bad)),
    ]:
        if bad == 0.0 and match == "height|dim":
            continue
        refuse(scene, call, match)


@pytest.mark.parametrize("bad", [(NAN, 0.0, 0.0), (0.0, INF, 0.0), (0.0, 0.0), "abc", None, (0.0, 0.0, "x"), 3.0])
def test_vectors(scene, bad):
    box = scene.get_obj_list()[1]
    for match, call in [
        ("gravity", lambda: scene.set_gravity(bad)),
        ("position", lambda: box.set_position(bad)),
        ("position", lambda: box.set_pose(bad, (1.0, 0.0, 0.0, 0.0))),
        ("velocity", lambda: box.set_linear_velocity(bad)),
        ("velocity", lambda: box.set_angular_velocity(bad)),
        ("velocity", lambda: box.set_velocity(bad, (0.0, 0.0, 0.0))),
        ("velocity", lambda: box.set_velocity(bad)),
        ("com", lambda: box.set_com(bad)),
        ("damping", lambda: box.set_angular_damping(bad)),
        ("force", lambda: box.set_external_force(0, bad)),
        ("pos", lambda: box.set_external_force(0, bad, (0.0, 0.0, 1.0))),
        ("torque", lambda: box.set_external_torque(0, bad)),
        ("force", lambda: box.set_command_wrench(bad, (0.0, 0.0, 0.0))),
        ("torque", lambda: box.set_command_wrench((0.0, 0.0, 0.0), bad)),
        ("force", lambda: box.set_constraint_force(0, (0.0, 0.0, 0.0), bad)),
    ]:
        refuse(scene, call, match)
    assert box.get_external_force() == []


@pytest.mark.parametrize(
    "bad",
    [
        (0.0, 0.0, 0.0, 0.0),
        (NAN, 0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0),
        "abcd",
        None,
        np.diag([1.0, 1.0, -1.0]),
        np.diag([1.0, 2.0, 1.0]),
        np.full((3, 3), NAN),
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0]],
    ],
    ids=repr,
)
def test_orientations(scene, bad):
    box = scene.get_obj_list()[1]
    if not (isinstance(bad, list) and len(bad) == 2 and len(bad[1]) == 2):
        refuse(scene, lambda: box.set_orientation(bad), "quaternion|orientation")
    refuse(scene, lambda: box.set_pose((0.0, 0.0, 0.0), np.zeros(5)), "quaternion|orientation")
    refuse(scene, lambda: box.set_orientation(1.0, 0.0), "quaternion")


@pytest.mark.parametrize(
    "bad",
    [
        np.diag([1.0, 1.0, 3.0]),  # against the triangle inequality
        np.diag([1.0, 1.0, 0.0]),
        np.diag([-1.0, 1.0, 1.0]),
        [[1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]],
        np.full((3, 3), NAN),
        np.eye(2),
        "inertia",
        None,
    ],
    ids=repr,
)
def test_inertia(scene, bad):
    refuse(scene, lambda: scene.get_obj_list()[1].set_inertia(bad), "inertia")
    if bad is not None:
        child = CompoundChild(ShapeType.SPHERE, (0.1,))
        refuse(scene, lambda: scene.add_compound([child], 1.0, inertia=bad), "inertia")


@pytest.mark.parametrize("bad", [-0.1, NAN, INF, "much", None])
def test_solver_and_sleep_settings(scene, bad):
    refuse(scene, lambda: scene.set_erp(bad), "erp")
    refuse(scene, lambda: scene.set_erp(0.1, bad), "erp2")
    refuse(scene, lambda: scene.set_contact_solver_param(1.0, 1.0, 1.0, 50, bad), "threshold")
    refuse(scene, lambda: scene.set_contact_solver_param(1.0, 1.0, 1.0, bad, 1e-8), "max_iter")
    refuse(scene, lambda: scene.set_sleeping_parameters(bad, 0.1, 2), "linear")
    refuse(scene, lambda: scene.set_sleeping_parameters(0.1, bad, 2), "angular")
    refuse(scene, lambda: scene.set_sleeping_parameters(0.1, 0.1, bad), "quiet_steps")
    refuse(scene, lambda: scene.set_sleeping_velocity_thresholds(bad, 0.1), "linear")
    refuse(scene, lambda: scene.set_sleeping_velocity_thresholds(0.1, bad), "angular")
    refuse(scene, lambda: scene.get_obj_list()[1].set_linear_damping(bad), "damping")


@pytest.mark.parametrize("bad", [0, 2.5, True, 2**40])
def test_counts(scene, bad):
    refuse(scene, lambda: scene.set_contact_solver_param(1.0, 1.0, 1.0, bad, 1e-8), "max_iter")
    refuse(scene, lambda: scene.set_sleeping_parameters(0.1, 0.1, bad), "quiet_steps")
    if bad != 0:
        refuse(scene, lambda: scene.integrate(bad), "steps")
    refuse(scene, lambda: scene.integrate(-1), "steps")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("gjk_max_iterations", 0),
        ("gjk_max_iterations", 1.5),
        ("gjk_tolerance", 0.0),
        ("gjk_tolerance", NAN),
        ("epa_max_iterations", -1),
        ("epa_tolerance", "fine"),
        ("max_contacts_per_pair", 0),
        ("max_contacts_per_pair", 9),
        ("swept_ccd_min_speed", -1.0),
        ("swept_ccd_speculative_margin", INF),
    ],
)
def test_contact_settings(scene, field, bad):
    settings = scene.get_contact_settings()
    setattr(settings, field, bad)
    words = "[ _]".join(field.split("_")[:2])
    refuse(scene, lambda: scene.set_contact_settings(settings), words)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("type", 7),
        ("type", "sap"),
        ("mbp_world_min", (200.0, 0.0, 0.0)),
        ("mbp_world_max", (INF, INF, INF)),
        ("mbp_world_min", (NAN, 0.0, 0.0)),
        ("mbp_cell_size", (0.0, 1.0, 1.0)),
        ("mbp_cell_size", 1.0),
        ("mbp_padding", -1.0),
        ("mbp_max_cells_per_axis", 0),
        ("mbp_max_cells_per_object", 0),
    ],
)
def test_broadphase_settings(scene, field, bad):
    settings = BroadphaseSettings()
    setattr(settings, field, bad)
    words = "type" if field == "type" else "mbp[ _]" + field.split("_")[1]
    refuse(scene, lambda: scene.set_broadphase_settings(settings), words)


def test_settings_of_another_type(scene):
    refuse(scene, lambda: scene.set_contact_settings(BroadphaseSettings()), "settings")
    refuse(scene, lambda: scene.set_broadphase_settings(ContactSettings()), "settings")


@pytest.mark.parametrize("bad", [3, -1, "dynamic", None, 0.5])
def test_enums(scene, bad):
    box = scene.get_obj_list()[1]
    refuse(scene, lambda: box.set_body_type(bad), "body_type")
    if bad != 3:
        refuse(scene, lambda: box.set_gyroscopic_mode(bad), "mode")


@pytest.mark.parametrize("bad", [1, -1, "0", None])
def test_local_indices(scene, bad):
    box = scene.get_obj_list()[1]
    for call in (
        lambda: box.get_position(bad),
        lambda: box.get_quaternion(bad),
        lambda: box.get_linear_velocity(bad),
        lambda: box.get_angular_velocity(bad),
        lambda: box.get_velocity(bad),
        lambda: box.get_mass(bad),
        lambda: box.get_body_type(bad),
        lambda: box.set_external_force(bad, (0.0, 0.0, 1.0)),
        lambda: box.set_external_torque(bad, (0.0, 0.0, 1.0)),
    ):
        refuse(scene, call, "local_idx")


def test_names_and_looks(scene):
    box = scene.get_obj_list()[1]
    box.set_name("crate")
    refuse(scene, lambda: box.set_name(3), "name")
    assert box.get_name() == "crate"
    assert scene.get_object("crate") is box
    refuse(scene, lambda: box.set_appearance(None), "appearance")


def test_world_time(scene):
    for bad in (NAN, INF, "noon", None):
        refuse(scene, lambda bad=bad: scene.set_world_time(bad), "time")
    scene.set_world_time(-3.0)
    assert scene.get_world_time() == -3.0


def test_halves_in_the_wrong_order(scene):
    refuse(scene, scene.integrate2, "integrate1", WrongStateError)
    scene.integrate1()
    box = scene.get_obj_list()[1]
    refuse(scene, lambda: scene.add_sphere(0.1, 1.0), "integrate", WrongStateError)
    refuse(scene, lambda: scene.remove_object(box), "integrate", WrongStateError)
    assert scene.get_obj_list()[1] is box
    scene.integrate2()
    scene.remove_object(box)


def test_unlock_without_lock(scene):
    with pytest.raises(WrongStateError, match="lock"):
        scene.unlock_mutex()
    with scene.locked(), scene.locked():
        scene.integrate()


def test_foreign_and_removed_objects(scene):
    other = World().add_sphere(0.1, 1.0)
    calls = [
        scene.remove_object,
        scene.wake_object,
        scene.is_object_sleeping,
        scene.get_object_material,
        lambda obj: scene.set_object_material(obj, "steel"),
        lambda obj: scene.set_object_collision_filter(obj, 1, 1),
        scene.capture_single_body_snapshot,
        scene.clone_single_body_object,
    ]
    removed = scene.add_sphere(0.1, 1.0)
    scene.remove_object(removed)
    for call in calls:
        refuse(scene, lambda call=call: call(other), "another world")
        refuse(scene, lambda call=call: call(removed), "removed", ObjectRemovedError)
        refuse(scene, lambda call=call: call("box"), "object", WrongTypeError)


def test_every_method_of_a_removed_object_says_so(scene):
    box = scene.get_obj_list()[1]
    scene.remove_object(box)
    assert not scene.is_object_alive(box.get_id())
    assert scene.get_object_by_id(box.get_id()) is None
    zero = (0.0, 0.0, 0.0)
    for call in (
        box.get_position,
        box.get_quaternion,
        box.get_velocity,
        box.get_mass,
        box.get_com,
        box.get_energy,
        box.get_contacts,
        box.get_index_in_world,
        box.get_collision_group,
        box.get_collision_body_list,
        box.get_external_force,
        box.get_external_torque_position,
        box.clear_external_forces_and_torques,
        lambda: box.set_position(zero),
        lambda: box.set_orientation(1.0, 0.0, 0.0, 0.0),
        lambda: box.set_velocity(zero, zero),
        lambda: box.set_mass(1.0),
        lambda: box.set_external_force(0, zero),
        lambda: box.set_external_torque(0, zero),
        lambda: box.set_command_wrench(zero, zero),
        lambda: box.set_name("ghost"),
        lambda: box.set_appearance("red"),
        lambda: box.get_contact_point_vel(0),
    ):
        refuse(scene, call, "removed|exist", ObjectRemovedError)
    assert scene.get_object("ghost") is None


def test_what_is_absent_is_none(scene):
    assert scene.get_object("nobody") is None
    assert scene.get_object(99) is None
    assert scene.get_object(-1) is None
    assert scene.get_object_by_id(99) is None
    assert scene.is_object_alive(99) is False


def test_contact_indices(scene):
    box = scene.get_obj_list()[1]
    count = len(box.get_contacts())
    assert count == 4
    for bad in (-1, count):
        refuse(scene, lambda bad=bad: box.get_contact_point_vel(bad), "contact index")


def test_a_diverging_body_is_stopped_and_named():
    world = World()
    lost, other = world.add_sphere(0.1, 1.0), world.add_sphere(0.1, 1.0)
    other.set_position(5.0, 0.0, 0.0)
    lost.set_linear_velocity((1e50, 0.0, 0.0))
    for _ in range(5):
        lost.set_external_force(0, (1e50, 0.0, 0.0))
    with pytest.raises(DivergedError, match=f"object {lost.get_id()} "):
        world.integrate(1000)
    assert np.isfinite(lost.get_position()).all()
    assert lost.get_linear_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    world.integrate(10)
    assert np.isfinite(world.read_states().poses).all()
    assert other.get_linear_velocity()[2] < 0.0


def test_getters_return_copies(scene):
    """Values must stay as read: neither freed memory nor a window into the engine."""
    box = scene.get_obj_list()[1]
    box.set_velocity((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    reads = [(box.get_linear_velocity(), box.get_angular_velocity(), box.get_quaternion()) for _ in range(200)]
    for linear, angular, quaternion in reads:
        assert linear.tolist() == [1.0, 2.0, 3.0]
        assert angular.tolist() == [4.0, 5.0, 6.0]
        assert abs(float(quaternion @ quaternion) - 1.0) < 1e-12
    reads[0][0][:] = 9.0
    assert box.get_linear_velocity().tolist() == [1.0, 2.0, 3.0]

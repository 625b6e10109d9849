"""Snapshots of single bodies, and clones."""

import numpy as np
import pytest

from raisim_ros import (
    BodyType,
    CompoundChild,
    GyroscopicMode,
    InvalidValueError,
    ObjectRemovedError,
    ShapeType,
    World,
    WrongTypeError,
)

ADDERS = {
    "sphere": lambda world: world.add_sphere(0.1, 2.0),
    "box": lambda world: world.add_box(0.1, 0.2, 0.3, 2.0),
    "cylinder": lambda world: world.add_cylinder(0.1, 0.3, 2.0),
    "cone": lambda world: world.add_cone(0.1, 0.3, 2.0),
    "capsule": lambda world: world.add_capsule(0.1, 0.3, 2.0),
}


def dress(world: World, body) -> None:
    """Every property that a copy could forget."""
    body.set_pose((1.0, 2.0, 3.0), (0.5, 0.5, -0.5, 0.5))
    body.set_velocity((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    body.set_mass(3.0)
    body.set_com((0.01, 0.02, 0.03))
    body.set_inertia([[0.4, 0.05, -0.02], [0.05, 0.5, 0.03], [-0.02, 0.03, 0.6]])
    body.set_linear_damping(0.2)
    body.set_angular_damping((0.1, 0.2, 0.3))
    body.set_gyroscopic_mode(GyroscopicMode.IMPLICIT_BODY)
    body.set_appearance("red")
    world.set_object_collision_filter(body, 2, 4)
    world.set_object_material(body, "steel")


@pytest.mark.parametrize("shape", ADDERS)
def test_a_clone_moves_like_its_source(shape):
    world = World()
    source = ADDERS[shape](world)
    dress(world, source)
    clone = world.clone_single_body_object(source, "copy")
    assert type(clone) is type(source)
    assert clone.get_id() != source.get_id()
    assert (clone.get_name(), clone.get_appearance()) == ("copy", "red")
    assert world.get_object("copy") is clone
    assert (clone.get_collision_group(), clone.get_collision_mask()) == (2, 4)
    assert world.get_object_material(clone) == "steel"
    assert clone.get_collision_body_list()[0].material == "steel"
    assert clone.get_gyroscopic_mode() == GyroscopicMode.IMPLICIT_BODY
    assert clone.get_inertia_matrix_b() == pytest.approx(source.get_inertia_matrix_b(), abs=0)
    world.integrate(100)
    for read in ("get_position", "get_quaternion", "get_linear_velocity", "get_angular_velocity"):
        assert (getattr(clone, read)() == getattr(source, read)()).all()


@pytest.mark.parametrize("body_type", list(BodyType))
def test_clones_keep_the_body_type(body_type):
    world = World()
    source = world.add_box(0.1, 0.2, 0.3, 2.0)
    source.set_body_type(body_type)
    assert world.clone_single_body_object(source).get_body_type() == body_type


def test_what_cannot_be_cloned_gives_none():
    world = World()
    for source in (
        world.add_ground(),
        world.add_compound([CompoundChild(ShapeType.SPHERE, (0.1,))], 1.0),
        world.add_height_map(2, 2, 1.0, 1.0, 0.0, 0.0, [0.0] * 4),
    ):
        count = len(world.get_obj_list())
        assert world.clone_single_body_object(source) is None
        assert len(world.get_obj_list()) == count


@pytest.mark.parametrize("by_id", [False, True])
def test_a_snapshot_brings_state_type_and_collision_properties_back(by_id):
    world = World()
    body = world.add_box(0.1, 0.2, 0.3, 2.0)
    dress(world, body)
    snapshot = world.capture_single_body_snapshot(body)
    world.integrate(50)
    body.set_body_type(BodyType.STATIC)
    world.set_object_collision_filter(body, 8, 8)
    world.set_object_material(body, "wood")
    assert world.restore_single_body_snapshot(body.get_id() if by_id else body, snapshot)
    assert body.get_position() == pytest.approx([1.0, 2.0, 3.0], abs=0)
    assert body.get_quaternion() == pytest.approx([0.5, 0.5, -0.5, 0.5], abs=0)
    assert body.get_linear_velocity() == pytest.approx([0.1, 0.2, 0.3], abs=0)
    assert body.get_angular_velocity() == pytest.approx([0.4, 0.5, 0.6], abs=0)
    assert body.get_body_type() == BodyType.DYNAMIC
    assert (body.get_collision_group(), body.get_collision_mask()) == (2, 4)
    assert world.get_object_material(body) == "steel"


def test_a_snapshot_can_leave_the_collision_properties_alone():
    world = World()
    body = world.add_box(0.1, 0.2, 0.3, 2.0)
    snapshot = world.capture_single_body_snapshot(body)
    body.set_position(5.0, 0.0, 0.0)
    world.set_object_collision_filter(body, 8, 16)
    world.set_object_material(body, "wood")
    assert world.restore_single_body_snapshot(body, snapshot, False)
    assert body.get_position() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert (body.get_collision_group(), body.get_collision_mask()) == (8, 16)
    assert world.get_object_material(body) == "wood"


def test_a_snapshot_is_a_copy():
    world = World()
    body = world.add_sphere(0.1, 1.0)
    snapshot = world.capture_single_body_snapshot(body)
    body.set_position(1.0, 2.0, 3.0)
    assert (snapshot.position == np.zeros(3)).all()


def test_a_compound_keeps_the_materials_of_its_children():
    world = World()
    children = [
        CompoundChild(ShapeType.SPHERE, (0.1,), (0.0, 0.3, 0.0), material="ice"),
        CompoundChild(ShapeType.SPHERE, (0.1,), (0.0, -0.3, 0.0), material="rubber"),
    ]
    body = world.add_compound(children, 2.0)
    assert world.restore_single_body_snapshot(body, world.capture_single_body_snapshot(body))
    assert [part.material for part in body.get_collision_body_list()] == ["ice", "rubber"]
    world.add_ground()
    world.set_material_pair_prop("default", "ice", 0.0, 0.0, 0.0)
    body.set_position(0.0, 0.0, 0.1)
    world.integrate()
    assert sorted(round(float(mu), 9) for mu in world.read_contacts()["friction"]) == [0.0, 0.8]


def test_unknown_objects():
    world, other = World(), World()
    body, foreign = world.add_sphere(0.1, 1.0), other.add_sphere(0.1, 1.0)
    snapshot = world.capture_single_body_snapshot(body)
    assert world.restore_single_body_snapshot(12345, snapshot) is False
    assert world.restore_single_body_snapshot(None, snapshot) is False
    for call in (
        world.capture_single_body_snapshot,
        world.clone_single_body_object,
        lambda obj: world.restore_single_body_snapshot(obj, snapshot),
    ):
        with pytest.raises(InvalidValueError, match="another world"):
            call(foreign)
    world.remove_object(body)
    with pytest.raises(ObjectRemovedError):
        world.clone_single_body_object(body)
    with pytest.raises(WrongTypeError):
        world.clone_single_body_object("body")

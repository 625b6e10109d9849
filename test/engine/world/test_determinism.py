"""The same world gives the same bits: run twice, restored, and changed on the way."""

import numpy as np
import pytest
import trimesh
from shared_scenes import busy_world

from raisim_ros import (
    BodyType,
    InvalidValueError,
    MaterialManager,
    MeshCollisionMode,
    ObjectRemovedError,
    World,
    WrongStateError,
)
from raisim_ros.description.resources import resource


def hashes(world: World, steps: int) -> list[int]:
    result = []
    for _ in range(steps):
        world.integrate()
        result.append(world.get_state_hash())
    return result


def meddle(world: World, steps: int) -> list[int]:
    """Objects come, go and change on the way."""
    result = []
    for step in range(steps):
        if step % 20 == 5:
            ball = world.add_sphere(0.05, 0.3)
            ball.set_position(0.1, 0.0, 2.0)
        if step % 50 == 30:
            world.remove_object(world.get_obj_list()[3])
        if step == 40:
            world.set_gravity((0.5, 0.0, -9.0))
        result += hashes(world, 1)
    return result


def test_a_snapshot_brings_back_what_handles_tell():
    world = World()
    terrain = world.add_height_map(3, 3, 4.0, 4.0, 0.0, 0.0, np.zeros(9))
    robot = world.add_articulated_system(resource("robots/arm.urdf"))
    shape = next(one for one in robot.get_collision_bodies() if len(one.dim))
    snapshot = world.save_snapshot()
    terrain.update(1.0, 0.0, 2.0, 2.0, np.full(9, 0.7))
    terrain.set_color("red")
    terrain.set_appearance("blue")
    robot.set_collision_body_shape_parameters(shape.name, 0.5 * shape.dim)
    world.restore_snapshot(snapshot)
    assert terrain.get_height(0.3, 0.2) == 0.0
    assert (terrain.get_x_size(), terrain.get_color(), terrain.get_appearance()) == (4.0, "", "")
    np.testing.assert_array_equal(robot.get_collision_body(shape.name).dim, shape.dim)


def test_two_worlds_built_alike_run_alike():
    first, second = busy_world(), busy_world()
    assert hashes(first, 300) == hashes(second, 300)
    assert (first.read_states().poses == second.read_states().poses).all()


def test_the_hash_tells_worlds_apart():
    first, second = busy_world(), busy_world()
    body = second.get_obj_list()[5]
    body.set_position(body.get_position() + np.array([1e-15, 0.0, 1e-12]))
    assert first.get_state_hash() != second.get_state_hash()


def test_many_steps_in_one_call_are_single_steps():
    first, second = busy_world(), busy_world()
    first.integrate(200)
    assert hashes(second, 200)[-1] == first.get_state_hash()


def test_two_worlds_stepped_in_turn_do_not_disturb_each_other():
    alone = hashes(busy_world(), 100)
    first, second = busy_world(), busy_world()
    mixed = []
    for _ in range(100):
        mixed += hashes(first, 1)
        hashes(second, 2)
    assert mixed == alone


@pytest.mark.parametrize("when", [0, 37, 80, 400])
def test_a_restored_world_continues_to_the_same_bits(when):
    """Before the fall, in it, in the heap, and when most have fallen asleep."""
    world = busy_world()
    world.integrate(when)
    snapshot = world.save_snapshot()
    before = world.get_state_hash()
    first = hashes(world, 150)
    world.restore_snapshot(snapshot)
    assert world.get_state_hash() == before
    assert hashes(world, 150) == first


def test_a_snapshot_can_be_restored_again_and_again():
    world = busy_world()
    world.integrate(60)
    snapshot = world.save_snapshot()
    runs = []
    for _ in range(3):
        world.restore_snapshot(snapshot)
        runs.append(hashes(world, 50))
    assert runs[0] == runs[1] == runs[2]


def test_objects_added_and_removed_after_a_restore_in_the_same_order_give_the_same_bits():
    world = busy_world()
    world.integrate(50)
    snapshot = world.save_snapshot()
    first = meddle(world, 120)
    world.restore_snapshot(snapshot)
    assert meddle(world, 120) == first


def test_objects_added_and_removed_alike_give_the_same_bits():
    assert meddle(busy_world(), 120) == meddle(busy_world(), 120)


def test_restore_brings_back_objects_names_settings_and_time():
    world = busy_world()
    box = world.add_box(0.1, 0.1, 0.1, 1.0)
    box.set_name("crate")
    box.set_appearance("red")
    world.integrate(10)
    snapshot = world.save_snapshot()
    count, time, step = len(world.get_obj_list()), world.get_world_time(), world.get_step_count()

    world.remove_object(box)
    added = world.add_sphere(0.1, 1.0)
    added.set_name("ball")
    world.set_gravity((0.0, 0.0, 1.0))
    world.set_time_step(0.01)
    world.set_erp(0.3)
    world.set_sleeping_enabled(False)
    world.update_material_prop(MaterialManager())
    world.integrate(10)
    with pytest.raises(ObjectRemovedError):
        box.get_position()

    world.restore_snapshot(snapshot)
    assert len(world.get_obj_list()) == count
    assert (world.get_world_time(), world.get_step_count()) == (time, step)
    assert world.get_object("crate") is box
    assert box.get_appearance() == "red"
    assert world.get_object("ball") is None
    assert world.get_gravity() == pytest.approx([0.0, 0.0, -9.81], abs=0)
    assert world.get_time_step() == 0.005
    assert world.is_sleeping_enabled()
    box.get_position()
    with pytest.raises(ObjectRemovedError):
        added.get_position()


def test_ids_are_not_reused_after_a_restore():
    world = World()
    world.add_ground()
    snapshot = world.save_snapshot()
    first = world.add_sphere(0.1, 1.0).get_id()
    world.restore_snapshot(snapshot)
    second = world.add_sphere(0.1, 1.0)
    assert second.get_id() != first
    assert not world.is_object_alive(first)
    assert world.is_object_alive(second.get_id())


def test_a_snapshot_belongs_to_worlds_of_its_make_and_to_whole_steps():
    world = busy_world()
    with pytest.raises(InvalidValueError, match=r"the snapshot has \d+ objects and \d+ wires, the world 0 and 0"):
        World().restore_snapshot(world.save_snapshot())
    world.integrate1()
    with pytest.raises(WrongStateError, match="integrate1"):
        world.save_snapshot()
    world.integrate2()
    world.save_snapshot()


def test_a_snapshot_survives_changes_of_body_types_masses_and_filters():
    world = busy_world()
    body = world.get_obj_list()[3]
    body.set_mass(3.0)
    body.set_linear_damping(0.5)
    body.set_command_wrench((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    world.integrate(20)
    snapshot = world.save_snapshot()
    first = hashes(world, 60)
    body.set_body_type(BodyType.STATIC)
    body.set_mass(30.0)
    body.set_linear_damping(0.0)
    body.clear_command()
    world.set_object_collision_filter(body, 4, 4)
    world.set_object_material(body, "steel")
    world.restore_snapshot(snapshot)
    assert body.get_mass() == 3.0
    assert body.get_body_type() == BodyType.DYNAMIC
    assert body.get_collision_group() == 1
    assert hashes(world, 60) == first


def test_a_fixed_iteration_order_is_deterministic_and_differs_from_the_flipping_one():
    runs = []
    for order in (True, True, False):
        world = busy_world()
        world.set_contact_solver_iteration_order(order)
        runs.append(hashes(world, 150))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def heap_of_hulls(tmp_path) -> World:
    """Hulls of random points and finely meshed discs that fall on the ground and on each other."""
    world = World()
    world.add_ground()
    random = np.random.default_rng(11)
    for k in range(8):
        file = tmp_path / f"rock{k}.obj"
        solid = trimesh.creation.cylinder(0.2, 0.1, sections=90) if k % 2 else trimesh.convex.convex_hull(random.normal(size=(60, 3)) * 0.1)
        solid.export(file)
        rock = world.add_mesh(file, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)
        rock.set_pose((*random.uniform(-0.2, 0.2, 2), 0.5 + 0.3 * k), random.normal(size=4))
    return world


def test_hulls_continue_to_the_same_bits_after_a_restore(tmp_path):
    world = heap_of_hulls(tmp_path)
    world.integrate(120)
    snapshot = world.save_snapshot()
    expected = hashes(world, 300)
    world.integrate(77)
    world.restore_snapshot(snapshot)
    assert hashes(world, 300) == expected


def test_a_robot_of_hulls_that_is_put_back_starts_afresh(tmp_path):
    """Nothing that was learnt of a pair of shapes outlives a robot that is placed anew."""
    trimesh.creation.cylinder(0.2, 0.1, sections=90).export(tmp_path / "disc.obj")
    shape = '<collision><geometry><mesh filename="disc.obj"/></geometry></collision>'
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial>{shape}</link>'
        for name in ("base", "middle", "end"))
    joints = "".join(
        f'<joint name="{child}" type="revolute"><origin xyz="0.45 0 0"/><axis xyz="0 1 0"/><parent link="{parent}"/>'
        f'<child link="{child}"/><limit lower="-3" upper="3" effort="1" velocity="100"/></joint>'
        for parent, child in (("base", "middle"), ("middle", "end")))
    world = World()
    world.add_ground()
    world.set_sleeping_enabled(False)
    robot = world.add_articulated_system(f'<robot name="discs">{links}{joints}</robot>', tmp_path)
    runs = []
    for _ in range(2):
        robot.set_state([0, 0, 0.7, 0.9, 0.3, 0.1, 0.2, 0.3, 1.9], np.zeros(8))
        world.set_world_time(0.0)
        runs.append(hashes(world, 400))
    assert runs[0] == runs[1]

"""A world is replaced as a whole, or not at all."""

import pytest

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.description.world_file import load_world_file
from raisim_ros.engine.world.world import World


def description(tmp_path, text):
    file = tmp_path / "world.xml"
    file.write_text(f"<raisim>{text}</raisim>")
    return load_world_file(file)


def changed_world():
    """A world none of whose settings is the default one."""
    world = World(resource("worlds/robots.xml"))
    world.set_gravity((0.0, 0.0, -1.0))
    world.set_time_step(0.001)
    world.set_default_material(0.1, 0.2, 0.3)
    world.set_erp(0.1, 0.1)
    world.integrate(10)
    return world


def test_the_new_world_is_the_one_that_a_fresh_load_gives(tmp_path):
    new = description(tmp_path, '<objects><sphere name="a" mass="1"><dim radius="0.1"/></sphere></objects>')
    world = changed_world()
    world.replace(new)
    fresh = World(tmp_path / "world.xml")
    assert [handle.get_name() for handle in world.get_obj_list()] == ["a"]
    assert world.get_gravity().tolist() == fresh.get_gravity().tolist()
    assert world.get_time_step() == fresh.get_time_step()
    assert world.get_material_manager() == fresh.get_material_manager()
    assert world.get_world_time() == 0.0
    world.integrate(100)
    fresh.integrate(100)
    assert world.get_object("a").get_position().tolist() == fresh.get_object("a").get_position().tolist()


def test_a_failure_on_the_way_leaves_the_old_world(tmp_path):
    sphere = '<sphere name="a" mass="1"><dim radius="0.1"/></sphere>'
    broken = description(tmp_path, f'<objects>{sphere}<mesh name="m" mass="1" file_name="nowhere.obj"/></objects>')
    world, twin = changed_world(), changed_world()
    names = [handle.get_name() for handle in world.get_obj_list()]
    with pytest.raises(RaisimError):
        world.replace(broken)
    assert [handle.get_name() for handle in world.get_obj_list()] == names
    assert world.get_time_step() == 0.001
    world.integrate(50)
    twin.integrate(50)
    assert world.get_state_hash() == twin.get_state_hash()

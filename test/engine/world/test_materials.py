"""Material pairs: symmetric, default for unknown pairs, replaced as a whole."""

import math

import pytest

from raisim_ros import (
    CompoundChild,
    FileMissingError,
    InvalidValueError,
    MaterialManager,
    MaterialPairProperties,
    ParseError,
    ShapeType,
    World,
)

BAD = [-0.1, math.nan, math.inf, "much", None]


def test_materials_of_a_file_replace_all(tmp_path):
    world = World()
    world.set_material_pair_prop("old", "old", 0.1, 0.0, 0.0)
    file = tmp_path / "materials.xml"
    file.write_text(
        '<raisim><material><default friction="0.3"/>'
        '<pair_prop name1="steel" name2="ice" friction="0.02" restitution="0.7" restitution_threshold="0.1"/>'
        "</material></raisim>"
    )
    world.update_material_prop(file)
    assert world.get_material_pair_properties("ice", "steel").restitution == 0.7
    assert world.get_material_pair_properties("old", "old").friction == 0.3
    file.write_text("<raisim/>")
    with pytest.raises(ParseError, match="<material> is missing"):
        world.update_material_prop(str(file))
    with pytest.raises(FileMissingError):
        world.update_material_prop(tmp_path / "none.xml")
    assert world.get_material_pair_properties("ice", "steel").friction == 0.02


def test_defaults():
    default = World().get_material_pair_properties("anything", "else")
    assert (default.friction, default.restitution, default.restitution_threshold) == (0.8, 0.0, 0.0)


def test_pairs_are_symmetric_and_others_fall_back_to_the_default():
    world = World()
    world.set_material_pair_prop("steel", "rubber", 0.9, 0.3, 0.1, 1.1, 0.05)
    expected = MaterialPairProperties(0.9, 0.3, 0.1, 1.1, 0.05)
    assert world.get_material_pair_properties("steel", "rubber") == expected
    assert world.get_material_pair_properties("rubber", "steel") == expected
    assert world.get_material_pair_properties("steel", "steel").friction == 0.8
    world.set_default_material(0.2, 0.0, 0.0)
    assert world.get_material_pair_properties("steel", "steel").friction == 0.2
    assert world.get_material_pair_properties("rubber", "steel") == expected
    world.set_material_pair_prop("rubber", "steel", 0.5, 0.0, 0.0)
    assert world.get_material_pair_properties("steel", "rubber").friction == 0.5


def test_many_pairs_keep_their_own_values():
    world = World()
    names = [f"material {k}" for k in range(12)]
    for i, first in enumerate(names):
        for k, second in enumerate(names[i:]):
            world.set_material_pair_prop(second, first, 0.01 * (100 * i + k), 0.0, 0.0)
    for i, first in enumerate(names):
        for k, second in enumerate(names[i:]):
            assert world.get_material_pair_properties(first, second).friction == 0.01 * (100 * i + k)


def test_static_friction_defaults_to_the_kinetic_one():
    world = World()
    world.set_material_pair_prop("a", "b", 0.4, 0.0, 0.0)
    assert world.get_material_pair_properties("a", "b").static_friction == 0.4


def test_a_manager_replaces_everything():
    world = World()
    world.set_material_pair_prop("old", "old", 0.1, 0.0, 0.0)
    manager = MaterialManager(MaterialPairProperties(0.3, 0.2, 0.1))
    manager.set_material_pair_prop("a", "b", MaterialPairProperties(0.7))
    world.update_material_prop(manager)
    assert world.get_material_pair_properties("old", "old").friction == 0.3
    assert world.get_material_pair_properties("b", "a").friction == 0.7


def test_a_wrong_manager_changes_nothing():
    world = World()
    world.set_material_pair_prop("old", "old", 0.1, 0.0, 0.0)
    manager = MaterialManager()
    manager.set_material_pair_prop("a", "b", MaterialPairProperties(-1.0))
    with pytest.raises(InvalidValueError, match="friction"):
        world.update_material_prop(manager)
    assert world.get_material_pair_properties("old", "old").friction == 0.1


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("bad", BAD)
def test_numbers_out_of_range_are_refused_by_name(place, bad):
    if place == 3 and bad is None:
        pytest.skip("None means the kinetic friction")
    names = ["friction", "restitution", "restitution threshold", "static friction", "velocity threshold"]
    values = [0.5, 0.5, 0.5, 0.5, 0.5]
    values[place] = bad
    world = World()
    with pytest.raises(InvalidValueError, match=names[place]):
        world.set_material_pair_prop("a", "b", *values)
    with pytest.raises(InvalidValueError, match=names[place]):
        world.set_default_material(*values)
    assert world.get_material_pair_properties("a", "b").friction == 0.8


def test_restitution_above_one_is_refused():
    with pytest.raises(InvalidValueError, match=r"restitution is 1\.5"):
        World().set_default_material(0.5, 1.5, 0.0)


@pytest.mark.parametrize("name", [3, None, "x" * 100])
def test_wrong_names_are_refused(name):
    world = World()
    with pytest.raises(InvalidValueError, match="material"):
        world.add_sphere(0.1, 1.0, name)
    with pytest.raises(InvalidValueError, match="material"):
        world.set_material_pair_prop("steel", name, 0.5, 0.0, 0.0)
    assert world.get_obj_list() == []


def test_the_material_of_an_object_can_change():
    world = World()
    world.set_sleeping_enabled(False)
    world.add_ground()
    world.set_material_pair_prop("default", "ice", 0.0, 0.0, 0.0)
    box = world.add_box(0.4, 0.4, 0.1, 1.0)
    box.set_position(0.0, 0.0, 0.05)
    box.set_linear_velocity((2.0, 0.0, 0.0))
    assert world.set_object_material(box, "ice")
    assert world.get_object_material(box) == "ice"
    assert box.get_collision_body_list()[0].material == "ice"
    world.integrate(100)
    assert box.get_linear_velocity()[0] == pytest.approx(2.0, abs=1e-9)


def test_each_child_of_a_compound_has_its_material():
    """A sledge with one rubber and one ice runner turns towards the rubber one."""
    world = World()
    world.add_ground()
    world.set_material_pair_prop("default", "ice", 0.0, 0.0, 0.0)
    children = [
        CompoundChild(ShapeType.BOX, (0.6, 0.05, 0.1), (0.0, 0.3, 0.0), material="ice"),
        CompoundChild(ShapeType.BOX, (0.6, 0.05, 0.1), (0.0, -0.3, 0.0), material="rubber"),
    ]
    sledge = world.add_compound(children, 2.0)
    sledge.set_position(0.0, 0.0, 0.05)
    sledge.set_linear_velocity((2.0, 0.0, 0.0))
    world.integrate(20)
    assert sledge.get_angular_velocity()[2] < -0.5
    assert {round(float(mu), 9) for mu in world.read_contacts()["friction"]} == {0.0, 0.8}


def test_many_pairs_cost_no_time_and_survive_storing(tmp_path):
    """Names were looked for one after the other: 60,000 pairs took 17 s. In whatever order pairs are given."""
    manager = MaterialManager()
    for k in reversed(range(1000)):
        manager.set_material_pair_prop(f"a{k % 40}", f"b{k // 40}", MaterialPairProperties(0.001 * k, 0.0, 0.0))
    world = World()
    world.update_material_prop(manager)
    world.save(tmp_path / "world.rsw")
    for there in (world, World.from_saved(tmp_path / "world.rsw")):
        for k in range(1000):
            assert there.get_material_pair_properties(f"b{k // 40}", f"a{k % 40}").friction == 0.001 * k
        assert len(there.get_material_manager().pairs) == 1000

"""Names with any characters come back from files as they were."""

import numpy as np
import pytest

from raisim_ros import Child, Collision, Geometry, Joint, Link, SensorSetModel, World
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.sensor.types import ImuModel
from raisim_ros.description.xml.literal_text import escaped, unescaped

NAMES = [
    "{", "}", "{1+1}", "{{", "@@", "@@n", "[THIS_DIR]", "[THIS_DIR]/a", "${x}", "\x07", "\x00", "\x1b[31m", "a\nb\tc\r", " a ", "  ",
    "\x85", "\u2028", "\ufffe", "\\", "\\u000041", "a\\b", "<&>\"'", "é漢🤖", "a,b c", "true", "-->", "]]>",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_escapes_are_undone(name):
    assert unescaped(escaped(name)) == name
    assert unescaped(escaped(name, in_list=True)) == name


def saved_and_loaded(world, tmp_path):
    world.export_to_xml(tmp_path / "world.xml")
    return World(tmp_path / "world.xml")


def test_names_of_objects_wires_and_materials(tmp_path):
    world = World()
    for name in NAMES:
        material = "default" if "\0" in name else name
        box = world.add_box(1, 1, 1, 1, material)
        box.set_name(name)
        box.set_appearance(name)
        world.set_material_pair_prop("steel", material, 0.5, 0.1, 0.2)
    first, second = world.get_obj_list()[:2]
    for name in NAMES:
        world.add_stiff_wire(first, 0, (0, 0, 0), second, 0, (0, 0, 0), 5.0).set_name(name)
    again = saved_and_loaded(world, tmp_path)
    assert [box.get_name() for box in again.get_obj_list()] == NAMES
    assert [box.get_appearance() for box in again.get_obj_list()] == NAMES
    assert [wire.get_name() for wire in again.get_wires()] == NAMES
    pairs = [{frozenset(names) for names in one.get_material_manager().pairs} for one in (world, again)]
    assert pairs[0] == pairs[1]
    assert [again.get_object_material(box) for box in again.get_obj_list()] == [
        world.get_object_material(box) for box in world.get_obj_list()
    ]


def test_names_of_links_joints_and_their_materials(tmp_path):
    child = None
    for name in reversed(NAMES):
        ball = Collision(Geometry("sphere", (0.1,)), material="default" if "\0" in name else name)
        link = Link(f"link {name}", 1.0, inertia=np.eye(3), collisions=[ball])
        child = Child(link, Joint(name, "revolute", lower=-1.0, upper=1.0), [child] if child else [])
    world = World()
    world.add_articulated_system(Child(Link("world"), children=[child], name="{robot}")).ignore_collision_between(1, 3)
    again = saved_and_loaded(world, tmp_path)
    before, after = world.get_object(0), again.get_object(0)
    assert after.get_movable_joint_names() == before.get_movable_joint_names() == NAMES
    assert after.get_body_names() == before.get_body_names()
    assert [body.material for body in after.get_collision_bodies()] == [
        body.material for body in before.get_collision_bodies()
    ]
    assert not after.may_collide(1, 3)
    assert after.get_kinematic_tree().name == "{robot}"


def test_names_of_sensors(tmp_path):
    world = World()
    for name in NAMES:
        body = world.add_sphere(1, 1)
        sensors = world.add_sensor_set(body, SensorSetModel(name="set " + name, sensors=(ImuModel(name=f"x{name}y", update_rate=10.0),)))
        sensors.set_serial_number(name)
    again = saved_and_loaded(world, tmp_path)
    found = [(one.get_name(), one.get_serial_number(), [sensor.get_name() for sensor in one]) for one in again.get_sensor_sets()]
    assert found == [("set " + name, name, [f"x{name}y"]) for name in NAMES]


def test_plain_worlds_stay_templates(tmp_path):
    world = World()
    world.add_sphere(1, 1).set_name("ball")
    world.export_to_xml(tmp_path / "world.xml")
    assert "literal" not in (tmp_path / "world.xml").read_text()


@pytest.mark.parametrize("name", ["\ud800", "a\udfff"])
def test_halves_of_surrogate_pairs_are_refused(name):
    world = World()
    box = world.add_box(1, 1, 1, 1)
    for call in (box.set_name, box.set_appearance, lambda name: world.add_box(1, 1, 1, 1, name), lambda name: world.clone_object(box, name)):
        with pytest.raises(InvalidValueError, match="not Unicode"):
            call(name)
    assert world.get_obj_list() == [box]

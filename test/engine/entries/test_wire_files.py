"""Wires of world files: read, refused, written."""

from pathlib import Path

import numpy as np
import pytest
from wire_scenes import ORIGIN, G, ball, energy

from raisim_ros import ParseError, Wire, WireType, World

RSC = Path(__file__).parents[3] / "rsc" / "worlds"


def told(wire):
    """Everything that a wire tells about itself."""
    getters = (name for name in dir(Wire) if name.startswith("get_") and name not in ("get_id", "get_body1", "get_body2"))
    values = {name: getattr(wire, name)() for name in getters}
    values.pop("get_tension" if wire.get_wire_type() == WireType.STIFF else "", None)  # that of a step
    return {name: list(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}


def test_the_cradle_of_a_file_passes_the_momentum_through():
    world = World(RSC / "newtons_cradle.xml")
    balls = [world.get_object(f"ball_{k}") for k in range(5)]
    held = world.get_object("held").get_position()
    before = energy(*balls)
    world.integrate(1000)  # after the first pass
    speeds = [ball.get_linear_velocity()[0] for ball in balls]
    assert energy(*balls) == pytest.approx(before, rel=1e-3)
    assert speeds[4] > 1.5
    assert np.abs(speeds[:4]).max() < 0.01 * speeds[4]
    assert world.get_object("held").get_position() == pytest.approx(held, abs=1e-9)
    assert {wire.get_wire_type() for wire in world.get_wires()} == set(WireType)


def test_the_ropes_of_the_crane_carry_the_load():
    world = World(RSC / "crane.xml")
    ropes = [wire for wire in world.get_wires() if wire.get_name().startswith("rope")]
    masses = sum(world.get_object(name).get_mass() for name in ("load", "counterweight"))
    upward = []
    for _ in range(4000):  # 8 s: several swings
        world.integrate()
        upward.append(sum(-rope.get_tension() * rope.get_norm()[2] for rope in ropes))
        assert max(rope.get_stretch() for rope in ropes) < 1e-4
    assert np.mean(upward) == pytest.approx(masses * G, rel=0.01)
    assert world.get_object("load").get_position()[0] == pytest.approx(-3 + 0.4 * 8.0, abs=0.3)


@pytest.mark.parametrize("name", ["newtons_cradle", "crane"])
def test_exported_wires_are_the_same(name, tmp_path):
    world = World(RSC / f"{name}.xml")
    world.get_wires()[0].get_body2().set_name("")  # then it is told by its place
    world.integrate(300)
    world.export_to_xml(tmp_path / "out.xml")
    again = World(tmp_path / "out.xml")
    assert [told(wire) for wire in again.get_wires()] == [told(wire) for wire in world.get_wires()]
    index = [(wire.get_body1().get_index_in_world(), wire.get_body2().get_index_in_world()) for wire in world.get_wires()]
    assert index == [
        (wire.get_body1().get_index_in_world(), wire.get_body2().get_index_in_world()) for wire in again.get_wires()
    ]


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ('<object1 name="a"/><object2 name="nobody"/>', "no object is named 'nobody'"),
        ('<object1 name="a"/><object2 name="a"/>', "same body"),
        ('<object1 name="a"/><object2 index="9"/>', "object index is 9"),
        ('<object1 name="a"/><object2 name="b" frame="tip"/>', "only articulated systems have frames"),
        ('<object1 name="a"/><object2 name="b" local_index="1"/>', "local index of end 2 is 1"),
    ],
)
def test_bad_wires_of_a_file_are_refused_with_their_line(tmp_path, ends, text):
    ball_text = '<sphere name="{}" mass="1"><dim radius="0.1"/></sphere>'
    file = tmp_path / "bad.xml"
    file.write_text(
        f'<raisim><objects>{ball_text.format("a")}{ball_text.format("b")}</objects>\n'
        f'<wire type="stiff" length="1">{ends}</wire></raisim>'
    )
    world = World()
    with pytest.raises(ParseError, match=rf"bad.xml:2.*<wire>.*{text}"):
        world.load(file)
    assert world.get_obj_list() == []
    assert world.get_wires() == []


def test_a_file_may_tie_to_what_is_in_the_world_already(tmp_path):
    world = World()
    ball(world, ORIGIN).set_name("a")
    ball(world, (1.0, 0.0, 0.0)).set_name("b")
    file = tmp_path / "wire.xml"
    file.write_text(
        '<raisim><wire name="w" type="stiff" length="1"><object1 name="a"/><object2 name="b"/></wire></raisim>'
    )
    world.load(file)
    assert world.get_wire("w").get_distance() == 1.0

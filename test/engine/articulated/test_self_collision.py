"""Which links of a robot collide with each other: auto, all, none, SRDF; and what cannot move at all."""

import warnings

import numpy as np
import pytest

from raisim_ros import ArticulatedSystemOption, BodyType, InvalidValueError, World


def link(name, size=0.2, x=0.0, shape=None):
    shape = shape or f'<box size="{size} {size} {size}"/>'
    return (f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial><collision><origin xyz="{x} 0 0"/><geometry>{shape}</geometry></collision></link>')


def slide(name, parent, child, x=0.0, lower=-5.0, upper=5.0, axis="1 0 0"):
    return (f'<joint name="{name}" type="prismatic"><origin xyz="{x} 0 0"/><axis xyz="{axis}"/><parent link="{parent}"/>'
            f'<child link="{child}"/><limit lower="{lower}" upper="{upper}" effort="1e3" velocity="1e3"/></joint>')


# base – middle – near: near overlaps base by 0.1 m; far is clear of all; low's zero lies below its limits, where it would
# overlap base.
ROBOT = ('<robot name="slides">' + link("base") + link("middle", 0.01, 3.0) + link("near") + link("far") + link("low")
         + slide("a", "base", "middle") + slide("b", "middle", "near", 0.1) + slide("c", "middle", "far", 1.0)
         + slide("d", "middle", "low", 0.0, 2.0, 4.0) + "</robot>")


def add(option=None, world=None, text=ROBOT):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (world or World()).add_articulated_system(text, options=option)


def colliding(robot):
    names = robot.get_body_names()
    return {(names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names)) if robot.may_collide(i, j)}


def test_auto_leaves_out_neighbours_and_what_overlaps_in_the_reference_configuration():
    robot = add()
    assert colliding(robot) == {("base", "far"), ("base", "low"), ("near", "far"), ("near", "low"), ("far", "low")}
    assert set(robot.get_ignored_collision_pairs()) == {
        ("base", "middle"), ("middle", "near"), ("middle", "far"), ("middle", "low"), ("base", "near"),
    }


def test_what_is_left_out_is_told_once_with_the_depth():
    world = World()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            world.add_articulated_system(ROBOT)
    (warning,) = told
    assert "robot 'slides': links that overlap in the reference configuration are left out" in str(warning.message)
    assert "base and near (100 mm)" in str(warning.message)


def test_the_other_choices():
    everything = add(ArticulatedSystemOption(self_collision="all"))
    assert ("base", "near") in colliding(everything)
    assert ("base", "middle") not in colliding(everything)
    assert colliding(add(ArticulatedSystemOption(self_collision="none"))) == set()
    # Neighbours that were asked for stay, even where they overlap.
    text = ROBOT.replace('xyz="3.0 0 0"', 'xyz="0.0 0 0"')
    neighbours = add(ArticulatedSystemOption(do_not_collide_with_parent=False), text=text)
    assert ("base", "middle") in colliding(neighbours)
    assert ("base", "near") not in colliding(neighbours)


@pytest.mark.parametrize("name", ["self_collision", "collision_meshes"])
def test_an_unknown_choice_is_refused(name):
    with pytest.raises(InvalidValueError, match=f"{name} is 'some'; expected one of"):
        ArticulatedSystemOption(**{name: "some"})


def test_pairs_of_an_srdf_are_left_out_and_those_it_enables_stay(tmp_path):
    srdf = tmp_path / "robot.srdf"
    srdf.write_text('<robot name="slides"><group name="arm"/>'
                    '<disable_collisions link1="far" link2="low" reason="Never"/>'
                    '<disable_collisions link1="base" link2="gone" reason="Never"/>'
                    '<enable_collisions link1="base" link2="near"/></robot>')
    world = World()
    with pytest.warns(RuntimeWarning, match="has no link gone, which its SRDF names"):
        robot = world.add_articulated_system(ROBOT, options=ArticulatedSystemOption(srdf=srdf))
    assert ("far", "low") not in colliding(robot)
    assert ("base", "near") in colliding(robot)


def test_a_wrong_srdf_leaves_the_world_as_it_was(tmp_path):
    world = World()
    before = world.get_state_hash()
    srdf = tmp_path / "robot.srdf"
    srdf.write_text('<robot name="slides">\n<disable_collisions link1="far"/></robot>')
    with pytest.raises(Exception, match=r"robot\.srdf:2: <disable_collisions> has no attribute 'link2'"):
        add(ArticulatedSystemOption(srdf=srdf), world)
    assert world.get_obj_list() == []
    assert world.get_state_hash() == before


def test_an_exported_world_has_the_same_pairs(tmp_path):
    world = World()
    robot = add(world=world)
    robot.ignore_collision_between(robot.get_body_idx("near"), robot.get_body_idx("far"))
    world.export_to_xml(tmp_path / "world.xml")
    again = World(tmp_path / "world.xml").get_obj_list()[0]
    assert colliding(again) == colliding(robot)


def test_a_world_file_has_the_same_choices(tmp_path):
    (tmp_path / "robot.urdf").write_text(ROBOT)
    (tmp_path / "robot.srdf").write_text('<robot name="slides"><disable_default_collisions link="far"/></robot>')
    (tmp_path / "world.xml").write_text(
        '<raisim version="1.0"><objects>'
        '<articulated_system name="a" urdf_path="robot.urdf" self_collision="none" collision_meshes="original"/>'
        '<articulated_system name="b" urdf_path="robot.urdf" self_collision="all" srdf="robot.srdf"/></objects></raisim>')
    none, some = World(tmp_path / "world.xml").get_obj_list()
    assert colliding(none) == set()
    assert none.get_options().mesh_mode == "original"
    assert colliding(some) == {("base", "near"), ("base", "low"), ("near", "low")}


def test_a_fixed_base_has_no_contacts_with_what_cannot_move_either():
    world = World()
    world.add_ground()
    robot = world.add_articulated_system(ROBOT, options=ArticulatedSystemOption(base="fixed", self_collision="none"))
    wall = world.add_box(0.3, 0.3, 0.3, 1.0)
    wall.set_body_type(BodyType.STATIC)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.3)
    world.set_gravity((0.0, 0.0, 0.0))
    world.integrate(2)
    assert not [c for c in robot.get_contacts() if c.get_local_body_index() == 0]
    ball.set_position(0.0, 0.0, 0.19)
    world.set_gravity((0.0, 0.0, -9.81))
    wall.set_position(0.0, 5.0, 0.0)
    world.integrate(20)
    touched = [c for c in robot.get_contacts() if c.get_local_body_index() == 0]
    assert touched  # the ball lies on the base
    assert ball.get_position()[2] == pytest.approx(0.2, abs=1e-3)
    assert np.isfinite(robot.get_generalized_coordinate()).all()


def test_a_pin_joins_neighbours_and_closed_loops_are_looked_at_where_they_are_closed():
    """At zero left and right lie 2 m apart; where the loop is closed they overlap, and base and right do not."""
    text = ('<robot name="loop">' + link("base") + link("left") + link("right") + slide("a", "base", "left", 1.0)
            + slide("b", "base", "right", -1.0) + '<constraints nominal_config="0 0 0 1 0 0 0 0 2">'
            '<pin body1="left" body2="right" anchor="0 0 0"/></constraints></robot>')  # fmt: skip
    assert colliding(add(text=text)) == set()
    assert colliding(add(ArticulatedSystemOption(self_collision="all"), text=text)) == set()
    keeps = ArticulatedSystemOption(self_collision="all", do_not_collide_with_parent=False)
    assert ("left", "right") in colliding(add(keeps, text=text))

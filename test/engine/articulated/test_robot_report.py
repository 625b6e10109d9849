"""World.check(): what about a robot may be a mistake, with the fix; a sound robot has nothing to report."""

import re

import numpy as np
import pytest
import trimesh
from robot_scenes import add_quadruped

from raisim_ros import ArticulatedSystemOption, World

BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'


def link(name, shape=BOX, moments=(0.1, 0.1, 0.1)):
    x, y, z = moments
    return f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="{x}" iyy="{y}" izz="{z}"/></inertial>{shape}</link>'


def joint(name, parent, child, kind="revolute", limit='<limit lower="-1" upper="1" effort="10" velocity="10"/>', x=1.0):
    return (f'<joint name="{name}" type="{kind}"><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><parent link="{parent}"/>'
            f'<child link="{child}"/>{limit}<dynamics damping="1"/></joint>')


def findings(text, res_path="", **options):
    world = World()
    world.add_articulated_system(text, res_path, options=ArticulatedSystemOption(**options))
    before = world.get_state_hash()
    found = {finding.kind: finding for finding in world.check()}
    assert world.get_state_hash() == before
    return found


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def test_a_sound_robot_has_no_findings():
    assert findings(robot(link("a"), link("b"), joint("j", "a", "b"))) == {}
    world = World()
    add_quadruped(world)
    assert world.check() == []


@pytest.mark.parametrize(
    ("text", "options", "kind", "message"),
    [
        (robot(link("a"), link("b", ""), link("c"), joint("j", "a", "b", x=0.1), joint("k", "b", "c", x=0.05)),
         {"self_collision": "all"}, "overlap", "overlap in the reference configuration: a and c by 50 mm"),
        (robot(link("a"), link("b", moments=(0.1, 0.1, 0.3)), joint("j", "a", "b")), {}, "inertia", r"that no solid has: b \(0.1, 0.1, 0.3\)"),
        (robot(link("a"), link("b"), joint("j", "a", "b", "prismatic", '<limit effort="1" velocity="1"/>')), {}, "limits",
         "sliding joints without limits: j"),
        (robot(link("a"), link("b"), joint("j", "a", "b", limit='<limit lower="-1" upper="1" effort="0" velocity="1"/>')), {}, "effort",
         "no motor moves them: j"),
        (robot(link("a"), link("b"), joint("j", "a", "b", limit='<limit lower="1" upper="2" effort="9" velocity="1"/>')), {}, "start",
         "joints beyond their limits: j at 0 of 1 to 2"),
        (robot(link("a"), link("b"), joint("j", "a", "b").replace("damping", "none")), {}, "gains",
         "neither gains nor damping, friction or spring: j"),
    ],
)
def test_each_finding_names_what_and_how_to_mend_it(text, options, kind, message):
    found = findings(text, **options)
    assert list(found) == [kind]
    assert found[kind].object_name == "r"
    assert re.search(message, found[kind].message)
    assert found[kind].fix
    assert str(found[kind]).startswith("r: ")


def test_heavy_meshes_are_found_only_where_their_triangles_collide(tmp_path):
    trimesh.creation.icosphere(4, 0.1).export(tmp_path / "ball.stl")
    mesh = '<collision><geometry><mesh filename="ball.stl"/></geometry></collision>'
    text = robot(link("a", mesh), link("b"), joint("j", "a", "b"))
    assert findings(text, tmp_path) == {}
    found = findings(text, tmp_path, collision_meshes="original")
    assert "a/0 (5120)" in found["mesh"].message


def test_what_was_changed_after_loading_counts():
    world = World()
    arm = world.add_articulated_system(robot(link("a"), link("b"), joint("j", "a", "b").replace("damping", "none")))
    assert [finding.kind for finding in world.check()] == ["gains"]
    arm.set_pd_gains(np.full(7, 10.0), np.full(7, 1.0))
    assert world.check() == []

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


MODEL = """<mujoco><worldbody>
<body name="a"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
  <body name="b" pos="0.5 0 0"><joint name="j" axis="0 0 1" range="-90 -10"/><geom type="box" size="0.1 0.1 0.1"/>
    <body name="c" pos="0 0.15 0"><joint name="k" axis="0 0 1"/><geom type="box" size="0.05 0.05 0.05"/>
      <body name="d" pos="0 0.1 0"><joint name="s" type="slide" axis="0 1 0" range="0 1"/><geom type="box" size="0.05 0.05 0.05"/></body>
    </body></body></body></worldbody>
  MORE<keyframe><key name="home" qpos="0 0 0 1 0 0 0 -0.5 0.5 0.2"/></keyframe></mujoco>"""


def test_models_of_mujoco_are_judged_where_their_first_state_puts_them():
    """At zero b and d overlap and a limit is passed: only what is so in the state, or now, is told."""
    world = World()
    world.add_articulated_system(MODEL.replace("MORE", '<actuator><motor joint="j"/><motor joint="s"/></actuator>'))
    found = {finding.kind: finding for finding in world.check()}
    assert set(found) == {"start", "gains"}
    assert "set_state('home')" in found["start"].fix
    assert found["gains"].message.endswith(": k")
    text = MODEL.replace('MORE', '').replace("0.5 0.2", "0.5 0.0").replace('size="0.05 0.05 0.05"/></body>', 'size="0.05 0.15 0.05"/></body>')
    world = World()
    world.add_articulated_system(text)
    assert "overlap in the state 'home': b and d" in {one.kind: one for one in world.check()}["overlap"].message
    world = World()
    world.add_articulated_system(text.replace("<keyframe>", '<contact><exclude body1="b" body2="d"/></contact><keyframe>'))
    assert "overlap" not in {one.kind for one in world.check()}


def test_joints_that_stand_for_a_free_base_need_no_limits():
    base = '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="yaw" axis="0 0 1"/>'
    world = World()
    world.add_articulated_system(
        f"""<mujoco><worldbody><body name="a">{base}<geom type="box" size="0.1 0.1 0.1"/>
        <body name="b" pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1" damping="1"/><geom type="box" size="0.1 0.1 0.1"/>
        </body></body></worldbody></mujoco>"""
    )
    assert [(one.kind, one.message) for one in world.check()] == [("limits", "sliding joints without limits: lift")]


@pytest.mark.parametrize(
    "tie",
    ['<connect body1="d" anchor="0 0 0"/>', '<weld body1="d" body2="a"/>', '<joint joint1="k" joint2="s"/>'],
)
def test_joints_that_are_tied_to_others_are_not_loose(tie):
    world = World()
    world.add_articulated_system(MODEL.replace("MORE", f"<equality>{tie}</equality><actuator><motor joint='j'/><motor joint='s'/></actuator>"))
    assert "gains" not in {finding.kind for finding in world.check()}


def test_what_was_changed_after_loading_counts():
    world = World()
    arm = world.add_articulated_system(robot(link("a"), link("b"), joint("j", "a", "b").replace("damping", "none")))
    assert [finding.kind for finding in world.check()] == ["gains"]
    arm.set_pd_gains(np.full(7, 10.0), np.full(7, 1.0))
    assert world.check() == []

"""A World as the viewer sees and steers it, without a browser."""

from __future__ import annotations

import re
import threading
import time

import numpy as np
import pytest
import trimesh

from raisim_ros import BodyType, CompoundChild, LightSettings, ShapeType, TerrainProperties, View, World
from raisim_ros.description.errors import RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.engine.sensors.colors import object_rows
from raisim_ros.viewer.contact_forces import contact_forces
from raisim_ros.viewer.scene import COLLISION, INERTIA, VISUAL, NewObject, Wanted
from raisim_ros.viewer.world_feed import WorldFeed
from raisim_ros.viewer.world_scene import world_model


@pytest.fixture
def feed():
    world = World()
    world.set_time_step(0.002)
    world.add_ground().set_name("ground")
    one = WorldFeed(world)
    yield one
    one.close()


def item(feed, name):
    return next(one for one in feed.model().items if one.name == name)


def test_every_kind_of_object_is_drawn(feed):
    world = feed.world
    world.add_sphere(0.1, 1.0)
    world.add_box(0.1, 0.2, 0.3, 1.0)
    world.add_cylinder(0.1, 0.2, 1.0)
    world.add_cone(0.1, 0.2, 1.0)
    world.add_capsule(0.1, 0.2, 1.0)
    world.add_mesh(resource("meshes/unit_sphere.obj"), 1.0)
    world.add_compound([CompoundChild(ShapeType.SPHERE, (0.1,), (0, 0, 1), appearance="red")], 1.0)
    world.add_height_map(TerrainProperties(x_samples=20, y_samples=20, seed=1))
    world.add_articulated_system(resource("robots/quadruped.urdf"))
    world.add_light(LightSettings("point"))
    model = feed.model()
    assert len(model.items) == len(world.get_obj_list())
    assert all(one.parts for one in model.items if one.kind != "ground")
    assert model.items[0].ground_height == 0.0
    assert len(feed.moment(Wanted()).poses) == model.frames
    robot = next(one for one in model.items if one.kind == "articulated_system")
    assert {part.layer for part in robot.parts} == {VISUAL, COLLISION, INERTIA}
    assert item(feed, "compound_8").parts[0].color == pytest.approx((0.8, 0.15, 0.12))


def test_hidden_objects_are_not_drawn_and_looks_change_the_model(feed):
    ball = feed.world.add_sphere(0.1, 1.0)
    before = feed.moment(Wanted()).number
    ball.set_appearance("hidden")
    feed._looks_time = 0.0
    assert feed.moment(Wanted()).number != before
    assert feed.model().items[1].parts == []


def test_wires_are_coloured_by_tension_unless_they_have_a_colour(feed):
    world = feed.world
    beam = world.add_box(4.0, 0.1, 0.1, 1.0)
    beam.set_body_type(BodyType.STATIC)
    beam.set_position(0.0, 0.0, 3.0)
    wires = []
    for number, mass in enumerate((1.0, 3.0, 2.0)):
        load = world.add_sphere(0.1, mass)
        load.set_position(number, 0.0, 2.0)
        wires.append(world.add_stiff_wire(beam, 0, (number, 0, 0), load, 0, (0, 0, 0), 1.0))
    wires[2].set_color("blue")
    wires[1].set_visualization_width(0.03)
    world.integrate(50)
    seen = feed.moment(Wanted()).wires
    assert seen.ends[:, 1] == pytest.approx(np.array([[k, 0.0, 2.0] for k in range(3)]), abs=1e-3)
    assert seen.widths == pytest.approx([wires[0].get_visualization_width(), 0.03, wires[2].get_visualization_width()])
    assert seen.colors[1, 0] > seen.colors[0, 0] + 0.2  # the heavier load's is redder
    assert seen.colors[1, 1] < seen.colors[0, 1] - 0.2
    assert seen.colors[2, 2] > 0.7


def test_the_speed_may_change_while_a_step_is_waited_for(feed, monkeypatch):
    feed.set_speed(0.1)
    feed.play()
    wait = time.sleep

    def hurried(seconds):
        feed._speed = 0.0  # somebody wants it as fast as possible, just now
        wait(seconds)

    monkeypatch.setattr("raisim_ros.viewer.world_feed.time.sleep", hurried)
    end = time.monotonic() + 10.0
    while feed.world.get_world_time() < 1.0 and time.monotonic() < end:
        wait(0.01)
    assert feed.world.get_world_time() >= 1.0


def test_names_are_unique(feed):
    for _ in range(3):
        feed.world.add_sphere(0.1, 1.0).set_name("ball")
    names = [one.name for one in feed.model().items]
    assert len(set(names)) == 4
    feed.remove(names[-1])
    assert len(feed.model().items) == 3


def test_contacts_and_their_forces_carry_the_weight(feed):
    box = feed.world.add_box(0.5, 0.5, 0.5, 4.0)
    box.set_position(0, 0, 0.25)
    feed.world.set_sleeping_enabled(False)
    feed.step(50)
    moment = feed.moment(Wanted(contacts=True))
    assert len(moment.contacts) == len(moment.forces) >= 3
    assert abs(moment.forces[:, 2]).sum() == pytest.approx(4.0 * 9.81, rel=0.02)
    assert len(feed.moment(Wanted()).contacts) == 0


def test_forces_on_robots_with_a_fixed_base_are_those_that_their_links_feel(feed):
    inertia = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    plate = '<collision><geometry><box size="1 1 0.1"/></geometry></collision>'
    robot = feed.world.add_articulated_system(
        f'<robot name="lift"><link name="world"/><link name="plate">{inertia}{plate}</link><joint name="up" type="prismatic">'
        '<parent link="world"/><child link="plate"/><axis xyz="0 0 1"/><limit lower="0" upper="2" effort="900" velocity="1"/>'
        "</joint></robot>"
    )
    robot.set_generalized_coordinate([1.0])
    robot.set_pd_gains([20000.0], [2000.0])
    robot.set_pd_target([1.0], [0.0])
    feed.world.add_box(0.4, 0.4, 0.2, 2.0).set_position(0.0, 0.0, 1.15)
    feed.world.integrate(1500)
    hits, forces = contact_forces(feed.world)
    assert hits[:, 2] == pytest.approx(1.05, abs=0.01)
    assert forces[:, 2].sum() == pytest.approx(-2.0 * 9.81, rel=1e-3)


def test_reset_brings_everything_back(feed):
    feed.world.remove_object(feed.world.get_object("ground"))
    feed.add(NewObject("new", "box", (0.1, 0.1, 0.1)))
    feed.step(3)
    feed.reset()
    assert [handle.get_name() for handle in feed.world.get_obj_list()] == ["ground"]
    assert feed.world.get_world_time() == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        NewObject("a", "pyramid", (1.0,)),
        NewObject("a", "box", (1.0,)),
        NewObject("a", "sphere", (-1.0,)),
        NewObject("a", "", file="/nowhere/robot.urdf"),
    ],
    ids=lambda new: new.shape or new.file,
)
def test_what_cannot_be_added_leaves_the_world_as_it_was(feed, wrong):
    before = feed.world.get_state_hash()
    with pytest.raises(RaisimError):
        feed.add(wrong)
    assert len(feed.world.get_obj_list()) == 1
    assert feed.world.get_state_hash() == before


def test_added_robots_and_meshes_come_from_files(feed):
    assert feed.add(NewObject("", "", position=(0, 0, 1.0), file=str(resource("robots/quadruped.urdf")))) == "quadruped"
    assert feed.add(NewObject("", "", file=str(resource("meshes/unit_sphere.obj")))) == "unit_sphere"
    assert feed.add(NewObject("", "", file=str(resource("meshes/unit_sphere.obj")))) == "unit_sphere_1"


@pytest.mark.parametrize("mass", [0.01, 1.0, 1000.0])
def test_a_pulled_body_goes_to_the_hand_and_stays_calm(feed, mass):
    ball = feed.world.add_box(0.4, 0.2, 0.2, mass)
    ball.set_name("ball")
    ball.set_position(0, 0, 1.0)
    feed.pull("ball", 0, np.array([0.2, 0.0, 0.0]), np.array([1.0, 0.5, 2.0]))
    feed.step(3000)
    # It hangs below the hand by what its weight stretches the spring.
    point = ball.get_position(0, (0.2, 0.0, 0.0))
    assert point == pytest.approx([1.0, 0.5, 2.0], abs=0.35)
    assert np.linalg.norm(ball.get_velocity(0, (0.2, 0.0, 0.0))) < 0.2
    feed.release()
    feed.step(500)
    assert ball.get_position()[2] < 1.0


def test_a_robot_is_pulled_by_its_hand(feed):
    robot = feed.world.add_articulated_system(resource("robots/arm.urdf"))
    robot.set_name("arm")
    last = len(robot.get_kinematic_tree().bodies) - 1
    start = robot.get_position(last)
    target = start + np.array([0.1, 0.15, -0.2])
    feed.pull("arm", last, np.zeros(3), target)
    feed.step(2000)
    assert np.linalg.norm(robot.get_position(last) - target) < np.linalg.norm(start - target)
    assert np.abs(robot.get_generalized_velocity()).max() < 5.0
    feed.remove("arm")
    feed.step(1)


def test_joints_follow_sliders(feed):
    robot = feed.world.add_articulated_system(resource("robots/arm.urdf"))
    robot.set_name("arm")
    names = [joint.name for joint in feed.joints("arm")]
    assert names == robot.get_movable_joint_names()
    feed.set_joint("arm", "elbow", 0.4)
    assert robot.get_joint("elbow").get_generalized_coordinate() == pytest.approx([0.4])
    feed.set_gains("arm", 500.0, 50.0)
    feed.play()
    feed.set_joint("arm", "elbow", -0.3)
    end = threading.Event()
    for _ in range(100):
        if abs(robot.get_joint("elbow").get_generalized_coordinate()[0] + 0.3) < 0.1:
            break
        end.wait(0.1)
    assert robot.get_joint("elbow").get_generalized_coordinate()[0] == pytest.approx(-0.3, abs=0.1)
    with pytest.raises(RaisimError, match="no joints"):
        feed.set_joint("ground", "elbow", 0.0)


def test_snapshots_continue_to_the_same_bits(feed):
    feed.add(NewObject("ball", "sphere", (0.1,), position=(0, 0, 0.3)))
    feed.step(20)
    feed.keep("early")
    feed.step(100)
    late = feed.world.get_state_hash()
    feed.bring_back("early")
    feed.step(100)
    assert feed.world.get_state_hash() == late
    assert feed.kept() == ["early"]
    with pytest.raises(RaisimError, match="never"):
        feed.bring_back("never")


def test_time_keeps_the_speed_it_is_given(feed):
    feed.set_speed(0.0)
    feed.play()
    waiting = threading.Event()
    for _ in range(100):
        if feed.world.get_world_time() > 1.0:
            break
        waiting.wait(0.05)
    feed.pause()
    assert feed.world.get_world_time() > 1.0
    with pytest.raises(RaisimError, match="speed"):
        feed.set_speed(-1.0)


def test_the_program_steps_the_world_at_the_pages_will(feed):
    done = threading.Event()
    feed.driven = True
    feed.set_speed(0.0)

    def program():
        while feed.integrate(1):
            done.set()

    thread = threading.Thread(target=program)
    thread.start()
    assert not done.wait(0.2)  # paused
    feed.play()
    assert done.wait(10.0)
    feed.close()
    thread.join(10.0)
    assert not thread.is_alive()


def test_the_past_is_scrubbed_to_the_same_bits_and_another_future_begins(feed):
    feed.add(NewObject("ball", "sphere", (0.1,), position=(0, 0, 0.8)))
    assert feed.timeline() is None
    hashes = {}
    for _ in range(60):
        feed.step(10)
        hashes[round(feed.world.get_world_time(), 3)] = feed.world.get_state_hash()
    assert feed.timeline() == pytest.approx((0.0, 1.2))
    for moment in (0.62, 0.1, 1.2, 0.26):
        feed.seek(moment)
        assert feed.world.get_state_hash() == hashes[moment], moment
    feed.move("ball", np.array([0.1, 0.0, 0.0]))
    feed.step(10)
    assert feed.timeline()[1] == pytest.approx(0.28)
    feed.reset()
    assert feed.timeline() is None


def test_the_box_of_an_inertia_has_that_inertia(feed):
    from raisim_ros.viewer.scene import rotate

    robot = feed.world.add_articulated_system(resource("robots/quadruped.urdf"))
    tree = robot.get_kinematic_tree()
    boxes = [part for part in feed.model().items[1].parts if part.layer == INERTIA]
    assert len(boxes) == len(tree.bodies)
    for body, box in zip(tree.bodies, boxes, strict=True):
        squares = np.array(box.scale) ** 2
        moments = body.mass / 12.0 * (squares.sum() - squares)
        axes = rotate(box.pose[3:], np.eye(3)).T
        assert axes @ np.diag(moments) @ axes.T == pytest.approx(np.asarray(body.inertia), abs=1e-6)
        assert box.pose[:3] == pytest.approx(body.com)


def painted_robot(folder, painted_file):
    """A robot of one link: a mesh that a COLLADA file paints blue (or not), and the URDF black."""
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    if painted_file:
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=[0, 0, 255, 255])
        box.visual = trimesh.visual.TextureVisuals(uv=np.zeros((len(box.vertices), 2)), material=material)
    text = box.export(file_type="dae")
    if not painted_file:  # trimesh writes a material to every part
        text = re.sub(rb"<library_(materials|effects)>.*?</library_\1>|<bind_material>.*?</bind_material>", b"", text, flags=re.S)
    (folder / "box.dae").write_bytes(text)
    file = folder / "robot.urdf"
    file.write_text(
        '<robot name="r"><link name="base"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<visual><geometry><mesh filename="box.dae"/></geometry>'
        '<material name="black"><color rgba="0 0 0 1"/></material></visual>'
        '<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>'
    )
    return file


@pytest.mark.parametrize("painted_file", [True, False])
def test_materials_of_a_collada_file_count_more_than_the_colour_of_a_urdf(tmp_path, painted_file):
    world = World()
    robot = world.add_articulated_system(painted_robot(tmp_path, painted_file))
    part = next(part for part in world_model(world).items[0].parts if part.layer == VISUAL)
    assert (part.surface.glb is not None) == painted_file
    robot.set_base_pos((0.0, 0.0, 0.0))
    picture = world.render(View((0.0, -4.0, 0.0), (0.0, 0.0, 0.0)), 40, 30).astype(int)
    red, _, blue = picture[15, 20]
    assert (blue > 3 * max(red, 20)) == painted_file
    (row,) = object_rows(robot)
    assert (row[2] > 0.5) == painted_file
    robot.set_appearance("red")
    part = next(part for part in world_model(world).items[0].parts if part.layer == VISUAL)
    assert part.surface.glb is None


def test_new_looks_and_names_are_noticed(monkeypatch):
    monkeypatch.setattr("raisim_ros.viewer.world_feed.LOOKS_PERIOD", -1.0)
    world = World()
    terrain = world.add_height_map(3, 3, 1.0, 1.0, 0.0, 0.0, np.zeros(9))
    ball = world.add_sphere(0.1, 1.0)
    feed = WorldFeed(world)
    seen = [feed.moment(Wanted()).number]
    for change in (
        lambda: terrain.set_color("red"),
        lambda: terrain.set_color(np.full((3, 3, 3), 0.5)),
        lambda: ball.set_appearance("blue"),
        lambda: ball.set_name("ball"),
        lambda: ball.set_body_type(BodyType.STATIC),
    ):
        world.integrate()
        assert feed.moment(Wanted()).number == seen[-1]
        change()
        seen.append(feed.moment(Wanted()).number)
        assert seen[-1] not in seen[:-1]
    assert "ball" in feed.describe("ball")


def test_a_tear_is_noticed_though_only_steps_made_it(monkeypatch):
    monkeypatch.setattr("raisim_ros.viewer.world_feed.LOOKS_PERIOD", -1.0)
    world = World()
    cloth = world.add_deformable_cloth([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]], [[0, 1, 3], [0, 3, 2]])
    feed = WorldFeed(world)
    before = feed.moment(Wanted()).number
    world.integrate()
    assert feed.moment(Wanted()).number == before
    monkeypatch.setattr(cloth, "get_num_particles", lambda: 5)
    assert feed.moment(Wanted()).number != before


def test_centres_of_mass_are_seen_through_what_they_lie_in(tmp_path):
    pytest.importorskip("viser")
    from raisim_ros import Viewer

    world = World()
    world.add_box(1.0, 1.0, 1.0, 1.0)
    world.add_articulated_system(painted_robot(tmp_path, True))
    viewer = Viewer(world, port=0, quiet=True)
    try:
        end = time.monotonic() + 30.0
        while not viewer._model.complete:
            assert time.monotonic() < end
            viewer._update()
        looks = [(key.opacity, key.surface.glb is None) for key in viewer._canvas._batches if key.layer == VISUAL]
        assert sorted(looks) == [(1.0, False), (1.0, True)]
        viewer._panel._centres.value = True
        viewer._update()
        seen = [(key, batch) for key, batch in viewer._canvas._batches.items() if key.layer == VISUAL]
        assert len(seen) == 2
        assert all(batch.node.opacity < 0.5 and key.surface.glb is None for key, batch in seen)
        viewer._panel._centres.value = False
        viewer._update()
        again = [(key.opacity, key.surface.glb is None) for key in viewer._canvas._batches if key.layer == VISUAL]
        assert sorted(again) == sorted(looks)
    finally:
        viewer.close()


def test_nothing_is_stepped_once_time_was_stopped(feed):
    """The loop may have found time running just before somebody stopped it and went back."""
    feed.play()
    deadline = time.monotonic() + 30.0
    while feed.world.get_world_time() < 0.1 and time.monotonic() < deadline:
        time.sleep(0.01)
    feed.seek(0.05)
    assert feed._advance(3) == 0
    assert feed.world.get_world_time() == pytest.approx(0.05)
    assert feed.timeline()[1] >= 0.1


def test_times_of_the_step_are_those_of_late(feed, monkeypatch):
    """Not the mean of all since somebody first looked; and whoever times the world himself keeps his sums."""
    monkeypatch.setattr("raisim_ros.viewer.world_feed.PROFILE_PERIOD", 0.0)
    feed.world.add_sphere(0.1, 1.0).set_position(0.0, 0.0, 0.1)
    assert feed.moment(Wanted(profile=True)).profile == {}
    feed.world.integrate(10)
    assert feed.moment(Wanted(profile=True)).profile["solve"] > 0.0
    sums = feed.world.get_profile()
    feed.moment(Wanted(profile=True))
    assert feed.moment(Wanted(profile=True)).profile == {}  # no step since
    assert feed.world.get_profile() == sums

"""What people see and do in the browser."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("viser", reason="the viewer's extra is not installed")

from page_tools import SIZE, ball_world, drop, drop_from_disk, open_page, wait_until, without_effects

from raisim_ros import Recording, Viewer
from raisim_ros.description.resources import resource
from raisim_ros.description.world.scene_types import Viewpoint
from raisim_ros.viewer import panel
from raisim_ros.viewer.export import write_page
from raisim_ros.viewer.quantities import JOINT_VELOCITIES
from raisim_ros.viewer.recording import RecordingFeed
from raisim_ros.viewer.viewer import Page
from raisim_ros.viewer.world_feed import WorldFeed


def test_objects_are_seen_where_they_are(stage):
    stage.look_from((5.0, -2.0, 2.0), (0.0, 0.0, 1.0))
    for place in ((0.0, 0.0, 1.0), (-1.0, 0.8, 0.5), (1.0, 0.5, 1.8)):
        stage.ball.set_position(place)
        assert stage.sees_ball_at(place), place


def test_play_pause_step_and_reset_act_on_the_world(stage):
    page, world = stage.page, stage.world
    page.get_by_text("Play", exact=True).click()
    wait_until(lambda: world.get_world_time() > 0.1, page)
    page.get_by_text("Pause", exact=True).click()
    page.get_by_text("Play", exact=True).wait_for()
    steps = world.get_step_count()
    page.get_by_text("10 steps", exact=True).click()
    wait_until(lambda: world.get_step_count() == steps + 10, page)
    page.get_by_text("Reset", exact=True).click()
    wait_until(lambda: world.get_world_time() == 0.0, page)
    page.mouse.click(20, 400)
    page.keyboard.press("Space")
    wait_until(lambda: world.get_world_time() > 0.1, page)


@pytest.mark.parametrize("running", [False, True], ids=["paused: moved", "running: pulled"])
def test_an_object_is_dragged(stage, running):
    if running:
        stage.viewer.play()
    stage.drag(stage.pixel_of((0.3, 0.0, 1.0)), (60, 0))
    wait_until(lambda: stage.ball.get_position()[1] > 0.3, stage.page)
    assert abs(stage.ball.get_position()[2] - 1.0) < 0.1
    stage.page.mouse.up()
    wait_until(lambda: stage.viewer._world_feed._pull is None, stage.page)
    wait_until(lambda: not stage.viewer._canvas._pull.visible, stage.page)


def test_a_click_selects_and_remove_removes(stage):
    stage.page.mouse.click(*stage.pixel_of((0.3, 0.0, 1.0)))
    stage.page.get_by_text("mass [kg]").first.wait_for()
    stage.page.get_by_text("Remove", exact=True).click()
    wait_until(lambda: stage.world.get_object("ball") is None, stage.page)
    wait_until(lambda: stage.magenta() is None, stage.page)


def test_objects_are_added_and_worlds_saved_and_loaded(stage, tmp_path):
    page, world, panel = stage.page, stage.world, stage.viewer._panel
    panel._form._look.value = "green"
    page.get_by_role("tab", name="Add").click()
    page.get_by_role("button", name="Add", exact=True).click()
    wait_until(lambda: world.get_object("sphere") is not None, page)
    file = tmp_path / "saved.xml"
    panel._file.value = str(file)
    page.get_by_role("tab", name="World").click()
    page.get_by_role("button", name="Save").click()
    wait_until(file.is_file, page)
    page.get_by_text("The world is saved").wait_for()
    world.remove_object(world.get_object("sphere"))
    page.get_by_role("button", name="Load").click()
    wait_until(lambda: world.get_object("sphere") is not None, page)
    panel._file.value = str(tmp_path / "missing.xml")
    page.get_by_role("button", name="Load").click()
    page.get_by_text("That did not work").wait_for()
    assert world.get_object("sphere") is not None
    page.get_by_role("tab", name="Object").click()


def test_a_slider_moves_a_joint(stage):
    stage.viewer._panel._select_by_name("arm")
    slider = stage.page.get_by_role("slider").last  # of the joints; the first one is time
    slider.wait_for()
    slider.focus()
    (client,) = stage.viewer._server.get_clients().values()
    before = client.camera.position.copy()
    for _ in range(8):
        stage.page.keyboard.press("ArrowRight")
    arm = stage.world.get_object("arm")
    wait_until(lambda: np.abs(arm.get_generalized_coordinate()).max() > 0.02, stage.page)
    stage.page.wait_for_timeout(300)
    assert client.camera.position == pytest.approx(before, abs=1e-6)  # the keys turned the view, too


def test_sliders_follow_joints_that_went_by_themselves(stage):
    """Reset, a restored moment or a program moves joints; sliders show it, and the next touch starts from there."""
    arm, sliders = stage.world.get_object("arm"), stage.viewer._panel._joint_nodes
    stage.viewer.pause()
    stage.viewer._panel._select_by_name("arm")
    wait_until(lambda: len(sliders) == arm.get_dof(), stage.page)
    for place in (0.3, -0.2):
        there = np.full(arm.get_generalized_coordinate_dim(), place)
        arm.set_generalized_coordinate(there)
        arm.set_pd_target(there, np.zeros(arm.get_dof()))
        wait_until(lambda place=place: all(abs(one.value - place) < one.step for one in sliders.values()), stage.page)
    stage.viewer._world_feed.reset()
    arm = stage.world.get_object("arm")
    joints = {joint.name: joint.position for joint in stage.viewer._world_feed.joints("arm")}
    assert max(abs(place + 0.2) for place in joints.values()) > 0.1
    wait_until(lambda: all(abs(one.value - joints[name]) < one.step for name, one in sliders.items()), stage.page)
    slider, last = stage.page.get_by_role("slider").last, list(joints)[-1]
    wait_until(lambda: abs(float(slider.get_attribute("aria-valuenow")) - joints[last]) < sliders[last].step, stage.page)
    slider.focus()
    stage.page.keyboard.press("ArrowRight")
    wait_until(lambda: stage.viewer._world_feed.joints("arm")[-1].position != joints[last], stage.page)
    assert stage.viewer._world_feed.joints("arm")[-1].position == pytest.approx(joints[last] + sliders[last].step, abs=2e-2)
    stage.viewer._panel._select_by_name("(none)")


def test_sliders_of_joints_may_come_late(stage, monkeypatch):
    feed, asked = stage.viewer._world_feed, []

    def late(name):
        asked.append(name)
        return WorldFeed.joints(feed, name) if len(asked) > 3 else []

    monkeypatch.setattr(feed, "joints", late)
    monkeypatch.setattr(panel, "JOINT_PAUSE", 1e9)  # they do not follow the joints, which asks, too
    stage.viewer._panel._select_by_name("(none)")
    stage.viewer._panel._select_by_name("arm")
    arm = stage.world.get_object("arm")
    wait_until(lambda: len(stage.viewer._panel._joint_nodes) == arm.get_dof(), stage.page)
    assert len(asked) == 4
    stage.page.get_by_text("elbow", exact=True).first.wait_for()
    stage.viewer._panel._select_by_name("(none)")


def test_the_slider_of_time_goes_back_to_the_same_bits(stage):
    stage.ball.set_linear_velocity((0.2, 0.1, 0.0))
    hashes = {}
    for _ in range(40):
        stage.viewer._world_feed.step(10)
        hashes[round(stage.world.get_world_time(), 4)] = stage.world.get_state_hash()
    slider = stage.page.get_by_role("slider").first
    slider.wait_for()
    wait_until(lambda: stage.viewer._panel._timeline.value > 0.79, stage.page)
    stage.page.wait_for_timeout(300)
    slider.focus()
    stage.page.keyboard.press("Home")
    wait_until(lambda: stage.world.get_world_time() == 0.0, stage.page)
    stage.page.keyboard.press("End")
    wait_until(lambda: stage.world.get_world_time() > 0.79, stage.page)
    assert stage.world.get_state_hash() == hashes[round(stage.world.get_world_time(), 4)]


def test_two_browsers_and_one_that_leaves(stage):
    second = open_page(stage.browser, stage.viewer)
    stage.viewer.play()
    second.close()
    wait_until(lambda: len(stage.viewer._server.get_clients()) == 1, stage.page)
    before = stage.world.get_world_time()
    stage.ball.set_position(0.0, 1.0, 1.0)
    assert stage.sees_ball_at((0.0, 1.0, 1.0))
    assert stage.world.get_world_time() > before


def test_a_taken_port_is_passed_over(stage):
    taken = stage.viewer._server.get_port()
    other = Viewer(ball_world(), port=taken, quiet=True)
    assert other._server.get_port() != taken
    other.close()


def test_cloth_and_grains_are_seen_where_they_are(stage):
    world = stage.world
    world.remove_object(stage.ball)
    stage.look_from((5.0, -2.0, 2.0), (0.0, 0.0, 1.0))
    corners = np.array([[0, -0.3, -0.3], [0, 0.3, -0.3], [0, -0.3, 0.3], [0, 0.3, 0.3]])
    places = ((0.0, 0.0, 1.0), (-1.0, 0.8, 0.5), (1.0, 0.5, 1.8))
    cloth = world.add_deformable_cloth(corners + places[0], [[0, 1, 3], [0, 3, 2]])
    cloth.set_appearance("magenta")
    for place in places:
        cloth.set_positions(corners + place)
        assert stage.sees_ball_at(place), place
    world.remove_object(cloth)
    grains = world.add_granular_particles(0.3 * corners, 0.1)
    grains.set_appearance("magenta")
    for place in places:
        grains.set_positions(0.3 * corners + place)
        assert stage.sees_ball_at(place), place
    grains.add_particles([[0, 0, 9]], 0.1)  # out of sight; the others stay in view
    assert stage.sees_ball_at(places[-1])
    stage.page.mouse.click(*stage.pixel_of(np.array(places[-1]) + 0.3 * corners[0]))
    stage.page.get_by_text("particles").first.wait_for()
    world.remove_object(grains)
    wait_until(lambda: stage.magenta() is None, stage.page)


def test_a_recording_is_gone_on_from_in_the_browser(stage, tmp_path):
    world, file = ball_world(), tmp_path / "run.raisim"
    world.get_object("ball").set_linear_velocity((0.2, 0.1, 0.0))
    world.start_recording(file, 20.0)
    hashes = {}
    for _ in range(300):
        world.integrate(5)
        hashes[world.get_step_count()] = world.get_state_hash()
    world.stop_recording()
    shown = Page(RecordingFeed(Recording(file)), port=0, quiet=True)
    without_effects(shown)
    page = open_page(stage.browser, shown)
    try:
        page.get_by_role("slider").first.focus()
        page.keyboard.press("End")
        wait_until(lambda: shown._moment.time == 3.0, page)
        for _ in range(120):  # milliseconds
            page.keyboard.press("ArrowLeft")
        wait_until(lambda: shown._moment.time < 3.0, page)
        page.wait_for_timeout(500)
        then = shown._moment.time
        page.get_by_text("Go on from here").click()
        wait_until(lambda: isinstance(shown._feed, WorldFeed), page)
        branch = shown._feed.world
        assert branch.get_world_time() == then
        page.get_by_role("button", name="10 steps").click()
        steps = round(then / 0.002) + 10
        wait_until(lambda: branch.get_step_count() == steps, page)
        assert branch.get_state_hash() == hashes[steps]
        page.get_by_text("Back to the recording").click()
        wait_until(lambda: isinstance(shown._feed, RecordingFeed), page)
        wait_until(lambda: shown._moment.time == then, page)
    finally:
        page.close()
        shown.close()


def test_a_page_that_needs_no_server_plays_a_recording(stage, tmp_path):
    """Also where no graphics card draws it, and from where the world wants to be seen."""
    world, run, file = ball_world(), tmp_path / "run.raisim", tmp_path / "run.html"
    world.set_viewpoint(Viewpoint("ball", (5.0, 0.0, 0.0)))
    world.start_recording(run, 20.0)
    world.integrate(1000)
    world.stop_recording()
    write_page(Recording(run), file, 10.0)
    page = stage.browser.new_page(viewport=SIZE)
    page.goto(file.as_uri())
    found = []

    def sees_ball():
        found.append(stage.magenta(page))
        return found[-1] is not None

    wait_until(sees_ball, page)
    box = stage.box(page)
    assert np.abs(found[-1] - (box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])).max() < 12.0
    page.close()


@pytest.mark.parametrize("key", ["?", "Escape"])
def test_a_question_mark_shows_the_keys(stage, key):
    """Once; the same key or Escape puts them away."""
    stage.page.mouse.click(20, 400)
    stage.page.keyboard.press("?")
    keys = stage.page.get_by_text("Keys and mouse")
    keys.wait_for()
    stage.page.keyboard.press(key)
    wait_until(lambda: not keys.count(), stage.page)
    stage.page.keyboard.press("?")
    keys.wait_for()
    stage.page.get_by_role("button", name="Close").click()
    wait_until(lambda: not keys.count(), stage.page)


def test_numbers_beside_sliders_are_short():
    steps = {0.0042: 0.005, 0.0126: 0.01, 0.0029: 0.002, 9.9e-4: 0.001, 1.0: 1.0}
    assert [panel.round_step(step) for step in steps] == pytest.approx(list(steps.values()))


def test_the_trail_of_what_rests_stays(stage):
    world, page = stage.world, stage.viewer._panel
    page._select_by_name("ball")
    page._trail_on.value = True
    stage.ball.set_velocity((0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
    stage.viewer.play()
    wait_until(lambda: len(page._trail) > 10, stage.page)
    stage.ball.set_velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    before, later = len(page._trail), world.get_world_time() + 0.5
    wait_until(lambda: world.get_world_time() > later, stage.page)
    assert len(page._trail) <= before + 3
    page._trail_on.value = False


def test_a_page_that_a_processor_draws_has_no_shadows_until_they_are_asked_for(stage):
    bright = stage.viewer._canvas._bright
    wait_until(lambda: bright == set(stage.viewer._server.get_clients()), stage.page)
    stage.page.mouse.click(20, 400)
    stage.page.keyboard.press("l")
    wait_until(lambda: not bright, stage.page)
    stage.page.keyboard.press("l")
    wait_until(lambda: bright, stage.page)


def test_a_screenshot_is_saved(stage, tmp_path):
    stage.page.get_by_role("tab", name="World").click()
    with stage.page.expect_download() as download:
        stage.page.get_by_role("button", name="Screenshot").click()
    download.value.save_as(tmp_path / "shot.png")
    stage.page.get_by_role("tab", name="Object").click()
    picture = np.asarray(Image.open(tmp_path / "shot.png").convert("RGB"), int)
    assert picture.shape[0] >= 0.5 * stage.box()["height"]
    red, green, blue = picture[picture.shape[0] // 2, picture.shape[1] // 2]  # the ball
    assert min(red, blue) > 2 * green


def test_snapshots_are_kept_and_gone_back_to(stage):
    page, world = stage.page, stage.world
    stage.viewer._world_feed.step(10)
    kept = world.get_state_hash()
    page.get_by_role("tab", name="World").click()
    page.get_by_role("button", name="Keep a snapshot").click()
    wait_until(lambda: stage.viewer._world_feed.kept(), page)
    stage.ball.set_position(1.0, 1.0, 1.0)
    stage.viewer._world_feed.step(10)
    page.get_by_role("button", name="Go back to it").click()
    wait_until(lambda: world.get_state_hash() == kept, page)
    page.get_by_role("tab", name="Object").click()


def test_what_is_chosen_is_plotted(stage):
    arm, page = stage.world.get_object("arm"), stage.page
    stage.viewer._panel._select_by_name("arm")
    page.get_by_role("tab", name="Object").click()
    stage.viewer._panel._plot._choice.value = JOINT_VELOCITIES
    arm.set_generalized_velocity(np.full(arm.get_dof(), 0.3))
    stage.viewer.play()
    plot = stage.viewer._panel._plot
    wait_until(lambda: len(plot._times) > 10, page)
    stage.viewer.pause()
    page.locator(".uplot canvas").first.wait_for()
    joints = [body.joint_name for body in arm.get_kinematic_tree().bodies[1:]]
    assert list(plot._labels) == joints
    assert np.all(np.diff(plot._times) > 0.0)
    assert np.ptp(np.array(plot._rows)) > 0.01


TWO_ROBOTS = "<mujoco><worldbody>{}</worldbody></mujoco>".format("".join(f"""<body name="{name}" pos="0 {y} 1">
    <geom size="0.1"/><body pos="0 0 -0.3"><joint axis="0 1 0"/><geom size="0.1"/></body></body>""" for y, name in enumerate(("left", "right"))))


def test_files_are_dropped_on_the_page(stage, tmp_path):
    ball = "<raisim version='1.0'><objects><sphere name='lone' mass='1'><dim radius='0.2'/></sphere></objects></raisim>"
    drop(stage.page, "second_arm.urdf", resource("robots/arm.urdf").read_text())
    wait_until(lambda: stage.world.get_object("second_arm") is not None, stage.page)
    drop(stage.page, "nonsense.xml", "<nothing/>")
    stage.page.get_by_text("That did not work").first.wait_for()
    assert stage.world.get_object("ball") is not None
    kept = tmp_path / "kept.xml"
    stage.world.export_to_xml(kept)
    drop(stage.page, "other.xml", ball)
    wait_until(lambda: stage.world.get_object("lone") is not None and stage.world.get_object("ball") is None, stage.page)
    drop(stage.page, "two.xml", TWO_ROBOTS)  # more than one: a world
    wait_until(lambda: stage.world.get_object("lone") is None and stage.world.get_object("left") is not None, stage.page)
    stage.viewer._world_feed.load(str(kept))
    stage.world.remove_object(stage.world.get_object("second_arm"))


def test_what_takes_its_time_is_told_meanwhile(stage, monkeypatch):
    """A robot with large meshes came after half a minute in which nothing said that it would."""
    gate, feed, page = threading.Event(), stage.viewer._world_feed, stage.page
    add = feed.add
    monkeypatch.setattr(feed, "add", lambda new: gate.wait(60) and add(new))
    drop(page, "late_arm.urdf", resource("robots/arm.urdf").read_text())
    try:
        page.get_by_text("Adding what was given").wait_for()
    finally:
        gate.set()
    wait_until(lambda: stage.world.get_object("late_arm") is not None, page)
    page.get_by_text("Adding what was given").wait_for(state="detached")
    stage.world.remove_object(stage.world.get_object("late_arm"))


TABLE = """<robot name="table"><link name="top"><inertial><mass value="5"/>
    <inertia ixx="0.5" iyy="0.5" izz="0.8" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://their_robots/robots/table/meshes/top.glb"/></geometry></visual>
    <collision><geometry><box size="0.8 0.8 0.1"/></geometry></collision></link>
  <link name="flap"><inertial><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.2 0.05"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="top"/><child link="flap"/><origin xyz="0.4 0 0.05"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="10"/></joint></robot>"""


def test_a_folder_with_a_robot_and_its_meshes_is_dropped_and_the_robot_dragged(stage, tmp_path):
    import trimesh

    folder = tmp_path / "table"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf").mkdir()
    for name in ("table", "small_table"):
        (folder / "urdf" / f"{name}.urdf").write_text(TABLE)
    parts = [trimesh.creation.box((0.8, 0.4, 0.1)) for _ in range(2)]  # two materials: two meshes of one file
    for part, shift, color in zip(parts, (-0.2, 0.2), ([255, 0, 255, 255], [220, 0, 220, 255]), strict=True):
        part.apply_translation((0.0, shift, 0.0))
        part.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=color))
    trimesh.Scene(parts).export(folder / "meshes/top.glb")
    page, world = stage.page, stage.world
    world.set_gravity((0.0, 0.0, -9.81))
    for name in {one.get_name() for one in world.get_obj_list()} - {"ground", "arm"}:  # also what other tests left
        stage.viewer._world_feed.remove(name)
    stage.look_from((4.0, 0.0, 3.0), (0.0, 0.0, 0.0))
    failures = []
    page.on("pageerror", lambda error: failures.append(error))
    drop_from_disk(page, folder)
    page.get_by_role("button", name="table.urdf", exact=True).click()
    wait_until(lambda: world.get_object("table") is not None, page)
    robot = world.get_object("table")
    assert robot.get_pd_gains()[0].max() > 0.0
    wait_until(lambda: stage.viewer._panel.selected is not None and stage.viewer._panel.selected.name == "table", page)
    stage.viewer.play()
    wait_until(lambda: world.get_world_time() > 1.0, page)
    place = robot.get_base_position()
    top = np.add(place, (0.0, 0.0, 0.05))
    assert place[2] == pytest.approx(0.05, abs=0.01)
    assert abs(robot.get_generalized_coordinate()[-1]) < 0.05  # the flap does not hang down
    assert stage.sees_ball_at(place)  # what is magenta, its sides, too
    stage.drag(stage.pixel_of(top), (70, 0))
    wait_until(lambda: robot.get_base_position()[1] > place[1] + 0.2, page)
    page.mouse.up()
    assert not failures, [(f.message, f.stack[:300]) for f in failures]

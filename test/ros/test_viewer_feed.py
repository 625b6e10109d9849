"""The viewer over ROS: it sees what the node shows, and the node does what people in the browser want."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

import rclpy
from geometry_msgs.msg import Point, Pose, TransformStamped
from page_tools import browser, drop, open_page, wait_until, without_effects  # noqa: F401  a fixture
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from tf2_msgs.msg import TFMessage

from raisim_ros import World
from raisim_ros.description.errors import RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.msg import GrainBox, ResultCode, WorldState
from raisim_ros.srv import (
    GetObjectInfo,
    ListObjects,
    RemoveWire,
    SpawnArticulatedSystem,
    SpawnDeformable,
    SpawnGranular,
    SpawnHeightMap,
    SpawnWire,
)
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.quantities import JOINT_POSITIONS, VELOCITY
from raisim_ros.viewer.ros_feed import RosFeed
from raisim_ros.viewer.scene import COLLISION, INERTIA, VISUAL, NewObject, Wanted, to_world
from raisim_ros.viewer.stance import find_stance
from raisim_ros.viewer.world_scene import world_model

WORLD = Path(__file__).with_name("node_world.xml")


@pytest.fixture(scope="module")
def feed(domain_id, shared_node):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    one = RosFeed(rclpy.create_node("viewer", context=context))
    patiently(lambda: one.moment(Wanted()).paused and len(one.model().items) == len(World(WORLD).get_obj_list()))
    yield one
    one.close()
    rclpy.shutdown(context=context)


def patiently(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def place_of(feed, name):
    item = next(one for one in feed.model().items if one.name == name)
    return feed.moment(Wanted()).poses[item.first_frame, :3]


@pytest.fixture
def fresh_scene(feed, fresh_world):
    """The node's world is as it was loaded, and the viewer has seen that.

    Markers and states come when they come: until then it shows what an earlier test left, and would grip where the
    objects were.
    """
    bodies = {one.get_name(): one for one in World(WORLD).get_obj_list()}

    def is_fresh():
        if feed.moment(Wanted()).time != 0.0 or {item.name for item in feed.model().items} != set(bodies):
            return False
        still = (body for name, body in bodies.items() if name != "ground")
        return all(place_of(feed, one.get_name()) == pytest.approx(one.get_position(), abs=1e-9) for one in still)

    patiently(is_fresh)


def test_what_collides_and_where_masses_are_is_seen_of_robots(feed, fresh_scene):
    name = feed.add(NewObject("arm", "", position=(3.0, 1.0, 0.5), file=str(resource("robots/arm.urdf"))))
    wanted = Wanted(centres=True, layers=True)

    def arm():
        feed.moment(wanted)
        return next((one for one in feed.model().items if one.name == name), None)

    def layers():
        found = arm()
        return {part.layer for part in found.parts} if found else set()

    patiently(lambda: layers() == {VISUAL, COLLISION, INERTIA})
    world = World()
    robot = world.add_articulated_system(resource("robots/arm.urdf"))
    robot.set_base_pos((3.0, 1.0, 0.5))
    patiently(lambda: np.abs(feed.moment(wanted).centres - robot.get_com()).max(axis=1).min() < 1e-3)
    poses, item = feed.moment(wanted).poses, arm()
    boxes = sorted(to_world(poses[part.frame], part.pose[:3]).tolist() for part in item.parts if part.layer == INERTIA)
    bodies = [index for index, body in enumerate(robot.get_kinematic_tree().bodies) if body.mass > 0.0]
    assert np.allclose(boxes, sorted(robot.get_body_com_w()[bodies].tolist()), atol=1e-3)
    grip = next(part for part in item.parts if part.layer == COLLISION and part.frame > item.first_frame + 1)
    feed.pull(name, grip.frame - item.first_frame, np.zeros(3), np.zeros(3))
    assert feed._held.link in {body.name for body in robot.get_kinematic_tree().bodies}
    feed.release()
    patiently(lambda: feed.moment(Wanted()) is not None and COLLISION not in {p.layer for p in arm_parts(feed, name)})


@pytest.mark.parametrize("prefix", ["", "west_", "west/"])
def test_links_are_found_although_another_robot_s_name_ends_alike(prefix):
    scene = MarkerScene()
    frames = ["left_arm", "left_arm/base", "left_arm/hand", "arm", "arm/hand"]  # the root of `arm` is its `base`
    placed = [TransformStamped(child_frame_id=prefix + frame) for frame in frames]
    for k, (transform, frame) in enumerate(zip(placed, frames, strict=True)):
        transform.header.frame_id = prefix + frame.split("/")[0] if "/" in frame else "world"
        transform.transform.translation.x = 10.0**k
    scene.take_frames(serialize_message(TFMessage(transforms=placed)))
    found = [float(scene.link_pose(*link)[0]) for link in (("arm", "base"), ("arm", "hand"), ("left_arm", "hand"))]
    assert found == [1000.0, 11000.0, 101.0]
    assert scene.link_pose("leg", "foot") is None


def arm_parts(feed, name):
    feed.moment(Wanted())
    return next(one for one in feed.model().items if one.name == name).parts


def test_the_scene_is_that_of_the_node(feed, fresh_scene):
    bodies = [one for one in World(WORLD).get_obj_list() if one.get_name() != "ground"]
    items = {item.name: item for item in feed.model().items}
    assert {name for name, item in items.items() if item.ground_height is not None} == {"ground"}
    patiently(lambda: all(item.movable for item in feed.model().items if item.name != "ground"))
    for body in bodies:
        assert place_of(feed, body.get_name()) == pytest.approx(body.get_position(), abs=1e-9)
    assert feed.moment(Wanted()).time == 0.0


def test_time_runs_stops_steps_and_starts_again(feed, fresh_scene, probe):
    feed.play()
    patiently(lambda: not feed.moment(Wanted()).paused and feed.moment(Wanted()).time > 0.1)
    feed.pause()
    patiently(lambda: feed.moment(Wanted()).paused)
    with probe.subscribed(WorldState, "world/state") as states:
        probe.spin_until(lambda: states, "the state")
        before = states[-1].sim_step
        feed.step(7)
        probe.spin_until(lambda: states[-1].sim_step == before + 7, "seven steps")
        feed.set_speed(0.5)
        probe.spin_until(lambda: states[-1].target_real_time_factor == 0.5, "half the speed")
        feed.set_speed(1.0)
    feed.reset()
    patiently(lambda: place_of(feed, "ball_0") == pytest.approx(World(WORLD).get_object("ball_0").get_position()))


def test_objects_come_go_and_move(feed, fresh_scene, probe):
    name = feed.add(NewObject("crate", "box", (0.3, 0.4, 0.5), 2.0, (1.0, 2.0, 3.0), "red"))
    patiently(lambda: any(item.name == name for item in feed.model().items))
    crate = next(item for item in feed.model().items if item.name == name)
    assert crate.parts[0].scale == (0.3, 0.4, 0.5)
    feed.move(name, np.array([0.5, 0.0, 0.0]))
    patiently(lambda: place_of(feed, name) == pytest.approx([1.5, 2.0, 3.0]))
    assert "2" in feed.describe(name)
    feed.remove(name)
    patiently(lambda: all(item.name != name for item in feed.model().items))
    with pytest.raises(RaisimError, match="crate"):
        feed.remove(name)
    assert len(probe.call(ListObjects, "list_objects").names) == probe.OBJECTS


def pull_ball_up(feed):
    """Takes hold while the world stands still, or the ball would have left the grip that the viewer saw."""

    def pull():
        feed.pull("ball_0", 0, np.zeros(3), np.array([0.0, 0.0, 6.0]))
        return place_of(feed, "ball_0")[2] > 4.5

    pull()
    feed.play()
    patiently(pull)


def test_a_pull_lifts_a_ball_until_it_is_released(feed, fresh_scene):
    pull_ball_up(feed)
    feed.release()
    patiently(lambda: place_of(feed, "ball_0")[2] < 4.0)
    feed.pause()


def test_a_pull_ends_when_the_viewer_does_not_repeat_it(feed, fresh_scene):
    pull_ball_up(feed)
    patiently(lambda: place_of(feed, "ball_0")[2] < 4.0)  # nobody said so again
    feed.release()
    feed.pause()


def test_a_link_of_a_robot_is_pulled(feed, fresh_scene):
    name = feed.add(NewObject("arm", "", position=(5.0, 0.0, 0.0), file=str(resource("robots/arm.urdf"))))
    patiently(lambda: any(item.name == name for item in feed.model().items))
    item = next(one for one in feed.model().items if one.name == name)
    body = len(item.parts) - 1  # the last link
    assert feed._scene.link_at(item.first_frame + body) == World().add_articulated_system(
        resource("robots/arm.urdf")
    ).get_body_names()[-1]
    start = feed.moment(Wanted()).poses[item.first_frame + body, :3].copy()
    target = start + np.array([0.6, 0.6, -0.4])
    feed.play()

    def pull():
        feed.pull(name, body, np.zeros(3), target)
        return np.linalg.norm(feed.moment(Wanted()).poses[item.first_frame + body, :3] - target) < 0.3

    patiently(pull)
    feed.release()
    feed.pause()
    feed.remove(name)


def test_gains_hold_a_robot(feed, fresh_scene):
    name = feed.add(NewObject("arm", "", position=(5.0, 0.0, 0.0), file=str(resource("robots/arm.urdf"))))
    patiently(lambda: feed.joints(name))
    feed.set_joint(name, "elbow", 0.4)
    patiently(lambda: feed._robot(name).positions().get("elbow") == pytest.approx(0.4))
    feed.set_gains(name, 4000.0, 200.0)
    begin = feed.moment(Wanted()).time
    feed.play()
    patiently(lambda: feed.moment(Wanted()).time > begin + 1.0)
    feed.pause()
    assert feed._robot(name).positions()["elbow"] == pytest.approx(0.4, abs=0.05)
    with pytest.raises(RaisimError, match="ball_0"):
        feed.set_gains("ball_0", 1.0, 1.0)
    feed.remove(name)


WALKER = """<mujoco><worldbody><body name="walker" pos="0 0 1"><freejoint/><geom type="box" size="0.2 0.2 0.05" mass="3"/>
    {legs}</body></worldbody><actuator>{motors}</actuator>
  <keyframe><key name="crouch" qpos="0 0 1 1 0 0 0 {angles}" ctrl="{angles}"/></keyframe></mujoco>"""


def walker(folder, angle=0.3):
    """Four legs on servos, which its keyframe tells where to stand."""
    legs = "".join(f"""<body pos="{x} {y} 0"><joint name="hip_{x}_{y}" axis="0 1 0" damping="0.5"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0.3"/></body>""" for x in (-0.2, 0.2) for y in (-0.2, 0.2))
    motors = "".join(f'<position joint="hip_{x}_{y}" kp="80" kv="4"/>' for x in (-0.2, 0.2) for y in (-0.2, 0.2))
    file = folder / "walker.xml"
    file.write_text(WALKER.format(legs=legs, motors=motors, angles=" ".join(4 * [f"{angle}"])))
    return file


def test_a_robot_of_mjcf_stands_in_the_node_as_its_keyframe_says(feed, fresh_scene, tmp_path, probe):
    pytest.importorskip("mujoco", reason="MJCF needs mujoco")
    file = walker(tmp_path)
    stance = find_stance(file)
    name = feed.add(NewObject("walker", "", position=(4.0, 4.0, 0.0), file=str(file), stance=stance))
    patiently(lambda: name in [one.name for one in feed.model().items])
    patiently(lambda: len(feed.joints(name)) == 4)
    feed.play()
    begin = feed.moment(Wanted()).time
    patiently(lambda: feed.moment(Wanted()).time > begin + 1.0, 60.0)
    assert place_of(feed, name) == pytest.approx((4.0, 4.0, stance.height), abs=0.05)
    patiently(lambda: len(feed.joints(name)) == 4)  # a new model asks for them again
    assert [joint.position for joint in feed.joints(name)] == pytest.approx(4 * [0.3], abs=0.06)
    feed.set_joint(name, feed.joints(name)[0].name, 0.1)
    patiently(lambda: feed.joints(name)[0].position < 0.2, 60.0)
    feed.pause()


def test_wrong_requests_for_robots_of_mjcf_are_refused(fresh_world, tmp_path, probe):
    pytest.importorskip("mujoco", reason="MJCF needs mujoco")
    file = str(walker(tmp_path))
    wrong = [({"state": "jump"}, "state is 'jump'; the robot's file names these: crouch"),
             ({"base": "fixed"}, "base is 'fixed'; expected nothing: MJCF files tell it themselves"),
             ({"joint_order": ["a"]}, "joint_order is ['a']; expected nothing")]
    for fields, text in wrong:
        answer = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="walker", file=file, **fields)
        assert answer.result == ResultCode.INVALID_VALUE
        assert text in answer.message


def test_velocities_and_joints_can_be_plotted(feed, fresh_scene):
    assert VELOCITY in feed.quantities("ball_5")
    feed.step(50)
    patiently(lambda: feed.quantities("ball_5")[VELOCITY].get("z", 0.0) < -0.1)
    name = feed.add(NewObject("arm", "", position=(5.0, 0.0, 0.0), file=str(resource("robots/arm.urdf"))))
    patiently(lambda: feed._scene.kind_of(name) == "articulated_system")
    patiently(lambda: "elbow" in feed.quantities(name)[JOINT_POSITIONS])
    feed.remove(name)


def test_times_of_the_step_are_told_while_somebody_looks(feed, fresh_scene):
    feed.play()
    patiently(lambda: feed.moment(Wanted(profile=True)).profile.get("solve", 0.0) > 0.0)
    assert feed.moment(Wanted(profile=True)).profile["whole step"] > 0.0
    assert feed.moment(Wanted()).profile == {}
    feed.pause()


def test_the_viewer_looks_from_where_the_world_file_says(feed, fresh_scene, tmp_path):
    assert feed.viewpoint() is None or not any(feed.viewpoint()[1])
    file = tmp_path / "seen.xml"
    file.write_text(WORLD.read_text().replace("</raisim>", '<camera follow="ball_1" x="-3" y="-2" z="1"/></raisim>'))
    feed.load(str(file))
    patiently(lambda: feed.viewpoint() == ("ball_1", (-3.0, -2.0, 1.0)))
    feed.load(str(WORLD))
    patiently(lambda: not any(feed.viewpoint()[1]))


def test_the_viewer_looks_at_cloth_when_the_world_file_says_so(feed, fresh_scene):
    """It looked at the origin, with the flag out of sight."""
    feed.load(str(resource("worlds/flag.xml")))
    patiently(lambda: feed.viewpoint() == ("flag", (0.6, 2.6, 0.5)))
    feed.load(str(WORLD))
    patiently(lambda: not any(feed.viewpoint()[1]))


def test_images_of_cameras_are_seen(feed, fresh_scene, probe):
    red = Image(height=2, width=3, step=9, encoding="rgb8", data=bytes([255, 0, 0] * 6))
    depth = np.array([[1.0, 2.0, np.inf]], np.float32)
    grey = Image(height=1, width=3, step=12, encoding="32FC1", data=depth.tobytes())
    eye, deep = (probe.node.create_publisher(Image, f"{name}/image", 10) for name in ("eye", "deep"))

    def seen():
        eye.publish(red)
        deep.publish(grey)
        return {topic.split("/")[-2] for topic in feed.moment(Wanted(images=True)).images} >= {"eye", "deep"}

    patiently(seen)
    images = {topic.split("/")[-2]: image for topic, image in feed.moment(Wanted(images=True)).images.items()}
    for publisher in (eye, deep):
        probe.node.destroy_publisher(publisher)
    assert (images["eye"] == (255, 0, 0)).all()
    assert images["deep"][0, 0, 0] > images["deep"][0, 1, 0] > images["deep"][0, 2, 0] == 0
    assert feed.moment(Wanted()).images == {}


def test_sliders_move_joints(feed, fresh_scene, probe):
    name = feed.add(NewObject("arm", "", position=(5.0, 0.0, 0.0), file=str(resource("robots/arm.urdf"))))
    patiently(lambda: feed.joints(name))  # it answers at once, with none until the description is there
    joints = {joint.name: joint for joint in feed.joints(name)}
    assert joints["elbow"].lower < joints["elbow"].upper
    feed.set_joint(name, "elbow", 0.4)
    patiently(lambda: probe.call(GetObjectInfo, "get_object_info", name=name).result == ResultCode.OK)
    feed._robots.clear()
    patiently(lambda: [j.position for j in feed.joints(name) if j.name == "elbow"] == [pytest.approx(0.4)])
    assert feed.joints("ball_0") == []


def test_wires_are_seen_as_the_node_draws_them_and_are_no_objects(feed, fresh_scene, probe):
    before = feed.model().items
    attach = {"object1": "ball_0", "object2": "ball_1"}
    made = probe.call(SpawnWire, "spawn_wire", name="rope", type="stiff", length=9.0, **attach)
    assert made.result == ResultCode.OK, made.message
    patiently(lambda: len(feed.moment(Wanted()).wires) == 1)
    assert [item.name for item in feed.model().items] == [item.name for item in before]

    def apart():
        balls = np.array([place_of(feed, name) for name in attach.values()])
        return np.abs(feed.moment(Wanted()).wires.ends[0] - balls).max()

    patiently(lambda: apart() < 1e-6)
    number = feed.moment(Wanted()).number
    here = feed.moment(Wanted()).wires.ends.copy()
    feed.step(20)
    patiently(lambda: np.abs(feed.moment(Wanted()).wires.ends - here).max() > 1e-3)
    patiently(lambda: apart() < 1e-6)
    assert feed.moment(Wanted()).number == number  # what moves is no new scene
    assert probe.call(RemoveWire, "remove_wire", name="rope").result == ResultCode.OK
    patiently(lambda: not len(feed.moment(Wanted()).wires))


COLORED = """<raisim version="1.0"><objects>
  <ground name="meadow" appearance="0.35 0.55 0.25 1" height="-0.5"/>
  <mesh name="own" mass="1" file_name="two.obj" scale="0.6 0.6 0.6" collision_mode="convex_hull"><state pos="0 2 1"/></mesh>
  <mesh name="painted" mass="1" file_name="two.obj" appearance="purple" collision_mode="convex_hull"><state pos="0 4 1"/></mesh>
  <compound name="toy" mass="1" appearance="yellow"><children>
    <box appearance="red"><dim x="0.5" y="0.2" z="0.2"/></box>
    <sphere appearance="0.1 0.2 0.9 0.5"><dim radius="0.2"/><state pos="0.4 0 0"/></sphere>
    <cone><dim radius="0.1" height="0.3"/><state pos="-0.4 0 0"/></cone></children><state pos="0 0 1"/></compound>
  <box name="glass" mass="1" appearance="0.2 0.6 1 0.4"><dim x="0.4" y="0.4" z="0.4"/><state pos="3 0 1"/></box>
  <articulated_system name="own_robot" urdf_path="robot.urdf"><state qpos="6 0 1 1 0 0 0"/></articulated_system>
  <articulated_system name="painted_robot" urdf_path="robot.urdf" appearance="green"><state qpos="9 0 1 1 0 0 0"/></articulated_system>
</objects></raisim>"""
COLORED_ROBOT = """<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <visual><geometry><box size="0.4 0.3 0.2"/></geometry><material name="m"><color rgba="0.1 0.8 0.9 0.7"/></material></visual>
  <visual><origin xyz="0 0 0.3"/><geometry><sphere radius="0.1"/></geometry></visual>
  <visual><origin xyz="0 0 0.5"/><geometry><mesh filename="two.obj"/></geometry></visual>
  <collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link></robot>"""


def write_colored_world(folder):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (folder / "two.mtl").write_text("newmtl red\nKd 0.9 0.1 0.1\nnewmtl blue\nKd 0.1 0.1 0.9\n")
    (folder / "two.obj").write_text(f"mtllib two.mtl\n{corners}usemtl red\nf 1 3 2\nf 1 2 4\nusemtl blue\nf 1 4 3\nf 2 3 4\n")
    (folder / "robot.urdf").write_text(COLORED_ROBOT)
    (folder / "world.xml").write_text(COLORED)
    return folder / "world.xml"


def looks(model):
    """What each item looks like: of a robot also without what its description tells beside the markers."""

    def of(part):
        size = tuple(np.round((part.surface.bounds()[1] - part.surface.bounds()[0]) * part.scale, 6))
        return (size, "of the file") if part.surface.glb else (size, *np.round((*part.color, part.opacity), 5))

    seen = {}
    for item in model.items:
        ground = None if item.ground_color is None else tuple(np.round(item.ground_color, 5))
        parts = sorted(str(of(part)) for part in item.parts if part.layer == VISUAL)
        seen[item.name] = item.ground_height, ground, parts
    return seen


def test_everything_looks_as_in_a_world_of_the_same_process(feed, fresh_scene, tmp_path):
    file = write_colored_world(tmp_path)
    expected = looks(world_model(World(str(file))))
    assert expected["meadow"] == (-0.5, (0.35, 0.55, 0.25), [])
    assert "of the file" in expected["own"][2][0]
    feed.load(str(file))
    shown = {}

    def is_there():
        shown.update(looks(feed.model()))
        return expected.keys() <= shown.keys() and all(len(shown[name][2]) == len(expected[name][2]) for name in expected)

    patiently(is_there)
    assert {name: shown[name] for name in expected} == expected
    feed.load(str(WORLD))


def test_terrain_without_a_colour_is_coloured_by_height(feed, fresh_scene, probe):
    heights = {"source": "values", "heights": [0.0, 1.0, 0.5, 0.2, 0.3, 0.8], "x_samples": 3, "y_samples": 2, "x_size": 2.0, "y_size": 1.0}
    for name, appearance in (("hills", ""), ("field", "0.9 0.8 0.1 1")):
        made = probe.call(SpawnHeightMap, "spawn_height_map", name=name, appearance=appearance, **heights)
        assert made.result == ResultCode.OK, made.message
    patiently(lambda: {"hills", "field"} <= {item.name for item in feed.model().items})
    parts = {item.name: item.parts[0] for item in feed.model().items if item.kind == "heightmap"}
    assert parts["hills"].surface.glb is not None
    assert parts["field"].surface.glb is None
    assert parts["field"].color == pytest.approx((0.9, 0.8, 0.1))
    for name in parts:
        feed.remove(name)
    patiently(lambda: not parts.keys() & {item.name for item in feed.model().items})


def test_worlds_are_saved_loaded_and_kept(feed, fresh_scene, tmp_path):
    feed.keep("a")
    feed.step(20)
    feed.bring_back("a")
    assert feed.kept() == ["a"]
    file = tmp_path / "saved.xml"
    feed.save(str(file))
    feed.remove("ball_1")
    patiently(lambda: all(item.name != "ball_1" for item in feed.model().items))
    feed.load(str(file))
    patiently(lambda: any(item.name == "ball_1" for item in feed.model().items))
    with pytest.raises(RaisimError, match="missing"):
        feed.load(str(tmp_path / "missing.xml"))
    feed.load(str(WORLD))


def test_contacts_carry_the_weight_of_the_boxes(feed, fresh_scene):
    feed.moment(Wanted(contacts=True))
    feed.step(100)

    def on_ground():
        moment = feed.moment(Wanted(contacts=True))
        assert np.isfinite(moment.forces).all()
        return moment.forces[np.abs(moment.contacts[:, 2]) < 0.01, 2]

    # What stands on the ground is pushed up, not the ground down; which of them it is comes with an answer of the node.
    patiently(lambda: len(on_ground()) == 4 and on_ground().min() > 1.0)


def test_what_an_object_touches_is_told(feed, fresh_scene):
    """Nobody looks at contacts otherwise: they are listened to while an object is described."""
    feed.step(100)
    named = next(one.get_name() for one in World(WORLD).get_obj_list() if one.get_object_type().name == "BOX")

    def told():
        feed.moment(Wanted())
        return feed.describe(named)

    patiently(lambda: "… with ground" in told())


def test_a_browser_pauses_the_node_and_moves_its_objects(browser, feed, fresh_scene):  # noqa: F811
    from raisim_ros.viewer.viewer import Page

    class Guest(RosFeed):
        """The feed of the other tests, which stays when the page goes."""

        def __init__(self):
            self.__dict__ = feed.__dict__

        def close(self):
            self.release()

    page_of_node = Page(Guest(), port=0, quiet=True)
    without_effects(page_of_node)
    page = open_page(browser, page_of_node)
    try:
        page.get_by_text("Play", exact=True).click()
        wait_until(lambda: not feed.moment(Wanted()).paused, page)
        page.get_by_text("Pause", exact=True).click()
        wait_until(lambda: feed.moment(Wanted()).paused, page)
        page.get_by_role("tab", name="Add").click()
        page.get_by_role("button", name="Add", exact=True).click()
        wait_until(lambda: any(item.name == "sphere" for item in feed.model().items), page)
        drop(page, "dropped_arm.urdf", resource("robots/arm.urdf").read_text())
        wait_until(lambda: any(item.name == "dropped_arm" for item in feed.model().items), page)
    finally:
        page.close()
        page_of_node.close()


def test_cloth_and_grains_are_seen_and_move(feed, fresh_scene, probe):
    box = GrainBox(min=Point(x=3.0, z=1.0), max=Point(x=3.2, y=0.2, z=1.2), radius=0.02, max_radius=0.03, count=20)
    grains = probe.call(SpawnGranular, "spawn_granular", name="sand", boxes=[box])
    cloth = probe.call(SpawnDeformable, "spawn_deformable", name="towel", pose=Pose(position=Point(x=-3.0, z=1.0)))
    assert grains.result == cloth.result == ResultCode.OK

    def soft():
        return feed.moment(Wanted()).soft

    patiently(lambda: set(soft()) == {"sand", "towel"})
    items = {item.name: item for item in feed.model().items}
    assert items["sand"].soft.triangles is None
    assert len(items["towel"].soft.triangles) == 200
    assert len(soft()["sand"].points) == len(soft()["sand"].radii) == grains.particles
    assert np.abs(soft()["sand"].radii - 0.025).max() < 0.0051
    assert len(soft()["towel"].points) == 600
    before = soft()["sand"].points[:, 2].mean(), soft()["towel"].points[:, 2].mean()
    feed.step(30)
    patiently(lambda: soft()["sand"].points[:, 2].mean() < before[0] - 0.05)
    patiently(lambda: soft()["towel"].points[:, 2].mean() < before[1] - 0.05)
    assert place_of(feed, "towel")[2] < before[1]
    feed.remove("sand")
    feed.remove("towel")
    patiently(lambda: not soft())
    patiently(lambda: not {"sand", "towel"} & {item.name for item in feed.model().items})

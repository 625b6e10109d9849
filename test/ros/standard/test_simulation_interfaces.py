"""simulation_interfaces, service by service, from another process, with its result codes."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("simulation_interfaces", reason="needs simulation_interfaces")

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, PoseStamped, Quaternion, Vector3
from robot_calls import robot
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    EntityState,
    Resource,
    Result,
    SimulationState,
    SimulatorFeatures,
    SpawnEntity,
    SpawnResult,
    TagsFilter,
)

from raisim_ros.msg import WorldState

WORLD = Path(__file__).parents[1] / "node_world.xml"
BALL = '<sphere name="ball" mass="2"><dim radius="0.25"/></sphere>'
MJCF = (
    "<mujoco model='pendulum'><worldbody><geom type='plane' size='5 5 1'/><body name='rod' pos='0 0 1'>"
    "<joint name='hinge' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -0.5' size='0.05'/></body></worldbody></mujoco>"
)
OK = Result.RESULT_OK


def snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def call(probe, service_type, **fields):
    return probe.call(service_type, snake(service_type.__name__), **fields)


def good(response):
    assert response.result.result == OK, response.result.error_message
    return response


def spawn(probe, text="", uri="", **fields):
    """By version 1 of the standard, or version 2."""
    request = srv.SpawnEntity.Request()
    layout = {"uri": uri, "resource_string": text} if hasattr(request, "uri") else {"entity_resource": Resource(uri=uri, resource_string=text)}
    return call(probe, srv.SpawnEntity, **layout, **fields)


def at(x=0.0, y=0.0, z=0.0, frame="", w=1.0):
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position, pose.pose.orientation = Point(x=x, y=y, z=z), Quaternion(w=w)
    return pose


def simulation_state(probe):
    return good(call(probe, srv.GetSimulationState)).state.state


def set_simulation_state(probe, state):
    return call(probe, srv.SetSimulationState, state=SimulationState(state=state)).result


@pytest.fixture(autouse=True)
def _fresh(fresh_world):
    pass


def test_features_are_told(probe):
    features = call(probe, srv.GetSimulatorFeatures).features
    assert {"urdf", "mjcf"} <= set(features.spawn_formats)
    assert SimulatorFeatures.SPAWNING in features.features
    assert SimulatorFeatures.STEP_SIMULATION_ACTION in features.features


def test_every_service_of_the_standard_is_there(probe):
    names = {name for name, _ in probe.node.get_service_names_and_types()}
    for name in dir(srv):
        if name[0].isupper() and not name.endswith(("_Request", "_Response", "_Event")):
            assert f"/{snake(name)}" in names, name


def test_a_robot_is_spawned_in_a_namespace_and_deleted(probe):
    answer = good(spawn(probe, uri=robot("arm"), name="panda", entity_namespace="robot_a", initial_pose=at(x=7.0)))
    assert answer.entity_name == "robot_a/panda"
    probe.spin_until(lambda: "/robot_a/panda/joint_states" in probe.topics(), "its topics")
    state = good(call(probe, srv.GetEntityState, entity="robot_a/panda")).state
    assert state.pose.position.x == pytest.approx(7.0)
    assert state.header.frame_id == "world"
    info = good(call(probe, srv.GetEntityInfo, entity="robot_a/panda")).info
    assert info.category.category == EntityCategory.CATEGORY_ROBOT
    good(call(probe, srv.DeleteEntity, entity="robot_a/panda"))
    assert call(probe, srv.DeleteEntity, entity="robot_a/panda").result.result == Result.RESULT_NOT_FOUND


def test_entities_come_from_texts_of_every_format(probe):
    with open(robot("arm"), encoding="utf-8") as file:
        urdf = file.read()
    assert good(spawn(probe, text=urdf, name="arm")).entity_name == "arm"
    assert good(spawn(probe, text=BALL)).entity_name == "ball"
    assert good(spawn(probe, text=f"<raisim><objects>{BALL}</objects></raisim>", name="second")).entity_name == "second"
    assert good(spawn(probe, text=MJCF, name="rod", initial_pose=at(z=2.0))).entity_name == "rod"
    names = good(call(probe, srv.GetEntities)).entities
    assert {"arm", "ball", "second", "rod"} <= set(names)


def test_a_pose_may_be_given_in_the_frame_of_another_entity(probe):
    good(spawn(probe, text=BALL, name="first", initial_pose=at(x=3.0, z=5.0)))
    good(spawn(probe, text=BALL, name="second", initial_pose=at(y=1.0, frame="first")))
    position = good(call(probe, srv.GetEntityState, entity="second")).state.pose.position
    assert (position.x, position.y, position.z) == pytest.approx((3.0, 1.0, 5.0))
    moved = EntityState()
    moved.header.frame_id, moved.pose.position = "first", Point(x=0.5)
    moved.twist.linear = Vector3(z=1.5)
    flags = {"set_pose": True, "set_twist": True} if hasattr(srv.SetEntityState.Request(), "set_pose") else {}
    good(call(probe, srv.SetEntityState, entity="second", state=moved, **flags))
    state = good(call(probe, srv.GetEntityState, entity="second")).state
    assert (state.pose.position.x, state.twist.linear.z) == pytest.approx((3.5, 1.5))


WRONG_SPAWNS = {
    "nothing": ({}, SpawnResult.NO_RESOURCE),
    "taken name": ({"text": BALL, "name": "box_0"}, SpawnResult.NAME_NOT_UNIQUE),
    "bad name": ({"text": BALL, "name": "a b"}, SpawnResult.NAME_INVALID),
    "no name": ({"text": "<sphere mass='1'><dim radius='1'/></sphere>"}, SpawnResult.NAME_INVALID),
    "bad namespace": ({"text": BALL, "entity_namespace": "a-b"}, SpawnResult.NAMESPACE_INVALID),
    "sdf": ({"text": "<sdf version='1.9'/>", "name": "new"}, SpawnResult.UNSUPPORTED_FORMAT),
    "broken": ({"text": "<robot>", "name": "new"}, SpawnResult.RESOURCE_PARSE_ERROR),
    "broken sphere": ({"text": "<sphere mass='-1'/>", "name": "new"}, SpawnResult.RESOURCE_PARSE_ERROR),
    "no such file": ({"uri": "/no/such.urdf", "name": "new"}, Result.RESULT_NOT_FOUND),
    "missing mesh": (
        {"text": "<mesh name='new' file_name='gone.obj' mass='1'/>"},
        SpawnResult.MISSING_ASSETS,
    ),
    "bad quaternion": ({"text": BALL, "initial_pose": at(w=0.0)}, SpawnResult.INVALID_POSE),
    "unknown frame": ({"text": BALL, "initial_pose": at(frame="nowhere")}, SpawnResult.INVALID_POSE),
    "far away": ({"text": BALL, "initial_pose": at(x=1e300)}, SpawnResult.INVALID_POSE),
}


@pytest.mark.parametrize("case", WRONG_SPAWNS)
def test_a_wrong_spawn_has_its_code_and_changes_nothing(probe, case):
    fields, code = WRONG_SPAWNS[case]
    before = good(call(probe, srv.GetEntities)).entities
    answer = spawn(probe, **fields)
    assert answer.result.result == code, answer.result.error_message
    assert answer.result.error_message
    assert good(call(probe, srv.GetEntities)).entities == before


def test_renaming_is_done_when_allowed(probe):
    answer = good(spawn(probe, text=BALL, name="box_0", allow_renaming=True))
    assert answer.entity_name == "box_0_1"


def test_several_are_spawned_with_a_result_each(probe):
    resource = Resource(resource_string=BALL)
    requests = [SpawnEntity(name=name, entity_resource=resource) for name in ("one", "box_0", "two")]
    answer = call(probe, srv.SpawnEntities, spawn_requests=requests)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert [one.result.result for one in answer.results] == [OK, SpawnResult.NAME_NOT_UNIQUE, OK]
    assert {"one", "two"} <= set(good(call(probe, srv.GetEntities)).entities)


def test_entities_are_filtered(probe):
    def chosen(**fields):
        return set(good(call(probe, srv.GetEntities, filters=EntityFilters(**fields))).entities)

    everything = chosen()
    assert chosen(filter="^box_") == {"box_0", "box_1", "box_2"}
    assert chosen(filter="^(b.*)*o.*x.*_[[:digit:]]$") == {"box_0", "box_1", "box_2"}
    robots = [EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]
    assert chosen(categories=robots) == set()
    statics = [EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)]
    assert chosen(categories=statics) == {"ground"}
    info = EntityInfo(category=EntityCategory(category=EntityCategory.CATEGORY_HUMAN), tags=["red", "round"])
    good(call(probe, srv.SetEntityInfo, entity="ball_0", info=info))
    assert chosen(tags=TagsFilter(tags=["red"])) == {"ball_0"}
    assert chosen(tags=TagsFilter(tags=["red", "blue"], filter_mode=TagsFilter.FILTER_MODE_ALL)) == set()
    good(spawn(probe, text=BALL, name="far", initial_pose=at(x=50.0, z=5.0)))
    sphere = Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(x=50.0, z=5.3), Vector3(x=0.1)])
    assert "far" in chosen(bounds=sphere)
    box = Bounds(type=Bounds.TYPE_BOX, points=[Vector3(x=51.0, y=1.0, z=6.0), Vector3(x=49.0, y=-1.0, z=4.0)])
    assert chosen(bounds=box) & (everything | {"far"}) >= {"far"}
    corners = [Vector3(x=49.9, z=4.9), Vector3(x=50.1, z=4.9), Vector3(x=50.0, y=0.1, z=5.1), Vector3(x=50.0, y=-0.1, z=5.1)]
    assert "far" in chosen(bounds=Bounds(type=Bounds.TYPE_CONVEX_HULL, points=corners))
    away = [Vector3(x=c.x + 3.0, y=c.y, z=c.z) for c in corners]
    assert "far" not in chosen(bounds=Bounds(type=Bounds.TYPE_CONVEX_HULL, points=away))
    states = good(call(probe, srv.GetEntitiesStates, filters=EntityFilters(filter="far")))
    assert (states.entities, states.states[0].pose.position.x) == (["far"], 50.0)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"filter": "("}, Result.RESULT_OPERATION_FAILED),
        ({"filter": "(a{99}){99}"}, Result.RESULT_OPERATION_FAILED),
        ({"filter": "a" * 300}, Result.RESULT_OPERATION_FAILED),
        ({"categories": [EntityCategory(category=77)]}, Result.RESULT_OPERATION_FAILED),
        ({"tags": TagsFilter(tags=["a"], filter_mode=9)}, Result.RESULT_OPERATION_FAILED),
        ({"bounds": Bounds(type=99)}, Result.RESULT_FEATURE_UNSUPPORTED),
        ({"bounds": Bounds(type=Bounds.TYPE_BOX)}, Result.RESULT_OPERATION_FAILED),
        ({"bounds": Bounds(type=Bounds.TYPE_CONVEX_HULL, points=[Vector3()] * 2)}, Result.RESULT_OPERATION_FAILED),
        ({"bounds": Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(), Vector3(x=-1.0)])}, Result.RESULT_OPERATION_FAILED),
        ({"bounds": Bounds(type=Bounds.TYPE_BOX, points=[Vector3(x=float("nan")), Vector3()])}, Result.RESULT_OPERATION_FAILED),
    ],
)
def test_a_wrong_filter_is_refused(probe, fields, code):
    answer = call(probe, srv.GetEntities, filters=EntityFilters(**fields))
    assert answer.result.result == code, answer.result.error_message


@pytest.mark.parametrize("service", [srv.GetEntityState, srv.GetEntityInfo, srv.GetEntityBounds, srv.SetEntityInfo, srv.SetEntityState])
def test_an_unknown_entity_is_not_found(probe, service):
    assert call(probe, service, entity="nobody").result.result == Result.RESULT_NOT_FOUND


def test_static_objects_take_no_velocity_and_bad_poses_are_refused(probe):
    state = EntityState()
    state.twist.linear.x = 1.0
    flags = {"set_pose": True, "set_twist": True} if hasattr(srv.SetEntityState.Request(), "set_pose") else {}
    refused = call(probe, srv.SetEntityState, entity="ground", state=state, **flags)
    assert refused.result.result == Result.RESULT_OPERATION_FAILED
    state = EntityState()
    state.pose.orientation.w = 0.0
    refused = call(probe, srv.SetEntityState, entity="ball_0", state=state, **flags)
    assert refused.result.result == srv.SetEntityState.Response.INVALID_POSE


def test_bounds_are_boxes_in_the_entity_frame(probe):
    good(spawn(probe, text='<box name="crate" mass="1"><dim x="1" y="2" z="3"/></box>', initial_pose=at(x=9.0, z=5.0)))
    bounds = good(call(probe, srv.GetEntityBounds, entity="crate")).bounds
    assert bounds.type == Bounds.TYPE_BOX
    high, low = bounds.points
    assert (high.x, high.y, high.z) == pytest.approx((0.5, 1.0, 1.5))
    assert (low.x, low.y, low.z) == pytest.approx((-0.5, -1.0, -1.5))
    assert good(call(probe, srv.GetEntityBounds, entity="ground")).bounds.type == Bounds.TYPE_EMPTY


def test_spawnables_can_be_spawned(probe, tmp_path):
    found = good(call(probe, srv.GetSpawnables, sources=["/no/such/folder"]))
    assert "/no/such/folder" in found.result.error_message
    uris = [getattr(one, "uri", None) or one.entity_resource.uri for one in found.spawnables]
    arm = next(uri for uri in uris if uri.endswith("/arm.urdf"))
    good(spawn(probe, uri=arm, name="from_uri"))


# ---- time ----


def test_states_of_the_simulation_follow_the_standard(probe):
    states, answer = SimulationState, srv.SetSimulationState.Response
    assert set_simulation_state(probe, states.STATE_PLAYING).result == OK
    assert simulation_state(probe) == states.STATE_PLAYING
    assert set_simulation_state(probe, states.STATE_PLAYING).result == answer.ALREADY_IN_TARGET_STATE
    assert set_simulation_state(probe, states.STATE_PAUSED).result == OK
    assert simulation_state(probe) == states.STATE_PAUSED
    good(spawn(probe, text=BALL, name="extra"))
    assert set_simulation_state(probe, states.STATE_STOPPED).result == OK
    assert simulation_state(probe) == states.STATE_STOPPED
    assert "extra" not in good(call(probe, srv.GetEntities)).entities
    assert set_simulation_state(probe, states.STATE_LOADING_WORLD).result == answer.INCORRECT_TRANSITION


def test_steps_need_a_paused_simulation(probe):
    with probe.subscribed(WorldState, "world/state") as worlds:
        good(call(probe, srv.StepSimulation))
        good(call(probe, srv.StepSimulation, steps=9))
        probe.spin_until(lambda: worlds and worlds[-1].sim_step == 10, "ten steps")
    assert call(probe, srv.StepSimulation, steps=0).result.result == Result.RESULT_OPERATION_FAILED
    set_simulation_state(probe, SimulationState.STATE_PLAYING)
    assert call(probe, srv.StepSimulation).result.result == Result.RESULT_OPERATION_FAILED
    set_simulation_state(probe, SimulationState.STATE_PAUSED)


def test_the_action_tells_every_step_and_can_be_cancelled(probe):
    client = probe.action_client(SimulateSteps, "simulate_steps")
    probe.spin_until(client.server_is_ready, "the action")
    told = []

    def send(steps):
        future = client.send_goal_async(SimulateSteps.Goal(steps=steps), feedback_callback=lambda message: told.append(message.feedback))
        probe.spin_until(future.done, "the goal to be accepted")
        return future.result()

    def end(handle):
        future = handle.get_result_async()
        probe.spin_until(future.done, "the result")
        return future.result()

    while not told:  # the server's side of the feedback may find its reader late
        end(send(1))
    told.clear()
    handle = send(8)
    # A client that has asked for the result drops the feedback that comes after it.
    probe.spin_until(lambda: told and told[-1].remaining_steps == 0, "the last feedback")
    done = end(handle)
    assert (done.status, done.result.result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    assert [one.completed_steps for one in told] == list(range(1, 9))
    handle = send(1_000_000_000)
    cancel = handle.cancel_goal_async()
    probe.spin_until(cancel.done, "the cancel answer")
    assert end(handle).status == GoalStatus.STATUS_CANCELED
    set_simulation_state(probe, SimulationState.STATE_PLAYING)
    refused = end(send(3))
    assert refused.status == GoalStatus.STATUS_ABORTED
    assert refused.result.result.result == Result.RESULT_OPERATION_FAILED
    set_simulation_state(probe, SimulationState.STATE_PAUSED)


def test_resets_have_scopes(probe):
    scopes = srv.ResetSimulation.Request
    good(spawn(probe, text=BALL, name="extra", initial_pose=at(x=30.0, z=50.0)))
    good(call(probe, srv.StepSimulation, steps=20))
    good(call(probe, srv.ResetSimulation, scope=scopes.SCOPE_STATE))
    state = good(call(probe, srv.GetEntityState, entity="extra")).state
    assert (state.pose.position.z, state.header.stamp.nanosec) == (50.0, 100_000_000)
    good(call(probe, srv.ResetSimulation, scope=scopes.SCOPE_SPAWNED))
    assert "extra" not in good(call(probe, srv.GetEntities)).entities
    good(call(probe, srv.ResetSimulation))
    state = good(call(probe, srv.GetEntityState, entity="ball_0")).state
    assert (state.header.stamp.sec, state.header.stamp.nanosec) == (0, 0)
    assert call(probe, srv.ResetSimulation, scope=8).result.result == Result.RESULT_OPERATION_FAILED


# ---- worlds ----


def load(probe, uri="", text="", **fields):
    request = srv.LoadWorld.Request()
    layout = {"uri": uri, "resource_string": text} if hasattr(request, "uri") else {"world_resource": Resource(uri=uri, resource_string=text)}
    return call(probe, srv.LoadWorld, **layout, **fields)


def test_worlds_are_listed_loaded_and_unloaded(probe, shared_node, start_node):
    worlds = good(call(probe, srv.GetAvailableWorlds)).worlds
    materials = next(world for world in worlds if world.name == "materials")
    answer = good(load(probe, uri=materials.world_resource.uri))
    assert answer.world.name == "materials"
    assert simulation_state(probe) == SimulationState.STATE_STOPPED
    assert good(call(probe, srv.GetCurrentWorld)).world.name == "materials"
    answer = srv.LoadWorld.Response
    assert load(probe).result.result == answer.NO_RESOURCE
    assert load(probe, uri="/no/such.xml").result.result == Result.RESULT_NOT_FOUND
    assert load(probe, text="<sdf/>").result.result == answer.UNSUPPORTED_FORMAT
    assert load(probe, text="<raisim><objects>").result.result == answer.RESOURCE_PARSE_ERROR
    odd = "<raisim><objects><ground/></objects><unheard_of/></raisim>"
    assert load(probe, text=odd, fail_on_unsupported_element=True).result.result == answer.UNSUPPORTED_ELEMENTS
    missing = "<raisim><objects><mesh file_name='gone.obj' mass='1'/></objects></raisim>"
    assert load(probe, text=missing).result.result == answer.MISSING_ASSETS
    assert good(call(probe, srv.GetCurrentWorld)).world.name == "materials"
    good(load(probe, text=odd))
    assert len(good(call(probe, srv.GetEntities)).entities) == 1
    good(call(probe, srv.UnloadWorld))
    assert good(call(probe, srv.GetEntities)).entities == []
    assert simulation_state(probe) == SimulationState.STATE_NO_WORLD
    assert call(probe, srv.GetCurrentWorld).result.result == srv.GetCurrentWorld.Response.NO_WORLD_LOADED
    assert call(probe, srv.UnloadWorld).result.result == srv.UnloadWorld.Response.NO_WORLD_LOADED
    assert set_simulation_state(probe, SimulationState.STATE_PLAYING).result == Result.RESULT_INCORRECT_STATE
    missing = call(probe, srv.GetAvailableWorlds, additional_sources=["/no/such/folder"])
    assert missing.result.result == Result.RESULT_NOT_FOUND
    good(load(probe, uri=str(WORLD)))


def test_named_poses_of_a_world_are_told_and_can_be_spawned_at(probe):
    text = (
        '<raisim><named_pose name="dock" pos="4 5 1" description="the charger" tags="parking, spawn" size="1 2 3"/>'
        '<named_pose name="goal" pos="9 0 1"/></raisim>'
    )
    good(load(probe, text=text))
    poses = good(call(probe, srv.GetNamedPoses)).poses
    assert [pose.name for pose in poses] == ["dock", "goal"]
    (dock,) = good(call(probe, srv.GetNamedPoses, tags=TagsFilter(tags=["parking"]))).poses
    assert (dock.description, list(dock.tags), dock.pose.position.y) == ("the charger", ["parking", "spawn"], 5.0)
    high, low = good(call(probe, srv.GetNamedPoseBounds, name="dock")).bounds.points
    assert (high.x, high.y, low.z) == (0.5, 1.0, -1.5)
    assert good(call(probe, srv.GetNamedPoseBounds, name="goal")).bounds.type == Bounds.TYPE_EMPTY
    assert call(probe, srv.GetNamedPoseBounds, name="nowhere").result.result == Result.RESULT_NOT_FOUND
    good(spawn(probe, text=BALL, initial_pose=PoseStamped(pose=dock.pose)))
    assert good(call(probe, srv.GetEntityState, entity="ball")).state.pose.position.x == 4.0
    good(load(probe, uri=str(WORLD)))


def test_the_node_can_be_told_to_quit(probe, start_node):
    node = start_node(namespace="/leaving", paused=True)
    answer = probe.call(srv.SetSimulationState, "/leaving/set_simulation_state", state=SimulationState(state=SimulationState.STATE_QUITTING))
    assert answer.result.result == OK
    assert node.wait_for_exit() == 0

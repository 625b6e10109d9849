"""Services: every request is answered with a code and a sentence; a refused one changes nothing."""

import math

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from service_calls import ok

from raisim_ros.msg import ContactArray, MaterialPair, ObjectState, ObjectStateArray, ResultCode
from raisim_ros.srv import (
    GetMaterialPair,
    GetObjectInfo,
    ListObjects,
    RemoveObject,
    RestoreSnapshot,
    SaveSnapshot,
    SetCollisionFilter,
    SetDefaultMaterial,
    SetMaterialPair,
    SetObjectMaterial,
    SetObjectState,
    SpawnObject,
    Step,
)

pytestmark = pytest.mark.usefixtures("fresh_world")

NAN, INFINITY = math.nan, math.inf
FAR = Pose(position=Point(x=50.0, y=0.0, z=10.0))


def spawn_ball(probe, name="ball", **fields):
    return ok(probe.call(SpawnObject, "spawn_object", name=name, shape="sphere", radius=0.1, pose=FAR, **fields))


def info(probe, name):
    return ok(probe.call(GetObjectInfo, "get_object_info", name=name))


def step(probe, steps=1):
    return ok(probe.call(Step, "step", steps=steps))


def snapshot_of_everything(probe):
    """All names and the state of every object, as text."""
    with probe.subscribed(ObjectStateArray, "states") as arrays:
        probe.spin_until(lambda: arrays, "states")
    for state in arrays[-1].states:
        state.wall_time = 0.0
    return [str(state) for state in arrays[-1].states]


# ---- spawning and removing ----


def test_spawned_object_is_listed_published_and_removed_without_a_trace(probe):
    spawned = spawn_ball(probe, mass=2.5)
    listed = ok(probe.call(ListObjects, "list_objects"))
    assert len(listed.names) == probe.OBJECTS + 1
    row = listed.names.index("ball")
    assert (listed.ids[row], listed.types[row], listed.body_types[row]) == (spawned.id, "sphere", "dynamic")
    assert "ball" in ok(probe.call(ListObjects, "list_objects", type="sphere")).names
    assert "ball" not in ok(probe.call(ListObjects, "list_objects", type="box")).names
    with probe.subscribed(ObjectState, "ball/state") as states:
        probe.spin_until(lambda: states, "its state")
        assert (states[-1].name, states[-1].id, states[-1].mass) == ("ball", spawned.id, 2.5)
    ok(probe.call(RemoveObject, "remove_object", name="ball"))
    assert len(ok(probe.call(ListObjects, "list_objects")).names) == probe.OBJECTS
    probe.wait_for_topics_to_go(lambda topic: topic in {"/ball/state", "/ball/cmd"})


def test_names_are_made_valid_and_unique_on_request(probe):
    assert spawn_ball(probe, "my ball").name == "my_ball"
    assert spawn_ball(probe, "my ball", allow_renaming=True).name == "my_ball_1"
    unnamed = spawn_ball(probe, "", allow_renaming=True)
    assert unnamed.name == f"sphere_{unnamed.id}"
    assert spawn_ball(probe, "world", allow_renaming=True).name == "world_1"


def test_a_name_is_free_again_after_removal_and_ids_are_not_reused(probe):
    first = spawn_ball(probe)
    ok(probe.call(RemoveObject, "remove_object", name="ball"))
    second = spawn_ball(probe)
    assert second.name == "ball"
    assert second.id != first.id


SPHERE = {"name": "new", "shape": "sphere", "radius": 0.1}
BOX = {"name": "new", "shape": "box", "size": [0.1, 0.2, 0.3]}
BAD_SPAWNS = {
    "negative mass": ({**SPHERE, "mass": -1.0}, ResultCode.INVALID_VALUE, "mass"),
    "zero mass": ({**SPHERE, "mass": 0.0}, ResultCode.INVALID_VALUE, "mass"),
    "NaN mass": ({**SPHERE, "mass": NAN}, ResultCode.INVALID_VALUE, "mass"),
    "infinite mass": ({**SPHERE, "mass": INFINITY}, ResultCode.INVALID_VALUE, "mass"),
    "zero radius": ({**SPHERE, "radius": 0.0}, ResultCode.INVALID_VALUE, "radius"),
    "no radius": ({"name": "new", "shape": "sphere"}, ResultCode.INVALID_VALUE, "radius"),
    "negative radius": ({**SPHERE, "radius": -0.1}, ResultCode.INVALID_VALUE, "radius"),
    "NaN radius": ({**SPHERE, "radius": NAN}, ResultCode.INVALID_VALUE, "dim"),
    "absurd radius": ({**SPHERE, "radius": 1e200}, ResultCode.INVALID_VALUE, "radius"),
    "flat box": ({**BOX, "size": [0.1, 0.0, 0.3]}, ResultCode.INVALID_VALUE, "y length"),
    "NaN box": ({**BOX, "size": [0.1, NAN, 0.3]}, ResultCode.INVALID_VALUE, "size"),
    "absurd box": ({**BOX, "size": [1e300, 1e300, 1e300]}, ResultCode.INVALID_VALUE, "x length"),
    "no shape": ({"name": "new"}, ResultCode.INVALID_VALUE, "shape"),
    "unknown shape": ({"name": "new", "shape": "teapot"}, ResultCode.INVALID_VALUE, "teapot"),
    "unknown body type": ({**SPHERE, "body_type": "liquid"}, ResultCode.INVALID_VALUE, "liquid"),
    "empty name": ({**SPHERE, "name": ""}, ResultCode.NAME_TAKEN, "empty"),
    "useless name": ({**SPHERE, "name": "?!"}, ResultCode.NAME_TAKEN, "letter or digit"),
    "taken name": ({**SPHERE, "name": "ground"}, ResultCode.NAME_TAKEN, "taken"),
    "reserved name": ({**SPHERE, "name": "states"}, ResultCode.NAME_TAKEN, "reserved"),
    "NaN position": ({**SPHERE, "pose": Pose(position=Point(x=NAN))}, ResultCode.INVALID_VALUE, "pose.position"),
    "zero quaternion": (
        {**SPHERE, "pose": Pose(orientation=Quaternion(w=0.0))},
        ResultCode.INVALID_VALUE,
        "pose.orientation",
    ),
    "infinite velocity": (
        {**SPHERE, "twist": Twist(linear=Vector3(y=INFINITY))},
        ResultCode.INVALID_VALUE,
        "twist.linear",
    ),
    "short inertia": ({**SPHERE, "inertia": [1.0, 0.0]}, ResultCode.INVALID_VALUE, "inertia"),
    "impossible inertia": (
        {**SPHERE, "inertia": [1.0, 0.0, 0.0, 1.0, 0.0, -1.0]},
        ResultCode.INVALID_VALUE,
        "inertia",
    ),
    "far position": ({**SPHERE, "pose": Pose(position=Point(x=1e300))}, ResultCode.INVALID_VALUE, "pose.position"),
    "absurd velocity": ({**SPHERE, "twist": Twist(angular=Vector3(y=1e300))}, ResultCode.INVALID_VALUE, "twist.angular"),
    "unknown appearance": ({**SPHERE, "appearance": "orang"}, ResultCode.INVALID_VALUE, "did you mean 'orange'"),
    "no material": ({**SPHERE, "material": ""}, ResultCode.INVALID_VALUE, "material"),
    "crossed rates": ({**SPHERE, "min_rate_hz": 9.0, "max_rate_hz": 3.0}, ResultCode.INVALID_VALUE, "max_rate_hz 3"),
    "unknown frames": ({**SPHERE, "publish_tf": "some"}, ResultCode.INVALID_VALUE, "all, base, links, none"),
    "short com": ({**SPHERE, "com": [1.0]}, ResultCode.INVALID_VALUE, "com"),
    "bad rate": ({**SPHERE, "min_rate_hz": 0.0}, ResultCode.INVALID_VALUE, "min_rate_hz"),
    "NaN rate": ({**SPHERE, "max_rate_hz": NAN}, ResultCode.INVALID_VALUE, "max_rate_hz"),
    "mesh without file": ({"name": "new", "shape": "mesh"}, ResultCode.INVALID_VALUE, "mesh_file"),
    "mesh file missing": (
        {"name": "new", "shape": "mesh", "mesh_file": "/no/such.obj"},
        ResultCode.MISSING_FILE,
        "/no/such.obj",
    ),
    "package missing": (
        {"name": "new", "shape": "mesh", "mesh_file": "package://no_such_package/a.obj"},
        ResultCode.MISSING_FILE,
        "no_such_package",
    ),
    "empty compound": ({"name": "new", "shape": "compound"}, ResultCode.INVALID_VALUE, "children"),
}


@pytest.mark.parametrize("case", BAD_SPAWNS)
def test_a_bad_spawn_is_refused_and_changes_nothing(probe, case):
    fields, code, text = BAD_SPAWNS[case]
    before = snapshot_of_everything(probe)
    response = probe.call(SpawnObject, "spawn_object", **fields)
    assert response.result == code, response.message
    assert text in response.message
    assert snapshot_of_everything(probe) == before


def test_unknown_and_removed_objects_are_named(probe):
    spawn_ball(probe)
    ok(probe.call(RemoveObject, "remove_object", name="ball"))
    calls = [
        probe.call(RemoveObject, "remove_object", name="ball"),
        probe.call(RemoveObject, "remove_object", name=""),
        probe.call(GetObjectInfo, "get_object_info", name="ball"),
        probe.call(SetObjectState, "set_object_state", name="ball"),
        probe.call(SetObjectMaterial, "set_object_material", name="ball", material="ice"),
        probe.call(SetCollisionFilter, "set_collision_filter", name="ball"),
    ]
    for response in calls:
        assert response.result == ResultCode.UNKNOWN_OBJECT
        assert "no object is named" in response.message


# ---- state, materials, filters ----


def test_object_info_tells_what_was_spawned(probe):
    fields = {"size": [0.2, 0.4, 0.6], "mass": 3.0, "material": "steel", "collision_group": 6, "collision_mask": 5}
    ok(probe.call(SpawnObject, "spawn_object", name="crate", shape="box", appearance="red", pose=FAR, **fields))
    response = info(probe, "crate")
    told = response.info
    assert (told.type, told.body_type, told.material, told.appearance) == ("box", "dynamic", "steel", "red")
    assert (told.collision_group, told.collision_mask, told.mass) == (6, 5, 3.0)
    assert list(told.size) == [0.2, 0.4, 0.6]
    diagonal = [3.0 / 12.0 * (b * b + c * c) for b, c in ((0.4, 0.6), (0.2, 0.6), (0.2, 0.4))]
    assert list(told.inertia[[0, 4, 8]]) == pytest.approx(diagonal, rel=1e-12)
    assert (told.frame_id, told.state_topic, told.command_topic) == ("crate", "/crate/state", "/crate/cmd")
    assert response.state.pose == FAR


def test_set_object_state_moves_the_object_and_keeps_what_is_not_asked_for(probe):
    spawn_ball(probe)
    pose = Pose(position=Point(x=60.0, y=1.0, z=5.0), orientation=Quaternion(x=1.0, y=0.0, z=0.0, w=0.0))
    twist = Twist(linear=Vector3(x=1.0, y=2.0, z=3.0), angular=Vector3(x=0.0, y=0.0, z=4.0))
    ok(probe.call(SetObjectState, "set_object_state", name="ball", pose=pose, twist=twist))
    state = info(probe, "ball").state
    assert (state.pose, state.twist) == (pose, twist)
    ok(probe.call(SetObjectState, "set_object_state", name="ball", pose=FAR, set_twist=False))
    state = info(probe, "ball").state
    assert (state.pose, state.twist) == (FAR, twist)
    bad = Pose(position=Point(x=NAN))
    refused = probe.call(SetObjectState, "set_object_state", name="ball", pose=bad, twist=Twist())
    assert refused.result == ResultCode.INVALID_VALUE
    assert info(probe, "ball").state.twist == twist


def test_static_object_cannot_get_a_velocity(probe):
    twist = Twist(linear=Vector3(x=1.0))
    refused = probe.call(SetObjectState, "set_object_state", name="ground", set_pose=False, twist=twist)
    assert refused.result == ResultCode.UNSUPPORTED


def test_material_pairs_are_set_and_read(probe):
    pair = MaterialPair(friction=0.1, restitution=0.5, restitution_threshold=0.2)
    ok(probe.call(SetMaterialPair, "set_material_pair", material_1="ice", material_2="steel", properties=pair))
    told = ok(probe.call(GetMaterialPair, "get_material_pair", material_1="steel", material_2="ice")).properties
    assert (told.friction, told.restitution, told.restitution_threshold) == (0.1, 0.5, 0.2)
    assert told.static_friction == 0.1
    default = MaterialPair(friction=0.3)
    ok(probe.call(SetDefaultMaterial, "set_default_material", properties=default))
    told = ok(probe.call(GetMaterialPair, "get_material_pair", material_1="wood", material_2="ice")).properties
    assert told.friction == 0.3
    for bad in (MaterialPair(friction=-1.0), MaterialPair(friction=NAN), MaterialPair(static_friction=NAN)):
        refused = probe.call(SetMaterialPair, "set_material_pair", material_1="ice", material_2="steel", properties=bad)
        assert refused.result == ResultCode.INVALID_VALUE
    told = ok(probe.call(GetMaterialPair, "get_material_pair", material_1="steel", material_2="ice")).properties
    assert told.friction == 0.1


def test_object_material_and_filter_are_set(probe):
    spawn_ball(probe)
    ok(probe.call(SetObjectMaterial, "set_object_material", name="ball", material="ice"))
    ok(probe.call(SetCollisionFilter, "set_collision_filter", name="ball", collision_group=4, collision_mask=8))
    told = info(probe, "ball").info
    assert (told.material, told.collision_group, told.collision_mask) == ("ice", 4, 8)
    refused = probe.call(SetObjectMaterial, "set_object_material", name="ball", material="ice", local_index=3)
    assert refused.result == ResultCode.INVALID_VALUE
    # With that mask it meets no ground.
    low = Pose(position=Point(x=50.0, z=0.05))
    ok(probe.call(SetObjectState, "set_object_state", name="ball", pose=low))
    step(probe, 100)
    assert info(probe, "ball").state.pose.position.z == pytest.approx(0.05 - 0.5 * 9.81 * 0.5**2, abs=1e-9)


# ---- contacts and snapshots ----


def test_contacts_of_a_resting_ball_carry_its_weight(probe):
    rest = Pose(position=Point(x=50.0, z=0.1))
    ok(probe.call(SpawnObject, "spawn_object", name="rest", shape="sphere", radius=0.1, mass=2.0, pose=rest))
    with probe.subscribed(ContactArray, "contacts") as arrays:
        step(probe, 200)
        probe.spin_until(lambda: arrays and arrays[-1].header.stamp.sec == 1, "the contacts after a second")
    (contact,) = [c for c in arrays[-1].contacts if "rest" in (c.object_a, c.object_b)]
    assert {contact.object_a, contact.object_b} == {"rest", "ground"}
    assert abs(contact.normal.z) == pytest.approx(1.0, abs=1e-9)
    assert abs(contact.impulse.z) == pytest.approx(2.0 * 9.81 * arrays[-1].time_step, rel=1e-6)
    assert (contact.position.x, contact.position.y) == pytest.approx((50.0, 0.0), abs=1e-6)
    # The impulse acts on object a, along the normal that points towards it.
    assert contact.impulse.z * contact.normal.z > 0.0
    assert (contact.normal.z > 0.0) == (contact.object_a == "rest")


def test_snapshot_restores_objects_and_continues_to_the_same_bits(probe):
    spawn_ball(probe, "kept")
    step(probe, 50)
    ok(probe.call(SaveSnapshot, "save_snapshot", name="before"))
    step(probe, 100)
    first = snapshot_of_everything(probe)
    ok(probe.call(RemoveObject, "remove_object", name="kept"))
    spawn_ball(probe, "later")
    ok(probe.call(RestoreSnapshot, "restore_snapshot", name="before", restore_time=True))
    names = ok(probe.call(ListObjects, "list_objects")).names
    assert "kept" in names
    assert "later" not in names
    step(probe, 100)
    assert snapshot_of_everything(probe) == first


def test_restoring_a_snapshot_keeps_time_unless_told(probe):
    step(probe, 10)
    ok(probe.call(SaveSnapshot, "save_snapshot", name="ten"))
    step(probe, 10)
    ok(probe.call(RestoreSnapshot, "restore_snapshot", name="ten"))
    assert step(probe).sim_step == 21
    ok(probe.call(RestoreSnapshot, "restore_snapshot", name="ten", restore_time=True))
    assert step(probe).sim_step == 11


def test_unknown_snapshot_is_refused(probe):
    response = probe.call(RestoreSnapshot, "restore_snapshot", name="nothing")
    assert response.result == ResultCode.INVALID_VALUE
    assert "no snapshot is named 'nothing'" in response.message
    assert probe.call(SaveSnapshot, "save_snapshot", name="").result == ResultCode.INVALID_VALUE

"""Wrong requests to simulation_interfaces, in a table: each is answered with its code, and nothing changes."""

import os

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("simulation_interfaces", reason="needs simulation_interfaces")

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Twist, Vector3
from robot_calls import robot
from simulation_interfaces import srv
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    EntityState,
    Resource,
    Result,
    SimulationState,
    SpawnEntity,
    SpawnResult,
    TagsFilter,
)
from std_msgs.msg import Header

from raisim_ros.description.resources import resource

NAN, INF, HUGE = float("nan"), float("inf"), 1e300
NOT_FOUND, WRONG, UNSUPPORTED = Result.RESULT_NOT_FOUND, Result.RESULT_OPERATION_FAILED, Result.RESULT_FEATURE_UNSUPPORTED
BALL = '<sphere name="ball" mass="2"><dim radius="0.25"/></sphere>'
PICTURE = str(next(resource("worlds").parent.rglob("*.png")))


def pose(frame="", position=(0.0, 0.0, 0.0), w=1.0):
    x, y, z = position
    place = Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=w))
    return PoseStamped(header=Header(frame_id=frame), pose=place)


def state(linear=0.0, **place):
    stamped = pose(**place)
    return EntityState(header=stamped.header, pose=stamped.pose, twist=Twist(linear=Vector3(x=linear)))


def category(number):
    return EntityInfo(category=EntityCategory(category=number))


def box(*corners):
    return Bounds(type=Bounds.TYPE_BOX, points=[Vector3(x=x, y=y, z=z) for x, y, z in corners])


ONE = (1.0, 1.0, 1.0)
TAGS = TagsFilter(tags=["a"], filter_mode=2)
NEW = {"name": "new", "text": BALL}
NO_NAMES = ["a b", "9lives", "ü", "x" * 300, "a-b", "-", "a.b", "~a", "a\nb"]
NO_ADDRESSES = ["/no/such.urdf", "file:///no/such.urdf", "package://gone/a.urdf", "no/such.urdf", "http://a.b/c.urdf", "/", "a\x01b", "x" * 5000]  # fmt: skip
BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><robot name="&c;"><link name="a"/></robot>'
FILE_OF_OTHERS = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><robot name="r"><link name="&b;"/></robot>'

# service, what a good request has, the field, wrong values, the code
TABLE = [
    ("SpawnEntity", NEW, "name", NO_NAMES, SpawnResult.NAME_INVALID),
    ("SpawnEntity", NEW, "name", ["box_0", "ground"], SpawnResult.NAME_NOT_UNIQUE),
    ("SpawnEntity", NEW, "entity_namespace", ["a b", "9", "a//b", "a/9", "ü", "~", "a/b c"], SpawnResult.NAMESPACE_INVALID),
    ("SpawnEntity", {"name": "new"}, "uri", NO_ADDRESSES, NOT_FOUND),
    ("SpawnEntity", {"name": "new"}, "uri", [PICTURE], SpawnResult.RESOURCE_PARSE_ERROR),
    ("SpawnEntity", {"name": "new"}, "text", ["", " \n"], SpawnResult.NO_RESOURCE),
    ("SpawnEntity", {"name": "new"}, "text", ["<", "no xml", "<robot>", "<robot name='a'/>", "<ball/>", BOMB, FILE_OF_OTHERS], SpawnResult.RESOURCE_PARSE_ERROR),
    ("SpawnEntity", {"name": "new"}, "text", ["<sdf/>", "<sdf version='1.6'><model name='a'/></sdf>"], SpawnResult.UNSUPPORTED_FORMAT),
    ("SpawnEntity", {"name": "new"}, "text", ["<mesh file_name='/no/such.obj' mass='1'/>"], SpawnResult.MISSING_ASSETS),
    ("SpawnEntity", NEW, "initial_pose", [pose("nowhere"), pose(w=0.0), pose(w=NAN), pose(w=INF), pose(position=(NAN, 0.0, 0.0)), pose(position=(0.0, -INF, 0.0)), pose(position=(0.0, 0.0, HUGE))], SpawnResult.INVALID_POSE),
    ("DeleteEntity", {}, "entity", ["", "nobody", "world", "box_0/", "/box_0", "BOX_0"], NOT_FOUND),
    ("GetEntityState", {}, "entity", ["", "nobody", "box_0/lid"], NOT_FOUND),
    ("GetEntityInfo", {}, "entity", ["", "nobody"], NOT_FOUND),
    ("GetEntityBounds", {}, "entity", ["", "nobody"], NOT_FOUND),
    ("GetNamedPoseBounds", {}, "name", ["", "nowhere"], NOT_FOUND),
    ("SetEntityInfo", {}, "entity", ["", "nobody"], NOT_FOUND),
    ("SetEntityInfo", {"entity": "box_0"}, "info", [category(3), category(6), category(255)], WRONG),
    ("SetEntityState", {}, "entity", ["", "nobody"], NOT_FOUND),
    ("SetEntityState", {"entity": "box_0"}, "state", [state(w=0.0), state(w=NAN), state(position=(INF, 0.0, 0.0)), state(position=(0.0, HUGE, 0.0)), state(frame="nowhere")], srv.SetEntityState.Response.INVALID_POSE),
    ("SetEntityState", {"entity": "box_0"}, "state", [state(NAN), state(-INF), state(HUGE)], WRONG),
    ("SetEntityState", {"entity": "ground"}, "state", [state(1.0)], WRONG),
    ("GetEntities", {}, "filters", [EntityFilters(filter=text) for text in ("(", "[", "a{2", "*", "a{9,1}", "a" * 300, "(?=a)", "(a)\\1")], WRONG),
    ("GetEntities", {}, "filters", [EntityFilters(categories=[EntityCategory(category=one)]) for one in (3, 9)], WRONG),
    ("GetEntities", {}, "filters", [EntityFilters(tags=TAGS)], WRONG),
    ("GetEntities", {}, "filters", [EntityFilters(bounds=Bounds(type=one)) for one in (4, 255)], UNSUPPORTED),
    ("GetEntities", {}, "filters", [EntityFilters(bounds=one) for one in (box(), box(ONE), box(ONE, ONE, ONE), box((NAN, 0.0, 0.0), ONE), box((INF, 0.0, 0.0), ONE))], WRONG),
    ("GetEntitiesStates", {}, "filters", [EntityFilters(filter="["), EntityFilters(tags=TAGS), EntityFilters(bounds=box(ONE))], WRONG),
    ("GetNamedPoses", {}, "tags", [TAGS], WRONG),
    ("GetAvailableWorlds", {}, "filter", [TAGS], WRONG),
    ("GetAvailableWorlds", {}, "additional_sources", [["/no/such"], [""], ["/etc/hostname"], ["a\x01b"]], NOT_FOUND),
    ("GetAvailableWorlds", {}, "additional_sources", [["/etc"], [os.path.expanduser("~/.ssh"), "/"]], NOT_FOUND),
    ("SetSimulationState", {}, "state", [SimulationState(state=one) for one in (4, 5, 6, 255)], srv.SetSimulationState.Response.INCORRECT_TRANSITION),
    ("StepSimulation", {}, "steps", [0], WRONG),
    ("ResetSimulation", {}, "scope", [8, 16, 77, 128], WRONG),
    ("LoadWorld", {}, "uri", [*(one.replace("urdf", "xml") for one in NO_ADDRESSES)], NOT_FOUND),
    ("LoadWorld", {}, "uri", [robot("arm")], srv.LoadWorld.Response.UNSUPPORTED_FORMAT),
    ("LoadWorld", {}, "uri", [PICTURE], srv.LoadWorld.Response.RESOURCE_PARSE_ERROR),
    ("LoadWorld", {}, "text", ["", " "], srv.LoadWorld.Response.NO_RESOURCE),
    ("LoadWorld", {}, "text", ["<", "no xml", "<raisim>", "<raisim><objects><sphere/></objects></raisim>"], srv.LoadWorld.Response.RESOURCE_PARSE_ERROR),
    ("LoadWorld", {}, "text", ["<sdf/>", "<robot name='a'><link name='b'/></robot>", "<html/>"], srv.LoadWorld.Response.UNSUPPORTED_FORMAT),
]  # fmt: skip


def snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def call(probe, kind, **fields):
    """By version 1 of the standard, or version 2."""
    service = getattr(srv, kind)
    if "text" in fields:
        fields["resource_string"] = fields.pop("text")
    if not hasattr(service.Request(), "uri"):
        given = {name: fields.pop(name) for name in ("uri", "resource_string") if name in fields}
        fields |= {"entity_resource" if kind == "SpawnEntity" else "world_resource": Resource(**given)} if given else {}
    return probe.call(service, snake(kind), **fields)


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("kind", sorted({row[0] for row in TABLE}))
def test_every_wrong_request_is_refused_with_its_code(probe, kind):
    before = call(probe, "GetEntitiesStates")
    mistaken = []
    for name, fields, field, values, code in TABLE:
        for value in values if name == kind else ():
            flags = {"set_pose": True, "set_twist": True} if hasattr(getattr(srv, kind).Request(), "set_pose") else {}
            result = call(probe, kind, **{**fields, **flags, field: value}).result
            if result.result != code or not result.error_message:
                mistaken.append(f"{field}={value!r:.80}: {result.result} instead of {code}: {result.error_message}")
    assert mistaken == []
    assert call(probe, "GetEntitiesStates") == before


@pytest.mark.usefixtures("fresh_world")
def test_thousands_of_wrong_entities_in_one_request_have_a_result_each(probe):
    requests = [SpawnEntity(name=f"new_{number}") for number in range(3000)]
    answer = call(probe, "SpawnEntities", spawn_requests=requests)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert {one.result.result for one in answer.results} == {SpawnResult.NO_RESOURCE}
    assert len(answer.results) == len(requests)


@pytest.mark.usefixtures("fresh_world")
def test_a_pipe_among_the_worlds_is_no_world(probe, tmp_path):
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "own.xml").write_text("<raisim/>")
    answer = call(probe, "GetAvailableWorlds", additional_sources=[str(tmp_path)])
    assert answer.result.result == Result.RESULT_OK
    assert [world.name for world in answer.worlds if str(tmp_path) in world.world_resource.uri] == ["own"]


@pytest.mark.usefixtures("fresh_world")
def test_files_beyond_the_limit_are_refused_without_being_read(probe, shared_node, tmp_path):
    """Gigabytes that occupy no disk; at most the beginning of a file is needed to see what it is."""
    for name, begin in (("robot.urdf", "<robot name='r'>"), ("world.xml", "<raisim>"), ("any.xml", "")):
        with (tmp_path / name).open("w") as stream:
            stream.write(begin)
            stream.truncate(5 << 30)
    (tmp_path / "own.xml").write_text("<raisim/>")
    before = shared_node.resident_bytes()
    for kind, name in (("SpawnEntity", "robot.urdf"), ("SpawnEntity", "any.xml"), ("LoadWorld", "world.xml")):
        fields = {"name": "new"} if kind == "SpawnEntity" else {}
        result = call(probe, kind, uri=str(tmp_path / name), **fields).result
        service = SpawnResult if kind == "SpawnEntity" else srv.LoadWorld.Response
        assert (result.result, "max_file_bytes" in result.error_message) == (service.RESOURCE_PARSE_ERROR, True)
    answer = call(probe, "GetAvailableWorlds", additional_sources=[str(tmp_path)])
    assert [world.name for world in answer.worlds if str(tmp_path) in world.world_resource.uri] == ["own"]
    assert shared_node.resident_bytes() < before + 100_000_000

"""Cloth and grains over ROS, seen from another process: services, states, commands, points, markers."""

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Twist, Vector3, Wrench
from sensor_msgs.msg import PointCloud2
from service_calls import caller_in_fresh_world
from simulation_interfaces.srv import DeleteEntity, GetEntities, GetEntityBounds, GetEntityState
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros import World
from raisim_ros.msg import (
    DeformableCmd,
    DeformableMaterial,
    DeformableState,
    GrainBox,
    GranularCmd,
    GranularMaterial,
    GranularState,
    ObjectCmd,
    ObjectState,
    ResultCode,
)
from raisim_ros.ros import qos
from raisim_ros.srv import (
    CloneObject,
    GetObjectInfo,
    ListObjects,
    LoadWorld,
    RayTest,
    RemoveObject,
    Reset,
    RestoreSnapshot,
    SaveSnapshot,
    SaveWorld,
    SetCollisionFilter,
    SetObjectMaterial,
    SetObjectState,
    SpawnDeformable,
    SpawnGranular,
    Step,
)

WORLD = Path(__file__).parents[1] / "soft_world.xml"
GRAINS = 5 * 5 * 2
PUSH = ObjectCmd(wrench=Wrench(force=Vector3(x=1.0)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("soft")


@pytest.fixture(scope="module")
def node(start_node, folder):
    return start_node(namespace="/soft", paused=True, world=WORLD, allowed_folders=[str(folder), str(WORLD.parent)])


@pytest.fixture
def call(node, probe):
    return caller_in_fresh_world(probe, "/soft")


def after(probe, call, message_type, topic, steps=1, profile=10):
    """The last message of a topic after some steps of the paused world."""
    with probe.subscribed(message_type, f"/soft/{topic}", profile) as messages:
        answer = call(Step, "step", steps=steps)
        stamp = answer.sim_time
        probe.spin_until(lambda: messages and abs(_time(messages[-1]) - stamp) < 1e-6, f"{topic} after the last step")
        return messages[-1]


def _time(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def cloud(message):
    assert [field.name for field in message.fields] == ["x", "y", "z", "intensity"]
    return np.frombuffer(message.data, np.float32).reshape(-1, 4)


def names(call):
    return call(ListObjects, "list_objects").names


def here(steps):
    """The same world in this process."""
    world = World(WORLD)
    world.integrate(steps)
    return world


def test_objects_of_the_file_have_topics_and_are_listed(probe, call):
    answer = call(ListObjects, "list_objects")
    assert list(zip(answer.names, answer.types, answer.body_types, strict=True)) == [
        ("floor", "ground", "static"),
        ("flag", "deformable", "dynamic"),
        ("sand", "granular", "dynamic"),
    ]
    wanted = {f"/soft/flag/{end}" for end in ("state", "cmd", "deformable_state", "deformable_cmd", "points")}
    wanted |= {f"/soft/sand/{end}" for end in ("state", "cmd", "granular_state", "granular_cmd", "points")}
    probe.spin_until(lambda: wanted <= probe.topics(), "the topics")


def test_states_are_those_of_the_same_world_simulated_here(probe, call):
    world = here(40)
    flag, sand = world["flag"], world["sand"]
    state = after(probe, call, DeformableState, "flag/deformable_state", 40)
    assert (state.name, state.particles, state.header.frame_id) == ("flag", 28, "world")
    assert list(state.pinned) == flag.get_pinned_vertices() == [0, 7, 14, 21]
    assert (state.center.x, state.center.y, state.center.z) == tuple(flag.get_position())
    assert state.kinetic_energy == flag.get_kinetic_energy() > 0.0
    assert state.elastic_energy == flag.get_elastic_energy()
    low, high = flag.get_bounds()
    assert ((state.min.x, state.min.y, state.min.z), (state.max.x, state.max.y, state.max.z)) == (tuple(low), tuple(high))
    world.integrate(1)
    state = after(probe, call, GranularState, "sand/granular_state")
    assert (state.particles, state.mass) == (GRAINS, sand.get_mass())
    assert state.momentum.z == sand.get_linear_momentum()[2]
    assert state.contacts == sand.get_last_step_stats().contacts
    world.integrate(1)
    common = after(probe, call, ObjectState, "sand/state")
    assert (common.type, common.body_type, common.mass) == ("granular", "dynamic", sand.get_mass())
    assert common.pose.position.z == pytest.approx(sand.get_position()[2], abs=1e-12)
    assert common.pose.orientation.w == 1.0


def test_points_are_those_of_the_same_world_simulated_here(probe, call):
    world = here(25)
    for name in ("flag", "sand"):
        points = cloud(after(probe, call, PointCloud2, f"{name}/points", 25 if name == "flag" else 1, qos.SENSOR))
        places, speeds = world[name].get_positions(), np.linalg.norm(world[name].get_velocities(), axis=1)
        assert points[:, :3] == pytest.approx(places, abs=1e-6)
        assert points[:, 3] == pytest.approx(speeds, abs=1e-5)
        world.integrate(1)


def test_wind_blows_a_flag_and_vertices_are_pinned_and_let_go(probe, call):
    calm = after(probe, call, DeformableState, "flag/deformable_state", 200)
    call(Reset, "reset", state=True, spawned=True, time=True)
    with probe.publisher(DeformableCmd, "/soft/flag/deformable_cmd") as publisher:
        publisher.publish(DeformableCmd(set_wind=True, wind=Vector3(y=8.0), pin=[27], pin_positions=[Point(x=0.2, z=2.0)]))
        probe.spin_until(
            lambda: 27 in after(probe, call, DeformableState, "flag/deformable_state").pinned, "the pinned vertex"
        )
        blown = after(probe, call, DeformableState, "flag/deformable_state", 200)
        assert blown.center.y > calm.center.y + 0.05
        assert (blown.wind.x, blown.wind.y, blown.wind.z) == (0.0, 8.0, 0.0)
        place = cloud(after(probe, call, PointCloud2, "flag/points", 1, qos.SENSOR))[27, :3]
        assert place == pytest.approx([0.2, 0.0, 2.0], abs=1e-6)
        publisher.publish(DeformableCmd(unpin=[0, 7, 14, 21, 27]))
        probe.spin_until(
            lambda: not after(probe, call, DeformableState, "flag/deformable_state").pinned, "no pinned vertex"
        )
        call(Step, "step", steps=400)
        assert after(probe, call, DeformableState, "flag/deformable_state").max.z < 0.5  # it lies on the floor
    call(Reset, "reset", state=True)
    again = after(probe, call, DeformableState, "flag/deformable_state")
    assert list(again.pinned) == [0, 7, 14, 21]
    assert again.wind.y == 0.0
    assert again.center.z == pytest.approx(2.0, abs=1e-3)


def test_grains_are_emitted_removed_and_held(probe, call):
    with probe.publisher(GranularCmd, "/soft/sand/granular_cmd") as publisher:
        box = GrainBox(min=Point(x=1.9, y=-0.1, z=0.3), max=Point(x=2.1, y=0.1, z=0.42), radius=0.03, count=6, seed=4)
        publisher.publish(GranularCmd(emit=[box], remove=[0, 3], fix=[10]))
        expected = GRAINS - 2 + 6
        probe.spin_until(
            lambda: after(probe, call, GranularState, "sand/granular_state").particles == expected, "the new grains"
        )
        start = cloud(after(probe, call, PointCloud2, "sand/points", 1, qos.SENSOR))
        assert len(start) == expected
        later = cloud(after(probe, call, PointCloud2, "sand/points", 30, qos.SENSOR))
        assert np.array_equal(later[10, :3], start[10, :3])
        assert (start[-6:, 2] - later[-6:, 2] > 0.05).all()  # the new ones fall
        own = after(probe, call, GranularState, "sand/granular_state")
        assert after(probe, call, ObjectState, "sand/state").mass == own.mass
    call(Reset, "reset", state=True)
    assert after(probe, call, GranularState, "sand/granular_state").particles == GRAINS


@pytest.mark.parametrize(
    ("topic", "command", "said"),
    [
        ("flag/deformable_cmd", DeformableCmd(pin=[28]), "pin has 28; there are 28"),
        ("flag/deformable_cmd", DeformableCmd(pin=[1], unpin=[1]), "unpin has 1, which is in pin, too"),
        ("flag/deformable_cmd", DeformableCmd(pin=[1, 2], pin_positions=[Point()]), "expected 2 or none"),
        ("flag/deformable_cmd", DeformableCmd(set_wind=True, wind=Vector3(x=math.nan)), "wind"),
        ("sand/granular_cmd", GranularCmd(remove=[5000]), "remove has 5000"),
        ("sand/granular_cmd", GranularCmd(emit=[GrainBox(radius=-1.0)]), "radius is -1"),
        ("sand/granular_cmd", GranularCmd(fix=[50]), "fix has 50"),
        ("sand/granular_cmd", GranularCmd(emit=[GrainBox(max=Point(x=1.0, y=1.0, z=1.0), count=10**9)]), "at most 5000"),
        ("flag/cmd", PUSH, "takes no wrench"),
    ],
)
def test_wrong_commands_are_refused_with_a_line_and_change_nothing(node, probe, call, topic, command, said):
    before = after(probe, call, PointCloud2, f"{topic.split('/')[0]}/points", 1, qos.SENSOR)
    with probe.publisher(type(command), f"/soft/{topic}") as publisher:
        publisher.publish(command)
        node.wait_for_output(said)
    now = after(probe, call, PointCloud2, f"{topic.split('/')[0]}/points", 1, qos.SENSOR)
    assert len(now.data) == len(before.data)


def test_cloth_is_spawned_moved_cloned_and_removed_without_a_trace(probe, call):
    answer = call(
        SpawnDeformable,
        "spawn_deformable",
        name="towel",
        x_size=0.4,
        y_size=0.4,
        x_cells=4,
        y_cells=4,
        pinned=[0],
        pose=Pose(position=Point(x=5.0, z=1.0)),
        substance=DeformableMaterial(total_mass=0.5),
        material="cotton",
        appearance="blue",
    )
    assert (answer.name, answer.particles) == ("towel", 25)
    info = call(GetObjectInfo, "get_object_info", name="towel").info
    assert (info.type, info.body_type, info.material) == ("deformable", "dynamic", "cotton")
    assert info.mass == pytest.approx(0.5)
    assert info.size == pytest.approx([0.4, 0.4, 0.0])
    hit = call(RayTest, "ray_test", start=Point(x=5.05, y=0.02, z=3.0), direction=Vector3(z=-1.0), length=10.0)
    assert (hit.hit, hit.object) == (True, "towel")
    call(SetObjectMaterial, "set_object_material", name="towel", material="silk")
    assert call(GetObjectInfo, "get_object_info", name="towel").info.material == "silk"
    call(SetCollisionFilter, "set_collision_filter", name="towel", collision_group=4, collision_mask=0)
    info = call(GetObjectInfo, "get_object_info", name="towel").info
    assert (info.collision_group, info.collision_mask) == (4, 0)
    moved = Pose(position=Point(x=7.0, y=1.0, z=2.0))
    twist = Twist(linear=Vector3(x=1.0))
    call(SetObjectState, "set_object_state", name="towel", pose=moved, twist=twist, set_pose=True, set_twist=True)
    state = call(GetObjectInfo, "get_object_info", name="towel").state
    assert (state.pose.position.x, state.pose.position.z) == pytest.approx((7.0, 2.0))
    assert state.twist.linear.x == pytest.approx(1.0, abs=0.1)  # but for the pinned corner
    clone = call(CloneObject, "clone_object", source="towel", name="other", keep_pose=True)
    assert call(GetObjectInfo, "get_object_info", name=clone.name).info.collision_group == 4
    call(RemoveObject, "remove_object", name="towel")
    call(RemoveObject, "remove_object", name="other")
    assert names(call) == ["floor", "flag", "sand"]
    probe.wait_for_topics_to_go(lambda topic: topic.startswith(("/soft/towel", "/soft/other")))


def test_cloth_from_a_mesh_and_from_vertices(folder, call):
    import trimesh

    trimesh.creation.icosphere(1, 0.2).export(folder / "ball.obj")
    answer = call(SpawnDeformable, "spawn_deformable", name="ball", source="mesh", file=str(folder / "ball.obj"))
    assert answer.particles == 42
    corners, triangles = [0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0], [0, 1, 2]
    answer = call(
        SpawnDeformable, "spawn_deformable", name="leaf", source="vertices", vertices=corners, triangles=triangles
    )
    assert answer.particles == 3


def test_a_filled_body_is_spawned_and_keeps_its_volume(probe, call):
    corners = [[x, y, z] for x in (0.0, 0.2) for y in (0.0, 0.2) for z in (0.0, 0.2)]
    triangles = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3]
    answer = call(
        SpawnDeformable,
        "spawn_deformable",
        name="jelly",
        source="vertices",
        vertices=[float(value) for corner in corners for value in corner],
        triangles=triangles,
        build="filled",
        spacing=0.1,
        substance=DeformableMaterial(youngs_modulus=2e4, poisson_ratio=0.4),
        pose=Pose(position=Point(x=-3.0, z=0.01)),
    )
    assert answer.particles > 8
    state = after(probe, call, DeformableState, "jelly/deformable_state", 100)
    assert 0.17 < state.max.z < 0.24
    assert state.elastic_energy > 0.0
    fields = {"source": "vertices", "vertices": [0.0, 0, 0, 1, 0, 0, 0, 1, 0], "triangles": [0, 1, 2], "build": "filled"}
    refused = call(SpawnDeformable, "spawn_deformable", ResultCode.INVALID_VALUE, name="open", **fields)
    assert "not closed" in refused.message
    refused = call(SpawnDeformable, "spawn_deformable", ResultCode.INVALID_VALUE, name="x", build="wood")
    assert "build is 'wood'" in refused.message


def test_grains_are_spawned_and_lie_in_their_container(probe, call):
    answer = call(
        SpawnGranular,
        "spawn_granular",
        name="gravel",
        positions=[3.0, 0.0, 0.5, 3.1, 0.0, 0.5],
        radii=[0.02],
        velocities=[0.0, 0.0, -1.0] * 2,
        boxes=[
            GrainBox(min=Point(x=2.9, y=-0.1, z=0.0), max=Point(x=3.1, y=0.1, z=0.2), radius=0.01, max_radius=0.02, count=40)
        ],
        grain=GranularMaterial(density=2600.0, normal_stiffness=1e4),
        container=True,
        container_min=Point(x=2.8, y=-0.2, z=-0.1),
        container_max=Point(x=3.2, y=0.2, z=1.0),
        ground_plane=True,
    )
    assert answer.particles == 42
    assert answer.message == "added granular 'gravel' of 42 particles"
    state = after(probe, call, GranularState, "gravel/granular_state", 400)
    assert state.min.x > 2.79
    assert state.max.x < 3.21
    assert state.min.z > -0.005
    assert state.max.z < 0.2
    assert state.largest_overlap < 0.2


WRONG = [
    ("spawn_granular", {"name": "x", "positions": [0.0, 1.0]}, "positions has 2 numbers"),
    ("spawn_granular", {"name": "x", "positions": [0.0, 1.0, 2.0]}, "radii has 0 numbers; expected 1 or 1"),
    ("spawn_granular", {"name": "x", "positions": [0.0, math.nan, 2.0], "radii": [0.1]}, "positions"),
    ("spawn_granular", {"name": "x", "positions": [0.0, 0.0, 2.0], "radii": [-0.1]}, "radius"),
    ("spawn_granular", {"name": "x", "radii": [0.1]}, "without positions"),
    ("spawn_granular", {"name": "x", "grain": GranularMaterial(density=-1.0)}, "density is -1"),
    ("spawn_granular", {"name": "x", "boxes": [GrainBox(max=Point(x=1e3, y=1e3, z=1e3), radius=1e-3)]}, "max_particles"),
    ("spawn_granular", {"name": "x", "container": True}, "min"),
    ("spawn_granular", {"name": "x", "material": " "}, "material is empty"),
    ("spawn_deformable", {"name": "x", "source": "wool"}, "source is 'wool'"),
    ("spawn_deformable", {"name": "x", "x_cells": 0}, "0 x 10 cells"),
    ("spawn_deformable", {"name": "x", "x_size": -1.0}, "x_size is -1"),
    ("spawn_deformable", {"name": "x", "pinned": [121]}, "vertex 121 is to be pinned; there are 121"),
    ("spawn_deformable", {"name": "x", "substance": DeformableMaterial(poisson_ratio=0.7)}, "poisson_ratio"),
    ("spawn_deformable", {"name": "x", "source": "vertices", "vertices": [0.0] * 9, "triangles": [0, 1, 3]}, "do not exist"),
    ("spawn_deformable", {"name": "x", "source": "vertices", "vertices": [0.0] * 9, "triangles": [0, 1, 2]}, "no area"),
]


@pytest.mark.parametrize(("service", "fields", "said"), WRONG)
def test_wrong_requests_are_refused_with_a_code_and_change_nothing(call, service, fields, said):
    kind = SpawnGranular if service == "spawn_granular" else SpawnDeformable
    answer = call(kind, service, ResultCode.INVALID_VALUE, **fields)
    assert said in answer.message
    assert names(call) == ["floor", "flag", "sand"]


def test_other_codes(call, folder):
    call(SpawnGranular, "spawn_granular", ResultCode.NAME_TAKEN, name="sand")
    call(SpawnDeformable, "spawn_deformable", ResultCode.NAME_TAKEN, name="")
    missing = str(folder / "none.obj")
    call(SpawnDeformable, "spawn_deformable", ResultCode.MISSING_FILE, name="x", source="mesh", file=missing)
    assert names(call) == ["floor", "flag", "sand"]


def test_markers_are_sent_when_something_moved_and_deleted_when_it_is_gone(probe, call):
    with probe.subscribed(MarkerArray, "/soft/markers", qos.LATCHED) as messages:

        def shown(kind):
            return [m for message in messages for m in message.markers if m.ns == kind and m.action == Marker.ADD]

        def step_until(condition, what):
            def stepped():
                call(Step, "step", steps=1)
                return condition()

            probe.spin_until(stepped, what)

        step_until(lambda: shown("deformable") and shown("granular"), "cloth and grains")
        world = World(WORLD)
        cloth, balls = shown("deformable")[-1], shown("granular")[-1]
        assert (cloth.type, len(cloth.points)) == (Marker.TRIANGLE_LIST, 3 * len(world["flag"].get_triangles()))
        assert (balls.type, len(balls.points), balls.scale.x) == (Marker.SPHERE_LIST, GRAINS, pytest.approx(0.04))
        assert cloth.color.r > 0.7 > 0.3 > cloth.color.g
        place = [(p.x, p.y, p.z) for p in balls.points]
        assert np.abs(np.array(place) - world["sand"].get_positions()).max() < 0.05
        call(RemoveObject, "remove_object", name="sand")
        step_until(
            lambda: any(m.action == Marker.DELETE and m.ns == "granular" for one in messages for m in one.markers),
            "the deletion",
        )


def test_snapshots_and_worlds_hold_them(probe, call, folder):
    call(Step, "step", steps=20)
    call(SaveSnapshot, "save_snapshot", name="now")
    first = after(probe, call, PointCloud2, "flag/points", 30, qos.SENSOR).data
    call(RestoreSnapshot, "restore_snapshot", name="now", restore_time=True)
    assert after(probe, call, PointCloud2, "flag/points", 30, qos.SENSOR).data == first
    file = folder / "saved.xml"
    call(SaveWorld, "save_world", file=str(file), overwrite=True)
    before = call(GetObjectInfo, "get_object_info", name="sand").state.pose.position
    call(LoadWorld, "load_world_file", file=str(file))
    now = call(GetObjectInfo, "get_object_info", name="sand").state.pose.position
    assert (now.x, now.y, now.z) == pytest.approx((before.x, before.y, before.z), abs=1e-15)
    same = World(file)
    assert np.array_equal(
        cloud(after(probe, call, PointCloud2, "flag/points", 1, qos.SENSOR))[:, :3],
        (same.integrate(1), same["flag"].get_positions().astype(np.float32))[1],
    )
    call(LoadWorld, "load_world_file", file=str(WORLD), time=True)


def test_they_are_entities_of_the_standard(probe, call):
    answer = probe.call(GetEntities, "/soft/get_entities")
    assert list(answer.entities) == ["floor", "flag", "sand"]
    bounds = probe.call(GetEntityBounds, "/soft/get_entity_bounds", entity="sand").bounds
    assert (bounds.points[0].x - bounds.points[1].x) == pytest.approx(0.2, abs=0.01)
    state = probe.call(GetEntityState, "/soft/get_entity_state", entity="flag").state
    assert state.pose.position.z == pytest.approx(2.0, abs=0.01)
    assert probe.call(DeleteEntity, "/soft/delete_entity", entity="sand").result.result == 1
    assert names(call) == ["floor", "flag"]


def test_a_recorded_run_is_replayed_to_the_same_bits(start_node, probe, tmp_path):
    file = tmp_path / "run.raisim"
    node = start_node(namespace="/first", world=WORLD, record=file, allowed_folders=[str(tmp_path)])
    box = GrainBox(min=Point(x=1.9, y=-0.1, z=0.3), max=Point(x=2.1, y=0.1, z=0.42), radius=0.03)
    with (
        probe.publisher(DeformableCmd, "/first/flag/deformable_cmd") as wind,
        probe.publisher(GranularCmd, "/first/sand/granular_cmd") as emit,
        probe.subscribed(GranularState, "/first/sand/granular_state") as states,
    ):
        wind.publish(DeformableCmd(set_wind=True, wind=Vector3(y=5.0), unpin=[0]))
        emit.publish(GranularCmd(emit=[box], fix=[1]))
        answer = probe.call(SpawnDeformable, "/first/spawn_deformable", name="towel", x_cells=3, y_cells=3)
        assert answer.result == ResultCode.OK
        probe.spin_until(lambda: states and states[-1].particles > GRAINS, "new grains")
        time = states[-1].sim_time
        probe.spin_until(lambda: states[-1].sim_time > time + 0.3, "some time after them")
    assert node.interrupt()[0] == 0, node.output
    again = start_node(namespace="/second", world="''", replay=file, real_time_factor=0.0)
    again.wait_for_output("replay is over", 60.0)
    assert "equal, bit by bit" in again.output, again.output

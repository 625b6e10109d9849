"""Long work has a process of its own: the world goes on, others are answered, a limit and a signal end it."""

import random
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rosgraph_msgs.msg import Clock
from service_calls import ok

from raisim_ros import MeshCollisionMode, World
from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.engine.entries.build import add_entry
from raisim_ros.engine.objects import body_mesh
from raisim_ros.msg import ResultCode, TerrainProperties
from raisim_ros.ros import qos
from raisim_ros.ros.node import preparation
from raisim_ros.ros.node.long_work import LongWork, LongWorkError
from raisim_ros.srv import (
    ListObjects,
    LoadWorld,
    RemoveObject,
    SpawnArticulatedSystem,
    SpawnDeformable,
    SpawnHeightMap,
    SpawnObject,
)

HUGE = {"source": "generator", "terrain": TerrainProperties(x_samples=4000, y_samples=4000)}


def workers_of(node):
    """Processes that any thread of the node has started."""
    tasks = Path(f"/proc/{node.process.pid}/task")
    return [child for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def torus(path, rings=40, sides=20):
    """A mesh that is not convex."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, rings, False), np.linspace(0, 2 * np.pi, sides, False), indexing="ij")
    points = np.stack(((1 + 0.3 * np.cos(v)) * np.cos(u), (1 + 0.3 * np.cos(v)) * np.sin(u), 0.3 * np.sin(v)), -1)
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points.reshape(-1, 3)]
    for i in range(rings):
        for j in range(sides):
            a, b = i * sides + j, i * sides + (j + 1) % sides
            c, d = ((i + 1) % rings) * sides + j, ((i + 1) % rings) * sides + (j + 1) % sides
            lines += [f"f {a + 1} {c + 1} {d + 1}", f"f {a + 1} {d + 1} {b + 1}"]
    path.write_text("\n".join(lines))
    return path


def test_the_world_goes_on_and_others_are_answered_and_a_signal_ends_it_all(start_node, probe):
    node = start_node()
    answer = probe.call_async(SpawnHeightMap, "spawn_height_map", name="hills", **HUGE)
    probe.spin_until(lambda: workers_of(node), "a worker process")
    with probe.subscribed(Clock, "/clock", qos.CLOCK) as clocks:
        for number in range(3):
            fields = {"name": f"ball_{number + 100}", "shape": "sphere", "radius": 0.1}
            ok(probe.call(SpawnObject, "spawn_object", **fields))
        probe.spin_until(lambda: len(clocks) > 20, "/clock to go on")
    assert not answer.done()
    workers = workers_of(node)
    assert workers
    code, _ = node.interrupt(15)
    assert code == 0, node.output
    end = time.monotonic() + 20.0
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < end, "the worker outlived the node"
        time.sleep(0.02)


def test_work_beyond_the_limit_is_given_up_and_changes_nothing(start_node, probe, tmp_path):
    node = start_node("/limited", paused=True, long_work_limit_s=0.05)
    before = ok(probe.call(ListObjects, "/limited/list_objects"))
    mesh = torus(tmp_path / "torus.obj")
    fields = {"shape": "mesh", "mesh_file": str(mesh), "scale": [1.0 + random.random()] * 3}  # nobody has decomposed it before
    answer = probe.call(SpawnObject, "/limited/spawn_object", name="ring", **fields)
    assert answer.result == ResultCode.GAVE_UP, answer.message
    assert "long_work_limit_s" in answer.message
    assert probe.call(ListObjects, "/limited/list_objects") == before
    probe.spin_until(lambda: not workers_of(node), "the worker to be ended")


def test_a_world_that_takes_long_to_load_does_not_hold_up_the_end(start_node, tmp_path):
    file = tmp_path / "hills.xml"
    file.write_text('<raisim><objects><heightmap x_size="9" y_size="9" x_samples="4000" y_samples="4000">'
                    '<terrain_properties frequency="0.2"/></heightmap></objects></raisim>')  # fmt: skip
    node = start_node(world=file)
    node.wait_for_output("1 objects read")
    code, _ = node.interrupt(15)
    assert code == 0, node.output


def test_others_are_answered_while_topics_of_many_objects_are_made(start_node, probe, tmp_path):
    """Topics come a few at a time: other requests are answered between them, and what is removed meanwhile stays away."""
    many = 300
    boxes = "".join(f'<box name="b{n}" mass="1"><dim x="1" y="1" z="1"/><state pos="{2 * n} 0 0.5"/></box>' for n in range(many))
    file = tmp_path / "many.xml"
    file.write_text(f"<raisim><objects><ground/>{boxes}</objects></raisim>")
    start_node("/many", paused=True)
    before = ok(probe.call(ListObjects, "/many/list_objects")).names
    answer = probe.call_async(LoadWorld, "/many/load_world_file", file=str(file))
    while len(names := ok(probe.call(ListObjects, "/many/list_objects")).names) != many + 1:
        assert sorted(names) == sorted(before)
    assert not answer.done(), "a request was answered while topics were made"
    ok(probe.call(RemoveObject, "/many/remove_object", name=f"b{many - 1}"))
    ok(probe.call(SpawnObject, "/many/spawn_object", name="late", shape="sphere", radius=0.1))
    probe.spin_until(answer.done, "the world to be loaded")
    ok(answer.result())
    probe.spin_until(lambda: {"/many/late/state", f"/many/b{many - 2}/state"} <= probe.topics(), "all topics")
    probe.wait_for_topics_to_go(lambda name: name.startswith(f"/many/b{many - 1}/"))


# ---- the machinery, without a node ----


def test_work_gives_its_value_and_tells_how_far_it_is(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text('<raisim><objects><sphere mass="1"><dim radius="0.5"/></sphere></objects></raisim>')
    told = []
    work = LongWork(told.append, 60.0, threading.Event())
    with work.prepared("world", (file, {}), "load") as description:
        pass
    assert [entry.shape for entry in description.objects] == ["sphere"]
    assert told == ["load: 1 objects read"]


def test_errors_of_the_work_come_back_as_they_are(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text("<raisim>")
    work = LongWork(lambda line: None, 60.0, threading.Event())
    with pytest.raises(ParseError, match=r"world\.xml:1"), work.prepared("world", (file, {}), "load"):
        pass
    file.write_text("<raisim/>")
    unknown = pytest.raises(InvalidValueError, match="parameter 'a' is unknown")
    with unknown, work.prepared("world", (file, {"a": "1"}), "load"):
        pass


def test_stop_ends_it_and_a_dead_process_is_told(tmp_path):
    stop = threading.Event()
    work = LongWork(lambda line: None, 60.0, stop)
    stop.set()
    with pytest.raises(LongWorkError, match="ends"), work.prepared("world", (tmp_path, {}), "load"):
        pass


def test_quick_worlds_are_told_from_long_ones(tmp_path):
    def is_long(text, **parameters):
        file = tmp_path / "world.xml"
        file.write_text(text)
        return preparation.world_is_long((file, parameters))

    loop = '<raisim><params><n value="{}"/></params><array idx="@@i" start="1" end="@@n"><a/></array></raisim>'
    assert not is_long("<raisim/>")
    assert not is_long(loop.format(10))
    assert is_long(loop.format(100_000))
    assert is_long(loop.format(10), n="100000")
    box = '<box mass="1"><dim x="1" y="1" z="1"/></box>'
    assert not is_long(f"<raisim><objects>{100 * box}</objects></raisim>")
    assert is_long(f"<raisim><objects>{1500 * box}</objects></raisim>")
    assert is_long('<raisim><objects><mesh file_name="a.obj" mass="1"/></objects></raisim>')
    assert is_long('<raisim><objects><heightmap x_samples="3000" y_samples="3000"/></objects></raisim>')
    assert not preparation.world_is_long((tmp_path / "gone.xml", {}))


ROBOT = (
    '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial><collision><geometry><mesh filename="{}" scale="2 2 2"/></geometry></collision></link></robot>'
)


def nothing_is_made(monkeypatch):
    """From here on this process reads no mesh and builds no geometry."""
    for place in ("description.mesh.file._read", "description.mesh.file.hull_of_points", "engine.link_mesh._find_hull"):
        monkeypatch.setattr(f"raisim_ros.{place}", lambda *_: pytest.fail("the node computes"))
    monkeypatch.setattr("raisim_ros.engine.assets._new_asset", lambda *_: pytest.fail("the stepping thread builds"))


@pytest.mark.parametrize("mode", ["original", "convex_hull"])
def test_a_large_mesh_is_read_once_and_elsewhere(tmp_path, monkeypatch, mode):
    """The node takes over what the worker has read, and builds what collides before the object is added."""
    file = torus(tmp_path / "torus.obj", 100, 80)
    request = SpawnObject.Request(name="ring", shape="mesh", mesh_mode=mode, mesh_file=str(file))
    assert preparation.body_is_long(request)
    with LongWork(lambda line: None, 60.0, threading.Event()).prepared("body", request, "spawn") as new:
        assert preparation.body_is_long(request), "read, not built"
        held = preparation.assets(new)
        nothing_is_made(monkeypatch)
        assert held
        assert not preparation.body_is_long(request), "the second one is quick"
        world = World()
        for _ in range(2):
            world.add_mesh(new.entry.file, 1.0, collision_mode=MeshCollisionMode.of(mode))


@pytest.mark.parametrize("mode", ["hull", "original"])
def test_large_meshes_of_robots_are_read_once_and_elsewhere(tmp_path, monkeypatch, mode):
    file = torus(tmp_path / "torus.obj", 100, 80)
    robot = tmp_path / "robot.urdf"
    robot.write_text(ROBOT.format(file))
    request = SpawnArticulatedSystem.Request(name="r", file=str(robot), collision_meshes=mode)
    assert preparation.robot_is_long(request)
    with LongWork(lambda line: None, 60.0, threading.Event()).prepared("robot", request, "spawn") as spec:
        held = preparation.assets(spec)
        nothing_is_made(monkeypatch)
        assert held
        assert not preparation.robot_is_long(request), "the second one is quick"
        World().add_articulated_system(spec.tree, options=spec.construction)


def test_terrain_and_many_meshes_of_a_world_are_made_elsewhere(tmp_path, monkeypatch):
    """More meshes than the memory holds are there until the objects are added."""
    meshes = [torus(tmp_path / f"torus_{number}.obj", 6, 5 + number) for number in range(40)]
    lines = [f'<mesh file_name="{mesh}" mass="1" collision_mode="original"/>' for mesh in meshes]
    file = tmp_path / "world.xml"
    file.write_text('<raisim><objects><heightmap x_size="9" y_size="9" x_samples="50" y_samples="50">'
                    f'<terrain_properties frequency="0.2"/></heightmap>{"".join(lines)}</objects></raisim>')  # fmt: skip
    work = LongWork(lambda line: None, 60.0, threading.Event())
    with work.prepared("world", (file, {}), "load") as description:
        held = preparation.assets(description)
        nothing_is_made(monkeypatch)
        assert held
        world = World()
        world.replace(description)
        assert len(world.get_obj_list()) == 41


def test_small_meshes_and_wrong_requests_need_no_worker(tmp_path):
    file = torus(tmp_path / "small.obj", 10, 8)
    robot = tmp_path / "robot.urdf"
    robot.write_text(ROBOT.format(file))
    for mode in ("original", "convex_hull"):
        assert not preparation.body_is_long(SpawnObject.Request(shape="mesh", mesh_mode=mode, mesh_file=str(file)))
    assert not preparation.robot_is_long(SpawnArticulatedSystem.Request(file=str(robot)))
    robot.write_text(ROBOT.format(tmp_path / "gone.obj"))
    assert not preparation.robot_is_long(SpawnArticulatedSystem.Request(file=str(robot)))
    assert not preparation.robot_is_long(SpawnArticulatedSystem.Request(file=str(tmp_path / "gone.urdf")))
    gone = SpawnObject.Request(shape="mesh", mesh_mode="original", mesh_file=str(tmp_path / "gone.obj"))
    assert not preparation.body_is_long(gone)


def test_bodies_are_filled_elsewhere(tmp_path, monkeypatch):
    """Tetrahedra of a fine body take seconds: the node takes them over."""
    file = torus(tmp_path / "torus.obj", 40, 20)
    small = SpawnDeformable.Request(name="b", source="mesh", file=str(file), build="filled", spacing=0.5)
    assert not preparation.deformable_is_long(small)
    request = SpawnDeformable.Request(name="b", source="mesh", file=str(file), build="filled", spacing=0.12)
    request.pose.position.z = 3.0
    assert preparation.deformable_is_long(request)
    with LongWork(lambda line: None, 60.0, threading.Event()).prepared("deformable", request, "spawn") as new:
        monkeypatch.setattr(body_mesh, "filled", lambda *_: pytest.fail("the node computes"))
        assert not preparation.deformable_is_long(request), "the second one is quick"
        body = add_entry(World(), new.entry)
    assert len(body.get_tetrahedra()) > 1000

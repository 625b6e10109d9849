"""raisim_ros.client: a world in few lines, with truth about the connection."""

import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from robot_calls import robot
from service_calls import ok

from raisim_ros.client import Client, ConnectionLostError, RequestRefusedError, Robot
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.msg import ResultCode
from raisim_ros.srv import RemoveObject, SpawnObject


@pytest.fixture(scope="module")
def world(start_node, domain_id):
    start_node(namespace="/client_test", paused=True)
    with Client("client_test", timeout=20.0, domain_id=domain_id) as client:
        yield client


@pytest.fixture(autouse=True)
def _fresh(world):
    world.pause()
    world.reset(spawned=True, time=True)


def test_an_object_is_spawned_stepped_read_and_removed(world):
    ball = world.spawn("ball", "sphere", position=(50.0, 0.0, 9.0), radius=0.1, mass=2.0)
    assert "ball" in world.names("sphere")
    assert ball.position == (50.0, 0.0, 9.0)
    world.step(100)
    t = 100 * 0.005
    assert ball.position[2] == pytest.approx(9.0 - 0.5 * 9.81 * t * t, abs=1e-9)
    assert ball.velocity[2] == pytest.approx(-9.81 * t, abs=1e-9)
    ball.place((51.0, 0.0, 3.0))
    world.step()
    assert ball.position[0] == 51.0
    world.remove(ball)
    with pytest.raises(RequestRefusedError) as refused:
        world.find("ball")
    assert refused.value.code == ResultCode.UNKNOWN_OBJECT


def test_states_of_what_others_removed_or_replaced_are_not_told(world, probe):
    """The last state of something that is gone is not where it is."""
    ball, box = (world.spawn(name, "sphere", position=(50.0, y, 9.0), radius=0.1) for name, y in (("ball", 0.0), ("box", 5.0)))
    assert ball.position
    assert box.position
    ok(probe.call(RemoveObject, "/client_test/remove_object", name="ball"))
    probe.spin_until(lambda: not world.node.count_publishers("/client_test/ball/state"), "its topic to go")
    for act in (lambda: ball.position, lambda: ball.push((1.0, 0.0, 0.0))):
        with pytest.raises(ConnectionLostError, match="'ball' was removed"):
            act()
    ok(probe.call(RemoveObject, "/client_test/remove_object", name="box"))
    ok(probe.call(SpawnObject, "/client_test/spawn_object", name="box", shape="box", size=[1.0, 1.0, 1.0], mass=1.0))
    with pytest.raises(ConnectionLostError, match="'box' was removed"):
        world.wait_until(lambda: box.position is None, timeout=20.0)
    assert world.find("box").position == (0.0, 0.0, 0.0)
    world.remove("box")


def test_what_is_read_after_a_reset_is_of_the_time_behind_it(world):
    """Messages of the time before were still told: a wait after a reset of time lasted until the old time came again."""
    ball = world.spawn("ball", "sphere", position=(50.0, 0.0, 9.0), radius=0.1)
    for _ in range(5):
        world.play()
        world.wait(0.5, timeout=60.0)
        world.pause()
        assert ball.position[2] < 9.0
        world.reset(time=True)
        assert world.time == 0.0
        assert ball.position == (50.0, 0.0, 9.0)


def test_a_push_is_renewed_until_it_is_released(world):
    ball = world.spawn("ball", "sphere", position=(50.0, 0.0, 9.0), radius=0.1, mass=1.0)
    world.play()
    ball.push((5.0, 0.0, 9.81))
    world.wait(1.0, timeout=60.0)
    assert ball.velocity[0] > 3.0  # longer than the watchdog's half a second
    ball.release()
    world.wait(1.0, timeout=60.0)
    before = ball.velocity
    world.wait(0.3, timeout=60.0)
    assert ball.velocity[2] < before[2] - 1.0  # it falls


def test_a_robot_follows_commands_and_trajectories(world):
    arm = world.spawn_robot("arm", robot("arm"), position=(20.0, 0.0, 0.0), p_gains=[400.0], d_gains=[40.0])
    assert isinstance(arm, Robot)
    world.play()
    arm.command(positions={"elbow": 0.5})
    world.wait_until(lambda: arm.joint_positions["elbow"] > 0.4, timeout=60.0)
    arm.release()
    arm.follow([(0.5, {"elbow": 0.0, "wrist_1": 0.3})])
    world.wait_until(lambda: abs(arm.joint_positions["elbow"]) < 0.1, timeout=60.0)


def test_many_requests_at_once_are_answered(world):
    futures = [world.call_async("spawn_object", name=f"b{i}", shape="sphere", radius=0.1) for i in range(60)]
    names = {future.result(60.0).name for future in futures}
    assert len(names) == 60


def test_refusals_and_unknown_services_are_told(world):
    with pytest.raises(RequestRefusedError, match="radius"):
        world.spawn("bad", "sphere", radius=-1.0)
    with pytest.raises(InvalidValueError, match="no_such_service"):
        world.call("no_such_service")


def test_it_does_not_pretend_that_a_world_is_there(start_node, domain_id):
    with pytest.raises(ConnectionLostError, match="nowhere"):
        Client("nowhere", timeout=0.5, domain_id=domain_id)
    node = start_node(namespace="/mortal", paused=True)
    with Client("mortal", timeout=20.0, domain_id=domain_id) as client:
        assert client.is_alive
        ball = client.spawn("ball", "sphere", radius=0.1)
        assert ball.position == (0.0, 0.0, 0.0)
        node.process.kill()
        node.wait_for_exit()
        end = time.monotonic() + 20.0
        while client.is_alive:
            assert time.monotonic() < end
            time.sleep(0.05)
        with pytest.raises(ConnectionLostError, match="silent"):
            _ = client.state
        with pytest.raises(ConnectionLostError, match="silent"):
            _ = ball.position
        with pytest.raises(ConnectionLostError):
            client.call("pause", timeout=0.5)


ODD = [None, True, -1, 0.5, float("nan"), 10**30, "", "\ud800", b"x", [], {"a": "b"}, object(), 1j, [None] * 3]


def test_wrong_arguments_are_refused_before_the_middleware_sees_them(world):
    """It would end the program."""
    ball = world.spawn("ball", "sphere", position=(50.0, 0.0, 9.0), radius=0.1, mass=2.0)
    arm = world.spawn_robot("arm", robot("arm"), position=(20.0, 0.0, 0.0))
    calls = [
        lambda odd: world.call("spawn_object", name=odd, shape="sphere", radius=odd),
        lambda odd: world.call(odd, name="ball"),
        lambda odd: world.call("list_objects", **{str(odd): 1}),
        lambda odd: world.spawn("x", "sphere", position=odd),
        lambda odd: world.spawn_entity(odd, text=odd),
        lambda odd: world.remove([odd]),
        lambda odd: ball.place(odd),
        lambda odd: ball.push((0.0, 0.0, 0.0), odd),
        lambda odd: arm.command({"joint": [odd]}),
        lambda odd: arm.follow(odd),
        lambda odd: arm.follow([(0.5, {"a": [odd]})]),
        lambda odd: arm.follow([([odd], {"a": 0.5})]),
        lambda odd: world.wait((odd,)),
    ]
    before = world.names()
    for call in calls:
        for odd in ODD:
            with pytest.raises(RaisimError):
                call(odd)
    assert world.names() == before
    world.remove(ball)
    with pytest.raises(ConnectionLostError, match="removed"):
        ball.push((1.0, 0.0, 0.0))


@pytest.mark.parametrize("wrong", [{"namespace": None}, {"namespace": "x" * 300}, {"timeout": None}, {"timeout": "2"}, {"domain_id": -1}, {"domain_id": 10**9}])
def test_impossible_connections_are_refused(wrong):
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        Client(**{"namespace": "nobody", "timeout": 0.1, **wrong})


CONNECT = "from raisim_ros.client import Client; import threading; world = Client('client_test', timeout=20.0); "
ASK = "threading.Thread(target=lambda: [world.call('list_objects') for _ in iter(int, 1)], daemon=True).start(); "
LEAVES = {
    "nothing closed": ("world.pause()", 0),
    "two connections, answers under way": ("Client('client_test'); [world.call_async('list_objects') for _ in range(50)]", 0),
    "another thread asks": (ASK + "world.names()", 0),
    "sys.exit": ("raise SystemExit(3)", 3),
    "an error": ("1 / 0", 1),
}


@pytest.mark.parametrize("leave", LEAVES)
def test_a_program_that_closes_nothing_ends_as_it_wants(world, ros_environment, leave):
    """The middleware aborted it: "terminate called", exit code 134."""
    program, code = LEAVES[leave]
    run = subprocess.run([sys.executable, "-c", CONNECT + program], env=ros_environment, capture_output=True, text=True)
    assert run.returncode == code, run.stderr
    assert ("Traceback" in run.stderr) == (code == 1)

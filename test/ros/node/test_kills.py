"""Nodes and clients that are ended at random moments: they end, leave no process, and every file is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from ament_index_python.packages import get_package_prefix
from victims import PROGRAM, descendants

from raisim_ros.engine.world.world import World
from raisim_ros.srv import LoadWorld, RemoveObject, SaveWorld, SpawnArticulatedSystem, SpawnObject

SEED = 20261116


def busy(probe, file, number):
    """Requests of all kinds, without waiting for their answers."""
    return [
        probe.call_async(SpawnObject, "spawn_object", name=f"ball_{number}", shape="sphere", radius=0.1, mass=1.0),
        probe.call_async(SpawnArticulatedSystem, "spawn_articulated_system", name=f"arm_{number}", file="package://raisim_ros/rsc/robots/arm.urdf"),
        probe.call_async(SaveWorld, "save_world", file=str(file), overwrite=True),
        probe.call_async(RemoveObject, "remove_object", name=f"ball_{number - 1}"),
        probe.call_async(LoadWorld, "load_world_file", file=""),
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_node_that_is_ended_while_it_spawns_saves_and_loads(start_node, probe, tmp_path, number):
    rng = random.Random(f"{SEED} {number}")
    file = tmp_path / "world.xml"
    World().export_to_xml(file)
    node = start_node()
    for _ in range(2):
        future = busy(probe, file, 1)[-1]
        probe.spin_until(future.done, "the answer of load_world")
    started = descendants(node.process.pid)
    end, count = time.monotonic() + rng.uniform(0.02, 0.3), 2
    while time.monotonic() < end:
        busy(probe, file, count)
        probe.node.executor.spin_once(timeout_sec=0.01)
        count += 1
    code, _ = node.interrupt(number)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0), node.output
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
    World(file)
    World().export_to_xml(file)  # removes what a killed node left beside it
    left = {path.suffix for path in tmp_path.iterdir()}
    assert left <= {".xml", ".urdf"}


@pytest.mark.parametrize("program", ["world_node", "viewer_node"])
def test_a_node_that_is_interrupted_while_it_starts(ros_environment, program):
    """Also while Python imports, where the exception of Ctrl-C can get lost. It waits for nothing: nobody knows of it yet."""
    path = Path(get_package_prefix("raisim_ros")) / "lib" / "raisim_ros" / program
    rng = random.Random(f"{SEED} starting {program}")
    for _ in range(8):
        node = subprocess.Popen([sys.executable, str(path)], env=ros_environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 2.0))
        node.send_signal(signal.SIGINT)
        _, told = node.communicate(timeout=30.0)
        if told.rstrip().endswith(b"KeyboardInterrupt"):
            continue  # before the first line of the program
        assert node.returncode in (0, -signal.SIGINT), told
        assert b"Traceback" not in told
        assert b"ended without its threads" not in told


@pytest.mark.parametrize("program", ["world_node", "viewer_node", "spawn_robot"])
def test_a_launcher_that_is_killed_while_its_nodes_start_takes_them_with_it(ros_environment, program):
    """Also one that nobody has asked for its exit code yet, which still has its number."""
    path = Path(get_package_prefix("raisim_ros")) / "lib" / "raisim_ros" / program
    with subprocess.Popen([sys.executable, "-c", ""]) as launcher:
        os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOWAIT)
        environment = {**ros_environment, "RAISIM_ROS_LAUNCHER_PID": str(launcher.pid)}
        command = [sys.executable, str(path), "--file", "arm.urdf", "--world", "/nobody", "--timeout", "1000"]
        node = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=60.0, check=False)
    assert node.returncode == -signal.SIGTERM  # before it has begun to watch signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_ended_while_it_steps_and_saves(tmp_path, number):
    rng = random.Random(f"{SEED} program {number}")
    file = tmp_path / "world.xml"
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(file), str(tmp_path / "run.raisim")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        time.sleep(rng.uniform(0.01, 0.2))
        process.send_signal(number)
        process.communicate(timeout=20.0)
        if file.exists():
            assert len(World(file).get_obj_list()) == 22


def test_spawn_robot_is_interrupted_while_it_waits_for_a_world(ros_environment):
    path = Path(get_package_prefix("raisim_ros")) / "lib" / "raisim_ros" / "spawn_robot"
    command = [sys.executable, "-X", "importtime", str(path), "--file", "arm.urdf", "--world", "/nobody"]
    waiting = subprocess.Popen(command, env=ros_environment, stderr=subprocess.PIPE)
    told = b""
    while b"raisim_ros.ros.spawn_robot" not in told:  # imported
        told += waiting.stderr.readline()
    time.sleep(0.5)
    waiting.send_signal(signal.SIGINT)
    _, rest = waiting.communicate(timeout=30.0)
    assert waiting.returncode in (130, -signal.SIGINT), rest
    assert b"Traceback" not in rest

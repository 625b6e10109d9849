"""Shared memory of killed nodes is removed by the next one; nobody else's is."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raisim_ros.client import shared_memory


def segment(folder, name):
    (folder / name).write_bytes(b"data")
    (folder / f"{name}_el").write_bytes(b"")


def dead_record(folder, *names):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (folder / f"raisim_ros_segments_{process.pid}_1").write_text("\n".join(names))


def test_segments_of_dead_nodes_are_removed(tmp_path):
    segment(tmp_path, "fastrtps_0123456789abcdef")
    segment(tmp_path, "fastdds_aaaaaaaaaaaaaaaa")
    segment(tmp_path, "fastrtps_ffffffffffffffff")  # not ours
    dead_record(tmp_path, "fastrtps_0123456789abcdef", "fastdds_aaaaaaaaaaaaaaaa")
    assert len(shared_memory.remove_stale(tmp_path)) == 2
    assert sorted(os.listdir(tmp_path)) == ["fastrtps_ffffffffffffffff", "fastrtps_ffffffffffffffff_el"]


def test_segments_that_somebody_holds_stay(tmp_path):
    segment(tmp_path, "fastrtps_0123456789abcdef")
    dead_record(tmp_path, "fastrtps_0123456789abcdef")
    with (tmp_path / "fastrtps_0123456789abcdef_el").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert shared_memory.remove_stale(tmp_path) == []
    assert (tmp_path / "fastrtps_0123456789abcdef").exists()


def test_segments_of_a_node_that_was_killed_while_it_started(tmp_path):
    """Their names were not written down yet: 70 MB stayed for ever."""
    dead_record(tmp_path, "starting")
    record = next(tmp_path.glob("raisim_ros_segments_*"))
    names = {age: f"fastrtps_{age:016x}" for age in (110, 99, 95, 20, 1)}  # by how long ago they were made [s]
    now = time.time()
    for age, name in names.items():
        segment(tmp_path, name)
        os.utime(tmp_path / f"{name}_el", (now - age, now - age))
    os.utime(record, (now - 100, now - 100))
    with (tmp_path / f"{names[95]}_el").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert shared_memory.remove_stale(tmp_path) == [names[99]]  # not before, not long after, not one that is held
    assert not record.exists()
    assert sorted(path.name for path in tmp_path.glob("*_el")) == sorted(f"{names[age]}_el" for age in (110, 95, 20, 1))


def test_a_start_that_was_announced_just_now_is_left_to_the_next(tmp_path):
    """A segment that somebody else makes at this moment may not be locked yet."""
    dead_record(tmp_path, "starting")
    segment(tmp_path, "fastrtps_0123456789abcdef")
    assert shared_memory.remove_stale(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 3


def test_a_node_that_is_killed_in_the_middle_of_its_start_leaves_nothing(start_node):
    pytest.importorskip("rclpy", reason="needs rclpy")
    code = """if True:
        import os, signal
        from raisim_ros.client import shared_memory
        from raisim_ros.ros import world_node

        def die():
            print("names", *shared_memory._own_segments(shared_memory._FOLDER), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        shared_memory.remember = die
        world_node.main()"""
    killed = start_node(program=("-c", code))
    killed.wait_for_output("names fast", 60.0)
    killed.process.wait(10.0)
    told = next(line for line in killed.output.splitlines() if line.startswith("names "))
    segments = [Path("/dev/shm") / name for name in told.split()[1:]]
    assert segments
    assert all(path.exists() for path in segments)
    time.sleep(shared_memory._SETTLED + 0.5)
    following = start_node(namespace="/following")
    following.wait_for_output("stop with Ctrl-C", 60.0)
    assert not any(path.exists() for path in segments)
    following.end()


def test_records_of_living_nodes_stay(tmp_path):
    segment(tmp_path, "fastrtps_0123456789abcdef")
    shared_memory.remember(tmp_path)
    assert not list(tmp_path.glob("raisim_ros_segments_*"))  # this process has none
    record = tmp_path / shared_memory._record_name()
    record.write_text("fastrtps_0123456789abcdef")
    assert shared_memory.remove_stale(tmp_path) == []
    assert record.exists()
    shared_memory.remove_own(tmp_path)
    assert not record.exists()
    assert (tmp_path / "fastrtps_0123456789abcdef").exists()  # this process has not made it


def test_a_node_leaves_the_segments_of_the_process_that_started_it(ros_environment):
    """It inherits their lock files where descriptors are not closed, as from launch: whoever started it was deaf afterwards."""
    pytest.importorskip("rclpy", reason="needs rclpy")
    code = """if True:
        import signal, subprocess, sys
        import rclpy
        from raisim_ros.client import shared_memory

        rclpy.init()
        starter = rclpy.create_node("starter")
        own = shared_memory._own_segments(shared_memory._FOLDER)
        command = [sys.executable, "-m", "raisim_ros.ros.world_node"]
        node = subprocess.Popen(command, close_fds=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in node.stdout:
            if "stop with Ctrl-C" in line:
                break
        records = list(shared_memory._FOLDER.glob(f"raisim_ros_segments_{node.pid}_*"))
        told = [name for record in records for name in record.read_text().split()]
        node.send_signal(signal.SIGINT)
        node.communicate()
        left = [name for name in own if (shared_memory._FOLDER / name).exists()]
        print(bool(own), bool(told), left == own, set(told) & set(own), node.returncode)"""
    run = subprocess.run([sys.executable, "-c", code], env=ros_environment, capture_output=True, text=True, timeout=100)
    assert run.stdout.splitlines()[-1:] == ["True True True set() 0"], run.stdout + run.stderr


def test_records_that_make_no_sense_are_removed(tmp_path):
    (tmp_path / "raisim_ros_segments_0_1").write_bytes(b"\xff\xfe\0" * 100)
    (tmp_path / f"raisim_ros_segments_{'9' * 200}_1").write_bytes(b"")
    (tmp_path / "raisim_ros_segments_1_1").symlink_to("/etc/passwd")
    (tmp_path / "raisim_ros_segments_2_1").write_bytes(b"x" * 1_000_000)
    (tmp_path / "raisim_ros_segments_3_1").mkdir()
    assert shared_memory.remove_stale(tmp_path) == []
    assert {path.name[-3:] for path in tmp_path.iterdir()} == {"1_1", "2_1", "3_1"}  # not made by a node


@pytest.mark.parametrize("name", ["../../etc/passwd", "fastrtps_port7400", "other", "/etc/passwd"])
def test_records_cannot_name_other_files(tmp_path, name):
    (tmp_path / "other").write_text("precious")
    (tmp_path / "fastrtps_port7400").write_text("shared")
    (tmp_path / "fastrtps_port7400_el").write_text("")
    dead_record(tmp_path, name)
    assert shared_memory.remove_stale(tmp_path) == []
    assert (tmp_path / "other").exists()
    assert (tmp_path / "fastrtps_port7400").exists()


def test_a_killed_node_leaves_nothing_to_the_next_but_one(start_node):
    pytest.importorskip("rclpy", reason="needs rclpy")
    first = start_node(namespace="/killed")
    first.wait_for_output("stop with Ctrl-C")
    record = next(Path("/dev/shm").glob(f"raisim_ros_segments_{first.process.pid}_*"))
    segments = record.read_text().split()
    assert segments
    first.interrupt(signal.SIGKILL)
    assert all(Path("/dev/shm", name).exists() for name in segments)
    second = start_node(namespace="/next")
    second.wait_for_output("stop with Ctrl-C")
    assert not any(Path("/dev/shm", name).exists() for name in segments)
    assert not record.exists()
    second.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("program", ["ros.world_node", "viewer.viewer_node"])
def test_a_node_that_ends_leaves_nothing(start_node, program, number):
    """It said that it had removed its segments, and left 70 MB for ever: it no longer waited for Python to take FastDDS down."""
    pytest.importorskip("rclpy", reason="needs rclpy")
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    viewer = program == "viewer.viewer_node"
    node = start_node(program=("-m", f"raisim_ros.{program}"), **({"port": 0} if viewer else {}))
    node.wait_for_output("viewer:" if viewer else "stop with Ctrl-C", 60.0)
    record = next(Path("/dev/shm").glob(f"raisim_ros_segments_{node.process.pid}_*"))
    segments = [Path("/dev/shm") / name for name in record.read_text().split()]
    assert segments
    assert all(path.exists() for path in segments)
    node.interrupt(number)
    assert [path for path in (record, *segments) if path.exists()] == []


@pytest.mark.parametrize("program", ["viewer_node", "client"])
def test_killed_viewers_and_clients_leave_nothing_either(start_node, ros_environment, program):
    pytest.importorskip("rclpy", reason="needs rclpy")
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    if program == "client":
        world = start_node(namespace="/seen")
        code = "import sys, time; from raisim_ros.client import Client; c = Client('seen', 60.0); print('viewer:', flush=True); time.sleep(600)"
        killed = start_node(program=("-c", code))
    else:
        world, killed = None, start_node(program=("-m", "raisim_ros.viewer.viewer_node"), port=0)
    killed.wait_for_output("viewer:", 60.0)
    record = next(Path("/dev/shm").glob(f"raisim_ros_segments_{killed.process.pid}_*"))
    segments = [Path("/dev/shm") / name for name in record.read_text().split()]
    assert segments
    assert all(path.exists() for path in segments)
    killed.interrupt(signal.SIGKILL)
    following = start_node(namespace="/following")
    following.wait_for_output("stop with Ctrl-C")
    assert not record.exists()
    assert not any(path.exists() for path in segments)
    for node in (world, following):
        if node is not None:
            node.end()

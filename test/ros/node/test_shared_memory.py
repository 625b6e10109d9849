"""Shared memory of killed nodes is removed by the next one; nobody else's is."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from raisim_ros.ros.node import shared_memory


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


def test_records_of_living_nodes_stay(tmp_path):
    segment(tmp_path, "fastrtps_0123456789abcdef")
    shared_memory.remember(tmp_path)
    record = next(tmp_path.glob("raisim_ros_segments_*"))
    record.write_text("fastrtps_0123456789abcdef")
    assert shared_memory.remove_stale(tmp_path) == []
    assert record.exists()
    shared_memory.forget(tmp_path)
    assert not record.exists()


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
    own = next(Path("/dev/shm").glob(f"raisim_ros_segments_{second.process.pid}_*"))
    second.interrupt()
    assert not own.exists()

"""Recordings hold what happened, survive crashes and do not disturb the run."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from raisim_ros import Recording, World
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.viewer.comparison import GHOST_OPACITY, ComparisonFeed
from raisim_ros.viewer.recorder import Recorder
from raisim_ros.viewer.recording import RecordingFeed
from raisim_ros.viewer.scene import Wanted


def bouncing_world():
    world = World()
    world.set_time_step(0.002)
    world.add_ground().set_name("ground")
    ball = world.add_sphere(0.1, 1.0)
    ball.set_name("ball")
    ball.set_position(0, 0, 0.5)
    ball.set_velocity((0.3, 0, 0), (0, 0, 5.0))
    robot = world.add_articulated_system(resource("robots/arm.urdf"))
    robot.set_name("arm")
    robot.set_base_pos((3.0, 0.0, 0.0))
    world.add_stiff_wire(ball, 0, (0, 0, 0), world.get_object("ground"), 0, (0, 0, 0), 2.0)
    return world


@pytest.fixture
def recorded(tmp_path):
    world, file = bouncing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 50.0)
    places = [world.get_object("ball").get_position()]
    for _ in range(40):
        world.integrate(10)
        places.append(world.get_object("ball").get_position())
    world.stop_recording()
    return world, file, np.array(places)


def test_a_recording_or_export_that_fails_leaves_the_old_file(tmp_path):
    world = World()
    world.add_sphere(0.1, 1.0)
    file = tmp_path / "run.raisim"
    world.start_recording(file)
    world.integrate(100)
    world.stop_recording()
    before = file.read_bytes()
    code = f"""
import resource, signal
from raisim_ros import Recording, World
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
world = World()
world.add_sphere(0.1, 1.0)
world.start_recording({str(file)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST))
world.integrate(5000)
try:
    world.stop_recording()
except OSError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code.replace("MOST", "20000")], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("FileWriteError"), done
    assert str(file) in done.stdout
    assert len(Recording(file)) > 0  # what was written before the disk was full
    file.write_bytes(before)
    early = code.replace("world.start_recording", "resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9)); world.start_recording")
    done = subprocess.run([sys.executable, "-c", early.replace("MOST", "9")], capture_output=True, text=True, check=False)
    assert "FileWriteError" in done.stderr
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_film_that_breaks_off_leaves_the_old_one(tmp_path):
    from raisim_ros.viewer.export import write_film

    file = tmp_path / "film.gif"
    file.write_bytes(b"old")

    def pictures():
        yield np.zeros((8, 8, 3), np.uint8)
        raise InvalidValueError("no more")

    with pytest.raises(InvalidValueError, match="no more"):
        write_film(file, pictures(), 10.0)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
    write_film(file, iter([np.zeros((8, 8, 3), np.uint8)]), 10.0)
    assert file.read_bytes().startswith(b"GIF")


def test_every_frame_is_what_happened(recorded):
    world, file, places = recorded
    recording = Recording(file)
    assert recording.times == pytest.approx(0.02 * np.arange(41))
    row = world.get_object("ball").get_index_in_world()
    assert np.array_equal([recording.array("poses", k)[row, :3] for k in range(41)], places)
    last = recording.array("coordinates", 40)
    assert np.array_equal(last, world.get_object("arm").get_generalized_coordinate())
    with pytest.raises(RaisimError, match="frame is 41"):
        recording.array("poses", 41)
    with pytest.raises(RaisimError, match="no 'colours'"):
        recording.array("colours", 0)


def test_recording_does_not_change_the_run(recorded):
    alone = bouncing_world()
    alone.integrate(400)
    assert alone.get_state_hash() == recorded[0].get_state_hash()


def test_the_recorded_world_can_be_gone_on_with(recorded):
    world, file, _ = recorded
    again = Recording(file).world(40)
    for name in ("ball", "arm"):
        assert again.get_object(name).get_position() == pytest.approx(world.get_object(name).get_position(), abs=1e-12)
    assert again.get_object("ball").get_linear_velocity() == pytest.approx(world.get_object("ball").get_linear_velocity())
    assert again.get_world_time() == pytest.approx(0.8)
    again.integrate(10)


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_a_torn_file_loses_only_its_end(tmp_path, monkeypatch, cut):
    from raisim_ros.viewer import recorder

    monkeypatch.setattr(recorder, "CHUNK_FRAMES", 5)
    world, file = bouncing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 50.0)
    world.integrate(400)
    world.stop_recording()
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    recording = Recording(file)
    assert 35 <= len(recording) < 41
    file.write_bytes(whole[:-cut] + b"x" * cut)
    assert len(Recording(file)) == len(recording)


def test_objects_that_come_and_go_are_recorded(tmp_path):
    world, file = bouncing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 100.0)
    world.integrate(20)
    world.add_box(0.2, 0.2, 0.2, 1.0).set_position(1, 1, 1)
    world.integrate(20)
    world.remove_object(world.get_object("arm"))
    world.integrate(20)
    world.stop_recording()
    feed = RecordingFeed(Recording(file))
    counts = []
    for frame in range(len(feed.recording)):
        feed.seek(float(feed.recording.times[frame]))
        model = feed.model()
        counts.append(len(model.items))
        assert len(feed.moment(Wanted()).poses) == model.frames
    assert sorted(set(counts)) == [3, 4]
    assert counts[0] == 3
    assert counts[-1] == 3


def test_a_recording_is_played_and_not_changed(recorded):
    feed = RecordingFeed(Recording(recorded[1]))
    feed.step(3)
    assert feed.moment(Wanted()).time == pytest.approx(0.06)
    feed.seek(99.0)
    assert feed.moment(Wanted(contacts=True)).time == pytest.approx(0.8)
    feed.reset()
    assert feed.moment(Wanted()).time == 0.0
    assert "position" in feed.describe("ball")
    with pytest.raises(RaisimError, match="recording"):
        feed.remove("ball")


def test_files_that_are_no_recordings_are_refused(tmp_path):
    with pytest.raises(RaisimError, match="missing"):
        Recording(tmp_path / "missing.raisim")
    other = tmp_path / "other.raisim"
    other.write_bytes(b"something else")
    with pytest.raises(RaisimError, match="not a recording"):
        Recording(other)
    other.write_bytes(b"RAISIM01")
    with pytest.raises(RaisimError, match="no frames"):
        Recording(other)


def test_a_world_is_recorded_once_at_a_time(tmp_path):
    world = bouncing_world()
    world.start_recording(tmp_path / "a.raisim")
    with pytest.raises(RaisimError, match="already"):
        world.start_recording(tmp_path / "b.raisim")
    world.stop_recording()
    world.stop_recording()
    with pytest.raises(RaisimError, match="rate"):
        world.start_recording(tmp_path / "c.raisim", 0.0)
    with pytest.raises(OSError, match="nowhere"):
        world.start_recording(tmp_path / "nowhere" / "d.raisim")
    world.integrate()


def test_two_runs_are_compared_at_the_same_times(recorded, tmp_path):
    file = recorded[1]
    other = bouncing_world()
    other.get_object("ball").set_position(0.0, 0.7, 0.5)
    late = other.add_sphere(0.1, 1.0)  # only in the second run
    late.set_name("late")
    late.set_position(1.0, 1.0, 0.1)
    second = tmp_path / "second.raisim"
    other.start_recording(second, 20.0)
    other.integrate(300)
    other.stop_recording()
    feed = ComparisonFeed(Recording(file), Recording(second))
    model = feed.model()
    items = {item.name: item for item in model.items}
    assert [name for name in items if name.endswith("(2)")] == ["ball (2)", "arm (2)", "late (2)"]
    assert {part.opacity for part in items["ball (2)"].parts} == {GHOST_OPACITY}
    for moment_time in (0.0, 0.3, 0.8):  # the second run ends at 0.6 s
        feed.seek(moment_time)
        moment = feed.moment(Wanted())
        assert len(moment.poses) == model.frames
        here, there = (moment.poses[items[name].first_frame, :3] for name in ("ball", "ball (2)"))
        first, second_run = Recording(file), Recording(second)
        assert np.array_equal(here, first.array("poses", first.frame_at(moment_time))[1, :3])
        assert np.array_equal(there, second_run.array("poses", second_run.frame_at(moment_time))[1, :3])
    feed.seek(0.0)
    assert "0.7" in feed.describe("ball").splitlines()[-1]
    assert "position" in feed.describe("late (2)")


def test_frames_after_a_jump_do_not_depend_on_how_many_steps_are_taken_at_once(tmp_path):
    times = []
    for steps in (1, 4, 7):
        world = World()
        world.set_time_step(0.005)
        world.add_sphere(0.2, mass=1.0)
        start = world.save_snapshot()
        world.start_recording(tmp_path / f"{steps}.raisim", rate=50)
        world.integrate(56)
        world.restore_snapshot(start)
        for _ in range(28 // steps):
            world.integrate(steps)
        world.stop_recording()
        times.append(list(Recording(tmp_path / f"{steps}.raisim").times))
    assert times[0] == times[1] == times[2]


@pytest.mark.parametrize("moment", range(30))
def test_ctrl_c_while_a_chunk_is_handed_on_keeps_no_lock(moment):
    """At every line and at every return of Python on the way."""
    recorder, left = Recorder.__new__(Recorder), moment
    recorder._queue = Recorder.new_queue()

    def interrupt(frame, event, argument):
        nonlocal left
        left -= 1
        if left < 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return interrupt

    try:
        sys.settrace(interrupt)
        recorder.add(b"one", bytes)
    except KeyboardInterrupt:
        pass
    sys.settrace(None)
    again = threading.Thread(target=recorder.add, args=(b"two", bytes), daemon=True)
    again.start()
    again.join(10.0)
    assert not again.is_alive()

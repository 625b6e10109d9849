"""Recordings hold what happened, survive crashes and do not disturb the run."""

from __future__ import annotations

import errno
import math
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

from raisim_ros import Recording, World
from raisim_ros.description.errors import FileWriteError, InvalidValueError, RaisimError
from raisim_ros.description.recording_file import MEASUREMENTS, read_chunks
from raisim_ros.description.resources import resource
from raisim_ros.viewer import measurements, recorder
from raisim_ros.viewer.comparison import GHOST_OPACITY, ComparisonFeed
from raisim_ros.viewer.quantities import JOINT_TARGETS
from raisim_ros.viewer.recorder import Recorder
from raisim_ros.viewer.recording import RecordingFeed
from raisim_ros.viewer.scene import Wanted
from raisim_ros.viewer.sensor_views import camera_images, seen_points


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


def test_a_disk_that_is_full_when_a_recording_begins_is_told_in_our_words(tmp_path, monkeypatch):
    """The system's error came through where only the file itself had no room left."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(recorder, "write_chunk", full)
    with pytest.raises(FileWriteError, match=r"run\.raisim.*No space left"):
        World().start_recording(tmp_path / "run.raisim")
    assert list(tmp_path.iterdir()) == []


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


ODD = [None, "text", [0], np.zeros(3), -1, 10**30, 0.5, float("nan"), World]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_frames_and_times_that_are_none_are_refused_by_name(recorded, odd):
    """They raised errors of Python and NumPy."""
    run = Recording(recorded[1])
    for ask in (run.world, run.moment, run.epoch_of, lambda frame: run.array("poses", frame)):
        with pytest.raises(InvalidValueError, match="frame"):
            ask(odd)
    if odd is not None:
        with pytest.raises(InvalidValueError, match="frame"):
            run.branch(frame=odd)
    with pytest.raises(InvalidValueError, match=r"name|recording has no"):
        run.array(odd, 0)
    with pytest.raises(RaisimError, match="world"):
        run.restore(odd, 0.0)
    if not isinstance(odd, (int, float)) or math.isnan(odd):
        for ask in (run.frame_at, run.branch, lambda time: run.restore(recorded[0], time)):
            with pytest.raises(InvalidValueError, match="time_"):
                ask(odd)


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


def sensing_world():
    """A scout with lidar, cameras and an IMU, between two boxes; another one with the same sensors."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground().set_name("ground")
    for place in (-1.5, 2.0):
        world.add_box(0.4, 2.0, 1.0, 5.0).set_position(place, 0.0, 0.5)
    for number in range(2):
        carrier = world.add_box(0.3, 0.3, 0.3, 3.0, name=f"carrier_{number}")
        carrier.set_position(0.0, 3.0 * number, 0.15)
        carrier.set_velocity((0.5, 0.0, 0.0), (0.0, 0.0, 0.3))
        for file in ("head", "imu"):
            world.add_sensor_set(carrier, resource(f"sensors/{file}.xml"), name=file)
    return world


def readings_of(world):
    """Everything that sensors show, by object, set and sensor."""
    found = {}
    for sensors in world.get_sensor_sets():
        for sensor in sensors:
            kept = (name for name in sensor._READINGS if name not in ("_points", "_contacts"))  # frames have these
            shown = {name: np.copy(getattr(sensor, name)) for name in kept}
            found[sensors.mount.object.get_name(), sensor.get_full_name()] = {"stamp": sensor.get_update_time_stamp(), **shown}
    return found


def assert_same_readings(one, other):
    assert one.keys() == other.keys()
    for key, readings in one.items():
        for name, value in readings.items():
            np.testing.assert_allclose(other[key][name], value, rtol=1e-6, atol=1e-6, err_msg=f"{key} {name}")


def test_a_recording_shows_what_sensors_showed(tmp_path):
    world, file = sensing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 50.0)
    shown = []
    for _ in range(30):
        shown.append(readings_of(world))
        world.integrate(10)
    world.stop_recording()
    recording = Recording(file)
    for frame in (29, 3, 17):
        assert_same_readings(shown[frame], readings_of(recording.world(frame)))
    feed = RecordingFeed(recording)
    feed.seek(float(recording.times[20]))
    feed.model()
    moment = feed.moment(Wanted(points=True, images=True))
    world = recording.world(20)
    assert len(moment.points) > 100
    assert len(moment.images) == len(camera_images(world)) > 2  # of both carriers
    np.testing.assert_allclose(moment.points, seen_points(world))
    assert feed.moment(Wanted()).points.shape == (0, 3)


def test_sensors_that_come_later_show_nothing_before(tmp_path):
    world, file = sensing_world(), tmp_path / "run.raisim"
    late = world.add_box(0.1, 0.1, 0.1, 1.0, name="late")
    late.set_position(0.0, -2.0, 0.05)
    world.start_recording(file, 50.0)
    world.integrate(100)
    world.add_sensor_set(late, resource("sensors/imu.xml"), name="imu")
    world.integrate(100)
    world.stop_recording()
    recording = Recording(file)
    last = readings_of(recording.world(len(recording) - 1))
    assert last["late", "imu/imu"]["_acceleration"][2] == pytest.approx(9.81, abs=0.5)
    assert ("late", "imu/imu") not in readings_of(recording.world(0))


def test_a_recording_holds_what_robots_were_told(tmp_path):
    world, file = bouncing_world(), tmp_path / "run.raisim"
    arm = world.get_object("arm")
    arm.set_pd_gains(100.0, 10.0)
    world.start_recording(file, 50.0)
    world.integrate(50)
    target = np.linspace(0.1, 0.6, arm.get_generalized_coordinate_dim())
    arm.set_pd_target(target, np.zeros(arm.get_dof()))
    arm.set_generalized_force(np.full(arm.get_dof(), 0.25))
    world.integrate(50)
    world.stop_recording()
    recording = Recording(file)
    np.testing.assert_array_equal(recording.array("position_targets", len(recording) - 1), target)
    np.testing.assert_array_equal(recording.array("feed_forward", len(recording) - 1), arm.get_feed_forward_generalized_force())
    assert not recording.array("position_targets", 0).any()
    feed = RecordingFeed(recording)
    feed.seek(feed.timeline()[1])
    assert list(feed.quantities("arm")[JOINT_TARGETS].values()) == pytest.approx(target)


def test_measurements_are_in_mcap_files(tmp_path):
    pytest.importorskip("mcap_ros2", reason="the extra 'record' is not installed")
    from mcap_ros2.reader import read_ros2_messages

    from raisim_ros.viewer.mcap_export import write_mcap

    world, run, bag = sensing_world(), tmp_path / "run.raisim", tmp_path / "run.mcap"
    world.start_recording(run, 50.0)
    world.integrate(200)
    world.stop_recording()
    recording = Recording(run)
    write_mcap(recording, bag)
    messages = {}
    for one in read_ros2_messages(str(bag)):
        messages.setdefault(one.channel.topic, []).append(one.ros_msg)
    assert {f"/carrier_{k}/lidar/points" for k in (0, 1)} <= messages.keys()
    clouds = messages["/carrier_0/lidar/points"]
    stamps = [cloud.header.stamp.sec + 1e-9 * cloud.header.stamp.nanosec for cloud in clouds]
    assert len(set(stamps)) == len(stamps) > 2  # each measurement once
    last = recording.world(len(recording) - 1)
    lidar = next(s for one in last.get_sensor_sets(last.get_object("carrier_0")) for s in one if s.get_name() == "lidar")
    points = np.frombuffer(clouds[-1].data, np.float32).reshape(-1, 3)
    np.testing.assert_allclose(points, lidar.get_scan(), atol=1e-6)
    frames = {tf.child_frame_id for message in messages["/tf"] for tf in message.transforms}
    assert clouds[-1].header.frame_id == "carrier_0/lidar"
    assert {"carrier_0/lidar", "carrier_1/lidar"} <= frames
    (imu,) = {topic for topic in messages if topic.startswith("/carrier_0/imu") and topic.endswith("/imu")} - {"/carrier_0/imu_imu/imu"}
    assert messages[imu][-1].linear_acceleration.z == pytest.approx(9.81, abs=1.0)
    images = [message for topic, found in messages.items() if topic.endswith("image") for message in found]
    assert {image.encoding for image in images} == {"rgb8", "32FC1"}
    assert all(len(image.data) == image.step * image.height for image in images)


def test_measurements_take_turns_where_they_would_make_a_file_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(measurements, "BYTES_PER_SECOND", 1_000_000)
    world, file = sensing_world(), tmp_path / "run.raisim"
    shown = sum(measurements.readings_size(sensor) * sensor.get_update_rate() for _, sensor in measurements.sensors_of(world))
    world.start_recording(file, 50.0)
    world.integrate(2000)
    world.stop_recording()
    found = Recording(file)._measurements.by_sensor
    noted = sum(one.size() for several in found.values() for one in several)
    assert 2_000_000 < noted < 6_000_000 < 4.0 * shown
    imus = [several for key, several in found.items() if key[1] == "imu"]
    assert [len(several) for several in imus] == [200, 200]  # small ones always
    large = [several for key, several in found.items() if several[0].size() >= 4096]
    assert len(large) > 4
    turn = sum(several[0].size() for several in large) / 1_000_000  # time in which each can be noted once [s]
    for several in large:
        times = np.array([one.stamp for one in several])
        assert len(times) > 1
        assert np.diff(times).max() < 2.0 * turn  # none is left out for long


def test_recordings_without_measurements(tmp_path):
    world, file = sensing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 50.0, sensors=False)
    world.integrate(100)
    world.stop_recording()
    assert not Recording(file)._measurements
    with pytest.raises(InvalidValueError, match="sensors"):
        world.start_recording(file, sensors="yes")


def test_recorded_measurements_are_packed_well(tmp_path):
    world, file = sensing_world(), tmp_path / "run.raisim"
    world.start_recording(file, 50.0)
    world.integrate(500)
    world.stop_recording()
    found = Recording(file)._measurements.by_sensor
    arrays = [array for several in found.values() for one in several for array in one.readings.values()]
    packed = sum(len(zlib.compress(payload, 6)) for kind, payload in read_chunks(file) if kind == MEASUREMENTS)
    assert packed < 0.6 * sum(len(zlib.compress(array.tobytes(), 6)) for array in arrays)

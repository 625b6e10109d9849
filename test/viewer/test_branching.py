"""Recordings go on from any of their moments to the same bits, whatever happened in the world."""

from __future__ import annotations

import contextlib
import copy
import pickle
import subprocess
import sys
from time import sleep

import numpy as np
import pytest
from random_worlds import make_world

from raisim_ros import HeightMapData, Recording, World
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.recording_file import BASE, KEYFRAME, MAGIC, read_chunks, write_chunk
from raisim_ros.description.resources import resource
from raisim_ros.engine.sensors.sensor import MeasurementSource
from raisim_ros.viewer import keyframes

WORLDS = ("crane", "heightmaps", "newtons_cradle", "robots", "sensor_room", "shapes")
SLOW = ("cloth_over_ball", "grain_hopper")


def bits(value):
    if isinstance(value, list):  # contacts
        return [(contact.get_position().tobytes(), contact.get_impulse().tobytes()) for contact in value]
    return np.asarray(value).tobytes()


def readings(world):
    return [
        bits(getattr(sensor, name))
        for one in world.get_sensor_sets()
        for sensor in one
        for name in (*sensor._READINGS, "_frame")
    ]


def fingerprint(world):
    return world.get_state_hash(), world.get_step_count(), world.get_world_time(), readings(world)


def record(world, file, seconds, disturb=lambda _: None, rate=30.0):
    """Fingerprints by time, after every step; the world is disturbed before every fifth."""
    world.start_recording(file, rate)
    found = {world.get_world_time(): fingerprint(world)}
    while world.get_world_time() < seconds:
        if world.get_step_count() % 5 == 0:
            disturb(world)
        world.integrate()
        found[world.get_world_time()] = fingerprint(world)
    world.stop_recording()
    return found


def check(recording, found, moments=6, seed=0):
    """Some frames, at random, are what was; and go on to the last one if nobody disturbed the world."""
    times = [float(recording.times[k]) for k in np.random.default_rng(seed).choice(len(recording), moments)]
    for time in times:
        world = recording.branch(time)
        assert world.get_world_time() == time
        assert fingerprint(world) == found[time]
        yield world


@pytest.mark.parametrize("name", WORLDS + SLOW)
def test_worlds_go_on_to_the_same_bits(name, tmp_path):
    world = World(resource(f"worlds/{name}.xml"))
    found = record(world, tmp_path / "run.raisim", 0.2 if name in SLOW else 1.3)
    for branch in check(Recording(tmp_path / "run.raisim"), found, 4):
        branch.integrate(world.get_step_count() - branch.get_step_count())
        assert fingerprint(branch) == fingerprint(world)
        assert [repr(one) for one in branch] == [repr(one) for one in world]


@pytest.mark.parametrize("seed", range(14))
def test_random_worlds_go_on_to_the_same_bits(seed, tmp_path):
    world = make_world(seed).world
    found = record(world, tmp_path / "run.raisim", 200 * world.get_time_step(), rate=0.1 / world.get_time_step())
    for branch in check(Recording(tmp_path / "run.raisim"), found, 4, seed):
        branch.integrate(world.get_step_count() - branch.get_step_count())
        assert fingerprint(branch) == fingerprint(world)


def kick(rng):
    """What a program may do between steps: forces, velocities, targets, gains, looks, sensors, settings."""

    def disturb(world):
        moving = [one for one in world.get_obj_list() if hasattr(one, "set_external_force")]
        one = moving[rng.integers(len(moving))]
        match rng.integers(7):
            case 0:
                world.set_gravity(rng.normal([0, 0, -9.81], 0.5))
            case 1 if hasattr(one, "set_pd_target"):
                one.set_pd_gains(rng.uniform(1, 50, one.get_dof()), rng.uniform(0, 1, one.get_dof()))
                one.set_pd_target(one.get_generalized_coordinate(), np.zeros(one.get_dof()))
            case 2 if hasattr(one, "set_pd_target"):
                one.set_generalized_velocity(rng.normal(0, 0.3, one.get_dof()))
            case 3:
                one.set_external_force(0, rng.normal(0, 1, 3))
            case 4 if world.get_sensor_sets():
                for sensor in world.get_sensor_sets()[0]:
                    sensor.set_update_rate(float(rng.uniform(5, 50)))
            case 5:
                one.set_appearance("red")
            case _:
                pass  # and sometimes nothing

    return disturb


@pytest.mark.parametrize("name", ["robots", "sensor_room", "shapes"])
@pytest.mark.parametrize("seed", range(3))
def test_disturbed_worlds_come_back_to_the_same_bits(name, seed, tmp_path, monkeypatch):
    monkeypatch.setattr(keyframes, "BYTES_PER_SECOND", np.inf)
    world = World(resource(f"worlds/{name}.xml"))
    rng = np.random.default_rng(seed)
    found = record(world, tmp_path / "run.raisim", 0.8, kick(rng))
    last = list(check(Recording(tmp_path / "run.raisim"), found, 6, seed))[-1]
    disturb, other = kick(np.random.default_rng(seed)), World(resource(f"worlds/{name}.xml"))
    while other.get_step_count() < world.get_step_count():  # the branch gets the kicks that the world got after that moment
        late = other.get_step_count() >= last.get_step_count()
        if other.get_step_count() % 5 == 0:
            disturb(last if late else other)
        if late:
            last.integrate()
        other.integrate()
    assert fingerprint(last) == fingerprint(world)


def test_objects_sensors_and_terrains_that_come_and_go(tmp_path):
    world = World(resource("worlds/sensor_room.xml"))
    rng = np.random.default_rng(3)

    def change(world):
        match rng.integers(6):
            case 0:
                world.add_box(0.2, 0.2, 0.2, 1.0).set_position(*rng.uniform(-1, 1, 2), 3.0)
            case 1:
                mesh = world.add_mesh(resource("meshes/unit_sphere.obj"), 1.0)
                mesh.set_position(*rng.uniform(-1, 1, 2), 3.0)
            case 2:
                world.remove_object(world.get_obj_list()[-1])
            case 3 if world.get_sensor_sets():
                world.remove_sensor_set(world.get_sensor_sets()[0])
            case 4:
                snapshot = world.save_snapshot()
                world.integrate(3)
                world.restore_snapshot(snapshot)
            case _:
                pass

    found = record(world, tmp_path / "run.raisim", 1.0, change)
    list(check(Recording(tmp_path / "run.raisim"), found, 12))


def test_the_recorded_world_itself_goes_back(tmp_path):
    world = World(resource("worlds/robots.xml"))
    found = record(world, tmp_path / "run.raisim", 1.2)
    recording, end = Recording(tmp_path / "run.raisim"), fingerprint(world)
    for frame in (30, 0, 17):
        time = float(recording.times[frame])
        recording.restore(world, time)
        assert fingerprint(world) == found[time]
    world.integrate(end[1] - world.get_step_count())
    assert fingerprint(world) == end
    world.add_ground()
    with pytest.raises(InvalidValueError):
        recording.restore(World(), 0.0)


@pytest.mark.parametrize("wait", [0.0, 0.01], ids=["at once", "written meanwhile"])
def test_halves_of_steps_are_changes(wait, tmp_path):
    """Each step is a change; what is in the file does not depend on how fast it is written."""
    world = World(resource("worlds/shapes.xml"))
    world.start_recording(tmp_path / "run.raisim", 100.0)
    found = {}
    for _ in range(60):
        world.integrate1()
        world.integrate2()
        found[world.get_world_time()] = fingerprint(world)
        sleep(wait)
    world.stop_recording()
    recording = Recording(tmp_path / "run.raisim")
    for time in recording.times[1:]:
        assert fingerprint(recording.branch(float(time))) == found[float(time)]


def test_a_run_that_is_left_alone_has_one_keyframe_a_second(tmp_path):
    world = World(resource("worlds/robots.xml"))
    world.start_recording(tmp_path / "run.raisim", 50.0)
    for _ in range(400):
        world.integrate(5)
        world.read_states()  # looking is not touching
        for one in world:
            one.get_position()
            one.get_name()
        world.get_contact_problem()
    world.stop_recording()
    kinds = [kind for kind, _ in read_chunks(tmp_path / "run.raisim")]
    assert kinds.count(BASE) == 1
    assert kinds.count(KEYFRAME) == round(world.get_world_time()) - 1 or kinds.count(KEYFRAME) == round(world.get_world_time())


def test_what_is_not_written_cannot_be_gone_on_from(tmp_path, monkeypatch):
    """A world too large for a keyframe in every frame: branches start where it can be restored."""
    monkeypatch.setattr(keyframes, "BYTES_PER_SECOND", 2e5)
    world = World(resource("worlds/robots.xml"))
    found = record(world, tmp_path / "run.raisim", 2.5, kick(np.random.default_rng(5)))
    recording, early = Recording(tmp_path / "run.raisim"), 0
    for time in recording.times:
        branch = recording.branch(float(time))
        assert time - 1.1 < branch.get_world_time() <= time
        assert fingerprint(branch) == found[branch.get_world_time()]
        early += branch.get_world_time() < time
    assert 0 < early < len(recording)


def test_geometry_and_large_arrays_are_written_once(tmp_path):
    world = World()
    heights = np.random.default_rng(0).uniform(0, 0.1, (120, 120))
    world.add_height_map(HeightMapData(120, 120, 10.0, 10.0, 0.0, 0.0, heights.ravel()))
    world.start_recording(tmp_path / "run.raisim")
    for _ in range(10):
        world.add_sphere(0.1, 1.0).set_position(0, 0, 9)
        world.integrate(10)
    world.stop_recording()
    chunks = list(read_chunks(tmp_path / "run.raisim"))
    first, *others = [len(payload) for kind, payload in chunks if kind == BASE]
    assert len(others) > 4
    assert first > heights.nbytes
    assert max(others) < 0.3 * first
    assert sum(kind == b"ARRY" for kind, _ in chunks) < 5
    assert fingerprint(Recording(tmp_path / "run.raisim").branch(9.0)) == fingerprint(world)


def test_recordings_are_pickled_and_copied(tmp_path):
    world = World(resource("worlds/robots.xml"))
    found = record(world, tmp_path / "run.raisim", 0.5)
    recording = Recording(tmp_path / "run.raisim")
    recording.world(3)
    twins = [pickle.loads(pickle.dumps(recording)), copy.copy(recording), copy.deepcopy(recording)]
    (tmp_path / "run.raisim").unlink()
    for twin in twins:
        assert np.array_equal(twin.times, recording.times)
        assert np.array_equal(twin.array("poses", 5), recording.array("poses", 5))
        assert twin.world(3) is not recording.world(3) or twin is twins[1]
        list(check(twin, found, 2))


def test_another_process_goes_on_to_the_same_bits(tmp_path):
    world = World(resource("worlds/sensor_room.xml"))
    found = record(world, tmp_path / "run.raisim", 0.6)
    time = float(Recording(tmp_path / "run.raisim").times[9])
    code = "import sys; from raisim_ros import Recording; print(Recording(sys.argv[1]).branch(float(sys.argv[2])).get_state_hash())"
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "run.raisim"), repr(time)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) == found[time][0]


def test_old_and_damaged_recordings_tell(tmp_path):
    world, file = World(resource("worlds/heightmaps.xml")), tmp_path / "run.raisim"
    record(world, file, 1.5)
    chunks = list(read_chunks(file))

    def write(kept):
        with file.open("wb") as out:
            out.write(MAGIC)
            for kind, payload in kept:
                write_chunk(out, kind, payload)
        return Recording(file)

    with pytest.raises(RaisimError, match="older version"):
        write([one for one in chunks if one[0] not in (BASE, KEYFRAME, b"ARRY")]).branch(1.0)
    with pytest.raises(RaisimError, match="missing"):
        write([one for one in chunks if one[0] != b"ARRY"]).branch(1.0)
    rng = np.random.default_rng(0)
    for _ in range(60):  # whatever is in it, the errors are ours
        kind, payload = chunks[place := int(rng.integers(len(chunks)))]
        if kind not in (BASE, KEYFRAME, b"ARRY"):
            continue
        broken = bytearray(payload)
        for at in rng.integers(len(broken), size=4):
            broken[at] = rng.integers(256)
        cut = bytes(broken)[: int(rng.integers(len(broken)))] if rng.random() < 0.3 else bytes(broken)
        with contextlib.suppress(RaisimError):
            write([*chunks[:place], (kind, cut), *chunks[place + 1 :]]).branch(1.4)


def test_what_somebody_measured_is_shown_with_all_its_bits(tmp_path):
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    carrier = world.add_box(0.3, 0.3, 0.3, 3.0)
    carrier.set_position(0.0, 0.0, 0.15)
    sensors = world.add_sensor_set(carrier, resource("sensors/head.xml"), name="head")
    for sensor in sensors:
        sensor.set_measurement_source(MeasurementSource.MANUAL)

    def measure(_):
        if world.get_step_count() == 50:
            for sensor in sensors:
                sensor.update()

    found = record(world, tmp_path / "run.raisim", 0.6, measure, rate=100.0)
    recording = Recording(tmp_path / "run.raisim")
    assert sum(time > 0.2 for time in recording.times) > 20
    for branch in check(recording, found, 12):
        branch.integrate()

"""Recordings of strangers: nothing is written elsewhere, and whatever is wrong is an error that names the file."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from stored_inputs import small_world, unpacked_bomb

from raisim_ros import ParseError, RaisimError, Recording, World, get_file_limits, set_file_limits
from raisim_ros.description import array_file, recording_file
from raisim_ros.description.recording_file import BASE, FRAMES, MAGIC, MEASUREMENTS, WORLD
from raisim_ros.description.resources import resource


@pytest.fixture(scope="module")
def chunks(tmp_path_factory):
    world, path = small_world(), tmp_path_factory.mktemp("recorded") / "run.raisim"
    world.start_recording(path, 100.0)
    world.integrate(50)
    world.stop_recording()
    return list(recording_file.read_chunks(path))


def written(path, chunks):
    with path.open("wb") as file:
        file.write(MAGIC)
        for kind, payload in chunks:
            recording_file.write_chunk(file, kind, payload)
    return path


def changed(chunks, kind, change):
    return [(one, change(payload) if one == kind else payload) for one, payload in chunks]


@pytest.mark.parametrize("name", ["../stolen.xml", "/tmp/stolen.xml", "sub/world.xml", "..", "", "a\0b", "x" * 300])
def test_files_of_a_recording_stay_in_their_folder(name, chunks, tmp_path):
    def renamed(payload):
        return recording_file.pack_files({**recording_file.unpack_files(payload), name: b"<raisim/>"})

    path = written(tmp_path / "run.raisim", changed(chunks, WORLD, renamed))
    with pytest.raises(RaisimError, match="damaged"):
        Recording(path).world(0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("time", lambda one: one * np.nan),
        ("time", lambda one: one[:-1]),
        ("poses", lambda one: one[:, :, :6]),
        ("poses", lambda one: one[:, :1]),
        ("coordinates", lambda one: one[:, :0]),
        ("efforts", lambda one: one[:, :0]),
        ("contacts", lambda one: one[:0, :5]),
        ("contact_counts", lambda one: one + 0.5),
        ("contact_counts", lambda one: -one - 1.0),
        ("wires", lambda one: one[:, :, :1]),
        ("twists", lambda one: one.astype("U3")),
    ],
)
def test_arrays_that_do_not_fit(name, change, chunks, tmp_path):
    def other(payload):
        arrays = recording_file.unpack_arrays(payload)
        return recording_file.pack_arrays({**arrays, name: change(arrays[name])})

    path = written(tmp_path / "run.raisim", changed(chunks, FRAMES, other))
    with pytest.raises(ParseError, match=r"run\.raisim"):
        Recording(path).world(0)


@pytest.mark.parametrize("kind", [WORLD, FRAMES, BASE])
def test_chunks_that_are_cut_off_or_gone(kind, chunks, tmp_path):
    for change in (lambda payload: payload[: len(payload) // 2], lambda payload: b"", lambda payload: b"\xff" * 40):
        with pytest.raises(RaisimError):
            Recording(written(tmp_path / "run.raisim", changed(chunks, kind, change))).branch(0.03)


def test_a_chunk_that_unpacks_to_more_than_the_limit(tmp_path):
    path, limits = tmp_path / "run.raisim", get_file_limits()
    path.write_bytes(unpacked_bomb(64 << 20))
    set_file_limits(replace(limits, max_recording_bytes=1 << 20))
    try:
        with pytest.raises(ParseError, match="max_recording_bytes"):
            Recording(path)
    finally:
        set_file_limits(limits)


def test_recordings_that_cannot_be_opened(tmp_path):
    for path in (tmp_path, tmp_path / "none", "a\0b", "x" * 5000):
        with pytest.raises(RaisimError):
            Recording(path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    world, path = World(), tmp_path_factory.mktemp("measured") / "run.raisim"
    world.add_sensor_set(world.add_box(0.2, 0.2, 0.2, 1.0), resource("sensors/head.xml"), name="head")
    world.start_recording(path, 50.0)
    world.integrate(50)
    world.stop_recording()
    return list(recording_file.read_chunks(path))


def with_index(change):
    def changed_payload(payload):
        arrays = array_file.unpack(payload, 10**9, "")
        rows = change(json.loads(arrays["index"].tobytes()))
        arrays["index"] = np.frombuffer(json.dumps(rows).encode(), np.uint8)
        return array_file.pack(arrays)

    return changed_payload


def with_arrays(change):
    def changed_payload(payload):
        arrays = array_file.unpack(payload, 10**9, "")
        return array_file.pack({name: array if name == "index" else change(array) for name, array in arrays.items()})

    return changed_payload


@pytest.mark.parametrize(
    "change",
    [
        lambda payload: payload[:40],
        lambda payload: b"",
        with_index(lambda rows: rows[::-1] * 2),
        with_index(lambda rows: [["x", *row[1:]] for row in rows]),
        with_index(lambda rows: [[*row[:4], None, row[5]] for row in rows]),
        with_index(lambda rows: [row[:5] for row in rows]),
        with_index(lambda rows: [[*row[:5], ["_world"] * len(row[5])] for row in rows]),
        with_index(lambda rows: [[*row[:5], row[5] * 3] for row in rows]),
        with_index(lambda rows: {"a": 1}),
        with_index(lambda rows: 5),
        with_arrays(lambda array: array[:1]),
        with_arrays(lambda array: array.reshape(-1)),
        with_arrays(lambda array: np.zeros((2, 2, 2, 2))),
    ],
)
def test_measurements_that_no_sensor_made_are_refused(change, measured, tmp_path):
    assert any(kind == MEASUREMENTS for kind, _ in measured)
    path = written(tmp_path / "run.raisim", changed(measured, MEASUREMENTS, change))
    with pytest.raises(RaisimError, match=r"run\.raisim"):
        Recording(path).world(2)

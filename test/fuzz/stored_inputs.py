"""Damaged recordings, stored worlds, snapshots and files of arrays, with their checksums set right again."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from binary_inputs import change_json
from rich_world import TETRAHEDRON, sensor_models
from xml_inputs import damaged_bytes

from raisim_ros import MeshCollisionMode, RaisimError, World
from raisim_ros.description import recording_file
from raisim_ros.description.resources import resource
from raisim_ros.engine.world import stored

_TABLE = struct.Struct("<QQ")
_NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e30, -1e308, float("nan"), float("inf")]
_WHOLE = [0, 1, 2, 7, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63, 2**64 - 1]


def small_world() -> World:
    """One of everything that a file holds."""
    world = World()
    world.add_ground().set_name("ground")
    ball, box = world.add_sphere(0.1, 1.0), world.add_box(0.2, 0.2, 0.2, 1.0, "steel")
    ball.set_name("ball")
    ball.set_position(0.0, 0.0, 0.3)
    box.set_position(1.0, 0.0, 0.15)
    world.add_mesh(TETRAHEDRON, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL).set_position(3.0, 0.0, 0.5)
    robot = world.add_articulated_system(resource("robots/cartpole.urdf"))
    robot.set_name("cart")
    robot.set_base_pos((0.0, 3.0, 1.0))
    world.add_stiff_wire(ball, 0, (0, 0, 0), box, 0, (0, 0, 0), 2.0).set_name("rope")
    world.add_sensor_set(box, sensor_models(False))
    square = [(-2.0, 0.0, 0.5), (-1.8, 0.0, 0.5), (-1.8, 0.2, 0.5), (-2.0, 0.2, 0.5)]
    world.add_deformable_cloth(square, [(0, 1, 2), (0, 2, 3)])
    world.add_granular_particles([(-3.0, 0.1 * k, 0.3) for k in range(4)], [0.04] * 4)
    world.set_material_pair_prop("default", "steel", 0.6, 0.1, 0.01)
    world.integrate(20)
    return world


@cache
def _recording() -> bytes:
    world = small_world()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run.raisim"
        world.start_recording(path, 100.0)
        for step in range(12):
            world.integrate(10)
            if step == 4:
                world.add_sphere(0.1, 1.0).set_position(0.0, -2.0, 1.0)
            if step == 8:
                world.get_object("ball").set_velocity((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
        world.stop_recording()
        return path.read_bytes()


@cache
def _stored(kind: bytes) -> tuple[bytes, bytes]:
    world = small_world()
    return world._as_bytes() if kind == stored.WORLD else world.save_snapshot()._as_bytes()


def changed_words(data: bytes, rng: random.Random) -> bytes:
    """Numbers of 4 and 8 bytes become others."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(max(1, len(out) - 8)) & ~3
        word = struct.pack("<Q", rng.choice(_WHOLE)) if rng.random() < 0.6 else struct.pack("<d", rng.choice(_NUMBERS))
        out[at : at + 8] = word[: rng.choice((1, 2, 4, 8))].ljust(8, b"\0") if rng.random() < 0.5 else word
    return bytes(out[: len(data)])


def changed_plain(data: bytes, rng: random.Random) -> bytes:
    """Python's part: other nodes in its table, lengths set right."""
    length, blob = _TABLE.unpack_from(data)
    try:
        root, nodes = json.loads(data[_TABLE.size : _TABLE.size + length].decode("utf-8", "surrogatepass"))
    except ValueError:  # damaged before
        return data
    for _ in range(rng.choice((1, 1, 2, 4))):
        way = rng.randrange(4)
        if way == 0:
            change_json(nodes, rng)
        elif way == 1:
            one, other = rng.randrange(len(nodes)), rng.randrange(len(nodes))
            nodes[one], nodes[other] = nodes[other], nodes[one]
        elif way == 2:
            nodes[rng.randrange(len(nodes))] = nodes[rng.randrange(len(nodes))]
        else:
            node = nodes[rng.randrange(len(nodes))]
            if isinstance(node, list) and len(node) > 1 and isinstance(node[1], list) and node[1]:
                del node[1][rng.randrange(len(node[1]))]
    table = json.dumps([root, nodes]).encode("utf-8", "surrogatepass")
    return _TABLE.pack(len(table), blob) + table + data[_TABLE.size + length :]


class StoredInputs:
    """Worlds and snapshots: numbers of the engine's part, nodes of Python's."""

    def __init__(self, kind: bytes) -> None:
        self._kind = kind

    def make(self, rng: random.Random) -> bytes:
        engine, python = _stored(self._kind)
        way = rng.random()
        if way < 0.1:
            return damaged_bytes(stored.join(self._kind, engine, python), rng)
        if way < 0.55:
            engine = changed_words(engine, rng) if rng.random() < 0.8 else damaged_bytes(engine, rng)
        else:
            python = changed_plain(python, rng) if rng.random() < 0.9 else damaged_bytes(python, rng)
        return stored.join(self._kind, engine, python)


class RecordingInputs:
    """Chunks that go, come twice or change; their content changed by what it is."""

    def make(self, rng: random.Random) -> bytes:
        if rng.random() < 0.1:
            return damaged_bytes(_recording(), rng)
        chunks = [list(one) for one in _chunks(_recording())]
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(chunks))
            way = rng.random()
            if way < 0.1:
                chunks.insert(rng.randrange(len(chunks)), chunks[at])
            elif way < 0.2 and len(chunks) > 1:
                del chunks[at]
            else:
                with suppress(RaisimError, ValueError, struct.error):  # damaged before
                    chunks[at][1] = _changed_payload(*chunks[at], rng)
        out = io.BytesIO()
        out.write(recording_file.MAGIC)
        for kind, payload in chunks:
            recording_file.write_chunk(out, kind, payload)
        return out.getvalue()


@cache
def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run.raisim"
        path.write_bytes(data)
        return list(recording_file.read_chunks(path))


def _changed_payload(kind: bytes, payload: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.2:
        return damaged_bytes(payload, rng)
    if kind == recording_file.WORLD:
        return _changed_files(payload, rng)
    if kind == recording_file.FRAMES:
        return _changed_arrays(payload, rng)
    if kind == recording_file.BASE and rng.random() < 0.5:
        size = struct.unpack_from("<QQQ", payload)[2]
        return payload[: 24 + size] + changed_plain(payload[24 + size :], rng)
    return changed_words(payload[:64], rng) + payload[64:] if rng.random() < 0.3 else changed_words(payload, rng)


def _changed_files(payload: bytes, rng: random.Random) -> bytes:
    files = recording_file.unpack_files(payload)
    name = rng.choice(list(files))
    way = rng.randrange(4)
    if way == 0:
        files[name] = damaged_bytes(files[name], rng)
        return recording_file.pack_files(files)
    if way == 1:
        files[rng.choice(["../out.xml", "/tmp/out.xml", "", "a\0b", "x" * 300, "sub/world.xml", ".."])] = files.pop(name)
        return recording_file.pack_files(files)
    table: dict[str, object] = {one: len(data) for one, data in files.items()}
    change_json(table, rng)
    text = json.dumps(table).encode()
    return struct.pack("<I", len(text)) + text + b"".join(files.values())


def _changed_arrays(payload: bytes, rng: random.Random) -> bytes:
    arrays = recording_file.unpack_arrays(payload)
    name = rng.choice(list(arrays))
    changes: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda one: one[:-1],
        lambda one: one[..., :-1] if one.ndim > 1 else one[:0],
        lambda one: np.full_like(one, rng.choice(_NUMBERS)),
        lambda one: np.where(np.arange(one.size).reshape(one.shape) == one.size // 2, rng.choice(_NUMBERS), one),
        lambda one: one.astype(rng.choice((np.int8, np.float32, np.complex128, "U3"))),
        lambda one: one[None],
        lambda one: np.zeros((len(one), *(0 for _ in one.shape[1:]))),
    ]
    arrays[name] = rng.choice(changes)(arrays[name])
    if rng.random() < 0.15:
        del arrays[name]
    return recording_file.pack_arrays(arrays)


class ArrayInputs:
    """Files of NumPy arrays: bytes changed inside its archive, the archive's sums set right or not."""

    def make(self, rng: random.Random) -> bytes:
        out = io.BytesIO()
        save = np.savez_compressed if rng.random() < 0.5 else np.savez
        save(out, positions=np.arange(12.0).reshape(4, 3), radii=np.full(4, 0.1), counts=np.array([4]))
        data = bytearray(out.getvalue())
        if rng.random() < 0.5:
            at = data.find(b"descr") if rng.random() < 0.5 else rng.randrange(len(data))
            words = (b"'<f8'", b"'|O8'", b"2,999999999", b"-1,", b"'>c16'", b"((((", b"True", b"\0\0\0\0", b"\xff\xff\xff\xff")
            word = rng.choice(words)
            data[max(0, at) : max(0, at) + len(word)] = word
        return damaged_bytes(bytes(data), rng) if rng.random() < 0.6 else bytes(data)


def unpacked_bomb(size: int) -> bytes:
    """A recording whose one chunk unpacks to so many bytes."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
    return recording_file.MAGIC + struct.pack("<4sII", b"FRAM", len(packed), zlib.crc32(packed)) + packed

"""Damaged meshes, images and tables of heights."""

from __future__ import annotations

import io
import json
import logging
import random
import struct
import zlib

import numpy as np
import trimesh
from PIL import Image
from xml_inputs import NUMBERS, damaged_bytes

MESH_SUFFIXES = ("obj", "stl", "ply", "off", "glb", "dae")
logging.getLogger("trimesh").setLevel(logging.CRITICAL)


class MeshInputs:
    """Files of one format: damaged bytes, changed numbers, changed headers."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        shapes = [trimesh.creation.box((1, 2, 3)), trimesh.creation.icosphere(1), trimesh.creation.cylinder(0.5, 2.0, 6)]
        self._bases = [_exported(shape, suffix) for shape in shapes]
        if suffix == "ply":
            self._bases += [shape.export(file_type="ply", encoding="ascii") for shape in shapes]
        if suffix == "stl":
            self._bases += [shape.export(file_type="stl_ascii").encode() for shape in shapes]

    def make(self, rng: random.Random) -> bytes:
        data = rng.choice(self._bases)
        if self._suffix == "glb" and rng.random() < 0.6:
            return _changed_glb(data, rng)
        if rng.random() < 0.5 and self._suffix in ("obj", "off", "dae", "ply", "stl"):
            data = _changed_words(data, rng)
        return damaged_bytes(data, rng) if rng.random() < 0.6 else data


def _exported(shape: trimesh.Trimesh, suffix: str) -> bytes:
    data = shape.export(file_type=suffix)
    return data.encode() if isinstance(data, str) else bytes(data)


def _changed_words(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 2, 5))):
        at = rng.randrange(len(lines))
        words = lines[at].split(b" ")
        words[rng.randrange(len(words))] = rng.choice([*NUMBERS, "-5", "1/1/1", "999999999", "f", "v", "end_header"]).encode()
        lines[at] = b" ".join(words)
    return b"\n".join(lines)


def _changed_glb(data: bytes, rng: random.Random) -> bytes:
    """The JSON of a binary glTF with other values, lengths set right."""
    length = struct.unpack("<I", data[12:16])[0]
    document = json.loads(data[20 : 20 + length])
    for _ in range(rng.choice((1, 1, 3))):
        change_json(document, rng)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    return struct.pack("<III", 0x46546C67, 2, 20 + len(text) + len(rest)) + struct.pack("<II", len(text), 0x4E4F534A) + text + rest


def change_json(value: object, rng: random.Random) -> None:
    """One value somewhere in a document becomes another."""
    while isinstance(value, (dict, list)) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        inner = value[key]
        if not isinstance(inner, (dict, list)) or rng.random() < 0.2:
            value[key] = rng.choice([0, -1, 1, 2**31, 2**40, 1e308, None, "", "x", [], {}, True, "VEC3", 5126, "../../etc/passwd"])
            return
        value = inner


class ImageInputs:
    """PNG images: chunks changed, their sums set right, or bytes damaged."""

    def __init__(self) -> None:
        self._bases = []
        for kind, shape in ((np.uint8, (5, 7)), (np.uint16, (5, 7)), (np.uint8, (5, 7, 3))):
            image = Image.fromarray(np.arange(np.prod(shape), dtype=kind).reshape(shape))
            stream = io.BytesIO()
            image.save(stream, "PNG")
            self._bases.append(stream.getvalue())

    def make(self, rng: random.Random) -> bytes:
        data = rng.choice(self._bases)
        return _changed_chunks(data, rng) if rng.random() < 0.7 else damaged_bytes(data, rng)


def _changed_chunks(data: bytes, rng: random.Random) -> bytes:
    chunks, at = [], 8
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += size + 12
    place = rng.randrange(len(chunks))
    kind, content = chunks[place]
    way = rng.randrange(4)
    if way == 0:
        chunks[place] = (kind, damaged_bytes(content, rng))
    elif way == 1:
        chunks.insert(place, rng.choice(((b"zTXt", b"a\0\0" + zlib.compress(bytes(10_000))), (b"gAMA", b"1234"), (kind, content))))
    elif way == 2:
        del chunks[place]
    else:
        header = bytearray(chunks[0][1])
        header[rng.randrange(len(header))] = rng.randrange(256) if header else 0
        chunks[0] = (chunks[0][0], bytes(header))
    out = data[:8]
    for kind, content in chunks:
        out += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return out


class HeightInputs:
    """Text files of heights."""

    def make(self, rng: random.Random) -> bytes:
        columns, rows = rng.choice((2, 3, 5)), rng.choice((2, 3, 4))
        words = [str(columns), str(rows), "2.5", "3"] + [f"{rng.uniform(-1, 1):.3g}" for _ in range(columns * rows)]
        for _ in range(rng.choice((0, 1, 1, 3))):
            at = rng.randrange(len(words))
            words[at : at + 1] = rng.choice(([rng.choice(NUMBERS)], [], [words[at], "7"]))
        text = rng.choice((" ", "\n", "\t", "  ", ",")).join(words).encode()
        return damaged_bytes(text, rng) if rng.random() < 0.2 else text

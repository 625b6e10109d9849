"""Zip archives that say something else about themselves than what they hold."""

import bz2
import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.description.array_file import pack, unpack
from raisim_ros.description.errors import InvalidValueError, MeshError
from raisim_ros.description.limits import FileLimits
from raisim_ros.viewer.uploads import Uploads

MB = 1 << 20
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
DEFLATE, BZIP2 = zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2


def liar(name, method, said, real=100 * MB):
    """An archive with one file of zeros, as long as `real`, that says it had `said` bytes."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15) if method == DEFLATE else bz2.BZ2Compressor()
    data = b"".join([*(packer.compress(bytes(MB)) for _ in range(real // MB)), packer.flush()])
    tail = (zlib.crc32(bytes(said)), len(data), said, len(name), 0)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, method, 0, 0, *tail) + name.encode() + data
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, method, 0, 0, *tail, 0, 0, 0, 0, 0) + name.encode()
    return local + entry + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(local), 0)


def peak_of(call):
    """The memory [bytes] that a call takes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [DEFLATE, BZIP2])
def test_a_mesh_that_is_longer_than_it_says(tmp_path, method):
    file = tmp_path / "mesh.zip"
    file.write_bytes(liar("mesh.obj", method, 1000))

    def add():
        with pytest.raises(MeshError, match=r"longer than the 1000 bytes|packed by method 12"):
            World().add_mesh(file, 1.0)

    assert peak_of(add) < 20 * MB


@pytest.mark.parametrize("method", [DEFLATE, BZIP2])
def test_arrays_that_are_longer_than_they_say(method):
    def read():
        with pytest.raises(InvalidValueError, match=r"no arrays|packed by method 12"):
            unpack(liar("a.npy", method, 1000), 10**6, "a limit")

    assert peak_of(read) < 20 * MB


@pytest.mark.parametrize("method", [DEFLATE, BZIP2])
def test_a_robot_for_the_page_that_is_longer_than_it_says(method):
    uploads = Uploads()

    def keep():
        with pytest.raises(InvalidValueError):
            uploads.keep("robot.zip", liar("notes.txt", method, 1000))

    assert peak_of(keep) < 20 * MB
    uploads.close()


def test_more_files_than_the_limit_are_not_looked_at_one_by_one(tmp_path, monkeypatch):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_000):
            archive.writestr(str(number), b"")
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_archive_files=100))
    (tmp_path / "mesh.zip").write_bytes(out.getvalue())

    def add():
        with pytest.raises(MeshError, match="max_archive_files"):
            World().add_mesh(tmp_path / "mesh.zip", 1.0)

    assert peak_of(add) < 4 * len(out.getvalue())


def test_archives_that_say_the_truth_are_read(tmp_path):
    for method in (zipfile.ZIP_STORED, DEFLATE):
        file = tmp_path / f"mesh_{method}.zip"
        with zipfile.ZipFile(file, "w", method) as archive:
            archive.writestr("mesh.obj", TETRAHEDRON)
            archive.writestr("empty.txt", "")
        assert World().add_mesh(file, 1.0).get_mass() == 1.0
    arrays = {"a": np.arange(5.0), "b.npy": np.zeros((0, 3), np.int32), "c": np.ones((2, 3), order="F"), "d": np.array(2.5)}
    found = unpack(pack(arrays), 10**6, "a limit")
    assert {name: value.tolist() for name, value in found.items()} == {name: value.tolist() for name, value in arrays.items()}

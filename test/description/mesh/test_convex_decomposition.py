"""Convex decomposition: the result, its cache on disk, and life without CoACD."""

import hashlib
import os
import random
import sys

import numpy as np
import pytest
import trimesh

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh import cache as mesh_cache
from raisim_ros.description.mesh.convex_decomposition import CoacdOptions, decompose, is_decomposed
from raisim_ros.description.mesh.file import make_mesh


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "raisim_ros" / "coacd"


@pytest.fixture
def angle_bracket():
    """An L: two boxes that share a face, as one closed mesh."""
    profile = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)], dtype=float)
    bottom, top = np.c_[profile, np.zeros(6)], np.c_[profile, np.ones(6)]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(c, b, a) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    mesh = make_mesh(np.vstack([bottom, top]), faces, source="bracket.obj")
    assert mesh.is_closed
    assert mesh.volume() == pytest.approx(4.0)
    return mesh


class FakeCoacd:
    """A module named coacd that stands for the library in its process, where only our handling of it is tested."""

    def __init__(self, folder, monkeypatch, body):
        self._calls = folder / "calls"
        (folder / "coacd.py").write_text(
            "import os, time\n"
            "set_log_level = lambda level: None\n"
            "Mesh = lambda vertices, triangles: None\n"
            "def run_coacd(mesh, **options):\n"
            f"    open({str(self._calls)!r}, 'a').write('x')\n"
            f"    {body}\n"
        )
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "coacd", raising=False)

    @property
    def calls(self):
        return len(self._calls.read_text()) if self._calls.exists() else 0


@pytest.fixture
def fake(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("library")
    return lambda body: FakeCoacd(folder, monkeypatch, body)


def returning(parts):
    return f"return [(part, None) for part in {[np.asarray(part).tolist() for part in parts]!r}]"


def boxes():
    low = trimesh.creation.box(bounds=[(0, 0, 0), (2, 1, 1)]).vertices
    high = trimesh.creation.box(bounds=[(0, 1, 0), (1, 3, 1)]).vertices
    return [np.array(low), np.array(high)]


def anew(mesh):
    """The same mesh as another object: of one that is known by itself the cache is not asked."""
    return make_mesh(mesh.vertices, mesh.triangles, source=mesh.source)


def test_real_coacd_splits_the_bracket(angle_bracket):
    pytest.importorskip("coacd")
    parts = decompose(angle_bracket, CoacdOptions(mcts_iterations=60, resolution=1000))
    assert len(parts) >= 2
    assert all(part.is_closed for part in parts)
    assert sum(part.volume() for part in parts) == pytest.approx(4.0, rel=0.1)


def test_result_comes_from_the_cache_the_second_time(angle_bracket, cache, monkeypatch, fake):
    library = fake(returning(boxes()))
    first = decompose(angle_bracket)
    monkeypatch.setitem(sys.modules, "coacd", None)
    second = decompose(anew(angle_bracket))
    assert library.calls == 1
    assert decompose(angle_bracket) is first
    assert len(list(cache.iterdir())) == 1
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.vertices, two.vertices)
    assert sum(part.volume() for part in second) == pytest.approx(4.0)


def test_other_options_or_mesh_are_another_entry(angle_bracket, fake):
    library = fake(returning(boxes()))
    decompose(angle_bracket)
    decompose(angle_bracket, CoacdOptions(threshold=0.2))
    decompose(make_mesh(angle_bracket.vertices * 2.0, angle_bracket.triangles))
    assert library.calls == 3


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"x" * 100]
)
def test_damaged_cache_is_computed_again(angle_bracket, cache, fake, damage):
    library = fake(returning(boxes()))
    decompose(angle_bracket)
    (entry,) = cache.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert len(decompose(anew(angle_bracket))) == 2
    assert library.calls == 2


def test_no_damaged_byte_of_the_cache_raises_or_passes(angle_bracket, cache, fake):
    library = fake(returning(boxes()))
    parts = decompose(angle_bracket)
    (entry,) = cache.iterdir()
    good, rng = entry.read_bytes(), random.Random(7)
    for _ in range(400):
        data = bytearray(good)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        entry.write_bytes(data)
        assert is_decomposed(anew(angle_bracket)) == (mesh_cache.read_points("coacd", entry.stem) is not None)
    entry.write_bytes(good[:60] + b"\xff" * 60 + good[120:])
    assert not is_decomposed(anew(angle_bracket))
    assert [len(part.vertices) for part in decompose(anew(angle_bracket))] == [len(part.vertices) for part in parts]
    assert library.calls == 2


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path), lambda path: path.symlink_to("none")],
    ids=["pipe", "device", "link to itself", "link to nothing"],
)
@pytest.mark.filterwarnings("ignore:what was made of a mesh was not cached")
def test_what_is_no_file_counts_as_no_entry(make, angle_bracket, cache, fake):
    """A pipe was waited for, for ever."""
    library = fake(returning(boxes()))
    decompose(angle_bracket)
    (entry,) = cache.iterdir()
    entry.unlink()
    make(entry)
    assert not is_decomposed(anew(angle_bracket))
    assert len(decompose(anew(angle_bracket))) == 2
    assert library.calls == 2


@pytest.mark.parametrize("numbers", [[], [0], [-1], [2**62], [1, 5], [2, -1, 17], [2, 0, 16], [2, 2**62, 2**62], [1, 16, 0]])
def test_entries_of_impossible_shape_count_as_none(numbers, cache):
    data = np.array(numbers, dtype="<i8").tobytes() + np.zeros((16, 3)).tobytes() * bool(numbers)
    cache.mkdir(parents=True)
    (cache / "key.points").write_bytes(hashlib.sha256(data).digest() + data)
    assert mesh_cache.read_points("coacd", "key") is None


def test_without_coacd_the_original_mesh_is_used(angle_bracket, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.warns(RuntimeWarning, match=r"bracket\.obj: CoACD is not installed .*original mesh"):
        assert decompose(angle_bracket) == ()
    assert not cache.exists()


def test_an_entry_whose_checksum_is_wrong_is_computed_again(angle_bracket, cache, fake):
    library = fake(returning(boxes()))
    decompose(angle_bracket)
    (entry,) = cache.iterdir()
    content = bytearray(entry.read_bytes())
    content[-24:-16] = np.float64(9.0).tobytes()
    entry.write_bytes(content)
    assert decompose(anew(angle_bracket))[0].vertices.max() <= 3.0
    assert library.calls == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise RuntimeError('no luck')", "CoACD failed: no luck"),
        ("os.abort()", "CoACD failed: its process ended with status -6"),
        ("return []", "CoACD found no convex part"),
    ],
)
def test_failure_of_coacd_is_a_warning_that_says_what_is_used(angle_bracket, cache, fake, body, message):
    fake(body)
    with pytest.warns(RuntimeWarning, match=rf"bracket\.obj: {message}; the hull is used"):
        assert decompose(angle_bracket, otherwise="the hull is used") == ()
    assert not cache.exists()


def test_a_decomposition_that_takes_too_long_is_given_up_and_its_process_ended(angle_bracket, fake, tmp_path):
    mark = tmp_path / "pid"
    fake(f"open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    with pytest.warns(RuntimeWarning, match=r"CoACD took longer than 3 s; the original mesh is used"):
        assert decompose(angle_bracket, time_limit=3.0) == ()
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_a_line_tells_that_coacd_runs(angle_bracket, fake, capfd):
    fake(returning(boxes()))
    decompose(angle_bracket)
    assert "bracket.obj: convex decomposition" in capfd.readouterr().err


def test_unwritable_cache_is_only_a_warning(angle_bracket, tmp_path, fake):
    (tmp_path / "raisim_ros").write_text("a file where the folder should be")
    fake(returning(boxes()))
    with pytest.warns(RuntimeWarning, match="not cached"):
        assert len(decompose(angle_bracket)) == 2


def test_parts_without_volume_are_dropped(angle_bracket, fake):
    flat = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], dtype=float)
    fake(returning([*boxes(), flat]))
    assert len(decompose(angle_bracket)) == 2


def test_cache_goes_to_the_home_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert mesh_cache.cache_folder("coacd") == tmp_path / ".cache" / "raisim_ros" / "coacd"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("threshold", 0.0),
        ("threshold", float("nan")),
        ("preprocess_mode", "maybe"),
        ("apx_mode", "sphere"),
        ("max_convex_hull", 0),
        ("resolution", 10),
        ("mcts_max_depth", 1),
    ],
)
def test_bad_options(option, value):
    with pytest.raises(InvalidValueError, match=f"{option} is"):
        CoacdOptions(**{option: value})

"""Convex decomposition: the result, its cache on disk, and life without CoACD."""

import sys
import types

import numpy as np
import pytest
import trimesh

from raisim_ros.description import convex_decomposition
from raisim_ros.description.convex_decomposition import CoacdOptions, decompose
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh_file import make_mesh


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


class FakeCoacd(types.ModuleType):
    """Stands for the library where only our handling of it is tested."""

    def __init__(self, parts):
        super().__init__("coacd")
        self.parts = parts
        self.calls = 0

    def set_log_level(self, level):
        pass

    def Mesh(self, vertices, triangles):
        return vertices, triangles

    def run_coacd(self, mesh, **options):
        self.calls += 1
        if isinstance(self.parts, Exception):
            raise self.parts
        return [(part, None) for part in self.parts]


def boxes():
    low = trimesh.creation.box(bounds=[(0, 0, 0), (2, 1, 1)]).vertices
    high = trimesh.creation.box(bounds=[(0, 1, 0), (1, 3, 1)]).vertices
    return [np.array(low), np.array(high)]


def test_real_coacd_splits_the_bracket(angle_bracket):
    pytest.importorskip("coacd")
    parts = decompose(angle_bracket, CoacdOptions(mcts_iterations=60, resolution=1000))
    assert len(parts) >= 2
    assert all(part.is_closed for part in parts)
    assert sum(part.volume() for part in parts) == pytest.approx(4.0, rel=0.1)


def test_result_comes_from_the_cache_the_second_time(angle_bracket, cache, monkeypatch):
    library = FakeCoacd(boxes())
    monkeypatch.setitem(sys.modules, "coacd", library)
    first = decompose(angle_bracket)
    monkeypatch.setitem(sys.modules, "coacd", None)
    second = decompose(angle_bracket)
    assert library.calls == 1
    assert len(list(cache.iterdir())) == 1
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.vertices, two.vertices)
    assert sum(part.volume() for part in second) == pytest.approx(4.0)


def test_other_options_or_mesh_are_another_entry(angle_bracket, monkeypatch):
    library = FakeCoacd(boxes())
    monkeypatch.setitem(sys.modules, "coacd", library)
    decompose(angle_bracket)
    decompose(angle_bracket, CoacdOptions(threshold=0.2))
    decompose(make_mesh(angle_bracket.vertices * 2.0, angle_bracket.triangles))
    assert library.calls == 3


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"x" * 100]
)
def test_damaged_cache_is_computed_again(angle_bracket, cache, monkeypatch, damage):
    library = FakeCoacd(boxes())
    monkeypatch.setitem(sys.modules, "coacd", library)
    decompose(angle_bracket)
    (entry,) = cache.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert len(decompose(angle_bracket)) == 2
    assert library.calls == 2


def test_without_coacd_the_original_mesh_is_used(angle_bracket, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.warns(RuntimeWarning, match=r"bracket\.obj: CoACD is not installed .*original mesh"):
        assert decompose(angle_bracket) == ()
    assert not cache.exists()


def test_failure_of_coacd_keeps_the_original_mesh(angle_bracket, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", FakeCoacd(RuntimeError("no luck")))
    with pytest.warns(RuntimeWarning, match="CoACD failed: no luck"):
        assert decompose(angle_bracket) == ()
    assert not cache.exists()


def test_unwritable_cache_is_only_a_warning(angle_bracket, tmp_path, monkeypatch):
    (tmp_path / "raisim_ros").write_text("a file where the folder should be")
    monkeypatch.setitem(sys.modules, "coacd", FakeCoacd(boxes()))
    with pytest.warns(RuntimeWarning, match="not cached"):
        assert len(decompose(angle_bracket)) == 2


def test_parts_without_volume_are_dropped(angle_bracket, monkeypatch):
    flat = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], dtype=float)
    monkeypatch.setitem(sys.modules, "coacd", FakeCoacd([*boxes(), flat]))
    assert len(decompose(angle_bracket)) == 2


def test_cache_goes_to_the_home_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert convex_decomposition._cache_folder() == tmp_path / ".cache" / "raisim_ros" / "coacd"


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

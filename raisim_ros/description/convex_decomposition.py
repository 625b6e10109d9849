"""Convex decomposition with CoACD (the extra ``raisim_ros[convex]``), cached on disk.

A decomposition takes seconds to minutes and depends only on the triangles and the options, so results are
kept in ``$XDG_CACHE_HOME/raisim_ros/coacd`` (``~/.cache`` when that is not set) under a hash of both.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import warnings
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError, MeshError
from raisim_ros.description.mesh_file import MeshData, hull_of_points

# Part of every hash: raise it when the stored form or the meaning of an option changes.
_CACHE_VERSION = 1


@dataclass(frozen=True)
class CoacdOptions:
    """CoACD's parameters, with its own names and defaults."""

    threshold: float = 0.05
    """Concavity at which a part counts as convex, 0.01 (fine) to 1 (coarse)."""
    max_convex_hull: int = -1
    """At most this many parts; -1: no limit. Only with ``merge``."""
    preprocess_mode: str = "auto"
    """``auto``, ``on`` or ``off``: whether the mesh is first made closed."""
    preprocess_resolution: int = 50
    resolution: int = 2000
    mcts_nodes: int = 20
    mcts_iterations: int = 150
    mcts_max_depth: int = 3
    pca: bool = False
    merge: bool = True
    decimate: bool = False
    max_ch_vertex: int = 256
    """Vertices a hull may have. Only with ``decimate``."""
    extrude: bool = False
    extrude_margin: float = 0.01
    apx_mode: str = "ch"
    """``ch`` (convex hulls) or ``box``."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.01 <= self.threshold <= 1.0:
            raise InvalidValueError(f"threshold is {self.threshold}, expected 0.01..1")
        if self.preprocess_mode not in ("auto", "on", "off"):
            raise InvalidValueError(f"preprocess_mode is '{self.preprocess_mode}', expected auto, on or off")
        if self.apx_mode not in ("ch", "box"):
            raise InvalidValueError(f"apx_mode is '{self.apx_mode}', expected ch or box")
        if self.max_convex_hull != -1 and self.max_convex_hull < 1:
            raise InvalidValueError(f"max_convex_hull is {self.max_convex_hull}, expected -1 or at least 1")
        for name, least in (
            ("preprocess_resolution", 20),
            ("resolution", 1000),
            ("mcts_nodes", 10),
            ("mcts_iterations", 60),
            ("mcts_max_depth", 2),
            ("max_ch_vertex", 4),
        ):
            if getattr(self, name) < least:
                raise InvalidValueError(f"{name} is {getattr(self, name)}, expected at least {least}")


def decompose(mesh: MeshData, options: CoacdOptions | None = None) -> tuple[MeshData, ...]:
    """Convex parts that together approximate the mesh, each a closed convex mesh in the original's frame.

    An empty tuple means "use the original triangles": CoACD is not installed or failed, as a warning says.
    """
    chosen = options if options is not None else CoacdOptions()
    key = _content_hash(mesh, chosen)
    parts = _told.get(key)
    if parts is None:
        entry = _cache_folder() / f"{key}.npz"
        parts = _read_entry(entry)
        if parts is None:
            parts = _run_coacd(mesh, chosen)
            _keep(_found, {key: parts})
            if parts:
                _write_entry(entry, parts)
    return _as_meshes(parts, mesh.source)


def is_decomposed(mesh: MeshData, options: CoacdOptions | None = None) -> bool:
    """Whether `decompose` would only have to look its result up."""
    key = _content_hash(mesh, options if options is not None else CoacdOptions())
    return key in _told or (_cache_folder() / f"{key}.npz").is_file()


def found_decompositions() -> dict[str, list[np.ndarray[Any, Any]]]:
    """What this process has computed, also in vain: for `remember_decompositions` of another process."""
    return dict(_found)


def remember_decompositions(found: dict[str, list[np.ndarray[Any, Any]]]) -> None:
    """Use what another process has computed, whether the cache on disk could keep it or not."""
    _keep(_told, found)


def _run_coacd(mesh: MeshData, options: CoacdOptions) -> list[np.ndarray[Any, Any]]:
    """Vertices of each part; empty, with a warning, when there is no result."""
    try:
        import coacd
    except ImportError:
        _warn(mesh, "CoACD is not installed (pip install 'raisim_ros[convex]')")
        return []
    try:
        coacd.set_log_level("error")
        parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.triangles), **asdict(options))
    except Exception as error:  # the library raises plain RuntimeErrors of its own
        _warn(mesh, f"CoACD failed: {error}")
        return []
    if not parts:
        _warn(mesh, "CoACD found no convex part")
    return [np.asarray(vertices, dtype=np.float64) for vertices, _ in parts]


def _warn(mesh: MeshData, reason: str) -> None:
    warnings.warn(f"{mesh.source}: {reason}; the original mesh is used", RuntimeWarning, stacklevel=4)


def _as_meshes(parts: list[np.ndarray[Any, Any]], source: str) -> tuple[MeshData, ...]:
    """The parts as closed convex meshes; slivers without volume are dropped."""
    meshes = []
    for i, vertices in enumerate(parts):
        try:
            meshes.append(hull_of_points(vertices, f"convex part {i} of {source}"))
        except MeshError:
            continue
    return tuple(meshes)


# ---- cache ----

# By content, failures too, which are not kept on disk: what this process computed, and what others told it.
_REMEMBERED = 256
_found: dict[str, list[np.ndarray[Any, Any]]] = {}
_told: dict[str, list[np.ndarray[Any, Any]]] = {}


def _keep(kept: dict[str, list[np.ndarray[Any, Any]]], new: dict[str, list[np.ndarray[Any, Any]]]) -> None:
    kept.update(new)
    while len(kept) > _REMEMBERED:
        del kept[next(iter(kept))]


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "raisim_ros" / "coacd"


def _content_hash(mesh: MeshData, options: CoacdOptions) -> str:
    digest = hashlib.sha256()
    digest.update(f"{_CACHE_VERSION} {sorted(asdict(options).items())}".encode())
    digest.update(np.ascontiguousarray(mesh.vertices, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(mesh.triangles, dtype="<i4").tobytes())
    return digest.hexdigest()


def _read_entry(entry: Path) -> list[np.ndarray[Any, Any]] | None:
    """The stored parts, or None when there are none or the file is damaged."""
    try:
        with np.load(entry, allow_pickle=False) as stored:
            points, counts = np.asarray(stored["points"], dtype=np.float64), stored["counts"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if points.shape != (counts.sum(), 3) or len(counts) == 0 or not np.isfinite(points).all():
        return None
    return np.split(points, np.cumsum(counts)[:-1])


def _write_entry(entry: Path, parts: list[np.ndarray[Any, Any]]) -> None:
    """Stores the parts under their final name at once, so that two processes never see half a file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, points=np.concatenate(parts), counts=np.array([len(part) for part in parts]))
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=entry.parent, suffix=".tmp", delete=False) as stream:
            stream.write(buffer.getvalue())
        os.replace(stream.name, entry)
    except OSError as error:
        warnings.warn(f"the decomposition was not cached: {error}", RuntimeWarning, stacklevel=3)

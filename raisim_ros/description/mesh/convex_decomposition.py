"""Convex decomposition with CoACD (the extra ``raisim_ros[convex]``), in a process of its own and cached on disk.

A decomposition takes seconds to minutes and depends only on the triangles and the options, so results are kept under a
hash of both (mesh_cache.py).
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import time
import warnings
import weakref
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from raisim_ros.description import checked
from raisim_ros.description.errors import FileWriteError, InvalidValueError, MeshError
from raisim_ros.description.file_access import temporary_folder
from raisim_ros.description.mesh import cache as mesh_cache
from raisim_ros.description.mesh.cache import Points
from raisim_ros.description.mesh.file import MeshData, hull_of_points

TIME_LIMIT = 300.0
"""A mesh that takes longer is not decomposed [s]."""

_KIND = "coacd"
_PROGRESS_PERIOD = 10.0  # between lines that tell that it still runs [s]


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
        for one in fields(self):
            if one.type == "bool":
                checked.flag(one.name, getattr(self, one.name))
        if not 0.01 <= checked.number("threshold", self.threshold) <= 1.0:
            raise InvalidValueError(f"threshold is {self.threshold}; expected 0.01..1")
        if not math.isfinite(checked.number("extrude_margin", self.extrude_margin)):
            raise InvalidValueError(f"extrude_margin is {self.extrude_margin}; expected a finite number")
        checked.one_of("preprocess_mode", self.preprocess_mode, ("auto", "on", "off"))
        checked.one_of("apx_mode", self.apx_mode, ("ch", "box"))
        if self.max_convex_hull != -1:
            checked.whole("max_convex_hull", self.max_convex_hull, 1)
        for name, least in (
            ("preprocess_resolution", 20),
            ("resolution", 1000),
            ("mcts_nodes", 10),
            ("mcts_iterations", 60),
            ("mcts_max_depth", 2),
            ("max_ch_vertex", 4),
            ("seed", 0),
        ):
            checked.whole(name, getattr(self, name), least)


def decompose(
    mesh: MeshData,
    options: CoacdOptions | None = None,
    *,
    otherwise: str = "the original mesh is used",
    time_limit: float = TIME_LIMIT,
) -> tuple[MeshData, ...]:
    """Convex parts that together approximate the mesh, each a closed convex mesh in the original's frame.

    CoACD runs in a process of its own, for at most `time_limit` seconds; lines on stderr tell that it does. An empty
    tuple means that there is no result, because CoACD is not installed, failed or took too long, as a warning says;
    its last words are `otherwise`: what the caller does without.
    """
    chosen = options if options is not None else CoacdOptions()
    known = _parts_of.setdefault(mesh, {})
    parts = known.get(chosen) or _as_meshes(_decomposed(mesh, chosen, otherwise, time_limit), mesh.source)
    if parts:
        known[chosen] = parts
    return parts


def _decomposed(mesh: MeshData, chosen: CoacdOptions, otherwise: str, time_limit: float) -> list[Points]:
    """Points of the parts, from memory, from the disk or from CoACD."""
    key = _key(mesh, chosen)
    parts = _told.get(key)
    if parts is None:
        parts = mesh_cache.read_points(_KIND, key)
    if parts is None:
        try:
            parts = _run_coacd(mesh, chosen, time_limit)
            mesh_cache.write_points(_KIND, key, parts)
        except MeshError as error:
            warnings.warn(f"{mesh.source}: {error}; {otherwise}", RuntimeWarning, stacklevel=3)
            parts = []
        _keep(_found, {key: parts})
    return parts


def is_decomposed(mesh: MeshData, options: CoacdOptions | None = None) -> bool:
    """Whether `decompose` would only have to look its result up."""
    chosen = options if options is not None else CoacdOptions()
    if chosen in _parts_of.get(mesh, {}):
        return True
    key = _key(mesh, chosen)
    return key in _told or mesh_cache.read_points(_KIND, key) is not None


# By content, failures too, which are not kept on disk: what this process computed, and what others told it.
_REMEMBERED = 256
_found: dict[str, list[Points]] = {}
_told: dict[str, list[Points]] = {}
# The parts themselves by the mesh itself: looking up the content of a large one takes a while.
_parts_of: weakref.WeakKeyDictionary[MeshData, dict[CoacdOptions, tuple[MeshData, ...]]] = weakref.WeakKeyDictionary()


def _keep(kept: dict[str, list[Points]], new: dict[str, list[Points]]) -> None:
    kept.update(new)
    while len(kept) > _REMEMBERED:
        del kept[next(iter(kept))]


def found_decompositions() -> dict[str, list[Points]]:
    """What this process has computed, also in vain: for `remember_decompositions` of another process."""
    return dict(_found)


def remember_decompositions(found: dict[str, list[Points]]) -> None:
    """Use what another process has computed, whether the cache on disk could keep it or not."""
    _keep(_told, found)


def _key(mesh: MeshData, options: CoacdOptions) -> str:
    return mesh_cache.content_key(str(sorted(asdict(options).items())), mesh.vertices, mesh.triangles)


def _run_coacd(mesh: MeshData, options: CoacdOptions, time_limit: float) -> list[Points]:
    """Vertices of each part. Raises MeshError with what went wrong."""
    if importlib.util.find_spec("coacd") is None:
        raise MeshError("CoACD is not installed (pip install 'raisim_ros[convex]')")
    try:
        with temporary_folder() as folder:
            return _run_in(folder, mesh, options, time_limit)
    except (OSError, FileWriteError) as error:  # a full disk
        raise MeshError(f"CoACD has no room for its files: {getattr(error, 'strerror', None) or error}") from error


def _run_in(folder: Path, mesh: MeshData, options: CoacdOptions, time_limit: float) -> list[Points]:
    np.savez(folder / "mesh.npz", vertices=mesh.vertices, triangles=mesh.triangles)
    (folder / "options.json").write_text(json.dumps(asdict(options)), encoding="utf-8")
    # Not as a script: Python would put the folder of this package's modules before all others.
    start = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
    worker = str(Path(__file__).with_name("coacd_worker.py"))
    command = [sys.executable, "-c", start, worker, "mesh.npz", "options.json", "parts.npz"]
    with (folder / "messages.txt").open("wb") as messages:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
        status = _wait(process, mesh.source, time_limit)
    if status != 0:
        said = (folder / "messages.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise MeshError(f"CoACD failed: {said[-1] if said else f'its process ended with status {status}'}")
    with np.load(folder / "parts.npz") as stored:
        points, counts = stored["points"], stored["counts"]
    if len(counts) == 0:
        raise MeshError("CoACD found no convex part")
    return list(np.split(points, np.cumsum(counts)[:-1]))


def _wait(process: subprocess.Popen[bytes], source: str, time_limit: float) -> int:
    """The process's exit status; ends it when it takes too long or the caller is interrupted."""
    begun = time.monotonic()
    print(f"{source}: convex decomposition (once; at most {time_limit:g} s)", file=sys.stderr)
    try:
        while (left := begun + time_limit - time.monotonic()) > 0.0:
            try:
                return process.wait(min(left, _PROGRESS_PERIOD))
            except subprocess.TimeoutExpired:
                print(f"{source}: convex decomposition, {time.monotonic() - begun:.0f} s", file=sys.stderr)
        raise MeshError(f"CoACD took longer than {time_limit:g} s")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _as_meshes(parts: list[Points], source: str) -> tuple[MeshData, ...]:
    """The parts as closed convex meshes; slivers without volume are dropped."""
    meshes = []
    for i, vertices in enumerate(parts):
        try:
            meshes.append(hull_of_points(vertices, f"convex part {i} of {source}"))
        except MeshError:
            continue
    return tuple(meshes)

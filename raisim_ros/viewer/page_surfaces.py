"""Surfaces of meshes for a page: made in a thread of their own, and no finer than people can see."""

from __future__ import annotations

import io
import queue
import threading
import time
from collections.abc import Callable, Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.mesh.color import part_image
from raisim_ros.description.mesh.file import MeshData
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.mesh_detail import Reduced, reduced
from raisim_ros.viewer.scene import Surface

# More triangles than these are drawn with fewer: of a robot's link, and of a mesh that is an object of its own.
MOST_OF_LINK, MOST_ALONE = 12_000, 60_000
# Those who look at `number` are told of new surfaces this often [s].
NEWS_PERIOD = 0.5


class Surfaces(Protocol):
    """Where the surfaces of meshes come from."""

    misses: int  # how often somebody asked for one that is not made yet

    def of_file(self, path: str | Path, own_colors: bool, alone: bool) -> Surface | None:
        """See surfaces.file_surface(); `alone`: the mesh is an object, not the link of a robot. None also: not yet."""

    def of_mesh(self, mesh: MeshData) -> Surface | None:
        """The surface of a mesh in memory that is an object."""


class WholeSurfaces:
    """Every triangle, at once: for pictures and for measuring."""

    misses = 0

    def of_file(self, path: str | Path, own_colors: bool, alone: bool) -> Surface | None:
        """See Surfaces."""
        return surfaces.file_surface(path, own_colors)

    def of_mesh(self, mesh: MeshData) -> Surface | None:
        """See Surfaces."""
        return surfaces.mesh_surface(mesh)


class PageSurfaces:
    """Reads and reduces in a thread, so that neither a page nor a world waits for a large file."""

    def __init__(self, wait: bool = False) -> None:
        """`wait`: whoever asks waits all the same."""
        self.number = 0  # changes when surfaces have come that were asked for
        self.misses = 0
        self._wait = wait
        self._made: dict[Hashable, Surface | None] = {}
        self._newest: dict[Hashable, Hashable] = {}  # what was asked for -> its key when the file was last there
        self._lock = threading.Lock()
        self._asked: set[Hashable] = set()
        self._queue: queue.SimpleQueue[tuple[Hashable, Callable[[], Surface | None]]] = queue.SimpleQueue()
        self._told = 0.0

    def of_file(self, path: str | Path, own_colors: bool, alone: bool) -> Surface | None:
        """See Surfaces."""
        file = Path(path)
        most = MOST_ALONE if alone else MOST_OF_LINK
        wanted = (str(file), own_colors, most)
        try:
            key = (*wanted, file.stat().st_mtime_ns)
        except OSError:  # gone, but what was read of it is still there
            return self._made.get(self._newest.get(wanted))
        self._newest[wanted] = key
        return self._find(key, lambda: _with_fewer(surfaces.file_surface(file, own_colors), most))

    def of_mesh(self, mesh: MeshData) -> Surface | None:
        """See Surfaces."""
        if len(mesh.triangles) <= MOST_ALONE:
            return surfaces.mesh_surface(mesh)
        return self._find(mesh, lambda: _with_fewer(surfaces.mesh_surface(mesh), MOST_ALONE))

    def _find(self, key: Hashable, make: Callable[[], Surface | None]) -> Surface | None:
        with self._lock:
            if key in self._made:
                return self._made[key]
            self.misses += not self._wait
            if not self._wait and key not in self._asked:
                self._asked.add(key)
                self._queue.put((key, make))
                if len(self._asked) == 1:
                    threading.Thread(target=self._work, name="raisim_ros surfaces", daemon=True).start()
        if not self._wait:
            return None
        made = self._made[key] = make()
        return made

    def _work(self) -> None:
        """Until nothing is asked for."""
        while True:
            key, make = self._queue.get()
            try:
                made = make()
            except Exception:  # whatever the readers raise: the others are drawn all the same
                made = None
            with self._lock:
                self._made[key] = made
                self._asked.discard(key)
                done = not self._asked
                if done or time.monotonic() - self._told > NEWS_PERIOD:
                    self._told = time.monotonic()
                    self.number += 1
            if done:
                return


# ---- fewer triangles ----


def _with_fewer(surface: Surface | None, most: int) -> Surface | None:
    return surface if surface is None or len(surface.triangles) <= most else _reduced(surface, most)


@lru_cache(maxsize=512)
def _reduced(surface: Surface, most: int) -> Surface:
    if surface.glb is not None:
        colored = _reduced_glb(surface.glb, most)
        if colored is not None:
            return colored
    whole = surface.vertices.astype(np.float64), surface.triangles.astype(np.int64)
    return _surface(reduced(*whole, 0, most))


def _surface(fewer: Reduced, glb: bytes | None = None) -> Surface:
    return Surface(fewer.vertices.astype(np.float32), fewer.triangles.astype(np.uint32), glb=glb)


def _reduced_glb(data: bytes, most: int) -> Surface | None:
    """A file of one mesh with its image or the colours of its vertices; None: it has neither."""
    import trimesh

    parts = list(trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False).dump())
    if len(parts) != 1:
        return None
    part = parts[0]
    vertices, triangles = np.asarray(part.vertices, float), np.asarray(part.faces, np.int64)
    looks = _looks(part)
    fewer = reduced(vertices, triangles, _labels(looks), most)
    visual: Any = part.visual
    if looks is None:
        visual = trimesh.visual.TextureVisuals(uv=None, material=visual.material)
    elif visual.kind == "texture":
        visual = trimesh.visual.TextureVisuals(uv=looks[fewer.sources], material=visual.material)
    else:
        visual = trimesh.visual.ColorVisuals(vertex_colors=np.asarray(visual.vertex_colors)[fewer.sources])
    mesh = trimesh.Trimesh(fewer.vertices, fewer.triangles, visual=visual, process=False)
    return _surface(fewer, mesh.export(file_type="glb", include_normals=True))


def _looks(part: Any) -> NDArray[np.float64] | None:
    """Of each vertex its place in the image, or its colour (0 to 1); None: all look the same."""
    if part.visual.kind == "texture":
        return None if part_image(part.visual) is None else np.asarray(part.visual.uv, float)
    return np.asarray(part.visual.vertex_colors, float) / 255.0


def _labels(looks: NDArray[np.float64] | None) -> Any:
    """Vertices that may become one have equal labels: near each other in the image, or of about the same colour."""
    if looks is None:
        return 0
    _, labels = np.unique(np.floor(looks * 16.0), axis=0, return_inverse=True)
    return labels.reshape(-1)

"""Draws cloth and grains in browsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from raisim_ros.viewer import surfaces
from raisim_ros.viewer.mesh_detail import is_closed, sharp
from raisim_ros.viewer.scene import Item, Moment, SceneModel, SoftShape

# More grains than this are drawn as points: browsers slow down.
MOST_BALLS = 20_000
# Particles that moved less are not sent again [m].
SMALLEST_MOVE = 1e-6


class _Drawn:
    """One object on the page."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.node: Any = None
        self.sent: SoftShape | None = None
        self.corners: Any = None  # which particle each corner of the surface is

    def look(self) -> Any:
        soft = self.item.soft
        assert soft is not None
        triangles = None if soft.triangles is None else soft.triangles.tobytes()
        return triangles, soft.color, soft.opacity

    def remove(self) -> None:
        if self.node is not None:
            self.node.remove()
        self.node = self.sent = None


class SoftCanvas:
    """The part of a canvas whose shapes change from moment to moment."""

    def __init__(self, server: viser.ViserServer, on_click: Callable[[Item], None]) -> None:
        self._server = server
        self._on_click = on_click
        self._drawn: dict[str, _Drawn] = {}
        self._number = 0

    def draw(self, model: SceneModel) -> None:
        """Take over a new model."""
        wanted = {item.name: _Drawn(item) for item in model.items if item.soft is not None}
        for name, old in list(self._drawn.items()):
            if name in wanted and wanted[name].look() == old.look():
                old.item = wanted[name].item
                wanted[name] = old
            else:
                old.remove()
        self._drawn = wanted

    def show(self, moment: Moment) -> None:
        """Move all particles to where they are now."""
        for name, drawn in self._drawn.items():
            shape = moment.soft.get(name)
            if shape is None or not len(shape.points):
                drawn.remove()
            else:
                self._show(drawn, shape)

    def _show(self, drawn: _Drawn, shape: SoftShape) -> None:
        sent = drawn.sent
        same = sent is not None and sent.points.shape == shape.points.shape
        if same and sent is not None and np.array_equal(sent.radii, shape.radii):
            if np.abs(sent.points - shape.points).max() < SMALLEST_MOVE:
                return
            _move(drawn, shape)
        else:
            drawn.remove()
            drawn.node = self._add(drawn, shape)
            drawn.node.on_click(lambda event: self._on_click(drawn.item))
        drawn.sent = shape

    def _add(self, drawn: _Drawn, shape: SoftShape) -> Any:
        soft, scene = drawn.item.soft, self._server.scene
        assert soft is not None
        self._number += 1
        name, count = f"/soft/{self._number}", len(shape.points)
        color = tuple(round(255.0 * share) for share in soft.color)
        opacity = None if soft.opacity >= 1.0 else soft.opacity
        if soft.triangles is not None:
            drawn.corners, triangles = _corners(shape, soft.triangles)
            return scene.add_mesh_simple(
                name, shape.points[drawn.corners], triangles, color=color, opacity=opacity, side="double"
            )
        if count > MOST_BALLS:
            size = 2.0 * float(shape.radii.mean())
            return scene.add_point_cloud(
                name, shape.points, color, point_size=size, point_shape="sparkle", precision="float32"
            )
        ball = surfaces.grain_ball()
        return scene.add_batched_meshes_simple(
            name,
            ball.vertices,
            ball.triangles,
            np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (count, 1)),
            shape.points,
            batched_scales=shape.radii,
            batched_colors=surfaces.light(_shades(color, count) / 255.0),
            opacity=opacity,
            lod="off",
        )


def _corners(shape: SoftShape, triangles: Any) -> tuple[Any, Any]:
    """Corners by particle, and triangles of them. A body's edges are sharp; the folds of cloth come and go."""
    whole = triangles.astype(np.int64)
    if not is_closed(whole):
        return np.arange(len(shape.points)), triangles
    split = sharp(shape.points.astype(np.float64), whole)
    return split.sources, split.triangles.astype(np.uint32)


def _shades(color: tuple[int, ...], count: int) -> Any:
    """Neighbours are told apart by a little light and shade."""
    share = 0.85 + 0.3 * ((np.arange(count) * 0.6180339887) % 1.0)
    return np.clip(share[:, None] * np.array(color), 0.0, 255.0).astype(np.uint8)


def _move(drawn: _Drawn, shape: SoftShape) -> None:
    soft = drawn.item.soft
    assert soft is not None
    if soft.triangles is not None:
        drawn.node.vertices = shape.points[drawn.corners]
    elif len(shape.points) > MOST_BALLS:
        drawn.node.points = shape.points
    else:
        drawn.node.batched_positions = shape.points

"""Draws a scene in browsers, through viser: what is equal is drawn together, and only what changed is sent."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import viser
from numpy.typing import NDArray

from raisim_ros.viewer import surfaces
from raisim_ros.viewer.hand import Picked, Touch
from raisim_ros.viewer.scene import (
    COLLISION,
    INERTIA,
    VISUAL,
    DrawnWires,
    Item,
    Moment,
    Part,
    SceneModel,
    Surface,
    Vector,
    boxes_of,
    compose,
)
from raisim_ros.viewer.soft_canvas import SoftCanvas
from raisim_ros.viewer.wires import rods

# Poses that changed less are not sent again.
SMALLEST_MOVE = 1e-6
SKY_TOP, SKY_BOTTOM = (96, 148, 205), (226, 233, 238)
GROUND_COLOR, GROUND_LINES, GROUND_STRONG = (196, 198, 192), (172, 175, 170), (150, 154, 150)
CONTACT_COLOR, FORCE_COLOR, CENTRE_COLOR = (250, 60, 40), (30, 160, 60), (250, 200, 30)
BOX_COLOR = (255, 150, 30)
FIELD_OF_VIEW = 0.75  # vertical [rad]
# Opacity of objects while somebody looks at what lies in them.
CLEAR = 0.35
# What is drawn beside the objects is as large as these shares of the distance from which the scene is seen at first.
# The force that gives the longest arrow follows the largest one seen.
LONGEST_ARROW, SHAFT, CONTACT, CENTRE, POINT, AXES = 0.2, 0.0018, 0.006, 0.012, 0.002, 0.05
# Wires have at least this radius.
THINNEST_WIRE = 0.0006


@dataclass(frozen=True)
class _Key:
    """Parts with equal keys are drawn together."""

    surface: Surface
    layer: str
    movable: bool
    opacity: float
    others: frozenset[str]  # layers besides VISUAL that their items have


class _Batch:
    """Parts with one surface, drawn by one node of the page."""

    def __init__(self, node: Any, members: list[tuple[Item, Part]]) -> None:
        self.node = node
        self.members = members
        self.frames = np.array([part.frame for _, part in members])
        self.local = np.array([part.pose for _, part in members])
        self.sent: Vector | None = None

    def signature(self) -> Any:
        return [(item.name, part.frame, part.scale, part.color, part.pose.tobytes()) for item, part in self.members]


class Canvas:
    """The three-dimensional part of the page."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._batches: dict[_Key, _Batch] = {}
        self._grounds: dict[str, tuple[Any, Any]] = {}  # and how they look
        self._labels: dict[str, Any] = {}
        self._shown = {VISUAL: True, COLLISION: False, INERTIA: False, "names": False, "frames": False}
        self._force_scale = 1.0
        self._distance = 5.0
        self._model = SceneModel([], 0)
        self.on_click: Callable[[Picked], None] = lambda picked: None
        self.on_drag: Callable[[Touch], None] = lambda touch: None  # must not wait
        self._numbers = itertools.count()
        self._inside = False
        self._plain: WeakKeyDictionary[Surface, Surface] = WeakKeyDictionary()
        self._bright: set[int] = set()  # pages without shadows
        self._soft = SoftCanvas(server, lambda item: self.on_click(Picked(item, 0)))
        server.on_client_disconnect(lambda client: self._bright.discard(client.client_id))
        self._draw_surroundings()

    def _draw_surroundings(self) -> None:
        scene = self._server.scene
        scene.set_up_direction("+z")
        scene.world_axes.visible = False
        share = np.linspace(0.0, 1.0, 256)[:, None] ** 0.7
        column = (1.0 - share) * np.array(SKY_TOP) + share * np.array(SKY_BOTTOM)
        scene.set_background_image(np.repeat(column[:, None, :], 2, axis=1).astype(np.uint8), format="png")
        scene.configure_default_lights(enabled=False)
        # No picture of surroundings to mirror: without a graphics card it takes a hundred times the rest.
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/lights/sky", sky_color=(205, 225, 255), ground_color=(210, 205, 200), intensity=2.8
        )
        self._sun = _add_sun(scene, shadows=True)
        segments, none = np.zeros((1, 2, 3)), np.zeros((1, 3))
        hidden: dict[str, Any] = {"thickness_units": "screen", "visible": False}
        self._trail = scene.add_line_segments("/trail", segments, (250, 140, 20), thickness=2.5, **hidden)
        self._contacts = scene.add_point_cloud(
            "/contacts", none, CONTACT_COLOR, point_size=0.03, point_shape="circle", precision="float32", visible=False
        )
        green = surfaces.light(np.array(FORCE_COLOR) / 255.0)
        self._forces = scene.add_arrows("/forces", segments, green, visible=False)
        self._centres = scene.add_point_cloud(
            "/centres", none, CENTRE_COLOR, point_size=0.05, point_shape="circle", precision="float32", visible=False
        )
        self._points = scene.add_point_cloud(
            "/points", none, (255, 255, 255), point_size=0.02, point_shape="circle", precision="float32", visible=False
        )
        self._points_sent = np.zeros((0, 3))
        self._wires: Any = None
        self._wires_sent = DrawnWires()
        self._axes: Any = None
        self._mark = scene.add_frame("/selected", axes_length=0.35, axes_radius=0.008, visible=False)
        self._box = scene.add_line_segments("/box", segments, BOX_COLOR, thickness=2.0, **hidden)
        self._pull = scene.add_line_segments("/pull", segments, (250, 90, 20), thickness=4.0, **hidden)

    def set_distance(self, distance: float) -> None:
        """The scene is seen from so far away [m]: arrows, marks and points become as large as it needs."""
        self._distance = distance
        self._contacts.point_size, self._centres.point_size = CONTACT * distance, CENTRE * distance
        self._points.point_size = POINT * distance
        self._wires_sent = replace(self._wires_sent, colors=np.zeros((0, 3)))  # they become thicker or thinner
        shaft = SHAFT * distance
        self._forces.shaft_radius, self._forces.head_radius = shaft, 2.5 * shaft
        self._forces.head_length = 6.0 * shaft
        self._draw_axes(self._model)

    def turn_shadows(self, client: viser.ClientHandle) -> None:
        """Off or on, in this page alone: they take most of the time where there is no graphics card."""
        self._bright ^= {client.client_id}
        _add_sun(client.scene, client.client_id not in self._bright)

    # ---- the model ----

    def draw(self, model: SceneModel) -> None:
        """Take over a new model; batches that stay as they are are not sent again."""
        groups: dict[_Key, list[tuple[Item, Part]]] = {}
        for item in model.items:
            others = frozenset(part.layer for part in item.parts) - {VISUAL}
            for part in map(self._clear, item.parts) if self._inside and item.movable else item.parts:
                key = _Key(part.surface, part.layer, item.movable, part.opacity, others)
                groups.setdefault(key, []).append((item, part))
        with self._server.atomic():
            for key in [key for key in self._batches if key not in groups]:
                self._batches.pop(key).node.remove()
            for key, members in groups.items():
                old = self._batches.get(key)
                fresh = _Batch(None, members)
                if old is not None and old.signature() == fresh.signature():
                    old.members = members  # the same parts, in items of the new model
                    old.node.visible = self._is_shown(key)
                    continue
                if old is not None:
                    old.node.remove()
                fresh.node = self._add_node(key, fresh)
                self._batches[key] = fresh
            self._soft.draw(model)
            self._draw_grounds(model)
            self._draw_labels(model)
            self._draw_axes(model)
        self._model = model

    def look_inside(self, wanted: bool) -> None:
        """Draw what moves so that what lies in it is seen, too: centres of mass do."""
        if wanted != self._inside:
            self._inside = wanted
            self.draw(self._model)

    def _clear(self, part: Part) -> Part:
        if part.layer != VISUAL:
            return part
        surface, color = part.surface, part.color
        if surface.glb is not None:  # files with colours of their own are as opaque as these
            surface, color = self._plain.setdefault(surface, replace(surface, glb=None)), surfaces.PLAIN
        return replace(part, surface=surface, color=color, opacity=min(part.opacity, CLEAR))

    def _add_node(self, key: _Key, batch: _Batch) -> Any:
        scene, members = self._server.scene, batch.members
        # Never the name of one before: pages may still be busy with what came under it.
        name = f"/objects/{next(self._numbers)}"
        turned, moved = np.tile([1.0, 0, 0, 0], (len(members), 1)), np.zeros((len(members), 3))
        scales = np.array([part.scale for _, part in members], np.float32)
        visible = self._is_shown(key)
        options: dict[str, Any] = {"batched_scales": scales, "lod": "off", "visible": visible}
        if key.surface.glb is not None:
            node: Any = scene.add_batched_glb(name, surfaces.without_metal(key.surface.glb), turned, moved, **options)
        else:
            colors = np.array([part.color for _, part in members])
            node = scene.add_batched_meshes_simple(
                name,
                key.surface.vertices,
                key.surface.triangles,
                turned,
                moved,
                batched_colors=surfaces.light(colors),
                opacity=None if key.opacity >= 1.0 else key.opacity,
                flat_shading=key.surface.flat,
                side="front" if key.opacity >= 1.0 else "double",
                **options,
            )
        node.on_click(lambda event: self._clicked(batch, event))
        if key.movable:

            async def dragged(event: Any) -> None:  # what is not async is called in any order
                self._dragged(batch, event)

            node.on_drag("left")(dragged)
        return node

    def _draw_grounds(self, model: SceneModel) -> None:
        wanted = {item.name: item for item in model.items if item.ground_height is not None}
        for name, (node, look) in list(self._grounds.items()):
            item = wanted.get(name)
            if item is None or look != _ground_look(item):
                node.remove()
                del self._grounds[name]
        for name, item in wanted.items():
            if name not in self._grounds:
                self._grounds[name] = self._add_ground(item), _ground_look(item)

    def _add_ground(self, item: Item) -> Any:
        color, lines, strong = GROUND_COLOR, GROUND_LINES, GROUND_STRONG
        if item.ground_color is not None:  # lines as much darker as those of the plain one
            shades = np.array((GROUND_COLOR, GROUND_LINES, GROUND_STRONG)) / np.array(GROUND_COLOR)
            rows = np.clip(np.round(255.0 * np.array(item.ground_color) * shades), 0, 255).astype(int)
            color, lines, strong = ((int(r), int(g), int(b)) for r, g, b in rows)
        return self._server.scene.add_grid(
            f"/ground/{next(self._numbers)}",
            infinite_grid=True,
            cell_size=0.5,
            section_size=2.0,
            cell_color=lines,
            section_color=strong,
            cell_thickness=0.6,
            fade_distance=60.0,
            plane_color=color,
            plane_opacity=1.0,
            shadow_opacity=0.35,
            position=(0.0, 0.0, item.ground_height or 0.0),
        )

    def _draw_labels(self, model: SceneModel) -> None:
        visible = {item.name for item in model.items if item.parts or item.soft is not None}
        wanted = visible if self._shown["names"] else set()
        for name in [name for name in self._labels if name not in wanted]:
            self._labels.pop(name).remove()
        for name in wanted - set(self._labels):
            path = f"/names/{next(self._numbers)}"
            self._labels[name] = self._server.scene.add_label(path, name, anchor="bottom-center")

    def _draw_axes(self, model: SceneModel) -> None:
        if self._axes is not None:
            self._axes.remove()
            self._axes = None
        if self._shown["frames"] and model.frames:
            turned, moved = np.tile([1.0, 0, 0, 0], (model.frames, 1)), np.zeros((model.frames, 3))
            length, radius = 0.5 * AXES * self._distance, 0.6 * SHAFT * self._distance
            self._axes = self._server.scene.add_batched_axes(
                "/axes", turned, moved, axes_length=length, axes_radius=radius
            )

    def show_layer(self, layer: str, shown: bool) -> None:
        """Turn "collision", "inertia", "names" or "frames" on or off; visuals give way to shapes and inertias."""
        self._shown[layer] = shown
        for key, batch in self._batches.items():
            batch.node.visible = self._is_shown(key)
        self._draw_labels(self._model)
        self._draw_axes(self._model)

    def _is_shown(self, key: _Key) -> bool:
        if key.layer != VISUAL:
            return self._shown[key.layer]
        return not any(self._shown[layer] for layer in key.others)

    # ---- people ----

    def _picked(self, batch: _Batch, index: int | None) -> Picked | None:
        if index is None or index >= len(batch.members):
            return None
        item, part = batch.members[index]
        return Picked(item, part.frame - item.first_frame)

    def _clicked(self, batch: _Batch, event: Any) -> None:
        picked = self._picked(batch, event.instance_index)
        if picked is not None:
            self.on_click(picked)

    def _dragged(self, batch: _Batch, event: Any) -> None:
        picked = self._picked(batch, event.instance_index)
        if picked is not None:
            start, end = np.array(event.start_position), np.array(event.end_position)
            self.on_drag(Touch(picked, event.phase, start, end, event.client_id))

    def show_pull(self, spring: tuple[Vector, Vector] | None) -> None:
        """The spring by which somebody pulls, or none."""
        self._pull.visible = spring is not None
        if spring is not None:
            self._pull.points = np.array([spring], np.float32)

    # ---- the moment ----

    def show(self, moment: Moment, selected: Item | None, trail: Vector) -> None:
        """Move everything to where it is now."""
        with self._server.atomic():
            for batch in self._batches.values():
                self._place(batch, moment.poses)
            self._soft.show(moment)
            self._show_wires(moment.wires)
            self._show_contacts(moment)
            _show_points(self._centres, moment.centres)
            self._show_points(moment.points)
            self._show_selected(moment, selected)
            self._trail.visible = len(trail) > 1
            if len(trail) > 1:
                self._trail.points = np.stack((trail[:-1], trail[1:]), axis=1).astype(np.float32)
            self._show_names_and_frames(moment)

    def _show_points(self, points: Vector) -> None:
        """What sensors see; they measure less often than pages are drawn."""
        self._points.visible = bool(len(points))
        if len(points) and not np.array_equal(points, self._points_sent):
            self._points.points = points.astype(np.float32)
            self._points.colors = _rainbow(points[:, 2])
            self._points_sent = points

    def _place(self, batch: _Batch, poses: Vector) -> None:
        now = compose(poses[batch.frames], batch.local)
        if batch.sent is not None and np.abs(now - batch.sent).max() < SMALLEST_MOVE:
            return
        batch.sent = now
        batch.node.batched_positions = now[:, :3].astype(np.float32)
        batch.node.batched_wxyzs = now[:, [6, 3, 4, 5]].astype(np.float32)

    def _show_selected(self, moment: Moment, selected: Item | None) -> None:
        """Axes at its origin, and the corners of the box around it: origins lie in the dark of things."""
        self._mark.visible = selected is not None
        self._box.visible = selected is not None and selected.movable
        if selected is None:
            return
        pose = moment.poses[selected.first_frame]
        self._mark.position, self._mark.wxyz = pose[:3], pose[[6, 3, 4, 5]]
        length = AXES * self._distance
        if selected.movable:
            low, high = boxes_of([selected], moment.poses)[0]
            self._box.points = _box_corners(low, high)
            length = 0.35 * float(np.max(high - low)) or length
        if not 0.9 * length < self._mark.axes_length < 1.1 * length:
            self._mark.axes_length, self._mark.axes_radius = length, 0.02 * length

    def _show_wires(self, wires: DrawnWires) -> None:
        sent = self._wires_sent
        if len(wires) != len(sent):
            if self._wires is not None:
                self._wires.remove()
            self._wires = self._add_wires(len(wires)) if len(wires) else None
        elif np.array_equal(wires.ends, sent.ends) and np.array_equal(wires.colors, sent.colors):
            return
        self._wires_sent = wires
        if self._wires is not None:
            radii = np.maximum(0.5 * wires.widths, THINNEST_WIRE * self._distance)
            places, turns, scales = rods(wires.ends, radii)
            self._wires.batched_positions = places.astype(np.float32)
            self._wires.batched_wxyzs = turns.astype(np.float32)
            self._wires.batched_scales = scales.astype(np.float32)
            self._wires.batched_colors = surfaces.light(wires.colors)

    def _add_wires(self, count: int) -> Any:
        rod, scene = surfaces.unit("rod"), self._server.scene
        turned, moved = np.tile([1.0, 0, 0, 0], (count, 1)), np.zeros((count, 3))
        return scene.add_batched_meshes_simple(
            f"/wires/{next(self._numbers)}",
            rod.vertices,
            rod.triangles,
            turned,
            moved,
            batched_scales=np.ones((count, 3), np.float32),
            batched_colors=np.zeros((count, 3), np.uint8),
            lod="off",
        )

    def _show_contacts(self, moment: Moment) -> None:
        _show_points(self._contacts, moment.contacts)
        self._forces.visible = bool(len(moment.forces))
        if not len(moment.forces):
            return
        largest = float(np.linalg.norm(moment.forces, axis=1).max())
        self._force_scale = max(largest, 0.98 * self._force_scale, 1e-6)
        ends = moment.contacts + moment.forces * (LONGEST_ARROW * self._distance / self._force_scale)
        self._forces.points = np.stack((moment.contacts, ends), axis=1).astype(np.float32)

    def _show_names_and_frames(self, moment: Moment) -> None:
        if self._labels:
            for item in self._model.items:
                if item.name in self._labels:
                    self._labels[item.name].position = moment.poses[item.first_frame, :3]
        axes = self._axes
        if axes is not None:
            poses = moment.poses[: self._model.frames]
            axes.batched_positions = poses[:, :3].astype(np.float32)
            axes.batched_wxyzs = poses[:, [6, 3, 4, 5]].astype(np.float32)


def _ground_look(item: Item) -> Any:
    return item.ground_height, item.ground_color


def _add_sun(scene: viser.SceneApi, shadows: bool) -> Any:
    color, place = (255, 244, 225), (6.0, 4.0, 12.0)
    return scene.add_light_directional("/lights/sun", color=color, intensity=2.5, cast_shadow=shadows, position=place)


def _show_points(node: Any, points: Vector) -> None:
    node.visible = bool(len(points))
    if len(points):
        node.points = points.astype(np.float32)


def _box_corners(low: Vector, high: Vector) -> NDArray[np.float32]:
    """Short lines from each corner of a box along its edges, N x 2 x 3."""
    centre, half = 0.5 * (low + high), 0.5 * (high - low) + 0.02 * float(np.max(high - low))
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    corners = np.repeat(centre + signs * half, 3, axis=0)
    inwards = np.repeat(-signs, 3, axis=0) * np.tile(np.eye(3), (8, 1))
    return np.stack((corners, corners + 0.4 * half * inwards), axis=1).astype(np.float32)


def _rainbow(values: Vector) -> NDArray[np.uint8]:
    """From low (blue) over green to high (red)."""
    stops = np.array([[40, 70, 220], [30, 180, 200], [60, 200, 70], [240, 200, 40], [230, 50, 40]], float)
    place = (values - values.min()) / max(float(np.ptp(values)), 1e-9) * (len(stops) - 1)
    low = np.minimum(place.astype(int), len(stops) - 2)
    part = (place - low)[:, None]
    colors: NDArray[np.uint8] = (stops[low] * (1.0 - part) + stops[low + 1] * part).astype(np.uint8)
    return colors

"""A second world that holds what a first one looks like, for rays to see: visual meshes instead of what collides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.mesh.color import part_color, part_image
from raisim_ros.description.mesh.file import MeshData, drawn_mesh, make_mesh
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.surface_handles import HeightMap
from raisim_ros.engine.sensors.colors import Looks, Texture
from raisim_ros.engine.types import MeshCollisionMode
from raisim_ros.engine.world.looks import terrain_colors
from raisim_ros.engine.world.world import World
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.scene import VISUAL, Part, Rgb, SceneModel, Surface, Vector, compose
from raisim_ros.viewer.surfaces import height_colors
from raisim_ros.viewer.wires import turns_of_z

GROUND_RGB: Rgb = (0.70, 0.71, 0.69)


class Studio:
    """The parts of a model as bodies; place() moves them, rays see them."""

    def __init__(self, model: SceneModel, source: World) -> None:
        self.world = World()
        self.grounds: list[int] = []  # places in the list of endless planes
        self._parts: list[tuple[Part, SingleBodyObject]] = []
        self._colors: list[Vector] = []
        self._textures: list[Texture] = []
        self._images: dict[int, int] = {}  # place in the list of colours -> number of its texture
        self._models: dict[tuple[Surface, tuple[float, float, float], int], SingleBodyObject] = {}
        self._extras: list[SingleBodyObject] = []
        for item in model.items:
            if item.ground_height is not None:
                self.grounds.append(len(self._colors))
                self.world.add_ground(item.ground_height)
                self._colors.append(np.array([item.ground_color or GROUND_RGB]))
            elif item.kind == "heightmap" and item.parts:
                self._add_terrain(source, item.name, item.parts[0])
            else:
                for part in item.parts:
                    if part.layer == VISUAL and part.opacity > 0.05:
                        self._add_part(part)

    def _keep(self, part: Part, body: SingleBodyObject, color: Rgb) -> None:
        self._parts.append((part, body))
        self._colors.append(np.array([color] * len(body.get_collision_body_list())))

    def _add_terrain(self, source: World, name: str, part: Part) -> None:
        terrain = next((one for one in source.get_obj_list() if isinstance(one, HeightMap) and _is(one, name)), None)
        if terrain is None:
            return
        data, colors = terrain.get_data(), terrain_colors(terrain)
        body = self.world.add_height_map(data)
        self._parts.append((part, body))
        if colors is None:
            colors = height_colors(data.heights)
        self._colors.append(np.ascontiguousarray(colors.reshape(-1, 3)))

    def _add_part(self, part: Part) -> None:
        x, y, z = part.scale
        if part.surface is surfaces.unit("ball"):
            self._keep(part, self.world.add_sphere(0.5 * x, 1.0), part.color)
        elif part.surface is surfaces.unit("block"):
            self._keep(part, self.world.add_box(x, y, z, 1.0), part.color)
        elif part.surface in (surfaces.unit("rod"), surfaces.unit("tube")):
            self._keep(part, self.world.add_cylinder(0.5 * x, z, 1.0), part.color)
        elif part.surface is surfaces.unit("cone"):
            self._keep(part, self.world.add_cone(0.5 * x, z, 1.0), part.color)
        else:
            for number, (mesh, color, texture) in enumerate(_pieces(part.surface, part.scale)):
                key = (part.surface, part.scale, number)
                if key in self._models:
                    body = self.world.clone_object(self._models[key])
                else:
                    body = self.world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
                    self._models[key] = body
                if texture is not None:
                    if texture not in self._textures:
                        self._textures.append(texture)
                    self._images[len(self._colors)] = self._textures.index(texture)
                self._keep(part, body, color or part.color)

    # ---- every picture ----

    def place(self, poses: Vector) -> None:
        """Put everything where the frames are now."""
        if not self._parts:
            return
        frames = [part.frame for part, _ in self._parts]
        placed = compose(poses[frames], np.array([part.pose for part, _ in self._parts]))
        for (_, body), (x, y, z, qx, qy, qz, qw) in zip(self._parts, placed.tolist(), strict=True):
            body.set_pose((x, y, z), (qw, qx, qy, qz))

    def draw_lines(self, lines: Vector, radius: float, color: Rgb, tips: bool = False) -> None:
        """Rods from point to point (N x 2 x 3) until clear_lines(); with `tips`, arrows."""
        for start, end in lines:
            way = end - start
            length = float(np.linalg.norm(way))
            if length < 1e-4:
                continue
            turn = turns_of_z(way[None] / length)[0]
            head = min(0.35 * length, 8.0 * radius) if tips else 0.0
            rod = self.world.add_cylinder(radius, max(length - head, 1e-4), 1.0)
            rod.set_pose(start + 0.5 * (length - head) * way / length, turn)
            self._extra(rod, color)
            if tips:
                tip = self.world.add_cone(2.6 * radius, head, 1.0)
                tip.set_pose(end - 0.75 * head * way / length, turn)
                self._extra(tip, color)

    def draw_ball(self, centre: Vector, radius: float, color: Rgb) -> None:
        """A ball until clear_lines()."""
        ball = self.world.add_sphere(radius, 1.0)
        ball.set_position(centre)
        self._extra(ball, color)

    def draw_surface(self, vertices: Vector, triangles: NDArray[Any], color: Rgb) -> None:
        """Triangles until clear_lines()."""
        mesh, _ = drawn_mesh(vertices, np.asarray(triangles, np.int64))
        self._extra(self.world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH), color)

    def _extra(self, body: SingleBodyObject, color: Rgb) -> None:
        self._extras.append(body)
        self._colors.append(np.array([color]))

    def clear_lines(self) -> None:
        """Take rods, arrows and points away."""
        for body in reversed(self._extras):  # the last first: the others keep their places
            self.world.remove_object(body)
            self._colors.pop()
        self._extras.clear()

    def looks(self) -> Looks:
        """Colours of all shapes, as shares of light."""
        first = np.cumsum([0, *(len(rows) for rows in self._colors)], dtype=np.int64)
        rgb = np.concatenate([np.zeros((0, 3)), *self._colors])
        light = np.ascontiguousarray(np.clip(rgb, 0.0, 1.0) ** 2.2, np.float32)
        if not self._textures:
            return Looks(first, light)
        image = np.full(len(rgb), -1, np.int32)
        for place, number in self._images.items():
            image[first[place] : first[place + 1]] = number
        return Looks(first, light, image, tuple(self._textures))


def _is(handle: HeightMap, name: str) -> bool:
    return name in (handle.get_name(), f"{handle.get_name()}_{handle.get_id()}", f"heightmap_{handle.get_id()}")


# A mesh in one colour, or in its own, or with an image.
Piece = tuple[MeshData, Rgb | None, Texture | None]


@lru_cache(maxsize=256)
def _pieces(surface: Surface, scale: tuple[float, float, float]) -> list[Piece]:
    """A mesh, or one for each of its materials."""
    if surface.glb is None:
        mirrored = bool(np.prod(scale) < 0)
        return [(make_mesh(surface.vertices * np.array(scale), surface.triangles, mirrored=mirrored), None, None)]
    import io

    import trimesh

    scene = trimesh.load_scene(io.BytesIO(surface.glb), file_type="glb", process=False)
    parts = [part for part in scene.dump() if hasattr(part, "faces") and len(part.faces)]
    return [_piece(part, np.array(scale)) for part in parts]


def _piece(part: Any, scale: Vector) -> Piece:
    image = part_image(part.visual)
    if image is None:
        mesh = make_mesh(part.vertices * scale, part.faces, mirrored=bool(np.prod(scale) < 0))
        return mesh, part_color(part.visual), None
    pixels, uv = image
    faces = np.asarray(part.faces, np.int64)
    mesh, kept = drawn_mesh(part.vertices * scale, faces)
    corners = np.ascontiguousarray(uv[faces[kept]], np.float32)
    return mesh, None, Texture(np.ascontiguousarray(pixels), corners)

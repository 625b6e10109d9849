"""Pictures of a world without a browser, by the engine's rays: soft shadows, light of the sky, smooth edges."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.appearance import HIDDEN, colour
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine import arguments
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularSystem
from raisim_ros.engine.objects.scene_handles import ViewCamera
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.sensors.paint import Eye, Style, paint
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.contact_forces import contact_forces
from raisim_ros.viewer.scene import SceneModel, Vector, View, first_view
from raisim_ros.viewer.sensor_views import seen_points
from raisim_ros.viewer.studio import Studio
from raisim_ros.viewer.wires import wires_of
from raisim_ros.viewer.world_scene import world_model

Picture = NDArray[np.uint8]

# Of what sensors see, so many points are drawn.
MOST_POINTS = 4000
# They have this radius, and wires at least that one, as a share of how far away they are.
POINT, THINNEST_WIRE = 0.002, 0.0005
QUALITIES = {
    "draft": Style(samples=8),
    "good": Style(samples=16, everywhere=True, occlusion=True),
    "best": Style(samples=48, everywhere=True, occlusion=True),
}


_studios: WeakKeyDictionary[World, tuple[Any, Studio, SceneModel]] = WeakKeyDictionary()


def render(
    world: World,
    camera: View | ViewCamera | None,
    width: int,
    height: int,
    quality: str,
    *,
    contacts: bool = False,
    points: bool = False,
) -> Picture:
    """See World.render()."""
    if not isinstance(quality, str) or quality not in QUALITIES:
        raise InvalidValueError(f"quality is {quality!r}; expected one of {', '.join(QUALITIES)}")
    width, height = arguments.count("width", width, 1), arguments.count("height", height, 1)
    if max(width, height) > 8192:
        raise InvalidValueError(f"the picture is {width} x {height}; expected 1 to 8192 pixels each way")
    with world.locked():
        studio, model = _studio(world)
        poses = np.vstack((world.read_states(True).poses, world.read_articulations(True).link_poses))
        studio.place(poses)
        eye = _eye(world, camera, model, poses, width, height)
        try:
            _draw_wires(world, studio, eye)
            _draw_soft(world, studio)
            if contacts:
                _draw_contacts(world, studio, eye)
            if points:
                _draw_points(world, studio, eye)
            return paint(studio.world, eye, studio.looks(), QUALITIES[quality])
        finally:
            studio.clear_lines()


def _studio(world: World) -> tuple[Studio, SceneModel]:
    looks = tuple(handle.get_appearance() for handle in world.get_obj_list())
    key = (world.get_configuration_number(), looks)
    known = _studios.get(world)
    if known is None or known[0] != key:
        model = world_model(world)
        known = _studios[world] = (key, Studio(model, world), model)
    return known[1], known[2]


def _eye(world: World, camera: Any, model: SceneModel, poses: Vector, width: int, height: int) -> Eye:
    if isinstance(camera, ViewCamera):
        fov = camera.get_settings().horizontal_fov
        return Eye(camera.get_position(), camera.get_quaternion(), width, height, fov)
    if camera is None:
        own = world.get_viewpoint()
        camera, _ = first_view(model, poses, None if own is None else (own.follow, own.offset))
    elif not isinstance(camera, View):
        raise InvalidValueError(f"camera is {camera!r}; expected a View, a ViewCamera or None")
    position = arguments.vector("position of the camera", camera.position, 3)
    ahead = arguments.vector("look_at of the camera", camera.look_at, 3) - position
    fov = arguments.number("horizontal_fov of the camera", camera.horizontal_fov)
    if not 0.0 < fov < np.pi:
        raise InvalidValueError(f"horizontal_fov of the camera is {fov:g} rad; expected more than 0 and less than pi")
    if not 1e-9 <= np.linalg.norm(ahead) < np.inf:
        raise InvalidValueError(f"camera is {camera!r}; expected two different points")
    ahead /= np.linalg.norm(ahead)
    left = np.cross((0.0, 0.0, 1.0), ahead)
    left = left / np.linalg.norm(left) if np.linalg.norm(left) > 1e-6 else np.array([0.0, 1.0, 0.0])
    rotation = np.column_stack((ahead, left, np.cross(ahead, left)))
    return Eye(position, quaternion_from_matrix(rotation), width, height, fov)


def _draw_soft(world: World, studio: Studio) -> None:
    """Grains and cloth are elsewhere in every picture."""
    for handle in world.get_obj_list():
        if not isinstance(handle, SoftObject) or handle.get_appearance() == HIDDEN:
            continue
        look = colour(handle.get_appearance(), handle.get_object_type().name.lower(), handle.get_id())
        color = (look[0], look[1], look[2])
        if isinstance(handle, DeformableObject):
            studio.draw_surface(handle.get_positions(), handle.get_triangles(), color)
        elif isinstance(handle, GranularSystem):
            for centre, radius in zip(handle.get_positions(), handle.get_radii(), strict=True):
                studio.draw_ball(centre, float(radius), color)


def _draw_wires(world: World, studio: Studio, eye: Eye) -> None:
    wires = wires_of(world)
    for ends, width, (red, green, blue) in zip(wires.ends, wires.widths, wires.colors.tolist(), strict=True):
        thinnest = THINNEST_WIRE * float(np.linalg.norm(ends.mean(axis=0) - eye.position))
        studio.draw_lines(ends[None], max(0.5 * float(width), thinnest), (red, green, blue))


def _draw_contacts(world: World, studio: Studio, eye: Eye) -> None:
    points, forces = contact_forces(world)
    largest = float(np.linalg.norm(forces, axis=1).max()) if len(forces) else 0.0
    if largest > 0.0:
        # As long as a fixed part of the picture, however near that is.
        length = 0.2 * float(np.linalg.norm(points.mean(axis=0) - eye.position))
        ends = points + forces * (length / largest)
        lines = np.stack((points, ends), axis=1)
        studio.draw_lines(lines, 0.02 * length, (0.10, 0.65, 0.20), tips=True)


def _draw_points(world: World, studio: Studio, eye: Eye) -> None:
    points = seen_points(world)
    points = points[:: 1 + len(points) // MOST_POINTS]
    share = (points[:, 2:] - points[:, 2].min()) / max(float(np.ptp(points[:, 2])), 1e-9) if len(points) else points
    colors = (1.0 - share) * np.array([0.1, 0.45, 0.95]) + share * np.array([0.98, 0.35, 0.1])
    radii = POINT * np.linalg.norm(points - eye.position, axis=1)
    for point, radius, (red, green, blue) in zip(points, radii.tolist(), colors.tolist(), strict=True):
        studio.draw_ball(point, radius, (red, green, blue))

"""What the sensors of a World saw last, for people to look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine.sensors.vision import DepthCamera, RGBCamera, SpinningLidar
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import Vector
from raisim_ros.viewer.world_scene import unique_names

# More points of a depth camera than this are thinned out.
_MOST_POINTS = 20_000


def seen_points(world: World) -> Vector:
    """Points of all lidars and depth cameras, world frame, N x 3 [m]."""
    clouds = [np.zeros((0, 3))]
    for sensors in world.get_sensor_sets():
        for sensor in sensors:
            if isinstance(sensor, SpinningLidar):
                clouds.append(sensor.get_scan() @ sensor.get_orientation().T + sensor.get_position())
            elif isinstance(sensor, DepthCamera):
                points = sensor.get_3d_points().reshape(-1, 3)
                points = points[np.isfinite(points).all(axis=1)]
                clouds.append(points[:: 1 + len(points) // _MOST_POINTS])
    return np.concatenate(clouds)


def camera_images(world: World) -> dict[str, NDArray[np.uint8]]:
    """Last images of all cameras as ``object/set/sensor``; those of depth cameras in grey, near is bright."""
    images: dict[str, NDArray[np.uint8]] = {}
    names = {handle.get_id(): name for name, handle in unique_names(world).items()} if world.get_sensor_sets() else {}
    for sensors in world.get_sensor_sets():
        for sensor in sensors:
            name = f"{names[sensors.mount.object.get_id()]}/{sensor.get_full_name()}"
            if isinstance(sensor, RGBCamera):
                images[name] = sensor.get_image_buffer()
            elif isinstance(sensor, DepthCamera):
                images[name] = grey(sensor.get_depth_array())
    return images


def grey(depth: NDArray[np.float32]) -> NDArray[np.uint8]:
    """A picture of depths: near is bright, nothing is black."""
    seen = np.isfinite(depth)
    if not seen.any():
        return np.zeros((*depth.shape, 3), np.uint8)
    low, high = float(depth[seen].min()), float(depth[seen].max())
    share = np.where(seen, 1.0 - (depth - low) / max(high - low, 1e-9), 0.0)
    return np.repeat((60.0 + 195.0 * share).astype(np.uint8)[..., None], 3, axis=2) * seen[..., None].astype(np.uint8)

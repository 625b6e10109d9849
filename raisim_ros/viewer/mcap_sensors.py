"""Measurements of sensors as messages of MCAP files, on the topics that a node publishes them to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.sensors.motion import IMU, ContactSensor, ForceTorque
from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.engine.sensors.vision import DepthCamera, RGBCamera, SpinningLidar
from raisim_ros.viewer.mcap_definitions import CLOUD, IMAGE, INERTIAL, WRENCH

_FLOAT32 = 7  # of PointField
# Axes of images (z forward, x right, y down) in those of a camera (x forward, y left, z up).
_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])

Message = tuple[str, str, dict[str, Any]]  # topic, type, fields


def frames_of(sensor: Sensor, name: str) -> dict[str, tuple[Vector, Vector]]:
    """Frames of a sensor, named NAME: where they were at its last measurement (x y z, then w x y z)."""
    place, turned = sensor.get_position(), sensor.get_orientation()
    frames = {name: (place, quaternion_from_matrix(turned))}
    if isinstance(sensor, (DepthCamera, RGBCamera)):
        frames[f"{name}_optical_frame"] = place, quaternion_from_matrix(turned @ _OPTICAL)
    return frames


def messages_of(sensor: Sensor, name: str, stamp: dict[str, int]) -> Iterator[Message]:
    """What a sensor, named OBJECT/SENSOR, measured last."""
    header = {"stamp": stamp, "frame_id": name}
    if isinstance(sensor, SpinningLidar):
        yield f"/{name}/points", CLOUD, {"header": header, **_cloud(sensor.get_scan())}
    elif isinstance(sensor, (DepthCamera, RGBCamera)):
        header["frame_id"] = f"{name}_optical_frame"
        deep = isinstance(sensor, DepthCamera)
        pixels = sensor.get_depth_array() if isinstance(sensor, DepthCamera) else sensor.get_image_buffer()
        image = _image(pixels, "32FC1" if deep else "rgb8")
        yield f"/{name}/{'depth' if deep else 'color'}/image", IMAGE, {"header": header, **image}
    elif isinstance(sensor, IMU):
        w, x, y, z = (float(value) for value in quaternion_from_matrix(sensor.get_orientation()))
        yield f"/{name}/imu", INERTIAL, {
            "header": header,
            "orientation": {"x": x, "y": y, "z": z, "w": w},
            "orientation_covariance": [0.0] * 9,
            "angular_velocity": _xyz(sensor.get_angular_velocity()),
            "angular_velocity_covariance": [0.0] * 9,
            "linear_acceleration": _xyz(sensor.get_linear_acceleration()),
            "linear_acceleration_covariance": [0.0] * 9,
        }
    elif isinstance(sensor, (ContactSensor, ForceTorque)):
        wrench = {"force": _xyz(sensor.get_force()), "torque": _xyz(sensor.get_torque())}
        yield f"/{name}/wrench", WRENCH, {"header": header, "wrench": wrench}


def _xyz(vector: Vector) -> dict[str, float]:
    return dict(zip("xyz", map(float, vector), strict=True))


def _cloud(points: Vector) -> dict[str, Any]:
    fields = [{"name": name, "offset": 4 * k, "datatype": _FLOAT32, "count": 1} for k, name in enumerate("xyz")]
    data = points.astype("<f4").tobytes()
    size = {"height": 1, "width": len(points), "point_step": 12, "row_step": len(data)}
    return {**size, "fields": fields, "is_bigendian": False, "data": data, "is_dense": True}


def _image(pixels: Any, encoding: str) -> dict[str, Any]:
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels).tobytes()
    size = {"height": height, "width": width, "step": len(data) // height}
    return {**size, "encoding": encoding, "is_bigendian": 0, "data": data}

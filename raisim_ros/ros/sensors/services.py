"""Services about sensors and rays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Vector3

import raisim_ros.srv as srv
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.sensor.file import load_sensor_set, sensor_set_of_text
from raisim_ros.description.sensor.types import (
    DepthCameraModel,
    ImuModel,
    LidarModel,
    NoiseModel,
    RGBCameraModel,
    SensorModel,
    SensorSetModel,
)
from raisim_ros.description.urdf.fields import NO_LIMIT
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import pose_from_message, vector_from_xyz
from raisim_ros.ros.file_address import resolve_file
from raisim_ros.ros.objects.object_table import NameTakenError, ObjectTable
from raisim_ros.ros.objects.spawning import choice
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.sensors.table import SensorTable

Handler = Callable[[Any, Any], str]

_CAMERAS: dict[str, type[DepthCameraModel] | type[RGBCameraModel]] = {"depth": DepthCameraModel, "rgb": RGBCameraModel}


def _origin(request: Any) -> Pose:
    pose = pose_from_message(request.pose, "pose")
    return Pose(pose.position, matrix_from_quaternion(pose.wxyz))


class SensorServices:
    """Handlers for `Services`: they raise what is wrong and return what was done."""

    def __init__(
        self,
        queue: RequestQueue,
        world: World,
        objects: ObjectTable,
        sensors: SensorTable,
        on_change: Callable[[], None],
    ) -> None:
        """`on_change` is called, on the stepping thread, when sensors came or went."""
        self._queue = queue
        self._on_change = on_change
        self._world = world
        self._objects = objects
        self._sensors = sensors
        # Those after whose answer topics must exist, or be gone.
        self.changing: dict[str, tuple[Any, Handler]] = {
            "spawn_lidar": (srv.SpawnLidar, self._spawn_lidar),
            "spawn_depth_camera": (srv.SpawnDepthCamera, self._spawn_camera),
            "spawn_imu": (srv.SpawnImu, self._spawn_imu),
            "spawn_sensor_set": (srv.SpawnSensorSet, self._spawn_set),
            "remove_sensor": (srv.RemoveSensor, self._remove),
        }
        self.plain: dict[str, tuple[Any, Handler]] = {"ray_test": (srv.RayTest, self._ray_test)}

    def _spawn(self, request: Any, response: Any, model: SensorModel) -> str:
        def mount() -> str:
            owner = self._objects.get(request.object)
            taken = {entry.name for entry in self._sensors.entries() if entry.object is owner}
            if not request.name or request.name in taken:
                reason = "is taken already" if request.name else "is empty"
                raise NameTakenError(f"sensor name '{request.name}' of '{request.object}' {reason}")
            sensors = SensorSetModel(request.name, Pose(), (model,))
            made = self._world.add_sensor_set(owner.handle, sensors, request.link, request.name)
            self._on_change()
            return self._sensors.entry_of(made.get_sensors()[0]).name

        response.name = self._queue.call(mount)
        return f"'{request.object}' carries '{response.name}'"

    def _spawn_set(self, request: Any, response: Any) -> str:
        if bool(request.file) == bool(request.text):
            raise InvalidValueError("expected exactly one of file and text")
        if request.text:
            model = sensor_set_of_text(request.text)
        else:
            model = load_sensor_set(resolve_file(request.file, "file"))
        if not model.sensors:
            raise InvalidValueError(f"{'text' if request.text else 'file'} describes no sensor; expected at least one")
        model = replace(model, origin=_origin(request) @ model.origin)

        def mount() -> list[str]:
            owner = self._objects.get(request.object)
            made = self._world.add_sensor_set(owner.handle, model, request.link, request.name)
            self._on_change()
            return [self._sensors.entry_of(sensor).name for sensor in made]

        response.names = self._queue.call(mount)
        return f"'{request.object}' carries {', '.join(response.names)}"

    @staticmethod
    def _settings(request: Any, model: type[SensorModel]) -> dict[str, Any]:
        """What the request says about fields of the model, which have the same names there."""
        told = request.get_fields_and_field_types()
        values = {one.name: getattr(request, one.name) for one in fields(model) if one.name in told}
        return {**values, "origin": _origin(request)}

    @staticmethod
    def _noise(request: Any) -> NoiseModel:
        return NoiseModel(
            request.noise_type, request.noise_mean, request.noise_stddev, request.dropout, request.noise_seed
        )

    def _spawn_lidar(self, request: Any, response: Any) -> str:
        model = LidarModel(**self._settings(request, LidarModel), noise=self._noise(request))
        return self._spawn(request, response, model)

    def _spawn_camera(self, request: Any, response: Any) -> str:
        model = choice("kind", request.kind, _CAMERAS)
        made = model(**self._settings(request, model), noise=self._noise(request))
        return self._spawn(request, response, made)

    def _spawn_imu(self, request: Any, response: Any) -> str:
        values = self._settings(request, ImuModel)
        for name in ("acc", "ang_vel"):
            stddev = getattr(request, f"{name}_stddev")
            kind = "gaussian" if stddev else "none"
            values[f"{name}_noise"] = NoiseModel(kind, 0.0, stddev, 0.0, request.noise_seed)
            if values[f"{name}_limit"] >= NO_LIMIT:
                values[f"{name}_limit"] = np.inf
        return self._spawn(request, response, ImuModel(**values))

    def _remove(self, request: Any, response: Any) -> str:
        def remove() -> str:
            entry = self._sensors.get(request.object, request.name)
            self._world.remove_sensor_set(entry.sensor_set)
            self._on_change()
            return ", ".join(sensor.get_name() for sensor in entry.sensor_set)

        return f"removed {self._queue.call(remove)} from '{request.object}'"

    def _ray_test(self, request: Any, response: Any) -> str:
        start = vector_from_xyz(request.start, "start")
        direction = vector_from_xyz(request.direction, "direction")

        def cast() -> str:
            ignored = request.ignored_object
            index = self._objects.get(ignored).handle.get_index_in_world() if ignored else None
            hits = self._world.ray_test(start, direction, request.length, index, None, request.collision_mask)
            response.hit = bool(hits)
            if not hits:
                return "no hit"
            hit = hits[0]
            response.object = self._objects.by_id(hit.object.get_id()).name
            response.local_index, response.distance = hit.local_id, hit.distance
            response.position = Point(**dict(zip("xyz", map(float, hit.position), strict=True)))
            response.normal = Vector3(**dict(zip("xyz", map(float, hit.normal), strict=True)))
            return f"hit '{response.object}' at {hit.distance:.6g} m"

        return self._queue.call(cast)

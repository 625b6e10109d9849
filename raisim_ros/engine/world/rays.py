"""The part of World that casts rays. Rays see the present poses and hit surfaces from either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.sensor.types import NoiseModel
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.sensors.noise import fill_noise
from raisim_ros.engine.world.core import WorldCore


@dataclass(frozen=True)
class RayCollisionItem:
    """What a ray hit first: the object, the point and the outward unit normal (world frame), the distance [m]."""

    object: Object
    local_id: int
    position: Vector
    normal: Vector
    distance: float

    def get_object(self) -> Object:
        """The object that was hit."""
        return self.object

    def get_position(self) -> Vector:
        """Where it was hit, world frame [m]."""
        return self.position.copy()

    def get_collision_body(self) -> tuple[Object, int]:
        """The object and the local index of the body that was hit."""
        return self.object, self.local_id


@dataclass(frozen=True)
class DepthCameraProperties:
    """A depth camera: +x forward, y left, z up.

    `horizontal_fov` is the full angle [rad]; depths outside `near`..`far` [m] are NaN. Noise is added to the depth:
    "gaussian" with `noise_mean` and `noise_std`, or "uniform" within `noise_mean` ± `noise_std` [m]; the same seed
    gives the same noise.
    """

    width: int = 640
    height: int = 480
    horizontal_fov: float = 1.0
    near: float = 0.05
    far: float = 20.0
    noise_type: str = "none"
    noise_mean: float = 0.0
    noise_std: float = 0.0
    noise_seed: int = 0

    def noise(self) -> NoiseModel:
        """The noise as the sensors have it."""
        return NoiseModel(self.noise_type, self.noise_mean, self.noise_std, 0.0, self.noise_seed)


@dataclass(frozen=True)
class DepthCameraFrame:
    """What a depth camera saw; arrays are [row, column], the first row on top.

    `depth`: along +x [m], NaN without return. `segmentation`: index in the world of the object, -1 without.
    `local_ids`: index of its body, for links of a robot (0 for a single body), -1 without. `points`: world frame [m]
    (without noise), NaN without return, None unless asked for. `timestamp`: [s].
    """

    depth: NDArray[np.float32]
    segmentation: NDArray[np.int32]
    local_ids: NDArray[np.int32]
    points: Vector | None
    timestamp: float


class Rays(WorldCore):
    """Single rays, batches of rays, lidar scans and depth images."""

    def ray_test(
        self,
        start: VectorLike,
        direction: VectorLike,
        length: float,
        object_id: int | None = None,
        local_id: int | None = None,
        collision_mask: int = -1,
    ) -> list[RayCollisionItem]:
        """The nearest hit within `length` [m], as a list of at most one.

        A ray passes through the body `local_id` of the object with world index `object_id`; without `local_id`
        through all of it. It sees objects whose group is in `collision_mask`.
        """
        origin = arguments.vector("start", start, 3)
        toward = arguments.vector("direction", direction, 3)
        with self.locked():
            distances, objects, locals_, normals = self._cast(
                origin, toward[None, :], length, self._rule(object_id, local_id, collision_mask)
            )
            if np.isnan(distances[0]):
                return []
            point = origin + distances[0] * toward / np.linalg.norm(toward)
            handle = self._handles[int(objects[0]) >> 32]
        return [RayCollisionItem(handle, int(locals_[0]), point, normals[0], float(distances[0]))]

    def cast_rays(
        self,
        starts: NDArray[Any] | Sequence[VectorLike] | VectorLike,
        directions: NDArray[Any] | Sequence[VectorLike],
        length: float,
        object_id: int | None = None,
        collision_mask: int = -1,
    ) -> tuple[Vector, NDArray[np.int64], Vector]:
        """Many rays in one call: distances [m] (NaN: no hit), stable object ids (0: none) and outward normals.

        `directions` is N x 3; `starts` is N x 3, or one point for all.
        """
        toward = np.ascontiguousarray(arguments.table("directions", directions, (-1, 3)))
        origins = np.ascontiguousarray(arguments.table("starts", starts, (-1, 3)))
        if len(origins) not in (1, len(toward)):
            raise InvalidValueError(f"starts has {len(origins)} points; expected 1 or {len(toward)}")
        if len(origins) == 1:
            origins = origins[0]
        rule = self._rule(object_id, None, collision_mask)
        distances, objects, _, normals = self._cast(origins, toward, length, rule)
        return distances, (objects >> np.uint64(32)).astype(np.int64), normals

    def _cast(
        self, origins: Vector, directions: Vector, length: float, rule: Any
    ) -> tuple[Vector, NDArray[np.uint64], NDArray[np.int32], Vector]:
        count = len(directions)
        directions = np.ascontiguousarray(directions)
        distances, normals = np.empty(count), np.empty((count, 3))
        objects, locals_ = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32)
        reach = arguments.number("length", length)
        rays = ffi.new("rs_rays *", (count, c_array(origins), origins.ndim == 1, c_array(directions), reach))
        found = c_array(distances), c_array(objects), c_array(locals_), c_array(normals)
        hits = ffi.new("rs_ray_hits *", found)
        check(lib.rs_world_cast_rays(self._world, rays, rule, hits))
        return distances, objects, locals_, normals

    def ray_test_lidar(
        self,
        rot: Sequence[VectorLike] | NDArray[Any],
        pos: VectorLike,
        yaw_start_count: int,
        yaw_end_count: int,
        yaw_increment: float,
        spin_direction: int,
        pitch_samples: int,
        pitch_min_angle: float,
        pitch_increment: float,
        range_min: float,
        range_max: float,
        object_id: int | None = None,
        local_id: int | None = None,
        collision_mask: int = -1,
    ) -> Vector:
        """Scan of a spinning lidar: N x 3 points in the sensor frame [m], misses left out.

        `rot` turns sensor axes (x forward, y left, z up) into world axes. Yaw angles are index * increment *
        spin direction for all indices from start to end, both included; for each yaw all pitches, from below [rad].
        Hits nearer than `range_min` are dropped.
        """
        lidar = ffi.new("rs_lidar *")
        lidar.position = list(arguments.vector("pos", pos, 3))
        lidar.quaternion = list(arguments.orientation(rot))
        lidar.yaw_first = arguments.whole("yaw_start_count", yaw_start_count)
        lidar.yaw_last = arguments.whole("yaw_end_count", yaw_end_count)
        lidar.yaw_increment = arguments.number("yaw_increment", yaw_increment)
        lidar.spin_direction = arguments.whole("spin_direction", spin_direction)
        lidar.pitch_samples = arguments.count("pitch_samples", pitch_samples)
        lidar.pitch_min = arguments.number("pitch_min_angle", pitch_min_angle)
        lidar.pitch_increment = arguments.number("pitch_increment", pitch_increment)
        lidar.range_min = arguments.number("range_min", range_min)
        lidar.range_max = arguments.number("range_max", range_max)
        rays = max(0, yaw_end_count - yaw_start_count + 1) * max(0, pitch_samples)
        rule = self._rule(object_id, local_id, collision_mask)
        check(lib.rs_lidar_valid(lidar))
        points = np.empty((rays, 3))
        found = ffi.new("int64_t *")
        check(lib.rs_world_scan_lidar(self._world, lidar, rule, c_array(points), found))
        return points[: found[0]]

    def capture_depth_camera(
        self,
        pos: VectorLike,
        rot: Sequence[VectorLike] | NDArray[Any],
        properties: DepthCameraProperties,
        object_id: int | None = None,
        local_id: int | None = None,
        collision_mask: int = -1,
        *,
        with_points: bool = False,
    ) -> DepthCameraFrame:
        """A depth image from `pos` [m]; `rot` turns camera axes (x forward, y left, z up) into world axes."""
        arguments.instance("properties", properties, DepthCameraProperties)
        camera = ffi.new("rs_depth_camera *")
        camera.position = list(arguments.vector("pos", pos, 3))
        camera.quaternion = list(arguments.orientation(rot))
        for name in ("width", "height"):
            setattr(camera, name, arguments.count(name, getattr(properties, name)))
        for name in ("horizontal_fov", "near", "far"):
            setattr(camera, name, arguments.number(name, getattr(properties, name)))
        fill_noise(camera.noise, properties.noise())
        rule = self._rule(object_id, local_id, collision_mask)
        check(lib.rs_depth_camera_valid(camera))
        size = (properties.height, properties.width)
        depth = np.empty(size, dtype=np.float32)
        segmentation, local_ids = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        points = np.empty((*size, 3)) if with_points else None
        with self.locked():
            check(
                lib.rs_world_scan_depth(
                    self._world,
                    camera,
                    rule,
                    c_array(depth),
                    c_array(segmentation),
                    c_array(local_ids),
                    c_array(points),
                )
            )
            timestamp = float(lib.rs_world_time(self._world))
        return DepthCameraFrame(depth, segmentation, local_ids, points, timestamp)

    def _rule(self, object_id: int | None, local_id: int | None, collision_mask: int) -> Any:
        """What rays pass through and see, for the engine."""
        rule = ffi.new("rs_ray_rule *")
        rule.mask = arguments.collision_bits("collision_mask", collision_mask)
        rule.ignored_local = -1 if local_id is None else arguments.count("local_id", local_id)
        if object_id is not None:
            ids = self._engine_ids()
            rule.ignored = int(ids[arguments.index("object_id", object_id, len(ids))])
        return rule

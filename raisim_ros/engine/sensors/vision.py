"""Sensors that cast rays: spinning lidar, depth camera, colour camera."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.collision_groups import ALL_GROUPS
from raisim_ros.description.declared import fits, parameter_type
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.description.sensor.table import MAX_RAYS
from raisim_ros.description.sensor.types import MAX_RATE, CameraModel, DepthCameraModel, LidarModel, RGBCameraModel
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.scene_handles import LightObject
from raisim_ros.engine.sensors.colors import engine_looks, world_looks
from raisim_ros.engine.sensors.lidar_sweep import Burst, LidarPose, RollingSweep, Sweep
from raisim_ros.engine.sensors.noise import fill_noise
from raisim_ros.engine.sensors.sensor import Mount, Sensor, SensorType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


def _place(target: Any, sensor: Sensor) -> None:
    """Write the sensor's pose into an engine struct."""
    target.position = list(sensor._position)
    target.quaternion = list(quaternion_from_matrix(sensor._rotation))


_PIXELS: dict[str, type[Any]] = {"float *": np.float32, "int32_t *": np.int32}


def _check_buffer(array: NDArray[Any], shape: tuple[int, ...], kind: type[Any]) -> None:
    """Refuse what the engine cannot write an image to."""
    arguments.instance("image", array, np.ndarray)
    if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous or not array.flags.writeable:
        raise InvalidValueError(
            f"image of shape {array.shape} and {array.dtype}; expected a contiguous one of {shape} and {kind.__name__}"
        )


class _RaySensor(Sensor):
    """A sensor that sees everything but the body that carries it."""

    def _rule(self) -> Any:
        rule = ffi.new("rs_ray_rule *")
        rule.ignored = self.mount.object._engine_id
        rule.ignored_local = self.mount.body_idx
        rule.mask = ALL_GROUPS
        return rule


@dataclass(frozen=True)
class CloudLayout:
    """Where the numbers of a scan go, in bytes; -1 leaves a number out. See ``rs_cloud_layout``."""

    yaw_stride: int
    pitch_stride: int
    x: int = -1
    y: int = -1
    z: int = -1
    range: int = -1
    intensity: int = -1


class SpinningLidar(_RaySensor):
    """A spinning lidar: every update sweeps spin rate / update rate of a revolution, at most one, from one pose.

    A spin rate of 0 means that every update looks in all directions at once. A rolling lidar (set_rolling()) fires
    column by column while the world steps: an update shows what fired since the last one, distorted by the motion.
    """

    type = SensorType.SPINNING_LIDAR
    model: LidarModel
    _READINGS = (*_RaySensor._READINGS, "_scan", "_scan_times")
    _lidar: Any
    _column: float  # where the next sweep begins
    _scan: Vector
    _scan_times: Vector
    _rolling: RollingSweep | None

    def __init__(self, world: Home, model: LidarModel, mount: Mount, set_name: str) -> None:
        self._lidar = ffi.new("rs_lidar *")
        self._column = 0.0
        self._scan, self._scan_times = np.empty((0, 3)), np.empty(0)
        self._rolling = None
        arguments.count("yaw_samples", model.yaw_samples, 1)
        arguments.count("pitch_samples", model.pitch_samples, 1)
        for name in ("pitch_min", "pitch_max"):
            if not abs(angle := arguments.number(name, getattr(model, name))) <= math.pi / 2:
                raise InvalidValueError(f"{name} is {angle:g}; expected an angle from -pi/2 to pi/2 [rad]")
        if model.pitch_min > model.pitch_max:
            raise InvalidValueError(f"pitch_min is {model.pitch_min:g}; expected at most pitch_max {model.pitch_max:g}")
        if not 0.0 <= arguments.number("spin_rate", model.spin_rate) <= MAX_RATE:
            raise InvalidValueError(f"spin_rate is {model.spin_rate:g}; expected 0 to {MAX_RATE:g} [Hz]")
        rays = model.yaw_samples * model.pitch_samples * model.spin_rate * world.get_time_step()
        if rays > MAX_RAYS:  # were it rolling
            told = f"spin_rate is {model.spin_rate:g}: {rays:.3g} rays in a step"
            raise InvalidValueError(f"{told}; expected at most {MAX_RAYS}")
        super().__init__(world, model, mount, set_name)
        self._prepare(0, model.yaw_samples)
        check(lib.rs_lidar_valid(self._lidar))

    @property
    def pitch_increment(self) -> float:
        """Angle from row to row [rad]."""
        model = self.model
        return (model.pitch_max - model.pitch_min) / max(1, model.pitch_samples - 1)

    @property
    def yaw_increment(self) -> float:
        """Angle from column to column [rad], unsigned."""
        return 2.0 * math.pi / self.model.yaw_samples

    def is_rolling(self) -> bool:
        """Whether columns fire one after another."""
        return self._rolling is not None

    def set_rolling(self, rolling: bool) -> None:
        """Let columns fire one after another while the world steps, each from where the sensor then is."""
        if arguments.flag("rolling", rolling) and not self.model.spin_rate > 0.0:
            raise InvalidValueError(f"sensor '{self.get_full_name()}' does not spin; expected a spin rate above 0")
        columns_per_second = self.model.yaw_samples * self.model.spin_rate
        self._rolling = RollingSweep(columns_per_second, self.model.pitch_samples, self._fire) if rolling else None
        self.follow()
        self._touch()

    def steps_until_due(self, time: float, time_step: float) -> int:
        """Steps until the next measurement is due; a rolling lidar measures in every step."""
        steps = super().steps_until_due(time, time_step)
        return steps if self._rolling is None else min(1, steps)

    def follow(self) -> None:
        """Fire the columns whose time has come, if the lidar is rolling."""
        rolling = self._rolling  # another thread may end it meanwhile
        if rolling is not None:
            position, rotation = self.mount.world_pose()
            time = self._world.get_world_time()
            rolling.advance(LidarPose(time, position, quaternion_from_matrix(rotation)))

    def _fire(self, burst: Burst, out: NDArray[np.float32]) -> None:
        """Cast a burst into [column, row, (x, y, z, range, intensity)]."""
        self._frame += 1
        lidar, rows = self._lidar, self.model.pitch_samples
        self._aim(burst.first % self.model.yaw_samples, burst.count)
        lidar.position, lidar.quaternion = list(burst.begin.position), list(burst.begin.quaternion)
        lidar.end_position, lidar.end_quaternion = list(burst.end.position), list(burst.end.quaternion)
        lidar.moves, lidar.first_share, lidar.share_increment = 1, burst.first_share, burst.share_increment
        layout = CloudLayout(20 * rows, 20, x=0, y=4, z=8, range=12, intensity=16)
        self._write(burst.count, layout, out.reshape(-1).view(np.uint8))

    def take_sweep(self) -> Sweep:
        """What a rolling lidar fired since the last time. Call note_update() before."""
        rolling = self._rolling
        if rolling is None:
            raise InvalidValueError(f"sensor '{self.get_full_name()}' is not rolling")
        return rolling.take()

    def restart_sweep(self) -> None:
        """Drop what a rolling lidar fired so far: the next sweep begins with the next step."""
        rolling = self._rolling
        if rolling is not None:
            rolling.restart()

    def _prepare(self, first: int, count: int) -> None:
        """A scan from the pose of the last update."""
        _place(self._lidar, self)
        self._lidar.moves = 0
        self._aim(first, count)

    def _aim(self, first: int, count: int) -> None:
        model, lidar = self.model, self._lidar
        lidar.yaw_first, lidar.yaw_last = first, first + count - 1
        lidar.yaw_increment = self.yaw_increment
        lidar.spin_direction = -1 if model.clockwise else 1
        lidar.pitch_samples = model.pitch_samples
        lidar.pitch_min, lidar.pitch_increment = model.pitch_min, self.pitch_increment
        lidar.range_min, lidar.range_max = model.range_min, model.range_max
        fill_noise(lidar.noise, model.noise, self._frame)

    def _next_sweep(self) -> tuple[int, int]:
        """First column and number of columns of the sweep that is due; the next one begins behind it."""
        samples = self.model.yaw_samples
        first = math.floor(self._column + 1e-9)
        advance = samples * self.model.spin_rate / self._rate if self.model.spin_rate else samples
        behind = self._column + min(advance, samples)
        self._column = behind % samples
        return first, max(1, math.floor(behind + 1e-9) - first)

    def _measure(self) -> None:
        if self._rolling is not None:
            self._keep(self._rolling.take())
            return
        first, count = self._next_sweep()
        self._prepare(first, count)
        points = np.empty((count * self.model.pitch_samples, 3))
        found = ffi.new("int64_t *")
        check(lib.rs_world_scan_lidar(self._world._world, self._lidar, self._rule(), c_array(points), found))
        self._scan = points[: found[0]]
        self._scan_times = np.full(len(self._scan), self._stamp)

    def _keep(self, sweep: Sweep) -> None:
        """The valid returns of a sweep become the scan."""
        valid = np.isfinite(sweep.returns[..., 3])
        self._scan = sweep.returns[valid][:, :3].astype(np.float64)
        self._scan_times = np.repeat(sweep.times, self.model.pitch_samples)[valid.reshape(-1)]

    def write_cloud(self, first: int, count: int, layout: CloudLayout, out: NDArray[np.uint8]) -> int:
        """Cast `count` columns from column `first` on and write them to `out` as the layout says.

        Returns the number of valid returns. Call note_update() before.
        """
        arguments.count("first", first)
        arguments.count("count", count, 1)
        arguments.instance("layout", layout, CloudLayout)
        arguments.instance("out", out, np.ndarray)
        self._prepare(first, count)
        return self._write(count, layout, out)

    def _write(self, count: int, layout: CloudLayout, out: NDArray[np.uint8]) -> int:
        """Cast the prepared scan of `count` columns."""
        where = ffi.new("rs_cloud_layout *")
        for name in ("yaw_stride", "pitch_stride", "x", "y", "z", "range", "intensity"):
            setattr(where, name, getattr(layout, name))
        last = (count - 1) * layout.yaw_stride + (self.model.pitch_samples - 1) * layout.pitch_stride
        numbers = max(layout.x, layout.y, layout.z, layout.range, layout.intensity) + 4
        if last + numbers > out.nbytes:
            raise InvalidValueError(f"the scan needs {last + numbers} bytes; the buffer has {out.nbytes}")
        returns = ffi.new("int64_t *")
        check(
            lib.rs_world_scan_cloud(
                self._world._world, self._lidar, self._rule(), where, ffi.cast("void *", out.ctypes.data), returns
            )
        )
        return int(returns[0])

    def get_scan(self) -> Vector:
        """Points of the last update in the sensor frame, N x 3 [m]; rays without return are left out."""
        return self._scan.copy()

    def get_scan_times(self) -> Vector:
        """Simulation time of each point of the last update [s]."""
        return self._scan_times.copy()

    def set_scan(self, points: NDArray[Any]) -> None:
        """Set the points: for measurements that come from elsewhere."""
        self._show_scan(arguments.table("points", points, (-1, 3)))
        self._touch()

    def _show_scan(self, points: Vector) -> None:
        self._scan, self._scan_times = points, np.full(len(points), self._stamp)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self._rolling is not None:
            self._rolling.casting(self._fire)

    def _phase(self) -> dict[str, Any]:
        rolling = None if self._rolling is None else self._rolling.phase()
        return {**super()._phase(), "_column": self._column, "rolling": rolling}

    def _check_phase(self, phase: dict[str, Any]) -> None:
        rolling = phase.get("rolling")
        if rolling is not None and not fits(rolling, parameter_type(RollingSweep.set_phase)):
            raise InvalidValueError(f"the sweep of sensor '{self.get_full_name()}' is none")
        super()._check_phase(phase)

    def _set_phase(self, phase: dict[str, Any]) -> None:
        others = {name: value for name, value in phase.items() if name != "rolling"}
        super()._set_phase(others)
        if (phase["rolling"] is None) != (self._rolling is None):
            self.set_rolling(phase["rolling"] is not None)
        if self._rolling is not None:
            self._rolling.set_phase(phase["rolling"])


class _Camera(_RaySensor):
    """A pinhole camera: square pixels, rows from the top, optical axis through the middle of the image."""

    model: CameraModel
    _camera: Any

    def __init__(self, world: Home, model: CameraModel, mount: Mount, set_name: str) -> None:
        self._camera = ffi.new("rs_depth_camera *")
        arguments.count("width", model.width, 1)
        arguments.count("height", model.height, 1)
        super().__init__(world, model, mount, set_name)
        self._prepare()
        check(lib.rs_depth_camera_valid(self._camera))

    @property
    def focal_length(self) -> float:
        """In pixels, the same for both axes."""
        return 0.5 * self.model.width / math.tan(0.5 * self.model.horizontal_fov)

    def _prepare(self) -> None:
        model, camera = self.model, self._camera
        _place(camera, self)
        camera.width, camera.height = model.width, model.height
        camera.horizontal_fov = model.horizontal_fov
        camera.near, camera.far = model.near, model.far
        fill_noise(camera.noise, model.noise, self._frame)

    def get_properties(self) -> CameraModel:
        """Image size, angle of view, clipping and noise."""
        return self.model

    def update_ray_directions(self) -> None:
        """Do nothing that needs doing: directions follow from the properties, which do not change."""

    def get_precomputed_ray_dir(self) -> Vector:
        """Directions of the pixels in the sensor frame, height x width x 3, with x = 1: times depth is the point."""
        model = self.model
        column, row = np.meshgrid(np.arange(model.width) + 0.5, np.arange(model.height) + 0.5)
        y, z = 0.5 * model.width - column, 0.5 * model.height - row
        return np.stack((np.ones_like(y), y / self.focal_length, z / self.focal_length), axis=-1)


class DepthCamera(_Camera):
    """Distances along the optical axis; NaN where nothing is between near and far."""

    type = SensorType.DEPTH
    model: DepthCameraModel
    _READINGS = (*_Camera._READINGS, "_depth", "_points")
    _depth: NDArray[np.float32]
    _points: Vector | None

    def __init__(self, world: Home, model: DepthCameraModel, mount: Mount, set_name: str) -> None:
        super().__init__(world, model, mount, set_name)
        self._depth = np.full((model.height, model.width), np.nan, dtype=np.float32)
        self._points = None

    def _measure(self) -> None:
        self.write_depth(self._depth)
        self._points = None

    def write_depth(
        self,
        depth: NDArray[np.float32] | None,
        segmentation: NDArray[np.int32] | None = None,
        local_ids: NDArray[np.int32] | None = None,
        *,
        tell_range: bool = False,
    ) -> None:
        """Take an image into contiguous arrays, height x width; call note_update() before.

        `segmentation` gets the places of the objects in the world's list, `local_ids` the indices of their bodies, -1
        where nothing is. `tell_range`: depth is -inf for what is too near and +inf where nothing is (REP 117), instead
        of NaN for both.
        """
        self._prepare()
        self._camera.tell_range = arguments.flag("tell_range", tell_range)
        check(
            lib.rs_world_scan_depth(
                self._world._world,
                self._camera,
                self._rule(),
                self._pixels("float *", depth),
                self._pixels("int32_t *", segmentation),
                self._pixels("int32_t *", local_ids),
                ffi.NULL,
            )
        )

    def _pixels(self, kind: str, array: NDArray[Any] | None) -> Any:
        if array is None:
            return ffi.NULL
        _check_buffer(array, (self.model.height, self.model.width), _PIXELS[kind])
        return ffi.cast(kind, array.ctypes.data)

    def get_depth_array(self) -> NDArray[np.float32]:
        """Depth along the optical axis [m], height x width, first row on top."""
        return self._depth.copy()

    def set_depth_array(self, depth: NDArray[Any]) -> None:
        """Set the image: for measurements that come from elsewhere."""
        self._show_depth(arguments.table("depth", depth, self._depth.shape, np.float32))
        self._touch()

    def _show_depth(self, depth: NDArray[np.float32]) -> None:
        self._depth[:] = depth
        self._points = None

    def depth_to_point_cloud(self, depth: NDArray[Any] | None = None, *, in_sensor_frame: bool = False) -> Vector:
        """Points of a depth image (the last one), height x width x 3 [m]: in the world, or in the sensor frame."""
        in_sensor = arguments.flag("in_sensor_frame", in_sensor_frame)
        image = self._depth if depth is None else arguments.table("depth", depth, self._depth.shape)
        points: Vector = self.get_precomputed_ray_dir() * image[..., None].astype(np.float64)
        return points if in_sensor else points @ self._rotation.T + self._position

    def get_3d_points(self) -> Vector:
        """World points of the last image, height x width x 3 [m]; NaN where nothing is."""
        if self._points is None:
            self._points = self.depth_to_point_cloud()
        return self._points.copy()

    def set_3d_points(self, points: NDArray[Any]) -> None:
        """Set the points: for measurements that come from elsewhere."""
        self._points = arguments.table("points", points, (*self._depth.shape, 3))
        self._touch()


@dataclass(frozen=True)
class Light:
    """Light from far away: where it shines to (world frame), and how much of it comes from everywhere (0..1)."""

    direction: VectorLike = (0.5, 0.3, -1.0)
    ambient: float = 0.4
    background: VectorLike = (0.75, 0.85, 0.95)
    shadows: bool = False
    shadow_reach: float = 100.0

    def __post_init__(self) -> None:
        direction = arguments.numbers("direction", self.direction, 3)
        if not any(direction):
            raise InvalidValueError(f"direction is {self.direction!r}; expected another one than zero")
        arguments.numbers("background", self.background, 3)
        arguments.number("ambient", self.ambient)
        arguments.number("shadow_reach", self.shadow_reach)
        arguments.flag("shadows", self.shadows)


class RGBCamera(_Camera):
    """A colour image of the shapes that collide, in the light of one lamp: `light`, or the world's first light object.

    Links of robots have the colour of what their description draws there, meshes the mean colour of their file.
    Textures are not drawn.
    """

    type = SensorType.RGB
    model: RGBCameraModel
    _READINGS = (*_Camera._READINGS, "_image")
    _light: Light | None
    _image: NDArray[np.uint8]

    def __init__(self, world: Home, model: RGBCameraModel, mount: Mount, set_name: str) -> None:
        super().__init__(world, model, mount, set_name)
        self._light = None
        self._image = np.zeros((model.height, model.width, 3), dtype=np.uint8)

    def _measure(self) -> None:
        self.write_image(self._image)

    def write_image(self, rgb: NDArray[np.uint8]) -> None:
        """Take an image into a contiguous array, height x width x 3; call note_update() before."""
        _check_buffer(rgb, (self.model.height, self.model.width, 3), np.uint8)
        self._prepare()
        with self._world.locked():
            light = self._lamp()
            colors = world_looks(self._world)
            looks, _ = engine_looks(colors)
            out = c_array(rgb)
            check(lib.rs_world_scan_color(self._world._world, self._camera, self._rule(), light, looks, out))

    @property
    def light(self) -> Light | None:
        """What it sees by; None: the world's first light object, or else daylight."""
        return self._light

    @light.setter
    def light(self, light: Light | None) -> None:
        self._light = None if light is None else arguments.instance("light", light, Light)

    def _lamp(self) -> Any:
        given = Light() if self._light is None else self._light
        lamp = ffi.new("rs_light *")
        direction = arguments.vector("light direction", given.direction, 3)
        lamp.direction = list(direction / np.linalg.norm(direction))
        lamp.background = list(arguments.vector("background", given.background, 3))
        lamp.ambient, lamp.shadows, lamp.shadow_reach = given.ambient, given.shadows, given.shadow_reach
        lamp.color = [1.0, 1.0, 1.0]
        lights = (one for one in self._world.get_obj_list() if isinstance(one, LightObject))
        source = next(lights, None) if self._light is None else None
        if source is not None:
            settings = source.get_settings()
            lamp.direction, lamp.position = list(source.get_direction()), list(source.get_position())
            lamp.near = settings.kind != "directional"
            lamp.cos_cutoff = math.cos(settings.cutoff) if settings.kind == "spot" else -1.0
            lamp.color, lamp.shadows = list(settings.color), settings.shadows
        return lamp

    def get_image_buffer(self) -> NDArray[np.uint8]:
        """The last image, height x width x 3 (red, green, blue), first row on top."""
        return self._image.copy()

    def set_image_buffer(self, image: NDArray[Any]) -> None:
        """Set the image: for measurements that come from elsewhere."""
        self._image[:] = arguments.table("image", image, self._image.shape, np.uint8)
        self._touch()

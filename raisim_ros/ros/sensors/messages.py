"""Messages of sensors: frozen ones, whose bytes the engine or NumPy writes in place.

A channel belongs to one sensor. It names its topics, and publishes to those that somebody listens to; a
measurement is taken once for all of them.
"""

from __future__ import annotations

import array
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, Imu, LaserScan, PointCloud2, PointField
from std_msgs.msg import Header

from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.description.sensor.types import NoiseModel
from raisim_ros.engine.sensors.lidar_sweep import Sweep
from raisim_ros.engine.sensors.motion import IMU, ContactSensor, ForceTorque
from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.engine.sensors.vision import CloudLayout, DepthCamera, RGBCamera, SpinningLidar
from raisim_ros.ros.conversions import Stamp
from raisim_ros.ros.conversions import stamp as time_stamp
from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.sensors.table import SensorRow

_FLOAT = 4
_KEPT_LENGTHS = 4
_Message = TypeVar("_Message")


@dataclass(frozen=True)
class SensorOptions:
    """How sensors are published: the node's parameters."""

    lidar_ring_and_time: bool = False
    lidar_sweep: bool = False
    depth_encoding: str = "32FC1"


def zeros(count: int) -> array.array[int]:
    """Bytes for a message's data field; other sequences are copied element by element."""
    return array.array("B", bytes(count))


def fields(names: str, types: Mapping[str, tuple[int, int]] | None = None) -> tuple[list[PointField], int]:
    """Point fields side by side, FLOAT32 unless `types` gives type and size; and the bytes of a point."""
    result, offset = [], 0
    for name in names.split():
        kind, size = (types or {}).get(name, (PointField.FLOAT32, _FLOAT))
        result.append(PointField(name=name, offset=offset, datatype=kind, count=1))
        offset += size
    return result, offset


class _Stamped:
    """A frozen message with a header."""

    def __init__(self, message: Any) -> None:
        self._frozen = FrozenMessage(message)
        self._stamp = self._frozen.numbers("header.stamp.sec", "header.stamp.nanosec").view(np.uint32)

    def numbers(self, first: str, last: str | None = None) -> NDArray[Any]:
        return self._frozen.numbers(first, last)

    def send(self, publisher: Any, stamp: Stamp) -> None:
        self._stamp[:] = stamp
        publisher.publish(self._frozen.to_bytes())


class Channel(ABC):
    """The topics of one sensor."""

    topics: Mapping[str, Any]  # name below that of the sensor: message type

    @property
    @abstractmethod
    def sensor(self) -> Sensor:
        """The sensor it belongs to."""

    @abstractmethod
    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Measures and publishes to the given topics, those with subscribers.

        `keep`: the sensor itself shows the measurement, for a recording. Without it there is at least one topic.
        """


# ---- lidar ----


class _Recent(dict[int, _Message]):
    """Messages by the number of columns, the latest few of them: sweeps come in two lengths, now and then in others."""

    def get_or_make(self, columns: int, make: Callable[[int], _Message]) -> _Message:
        if columns not in self:
            if len(self) >= _KEPT_LENGTHS:
                del self[next(iter(self))]
            self[columns] = make(columns)
        return self[columns]


class LidarChannel(Channel):
    """`points`: organised, a row for each pitch angle from below; `scan` for a lidar with one row.

    A message shows a whole revolution at one moment or, of a rolling lidar, what fired since the last message; its
    stamp is then that of the first column.
    """

    def __init__(self, entry: SensorRow, sensor: SpinningLidar, options: SensorOptions) -> None:
        self._lidar = sensor
        self._frame = entry.frame
        self._options = options
        single = sensor.model.pitch_samples == 1
        self.topics = {"points": PointCloud2, "scan": LaserScan} if single else {"points": PointCloud2}
        sensor.set_rolling(options.lidar_sweep and sensor.model.spin_rate > 0.0)
        self._clouds: _Recent[_Cloud] = _Recent()
        self._scans: _Recent[_Scan] = _Recent()

    @property
    def sensor(self) -> Sensor:
        """The lidar."""
        return self._lidar

    @property
    def is_rolling(self) -> bool:
        """Whether it must follow every step while somebody listens."""
        return self._lidar.is_rolling()

    def follow(self, listened: bool) -> None:
        """Fires the columns whose time has come."""
        if listened:
            self._lidar.follow()
        else:
            self._lidar.restart_sweep()

    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Casts a revolution, or takes what fired."""
        self._lidar.note_update()
        if not self._lidar.is_rolling():
            columns = self._lidar.model.yaw_samples
            for topic in [*publishers, "points"] if keep and "points" not in publishers else publishers:
                message = self._message(topic, columns)
                message.note_cast(self._lidar.write_cloud(0, columns, message.layout, message.out))
                if topic in publishers:
                    message.send(publishers[topic], stamp)
                if keep and isinstance(message, _Cloud):
                    self._lidar._show_scan(message.valid_points())
            return
        sweep = self._lidar.take_sweep()
        if keep:
            self._lidar._keep(sweep)
        for topic, publisher in publishers.items() if len(sweep.returns) else ():
            message = self._message(topic, len(sweep.returns))
            message.fill(sweep)
            message.send(publisher, time_stamp(sweep.begin))

    def _message(self, topic: str, columns: int) -> _Cloud | _Scan:
        if topic == "scan":
            return self._scans.get_or_make(columns, lambda count: _Scan(self._lidar, self._frame, count))
        ring_and_time = self._options.lidar_ring_and_time
        return self._clouds.get_or_make(columns, lambda count: _Cloud(self._lidar, self._frame, count, ring_and_time))


def _column_period(lidar: SpinningLidar) -> float:
    """Time from column to column [s]: none, unless they fire one after another."""
    return 1.0 / (lidar.model.yaw_samples * lidar.model.spin_rate) if lidar.is_rolling() else 0.0


class _Cloud(_Stamped):
    """A revolution or a sweep as a point cloud."""

    def __init__(self, lidar: SpinningLidar, frame: str, columns: int, ring_and_time: bool) -> None:
        rows = lidar.model.pitch_samples
        names = "x y z intensity ring time" if ring_and_time else "x y z intensity"
        point_fields, step = fields(names, {"ring": (PointField.UINT16, 2)})
        if ring_and_time:  # the time behind the two bytes of the ring must be aligned
            point_fields[-1].offset, step = 20, 24
        super().__init__(
            PointCloud2(
                header=Header(frame_id=frame),
                height=rows,
                width=columns,
                fields=point_fields,
                is_bigendian=False,
                point_step=step,
                row_step=step * columns,
                data=zeros(step * rows * columns),
                is_dense=False,
            )
        )
        self._points = rows * columns
        self.out, self._dense = self.numbers("data"), self.numbers("is_dense")
        self.layout = CloudLayout(step, step * columns, x=0, y=4, z=8, intensity=12)
        self._floats = self.out.view(np.float32).reshape(rows, columns, step // _FLOAT)
        if ring_and_time:
            points = self.out.reshape(rows, columns, step)
            points[:, :, 16:18] = np.arange(rows, dtype=np.uint16)[:, None, None].view(np.uint8)
            self._floats[:, :, 5] = np.arange(columns) * _column_period(lidar)

    def note_cast(self, returns: int) -> None:
        """The engine has written a revolution to `out`, with so many valid returns."""
        self._dense[0] = returns == self._points

    def valid_points(self) -> NDArray[np.float64]:
        """Those that came back, N x 3 [m]."""
        points = self._floats[:, :, :3]
        return points[np.isfinite(points[:, :, 0])].astype(np.float64)

    def fill(self, sweep: Sweep) -> None:
        """What fired."""
        returns = sweep.returns.transpose(1, 0, 2)
        self._floats[:, :, :3] = returns[:, :, :3]
        self._floats[:, :, 3] = returns[:, :, 4]
        self._dense[0] = bool(np.isfinite(returns[:, :, 0]).all())


class _Scan(_Stamped):
    """A revolution or a sweep of a lidar with one row; REP 117."""

    def __init__(self, lidar: SpinningLidar, frame: str, columns: int) -> None:
        model = lidar.model
        increment = -lidar.yaw_increment if model.clockwise else lidar.yaw_increment
        super().__init__(
            LaserScan(
                header=Header(frame_id=frame),
                angle_increment=increment,
                time_increment=_column_period(lidar),
                scan_time=1.0 / lidar.get_update_rate(),
                range_min=model.range_min,
                range_max=model.range_max,
                ranges=[0.0] * columns,
                intensities=[0.0] * columns,
            )
        )
        self._lidar, self._columns, self._increment = lidar, columns, increment
        self._angles = self.numbers("angle_min", "angle_max")
        self._ranges, self._intensities = self.numbers("ranges"), self.numbers("intensities")
        # Ranges and intensities lie apart: the count of the second sequence is between them.
        distance = self._intensities.ctypes.data - self._ranges.ctypes.data
        self.out = _from(self._ranges.view(np.uint8), distance + _FLOAT * columns)
        self.layout = CloudLayout(_FLOAT, 0, range=0, intensity=distance)

    def note_cast(self, returns: int) -> None:
        """The engine has written a revolution to `out`."""
        self._begin_at(0)

    def fill(self, sweep: Sweep) -> None:
        """What fired."""
        self._begin_at(sweep.first % self._lidar.model.yaw_samples)
        self._ranges[:] = sweep.returns[:, 0, 3]
        self._intensities[:] = sweep.returns[:, 0, 4]

    def _begin_at(self, first: int) -> None:
        self._angles[:] = (first * self._increment, (first + self._columns - 1) * self._increment)


def _from(view: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """`size` bytes of the buffer that `view` looks into, from the view's first byte on."""
    return np.lib.stride_tricks.as_strided(view, (size,), (1,))


# ---- cameras ----


def camera_info(frame: str, camera: DepthCamera | RGBCamera) -> CameraInfo:
    """A pinhole without distortion; pixel centres have whole coordinates."""
    model, focal = camera.model, camera.focal_length
    x, y = 0.5 * (model.width - 1), 0.5 * (model.height - 1)
    return CameraInfo(
        header=Header(frame_id=frame),
        height=model.height,
        width=model.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def _image(frame: str, camera: DepthCamera | RGBCamera, encoding: str, pixel_bytes: int) -> _Stamped:
    model = camera.model
    return _Stamped(
        Image(
            header=Header(frame_id=frame),
            height=model.height,
            width=model.width,
            encoding=encoding,
            is_bigendian=0,
            step=pixel_bytes * model.width,
            data=zeros(pixel_bytes * model.width * model.height),
        )
    )


_SEGMENTATIONS = ("segmentation", "segmentation/links")


class DepthChannel(Channel):
    """Depth along the optical axis: image, camera_info, organised cloud; which object, and which link, pixels show.

    REP 118: metres as 32FC1 (-inf: too near, +inf: nothing, NaN: lost), or millimetres as 16UC1 (0: invalid).
    """

    def __init__(self, entry: SensorRow, sensor: DepthCamera, options: SensorOptions) -> None:
        self.topics = {
            "depth/image": Image,
            "depth/camera_info": CameraInfo,
            "depth/points": PointCloud2,
            "segmentation": Image,
            "segmentation/links": Image,
        }
        self._camera = sensor
        self._frame = entry.optical_frame
        self._encoding = options.depth_encoding
        self._messages: dict[str, _Stamped] = {}
        self._depth = self._depth_buffer()
        rays = sensor.get_precomputed_ray_dir()
        # optical axes: x right, y down, z forward
        self._right, self._down = (-rays[..., 1]).astype(np.float32), (-rays[..., 2]).astype(np.float32)

    def _depth_buffer(self) -> NDArray[np.float32]:
        """Where the engine writes depths: straight into the image, unless that has millimetres."""
        size = (self._camera.model.height, self._camera.model.width)
        if self._encoding != "32FC1":
            return np.empty(size, np.float32)
        return self._message("depth/image").numbers("data").view(np.float32).reshape(size)

    @property
    def sensor(self) -> Sensor:
        """The camera."""
        return self._camera

    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Takes one image for all topics."""
        camera = self._camera
        camera.note_update()
        objects, links = (self._indices(topic) if topic in publishers else None for topic in _SEGMENTATIONS)
        if keep or publishers.keys() - {"depth/camera_info"}:
            camera.write_depth(self._depth, objects, links, tell_range=True)
        if keep:
            camera._show_depth(np.where(np.isfinite(self._depth), self._depth, np.float32(np.nan)))
        for topic, publisher in publishers.items():
            message = self._message(topic)
            if topic == "depth/image" and self._encoding != "32FC1":
                self._fill_millimetres(message)
            elif topic == "depth/points":
                self._fill_points(message)
            message.send(publisher, stamp)

    def _indices(self, topic: str) -> NDArray[np.int32]:
        """The pixels of a segmentation."""
        return self._message(topic).numbers("data").view(np.int32).reshape(self._depth.shape)

    def _message(self, topic: str) -> _Stamped:
        if topic not in self._messages:
            self._messages[topic] = self._make(topic)
        return self._messages[topic]

    def _make(self, topic: str) -> _Stamped:
        camera = self._camera
        if topic == "depth/camera_info":
            return _Stamped(camera_info(self._frame, camera))
        if topic == "depth/image":
            return _image(self._frame, camera, self._encoding, 4 if self._encoding == "32FC1" else 2)
        if topic in _SEGMENTATIONS:
            return _image(self._frame, camera, "32SC1", 4)
        height, width = camera.model.height, camera.model.width
        point_fields, step = fields("x y z")
        return _Stamped(
            PointCloud2(
                header=Header(frame_id=self._frame),
                height=height,
                width=width,
                fields=point_fields,
                point_step=step,
                row_step=step * width,
                data=zeros(step * width * height),
            )
        )

    def _fill_millimetres(self, message: _Stamped) -> None:
        millimetres = np.rint(1000.0 * self._depth.ravel())
        valid = (millimetres > 0) & (millimetres <= 65535)
        message.numbers("data").view(np.uint16)[:] = np.where(valid, millimetres, 0.0)

    def _fill_points(self, message: _Stamped) -> None:
        points = message.numbers("data").view(np.float32).reshape(*self._depth.shape, 3)
        finite = np.isfinite(self._depth)
        depth = np.where(finite, self._depth, np.float32(np.nan))
        np.multiply(depth, self._right, out=points[..., 0])
        np.multiply(depth, self._down, out=points[..., 1])
        points[..., 2] = depth
        message.numbers("is_dense")[0] = bool(finite.all())


class ColorChannel(Channel):
    """Shaded colours as rgb8, with camera_info."""

    def __init__(self, entry: SensorRow, sensor: RGBCamera, options: SensorOptions) -> None:
        self.topics = {"color/image": Image, "color/camera_info": CameraInfo}
        self._camera = sensor
        self._info = _Stamped(camera_info(entry.optical_frame, sensor))
        self._image = _image(entry.optical_frame, sensor, "rgb8", 3)
        model = sensor.model
        self._pixels = self._image.numbers("data").reshape(model.height, model.width, 3)

    @property
    def sensor(self) -> Sensor:
        """The camera."""
        return self._camera

    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Takes an image, unless only camera_info is asked for."""
        self._camera.note_update()
        if keep or "color/image" in publishers:
            self._camera.write_image(self._pixels)
        if keep:
            self._camera._image[:] = self._pixels
        if "color/image" in publishers:
            self._image.send(publishers["color/image"], stamp)
        if "color/camera_info" in publishers:
            self._info.send(publishers["color/camera_info"], stamp)


# ---- what is felt ----


class ImuChannel(Channel):
    """REP 145: specific force and angular velocity in the sensor frame; orientation: that of the world, exact."""

    def __init__(self, entry: SensorRow, sensor: IMU, options: SensorOptions) -> None:
        self.topics = {"imu": Imu}
        self._imu = sensor
        message = Imu(header=Header(frame_id=entry.frame))
        message.angular_velocity_covariance = _covariance(sensor.model.ang_vel_noise)
        message.linear_acceleration_covariance = _covariance(sensor.model.acc_noise)
        self._message = _Stamped(message)
        self._orientation = self._message.numbers("orientation.x", "orientation.w")
        self._rate = self._message.numbers("angular_velocity.x", "angular_velocity.z")
        self._force = self._message.numbers("linear_acceleration.x", "linear_acceleration.z")

    @property
    def sensor(self) -> Sensor:
        """The unit."""
        return self._imu

    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Measures."""
        self._imu._update()
        if not publishers:
            return
        w, x, y, z = quaternion_from_matrix(self._imu.get_orientation())
        self._orientation[:] = (x, y, z, w)
        self._rate[:] = self._imu.get_angular_velocity()
        self._force[:] = self._imu.get_linear_acceleration()
        self._message.send(publishers["imu"], stamp)


def _covariance(noise: NoiseModel) -> list[float]:
    variance = noise.stddev**2 if noise.type == "gaussian" else noise.stddev**2 / 3 if noise.type == "uniform" else 0.0
    return [variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance]


class WrenchChannel(Channel):
    """Force and torque of contacts, or through a joint, in the sensor frame."""

    def __init__(self, entry: SensorRow, sensor: ContactSensor | ForceTorque, options: SensorOptions) -> None:
        self.topics = {"wrench": WrenchStamped}
        self._sensor = sensor
        self._message = _Stamped(WrenchStamped(header=Header(frame_id=entry.frame)))
        self._numbers = self._message.numbers("wrench.force.x", "wrench.torque.z")

    @property
    def sensor(self) -> Sensor:
        """The sensor."""
        return self._sensor

    def publish(self, publishers: Mapping[str, Any], stamp: Stamp, keep: bool = False) -> None:
        """Measures."""
        self._sensor._update()
        if not publishers:
            return
        self._numbers[:3], self._numbers[3:] = self._sensor.get_force(), self._sensor.get_torque()
        self._message.send(publishers["wrench"], stamp)


_CHANNELS: dict[type[Sensor], Any] = {
    SpinningLidar: LidarChannel,
    DepthCamera: DepthChannel,
    RGBCamera: ColorChannel,
    IMU: ImuChannel,
    ContactSensor: WrenchChannel,
    ForceTorque: WrenchChannel,
}


def make_channel(entry: SensorRow, options: SensorOptions) -> Channel:
    """The topics of a sensor."""
    channel: Channel = _CHANNELS[type(entry.sensor)](entry, entry.sensor, options)
    return channel

"""A recorded run: its frames, and a feed that plays it."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.recording_file import FRAMES, WORLD, Arrays, read_chunks, unpack_arrays, unpack_files
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.describe import numbers, table
from raisim_ros.viewer.scene import Joint, Moment, NewObject, SceneModel, Vector, Wanted
from raisim_ros.viewer.world_scene import unique_names, world_model


@dataclass(frozen=True, eq=False)
class _Epoch:
    """Frames between two changes of the list of objects."""

    files: dict[str, bytes]
    arrays: Arrays
    first_contact: Vector


class Recording:
    """A file that World.start_recording() wrote. Frames are numbered from 0; what a crash cut off is left out."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._epochs: list[_Epoch] = []
        self._worlds: dict[int, World] = {}
        files: dict[str, bytes] = {}
        parts: list[Arrays] = []
        for kind, payload in read_chunks(path):
            if kind == WORLD:
                self._close_epoch(files, parts)
                files, parts = unpack_files(payload), []
            elif kind == FRAMES:
                parts.append(unpack_arrays(payload))
        self._close_epoch(files, parts)
        if not self._epochs:
            raise ParseError(self.path, None, "the recording has no frames")
        self.times: Vector = np.concatenate([epoch.arrays["time"] for epoch in self._epochs])
        self._starts = np.cumsum([0, *(len(epoch.arrays["time"]) for epoch in self._epochs)])

    def _close_epoch(self, files: dict[str, bytes], parts: list[Arrays]) -> None:
        if parts:
            arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            first = np.concatenate(([0.0], np.cumsum(arrays["contact_counts"])))
            self._epochs.append(_Epoch(files, arrays, first))

    def __len__(self) -> int:
        return len(self.times)

    def frame_at(self, time_: float) -> int:
        """The last frame that is not later than a time [s]."""
        return int(np.clip(np.searchsorted(self.times, time_ + 1e-9, "right") - 1, 0, len(self) - 1))

    def _find(self, frame: int) -> tuple[int, int]:
        if not 0 <= frame < len(self):
            raise InvalidValueError(f"frame is {frame}; the recording has {len(self)}")
        epoch = int(np.searchsorted(self._starts, frame, "right")) - 1
        return epoch, frame - int(self._starts[epoch])

    def epoch_of(self, frame: int) -> int:
        """Changes with the list of objects."""
        return self._find(frame)[0]

    def array(self, name: str, frame: int) -> Vector:
        """One of ``poses``, ``twists``, ``wrenches``, ``coordinates``, ``velocities``, ``efforts`` of a frame."""
        epoch, row = self._find(frame)
        arrays = self._epochs[epoch].arrays
        if name not in arrays:
            raise InvalidValueError(f"a recording has no '{name}'; it has {', '.join(sorted(arrays))}")
        row_of: Vector = arrays[name][row]
        return row_of

    def world(self, frame: int = 0) -> World:
        """The world that was recorded, with the poses and velocities of a frame; every call gives the same one."""
        epoch, _ = self._find(frame)
        if epoch not in self._worlds:
            with tempfile.TemporaryDirectory(prefix="raisim_ros_") as folder:
                for name, data in self._epochs[epoch].files.items():
                    (Path(folder) / name).write_bytes(data)
                self._worlds[epoch] = World(Path(folder) / "world.xml")
        world = self._worlds[epoch]
        self._place(world, frame)
        return world

    def _place(self, world: World, frame: int) -> None:
        poses, twists = self.array("poses", frame), self.array("twists", frame)
        q, u = self.array("coordinates", frame), self.array("velocities", frame)
        robots = world.read_articulations()
        for row, handle in enumerate(world.get_obj_list()):
            if isinstance(handle, ArticulatedSystem):
                at, speed_at = robots.coordinate_first[handle.get_id()], robots.velocity_first[handle.get_id()]
                handle.set_state(
                    q[at : at + handle.get_generalized_coordinate_dim()], u[speed_at : speed_at + handle.get_dof()]
                )
            elif isinstance(handle, SingleBodyObject):
                x, y, z, w = poses[row, 3:]
                handle.set_pose(poses[row, :3], (w, x, y, z))
                if handle.get_body_type().name != "STATIC":
                    arm = handle.get_com_position() - handle.get_position()
                    linear, angular = twists[row, :3], twists[row, 3:]
                    handle.set_velocity(linear + np.cross(angular, arm), angular)
        world.set_world_time(float(self.times[frame]))

    def moment(self, frame: int) -> Moment:
        """A frame for a viewer."""
        epoch, row = self._find(frame)
        data = self._epochs[epoch]
        first, last = (int(data.first_contact[row + k]) for k in (0, 1))
        contacts = data.arrays["contacts"][first:last]
        return Moment(
            float(self.times[frame]),
            data.arrays["poses"][row].copy(),
            contacts=contacts[:, :3].copy(),
            forces=contacts[:, 3:].copy(),
            wires=data.arrays["wires"][row].copy(),
            tensions=data.arrays["tensions"][row].copy(),
        )


class RecordingFeed:
    """See Feed: time goes over the frames and starts again at the end; nothing else can be changed."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._models: dict[int, SceneModel] = {}
        self._names: dict[int, list[str]] = {}
        self._playing, self._speed = False, 1.0
        self._time = float(recording.times[0])
        self._wall = time.monotonic()

    def seek(self, time_: float) -> None:
        """Go to a time [s]."""
        self._time, self._wall = float(np.clip(time_, *self.timeline())), time.monotonic()

    def timeline(self) -> tuple[float, float]:
        """The first and the last time [s]."""
        return float(self.recording.times[0]), float(self.recording.times[-1])

    def _frame(self) -> int:
        now, (first, last) = time.monotonic(), self.timeline()
        if self._playing:
            speed = self._speed or 10.0
            ahead = self._time - first + speed * (now - self._wall)
            self._time = first + (math.fmod(ahead, last - first) if last > first else 0.0)
        self._wall = now
        return self.recording.frame_at(self._time)

    def model_number(self) -> Hashable:
        """Changes with the list of objects."""
        return self.recording.epoch_of(self.recording.frame_at(self._time))

    def model(self) -> SceneModel:
        """See Feed."""
        frame = self.recording.frame_at(self._time)
        epoch = self.recording.epoch_of(frame)
        if epoch not in self._models:
            world = self.recording.world(frame)
            self._models[epoch], self._names[epoch] = world_model(world), list(unique_names(world))
        return self._models[epoch]

    def moment(self, wanted: Wanted) -> Moment:
        """See Feed."""
        shown = self.recording.epoch_of(self.recording.frame_at(self._time))
        frame = self._frame()
        moment = self.recording.moment(frame if self.recording.epoch_of(frame) == shown else self._last)
        self._last = frame
        empty = np.zeros((0, 3))
        touches = (moment.contacts, moment.forces) if wanted.contacts else (empty, empty)
        rate = self._speed if self._playing else 0.0
        return Moment(
            moment.time, moment.poses, not self._playing, rate, *touches, wires=moment.wires, tensions=moment.tensions
        )

    _last = 0

    def viewpoint(self) -> tuple[str, tuple[float, ...]] | None:
        """That of the recorded world."""
        view = self.recording.world(0).get_viewpoint()
        return None if view is None else (view.follow, view.offset)

    def play(self) -> None:
        """See Feed."""
        self._frame()
        self._playing = True

    def pause(self) -> None:
        """See Feed."""
        self._frame()
        self._playing = False

    def step(self, steps: int) -> None:
        """Go on by frames."""
        self.pause()
        frame = min(self.recording.frame_at(self._time) + steps, len(self.recording) - 1)
        self.seek(float(self.recording.times[frame]))

    def reset(self) -> None:
        """Back to the beginning."""
        self.seek(self.timeline()[0])

    def set_speed(self, factor: float) -> None:
        """See Feed."""
        self._frame()
        self._speed = factor

    def _row(self, frame: int, name: str) -> int | None:
        """Place of an object in the list of a frame."""
        RecordingFeed.model(self)
        names = self._names[self.recording.epoch_of(frame)]
        return names.index(name) if name in names else None

    def place(self, name: str) -> Vector | None:
        """Where an object is now [m]; None: there is none of that name."""
        frame = self.recording.frame_at(self._time)
        row = self._row(frame, name)
        return None if row is None else self.recording.array("poses", frame)[row, :3]

    def describe(self, name: str) -> str:
        """See Feed."""
        frame = self.recording.frame_at(self._time)
        row = self._row(frame, name)
        if row is None:
            raise InvalidValueError(f"there is no object named '{name}'")
        pose, twist = self.recording.array("poses", frame)[row], self.recording.array("twists", frame)[row]
        rows = [("position [m]", numbers(pose[:3])), ("velocity [m/s]", numbers(twist[:3]))]
        return f"**{name}**\n\n{table(rows)}"

    def joints(self, name: str) -> list[Joint]:
        """None can be moved."""
        return []

    def _refuse(self) -> InvalidValueError:
        return InvalidValueError("this is a recording: it can be watched, not changed")

    def set_joint(self, name: str, joint: str, position: float) -> None:
        """Refused."""
        raise self._refuse()

    def set_gains(self, name: str, p_gain: float, d_gain: float) -> None:
        """Refused."""
        raise self._refuse()

    def pull(self, name: str, body: int, point: Vector, target: Vector) -> None:
        """Refused."""
        raise self._refuse()

    def release(self) -> None:
        """Nothing is held."""

    def move(self, name: str, shift: Vector) -> None:
        """Refused."""
        raise self._refuse()

    def remove(self, name: str) -> None:
        """Refused."""
        raise self._refuse()

    def add(self, new: NewObject) -> str:
        """Refused."""
        raise self._refuse()

    def load(self, file: str) -> None:
        """Refused."""
        raise self._refuse()

    def save(self, file: str) -> None:
        """Write the world of this moment to a world file."""
        self.recording.world(self.recording.frame_at(self._time)).export_to_xml(Path(file))

    def keep(self, label: str) -> None:
        """Refused."""
        raise self._refuse()

    def bring_back(self, label: str) -> None:
        """Refused."""
        raise self._refuse()

    def kept(self) -> list[str]:
        """None."""
        return []

    def close(self) -> None:
        """Nothing to end."""

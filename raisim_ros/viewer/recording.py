"""A recorded run: its frames, and a feed that plays it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.recording_file import (
    FRAMES,
    MEASUREMENTS,
    WORLD,
    Arrays,
    join_frames,
    laid_out,
    read_chunks,
    unpack_arrays,
    unpack_files,
)
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.engine import arguments
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.describe import literal, numbers, table
from raisim_ros.viewer.keyframes import Keyframes
from raisim_ros.viewer.measurements import Measurements
from raisim_ros.viewer.page_surfaces import PageSurfaces
from raisim_ros.viewer.quantities import TURNING, VELOCITY, joint_quantities, xyz
from raisim_ros.viewer.scene import Joint, Moment, NewObject, Quantities, SceneModel, SoftShape, Vector, Wanted
from raisim_ros.viewer.sensor_views import camera_images, seen_points
from raisim_ros.viewer.soft_scene import particle_counts, soft_objects, soft_shapes, split_particles
from raisim_ros.viewer.wires import WireLook, drawn_wires, wire_looks
from raisim_ros.viewer.world_feed import WorldFeed
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
        self._wire_looks: dict[int, list[WireLook]] = {}
        self._soft_names: dict[int, list[tuple[str, int, NDArray[np.float32]]]] = {}  # with particles and radii
        self._keyframes = Keyframes()
        self._measurements = Measurements()
        try:
            self._read()
        except InvalidValueError as error:
            raise ParseError(self.path, None, str(error)) from error
        if not self._epochs:
            raise ParseError(self.path, None, "the recording has no frames")
        self.times: Vector = np.concatenate([epoch.arrays["time"] for epoch in self._epochs])
        self._starts = np.cumsum([0, *(len(epoch.arrays["time"]) for epoch in self._epochs)])

    def _read(self) -> None:
        files: dict[str, bytes] = {}
        parts: list[Arrays] = []
        for kind, payload in read_chunks(self.path):
            if kind == WORLD:
                self._close_epoch(files, parts)
                files, parts = unpack_files(payload), []
            elif kind == FRAMES:
                parts.append(unpack_arrays(payload))
            elif kind == MEASUREMENTS:
                self._measurements.add(payload)
            else:
                self._keyframes.add(kind, payload)
        self._close_epoch(files, parts)

    def _close_epoch(self, files: dict[str, bytes], parts: list[Arrays]) -> None:
        if parts:
            arrays = join_frames(parts)
            if len(arrays["time"]):
                first = np.concatenate(([0.0], np.cumsum(arrays["contact_counts"])))
                self._epochs.append(_Epoch(files, arrays, first))

    def __len__(self) -> int:
        return len(self.times)

    def frame_at(self, time_: float) -> int:
        """The last frame that is not later than a time [s]; where time was set back, of the last run."""
        until = arguments.number("time_", time_) + 1e-9
        if math.isnan(until):
            raise InvalidValueError("time_ is not a number; expected seconds")
        early = np.where(self.times <= until, self.times, -np.inf)
        return len(self) - 1 - int(np.argmax(early[::-1])) if np.isfinite(early).any() else 0

    def _find(self, frame: int) -> tuple[int, int]:
        number = arguments.count("frame", frame)
        if number >= len(self):
            raise InvalidValueError(f"frame is {number}; the recording has {len(self)}")
        epoch = int(np.searchsorted(self._starts, number, "right")) - 1
        return epoch, number - int(self._starts[epoch])

    def epoch_of(self, frame: int) -> int:
        """Changes with the list of objects."""
        return self._find(frame)[0]

    def array(self, name: str, frame: int) -> Vector:
        """One of ``poses``, ``twists``, ``wrenches``, ``coordinates``, ``velocities``, ``efforts`` of a frame.

        Poses are those of objects, then of links of robots: x, y, z [m] and quaternion w, x, y, z. What robots were
        told: ``position_targets`` (as coordinates), ``velocity_targets`` and ``feed_forward`` (as velocities).
        """
        epoch, row = self._find(frame)
        arrays = self._epochs[epoch].arrays
        if arguments.text("name", name) not in arrays:
            raise InvalidValueError(f"a recording has no '{name}'; it has {', '.join(sorted(arrays))}")
        row_of: Vector = arrays[name][row]
        return row_of[:, [0, 1, 2, 6, 3, 4, 5]] if name == "poses" else row_of  # files have w last

    def has(self, name: str, frame: int) -> bool:
        """Whether array() has it: older recordings hold less."""
        return name in self._epochs[self._find(frame)[0]].arrays

    # ---- going on ----

    def branch(self, time_: float = 0.0, *, frame: int | None = None) -> World:
        """A new world that goes on from a time [s], or from a frame, to the same bits as the recorded one did.

        It stands at the last frame that is not later and can be restored: of large worlds that were changed between
        steps, not all can. See get_world_time().
        """
        frame = self._restorable(self.frame_at(time_) if frame is None else frame)
        world = self._keyframes.world(frame)
        start, snapshot = self._keyframes.before(frame)
        if snapshot is not None:
            world.restore_snapshot(snapshot)
        self._step_on(world, start, frame)
        return world

    def restore(self, world: World, time_: float) -> None:
        """Put the recorded world, or one of the same make, back to a time; see branch() and restore_snapshot()."""
        arguments.instance("world", world, World)
        frame = self._restorable(self.frame_at(time_))
        start, snapshot = self._keyframes.before(frame)
        world.restore_snapshot(self._keyframes.world(frame).save_snapshot() if snapshot is None else snapshot)
        self._step_on(world, start, frame)

    def can_branch(self) -> bool:
        """Whether the file holds what branch() needs; those of older versions do not."""
        return bool(self._keyframes)

    def _restorable(self, frame: int) -> int:
        """The last frame until then that can be restored."""
        self._find(frame)
        if not self.can_branch():
            raise InvalidValueError(f"'{self.path}' has no whole states: it was recorded by an older version")
        while frame > 0 and not self.array("exact", frame):
            frame -= 1
        return frame

    def _step_on(self, world: World, start: int, frame: int) -> None:
        world.integrate(int(self.array("step", frame) - self.array("step", start)))
        self._show_measurements(world, frame, since_restored=True)

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_worlds": {}}  # made again when they are asked for

    # ---- looking ----

    def world(self, frame: int = 0) -> World:
        """The world that was recorded, with the poses and velocities of a frame; every call gives the same one."""
        epoch, _ = self._find(frame)
        if epoch not in self._worlds:
            self._worlds[epoch] = self._world_of(self._epochs[epoch])
        world = self._worlds[epoch]
        self._place(world, frame)
        return world

    def _world_of(self, epoch: _Epoch) -> World:
        with laid_out(epoch.files) as file:
            world = World(file)
        robots = world.read_articulations()
        rows = len(world.get_obj_list()) + len(robots.link_poses)
        wanted = {"poses": rows, "twists": rows}
        wanted |= {name: len(getattr(robots, name)) for name in ("coordinates", "velocities")}
        rows_of = {"position_targets": robots.coordinates, "velocity_targets": robots.velocities}
        rows_of |= {"efforts": robots.efforts, "feed_forward": robots.velocities}
        wanted |= {name: len(array) for name, array in rows_of.items() if name in epoch.arrays}
        if len(epoch.arrays.get("particles", ((),))[0]):
            wanted["particles"] = sum(particle_counts(world))
        for name, count in wanted.items():
            if len(epoch.arrays[name][0]) != count:
                raise ParseError(self.path, None, f"the recording is damaged: its world does not fit to its {name}")
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
                handle.set_pose(poses[row, :3], poses[row, 3:])
                if handle.get_body_type().name != "STATIC":
                    arm = handle.get_com_position() - handle.get_position()
                    linear, angular = twists[row, :3], twists[row, 3:]
                    handle.set_velocity(linear + np.cross(angular, arm), angular)
        self._place_particles(world, frame)
        self._show_measurements(world, frame)
        world.set_world_time(float(self.times[frame]))

    def _particles(self, frame: int) -> Vector:
        """Places of all particles; none in recordings that are older than they."""
        epoch, row = self._find(frame)
        arrays = self._epochs[epoch].arrays
        return arrays["particles"][row] if "particles" in arrays else np.zeros((0, 3))

    def _place_particles(self, world: World, frame: int) -> None:
        """Velocities are not recorded: they are told by the frame before, or the one after."""
        if not soft_objects(world) or not len(self._particles(frame)):
            return
        near = [k for k in (frame - 1, frame + 1) if 0 <= k < len(self) and self.epoch_of(k) == self.epoch_of(frame)]
        here, span = self._particles(frame), self.times[frame] - self.times[near[0]] if near else 0.0
        speeds = (here - self._particles(near[0])) / span if span else np.zeros_like(here)
        for handle, places, velocities in zip(
            soft_objects(world), split_particles(world, here), split_particles(world, speeds), strict=True
        ):
            handle.set_positions(places)
            handle.set_velocities(velocities)

    def _measured(self, frame: int) -> World | None:
        """A world whose sensors show what they showed in a frame, and nothing else; None: nothing was measured."""
        epoch, _ = self._find(frame)
        if not self._measurements:
            return None
        if epoch not in self._worlds:
            return self.world(frame)
        self._show_measurements(self._worlds[epoch], frame)
        return self._worlds[epoch]

    def _show_measurements(self, world: World, frame: int, *, since_restored: bool = False) -> None:
        try:
            first = int(self._starts[self.epoch_of(frame)])
            self._measurements.show(world, first, frame, since_restored=since_restored)
        except InvalidValueError as error:
            raise ParseError(self.path, None, str(error)) from error

    def _soft(self, frame: int) -> dict[str, SoftShape]:
        epoch = self.epoch_of(frame)
        if epoch not in self._soft_names:
            world = self.world(frame)
            shapes = soft_shapes(unique_names(world))
            self._soft_names[epoch] = [(name, len(shape.points), shape.radii) for name, shape in shapes.items()]
        names = self._soft_names[epoch]
        parts = np.split(self._particles(frame), np.cumsum([count for _, count, _ in names])[:-1]) if names else []
        found = zip(names, parts, strict=True)
        return {name: SoftShape(points.astype(np.float32), radii) for (name, _, radii), points in found}

    def _looks_of_wires(self, frame: int) -> list[WireLook]:
        epoch = self.epoch_of(frame)
        if not self._epochs[epoch].arrays["wires"].size:
            return []
        if epoch not in self._wire_looks:
            self._wire_looks[epoch] = wire_looks(self.world(frame))
        return self._wire_looks[epoch]

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
            wires=drawn_wires(data.arrays["wires"][row], data.arrays["tensions"][row], self._looks_of_wires(frame)),
            soft=self._soft(frame) if len(self._particles(frame)) else {},
        )


class RecordingFeed:
    """See Feed: time goes over the frames and starts again at the end; nothing else can be changed."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._surfaces = PageSurfaces(wait=True)
        self._models: dict[int, SceneModel] = {}
        self._names: dict[int, list[str]] = {}
        self._robots: dict[int, dict[str, tuple[KinematicTree, int, int]]] = {}  # with their first q and u
        self._playing, self._speed = False, 1.0
        self._time = float(recording.times[0])
        self._wall = time.monotonic()

    def seek(self, time_: float) -> None:
        """Go to a time [s]."""
        self._time, self._wall = float(np.clip(time_, *self.timeline())), time.monotonic()

    def timeline(self) -> tuple[float, float]:
        """The first and the last time [s]."""
        return float(self.recording.times.min()), float(self.recording.times.max())

    def _frame(self) -> int:
        now, (first, last) = time.monotonic(), self.timeline()
        if self._playing:
            speed = self._speed or 10.0
            ahead = self._time - first + speed * (now - self._wall)
            self._time = first + (math.fmod(ahead, last - first) if last > first else 0.0)
        self._wall = now
        return self.recording.frame_at(self._time)

    def model(self) -> SceneModel:
        """See Feed."""
        frame = self.recording.frame_at(self._time)
        epoch = self.recording.epoch_of(frame)
        if epoch not in self._models:
            world = self.recording.world(frame)
            named, firsts = unique_names(world), world.read_articulations()
            self._models[epoch], self._names[epoch] = world_model(world, self._surfaces), list(named)
            self._robots[epoch] = {
                name: (
                    one.get_kinematic_tree(),
                    int(firsts.coordinate_first[one.get_id()]),
                    int(firsts.velocity_first[one.get_id()]),
                )
                for name, one in named.items()
                if isinstance(one, ArticulatedSystem)
            }
        return self._models[epoch]

    def moment(self, wanted: Wanted) -> Moment:
        """See Feed."""
        frame = self._frame()
        moment = self.recording.moment(frame)
        empty = np.zeros((0, 3))
        touches = (moment.contacts, moment.forces) if wanted.contacts else (empty, empty)
        rate = self._speed if self._playing else 0.0
        world = self.recording._measured(frame) if wanted.points or wanted.images else None
        return Moment(
            moment.time,
            moment.poses,
            not self._playing,
            rate,
            *touches,
            wires=moment.wires,
            points=seen_points(world) if world is not None and wanted.points else empty,
            images=camera_images(world) if world is not None and wanted.images else {},
            soft=moment.soft,
            number=self.recording.epoch_of(frame),
        )

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
        return f"**{literal(name)}**\n\n{table(rows)}"

    def quantities(self, name: str) -> Quantities:
        """Of an object, its velocity; of a robot, its joints."""
        frame = self.recording.frame_at(self._time)
        row = self._row(frame, name)
        if row is None:
            return {}
        robots = self._robots[self.recording.epoch_of(frame)]
        if name not in robots:
            twist = self.recording.array("twists", frame)[row]
            return {VELOCITY: xyz(twist[:3]), TURNING: xyz(twist[3:])}
        tree, at, speed_at = robots[name]
        numbers_of = (self.recording.array(one, frame) for one in ("coordinates", "velocities", "efforts"))
        q, u, efforts = (one[first:] for one, first in zip(numbers_of, (at, speed_at, speed_at), strict=True))
        told = self.recording.has("position_targets", frame)
        targets = self.recording.array("position_targets", frame)[at:] if told else None
        return joint_quantities(tree, q, u, efforts, targets)

    def joints(self, name: str) -> list[Joint]:
        """None can be moved."""
        return []

    def can_go_on(self) -> bool:
        """Unless an older version recorded it."""
        return self.recording.can_branch()

    def go_on(self) -> WorldFeed:
        """See Feed."""
        return WorldFeed(self.recording.branch(self._time))

    def _refuse(self) -> InvalidValueError:
        return InvalidValueError("this is a recording: it can be watched, and gone on from, but not changed")

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

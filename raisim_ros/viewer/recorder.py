"""Writes what happens in a World to a file, beside the stepping."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import numpy as np

from raisim_ros.description.atomic_file import GrowingFile
from raisim_ros.description.errors import FileWriteError, InvalidValueError
from raisim_ros.description.file_access import check_allowed, temporary_folder
from raisim_ros.description.recording_file import FRAMES, MAGIC, WORLD, Arrays, pack_arrays, pack_files, write_chunk
from raisim_ros.description.world.export import write_world_file
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.contact_forces import contact_forces
from raisim_ros.viewer.keyframes import KeyframeWriter
from raisim_ros.viewer.measurements import MeasurementWriter
from raisim_ros.viewer.soft_scene import particle_counts, read_particles

# Frames are written when so many wait, or after so much wall time [s].
CHUNK_FRAMES, CHUNK_SECONDS = 120, 1.0


class Recorder:
    """Notes frames at a rate in Hz of simulated time; a thread of its own packs and writes them."""

    def __init__(self, world: World, path: str | Path, rate: float, sensors: bool) -> None:
        if not 0.0 < rate < 1e6:
            raise InvalidValueError(f"rate is {rate}; expected a number of frames per second above 0")
        self._world = world
        self._period = 1.0 / rate
        check_allowed(path, "recording")
        self._path = path
        self._file = GrowingFile(path)
        self._waiting: list[Arrays] = []
        self._configuration: tuple[int, ...] = ()
        self._frames = 0
        self._keyframes = KeyframeWriter(world, self.add)
        self._measurements = MeasurementWriter(world, self.add)
        self.sensors = sensors  # whether measurements are noted
        self._commands = _Commands(world)
        self._next = world.get_world_time()
        self._written = time.monotonic()
        self._last = -np.inf
        self._stepping = False
        self._queue = self.new_queue()
        self.error: Exception | None = None
        self._began = threading.Event()  # the world is written, or cannot be
        self._thread = threading.Thread(target=self._write, name="raisim_ros recorder", daemon=True)
        self._thread.start()
        try:
            self.note()
            self._began.wait()
            self._tell_error()  # there is no point in going on
        except BaseException:
            self._end()
            raise

    @staticmethod
    def new_queue() -> queue.SimpleQueue[tuple[bytes, Callable[[], bytes]] | None]:
        """Of chunks to write; Ctrl-C in a queue.Queue can leave its lock taken, for ever."""
        return queue.SimpleQueue()

    def integrate(self, steps: int) -> bool:
        """Step the world from frame to frame. False: this is one of those steps, the world shall take it itself."""
        if self._stepping:
            return False
        self._stepping = True
        try:
            while steps > 0:
                chunk = self._steps_until_due(steps)
                self._world.integrate(chunk)
                self.note()
                steps -= chunk
        finally:
            self._stepping = False
        return True

    def _steps_until_due(self, most: int) -> int:
        """At least one and not more than `most`; after a jump one, whatever pieces the steps come in."""
        now = self._world.get_world_time()
        if self._jumped(now):
            return 1
        left = (self._next - now) / self._world.get_time_step()
        return min(most, max(1, int(np.ceil(left - 1e-6))))

    def _jumped(self, now: float) -> bool:
        return not self._next - 1.5 * self._period <= now <= self._next + self._period

    def note(self) -> None:
        """Take a frame if its time has come, or if the world jumped back."""
        now = self._world.get_world_time()
        jumped = self._jumped(now)
        if now < self._next - 1e-9 and not jumped:
            return
        # On the grid of the rate, however long the steps are.
        self._next = now + self._period if jumped else self._next + self._period
        self._take()

    def _take(self) -> None:
        with self._world.locked():
            number = _make(self._world)
            if number != self._configuration:
                self._flush()
                self.add(WORLD, _world_files(self._world))
                self._configuration = number
                self._keyframes.begin(self._frames)
                self._measurements.begin()
            exact = self._keyframes.note(self._frames)
            self._waiting.append(_frame(self._world, exact) | self._commands.read())
            if self.sensors:
                self._measurements.note(self._frames)
            self._frames += 1
            self._last = self._world.get_world_time()
        if len(self._waiting) >= CHUNK_FRAMES or time.monotonic() - self._written > CHUNK_SECONDS:
            self._flush()

    def note_measured(self) -> None:
        """Sensors were measured after the step whose frame is taken already: what they show belongs to that frame."""
        with self._world.locked():
            same = self._last == self._world.get_world_time() and _make(self._world) == self._configuration
            if self.sensors and same:
                self._measurements.note(self._frames - 1)

    def add(self, kind: bytes, make: Callable[[], bytes]) -> None:
        """Append a chunk; the thread that writes calls `make` for its content."""
        self._queue.put((kind, make))

    def _flush(self) -> None:
        if self._waiting:
            self.add(FRAMES, partial(_packed, self._waiting))
        self._measurements.flush()
        self._waiting = []
        self._written = time.monotonic()

    def _write(self) -> None:
        while (job := self._queue.get()) is not None:
            kind, make = job
            stream = self._file.stream
            end = stream.tell()
            try:
                if end == 0:
                    stream.write(MAGIC)
                write_chunk(stream, kind, make())
                if kind == FRAMES:  # until then an old recording is worth more
                    self._file.publish()
            except Exception as error:  # a full disk must not end the simulation; stop() tells
                self.error = self.error or error
                with suppress(OSError):  # half a chunk would hide those that still come
                    stream.seek(end)
                    stream.truncate()
            self._began.set()

    def stop(self) -> None:
        """Take the last frame, write what waits and close the file; raises what went wrong while it was written."""
        if self._world.get_world_time() > self._last:
            self._take()
        self._flush()
        self._end()
        self._tell_error()

    def _tell_error(self) -> None:
        if self.error is not None:
            raise FileWriteError(self._path, f"the recording is not complete: {self.error}") from self.error

    def _end(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._file.close()


def _world_files(world: World) -> Callable[[], bytes]:
    """What makes the files of the world as it is now: writing them would hold it up."""
    stack = ExitStack()
    with stack:  # whatever goes wrong here
        folder = stack.enter_context(temporary_folder())
        description = world.describe(folder / "world.xml")
        kept = stack.pop_all()

    def make() -> bytes:
        with kept:
            write_world_file(folder / "world.xml", description)
            return pack_files({file.name: file.read_bytes() for file in sorted(folder.iterdir())})

    return make


def _make(world: World) -> tuple[int, ...]:
    """Changes with the objects, wires, sensors, geometry and numbers of particles."""
    return (
        world.get_configuration_number(),
        world._geometry_number(),
        *particle_counts(world),
        *(id(one) for one in world.get_sensor_sets()),
    )


def _frame(world: World, exact: bool) -> Arrays:
    states, robots, wires = world.read_states(True), world.read_articulations(True), world.read_wires().states
    points, forces = contact_forces(world)
    return {
        "time": np.array(world.get_world_time()),
        "step": np.array(float(world.get_step_count())),
        "exact": np.array(float(exact)),  # steps from the last keyframe lead here
        "poses": np.vstack((states.poses, robots.link_poses)),
        "twists": np.vstack((states.twists, robots.link_twists)),
        "wrenches": states.wrenches.copy(),
        "coordinates": robots.coordinates.copy(),
        "velocities": robots.velocities.copy(),
        "efforts": robots.efforts.copy(),
        "wires": wires["point"].copy(),
        "tensions": wires["tension"].copy(),
        "contacts": np.hstack((points, forces)),
        "particles": read_particles(world),
    }


class _Commands:
    """Targets of all robots, one behind the other; asked for anew only after somebody changed the world."""

    def __init__(self, world: World) -> None:
        self._world, self._changes = world, -1
        self._last: Arrays = {}

    def read(self) -> Arrays:
        changes = self._world._change_count()
        if changes != self._changes or not self._last:
            robots = [one for one in self._world.get_obj_list() if isinstance(one, ArticulatedSystem)]
            targets = [one.get_pd_target() for one in robots]
            self._last = {
                "position_targets": np.concatenate([np.zeros(0), *(q for q, _ in targets)]),
                "velocity_targets": np.concatenate([np.zeros(0), *(u for _, u in targets)]),
                "feed_forward": np.concatenate(
                    [np.zeros(0), *(one.get_feed_forward_generalized_force() for one in robots)]
                ),
            }
            self._changes = changes
        return self._last


def _packed(frames: list[Arrays]) -> bytes:
    return pack_arrays(_stacked(frames))


def _stacked(frames: list[Arrays]) -> Arrays:
    """One array for each kind; contacts, whose number changes, one behind the other with their counts."""
    stacked = {name: np.stack([frame[name] for frame in frames]) for name in frames[0] if name != "contacts"}
    stacked["contact_counts"] = np.array([float(len(frame["contacts"])) for frame in frames])
    stacked["contacts"] = np.concatenate([frame["contacts"] for frame in frames])
    return stacked

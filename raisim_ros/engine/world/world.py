"""The World: objects, time and contacts of one simulation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError, ParseError, near_names
from raisim_ros.description.mesh.export import write_obj, write_obj_beside
from raisim_ros.description.plain import Note, pack, unpack
from raisim_ros.description.world.export import write_world_file
from raisim_ros.description.world.types import WorldDescription
from raisim_ros.description.world_file import load_world_file
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.report import Finding, check_robot
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.entries.build import add_description
from raisim_ros.engine.entries.describe import describe_world
from raisim_ros.engine.errors import UnknownNameError, WrongStateError, check, is_read
from raisim_ros.engine.objects.contact import Contact, read_contacts
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.surface_handles import Mesh
from raisim_ros.engine.objects.wires import Wire
from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.engine.types import CollisionCounters, StateBuffer, StepProfile
from raisim_ros.engine.world import stored
from raisim_ros.engine.world.bodies import Bodies
from raisim_ros.engine.world.doubts import tell_doubts
from raisim_ros.engine.world.rays import Rays
from raisim_ros.engine.world.robots import Robots
from raisim_ros.engine.world.scene import Scene
from raisim_ros.engine.world.sensors import Sensors
from raisim_ros.engine.world.settings import Settings
from raisim_ros.engine.world.snapshots import Snapshots
from raisim_ros.engine.world.soft import Soft
from raisim_ros.engine.world.trial import try_out
from raisim_ros.engine.world.wires import Wires

# What a stored world has in place of the engine's, and what is made anew.
_ENGINE = "engine"
_NOT_STORED = frozenset(
    (
        "_world",
        "_predecessor",
        "_recorder",
        "_savers",
        "_adders",
        "_equippers",
        "_describe",
        "_cloners",
        "_removers",
        "_states",
        "_wire_states",
        "_articulations",
    )
)


class World(Settings, Bodies, Scene, Robots, Snapshots, Rays, Sensors, Wires, Soft):
    """Everything that is simulated together.

    SI units, z up, quaternions w, x, y, z. Methods may be called from several threads; stepping releases the
    interpreter lock.
    """

    def __init__(self, config_file: str | Path | None = None, params: Parameters = None) -> None:
        """An empty world, or that of a world file; `params` are values of its ``@@parameters``."""
        super().__init__()
        self._describe = partial(describe_world, self, {})
        # By the order of quaternions, with the same arrays as the engine takes them.
        self._states: dict[bool, tuple[StateBuffer, Any]] = {}
        self._config_file = ""
        self._recorder: Any = None
        self._predecessor: World | None = None  # which can take this one over
        if config_file is not None:
            self.load(config_file, params)
            self._config_file = str(config_file)

    def load(self, config_file: str | Path, params: Parameters = None) -> None:
        """Add what a world file says; on any error the world is as it was."""
        description = load_world_file(arguments.path("config_file", config_file), params)
        for text in description.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        with self.locked():
            add_description(self, description)

    def replace(self, description: WorldDescription) -> None:
        """Take everything out of the world and add what a description says; on any error the world is as it was.

        Settings that the description does not give return to their defaults.
        """
        arguments.instance("description", description, WorldDescription)
        with self.locked():
            successor = self.make_successor(description.count())
            successor.fill(description)
            self.take_over(successor)

    def make_successor(self, count: int) -> World:
        """An empty world that take_over() can put in the place of this one, filled meanwhile by whichever thread.

        This world will not give the ids of its first `count` objects and wires.
        """
        made = type(self).__new__(type(self))
        World.__init__(made)
        out = ffi.new("rs_world **")
        check(lib.rs_world_create_successor(self._world, arguments.count("count", count), out))
        made._world = ffi.gc(out[0], lib.rs_world_destroy)
        made._predecessor = self
        return made

    def fill(self, description: WorldDescription) -> None:
        """Add what a description says and call the world after its source; on any error the world is as it was."""
        arguments.instance("description", description, WorldDescription)
        with self.locked():
            add_description(self, description)
            self._config_file = description.source

    def take_over(self, successor: World) -> None:
        """Become what a successor is: its objects, wires and sensors are then in this world, and it is empty.

        This is quick, however much there is. Handles of what was in this world are those of removed objects.
        """
        arguments.instance("successor", successor, World)
        with self.locked():
            self._exchange(successor)

    def _exchange(self, successor: World) -> None:
        if successor._predecessor is not self:  # whose lock is not to be waited for: it may wait for this one
            raise InvalidValueError("the other world was not made to succeed this one, or has done so")
        with successor.locked():
            check(lib.rs_world_succeed(self._world, successor._world))
            sensors = (sensor for one in successor._sensor_sets for sensor in one)
            things: Iterator[Object | Wire | Sensor] = chain(
                successor._handles.values(), successor._wires.values(), sensors
            )
            for thing in things:
                thing._world = self
            vars(self).update(successor._attributes())
            World.__init__(successor)

    def export_to_xml(self, dir_or_path: str | Path, file_name: str | None = None) -> None:
        """Write the world (objects, states, settings) to a file: ``(dir, file_name)`` or ``(path)``.

        Loading the file gives the same world. Meshes that came from no file are written beside it as OBJ files.
        """
        path = arguments.path("dir_or_path", dir_or_path)
        if file_name is not None:
            path = path / arguments.path("file_name", file_name)
        write_world_file(path, self.describe(path))

    def describe(self, path: str | Path) -> WorldDescription:
        """The world as export_to_xml() writes it to a path, which takes longer than this and needs the world no more.

        Meshes that came from no file are written beside the path.
        """
        file = arguments.path("path", path)
        with self.locked():
            return describe_world(self, self._mesh_files(file))

    def _mesh_files(self, path: Path) -> dict[Object, Path]:
        """The file of every mesh object; those that came from none are written beside a path."""
        files: dict[Object, Path] = {}
        for number, mesh in enumerate(self._meshes()):
            file = Path(mesh.get_mesh_file_name())
            if not mesh.get_mesh_file_name() or not file.is_file():
                file = write_obj_beside(mesh.get_mesh(), path.parent / f"{path.stem}_mesh_{number}.obj")
            files[mesh] = file
        return files

    def export_to_mjcf(self, path: str | Path) -> None:
        """Write the world as a file for MuJoCo (MJCF); meshes go to a folder beside it.

        The file starts in the pose of the world; velocities, controls and turns of ball joints are in its keyframe
        "start". One warning lists what MuJoCo has no word for.
        """
        from raisim_ros.engine.entries.export_mjcf import export_mjcf  # here: few need it

        file = arguments.path("path", path)
        export_mjcf(file, self.describe(file))

    def export_mesh_assets_to_obj(self, directory: str | Path, prefix: str = "mesh") -> list[str]:
        """Write every mesh object as an OBJ file (scaled, body frame); the paths are in the order of the objects."""
        folder, name = arguments.path("directory", directory), arguments.text("prefix", prefix)
        paths = []
        for number, mesh in enumerate(self._meshes()):
            path = folder / f"{name}_{number}.obj"
            write_obj(mesh.get_mesh(), path)
            paths.append(str(path))
        return paths

    def _meshes(self) -> list[Mesh]:
        return [handle for handle in self.get_obj_list() if isinstance(handle, Mesh)]

    def get_config_file(self) -> str:
        """Path of the file that the world was made from, empty when there was none."""
        return self._config_file

    # ---- copies ----

    def copy(self) -> World:
        """Return a world that goes on to the same bits and is independent of this one; meshes are shared.

        Objects, wires and sensors have the same names and ids. A recording is not continued.
        """
        out = ffi.new("rs_world **")
        with self.locked():
            check(lib.rs_world_clone(self._world, out))
            return self._copy_onto(ffi.gc(out[0], lib.rs_world_destroy))

    def __copy__(self) -> World:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        made = self.copy()
        memo[id(self)] = made
        for key, handle in self._handles.items():
            memo[id(handle)] = made._handles[key]
        return made

    # ---- on disk and in other processes ----

    def save(self, path: str | Path) -> None:
        """Write all of the world to a file, whole or not at all: World.from_saved() goes on to the same bits.

        Meshes and heightmaps are in it. A recording is not continued. World files (export_to_xml()) are for people,
        this is for programs: only the same version of the engine reads it.
        """
        stored.write(arguments.path("path", path), stored.join(stored.WORLD, *self._as_bytes()))

    @classmethod
    def from_saved(cls, path: str | Path) -> World:
        """The world of a file that save() wrote; reading it runs no code of the file."""
        file = arguments.path("path", path)
        parts = stored.read(file, stored.WORLD)
        try:
            return cls._of_bytes(*parts)
        except InvalidValueError as error:
            raise ParseError(file, None, str(error)) from None

    def _as_bytes(
        self, geometry: bool = True, note_of: Callable[[Any], Note | None] = lambda _: None
    ) -> tuple[bytes, bytes]:
        """The engine's and Python's part; without geometry, a world that has it is needed to read them."""
        with self.locked():
            engine = stored.engine_bytes(stored.engine_snapshot(self._world), geometry)
            return engine, pack(self._attributes(), lambda value: ["world"] if value is self else note_of(value))

    @classmethod
    def _of_bytes(
        cls,
        engine: bytes,
        python: bytes,
        look_up: Callable[[Note], Any] = lambda _: None,
        geometry_of: World | None = None,
    ) -> World:
        """The inverse of _as_bytes(); InvalidValueError when it was not made by it."""
        made = cls.__new__(cls)
        state = unpack(python, lambda note: made if note == ["world"] else look_up(note))
        if not isinstance(state, dict):
            raise InvalidValueError("the data hold no world")
        made._rebuild(engine, state, ffi.NULL if geometry_of is None else geometry_of._world)
        try_out(made)
        return made

    def _attributes(self) -> dict[str, Any]:
        return {name: one for name, one in vars(self).items() if name not in _NOT_STORED}

    def __getstate__(self) -> dict[str, Any]:
        with self.locked():
            return {_ENGINE: stored.engine_bytes(stored.engine_snapshot(self._world)), **self._attributes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._rebuild(state.pop(_ENGINE), state, ffi.NULL)

    def _rebuild(self, engine: bytes, attributes: dict[str, Any], geometry_of: Any) -> None:
        World.__init__(self)  # registers what the parts want to be told
        wanted = vars(self).keys() - _NOT_STORED
        fits = wanted <= attributes.keys() and not any(hasattr(type(self), name) for name in attributes.keys() - wanted)
        fresh = {name: type(vars(self)[name]) for name in wanted if vars(self)[name] is not None}
        if not fits or any(type(attributes[name]) is not kind for name, kind in fresh.items()):
            raise InvalidValueError("the data hold another world than this version of raisim_ros has")
        check(lib.rs_snapshot_restore(self._world, stored.engine_snapshot_of(engine, geometry_of)))
        vars(self).update({name: one for name, one in attributes.items() if name not in _NOT_STORED})
        if {int(one) >> 32 for one in self._engine_ids()} != set(self._handles):
            raise InvalidValueError("the handles of the world are not those of its objects")

    def _copy_onto(self, engine_world: Any) -> World:
        """The handles of this world for another world of the engine that has the same objects."""
        made = type(self).__new__(type(self))
        memo: dict[int, Any] = {id(self): made, id(self._world): engine_world, id(self._recorder): None}
        memo |= {id(self._states): {}, id(self._articulations): {}}  # they hold pointers
        with self.locked():
            made.__dict__.update(deepcopy(self.__dict__, memo))
        return made

    @staticmethod
    def set_activation_key(activation_key: str) -> None:
        """Do nothing: this engine needs no licence. Kept so that programs written for RaiSim run."""

    # ---- stepping and time ----

    def integrate(self, steps: int = 1) -> None:
        """Advance by a number of time steps; sensors measure on the way.

        Ctrl-C is answered within 50 ms or one step, whichever is longer; the steps made until then stay.
        """
        number = arguments.count("steps", steps)
        if self._new_materials or self._new_followers:
            tell_doubts(self)
        if self._recorder is not None and self._recorder.integrate(number):
            return
        if self._sensor_sets:
            self._integrate_with_sensors(number)
        else:
            self._step(number)

    def integrate1(self) -> None:
        """First half of a step: midpoint poses and contact detection."""
        tell_doubts(self)
        check(lib.rs_world_integrate1(self._world))

    def integrate2(self) -> None:
        """Second half of a step: forces, contact solution, integration; time advances, sensors measure.

        States that were set since integrate1() are kept: contacts are then looked for again.
        """
        check(lib.rs_world_integrate2(self._world))
        self.update_sensors()
        if self._recorder is not None:
            self._recorder.note()

    def integrate_no_contact_detection(self) -> None:
        """In place of integrate1(): a step without contacts."""
        check(lib.rs_world_integrate_no_contact_detection(self._world))

    def set_time_step(self, dt: float) -> None:
        """Set the duration of a step [s]."""
        check(lib.rs_world_set_time_step(self._world, arguments.number("dt", dt)))

    def set_world_time(self, time: float) -> None:
        """Set the simulated time [s]."""
        check(lib.rs_world_set_time(self._world, arguments.number("time", time)))

    def set_gravity(self, gravity: VectorLike) -> None:
        """Set the gravitational acceleration [m/s^2]."""
        check(lib.rs_world_set_gravity(self._world, list(arguments.vector("gravity", gravity, 3))))

    # ---- objects ----

    def remove_object(self, obj: Object | Wire) -> None:
        """Take an object with its wires and sensors, or a wire, out of the world; its handle becomes invalid."""
        with self.locked():
            if isinstance(obj, Wire):
                self._remove_wire(obj)
            else:
                self._own(obj)
                self._take_out(obj)

    def __getitem__(self, name: str) -> Any:
        """The first object or wire of that name; KeyError with the names that are near when there is none."""
        found = self.get_object(arguments.text("name", name)) or self.get_wire(name)
        if found is None:
            raise UnknownNameError(
                near_names("object", name, [*self._names, *(one.get_name() for one in self.get_wires())])
            )
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._names or self.get_wire(name) is not None)

    def __iter__(self) -> Iterator[Object]:
        return iter(self.get_obj_list())

    def __repr__(self) -> str:
        file = f" '{self._config_file}'" if self._config_file else ""
        return f"<World{file} with {len(self.get_obj_list())} objects at {self.get_world_time():.6g} s>"

    def get_object(self, name_or_index: str | int) -> Object | None:
        """The first object with that name, or the one at that place in the list; None when there is none."""
        if isinstance(name_or_index, str):
            with self.locked():
                named = self._names.get(name_or_index, [])
                return min(named, key=Object.get_index_in_world) if named else None
        if not arguments.is_whole(name_or_index):
            raise InvalidValueError(f"name_or_index is {arguments.shown(name_or_index)}; expected a name or a place")
        objects = self.get_obj_list()
        return objects[name_or_index] if 0 <= name_or_index < len(objects) else None

    # ---- bulk reads ----

    def read_states(self, xyzw: bool = False) -> StateBuffer:
        """State of all objects, filled by one call of the engine; the arrays are reused.

        Quaternions are w, x, y, z; with `xyzw` in the order of ROS messages, in arrays of their own.
        """
        w_last = arguments.flag("xyzw", xyzw)
        made = self._states.get(w_last)
        while made is None or not is_read(lib.rs_world_read_states(self._world, made[1])):
            made = self._states[w_last] = self._make_states(w_last)
        return made[0]

    def _make_states(self, w_last: bool) -> tuple[StateBuffer, Any]:
        with self.locked():
            number, ids = self.get_configuration_number(), self._engine_ids()
        count = len(ids)
        numbers = np.zeros((count, 7)), np.zeros((count, 6)), np.zeros((count, 6))
        states = StateBuffer(number, ids >> np.uint64(32), *numbers, np.zeros(count, dtype=np.uint8))
        rows = number, w_last, *map(c_array, numbers), c_array(states.sleeping)
        return states, ffi.new("rs_state_rows *", rows)

    def read_contacts(self) -> np.ndarray[Any, Any]:
        """All contacts of the last step as a structured array.

        Fields: object_a, object_b (stable ids), position, frame (rows: tangents, normal towards A), impulse (on A,
        contact frame) [N s], depth (negative when penetrating) [m], velocity, friction, restitution and others.
        """
        contacts = read_contacts(self._world)
        contacts["object_a"] >>= np.uint64(32)
        contacts["object_b"] >>= np.uint64(32)
        return contacts

    def get_contact_problem(self) -> list[Contact]:
        """All contacts of the last step, each as its object A sees it."""
        return [Contact(self, record, k, k, True) for k, record in enumerate(read_contacts(self._world))]

    def get_collision_counters(self) -> CollisionCounters:
        """What detection and solver did in the last step."""
        stats = ffi.new("rs_step_stats *")
        lib.rs_world_get_step_stats(self._world, stats)
        return CollisionCounters(
            int(stats.broad_phase_pairs),
            int(stats.contacts),
            int(stats.islands),
            int(stats.solver_iterations),
            float(stats.solver_error),
            float(stats.solver_relative_error),
            float(stats.contact_work),
            int(stats.restrained_islands),
            int(stats.awake_bodies),
        )

    def check(self) -> list[Finding]:
        """What about the robots may be a mistake or cost time, each with what to do: print the list's items.

        Links that collide although they overlap, inertias that no solid has, heavy collision meshes, joints without
        limits, effort or anything that holds them, joints that start beyond their limits.
        """
        with self.locked():
            robots = [handle for handle in self.get_obj_list() if isinstance(handle, ArticulatedSystem)]
            return [finding for robot in robots for finding in check_robot(robot)]

    def set_profiling(self, enabled: bool) -> None:
        """Turn the timing of stages on or off; turning it on clears the sums."""
        check(lib.rs_world_set_profiling(self._world, arguments.flag("enabled", enabled)))

    def get_profile(self) -> StepProfile:
        """Wall time per stage since profiling was turned on."""
        p = ffi.new("rs_profile *")
        lib.rs_world_get_profile(self._world, p)
        return StepProfile(**{field.name: getattr(p, field.name) for field in fields(StepProfile)})

    def start_recording(self, path: str | Path, rate: float = 60.0, *, sensors: bool = True) -> None:
        """Write what happens from now on to a file, `rate` frames per simulated second, until stop_recording().

        Poses, velocities, joints, forces, contacts, wires and, with `sensors`, measurements; a thread of its own packs
        and writes them, and a crash costs at most the last second. ``raisim_ros.Recording`` reads the file,
        ``raisim_ros view`` plays it.
        """
        from raisim_ros.viewer.recorder import Recorder

        if self._recorder is not None:
            raise WrongStateError("the world is being recorded already")
        wanted = arguments.flag("sensors", sensors)
        self._recorder = Recorder(self, arguments.path("path", path), arguments.number("rate", rate), wanted)

    def is_recording(self) -> bool:
        """Whether start_recording() was called and stop_recording() was not."""
        return self._recorder is not None

    def _records_sensors(self) -> bool:
        return self._recorder is not None and self._recorder.sensors

    def _note_measured(self) -> None:
        """Somebody measured what the world does not measure by itself; a recording shall have it in this moment."""
        if self._recorder is not None:
            self._recorder.note_measured()

    def add_to_recording(self, kind: bytes, make: Callable[[], bytes]) -> None:
        """Add a chunk of another kind (four letters) to the file; the thread that writes calls `make` for its content.

        Readers pass over kinds that they do not know. Does nothing when nothing is recorded.
        """
        if not isinstance(kind, bytes) or len(kind) != 4:
            raise InvalidValueError(f"kind is {arguments.shown(kind)}; expected four letters")
        if not callable(make):
            raise InvalidValueError(f"make is {arguments.shown(make)}; expected a function")
        if self._recorder is not None:
            self._recorder.add(kind, make)

    def stop_recording(self) -> None:
        """Finish the file; does nothing when nothing is recorded."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.stop()

    def render(
        self,
        camera: Any = None,
        width: int = 640,
        height: int = 360,
        quality: str = "draft",
        *,
        contacts: bool = False,
        points: bool = False,
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A picture, height x width x 3 (red, green, blue), by the engine's rays; needs no display.

        `camera`: a ``raisim_ros.View``, a ViewCamera, or None for the world's viewpoint. `quality`: "draft" (smooth
        edges and shadows), "good" or "best" (also light of the sky, many rays per pixel). `contacts` draws forces,
        `points` what lidars and depth cameras see.
        """
        from raisim_ros.viewer.picture import render

        shown = {"contacts": arguments.flag("contacts", contacts), "points": arguments.flag("points", points)}
        return render(self, camera, width, height, quality, **shown)

    def get_state_hash(self) -> int:
        """Hash of time and of all states: equal hashes mean equal bits."""
        return int(lib.rs_world_state_hash(self._world))

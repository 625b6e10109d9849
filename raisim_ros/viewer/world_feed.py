"""A World in the same process as the viewer: its scene, and the loop that steps it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap
from raisim_ros.engine.types import BodyType, ControlMode, StepProfile
from raisim_ros.engine.world.pull import Pull
from raisim_ros.engine.world.snapshots import WorldSnapshot
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.contact_forces import contact_forces
from raisim_ros.viewer.describe import describe_object
from raisim_ros.viewer.page_surfaces import PageSurfaces
from raisim_ros.viewer.quantities import quantities_of
from raisim_ros.viewer.scene import Joint, Moment, NewObject, Quantities, SceneModel, Vector, Wanted, to_world
from raisim_ros.viewer.sensor_views import camera_images, seen_points
from raisim_ros.viewer.soft_scene import soft_shape
from raisim_ros.viewer.spawn import add_to_world
from raisim_ros.viewer.wires import wires_of
from raisim_ros.viewer.world_scene import pose_of, unique_names, world_model

# Looks are compared this often [s]: objects come and go with a number of their own, colours do not.
LOOKS_PERIOD = 0.5
# The past is kept every so many simulated seconds [s], and so much of it.
HISTORY_PERIOD, HISTORY_LENGTH = 0.25, 240
# The loop steps this much simulated time in one go [s], and gives up what it is late by more than MAX_LATE [s].
CHUNK, MAX_LATE = 0.01, 0.1
# Times of stages are means of the steps of one to two of these [s].
PROFILE_PERIOD = 0.5


class WorldFeed:
    """See Feed. The world runs in real time once play() is called, in a thread of its own or by integrate()."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._running = threading.Event()
        self._open = True
        self._thread: threading.Thread | None = None
        self._speed = 1.0
        self._pull: Pull | None = None
        self._kept: dict[str, WorldSnapshot] = {}
        self._history: list[tuple[float, WorldSnapshot]] = []
        self._latest = 0.0
        self._start = world.save_snapshot()
        self._surfaces = PageSurfaces()
        self._looks: Hashable = ()
        self._looks_time = -math.inf
        self._seen_changes: tuple[int, ...] = ()
        self._clock = _Clock(world.get_world_time())
        self._names: dict[str, Object] = {}
        self._soft: dict[str, SoftObject] = {}
        self._names_number = -1
        self._profiled: list[tuple[float, StepProfile]] = []  # when, and the sums of then; the last two

    # ---- access ----

    @contextmanager
    def access(self) -> Iterator[World]:
        """The world between two steps."""
        with self.world.locked():
            yield self.world

    def _refresh_names(self) -> None:
        """Asking all objects takes long: only when some came or went."""
        number = self.world.get_configuration_number()
        if number != self._names_number:
            self._names, self._names_number = unique_names(self.world), number
            self._soft = {name: one for name, one in self._names.items() if isinstance(one, SoftObject)}

    def _object(self, name: str) -> Object:
        self._refresh_names()
        handle = self._names.get(name)
        if handle is None:
            raise InvalidValueError(f"there is no object named '{name}'")
        return handle

    def _robot(self, name: str) -> ArticulatedSystem:
        handle = self._object(name)
        if not isinstance(handle, ArticulatedSystem):
            raise InvalidValueError(f"'{name}' has no joints")
        return handle

    # ---- the scene ----

    def _model_number(self, world: World) -> Hashable:
        """Changes with the list of objects, and soon after looks or terrains changed."""
        now = time.monotonic()
        if now - self._looks_time > LOOKS_PERIOD:
            self._refresh_names()
            # Steps change no look, but cloth may tear, and has more corners then.
            corners = [one.get_num_particles() for one in self._soft.values() if isinstance(one, DeformableObject)]
            changes = world._change_count(), *corners
            if changes != self._seen_changes:
                self._looks = tuple(_look(handle) for handle in world.get_obj_list())
                self._seen_changes = changes
                self._names_number = -1
            self._looks_time = now
        return world.get_configuration_number(), self._looks, self._surfaces.number

    def model(self) -> SceneModel:
        """See Feed."""
        with self.access():
            return world_model(self.world, self._surfaces)

    def viewpoint(self) -> tuple[str, tuple[float, ...]] | None:
        """That of the world."""
        view = self.world.get_viewpoint()
        return None if view is None else (view.follow, view.offset)

    def moment(self, wanted: Wanted) -> Moment:
        """See Feed."""
        with self.access() as world:  # once: every time may wait for a whole step
            number = self._model_number(world)
            poses = np.vstack((world.read_states(True).poses, world.read_articulations(True).link_poses))
            now = world.get_world_time()
            hits, forces = contact_forces(world) if wanted.contacts else (np.zeros((0, 3)), np.zeros((0, 3)))
            wires = wires_of(world)
            points = seen_points(world) if wanted.points else np.zeros((0, 3))
            images = camera_images(world) if wanted.images else {}
            centres = _centres(world) if wanted.centres else np.zeros((0, 3))
            profile = self._profile(world) if wanted.profile else {}
            self._refresh_names()
            soft = {name: soft_shape(handle) for name, handle in self._soft.items()}
        self._clock.note(now)
        return Moment(
            now,
            poses,
            not self._running.is_set(),
            self._clock.factor(),
            hits,
            forces,
            wires,
            points,
            images,
            centres,
            profile,
            soft,
            number,
        )

    def _profile(self, world: World) -> dict[str, float]:
        """Of the steps of the last second or so; their stages are timed once somebody asks."""
        now, sums = time.monotonic(), world.get_profile()
        if not self._profiled:
            world.set_profiling(True)
            self._profiled = [(now, sums)]
        if now - self._profiled[-1][0] > PROFILE_PERIOD:
            self._profiled = [self._profiled[-1], (now, sums)]
        return sums.since(self._profiled[0][1]).microseconds()

    # ---- time ----

    def play(self) -> None:
        """Let time run; without run() or integrate() in the program, a thread steps the world."""
        if not self._running.is_set():
            self._clock.restart(self.world.get_world_time())
        self._running.set()
        if self._thread is None and not self.driven:
            self._thread = threading.Thread(target=self._loop, name="raisim_ros viewer world", daemon=True)
            self._thread.start()

    driven = False  # the program steps the world through integrate()

    def pause(self) -> None:
        """Stop time after the present step."""
        self._running.clear()

    def step(self, steps: int) -> None:
        """Take steps while time stands still."""
        if steps < 1:
            raise InvalidValueError(f"steps is {steps}; expected at least 1")
        self.pause()
        with self.access() as world:
            self._note_history()
            for _ in range(steps):
                self._apply_pull()
                world.integrate()
            self._latest = world.get_world_time()

    def reset(self) -> None:
        """Everything as it was when the viewer came."""
        with self.access() as world:
            world.restore_snapshot(self._start)
            self._history.clear()
            self._clock.restart(world.get_world_time())
            self._names_number = -1

    def set_speed(self, factor: float) -> None:
        """Simulated seconds per second; 0: as fast as possible."""
        if not 0.0 <= factor < math.inf:
            raise InvalidValueError(f"speed is {factor}; expected a number of at least 0")
        self._speed = factor
        self._clock.restart(self.world.get_world_time())

    def timeline(self) -> tuple[float, float] | None:
        """As far back as the past is kept."""
        return (self._history[0][0], self._latest) if self._history else None

    def seek(self, time_: float) -> None:
        """Stop, go back to what was kept and step on from there: the same bits, unless people lent a hand since."""
        self.pause()
        with self.access() as world:
            before = [one for one in self._history if one[0] <= time_ + 1e-9] or self._history[:1]
            if not before:
                raise InvalidValueError("nothing of the past is kept yet")
            world.restore_snapshot(before[-1][1])
            self._names_number = -1
            left = min(time_, self._latest) - world.get_world_time()
            world.integrate(max(0, round(left / world.get_time_step())))

    def can_go_on(self) -> bool:
        """It does so by itself."""
        return False

    def go_on(self) -> WorldFeed:
        """The same."""
        return self

    def _note_history(self) -> None:
        now = self.world.get_world_time()
        if self._history and now < self._latest - 1e-9:  # time went back: another future begins here
            self._history = [one for one in self._history if one[0] <= now]
        self._latest = now
        if not self._history or now >= self._history[-1][0] + HISTORY_PERIOD - 1e-9:
            self._history = [*self._history[1 - HISTORY_LENGTH :], (now, self.world.save_snapshot())]

    def integrate(self, steps: int = 1) -> bool:
        """Advance as World.integrate(), at the viewer's speed; waits while time stands still. False: it was closed."""
        self.driven = True
        left = steps
        while left and self._open:
            if not self._running.wait(0.05):
                self._clock.restart(self.world.get_world_time())
                continue
            left -= self._advance(min(left, self._due_steps()))
        return self._open

    def _loop(self) -> None:
        while self._open:
            if not self._running.wait(0.1):
                self._clock.restart(self.world.get_world_time())
                continue
            self._advance(self._due_steps())

    def _due_steps(self) -> int:
        """Steps to take now, after a pause if it is too early for any."""
        dt, speed = self.world.get_time_step(), self._speed  # others may change it meanwhile
        most = max(1, round(CHUNK / dt))
        if speed == 0.0:
            return most
        now = self.world.get_world_time()
        self._clock.give_up(now, speed)
        early = now + dt - self._clock.due(speed)
        if early > 0.0:
            time.sleep(min(early / speed, 0.05))
            return 0 if early / speed > 0.05 else 1
        return min(most, max(1, int(-early / dt)))

    def _advance(self, steps: int) -> int:
        """Steps that were taken: none when somebody stopped time since it was looked at."""
        with self.access() as world:
            if not steps or not self._running.is_set():
                return 0
            self._note_history()
            if self._pull is None:
                world.integrate(steps)
            else:
                for _ in range(steps):
                    self._apply_pull()
                    world.integrate()
            self._latest = world.get_world_time()
        return steps

    # ---- one object ----

    def describe(self, name: str) -> str:
        """See Feed."""
        with self.access() as world:
            return describe_object(world, self._object(name), name)

    def quantities(self, name: str) -> Quantities:
        """See Feed."""
        with self.access() as world:
            return quantities_of(world, self._object(name))

    def joints(self, name: str) -> list[Joint]:
        """See Feed."""
        with self.access():
            handle = self._object(name)
            if not isinstance(handle, ArticulatedSystem):
                return []
            q, target = handle.get_generalized_coordinate(), handle.get_pd_target()[0]
            driven = handle.get_control_mode() == ControlMode.PD_PLUS_FEEDFORWARD_TORQUE
            limits, stiffness = handle.get_joint_limits(), handle.get_pd_gains()[0]
            q_first, u_first = _firsts(handle)
            found = []
            for index, body in enumerate(handle.get_kinematic_tree().bodies):
                if body.joint_type.has_axis:
                    place, dof = q_first[index], u_first[index]
                    low, high = (float(value) for value in limits[dof])
                    held = driven and stiffness[dof] > 0.0
                    found.append(Joint(body.joint_name, low, high, float((target if held else q)[place])))
        return found

    def set_joint(self, name: str, joint: str, position: float) -> None:
        """See Feed."""
        with self.access() as world:
            robot = self._robot(name)
            reference = robot.get_joint(joint)
            q_first, u_first = _firsts(robot)
            place, dof = q_first[reference.idx], u_first[reference.idx]
            held = robot.get_control_mode() == ControlMode.PD_PLUS_FEEDFORWARD_TORQUE and (
                robot.get_pd_gains()[0][dof] > 0.0
            )
            if held:
                target, speed = robot.get_pd_target()
                target[place] = position
                robot.set_pd_target(target, speed)
            if not held or not self._running.is_set():
                q, u = robot.get_state()
                q[place], u[dof] = position, 0.0
                robot.set_state(q, u)
            world.wake_object(robot)

    def set_gains(self, name: str, p_gain: float, d_gain: float) -> None:
        """See Feed."""
        with self.access() as world:
            robot = self._robot(name)
            p, d = robot.get_pd_gains()
            u_first = _firsts(robot)[1]
            for index, body in enumerate(robot.get_kinematic_tree().bodies):
                if body.joint_type.has_axis:
                    dof = u_first[index]
                    p[dof], d[dof] = p_gain, d_gain
            robot.set_pd_gains(p, d)
            robot.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)
            robot.set_pd_target(robot.get_generalized_coordinate(), np.zeros(robot.get_dof()))
            world.wake_object(robot)

    def pull(self, name: str, body: int, point: Vector, target: Vector) -> None:
        """See Feed."""
        with self.access() as world:
            handle = self._object(name)
            if not isinstance(handle, BodyOwner):
                raise InvalidValueError(f"'{name}' cannot be pulled")
            self._pull = Pull(handle, body, np.asarray(point, float), np.asarray(target, float))
            world.wake_object(handle)

    def release(self) -> None:
        """See Feed."""
        self._pull = None

    def _apply_pull(self) -> None:
        pull = self._pull  # a hand may let go meanwhile
        if pull is not None and not pull.apply(self.world):
            self._pull = None

    def move(self, name: str, shift: Vector) -> None:
        """See Feed."""
        with self.access() as world:
            handle = self._object(name)
            if isinstance(handle, ArticulatedSystem):
                handle.set_base_pos(handle.get_base_position() + shift)
            elif isinstance(handle, (SingleBodyObject, SoftObject)):
                handle.set_pose(handle.get_position() + shift, handle.get_quaternion())
            world.wake_object(handle)

    def remove(self, name: str) -> None:
        """See Feed."""
        with self.access() as world:
            world.remove_object(self._object(name))

    # ---- the world ----

    def add(self, new: NewObject) -> str:
        """See Feed."""
        with self.access() as world:
            handle = add_to_world(world, new)
            return next(name for name, one in unique_names(world).items() if one is handle)

    def load(self, file: str) -> None:
        """See Feed."""
        from raisim_ros.description.world_file import load_world_file

        description = load_world_file(file, None)
        with self.access() as world:
            world.replace(description)
            self._start = world.save_snapshot()
            self._kept.clear()
            self._history.clear()
            self._clock.restart(world.get_world_time())

    def save(self, file: str) -> None:
        """See Feed."""
        with self.access() as world:
            world.export_to_xml(Path(file))

    def keep(self, label: str) -> None:
        """See Feed."""
        with self.access() as world:
            self._kept[label] = world.save_snapshot()

    def bring_back(self, label: str) -> None:
        """See Feed."""
        if label not in self._kept:
            raise InvalidValueError(f"nothing was kept as '{label}'")
        with self.access() as world:
            world.restore_snapshot(self._kept[label])
            self._clock.restart(world.get_world_time())
            self._names_number = -1

    def kept(self) -> list[str]:
        """See Feed."""
        return list(self._kept)

    def close(self) -> None:
        """The loop ends; the world stays as it is."""
        self._open = False
        self._running.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._pull = None


class _Clock:
    """Simulated against wall time."""

    def __init__(self, simulated: float) -> None:
        self._notes: list[tuple[float, float]] = []
        self.restart(simulated)

    def restart(self, simulated: float) -> None:
        """Time runs from here."""
        self._simulated, self._wall = simulated, time.monotonic()
        self._notes.clear()

    def due(self, speed: float) -> float:
        """The simulated time that it should be."""
        return self._simulated + speed * (time.monotonic() - self._wall)

    def give_up(self, simulated: float, speed: float) -> None:
        """The world is late: go on from here."""
        if self.due(speed) - simulated > MAX_LATE * max(speed, 1.0):
            self._simulated, self._wall = simulated, time.monotonic()

    def note(self, simulated: float) -> None:
        """Remember where time is, for factor()."""
        self._notes.append((time.monotonic(), simulated))
        while len(self._notes) > 2 and self._notes[-1][0] - self._notes[0][0] > 1.0:
            self._notes.pop(0)

    def factor(self) -> float:
        """Simulated seconds per second, over the last second."""
        if len(self._notes) < 2:
            return 0.0
        (wall0, sim0), (wall1, sim1) = self._notes[0], self._notes[-1]
        return (sim1 - sim0) / (wall1 - wall0) if wall1 > wall0 else 0.0


def _firsts(robot: ArticulatedSystem) -> tuple[Sequence[int], Sequence[int]]:
    """Where the coordinates and the velocities of each body's joint begin."""
    return (
        robot.get_mapping_from_body_index_to_generalized_coordinate_index(),
        robot.get_mapping_from_body_index_to_generalized_velocity_index(),
    )


def _look(handle: Object) -> Hashable:
    static = isinstance(handle, SingleBodyObject) and handle.get_body_type() == BodyType.STATIC
    look = handle.get_appearance(), handle.get_name(), static
    if isinstance(handle, HeightMap):
        return *look, id(handle.get_data()), handle.get_color(), id(handle.get_color_map())
    return (*look, handle.get_num_particles()) if isinstance(handle, DeformableObject) else look


def _centres(world: World) -> Vector:
    rows = []
    for handle in world.get_obj_list():
        if isinstance(handle, ArticulatedSystem):
            rows.append(handle.get_com())
        elif isinstance(handle, SoftObject):
            rows.append(handle.get_position())
        elif isinstance(handle, SingleBodyObject) and handle.get_body_type() == BodyType.DYNAMIC:
            rows.append(to_world(pose_of(handle), handle.get_com()))
    return np.array(rows).reshape(-1, 3)

"""The world and its time, as simulation_interfaces asks for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import NamedPose, Resource, Result, SimulationState, WorldResource

from raisim_ros.description.errors import (
    FileMissingError,
    FileRefusedError,
    InvalidValueError,
    MeshError,
    ParseError,
    RaisimError,
    TerrainError,
)
from raisim_ros.description.resources import resource_dir
from raisim_ros.description.world.types import WorldDescription
from raisim_ros.engine.errors import WrongStateError
from raisim_ros.ros.file_address import resolve_world
from raisim_ros.ros.following import Follow
from raisim_ros.ros.node.deferred_action import Goal, GoalEnd
from raisim_ros.ros.node.operations import NewWorld, Operations
from raisim_ros.ros.node.preparing import Preparing
from raisim_ros.ros.node.stepping import SteppingLoop, StepRequest
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.standard.entities import box_message, tag_filter
from raisim_ros.ros.standard.results import StandardError, fail
from raisim_ros.ros.standard.sources import files_in, source_folder
from raisim_ros.ros.standard.spawning import resource_of, root_of

Handler = Callable[[Any, Any], str | None]
Respond = Callable[[Any], None]

_STATES = {
    SimulationState.STATE_STOPPED: "stopped",
    SimulationState.STATE_PLAYING: "playing",
    SimulationState.STATE_PAUSED: "paused",
    SimulationState.STATE_QUITTING: "quitting",
}
_SCOPES = srv.ResetSimulation.Request
_ROOTS = ("raisim", "mujoco")
# What the description of a world that came as text calls its source.
_TEXT = "text"
# Feedback of a goal to step, at most this often [steps between two].
_FEEDBACK_STEPS = 1


class StandardWorld:
    """Handlers of the services about the world. For the executor thread."""

    def __init__(
        self,
        queue: RequestQueue,
        loop: SteppingLoop,
        operations: Operations,
        preparing: Preparing,
        follow: Follow,
        tell: Callable[[str], object],
        quit_node: Callable[[], None],
    ) -> None:
        """`tell` takes lines for the log; `quit_node` ends the process, after the answer."""
        self._queue = queue
        self._loop = loop
        self._operations = operations
        self._preparing = preparing
        self._follow = follow
        self._tell = tell
        self._quit = quit_node
        self._text = ""  # of the world, when it came as text
        self._stopped_at: int | None = 0 if loop.paused else None  # step count at which the world was stopped
        self.changing: dict[str, tuple[Any, Handler]] = {
            "reset_simulation": (srv.ResetSimulation, self._reset),
            "set_simulation_state": (srv.SetSimulationState, self._set_state),
            "unload_world": (srv.UnloadWorld, self._unload),
        }
        self.plain: dict[str, tuple[Any, Handler]] = {
            "get_simulation_state": (srv.GetSimulationState, self._get_state),
            "get_current_world": (srv.GetCurrentWorld, self._get_current),
            "get_available_worlds": (srv.GetAvailableWorlds, self._get_available),
            "get_named_poses": (srv.GetNamedPoses, self._get_poses),
            "get_named_pose_bounds": (srv.GetNamedPoseBounds, self._get_pose_bounds),
        }

    # ---- time ----

    def _state(self) -> int:
        """For the stepping thread."""
        if self._preparing.busy["world"] or self._preparing.busy["world_text"]:
            return int(SimulationState.STATE_LOADING_WORLD)
        if self._loaded is None:
            return int(SimulationState.STATE_NO_WORLD)
        if self._loop.free_running:
            return int(SimulationState.STATE_PLAYING)
        stopped = self._stopped_at == self._loop.step and not self._loop.pending_steps
        return int(SimulationState.STATE_STOPPED if stopped else SimulationState.STATE_PAUSED)

    def _get_state(self, request: Any, response: Any) -> None:
        response.state.state = self._queue.call(self._state)

    def _set_state(self, request: Any, response: Any) -> str:
        target = request.state.state
        answer = srv.SetSimulationState.Response
        if target not in _STATES:
            raise StandardError(answer.INCORRECT_TRANSITION, f"state {target} cannot be set; expected 0, 1, 2 or 3")

        def change() -> None:
            before = self._state()
            if before == target:
                raise StandardError(answer.ALREADY_IN_TARGET_STATE, f"the simulation is already {_STATES[target]}")
            if target == SimulationState.STATE_QUITTING:
                return
            if before in (SimulationState.STATE_NO_WORLD, SimulationState.STATE_LOADING_WORLD):
                raise StandardError(Result.RESULT_INCORRECT_STATE, "no world is loaded")
            if target == SimulationState.STATE_PLAYING:
                self._operations.play()
            else:
                self._operations.pause()
            self._stopped_at = None
            if target == SimulationState.STATE_STOPPED:
                self._operations.reset(state=True, spawned=True, time=True)
                self._stopped_at = self._loop.step

        self._queue.call(change)
        if target == SimulationState.STATE_QUITTING:
            self._quit()
        return f"the simulation is {_STATES[target]}"

    def _reset(self, request: Any, response: Any) -> str:
        scope = request.scope or _SCOPES.SCOPE_ALL
        known = _SCOPES.SCOPE_TIME | _SCOPES.SCOPE_STATE | _SCOPES.SCOPE_SPAWNED
        if scope not in (_SCOPES.SCOPE_ALL, scope & known):
            raise InvalidValueError(f"scope is {scope}; expected 0, 255 or a sum of 1 (time), 2 (state), 4 (spawned)")
        parts = {
            "time": bool(scope & _SCOPES.SCOPE_TIME),
            "state": bool(scope & _SCOPES.SCOPE_STATE),
            "spawned": bool(scope & _SCOPES.SCOPE_SPAWNED),
        }
        self._queue.call(lambda: self._operations.reset(**parts))
        return "reset: " + ", ".join(name for name, chosen in parts.items() if chosen)

    def step_simulation(self, request: Any, respond: Respond) -> None:
        """Takes steps; answers when the last was published."""
        response = srv.StepSimulation.Response()

        def done(left: int) -> None:
            if left:
                fail(response.result, WrongStateError(f"{left} of {request.steps} steps were cancelled"))
            else:
                response.result.result = Result.RESULT_OK
            respond(response)

        try:
            self._queue.call(lambda: self._begin_steps(StepRequest(request.steps, done)))
        except Exception as error:
            fail(response.result, error)
            respond(response)

    def _begin_steps(self, request: StepRequest) -> None:
        # The standard has this code for it, where others would say "incorrect state".
        if self._loop.free_running:
            raise StandardError(Result.RESULT_OPERATION_FAILED, "the simulation is playing; pause it before stepping")
        self._operations.step(request)

    def simulate_steps(self, goal: Goal) -> None:
        """The same as an action: tells after every step how many are left, and can be cancelled."""
        steps = int(goal.request.steps)
        result = SimulateSteps.Result()

        def done(left: int) -> None:
            if left == 0:
                result.result.result = Result.RESULT_OK
                goal.end(GoalEnd.SUCCEEDED, result)
                return
            fail(result.result, WrongStateError(f"{left} of {steps} steps were cancelled"))
            goal.end(GoalEnd.CANCELED if goal.wants_cancel else GoalEnd.ABORTED, result)

        def advanced(left: int) -> None:
            goal.tell(SimulateSteps.Feedback(completed_steps=steps - left, remaining_steps=left))

        request = StepRequest(steps, done, _FEEDBACK_STEPS, advanced)
        goal.on_cancel = lambda: self._cancel_steps(request)
        try:
            self._queue.call(lambda: self._begin_steps(request))
        except Exception as error:
            fail(result.result, error)
            goal.end(GoalEnd.ABORTED, result)

    def _cancel_steps(self, request: StepRequest) -> None:
        self._queue.post(lambda: self._loop.cancel_request(request))

    # ---- worlds ----

    def load_world(self, request: Any, respond: Respond) -> None:
        """Replaces the world; it then stands still at its beginning."""
        response = srv.LoadWorld.Response()

        def done(loaded: WorldResource | None, error: Exception | None) -> None:
            if error is None and loaded is not None:
                response.result.result, response.world = Result.RESULT_OK, loaded
                self._follow(followed)
            else:
                followed(error or InvalidValueError("nothing was loaded"))

        def followed(error: Exception | None) -> None:
            if error is None:
                self._tell(f"world '{response.world.name}' loaded")
            else:
                fail(response.result, _standard(error))
            respond(response)

        def apply(description: WorldDescription) -> WorldResource:
            if request.fail_on_unsupported_element and description.warnings:
                raise StandardError(srv.LoadWorld.Response.UNSUPPORTED_ELEMENTS, "; ".join(description.warnings))
            self._replace(description, text)
            loaded = self._loaded
            assert loaded is not None
            return loaded

        uri, text = resource_of(request)
        file: Path | None = None
        try:
            file = _world_file(uri, text)
        except Exception as error:
            done(None, error)
            return
        if file is not None:
            text = ""
            self._preparing.carry_out("world", (file, {}), f"load_world '{file.name}'", apply, done)
        else:
            self._preparing.carry_out("world_text", text, "load_world", apply, done)

    @property
    def _loaded(self) -> WorldResource | None:
        """The world that is loaded, through whichever service."""
        source = self._loop.world.get_config_file()
        if not source:
            return None
        return _world_resource("" if source == _TEXT else source, self._text)

    def _replace(self, description: WorldDescription, text: str) -> None:
        new = NewWorld.build(self._queue, self._loop.world, description)

        def take_over() -> None:
            self._operations.load_world(new, time=True)
            self._loop.throttled = False
            self._loop.set_paused(True)
            self._text = text
            self._stopped_at = self._loop.step

        self._queue.call(take_over)

    def _unload(self, request: Any, response: Any) -> str:
        if self._loaded is None:
            raise StandardError(srv.UnloadWorld.Response.NO_WORLD_LOADED, "no world is loaded")
        self._replace(WorldDescription(source=""), "")
        return "the world is empty"

    def _get_current(self, request: Any, response: Any) -> None:
        loaded = self._loaded
        if loaded is None:
            raise StandardError(srv.GetCurrentWorld.Response.NO_WORLD_LOADED, "no world is loaded")
        response.world = loaded

    def _get_available(self, request: Any, response: Any) -> str:
        folders = [resource_dir() / "worlds"]
        missing: list[str] = []
        for source in request.additional_sources:
            folder = source_folder(source)
            if folder is None:
                missing.append(source)
            else:
                folders.append(folder)
        if missing and not request.continue_on_error:
            raise StandardError(Result.RESULT_NOT_FOUND, f"additional_sources: no such folder: {', '.join(missing)}")
        passes = tag_filter(request.filter)
        for folder in folders:
            for file in files_in(folder, [".xml"]):
                world = _world_resource(str(file))
                if _is_world(file) and passes(world.tags):
                    response.worlds.append(world)
        return f"{len(response.worlds)} worlds"

    # ---- named poses ----

    def _get_poses(self, request: Any, response: Any) -> None:
        passes = tag_filter(request.tags)
        for pose in self._loop.world.get_named_poses():
            if not passes(pose.tags):
                continue
            x, y, z = pose.position
            qw, qx, qy, qz = pose.quaternion
            place = Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=qw, x=qx, y=qy, z=qz))
            tags = list(pose.tags)
            response.poses.append(NamedPose(name=pose.name, description=pose.description, tags=tags, pose=place))

    def _get_pose_bounds(self, request: Any, response: Any) -> None:
        found = next((pose for pose in self._loop.world.get_named_poses() if pose.name == request.name), None)
        if found is None:
            raise StandardError(Result.RESULT_NOT_FOUND, f"no pose is named '{request.name}'")
        half = None if found.size is None else 0.5 * np.array(found.size)
        response.bounds = box_message(None if half is None else (-half, half))


def _is_world(file: Path) -> bool:
    """Whether a file says that it is a world; what cannot be read, or is too large, is none."""
    try:
        return root_of(file, "")[0] in _ROOTS
    except RaisimError:
        return False


def _world_resource(file: str, text: str = "") -> WorldResource:
    path = Path(file) if file else None
    uri = "" if path is None else path.absolute().as_uri()
    name = "world" if path is None else path.stem
    return WorldResource(name=name, world_resource=Resource(uri=uri, resource_string=text if path is None else ""))


def _world_file(uri: str, text: str) -> Path | None:
    """The file that is meant; None: the text is."""
    answer = srv.LoadWorld.Response
    if not uri and not text.strip():
        raise StandardError(answer.NO_RESOURCE, "both uri and resource_string are empty")
    if not uri:
        file = None
    else:
        try:
            file = resolve_world(uri, "uri")
        except (FileMissingError, FileRefusedError) as error:
            raise StandardError(Result.RESULT_NOT_FOUND, str(error)) from error
    tag, _ = root_of(file, text)
    if tag not in (*_ROOTS, ""):
        raise StandardError(answer.UNSUPPORTED_FORMAT, f"<{tag}> is no world; expected <raisim> or <mujoco>")
    return file


def _standard(error: Exception) -> Exception:
    """The error with the code that loading has for it."""
    answer = srv.LoadWorld.Response
    if isinstance(error, StandardError):
        return error
    if isinstance(error, FileMissingError | FileRefusedError):
        return StandardError(answer.MISSING_ASSETS, str(error))
    if isinstance(error, (MeshError, TerrainError)):
        return StandardError(answer.UNSUPPORTED_ASSETS, str(error))
    if isinstance(error, (ParseError, InvalidValueError)):
        return StandardError(answer.RESOURCE_PARSE_ERROR, str(error))
    return error

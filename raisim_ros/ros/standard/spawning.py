"""Adding entities as simulation_interfaces asks for it: by address or text, in a namespace, at a pose in any frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulation_interfaces import srv
from simulation_interfaces.msg import Resource, Result, Spawnable, SpawnResult

from raisim_ros.description.errors import (
    FileMissingError,
    FileRefusedError,
    InvalidValueError,
    MeshError,
    ParseError,
    RaisimError,
    TerrainError,
)
from raisim_ros.description.file_kind import root_of_file, root_of_text
from raisim_ros.description.resources import resource_dir
from raisim_ros.ros import names
from raisim_ros.ros.conversions import BodyPose, pose_from_message
from raisim_ros.ros.file_address import resolve_file
from raisim_ros.ros.following import Follow
from raisim_ros.ros.node.preparing import Preparing
from raisim_ros.ros.objects.known_frames import KnownFrames, UnknownFrameError
from raisim_ros.ros.objects.object_table import NameTakenError, ObjectRow, ObjectTable
from raisim_ros.ros.objects.spawning import Naming, RobotSpec, Spawner
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.standard.results import StandardError, fail
from raisim_ros.ros.standard.sources import files_in, source_folder
from raisim_ros.srv import SpawnArticulatedSystem

FORMATS = ("urdf", "xacro", "mjcf", "raisim")
_ROBOT_TAG = "robot"
_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf")

Respond = Callable[[Any], None]


def resource_of(message: Any) -> tuple[str, str]:
    """Address and text of what shall be added or loaded, in the layout of either version of the standard."""
    for field in ("entity_resource", "world_resource"):
        if hasattr(message, field):
            message = getattr(message, field)
    return message.uri, message.resource_string


@dataclass(frozen=True)
class _Source:
    """Where an entity comes from: a file or a text, and what its root element is."""

    file: Path | None
    text: str
    tag: str
    own_name: str


class StandardSpawning:
    """`spawn_entity`, `spawn_entities` and `get_spawnables`. For the executor thread."""

    def __init__(
        self,
        queue: RequestQueue,
        table: ObjectTable,
        spawner: Spawner,
        frames: KnownFrames,
        preparing: Preparing,
        follow: Follow,
        tell: Callable[[str], object],
    ) -> None:
        self._queue = queue
        self._table = table
        self._spawner = spawner
        self._frames = frames
        self._preparing = preparing
        self._follow = follow
        self._tell = tell

    # ---- services ----

    def spawn_entity(self, request: Any, respond: Respond) -> None:
        """Adds one."""
        response = srv.SpawnEntity.Response()

        def done(result: Any) -> None:
            response.result, response.entity_name = result.result, result.entity_name
            respond(response)

        self._spawn(request, done)

    def spawn_entities(self, request: Any, respond: Respond) -> None:
        """Adds several, one after another; each has its own result."""
        response = srv.SpawnEntities.Response()
        left = deque(request.spawn_requests)

        def note(result: Any) -> None:
            response.results.append(result)
            self._preparing.later(next_one)

        def next_one() -> None:
            if left:
                self._spawn(left.popleft(), note)
                return
            failed = [one for one in response.results if one.result.result != Result.RESULT_OK]
            if failed:
                response.result.result = srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
                response.result.error_message = f"{len(failed)} of {len(response.results)} were not added"
            else:
                response.result.result = Result.RESULT_OK
            respond(response)

        next_one()

    def get_spawnables(self, request: Any, response: Any) -> str:
        """What comes with the package, and what lies in other folders."""
        robots = resource_dir() / "robots"
        files = [(f"package://raisim_ros/rsc/robots/{file.name}", file) for file in sorted(robots.glob("*.urdf"))]
        unknown = []
        for source in request.sources:
            folder = source_folder(source)
            if folder is None:
                unknown.append(source)
                continue
            files += [(file.absolute().as_uri(), file) for file in files_in(folder, _SUFFIXES)]
        for uri, file in files:
            spawnable = Spawnable(description=file.stem.replace("_", " "))
            if hasattr(spawnable, "entity_resource"):
                spawnable.entity_resource = Resource(uri=uri)
            else:
                spawnable.uri = uri
            response.spawnables.append(spawnable)
        return f"not found: {', '.join(unknown)}" if unknown else ""

    # ---- one entity ----

    def _spawn(self, message: Any, done: Callable[[Any], None]) -> None:
        result = SpawnResult()

        def finish(entry: ObjectRow | None, error: Exception | None) -> None:
            if error is None and entry is not None:
                result.result.result, result.entity_name = Result.RESULT_OK, entry.name
                self._tell(f"added {entry.type} '{entry.name}'")
                self._follow(followed)
            else:
                followed(error or RaisimError("nothing was added"))

        def followed(error: Exception | None) -> None:
            if error is not None:
                fail(result.result, _standard(error))
            done(result)

        try:
            source = _source(message)
            pose = _pose(message)
            naming = self._naming(message, source)
        except Exception as error:
            finish(None, error)
            return
        what = f"spawn_entity '{naming.name}'"
        if source.tag == _ROBOT_TAG:
            request = SpawnArticulatedSystem.Request(name=naming.name)
            request.file, request.text = str(source.file or ""), source.text

            def add_robot(spec: RobotSpec) -> ObjectRow:
                return self._queue.call(lambda: self._spawner.spawn_robot(self._placed(spec, naming, message, pose)))

            self._preparing.carry_out("robot", request, what, add_robot, finish)
            return

        def add_entry(entry: Any) -> ObjectRow:
            def add() -> ObjectRow:
                place = self._frames.to_world(message.initial_pose.header.frame_id, pose)
                return self._spawner.spawn_entry(naming, entry, place)

            return self._queue.call(add)

        self._preparing.carry_out("entry", (source.file, source.text), what, add_entry, finish)

    def _placed(self, spec: RobotSpec, naming: Naming, message: Any, pose: BodyPose) -> RobotSpec:
        place = self._frames.to_world(message.initial_pose.header.frame_id, pose)
        return replace(spec, naming=naming, pose=place)

    def _naming(self, message: Any, source: _Source) -> Naming:
        """The full name: namespace and name, or the name in the file."""
        namespace = message.entity_namespace.strip("/")
        if namespace and names.sanitise(namespace) != namespace:
            raise StandardError(
                SpawnResult.NAMESPACE_INVALID,
                f"entity_namespace '{message.entity_namespace}' is no valid namespace",
            )
        name = message.name or source.own_name
        if not message.allow_renaming and (not name or names.sanitise(name) != name):
            reason = "has characters other than letters, digits and _" if name else "is empty"
            raise StandardError(SpawnResult.NAME_INVALID, f"name '{name}' {reason}; set allow_renaming for another")
        full = f"{namespace}/{names.sanitise(name) or 'entity'}" if namespace else name
        self._queue.call(lambda: self._table.free_name(full, message.allow_renaming))
        return Naming(full, message.allow_renaming)


def _pose(message: Any) -> BodyPose:
    try:
        return pose_from_message(message.initial_pose.pose, "initial_pose")
    except InvalidValueError as error:
        raise StandardError(SpawnResult.INVALID_POSE, str(error)) from error


def _source(message: Any) -> _Source:
    uri, text = resource_of(message)
    if not uri and not text.strip():
        raise StandardError(SpawnResult.NO_RESOURCE, "both uri and resource_string are empty")
    file = None
    if uri:
        text = ""
        try:
            file = resolve_file(uri, "uri")
        except (FileMissingError, FileRefusedError) as error:
            raise StandardError(Result.RESULT_NOT_FOUND, str(error)) from error
    tag, own_name = root_of(file, text)
    if tag in ("sdf", "usd") or (file is not None and file.suffix in (".usd", ".usda", ".usdc", ".usdz", ".sdf")):
        known = ", ".join(FORMATS)
        raise StandardError(SpawnResult.UNSUPPORTED_FORMAT, f"<{tag}> is not supported; expected one of {known}")
    return _Source(file, text, tag, own_name)


def root_of(file: Path | None, text: str) -> tuple[str, str]:
    """Tag and name of the root element; empty when it is no XML: whoever reads it tells what is wrong."""
    tag, attributes = root_of_text(text) if file is None else root_of_file(file, "uri")
    if not tag and file is not None and file.suffix in (".urdf", ".xacro"):
        tag = _ROBOT_TAG
    return tag, attributes.get("name") or attributes.get("model") or ""


def _standard(error: Exception) -> Exception:
    """The error with the code that spawning has for it."""
    if isinstance(error, StandardError):
        return error
    if isinstance(error, NameTakenError):
        return StandardError(SpawnResult.NAME_NOT_UNIQUE, str(error))
    if isinstance(error, FileMissingError | FileRefusedError):
        return StandardError(SpawnResult.MISSING_ASSETS, str(error))
    if isinstance(error, (MeshError, TerrainError)):
        return StandardError(SpawnResult.UNSUPPORTED_ASSETS, str(error))
    if isinstance(error, ParseError):
        return StandardError(SpawnResult.RESOURCE_PARSE_ERROR, str(error))
    if isinstance(error, UnknownFrameError):
        return StandardError(SpawnResult.INVALID_POSE, str(error))
    return error

"""The node's services: each translates a request, lets the stepping thread carry it out, and answers."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node

import raisim_ros.srv as srv
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.export import write_world_file
from raisim_ros.description.world.types import WorldDescription
from raisim_ros.engine.world.world import World
from raisim_ros.msg import ResultCode
from raisim_ros.ros import qos
from raisim_ros.ros.conversions import pose_from_message, twist_from_message
from raisim_ros.ros.file_address import resolve_world
from raisim_ros.ros.following import Following
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node import inputs, requests
from raisim_ros.ros.node.answers import Answers
from raisim_ros.ros.node.deferred_service import DeferredService
from raisim_ros.ros.node.operations import NewWorld, Operations
from raisim_ros.ros.node.outcome import result_code
from raisim_ros.ros.node.preparing import Preparing
from raisim_ros.ros.node.recording_services import RecordingServices
from raisim_ros.ros.node.setting_services import SettingServices
from raisim_ros.ros.node.stepping import SteppingLoop, StepRequest
from raisim_ros.ros.node.written_files import check_target
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import TYPE_NAMES, ObjectRow
from raisim_ros.ros.objects.request_fields import check_material
from raisim_ros.ros.objects.spawning import Naming, NewObject, RobotSpec, Spawner
from raisim_ros.ros.objects.state_topics import full_state
from raisim_ros.ros.request_queue import Origin, RequestQueue, acting_for
from raisim_ros.ros.sensors.services import SensorServices
from raisim_ros.ros.wires.services import WireServices

# Services that change no world, and those that only let its time run or stand.
_ASKING = ("get_", "list_", "ray_", "save_world", "start_recording", "stop_recording")
_TIME = ("pause", "play", "step", "step_simulation")

Handler = Callable[[Any, Any], str]
# Carries out a request, given what preparation made of it, and fills the answer.
Apply = Callable[[Any, Any, Any], str]


class Services:
    """All services. Their callbacks run on the executor thread."""

    def __init__(
        self,
        node: Node,
        queue: RequestQueue,
        loop: SteppingLoop,
        operations: Operations,
        endpoints: Sequence[FollowingEndpoints[Any, Any, Any]],
        frames: FrameNames,
        sensors: SensorServices,
        wires: WireServices,
        preparing: Preparing,
        settings: SettingServices,
        recording: RecordingServices,
        after_change: Callable[[], None],
    ) -> None:
        """`after_change` is called when objects or the whole world have changed."""
        self._preparing = preparing
        self._node = node
        self._queue = queue
        self._loop = loop
        self._world: World = loop.world
        self._operations = operations
        self._spawner = Spawner(loop.world, loop.table)
        self.following = Following(endpoints, after_change, preparing.later, lambda: loop.is_late)
        self._frames = frames
        self._saving = threading.Lock()
        # Services that can change the world, with their types.
        self.changing: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {}
        self._answers = Answers(node.get_logger().warning)
        for service in node.services:
            self._answers.take_over(service)
        changing = {**self._changing(), **sensors.changing, **wires.changing}
        plain = {**self._plain(), **sensors.plain, **settings.plain, **wires.plain, **recording.plain}
        prepared = self._prepared()
        self._told = {*changing, *prepared, *recording.plain, "save_world"}
        self._deferred = [
            DeferredService(self.create, srv.Step, "step", self._step),
            DeferredService(self.create, srv.SaveWorld, "save_world", self._save_world),
        ]
        for name, (service_type, handler) in changing.items():
            handle = partial(self._change, name, service_type, handler)
            self._deferred.append(DeferredService(self.create, service_type, name, handle))
        for name, (service_type, handler) in plain.items():
            self.create(service_type, name, self._answering(name, handler))
        for name, (service_type, function, apply) in prepared.items():
            handle = partial(self._prepare, name, service_type, function, apply)
            self._deferred.append(DeferredService(self.create, service_type, name, handle))
        self.names = sorted([*changing, *plain, *prepared, "step", "save_world"])

    def _changing(self) -> dict[str, tuple[Any, Handler]]:
        """Those that add or remove objects: their topics exist, or are gone, when the answer comes."""
        return {
            "clone_object": (srv.CloneObject, self._clone_object),
            "remove_object": (srv.RemoveObject, self._remove_object),
            "restore_snapshot": (srv.RestoreSnapshot, self._restore_snapshot),
            "reset": (srv.Reset, self._reset),
        }

    def _plain(self) -> dict[str, tuple[Any, Handler]]:
        """Those that change no objects."""
        return {
            "list_objects": (srv.ListObjects, self._list_objects),
            "get_object_info": (srv.GetObjectInfo, self._get_object_info),
            "set_object_state": (srv.SetObjectState, self._set_object_state),
            "set_material_pair": (srv.SetMaterialPair, self._set_material_pair),
            "get_material_pair": (srv.GetMaterialPair, self._get_material_pair),
            "set_default_material": (srv.SetDefaultMaterial, self._set_default_material),
            "set_object_material": (srv.SetObjectMaterial, self._set_object_material),
            "set_collision_filter": (srv.SetCollisionFilter, self._set_collision_filter),
            "save_snapshot": (srv.SaveSnapshot, self._save_snapshot),
            "pause": (srv.Pause, self._pause),
            "play": (srv.Play, self._play),
        }

    def _prepared(self) -> dict[str, tuple[Any, str, Apply]]:
        """Those that read files, generate or decompose before the world changes: type, function, what it does then."""
        return {
            "spawn_object": (srv.SpawnObject, "body", self._spawn_object),
            "spawn_articulated_system": (srv.SpawnArticulatedSystem, "robot", self._spawn_articulated_system),
            "spawn_height_map": (srv.SpawnHeightMap, "terrain", self._spawn_object),
            "spawn_granular": (srv.SpawnGranular, "granular", self._spawn_soft),
            "spawn_deformable": (srv.SpawnDeformable, "deformable", self._spawn_soft),
            "load_world_file": (srv.LoadWorld, "world", self._load_world),
        }

    def send_kept_answers(self) -> None:
        """Sends answers whose client was not discovered before. To be called between callbacks."""
        self._answers.send_again()

    def create(self, service_type: Any, name: str, callback: Callable[[Any, Any], Any]) -> Any:
        """A service whose requests and answers are not lost."""

        def serve(request: Any, response: Any) -> Any:
            with acting_for(Origin(inputs.SERVICE, name, request)):
                return callback(request, response)

        changing = name not in _TIME and not name.startswith(_ASKING)
        if changing:
            self.changing[name] = service_type, callback
        served = serve if changing else callback
        service = self._node.create_service(service_type, name, served, qos_profile=qos.SERVICE)
        self._answers.take_over(service)
        return service

    def _answering(self, name: str, handler: Handler) -> Callable[[Any, Any], Any]:
        def callback(request: Any, response: Any) -> Any:
            try:
                response.message = handler(request, response)
                self._finish(name, response)
            except Exception as error:
                self._refuse(response, error)
            return response

        return callback

    def _change(
        self, name: str, service_type: Any, handler: Handler, request: Any, respond: Callable[[Any], None]
    ) -> None:
        """Answers when topics have followed the change."""
        response = service_type.Response()
        try:
            response.message = handler(request, response)
        except Exception as error:
            self._refuse(response, error)
            respond(response)
        else:
            self._follow_and_answer(name, response, respond)

    def _follow_and_answer(self, name: str, response: Any, respond: Callable[[Any], None]) -> None:
        def done(error: Exception | None) -> None:
            if error is None:
                self._finish(name, response)
            else:
                self._refuse(response, error)
            respond(response)

        self.following.follow(done)

    def _finish(self, name: str, response: Any) -> None:
        response.result = ResultCode.OK
        if name in self._told:
            self._node.get_logger().info(response.message)

    def _prepare(
        self,
        name: str,
        service_type: Any,
        function: str,
        apply: Apply,
        request: Any,
        respond: Callable[[Any], None],
    ) -> None:
        """Answers when the request was prepared and carried out; other services go on meanwhile."""
        response = service_type.Response()

        def done(message: str | None, error: Exception | None) -> None:
            if error is None:
                response.message = message or ""
                self._follow_and_answer(name, response, respond)
            else:
                self._refuse(response, error)
                respond(response)

        try:
            argument = self._world_argument(request) if function == "world" else request
        except Exception as error:
            done(None, error)
            return
        what = f"{name} '{request.file if function == 'world' else request.name}'"
        self._preparing.carry_out(
            function, argument, what, lambda prepared: apply(request, prepared, response), done
        )

    @staticmethod
    def _world_argument(request: Any) -> tuple[Path, dict[str, str]]:
        return resolve_world(request.file, "file"), requests.parameters(request)

    def _refuse(self, response: Any, error: Exception) -> None:
        response.result = result_code(error)
        response.message = str(error)
        if response.result == ResultCode.INTERNAL_ERROR:
            response.message = f"{type(error).__name__}: {error}"
            self._node.get_logger().error("".join(traceback.format_exception(error)))

    # ---- adding and removing ----

    def _added(self, response: Any, entry: ObjectRow) -> str:
        response.name, response.id = entry.name, entry.id
        return f"added {entry.type} '{entry.name}'"

    def _spawn_object(self, request: Any, new: NewObject, response: Any) -> str:
        return self._added(response, self._queue.call(lambda: self._spawner.spawn(new)))

    def _spawn_soft(self, request: Any, new: NewObject, response: Any) -> str:
        entry = self._queue.call(lambda: self._spawner.spawn(new))
        response.particles = self._queue.call(entry.handle.get_num_particles)
        return f"{self._added(response, entry)} of {response.particles} particles"

    def _spawn_articulated_system(self, request: Any, spec: RobotSpec, response: Any) -> str:
        entry = self._queue.call(lambda: self._spawner.spawn_robot(spec))
        assert entry.joints is not None
        response.link_names, response.joint_names = entry.joints.link_names, entry.joints.names
        return self._added(response, entry)

    def _clone_object(self, request: Any, response: Any) -> str:
        pose = None if request.keep_pose else pose_from_message(request.pose, "pose")
        naming = Naming(request.name, request.allow_renaming)
        copy_collision = request.copy_collision_properties
        return self._added(
            response,
            self._queue.call(lambda: self._spawner.clone(request.source, naming, pose, copy_collision)),
        )

    def _remove_object(self, request: Any, response: Any) -> str:
        self._queue.call(lambda: self._operations.remove(request.name))
        return f"removed '{request.name}'"

    # ---- asking and setting ----

    def _list_objects(self, request: Any, response: Any) -> str:
        if request.type and request.type not in TYPE_NAMES.values():
            raise InvalidValueError(f"type is '{request.type}'; expected one of {', '.join(TYPE_NAMES.values())}")
        rows = self._queue.call(
            lambda: [(entry.name, entry.id, entry.type, entry.body_type) for entry in self._loop.table.rows()]
        )
        for name, object_id, type_name, body_type in rows:
            if request.type in ("", type_name):
                response.names.append(name)
                response.ids.append(object_id)
                response.types.append(type_name)
                response.body_types.append(body_type)
        return f"{len(response.names)} objects"

    def _get_object_info(self, request: Any, response: Any) -> str:
        prefix = self._node.get_namespace().rstrip("/") + "/"

        def read() -> None:
            entry = self._loop.table.get(request.name)
            response.info = requests.object_info(self._world, entry, self._frames.of(entry.name), prefix)
            moment = Moment.now(self._loop.step, self._world.get_world_time(), everything=False)
            response.state = full_state(
                entry, self._frames.world, self._world.read_states(True), self._world.read_articulations(True), moment
            )

        self._queue.call(read)
        return f"'{request.name}' is a {response.info.type}"

    def _set_object_state(self, request: Any, response: Any) -> str:
        pose = pose_from_message(request.pose, "pose") if request.set_pose else None
        twist = twist_from_message(request.twist, "twist") if request.set_twist else None
        joints = requests.joint_placement(request)
        self._queue.call(lambda: self._operations.set_state(request.name, pose, twist, joints))
        return f"state of '{request.name}' set"

    def _set_material_pair(self, request: Any, response: Any) -> str:
        first, second = request.material_1, request.material_2
        check_material(first, "material_1")
        check_material(second, "material_2")
        arguments = requests.material_pair_arguments(request.properties)
        self._queue.call(lambda: self._world.set_material_pair_prop(first, second, *arguments))
        return f"pair '{first}', '{second}' set"

    def _get_material_pair(self, request: Any, response: Any) -> str:
        names = (request.material_1, request.material_2)
        for number, name in enumerate(names, start=1):
            check_material(name, f"material_{number}")
        pair = self._queue.call(lambda: self._world.get_material_pair_properties(*names))
        response.properties = requests.material_pair_message(pair)
        return f"pair '{names[0]}', '{names[1]}'"

    def _set_default_material(self, request: Any, response: Any) -> str:
        arguments = requests.material_pair_arguments(request.properties)
        self._queue.call(lambda: self._world.set_default_material(*arguments))
        return "default material set"

    def _set_object_material(self, request: Any, response: Any) -> str:
        name, material, index = request.name, request.material, request.local_index
        check_material(material, "material")
        self._queue.call(lambda: self._operations.set_material(name, material, index))
        return f"material of '{request.name}' is '{request.material}'"

    def _set_collision_filter(self, request: Any, response: Any) -> str:
        group, mask, index = request.collision_group, request.collision_mask, request.local_index
        self._queue.call(lambda: self._operations.set_collision_filter(request.name, group, mask, index))
        return f"collision filter of '{request.name}' set"

    # ---- world ----

    def _load_world(self, request: Any, description: WorldDescription, response: Any) -> str:
        new = NewWorld.build(self._queue, self._world, description)
        self._queue.call(lambda: self._operations.load_world(new, time=request.time))
        response.names = self._queue.call(lambda: [entry.name for entry in self._loop.table.rows()])
        for text in description.warnings:
            self._node.get_logger().warning(text)
        return "\n".join([f"{len(response.names)} objects loaded", *description.warnings])

    def _save_world(self, request: Any, respond: Callable[[Any], None]) -> None:
        """Answers when the file is written, which a thread of its own does."""
        response = srv.SaveWorld.Response()

        def save() -> str:
            with self._saving:  # of two requests for one new file, the second is refused
                path = check_target(requests.new_world_file(request.file), request.overwrite)
                write_world_file(path, self._queue.call(lambda: self._world.describe(path)))
                return f"world saved to '{path}'"

        def done(message: str | None, error: Exception | None) -> None:
            if error is None:
                response.message = message or ""
                self._finish("save_world", response)
            else:
                self._refuse(response, error)
            respond(response)

        self._preparing.beside(save, f"save_world '{request.file}'", done)

    def _save_snapshot(self, request: Any, response: Any) -> str:
        self._queue.call(lambda: self._operations.save_snapshot(request.name))
        return f"snapshot '{request.name}' saved"

    def _restore_snapshot(self, request: Any, response: Any) -> str:
        self._queue.call(lambda: self._operations.restore_snapshot(request.name, request.restore_time))
        return f"snapshot '{request.name}' restored"

    def _reset(self, request: Any, response: Any) -> str:
        parts = {name: getattr(request, name) for name in ("state", "spawned", "time")}

        def carry_out() -> float:
            self._operations.reset(**parts)
            return time.time()

        response.wall_time = self._queue.call(carry_out)
        return "reset: " + ", ".join(name for name, chosen in parts.items() if chosen)

    def _pause(self, request: Any, response: Any) -> str:
        self._queue.call(self._operations.pause)
        return "paused"

    def _play(self, request: Any, response: Any) -> str:
        self._queue.call(self._operations.play)
        return "playing"

    def _step(self, request: Any, respond: Callable[[Any], None]) -> None:
        """Answers when the last step was published; other services go on meanwhile."""
        response = srv.Step.Response()

        def done(left: int) -> None:
            response.sim_step, response.sim_time = self._loop.step, self._world.get_world_time()
            response.result = ResultCode.OK if left == 0 else ResultCode.WRONG_STATE
            taken = f"{request.steps - left} of {request.steps} steps taken"
            response.message = taken if left == 0 else f"{taken}; the rest was cancelled"
            respond(response)

        try:
            self._queue.call(lambda: self._operations.step(StepRequest(request.steps, done)))
        except Exception as error:
            self._refuse(response, error)
            respond(response)

"""simulation_interfaces, the services that simulators have in common, beside those of this package.

Both call the same operations. Names and codes are those of the standard; either version of its messages will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, SimulatorFeatures

from raisim_ros.ros.following import Follow
from raisim_ros.ros.node.deferred_action import DeferredAction
from raisim_ros.ros.node.deferred_service import DeferredService
from raisim_ros.ros.node.preparing import ExecutorTasks
from raisim_ros.ros.standard.entities import StandardEntities
from raisim_ros.ros.standard.results import answering, fail
from raisim_ros.ros.standard.spawning import FORMATS, StandardSpawning
from raisim_ros.ros.standard.world import StandardWorld

_FEATURES = (
    "SPAWNING",
    "DELETING",
    "NAMED_POSES",
    "POSE_BOUNDS",
    "ENTITY_TAGS",
    "ENTITY_BOUNDS",
    "ENTITY_BOUNDS_BOX",
    "ENTITY_BOUNDS_CONVEX",
    "ENTITY_CATEGORIES",
    "SPAWNING_RESOURCE_STRING",
    "ENTITY_STATE_GETTING",
    "ENTITY_STATE_SETTING",
    "ENTITY_INFO_GETTING",
    "ENTITY_INFO_SETTING",
    "SPAWNABLES",
    "SIMULATION_RESET",
    "SIMULATION_RESET_TIME",
    "SIMULATION_RESET_STATE",
    "SIMULATION_RESET_SPAWNED",
    "SIMULATION_STATE_GETTING",
    "SIMULATION_STATE_SETTING",
    "SIMULATION_STATE_PAUSE",
    "STEP_SIMULATION_SINGLE",
    "STEP_SIMULATION_MULTIPLE",
    "STEP_SIMULATION_ACTION",
    "WORLD_LOADING",
    "WORLD_RESOURCE_STRING",
    "WORLD_TAGS",
    "WORLD_UNLOADING",
    "WORLD_INFO_GETTING",
    "AVAILABLE_WORLDS",
    "SPAWNING_ENTITIES",
)


class StandardServices:
    """All services and the action of the standard. Their callbacks run on the executor thread."""

    def __init__(
        self,
        node: Node,
        create: Callable[[Any, str, Callable[[Any, Any], Any]], Any],
        tasks: ExecutorTasks,
        follow: Follow,
        entities: StandardEntities,
        spawning: StandardSpawning,
        world: StandardWorld,
    ) -> None:
        """`create` makes a service; `follow` lets topics come and go with their objects."""
        self._follow = follow
        self._tell = node.get_logger().info
        plain = {
            **entities.plain,
            **world.plain,
            "get_spawnables": (srv.GetSpawnables, spawning.get_spawnables),
        }
        changing = {**entities.changing, **world.changing}
        deferred: dict[str, tuple[Any, Callable[[Any, Callable[[Any], None]], None]]] = {
            "spawn_entity": (srv.SpawnEntity, spawning.spawn_entity),
            "spawn_entities": (srv.SpawnEntities, spawning.spawn_entities),
            "step_simulation": (srv.StepSimulation, world.step_simulation),
            "load_world": (srv.LoadWorld, world.load_world),
        }
        for name, (service_type, handler) in plain.items():
            create(service_type, name, answering(handler))
        for name, (service_type, handler) in changing.items():
            deferred[name] = service_type, self._following(service_type, handler)
        self._deferred = [DeferredService(create, kind, name, handle) for name, (kind, handle) in deferred.items()]
        create(srv.GetSimulatorFeatures, "get_simulator_features", _features)
        self._action = DeferredAction(node, SimulateSteps, "simulate_steps", tasks, world.simulate_steps)
        self.names = sorted([*plain, *deferred, "get_simulator_features"])

    def _following(
        self, service_type: Any, handler: Callable[[Any, Any], str | None]
    ) -> Callable[[Any, Callable[[Any], None]], None]:
        """Answers when topics have followed the change."""

        def handle(request: Any, respond: Callable[[Any], None]) -> None:
            response = answering(handler)(request, service_type.Response())

            def done(error: Exception | None) -> None:
                if error is not None:
                    fail(response.result, error)
                else:
                    self._tell(response.result.error_message)
                respond(response)

            if response.result.result == Result.RESULT_OK:
                self._follow(done)
            else:
                respond(response)

        return handle


def _features(request: Any, response: Any) -> Any:
    response.features.features = [getattr(SimulatorFeatures, name) for name in _FEATURES]
    response.features.spawn_formats = list(FORMATS)
    response.features.custom_info = "raisim_ros: docs/ros_interface.md; entities can also be single world file objects"
    return response

"""The world as its handles see it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from raisim_ros.engine.arguments import Vector

if TYPE_CHECKING:
    from raisim_ros.description.world.types import WorldDescription
    from raisim_ros.engine.objects.body_owner import BodyOwner
    from raisim_ros.engine.objects.contact import Contact
    from raisim_ros.engine.objects.object_handle import Object
    from raisim_ros.engine.sensors.sensor import SensorSet


class Home(Protocol):
    """What objects, wires, contacts and sensors may ask of the world that they are in."""

    _world: Any  # the engine's
    _new_followers: list[int]  # ids of robots whose PD gains are looked at before the next step

    def locked(self) -> AbstractContextManager[None]:
        """Keep other threads out."""

    def get_world_time(self) -> float:
        """Simulated time [s]."""

    def get_time_step(self) -> float:
        """Duration of a step [s]."""

    def get_step_count(self) -> int:
        """Steps since the world was created."""

    def get_gravity(self) -> Vector:
        """Gravitational acceleration [m/s^2]."""

    def get_obj_list(self) -> list[Object]:
        """All objects."""

    def get_sensor_sets(self, obj: Object | None = None) -> list[SensorSet]:
        """Sensor sets of an object, or of all objects."""

    def get_sensor_set(self, obj: Object, name: str) -> SensorSet | None:
        """The sensor set of that name on an object."""

    def _handle_of(self, engine_id: int) -> BodyOwner:
        """The object with that number of the engine."""

    def _contacts_of(self, handle: Object) -> list[Contact]:
        """Contacts of an object in the last step."""

    def _describe(self, chosen: Sequence[Object]) -> WorldDescription:
        """The world with some of its objects only, as a file would have it."""

    def _rename(self, handle: Object, name: str) -> None:
        """Give an object another name."""

    def _register(self, handle: Object) -> None:
        """Keep a new object."""

    def _material(self, name: str) -> int:
        """The engine's number of a material."""

    def _material_name(self, index: int) -> str:
        """The material of that number."""

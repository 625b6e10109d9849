"""What everything in a world has: an identity, a look, topics, sensors, contacts."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.engine import arguments
from raisim_ros.engine._library import lib
from raisim_ros.engine.errors import ObjectRemovedError, check
from raisim_ros.engine.known_names import KnownNames
from raisim_ros.engine.objects.contact import Contact

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home
    from raisim_ros.engine.sensors.sensor import SensorSet


class Object(KnownNames):
    """Something in a world. Using the handle after the object was removed raises ObjectRemovedError."""

    _KEPT: ClassVar[tuple[str, ...]] = ("_appearance", "_interface")

    _world: Home
    _engine_id: int
    _type: ObjectType
    _name: str
    _appearance: str
    _interface: InterfaceSettings

    def __init__(self, world: Home, engine_id: int, object_type: ObjectType, appearance: str = "") -> None:
        self._world = world
        self._engine_id = engine_id
        self._type = object_type
        self._name = ""
        self._appearance = appearance
        self._interface = InterfaceSettings()

    def _kept(self) -> dict[str, object]:
        """What a snapshot keeps besides the name and what the engine knows."""
        return {name: getattr(self, name) for name in self._KEPT}

    def _check_kept(self, kept: dict[str, Any]) -> None:
        """Raise InvalidValueError unless this, of the right types, can be restored here."""

    def _restore_kept(self, kept: dict[str, object]) -> None:
        for name, value in kept.items():
            setattr(self, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The handle of the same object in a copy of the world; to copy the object itself, see World.clone_object()."""
        if id(self._world) not in memo:
            deepcopy(self._world, memo)
        if id(self) not in memo:
            memo[id(self)] = made = type(self).__new__(type(self))
            made.__dict__.update(deepcopy(self.__dict__, memo))
        return memo[id(self)]

    def __repr__(self) -> str:
        name = f" '{self._name}'" if self._name else ""
        return f"<{type(self).__name__} {self.get_id()}{name}>"

    @property
    def _c(self) -> Any:
        """The engine's world."""
        return self._world._world

    def _alive(self) -> None:
        if not lib.rs_object_is_alive(self._c, self._engine_id):
            raise ObjectRemovedError(f"{self!r} was removed from its world")

    def get_id(self) -> int:
        """Stable number of the object, never reused within a world."""
        return self._engine_id >> 32

    def get_index_in_world(self) -> int:
        """Present place in the world's object list; removing other objects can change it."""
        self._alive()
        return int(lib.rs_object_index(self._c, self._engine_id))

    def set_name(self, name: str) -> None:
        """Give the object a name; names need not be unique, look-ups return the first."""
        self._alive()
        self._world._rename(self, name)

    def get_name(self) -> str:
        """The name, empty when none was given."""
        return self._name

    def get_object_type(self) -> ObjectType:
        """What the object is."""
        return self._type

    def set_appearance(self, appearance: str) -> None:
        """Set the look: a colour name, "r g b a" (0..1), a texture name or "hidden"."""
        self._alive()
        self._appearance = arguments.text("appearance", appearance)
        check(lib.rs_world_touch(self._c))

    def get_appearance(self) -> str:
        """The look, empty for the default one."""
        return self._appearance

    def set_interface(self, settings: InterfaceSettings) -> None:
        """Set what the object's state and command topics hold, and the gains of commanded poses."""
        self._alive()
        if not isinstance(settings, InterfaceSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected InterfaceSettings")
        if settings.drive is not None and not hasattr(self, "get_kinematic_tree"):
            raise InvalidValueError("drive: only an articulated system can be driven")
        self._interface = settings
        check(lib.rs_world_touch(self._c))

    def get_interface(self) -> InterfaceSettings:
        """What the object's state and command topics hold; the defaults unless a world file or a call set it."""
        return self._interface

    def get_sensor_sets(self) -> list[SensorSet]:
        """The sensor sets that the object carries."""
        self._alive()
        return self._world.get_sensor_sets(self)

    def get_sensor_set(self, name: str) -> SensorSet | None:
        """The sensor set of that name (a robot's is named after its link); None when there is none."""
        self._alive()
        return self._world.get_sensor_set(self, name)

    def get_contacts(self) -> list[Contact]:
        """Contacts of the object in the last step."""
        self._alive()
        return self._world._contacts_of(self)

"""Handles of objects that are only seen: lights and cameras of viewers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.scene_types import LightSettings, ViewCameraSettings
from raisim_ros.engine.arguments import BodyLike, Vector
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.handles import SingleBodyObject

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Settings = TypeVar("Settings", bound=LightSettings | ViewCameraSettings)


class SceneObject(SingleBodyObject, Generic[Settings]):
    """Something without mass and shape, always kinematic: it moves with the velocity it is given."""

    _KEPT = (*SingleBodyObject._KEPT, "_settings")
    _settings: Settings

    def __init__(self, world: Home, engine_id: int, object_type: ObjectType, settings: Settings) -> None:
        super().__init__(world, engine_id, object_type, [])
        self._settings = settings

    def get_settings(self) -> Settings:
        """How it shines, or what it shows."""
        return self._settings

    def set_settings(self, settings: Settings) -> None:
        """Let it shine in another way, or show something else."""
        self._alive()
        expected = type(self._settings)
        if not isinstance(settings, expected):
            raise InvalidValueError(f"settings is {settings!r}; expected {expected.__name__}")
        self._settings = settings

    def _set_properties(self, **fields: Any) -> NoReturn:
        raise WrongTypeError(f"{self!r} has no mass and is always kinematic; {', '.join(fields)} cannot be set")

    def get_mass(self, local_idx: BodyLike = 0) -> float:
        """Zero."""
        self._alive()
        return 0.0


class LightObject(SceneObject[LightSettings]):
    """A light. Colour cameras see by the first one of the world; see LightSettings for where it shines."""

    def __init__(self, world: Home, engine_id: int, settings: LightSettings) -> None:
        super().__init__(world, engine_id, ObjectType.LIGHT, settings)

    def get_direction(self) -> Vector:
        """Where it shines to, world frame: its -z axis."""
        direction: Vector = -self.get_orientation()[:, 2]
        return direction


class ViewCamera(SceneObject[ViewCameraSettings]):
    """A place from which viewers may look: +x forward, +y left, +z up. It measures nothing; sensors do."""

    def __init__(self, world: Home, engine_id: int, settings: ViewCameraSettings) -> None:
        super().__init__(world, engine_id, ObjectType.VIEW_CAMERA, settings)

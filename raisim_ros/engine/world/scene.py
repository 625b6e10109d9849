"""The part of World that adds lights and cameras of viewers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.scene_types import LightSettings, NamedPose, ViewCameraSettings, Viewpoint
from raisim_ros.engine import arguments
from raisim_ros.engine.entries.body_builder import BodyDraft, insert_body
from raisim_ros.engine.objects.placed import BodyKeywords
from raisim_ros.engine.objects.scene_handles import LightObject, ViewCamera
from raisim_ros.engine.types import BodyType
from raisim_ros.engine.world.core import Saver, WorldCore

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Scene(WorldCore):
    """Objects that are only seen. They are moved like kinematic bodies, and nothing collides with them.

    Placed by keywords as other bodies are: see Bodies.
    """

    def __init__(self) -> None:
        super().__init__()
        self._viewpoint: Viewpoint | None = None
        self._named_poses: tuple[NamedPose, ...] = ()
        self._savers.append(Saver(self._save_scene, self._restore_scene))

    def _save_scene(self) -> tuple[Viewpoint | None, tuple[NamedPose, ...]]:
        return self._viewpoint, self._named_poses

    def _restore_scene(self, kept: tuple[Viewpoint | None, tuple[NamedPose, ...]]) -> None:
        self._viewpoint, self._named_poses = kept

    def add_light(self, settings: LightSettings | None = None, **placed: Unpack[BodyKeywords]) -> LightObject:
        """Add a light at the origin, shining downwards; colour cameras see by the first one of the world."""
        chosen = LightSettings() if settings is None else settings
        if not isinstance(chosen, LightSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected LightSettings")
        body = BodyDraft(ObjectType.LIGHT, [], body_type=BodyType.KINEMATIC)
        return insert_body(self, body, placed, lambda world, key, _: LightObject(world, key, chosen))

    def add_view_camera(
        self, settings: ViewCameraSettings | None = None, **placed: Unpack[BodyKeywords]
    ) -> ViewCamera:
        """Add a place to look from, at the origin, looking along x."""
        chosen = ViewCameraSettings() if settings is None else settings
        if not isinstance(chosen, ViewCameraSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected ViewCameraSettings")
        body = BodyDraft(ObjectType.VIEW_CAMERA, [], body_type=BodyType.KINEMATIC)
        return insert_body(self, body, placed, lambda world, key, _: ViewCamera(world, key, chosen))

    def set_viewpoint(self, viewpoint: Viewpoint | None) -> None:
        """Tell viewers where to look from at first; None leaves it to them."""
        if not isinstance(viewpoint, Viewpoint | None):
            raise InvalidValueError(f"viewpoint is {viewpoint!r}; expected a Viewpoint or None")
        self._viewpoint = viewpoint

    def set_named_poses(self, poses: Iterable[NamedPose]) -> None:
        """Replace the places that clients can ask for by name; names must be unique."""
        try:
            kept = tuple(poses)
        except TypeError:
            raise InvalidValueError(f"poses are {poses!r}; expected NamedPose objects") from None
        kept = tuple(arguments.instance(f"poses[{k}]", pose, NamedPose) for k, pose in enumerate(kept))
        names = [pose.name for pose in kept]
        if len(set(names)) != len(names):
            raise InvalidValueError(f"poses are named {names}; expected unique names")
        self._named_poses = kept

    def get_named_poses(self) -> tuple[NamedPose, ...]:
        """The places that clients can ask for by name."""
        return self._named_poses

    def get_viewpoint(self) -> Viewpoint | None:
        """Where viewers shall look from at first, if anybody said."""
        return self._viewpoint

"""Entities of simulation_interfaces: which there are, where they are, what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, Twist, Vector3
from simulation_interfaces import srv
from simulation_interfaces.msg import Bounds, EntityCategory, EntityInfo, EntityState, Result, TagsFilter

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.types import StateBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import Vector, finite_vector, pose_from_message, twist_from_message
from raisim_ros.ros.conversions import stamp as time_stamp
from raisim_ros.ros.node.operations import Operations
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.known_frames import KnownFrames, UnknownFrameError, pose_of_handle
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.standard import entity_bounds
from raisim_ros.ros.standard.name_pattern import name_pattern
from raisim_ros.ros.standard.results import StandardError

Handler = Callable[[Any, Any], str | None]

_CATEGORIES = {
    EntityCategory.CATEGORY_OBJECT,
    EntityCategory.CATEGORY_ROBOT,
    EntityCategory.CATEGORY_HUMAN,
    EntityCategory.CATEGORY_DYNAMIC_OBJECT,
    EntityCategory.CATEGORY_STATIC_OBJECT,
}


def tag_filter(wanted: Any) -> Callable[[Sequence[str]], bool]:
    """Tells whether something with these tags passes a TagsFilter; a wrong one is refused."""
    if wanted.filter_mode not in (TagsFilter.FILTER_MODE_ANY, TagsFilter.FILTER_MODE_ALL):
        raise InvalidValueError(f"filter_mode is {wanted.filter_mode}; expected 0 (any) or 1 (all)")
    if not wanted.tags:
        return lambda tags: True
    enough = all if wanted.filter_mode == TagsFilter.FILTER_MODE_ALL else any
    return lambda tags: enough(tag in tags for tag in wanted.tags)


def box_message(box: entity_bounds.Box | None) -> Bounds:
    """A box as bounds: upper corner, lower corner; empty without one."""
    if box is None:
        return Bounds(type=Bounds.TYPE_EMPTY)
    low, high = box
    points = [Vector3(x=float(x), y=float(y), z=float(z)) for x, y, z in (high, low)]
    return Bounds(type=Bounds.TYPE_BOX, points=points)


class EntityFilter:
    """What an EntityFilters message lets pass; wrong ones are refused when it is made."""

    def __init__(self, message: Any) -> None:
        self._name = name_pattern(message.filter, "filter")
        self._categories = {one.category for one in message.categories}
        if not self._categories <= _CATEGORIES:
            raise InvalidValueError(f"categories has {max(self._categories)}; expected 0, 1, 2, 4 or 5")
        self._passes_tags = tag_filter(message.tags)
        self._overlaps = _overlap_test(message.bounds)

    def passes(self, entry: ObjectRow, info: Any) -> bool:
        """Whether an object is meant."""
        if not self._name.search(entry.name):
            return False
        if self._categories and info.category.category not in self._categories:
            return False
        return self._passes_tags(info.tags) and (self._overlaps is None or self._is_inside(entry))

    def _is_inside(self, entry: ObjectRow) -> bool:
        assert self._overlaps is not None
        box = entity_bounds.local_box(entry)
        if box is None:
            return entry.type == "ground"  # without an end: everywhere
        return self._overlaps(entity_bounds.world_corners(box, *pose_of_handle(entry.handle)))


def _overlap_test(bounds: Any) -> Callable[[Vector], bool] | None:
    points = np.array([(p.x, p.y, p.z) for p in bounds.points], np.float64).reshape(-1, 3)
    finite_vector(points.reshape(-1), "bounds.points")
    if bounds.type == Bounds.TYPE_EMPTY:
        return None
    if bounds.type not in (Bounds.TYPE_BOX, Bounds.TYPE_CONVEX_HULL, Bounds.TYPE_SPHERE):
        raise StandardError(Result.RESULT_FEATURE_UNSUPPORTED, f"bounds.type is {bounds.type}; expected 0 to 3")
    if bounds.type == Bounds.TYPE_CONVEX_HULL:
        if len(points) < 3:
            raise InvalidValueError(f"bounds has {len(points)} points; a hull needs at least 3")
        return lambda own: entity_bounds.overlaps_hull(own, points)
    if len(points) != 2:
        raise InvalidValueError(f"bounds has {len(points)} points; expected 2")
    first, second = points
    if bounds.type == Bounds.TYPE_SPHERE:
        if second[0] < 0.0:
            raise InvalidValueError(f"bounds has a radius of {second[0]:g}; expected 0 or more")
        return lambda own: entity_bounds.overlaps_sphere(own, first, second[0])
    return lambda own: entity_bounds.overlaps_box(own, np.minimum(first, second), np.maximum(first, second))


class StandardEntities:
    """Handlers of the services about entities."""

    def __init__(
        self,
        queue: RequestQueue,
        world: World,
        table: ObjectTable,
        operations: Operations,
        names: FrameNames,
        frames: KnownFrames,
    ) -> None:
        self._queue = queue
        self._world = world
        self._table = table
        self._operations = operations
        self._names = names
        self._frames = frames
        self._infos: dict[int, EntityInfo] = {}  # what somebody has set, by id
        self.changing: dict[str, tuple[Any, Handler]] = {"delete_entity": (srv.DeleteEntity, self._delete)}
        self.plain: dict[str, tuple[Any, Handler]] = {
            "get_entities": (srv.GetEntities, self._get_entities),
            "get_entities_states": (srv.GetEntitiesStates, self._get_states),
            "get_entity_state": (srv.GetEntityState, self._get_state),
            "set_entity_state": (srv.SetEntityState, self._set_state),
            "get_entity_info": (srv.GetEntityInfo, self._get_info),
            "set_entity_info": (srv.SetEntityInfo, self._set_info),
            "get_entity_bounds": (srv.GetEntityBounds, self._get_bounds),
        }

    # ---- for the stepping thread ----

    def _info(self, entry: ObjectRow) -> EntityInfo:
        known = self._infos.get(entry.id)
        if known is not None:
            return known
        if entry.joints is not None:
            category = EntityCategory.CATEGORY_ROBOT
        elif entry.body_type == "static":
            category = EntityCategory.CATEGORY_STATIC_OBJECT
        else:
            category = EntityCategory.CATEGORY_DYNAMIC_OBJECT
        return EntityInfo(category=EntityCategory(category=category), description=entry.type)

    def _chosen(self, message: Any) -> list[ObjectRow]:
        wanted = EntityFilter(message)
        return [entry for entry in self._table.rows() if wanted.passes(entry, self._info(entry))]

    def _state_of(self, entry: ObjectRow, states: StateBuffer) -> EntityState:
        row = entry.handle.get_index_in_world()
        pose, twist = states.poses[row].tolist(), states.twists[row].tolist()
        message = EntityState()
        message.header.frame_id = self._names.world
        sec, nanosec = time_stamp(self._world.get_world_time())
        message.header.stamp = Time(sec=sec, nanosec=nanosec)
        message.pose.position = Point(x=pose[0], y=pose[1], z=pose[2])
        message.pose.orientation = Quaternion(x=pose[3], y=pose[4], z=pose[5], w=pose[6])
        message.twist = Twist(
            linear=Vector3(x=twist[0], y=twist[1], z=twist[2]), angular=Vector3(x=twist[3], y=twist[4], z=twist[5])
        )
        return message

    # ---- handlers ----

    def _delete(self, request: Any, response: Any) -> str:
        self._queue.call(lambda: self._operations.remove(request.entity))
        return f"removed '{request.entity}'"

    def _get_entities(self, request: Any, response: Any) -> None:
        response.entities = self._queue.call(lambda: [entry.name for entry in self._chosen(request.filters)])

    def _get_states(self, request: Any, response: Any) -> None:
        def read() -> None:
            chosen = self._chosen(request.filters)
            states = self._world.read_states(xyzw=True)
            response.entities = [entry.name for entry in chosen]
            response.states = [self._state_of(entry, states) for entry in chosen]

        self._queue.call(read)

    def _get_state(self, request: Any, response: Any) -> None:
        def read() -> EntityState:
            return self._state_of(self._table.get(request.entity), self._world.read_states(xyzw=True))

        response.state = self._queue.call(read)

    def _set_state(self, request: Any, response: Any) -> None:
        state = request.state
        # Version 2 of the standard says what is meant; before, both are.
        with_pose, with_twist = getattr(request, "set_pose", True), getattr(request, "set_twist", True)
        try:
            pose = pose_from_message(state.pose, "state.pose") if with_pose else None
        except InvalidValueError as error:
            raise StandardError(srv.SetEntityState.Response.INVALID_POSE, str(error)) from error
        twist = twist_from_message(state.twist, "state.twist") if with_twist else None

        def apply() -> None:
            self._table.get(request.entity)
            frame = state.header.frame_id
            try:
                world_pose = None if pose is None else self._frames.to_world(frame, pose)
                world_twist = None if twist is None else self._frames.twist_to_world(frame, twist)
            except UnknownFrameError as error:
                raise StandardError(srv.SetEntityState.Response.INVALID_POSE, str(error)) from error
            self._operations.set_state(request.entity, world_pose, world_twist)

        self._queue.call(apply)

    def _get_info(self, request: Any, response: Any) -> None:
        response.info = self._queue.call(lambda: self._info(self._table.get(request.entity)))

    def _set_info(self, request: Any, response: Any) -> None:
        if request.info.category.category not in _CATEGORIES:
            raise InvalidValueError(f"info.category is {request.info.category.category}; expected 0, 1, 2, 4 or 5")

        def apply() -> None:
            entry = self._table.get(request.entity)
            present = {one.id for one in self._table}
            self._infos = {key: info for key, info in self._infos.items() if key in present}
            self._infos[entry.id] = request.info

        self._queue.call(apply)

    def _get_bounds(self, request: Any, response: Any) -> None:
        box = self._queue.call(lambda: entity_bounds.local_box(self._table.get(request.entity)))
        response.bounds = box_message(box)

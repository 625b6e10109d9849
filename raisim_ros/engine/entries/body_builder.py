"""From the definition of a body to the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from numpy.typing import NDArray

from raisim_ros.description.shapes import SHAPES, ObjectType, ShapeType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import VectorLike
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.home import Home
from raisim_ros.engine.objects.placed import BodyKeywords, PrimitiveKeywords, check_keywords, dress, velocities
from raisim_ros.engine.objects.shape_def import fill_shape
from raisim_ros.engine.types import BodyType, CollisionBody, CompoundChild, GyroscopicMode

ALL = -1
ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
Handle = TypeVar("Handle", bound=SingleBodyObject)

DIM_SIZES = {ShapeType[shape.name.upper()]: len(shape.fields) for shape in SHAPES.values()}


@dataclass
class BodyDraft:
    """A body definition on its way into the engine; `inertia` None: that of the shapes as uniform solids."""

    object_type: ObjectType
    shapes: Sequence[CompoundChild]
    mass: float = 1.0
    body_type: BodyType = BodyType.DYNAMIC
    com: VectorLike = ORIGIN
    inertia: Sequence[VectorLike] | NDArray[Any] | None = None
    inertia_given: bool = False
    position: VectorLike = ORIGIN
    collision_group: int = 1
    collision_mask: int = ALL


def insert_body(
    world: Home,
    body: BodyDraft,
    placed: Any,
    make_handle: Callable[[Home, int, list[CollisionBody]], Handle],
) -> Handle:
    """Make a body in the engine, once and complete, and its handle; `placed` has keywords of ``add_*``."""
    check_keywords(placed, PrimitiveKeywords if body.object_type.name.lower() in SHAPES else BodyKeywords)
    shapes = ffi.new("rs_shape_def[]", len(body.shapes))
    bodies = [_checked(shape) for shape in body.shapes]
    for c_shape, shape in zip(shapes, bodies, strict=True):
        fill_shape(c_shape, shape, world._material(shape.material))
    definition = ffi.new("rs_body_def *")
    lib.rs_default_body_def(definition)
    definition.object_type = int(body.object_type)
    _fill_properties(definition.properties, body, placed)
    _fill_state(definition.state, body, placed)
    definition.collision_group = arguments.collision_bits("collision_group", body.collision_group)
    definition.collision_mask = arguments.collision_bits("collision_mask", body.collision_mask)
    definition.shape_count = len(body.shapes)
    definition.shapes = shapes
    out = ffi.new("rs_object_id *")
    with world.locked():
        check(lib.rs_body_create(world._world, definition, out))
        handle = make_handle(world, int(out[0]), bodies)
        handle._inertia_given = body.inertia_given or "inertia" in placed
        world._register(handle)
    return dress(handle, placed)


def insert_primitive(
    world: Home,
    handle: type[Handle],
    dim: VectorLike,
    mass: float,
    material: str,
    collision_group: int,
    collision_mask: int,
    placed: Any,
) -> Handle:
    """Make a body with the shape that its handle is named after."""
    kind = handle.__name__.upper()
    object_type = ObjectType[kind]
    shape = CompoundChild(ShapeType[kind], dim, material=material)
    body = BodyDraft(object_type, [shape], mass, collision_group=collision_group, collision_mask=collision_mask)
    return insert_body(world, body, placed, lambda home, key, bodies: handle(home, key, object_type, bodies))


def _checked(shape: CompoundChild) -> CollisionBody:
    """The shape with its numbers as arrays of their own."""
    return CollisionBody(
        ShapeType(shape.shape),
        arguments.vector("dim", shape.dim, DIM_SIZES.get(shape.shape, 0)),
        arguments.vector("position", shape.position, 3),
        arguments.vector("quaternion", shape.quaternion, 4),
        shape.material,
        shape.appearance,
        asset=shape.asset,
    )


def _fill_properties(properties: Any, body: BodyDraft, placed: PrimitiveKeywords) -> None:
    inertia = placed.get("inertia", body.inertia)
    properties.body_type = int(arguments.choice("body_type", BodyType, placed.get("body_type", body.body_type)))
    properties.mass = arguments.number("mass", body.mass)
    properties.com = list(arguments.vector("com", placed.get("com", body.com), 3))
    if inertia is not None:
        properties.inertia = list(arguments.symmetric6("inertia", inertia))
    properties.linear_damping = arguments.number("linear damping", placed.get("linear_damping", 0.0))
    properties.angular_damping = list(arguments.vector("angular damping", placed.get("angular_damping", ORIGIN), 3))
    mode = placed.get("gyroscopic_mode", GyroscopicMode.ENERGY_CONSERVING)
    properties.gyroscopic_mode = int(arguments.choice("gyroscopic_mode", GyroscopicMode, mode))


def _fill_state(state: Any, body: BodyDraft, placed: PrimitiveKeywords) -> None:
    state.position = list(arguments.vector("position", placed.get("position", body.position), 3))
    state.quaternion = list(arguments.orientation(placed.get("orientation", _IDENTITY)))
    state.linear_velocity, state.angular_velocity = map(list, velocities(placed))

"""From the definition of a body to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from raisim_ros.description.shapes import SHAPES
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.home import Home
from raisim_ros.engine.types import BodyType, CollisionBody, ObjectType, ShapeType
from raisim_ros.engine.world.core import WorldCore

ALL = -1
ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
Handle = TypeVar("Handle", bound=SingleBodyObject)

DIM_SIZES = {ShapeType[shape.name.upper()]: len(shape.fields) for shape in SHAPES.values()}


@dataclass
class ShapeDraft:
    """A shape definition on its way into the engine."""

    type: ShapeType
    dim: VectorLike = ()
    asset: int = 0
    position: VectorLike = ORIGIN
    quaternion: VectorLike = _IDENTITY
    material: str = "default"
    appearance: str = ""


@dataclass
class BodyDraft:
    """A body definition on its way into the engine."""

    object_type: ObjectType
    shapes: list[ShapeDraft]
    mass: float = 1.0
    body_type: BodyType = BodyType.DYNAMIC
    com: VectorLike = ORIGIN
    inertia: Vector = field(default_factory=lambda: np.zeros(6))
    inertia_given: bool = False
    position: VectorLike = ORIGIN
    collision_group: int = 1
    collision_mask: int = ALL


def insert_body(
    core: WorldCore, body: BodyDraft, make_handle: Callable[[Home, int, list[CollisionBody]], Handle]
) -> Handle:
    """Make a body in the engine, once and complete, and its handle."""
    shapes = ffi.new("rs_shape_def[]", len(body.shapes))
    bodies = []
    for c_shape, shape in zip(shapes, body.shapes, strict=True):
        c_shape.type = int(ShapeType(shape.type))
        dim = arguments.vector("dim", shape.dim, DIM_SIZES.get(shape.type, 0))
        c_shape.dim = [*dim, 0.0, 0.0, 0.0][:3]
        c_shape.asset = shape.asset
        c_shape.position = list(arguments.vector("position", shape.position, 3))
        c_shape.quaternion = list(arguments.vector("quaternion", shape.quaternion, 4))
        c_shape.material = core._material(shape.material)
        bodies.append(
            CollisionBody(
                ShapeType(shape.type),
                dim,
                np.array(list(c_shape.position)),
                np.array(list(c_shape.quaternion)),
                shape.material,
                appearance=shape.appearance,
            )
        )
    definition = ffi.new("rs_body_def *")
    lib.rs_default_body_def(definition)
    definition.object_type = int(body.object_type)
    definition.body_type = int(body.body_type)
    definition.mass = arguments.number("mass", body.mass)
    definition.com = list(arguments.vector("com", body.com, 3))
    definition.inertia = list(body.inertia)
    definition.position = list(arguments.vector("position", body.position, 3))
    definition.collision_group = arguments.collision_bits("collision_group", body.collision_group)
    definition.collision_mask = arguments.collision_bits("collision_mask", body.collision_mask)
    definition.shape_count = len(body.shapes)
    definition.shapes = shapes
    out = ffi.new("rs_object_id *")
    with core.locked():
        check(lib.rs_body_create(core._world, definition, out))
        handle = make_handle(core, int(out[0]), bodies)
        handle._inertia_given = body.inertia_given
        core._register(handle)
    return handle

"""Pictures of a world for people, from anywhere and in any light."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.collision_groups import ALL_GROUPS
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.sensors.colors import Looks, engine_looks

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Light = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Eye:
    """Where a picture is taken from: +x forward, y left, z up; the full horizontal angle [rad]."""

    position: Vector
    quaternion: Vector  # w, x, y, z
    width: int
    height: int
    horizontal_fov: float
    far: float = 1000.0


@dataclass(frozen=True)
class Style:
    """How a picture is lit, see ``rs_picture``; colours are shares of light."""

    sun: Light = (0.62, 0.10, 0.78)
    sun_size: float = 0.03
    sun_light: Light = (0.98, 0.92, 0.80)
    sky_light: Light = (0.42, 0.50, 0.62)
    bounce: Light = (0.20, 0.19, 0.17)
    zenith: Light = (0.13, 0.32, 0.64)
    horizon: Light = (0.70, 0.79, 0.86)
    gloss: float = 0.12
    tile: float = 1.0
    fade: float = 60.0
    samples: int = 8
    everywhere: bool = False
    occlusion: bool = False


def paint(world: Home, eye: Eye, looks: Looks, style: Style) -> NDArray[np.uint8]:
    """A picture, height x width x 3 (sRGB); `looks` are shares of light."""
    camera = ffi.new("rs_depth_camera *")
    camera.position, camera.quaternion = list(eye.position), list(eye.quaternion)
    camera.width, camera.height = eye.width, eye.height
    camera.horizontal_fov, camera.near, camera.far = eye.horizontal_fov, 0.0, eye.far
    rule = ffi.new("rs_ray_rule *")
    rule.ignored_local, rule.mask = -1, ALL_GROUPS
    c_style = ffi.new("rs_picture *")
    for field in fields(style):
        value = getattr(style, field.name)
        setattr(c_style, field.name, list(value) if isinstance(value, tuple) else value)
    c_looks, _textures = engine_looks(looks)
    picture = np.empty((eye.height, eye.width, 3), np.uint8)
    marks = np.empty((2, eye.height, eye.width), np.uint32)
    scratch, out = c_array(marks), c_array(picture)
    check(lib.rs_world_paint(world._world, camera, rule, c_style, c_looks, scratch, out))
    return picture

"""What only viewers and colour cameras care about: lights, and places to look from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from raisim_ros.description import checked
from raisim_ros.description.errors import InvalidValueError

LIGHT_KINDS = ("directional", "point", "spot")


@dataclass(frozen=True)
class LightSettings:
    """How a light shines: along its -z axis from far away (directional), all around (point), or in a cone (spot).

    `color` is red, green, blue (0..1); `cutoff` the angle between the axis of a spot and its border [rad].
    """

    kind: str = "directional"
    color: tuple[float, ...] = (1.0, 1.0, 1.0)
    cutoff: float = math.pi / 4
    shadows: bool = False

    def __post_init__(self) -> None:
        checked.one_of("the kind of light", self.kind, LIGHT_KINDS)
        color = checked.numbers("color", self.color, 3)
        if not all(0.0 <= share <= 1.0 for share in color):
            raise InvalidValueError(f"color is {self.color!r}; expected red, green, blue from 0 to 1")
        if not 0.0 < checked.number("cutoff", self.cutoff) < math.pi:
            raise InvalidValueError(f"cutoff is {self.cutoff:g}; expected an angle between 0 and pi")
        checked.flag("shadows", self.shadows)
        object.__setattr__(self, "color", color)


@dataclass(frozen=True)
class ViewCameraSettings:
    """What a camera of a viewer shows: +x forward, +y left, +z up; full horizontal angle [rad], distances [m]."""

    horizontal_fov: float = 1.2
    near: float = 0.05
    far: float = 1000.0

    def __post_init__(self) -> None:
        for name in ("horizontal_fov", "near", "far"):
            checked.number(name, getattr(self, name))
        if not 0.0 < self.horizontal_fov < math.pi:
            raise InvalidValueError(f"horizontal_fov is {self.horizontal_fov:g}; expected an angle between 0 and pi")
        if not 0.0 < self.near < self.far < math.inf:
            raise InvalidValueError(f"near and far are {self.near:g} and {self.far:g}; expected 0 < near < far")


@dataclass(frozen=True)
class Viewpoint:
    """Where a viewer looks from: an offset [m] from the object it follows, if that exists, else from the origin."""

    follow: str = ""
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        checked.text("follow", self.follow)
        offset = checked.numbers("offset", self.offset, 3)
        object.__setattr__(self, "offset", offset)


@dataclass(frozen=True)
class NamedPose:
    """A place with a name, for spawning or as a goal: position [m], quaternion w x y z, and a free box around [m]."""

    name: str
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    description: str = ""
    tags: tuple[str, ...] = ()
    size: tuple[float, float, float] | None = None  # full lengths, in the axes of the pose; None: not bounded

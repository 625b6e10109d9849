"""How much a file may ask for. What asks for more is refused before it is made, with the name of the limit.

Every limit is a setting: ``set_file_limits(replace(get_file_limits(), max_objects=…))``, or in the environment
``RAISIM_MAX_OBJECTS`` and so on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

from raisim_ros.description.checked import is_whole, shown
from raisim_ros.description.errors import InvalidValueError


@dataclass(frozen=True)
class FileLimits:
    """The most that one world, robot, sensor, mesh or heightmap may ask for, with all files that it names."""

    max_file_bytes: int = 100_000_000
    """Of one XML file."""
    max_elements: int = 200_000
    """XML elements of one file, and of all its loops together; parts and nodes of glTF files."""
    max_attributes: int = 1_000
    """Of one XML element."""
    max_text: int = 1_000_000
    """Characters that one attribute may expand to."""
    max_expanded_text: int = 20_000_000
    """Characters that all expanded attributes of a file have together."""
    max_parameters: int = 10_000
    """Parameters of one file."""
    max_includes: int = 1_000
    """Files that a world or model includes."""
    max_include_depth: int = 32
    """Files within files."""
    max_objects: int = 100_000
    """Objects and wires of a world file."""
    max_links: int = 10_000
    """Links of one robot; which of them touch is a table of all pairs."""
    max_model_bodies: int = 10_000
    """Bodies of one model of MuJoCo, after its copies, each point of a soft grid counted."""
    max_model_geoms: int = 10_000
    """Geoms of one model of MuJoCo, after its copies; which of them touch is a table of all pairs."""
    max_archive_bytes: int = 200_000_000
    """Of all files in an archive (3MF, USDZ, …, and those that are given to the viewer) after unpacking."""
    max_archive_files: int = 10_000
    """Files in an archive."""
    max_triangles: int = 4_000_000
    """Of one mesh file."""
    max_mesh_bytes: int = 1_000_000_000
    """Of one mesh file."""
    max_line_bytes: int = 1_000_000
    """Of one line of a mesh file that is text."""
    max_texture_pixels: int = 40_000_000
    """Of one image on a mesh; a larger one is not shown."""
    max_samples: int = 100_000_000
    """Of one heightmap."""
    max_particles: int = 1_000_000
    """Grains and vertices of all soft objects of a world file, of one object, and that are put on a grid at once."""
    max_struts: int = 5_000_000
    """Pairs of vertices that one call or object keeps at their distance inside a soft object."""
    max_random_grains: int = 200_000
    """That are put to random places at once, or by one world file; each is tried up to thirty times."""
    max_snapshot_bytes: int = 2_000_000_000
    """Of one stored world or snapshot after unpacking."""
    max_recording_bytes: int = 8_000_000_000
    """Of one recording after unpacking."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not is_whole(value) or value < 1:
                raise InvalidValueError(f"{one.name} is {shown(value)}; expected a whole number, at least 1")


def _from_environment() -> FileLimits:
    given = {}
    for one in fields(FileLimits):
        variable = f"RAISIM_{one.name.upper()}"
        text = os.environ.get(variable)
        if text is not None:
            try:
                given[one.name] = int(text)
            except ValueError:
                raise InvalidValueError(f"the environment variable {variable} is '{text}'; expected a number") from None
    return FileLimits(**given)


_limits = _from_environment()


def get_file_limits() -> FileLimits:
    """The limits that hold now."""
    return _limits


def check_particles(what: str, count: float) -> None:
    """Raises InvalidValueError where there would be more grains or vertices than `max_particles`."""
    most = _limits.max_particles
    if not count <= most:
        limit = f"at most {most} (limit max_particles)"
        raise InvalidValueError(f"{what} would have {count:.6g} particles; expected {limit}")


def set_file_limits(limits: FileLimits) -> None:
    """Set the limits for everything that this process reads from now on."""
    global _limits
    if not isinstance(limits, FileLimits):
        raise InvalidValueError(f"limits is {shown(limits)}; expected FileLimits")
    _limits = limits


@dataclass
class IncludeBudget:
    """Counts the files that one file includes, directly and through others."""

    count: int = 0
    _limits: FileLimits = field(default_factory=get_file_limits)

    def take(self, above: tuple[Path, ...], error: Callable[[str], Exception]) -> None:
        """One more file, inside those above it; raises what `error` makes of a message."""
        self.count += 1
        if self.count > self._limits.max_includes:
            raise error(f"more than {self._limits.max_includes} files are included (limit max_includes)")
        if len(above) >= self._limits.max_include_depth:
            raise error(f"files are nested deeper than {self._limits.max_include_depth} (limit max_include_depth)")

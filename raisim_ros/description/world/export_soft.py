"""Writes objects made of particles; many particles go to a file of their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description.array_file import pack
from raisim_ros.description.atomic_file import write_beside
from raisim_ros.description.world.soft_entries import Arrays, DeformableEntry, GranularEntry
from raisim_ros.description.world.writer import add, relative_path, write

# More numbers than this are not written into the world file itself.
_INLINE = 600


def write_granular(objects: etree._Element, entry: GranularEntry, side_file: Path) -> etree._Element:
    """Adds the element of grains."""
    element = write(objects, "granular", entry)
    for grain in entry.grains:
        add(element, "grain", **asdict(grain))
    if entry.boundary is not None:
        boundary = entry.boundary
        add(element, "boundary", friction=boundary.friction, rolling_friction=boundary.rolling_friction)
    if entry.arrays:
        _write_arrays(element, "grains", entry.arrays, side_file)
    for fill in entry.fills:
        common = {"min": fill.low, "max": fill.high, "radius": fill.radius, "velocity": fill.velocity}
        if fill.count is None:
            add(element, "emit_box", **common, spacing=fill.spacing, grain=fill.grain)
        else:
            add(element, "emit_box_random", **common, count=fill.count, seed=fill.seed, grain=fill.grain)
    if entry.ground is not None:
        add(element, "ground_plane", height=entry.ground)
    if entry.container is not None:
        add(element, "container", min=entry.container[0], max=entry.container[1])
    if entry.periodic is not None:
        low, high, axes = entry.periodic
        add(element, "periodic_boundary", min=low, max=high, **dict(zip("xyz", axes, strict=True)))
    return element


def write_deformable(objects: etree._Element, entry: DeformableEntry, side_file: Path) -> etree._Element:
    """Adds the element of cloth."""
    file = None if entry.file is None else relative_path(entry.file, side_file.parent)
    scale = None if entry.file is None else entry.scale
    element = write(objects, "deformable", entry, file_name=file, scale=scale, **asdict(entry.substance))
    if entry.arrays:
        _write_arrays(element, "vertices", entry.arrays, side_file)
    if entry.build is not None and "struts" not in entry.arrays:
        build = asdict(entry.build)
        del build["scale"]
        add(element, "build", **build)
    for pin in entry.pins:
        held: dict[str, Any] = {"vertices": pin.vertices} if pin.box is None else {"min": pin.box[0], "max": pin.box[1]}
        if pin.body is not None:
            held |= {"body": pin.body.name or None, "body_index": pin.body.index, "local_index": pin.body.local_index}
        add(element, "pin", **held, points=pin.points or None)
    add(element, "state", pos=entry.state.position, quat=entry.state.quaternion)
    return element


def _write_arrays(element: etree._Element, tag: str, arrays: Arrays, side_file: Path) -> None:
    if sum(array.size for array in arrays.values()) <= _INLINE:
        add(element, tag, **{name: array.reshape(-1).tolist() for name, array in arrays.items()})
    else:
        add(element, tag, file=write_beside(side_file, pack(arrays)).name)

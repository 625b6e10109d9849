"""Reads the elements of objects made of particles."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.array_file import read_arrays
from raisim_ros.description.world.reader import (
    Children,
    Source,
    Values,
    body_state,
    checked,
    children_of,
    only_child,
    read_attributes,
    take_interface,
)
from raisim_ros.description.world.soft_entries import (
    GRAIN_ARRAYS,
    VERTEX_ARRAYS,
    Arrays,
    DeformableEntry,
    GrainFill,
    GranularEntry,
    PinEntry,
    rectangle,
)
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial, MeshBuildOptions
from raisim_ros.description.world.types import WireEndEntry


def granular(source: Source, element: etree._Element) -> GranularEntry:
    """The entry of a <granular>."""
    children = children_of(source, element, "granular")
    values = read_attributes(source, element)
    values["interface"] = take_interface(source, element, values, children)
    grains = [
        checked(source, one, GranularMaterial, read_attributes(source, one)) for one in children.get("grain", [])
    ]
    entry = GranularEntry(place=source.place(element), **values, grains=grains or [GranularMaterial()])
    single = only_child(source, children, "grains")
    if single is not None:
        entry.arrays = _arrays(source, single, GRAIN_ARRAYS, ("pos", "radius"))
    for name in ("emit_box", "emit_box_random"):
        entry.fills += [_fill(source, one, len(entry.grains)) for one in children.get(name, [])]
    boundary = only_child(source, children, "boundary")
    if boundary is not None:
        given = read_attributes(source, boundary)
        entry.boundary = checked(source, boundary, partial(replace, entry.grains[0]), given)
    ground, container = only_child(source, children, "ground_plane"), only_child(source, children, "container")
    if ground is not None:
        entry.ground = read_attributes(source, ground)["height"]
    if container is not None:
        entry.container = _box(source, container, read_attributes(source, container))
    _periodic(source, children, entry)
    return entry


def _periodic(source: Source, children: Children, entry: GranularEntry) -> None:
    element = only_child(source, children, "periodic_boundary")
    if element is None:
        return
    given = read_attributes(source, element)
    axes = (given["x"], given["y"], given["z"])
    if not any(axes):
        raise source.error(element, "x, y and z are all false; expected at least one that is true")
    entry.periodic = (given["min"], given["max"], axes)


def _box(source: Source, element: etree._Element, given: Values) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if not all(low <= high for low, high in zip(given["min"], given["max"], strict=True)):
        raise source.error(element, f"min is {given['min']}, max is {given['max']}; expected the lower corner first")
    return given["min"], given["max"]


def _fill(source: Source, element: etree._Element, materials: int) -> GrainFill:
    given = read_attributes(source, element)
    low, high = _box(source, element, given)
    if given["grain"] >= materials:
        raise source.error(element, f"grain is {given['grain']}; there are {materials}, counted from 0")
    common: Values = {"velocity": given["velocity"], "grain": given["grain"]}
    if element.tag == "emit_box":
        return GrainFill(low, high, (given["radius"],), given["spacing"], **common)
    radius = given["radius"]
    if len(radius) not in (1, 2) or not 0.0 < radius[0] <= radius[-1]:
        raise source.error(element, f"radius is {radius}; expected one above 0, or the least and the greatest")
    return GrainFill(low, high, radius, count=given["count"], seed=given["seed"], **common)


def _arrays(source: Source, element: etree._Element, table: dict[str, Any], needed: tuple[str, ...]) -> Arrays:
    """The arrays that stand in an element or in the file that it names, in the shapes of the table."""
    given = read_attributes(source, element)
    file = given.pop("file")
    inline = {name: value for name, value in given.items() if value is not None}
    if file is not None and inline:
        raise source.error(element, f"both a file and {', '.join(inline)} are given; expected one or the other")
    found = inline if file is None else read_arrays(source.find(file))
    arrays: Arrays = {}
    for name, (kind, width) in table.items():
        if name not in found:
            if name in needed:
                raise source.error(element, f"{name} is missing" + (f" in '{file}'" if file else ""))
            continue
        try:
            array = np.asarray(found[name])
            if kind is int and not np.array_equal(array, array.astype(np.int32)):
                raise ValueError("expected whole numbers")
            array = np.ascontiguousarray(array.astype(np.float64 if kind is float else np.int32))
            if array.size % width:
                raise ValueError(f"{array.size} numbers; expected a multiple of {width}")
            if kind is float and not np.isfinite(array).all():
                raise ValueError("a number is not finite")
        except (ValueError, OverflowError) as error:
            raise source.error(element, f"{name}: {error}") from error
        arrays[name] = array.reshape(-1, width) if width > 1 else array.reshape(-1)
    return arrays


def deformable(source: Source, element: etree._Element) -> DeformableEntry:
    """The entry of a <deformable>."""
    children = children_of(source, element, "deformable")
    values = read_attributes(source, element)
    values["interface"] = take_interface(source, element, values, children)
    substance = {one.name: values.pop(one.name) for one in fields(DeformableMaterial)}
    file = values.pop("file_name")
    entry = DeformableEntry(
        place=source.place(element),
        **values,
        substance=checked(source, element, DeformableMaterial, substance),
        file=None if file is None else source.find(file),
        state=body_state(source, children),
        pins=[_pin(source, one) for one in children.get("pin", [])],
    )
    sheet, vertices = only_child(source, children, "rectangle"), only_child(source, children, "vertices")
    if [file, sheet, vertices].count(None) != 2:
        raise source.error(element, "expected one of file_name, <rectangle> and <vertices>")
    if sheet is not None:
        entry.arrays = checked(source, sheet, rectangle, read_attributes(source, sheet))
    build = only_child(source, children, "build")
    if build is not None:
        entry.build = checked(source, build, MeshBuildOptions, read_attributes(source, build))
    if vertices is not None:
        entry.arrays = _arrays(source, vertices, VERTEX_ARRAYS, ("pos", "triangles"))
        _check_constraints(source, vertices, entry.arrays)
    return entry


def _check_constraints(source: Source, element: etree._Element, arrays: Arrays) -> None:
    """Struts and hinges come with their states, or not at all."""
    pairs = (("struts", "strut_state"), ("hinges", "hinge_state"), ("tetrahedra", "tetrahedron_state"))
    for name, state in pairs:
        if len(arrays.get(name, ())) != len(arrays.get(state, ())):
            raise source.error(element, f"{name} and {state} have different lengths; expected one state for each")
    for name in ("hinges", "tetrahedra"):
        if name in arrays and "struts" not in arrays:
            raise source.error(element, f"{name} are given without struts")


def _pin(source: Source, element: etree._Element) -> PinEntry:
    given = read_attributes(source, element)
    corners = [given[name] for name in ("min", "max") if given[name] is not None]
    if len(corners) not in (0, 2) or bool(corners) == (given["vertices"] is not None):
        raise source.error(element, "expected either vertices, or min and max")
    pin = PinEntry(box=_box(source, element, given)) if corners else PinEntry(given["vertices"])
    if given["body"] is not None and given["body_index"] is not None:
        raise source.error(element, "expected either body or body_index")
    if given["body"] is not None or given["body_index"] is not None:
        pin.body = WireEndEntry(given["body"] or "", given["body_index"], given["local_index"])
    pin.points = () if given["points"] is None else tuple(given["points"])
    if pin.points and (pin.body is None or pin.box is not None or len(pin.points) != 3 * len(pin.vertices)):
        raise source.error(element, "points are for a body and single vertices; expected three numbers for each vertex")
    return pin

"""Elements of world files for objects made of particles."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from raisim_ros.description.world.schema_types import (
    COMMON,
    PUBLISHED,
    REQUIRED,
    Attribute,
    Element,
    Kind,
    attribute,
)
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial

_KINDS = {"float": Kind.NUMBER, "int": Kind.COUNT, "bool": Kind.SWITCH, "str": Kind.SOLVER_MODE}


def _fields(record: type[Any], meanings: dict[str, str]) -> tuple[Attribute, ...]:
    """Attributes with the names and defaults of the fields of a dataclass."""
    return tuple(attribute(one.name, _KINDS[str(one.type)], one.default, meanings[one.name]) for one in fields(record))


GRAIN = _fields(
    GranularMaterial,
    {
        "density": "[kg/m^3]",
        "normal_stiffness": "spring of two surfaces that overlap [N/m]; with hertz [N/m^2]",
        "normal_damping": "damper along the normal [N s/m]",
        "tangential_stiffness": "spring against sliding [N/m]; 0: half of the normal one",
        "tangential_damping": "damper against sliding [N s/m]",
        "friction": "the tangential spring slips at so much of the normal force",
        "rolling_friction": "largest torque against rolling over normal force and radius",
        "cohesion_stiffness": "pull of surfaces nearer than cohesion_distance [N/m]",
        "cohesion_distance": "[m]",
        "hertz": "the normal force grows with the overlap to the power of 1.5",
        "substeps": "least number of substeps in a step; of the first grain",
    },
)
DEFORMABLE = _fields(
    DeformableMaterial,
    {
        "total_mass": "shared out by area [kg]",
        "distance_stiffness": "of an edge [N/m]",
        "distance_compliance": "of an edge [m/N]; -1: 1 / distance_stiffness",
        "bend_compliance": "1 / flexural rigidity [1/(N m)]; -1: nothing resists bending",
        "youngs_modulus": "edges and bending follow from it [N/m^2]; -1: they do not",
        "poisson_ratio": "of the material, with youngs_modulus",
        "volume_compliance": "1 / bulk modulus of filled bodies without youngs_modulus [m^2/N]; -1: none",
        "thickness": "of the sheet, with youngs_modulus [m]",
        "damping": "rate at which velocities decay [1/s]",
        "air_drag": "pressure across the surface over speed against the air squared [kg/m^3]",
        "self_collision": "it collides with itself",
        "collision_radius": "of the ball that every vertex collides as [m]",
        "tear_strain": "what is stretched by more than this share of its length tears; -1: nothing does",
        "iterations": "sweeps over the constraints in a substep",
        "substeps": "least number of substeps in a step",
        "solver_mode": "pbd: edges are stiff",
    },
)
BUILD = (
    attribute("mode", Kind.BUILD_MODE, "surface", "edges are halved; or a closed mesh is filled with tetrahedra"),
    attribute("spacing", Kind.POSITIVE, 0.05, "longest edge [m]"),
    attribute("max_fill_particles", Kind.COUNT, 50000, "most particles inside"),
    attribute("internal_struts", Kind.STRUTS, "none", "what else keeps its distance"),
    attribute("strut_radius", Kind.POSITIVE, 0.1, "of internal struts [m]"),
    attribute("strut_compliance", Kind.NUMBER, -1.0, "of internal struts [m/N]; -1: as the edges"),
)
_BOX = (
    attribute("min", Kind.VEC3, REQUIRED, "corner of the box [m]"),
    attribute("max", Kind.VEC3, REQUIRED, "opposite corner [m]"),
)
_EMITTED = (
    attribute("velocity", Kind.VEC3, (0.0, 0.0, 0.0), "of all of them [m/s]"),
    attribute("grain", Kind.COUNT, 0, "which `<grain>` they are made of, from 0"),
)

SOFT_OBJECTS = ("granular", "deformable")
SOFT_ELEMENTS = (
    Element(
        ("granular",),
        "grains, as one object: those of `<grains>`, then those of the boxes",
        (*COMMON, *PUBLISHED),
        (
            *("grain", "boundary", "grains", "emit_box", "emit_box_random"),
            *("ground_plane", "container", "periodic_boundary", "sensor_set"),
        ),
    ),
    Element(("grain",), "what grains are made of; the first one counts where none is named", GRAIN),
    Element(
        ("boundary",),
        "what ground plane and container of grains are made of; default: the first grain",
        tuple(one for one in GRAIN if one.names[0] in ("friction", "rolling_friction")),
    ),
    Element(
        ("grains",),
        "single grains, in the file or in a NumPy file (.npz) with arrays of these names beside it",
        (
            attribute("file", Kind.PATH, None, "the NumPy file; in place of everything else"),
            attribute("pos", Kind.NUMBERS, None, "centres, x y z each [m]"),
            attribute("radius", Kind.NUMBERS, None, "one for each, or one for all [m]"),
            attribute("vel", Kind.NUMBERS, None, "velocities, x y z each [m/s]; default: zero"),
            attribute("ang_vel", Kind.NUMBERS, None, "angular velocities, x y z each [rad/s]; default: zero"),
            attribute("grain", Kind.INDICES, None, "which `<grain>` each is made of, from 0; default: the first"),
            attribute("fixed", Kind.INDICES, None, "1 for each that stays where it is, else 0; default: none"),
        ),
    ),
    Element(
        ("emit_box",),
        "fills a box with grains on a regular grid",
        (
            *_BOX,
            attribute("radius", Kind.POSITIVE, REQUIRED, "[m]"),
            attribute("spacing", Kind.POSITIVE, None, "of the grid [m]; default: they touch"),
            *_EMITTED,
        ),
    ),
    Element(
        ("emit_box_random",),
        "puts grains at random places of a box where none overlaps another; those that fit",
        (
            *_BOX,
            attribute("count", Kind.COUNT, REQUIRED, "most of them"),
            attribute("radius", Kind.NUMBERS, REQUIRED, "one for all, or the least and the greatest [m]"),
            attribute("seed", Kind.COUNT, 0, "other numbers give other places"),
            *_EMITTED,
        ),
    ),
    Element(
        ("ground_plane",),
        "a floor for these grains alone",
        (attribute("height", Kind.NUMBER, 0.0, "its z [m]"),),
    ),
    Element(("container",), "walls for these grains alone", _BOX),
    Element(
        ("periodic_boundary",),
        "grains that leave the box on one side enter it on the other",
        (
            *_BOX,
            *(attribute(axis, Kind.SWITCH, axis != "z", f"whether they do along {axis}") for axis in ("x", "y", "z")),
        ),
    ),
    Element(
        ("deformable",),
        "cloth, a shell or a body: a rectangle, a mesh file, or vertices and triangles",
        (
            *COMMON,
            *PUBLISHED,
            attribute("file_name fileName", Kind.PATH, None, "mesh file, in place of `<rectangle>` and `<vertices>`"),
            attribute("scale", Kind.SCALE, (1.0, 1.0, 1.0), "factors of the mesh file; one number: for all"),
            attribute("wind", Kind.VEC3, (0.0, 0.0, 0.0), "velocity of the air [m/s]"),
            *DEFORMABLE,
        ),
        ("rectangle", "vertices", "build", "pin", "state", "sensor_set"),
    ),
    Element(("build",), "the mesh becomes a deformable body: see MeshBuildOptions", BUILD),
    Element(
        ("rectangle",),
        "a flat sheet around the origin, its vertices row by row along x",
        (
            attribute("x", Kind.POSITIVE, REQUIRED, "full length along x [m]"),
            attribute("y", Kind.POSITIVE, REQUIRED, "full length along y [m]"),
            attribute("x_cells", Kind.COUNT, REQUIRED, "cells along x, each of two triangles"),
            attribute("y_cells", Kind.COUNT, REQUIRED, "cells along y"),
        ),
    ),
    Element(
        ("vertices",),
        "single vertices, in the file or in a NumPy file (.npz) with arrays of these names beside it",
        (
            attribute("file", Kind.PATH, None, "the NumPy file; in place of everything else"),
            attribute("pos", Kind.NUMBERS, None, "x y z each [m]"),
            attribute("vel", Kind.NUMBERS, None, "velocities, x y z each [m/s]; default: zero"),
            attribute("mass", Kind.NUMBERS, None, "[kg]; default: by area"),
            attribute("triangles", Kind.INDICES, None, "three vertices each, from 0"),
            attribute("struts", Kind.INDICES, None, "pairs of vertices that keep their distance; default: the edges"),
            attribute("strut_state", Kind.NUMBERS, None, "of each: length at rest [m], compliance [m/N], impulse"),
            attribute("hinges", Kind.INDICES, None, "six vertices each: a triangle and what is beside it"),
            attribute("hinge_state", Kind.NUMBERS, None, "of each: six weights, bend at rest, compliance, impulse"),
            attribute("tetrahedra", Kind.INDICES, None, "four vertices each, of what fills it"),
            attribute(
                "tetrahedron_state",
                Kind.NUMBERS,
                None,
                "of each: inverse of its edges (9), volume at rest [m^3], stiffness of volume and shear, two impulses",
            ),
            attribute("substep", Kind.NUMBERS, None, "length of the substep that the impulses belong to [s]"),
        ),
    ),
    Element(
        ("pin",),
        "vertices that stay where they are, or move with a body",
        (
            attribute("vertices", Kind.INDICES, None, "their indices, or else"),
            attribute("min", Kind.VEC3, None, "all in a box of the frame before `<state>`: its corner [m]"),
            attribute("max", Kind.VEC3, None, "opposite corner [m]"),
            attribute("body", Kind.TEXT, None, "name of a body or robot that they are pinned to; default: the world"),
            attribute("body_index", Kind.COUNT, None, "in place of its name: its place among the objects of the file"),
            attribute("local_index", Kind.COUNT, 0, "link of a robot; 0 for single bodies"),
            attribute("points", Kind.NUMBERS, None, "where in its frame, x y z each [m]; default: where they are"),
        ),
    ),
)

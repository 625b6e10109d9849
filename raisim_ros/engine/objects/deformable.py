"""The handle of cloth and other deformable objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.soft_types import DeformableMaterial
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.body_mesh import BodyMesh, Indices
from raisim_ros.engine.objects.body_springs import edge_compliance
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


@dataclass(frozen=True)
class Tie:
    """A vertex that is pinned to a body or link, at a point of its frame [m]."""

    vertex: int
    body: Object
    local_index: int
    point: tuple[float, float, float]


class DeformableObject(SoftObject):
    """Vertices held together by edges with compliance: cloth, shells, bodies with struts inside."""

    Material: ClassVar[type[DeformableMaterial]] = DeformableMaterial
    _tetrahedra: NDArray[Any]
    _material: DeformableMaterial

    def __init__(self, world: Home, engine_id: int, mesh: BodyMesh, material: DeformableMaterial) -> None:
        super().__init__(world, engine_id, ObjectType.DEFORMABLE)
        self._tetrahedra = mesh.tetrahedra  # those that only tell the volume; springs are asked for
        self._material = material

    def get_material(self) -> DeformableMaterial:
        """What it was made of."""
        return self._material

    def get_triangles(self) -> Indices:
        """Corners of the surface, N x 3, as indices of vertices; where it tears there are more of both."""
        with self._world.locked():
            triangles = np.zeros((int(self._counts().triangles), 3), np.int32)
            check(lib.rs_deformable_get_triangles(self._c, self._engine_id, c_array(triangles)))
        return triangles

    def get_visual_position(self, index: int) -> Vector:
        """Where a vertex is drawn [m]."""
        positions = self.get_positions()
        place: Vector = positions[arguments.index("index", index, len(positions))].copy()
        return place

    def _counts(self) -> Any:
        out = ffi.new("rs_deformable_counts *")
        check(lib.rs_deformable_get_counts(self._c, self._engine_id, out))
        return out

    def get_distance_constraint_count(self) -> int:
        """Edges and struts."""
        return int(self._counts().struts)

    def get_bending_constraint_count(self) -> int:
        """Curvatures that are resisted: three for each triangle of a shell, fewer where little is beside it."""
        return int(self._counts().hinges)

    def get_tetrahedra(self) -> Indices:
        """Corners of what fills the object, N x 4, as indices of vertices; none of a hollow one."""
        filling = self._filling()
        return filling["tetrahedra"] if filling else self._tetrahedra.copy()

    def _filling(self) -> dict[str, NDArray[Any]]:
        """Tetrahedra that resist, by the names of a world file; nothing where there are none."""
        with self._world.locked():
            count = int(self._counts().tetrahedra)
            index, numbers = np.zeros((count, 4), np.int32), np.zeros((count, lib.RS_TETRAHEDRON_NUMBERS))
            check(lib.rs_deformable_get_tetrahedra(self._c, self._engine_id, c_array(index), c_array(numbers)))
        return {"tetrahedra": index, "tetrahedron_state": numbers} if count else {}

    def get_volume(self) -> float:
        """Volume that its surface encloses, or its tetrahedra fill [m^3]; of an open surface this means little."""
        with self._world.locked():
            x, filling, triangles = self.get_positions(), self.get_tetrahedra(), self.get_triangles()
        if len(filling):
            a, b, c, d = (x[filling[:, k]] for k in range(4))
        else:
            a = x[triangles[:, 0]].mean(axis=0)
            b, c, d = (x[triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", b - a, np.cross(c - a, d - a)) / 6.0)

    def find_vertex(self, position: VectorLike) -> int:
        """The vertex nearest to a place [m]."""
        gaps = self.get_positions() - arguments.vector("position", position, 3)
        return int(np.argmin(np.einsum("ij,ij->i", gaps, gaps)))

    def set_position_offset(self, offset: VectorLike) -> None:
        """Move all vertices [m], the pinned ones too."""
        self.set_positions(self.get_positions() + arguments.vector("offset", offset, 3))

    def add_distance_constraint(self, first: int, second: int, compliance: float | None = None) -> None:
        """Keep two vertices at their present distance, with a compliance [m/N]; None: that of the material."""
        self.add_distance_constraints([(first, second)], compliance)

    def add_distance_constraints(
        self, pairs: Sequence[Sequence[int]] | NDArray[Any], compliance: float | None = None
    ) -> None:
        """Keep pairs of vertices at their present distances, with a compliance [m/N]; None: that of the material."""
        table = np.ascontiguousarray(arguments.table("pairs", pairs, (-1, 2), np.int32))
        each = edge_compliance(self._material) if compliance is None else arguments.number("compliance", compliance)
        values = np.full(len(table), each)
        check(lib.rs_deformable_add_struts(self._c, self._engine_id, len(table), c_array(table), c_array(values)))

    def add_internal_struts(self, radius: float, compliance: float | None = None) -> int:
        """Keep all pairs of vertices within a distance [m] of each other apart; returns how many were added."""
        reach = arguments.number("radius", radius)
        if not reach > 0.0:
            raise InvalidValueError(f"radius is {radius}; expected a number greater than 0")
        pairs = pairs_within(self.get_positions(), reach)
        if len(pairs):
            self.add_distance_constraints(pairs, compliance)
        return len(pairs)

    def pin_vertex(
        self,
        index: int,
        position: VectorLike | None = None,
        body: Object | None = None,
        local_index: int = 0,
    ) -> None:
        """Hold a vertex where it is, or at a position [m], world frame.

        With a `body` it moves with that, or with its link `local_index`, and pulls at it; `position` is then in the
        frame of the body or link. Where the vertex is pinned, it does not collide with that body.
        """
        at = ffi.NULL if position is None else ffi.new("double[3]", list(arguments.vector("position", position, 3)))
        vertex = arguments.count("index", index)
        if body is None:
            check(lib.rs_deformable_pin(self._c, self._engine_id, vertex, 1, at))
            return
        other = arguments.instance("body", body, Object)
        with self._world.locked():
            if other._world is not self._world:
                raise InvalidValueError(f"{other!r} is in another world")
            link = arguments.count("local_index", local_index)
            check(lib.rs_deformable_tie(self._c, self._engine_id, vertex, other._engine_id, link, at))

    def get_tied_vertices(self) -> dict[int, tuple[Object, int]]:
        """Vertices that are pinned to bodies: the body and its local index of each."""
        return {tie.vertex: (tie.body, tie.local_index) for tie in self._ties()}

    def _ties(self) -> list[Tie]:
        with self._world.locked():
            count = ffi.new("int64_t *")
            nothing = [ffi.NULL] * 4
            check(lib.rs_deformable_read_ties(self._c, self._engine_id, 0, *nothing, count))
            room = max(1, count[0])
            vertices, links = ffi.new("int32_t[]", room), ffi.new("int32_t[]", room)
            objects, points = ffi.new("rs_object_id[]", room), ffi.new("double[]", 3 * room)
            check(lib.rs_deformable_read_ties(self._c, self._engine_id, room, vertices, objects, links, points, count))
            return [
                Tie(
                    int(vertices[k]),
                    self._world._handle_of(int(objects[k])),
                    int(links[k]),
                    (float(points[3 * k]), float(points[3 * k + 1]), float(points[3 * k + 2])),
                )
                for k in range(count[0])
            ]

    def unpin_vertex(self, index: int) -> None:
        """Let a vertex that is pinned to the world or to a body go."""
        check(lib.rs_deformable_pin(self._c, self._engine_id, arguments.count("index", index), 0, ffi.NULL))

    def _pins_and_masses(self) -> tuple[NDArray[np.uint8], Vector]:
        with self._world.locked():
            count = self.get_num_particles()
            pinned, masses = np.zeros(count, np.uint8), np.zeros(count)
            check(lib.rs_deformable_read(self._c, self._engine_id, c_array(pinned), c_array(masses)))
        return pinned, masses

    def get_pinned_vertices(self) -> list[int]:
        """Indices of the vertices that are pinned to the world."""
        return [int(k) for k in np.flatnonzero(self._pins_and_masses()[0])]

    def _held(self) -> NDArray[np.bool_]:
        return self._pins_and_masses()[0].astype(bool)

    def save_state(self) -> dict[str, NDArray[Any]]:
        """Places, velocities, pins and constraints of now, for restore_state()."""
        with self._world.locked():
            ties = self._ties()
            held = {
                "tied": np.array([(tie.vertex, tie.body._engine_id, tie.local_index) for tie in ties], np.uint64),
                "tied_at": np.array([tie.point for tie in ties]),
            }
            return self._state() | {"pinned": self._pins_and_masses()[0]} | held

    def restore_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Return to what save_state() told; its contacts begin anew. Pins to bodies that are gone stay undone."""
        with self._world.locked():
            before = self.save_state()
            wanted = _checked_state(state, before)
            try:
                self._put_state(wanted)
            except BaseException:
                self._put_state(before)
                raise

    def _put_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        with self._world.locked():
            if len(state["pos"]) != self.get_num_particles():  # it tore since
                self._set_particles(state)
            self.set_positions(state["pos"])
            for tie in self._ties():
                check(lib.rs_deformable_pin(self._c, self._engine_id, tie.vertex, 0, ffi.NULL))
            for (vertex, body, local), point in zip(state["tied"], state["tied_at"], strict=True):
                at = ffi.new("double[3]", list(point))
                if lib.rs_object_is_alive(self._c, int(body)):
                    check(lib.rs_deformable_tie(self._c, self._engine_id, int(vertex), int(body), int(local), at))
            for index in np.flatnonzero(state["pinned"] != self._pins_and_masses()[0]):
                pinned = int(state["pinned"][index])
                check(lib.rs_deformable_pin(self._c, self._engine_id, int(index), pinned, ffi.NULL))
            self.set_velocities(state["vel"])
            self._set_constraints(state)

    def _set_particles(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Vertices and triangles as _state() told them; nothing is pinned or held together then."""
        x, masses = (np.ascontiguousarray(state[name], np.float64) for name in ("pos", "mass"))
        triangles = np.ascontiguousarray(state["triangles"], np.int32)
        given = (len(x), c_array(x), c_array(masses), len(triangles), c_array(triangles))
        check(lib.rs_deformable_set_particles(self._c, self._engine_id, *given))

    def get_masses(self) -> Vector:
        """Mass of each vertex [kg]; of the pinned ones, too."""
        return self._pins_and_masses()[1]

    def _state(self) -> dict[str, NDArray[Any]]:
        """Everything that another object needs to go on like this one, by the names of a world file."""
        with self._world.locked():
            strut_count, hinge_count = self.get_distance_constraint_count(), self.get_bending_constraint_count()
            struts, hinges = (
                np.zeros((strut_count, 2), np.int32),
                np.zeros((hinge_count, lib.RS_HINGE_POINTS), np.int32),
            )
            strut_state = np.zeros((strut_count, lib.RS_STRUT_NUMBERS))
            hinge_state, substep = np.zeros((hinge_count, lib.RS_HINGE_NUMBERS)), np.zeros(1)
            into = map(c_array, (struts, strut_state, hinges, hinge_state, substep))
            check(lib.rs_deformable_get_constraints(self._c, self._engine_id, *into))
            return self._filling() | {
                "pos": self.get_positions().copy(),
                "vel": self.get_velocities().copy(),
                "mass": self.get_masses(),
                "triangles": self.get_triangles(),
                "struts": struts,
                "strut_state": strut_state,
                "hinges": hinges,
                "hinge_state": hinge_state,
                "substep": substep,
            }

    def _set_constraints(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Struts and hinges as _state() told them of another object."""
        indices, numbers = [], []
        for name, width in (("struts", 2), ("hinges", lib.RS_HINGE_POINTS)):
            indices.append(np.ascontiguousarray(state.get(name, ()), np.int32).reshape(-1, width))
        for name, width in (("strut_state", lib.RS_STRUT_NUMBERS), ("hinge_state", lib.RS_HINGE_NUMBERS)):
            numbers.append(np.ascontiguousarray(state.get(name, ()), np.float64).reshape(-1, width))
        given = [
            (len(index), c_array(index), c_array(number))
            for index, number in zip(indices, numbers, strict=True)
        ]
        substep = float(state["substep"][0]) if len(state.get("substep", ())) else 0.0
        check(lib.rs_deformable_set_constraints(self._c, self._engine_id, *given[0], *given[1], substep))
        if "tetrahedra" in state:
            index = np.ascontiguousarray(state["tetrahedra"], np.int32).reshape(-1, 4)
            filling = np.ascontiguousarray(state["tetrahedron_state"], np.float64)
            given_filling = len(index), c_array(index), c_array(filling)
            check(lib.rs_deformable_set_tetrahedra(self._c, self._engine_id, *given_filling))

    def set_wind(self, velocity: VectorLike) -> None:
        """Velocity of the air around the object [m/s]; it presses where the material has air_drag."""
        with self._world.locked():
            settings = ffi.new("rs_deformable_settings *")
            check(lib.rs_deformable_get_settings(self._c, self._engine_id, settings))
            settings.wind = list(arguments.vector("velocity", velocity, 3))
            check(lib.rs_deformable_set_settings(self._c, self._engine_id, settings))

    def get_wind(self) -> Vector:
        """Velocity of the air [m/s]."""
        settings = ffi.new("rs_deformable_settings *")
        check(lib.rs_deformable_get_settings(self._c, self._engine_id, settings))
        return np.array(list(settings.wind))


# Arrays of a state that have a row for each row of another one.
_ROWS_OF = {
    "vel": "pos",
    "mass": "pos",
    "pinned": "pos",
    "strut_state": "struts",
    "hinge_state": "hinges",
    "tetrahedron_state": "tetrahedra",
    "tied_at": "tied",
}


# Points whose neighbours are counted before it is known whether there are too many: too many are refused soon.
_COUNTED_AT_ONCE = 1000


def pairs_within(points: Vector, reach: float) -> NDArray[Any]:
    """Pairs of points within a distance [m] of each other; they are counted before they are made."""
    from scipy.spatial import cKDTree

    tree, most, ends = cKDTree(points), get_file_limits().max_struts, 0
    for first in range(0, len(points), _COUNTED_AT_ONCE):
        part = points[first : first + _COUNTED_AT_ONCE]
        ends += int(np.sum(tree.query_ball_point(part, reach, return_length=True))) - len(part)
        if ends > 2 * most:
            raise InvalidValueError(f"more than {most} pairs are within {reach:g} m of each other (limit max_struts)")
    pairs: NDArray[Any] = tree.query_pairs(reach, output_type="ndarray")
    return pairs


def _checked_state(state: Mapping[str, NDArray[Any]], like: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a state in the shapes and types of another one of the same object; raises InvalidValueError."""
    if not isinstance(state, Mapping):
        raise InvalidValueError(f"state is {arguments.shown(state)}; expected one of save_state()")
    checked: dict[str, NDArray[Any]] = {}
    for name, known in like.items():
        if name not in state:
            raise InvalidValueError(f"the state has no '{name}'; expected one of save_state()")
        width = (3,) if name in ("tied", "tied_at") else known.shape[1:]
        checked[name] = np.ascontiguousarray(arguments.table(name, state[name], (-1, *width), known.dtype.type))
    for name, other in _ROWS_OF.items():
        if name in checked and len(checked[name]) != len(checked[other]):
            raise InvalidValueError(f"'{name}' has {len(checked[name])} rows; expected {len(checked[other])}")
    return checked

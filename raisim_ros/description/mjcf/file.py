"""MuJoCo's model files (MJCF, root element <mujoco>) as worlds.

Geoms of the world body are static objects, a horizontal plane is the ground, and each body below the world body is an
articulated system of that name; a body with only a free joint is a single body where its shapes allow. What is not
supported is told in one warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.collision_groups import GROUND_GROUP
from raisim_ros.description.errors import ParseError, Place, RobotCountError
from raisim_ros.description.files import is_file
from raisim_ros.description.materials import MaterialManager
from raisim_ros.description.mjcf.actuators import drives_of, joint_settings, plain_drives
from raisim_ros.description.mjcf.compiler import CompiledModel, compile_mjcf
from raisim_ros.description.mjcf.contacts import Filters, Materials
from raisim_ros.description.mjcf.equalities import add_equalities, locks_of
from raisim_ros.description.mjcf.features import apply_flags, note_features
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.places import Places
from raisim_ros.description.mjcf.references import check_files
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.mjcf.sensors import note_sensors, sensor_sets
from raisim_ros.description.mjcf.shapes import MJCF_SHAPES, Shapes
from raisim_ros.description.mjcf.sites import add_sites, named_places
from raisim_ros.description.mjcf.skeleton import WORLD, Skeleton, free_name
from raisim_ros.description.mjcf.tendons import tendons_of
from raisim_ros.description.mjcf.views import view_entries
from raisim_ros.description.robot.kinematic_tree import TreeState
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    WorldDescription,
)
from raisim_ros.description.xml.source import first_element, parse_xml, read_text

_START = 65536  # bytes in which the root element of a file is looked for
_TILTED_PLANE = (100.0, 100.0, 1.0)  # half lengths of the box in place of an endless plane that is not horizontal [m]


def read_mjcf(root: etree._Element, file: Path, world: WorldDescription) -> None:
    """Add what an MJCF file says to a description. Raises ParseError with file and line."""
    _read(root, file, world, text=None, are_robots=False)


def _read(root: etree._Element, file: Path, world: WorldDescription, text: str | None, are_robots: bool) -> None:
    check_files(root, file)
    model = apply_flags(compile_mjcf(file, text))
    reader = _WorldReader(model, are_robots)
    option = model.option
    if not option["timestep"] > 0.0:
        raise ParseError(file, None, f"the time step is {option['timestep']:g}; expected a number greater than 0")
    gravity = (0.0, 0.0, 0.0) if "gravity" in model.disabled else tuple(option["gravity"])
    world.settings.time_step, world.settings.gravity = float(option["timestep"]), gravity
    if option["density"] or option["viscosity"]:
        world.settings.fluid = {name: option[name] for name in ("density", "viscosity", "wind")}
    world.objects += reader.objects()
    world.named_poses += reader.named_places
    world.materials = world.materials or MaterialManager()
    reader.materials.add_pairs(world.materials)
    if reader.notes.features:
        world.warnings.append(reader.notes.warning(model.file))


def is_mjcf(source: str | Path) -> bool:
    """Whether a file, or a text, has the root element <mujoco>."""
    start = str(source)
    if not start.lstrip().startswith("<"):
        if not is_file(Path(source)):  # one that may not be read, or a pipe, which would be waited for
            return False
        try:
            with open(source, "rb") as stream:
                start = stream.read(_START).decode("utf-8", "replace")
        except OSError:
            return False
    return first_element(start) == "mujoco"


def load_mjcf_robot(source: str | Path, folder: str | Path = "") -> tuple[WorldDescription, ArticulatedEntry]:
    """The one robot of a file, or of a text whose files lie in `folder`; and all that the file says.

    Raises RobotCountError when there is no robot, or more than one.
    """
    text = str(source) if str(source).lstrip().startswith("<") else None
    file = Path(source) if text is None else Path(folder or ".") / "text"
    root = parse_xml(text if text is not None else read_text(file, "robot file"), file)
    world = WorldDescription(str(file))
    _read(root, file, world, text, are_robots=True)
    robots = [entry for entry in world.objects if isinstance(entry, ArticulatedEntry)]
    if len(robots) != 1:
        names = ", ".join(f"'{entry.name}'" for entry in robots) or "none"
        raise RobotCountError(file, root.sourceline, f"expected one body with joints on the world; there are: {names}")
    return world, robots[0]


class _WorldReader:
    """Makes the entries of a world file."""

    def __init__(self, model: CompiledModel, are_robots: bool) -> None:
        self._model = model
        self._are_robots = are_robots  # also bodies that could be single ones
        self.notes = Notes()
        note_features(model, self.notes)
        self._skeleton = Skeleton(model)
        self.named_places = named_places(self._skeleton)
        self._statics = self._static_geoms()
        self._ground = next((geom for geom, pose in self._statics if self._is_ground(geom, pose)), None)
        self._shapes = Shapes(model)
        self._filters = Filters(self._skeleton, self._ground, self.notes)
        self.materials = Materials(model)

    def objects(self) -> list[ObjectEntry]:
        """All objects: what stands still, then what moves."""
        skeleton = self._skeleton
        entries = [self._static(geom, pose, k) for k, (geom, pose) in enumerate(self._statics)]
        for body in skeleton.children[WORLD]:
            if skeleton.moves(body):
                entries.append(self._moving(body))
            elif not skeleton.is_static(body):
                entries += self._commanded(body)
        note_sensors(self._model, sum(len(entry.sensor_sets) for entry in entries), self.notes)
        return entries + self._views({entry.name for entry in entries})

    def _views(self, taken: set[str]) -> list[ObjectEntry]:
        """Cameras and lights, with names that no object has."""
        views: list[ObjectEntry] = list(view_entries(self._skeleton, self.notes))
        for entry in views:
            entry.name = free_name(entry.name, taken)
        return views

    # ---- static geoms ----

    def _static_geoms(self) -> list[tuple[int, Pose]]:
        """The geoms of the world body and of bodies that are welded to it, with their places in the world."""
        found = []
        pending = [(WORLD, Pose())]
        while pending:
            body, pose = pending.pop()
            found += [(geom, pose @ self._skeleton.pose("geom", geom)) for geom in self._skeleton.geoms(body)]
            for child in reversed(self._skeleton.children[body]):
                if self._skeleton.is_static(child):
                    pending.append((child, pose @ self._skeleton.pose("body", child)))
        return found

    def _is_ground(self, geom: int, pose: Pose) -> bool:
        """A plane that looks up."""
        return self._model.kind("geom_type", geom) == "plane" and pose.arrays()[1][2, 2] > 1.0 - 1e-12

    def _common(self, geom: int, name: str) -> dict[str, Any]:
        return {
            "place": self._place("geom", geom),
            "name": name,
            "material": self.materials.name(geom),
            "appearance": self._appearance(geom),
            "collision_group": self._filters.group(geom),
            "collision_mask": self._filters.mask(geom),
        }

    def _appearance(self, geom: int) -> str:
        return " ".join(f"{part:g}" for part in self._shapes.color(geom))

    def _place(self, kind: str, index: int) -> Place:
        return Place(self._model.file, self._model.line(kind, index) or None)

    def _static(self, geom: int, pose: Pose, number: int) -> ObjectEntry:
        """The entry of a geom that does not move."""
        common = self._common(geom, self._model.names["geom"][geom] or f"geom_{number}")
        if geom == self._ground:
            height = float(pose.arrays()[0][2])
            return GroundEntry(**common | {"collision_group": GROUND_GROUP}, height=height)
        body: dict[str, Any] = {"body_type": "static", "state": _state(pose)}
        kind = self._model.kind("geom_type", geom)
        if kind == "plane":
            return self._plane(geom, pose, common | body)
        if kind == "hfield":
            return self._height_map(geom, pose, common)
        return self._body_of(geom, common | body)

    def _body_of(self, geom: int, arguments: dict[str, Any]) -> BodyEntry:
        """A body with the shape of one geom."""
        shape = self._shapes.collision(geom)
        assert shape is not None
        if shape.mesh_file is None:
            return PrimitiveEntry(**arguments, shape=shape.shape, dim=tuple(shape.dim))
        # One that never collides is only seen: no hull is needed.
        as_it_is = self._model.kind("geom_type", geom) == "sdf" or not self._filters.collides(geom)
        mode = "original" if as_it_is else "convex_hull"
        scale = tuple(map(float, shape.scale))
        return MeshEntry(**arguments, file=Path(shape.mesh_file), scale=scale, collision_mode=mode)

    def _plane(self, geom: int, pose: Pose, arguments: dict[str, Any]) -> PrimitiveEntry:
        """A plane that is not the ground, as the upper side of a box."""
        self.notes.add("planes that are tilted or beside another plane, which end as boxes do")
        size = self._model["geom_size"][geom]
        half = [float(given) or endless for given, endless in zip(size, _TILTED_PLANE, strict=True)]
        half[2] = _TILTED_PLANE[2]
        below = pose @ Pose((0.0, 0.0, -half[2]))
        box = arguments | {"state": _state(below)}
        return PrimitiveEntry(**box, shape="box", dim=tuple(2.0 * length for length in half))

    def _height_map(self, geom: int, pose: Pose, common: dict[str, Any]) -> HeightMapEntry:
        position, rotation = pose.arrays()
        self.notes.add("height fields that are turned", not np.allclose(rotation, np.eye(3), atol=1e-9))
        field = self._shapes.height_field(geom)
        rows, columns = field.heights.shape
        del common["collision_group"]
        return HeightMapEntry(
            **common,
            x_samples=columns,
            y_samples=rows,
            x_size=field.x_size,
            y_size=field.y_size,
            center=tuple(map(float, position)),
            heights=tuple(map(float, field.heights.ravel())),
        )

    # ---- bodies with joints ----

    def _moving(self, body: int) -> ObjectEntry:
        """A single body where possible, else an articulated system."""
        if self._is_single(body) and not self._are_robots:
            return self._single_body(body)
        model, skeleton = self._model, self._skeleton
        builder = RobotBuilder(skeleton, body, self._shapes, self._filters, self.materials, self.notes)
        unmade = add_equalities(builder)
        sites = add_sites(builder)
        tree, initial = builder.build()
        tree.source = model.file
        tree.resource_dir = str(Path(model.file).parent)
        places = Places(builder, tree)
        tendons = tendons_of(builder, places)
        drives = drives_of(builder, places, tree, tendons)
        plain = plain_drives(drives, tree, self.notes)
        tree.tendons = list(tendons.values())
        tree.locks = locks_of(builder, places, tendons, unmade)
        tree.actuators = [drive.actuator(as_drive=drive not in plain) for drive in drives]
        tree.states = self._states(builder, [drive.number for drive in drives])
        name = skeleton.body_names[body]
        entry = ArticulatedEntry(self._place("body", body), name, tree=tree, qpos=tuple(map(float, initial)))
        entry.self_collision = "all"  # the file says itself which bodies do not collide
        entry.joints = joint_settings(tree, plain, builder.effort_bounds)
        entry.sensor_sets = sensor_sets(model, sites)
        if "p_gain" in entry.joints:
            entry.control_mode = "pd_plus_feedforward_torque"
        return entry

    def _states(self, builder: RobotBuilder, drives: list[int]) -> dict[str, TreeState]:
        """The keyframes with names."""
        model = self._model
        states = {}
        for key, name in enumerate(model.names["key"]):
            qpos, qvel = (model[f"key_{part}"][key].astype(np.float64) for part in ("qpos", "qvel"))
            control = model["key_ctrl"][key].astype(np.float64)
            channels = model.arrays.get("actuator_ctrladr", np.arange(len(control)))[drives].astype(int)
            first = model["actuator_actadr"][drives].astype(int)
            activation = np.append(model["key_act"][key].astype(np.float64), 0.0)[first]  # -1 for those without
            states[name or f"key_{key}"] = TreeState(
                builder.coordinates(qpos), builder.velocities(qpos, qvel), control[channels], activation
            )
        return states

    def _is_single(self, body: int) -> bool:
        """Only a free joint, and shapes that a single body can have."""
        model, skeleton = self._model, self._skeleton
        geoms = skeleton.geoms(body)
        first = int(model["body_dofadr"][body])
        dofs = slice(first, first + int(model["body_dofnum"][body]))
        kinds = {(self._filters.group(geom), self._filters.mask(geom)) for geom in geoms}
        return (
            [model.kind("jnt_type", joint) for joint in skeleton.joints(body)] == ["free"]
            and not skeleton.children[body]
            and not skeleton.is_acted_on(body)
            and len(kinds) == 1
            and not any(model.has(f"dof_{name}", dofs) for name in ("damping", "armature", "frictionloss"))
            and all(self._filters.collides(geom) and self._is_primitive(geom) for geom in geoms)
        )

    def _is_primitive(self, geom: int) -> bool:
        return self._model.kind("geom_type", geom) in MJCF_SHAPES

    def _single_body(self, body: int) -> BodyEntry:
        mass, com, inertia = self._skeleton.inertia(body)
        geoms = self._skeleton.geoms(body)
        arguments = {
            **self._common(geoms[0], self._skeleton.body_names[body]),
            "place": self._place("body", body),
            "mass": mass,
            "com": tuple(map(float, com)),
            "inertia": tuple(float(inertia[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))),
            "state": _state(self._skeleton.pose("body", body)),
        }
        if len(geoms) == 1 and _is_identity(self._skeleton.pose("geom", geoms[0])):
            return self._body_of(geoms[0], arguments)
        return CompoundEntry(**arguments, children=[self._child(geom) for geom in geoms])

    def _child(self, geom: int) -> ChildEntry:
        shape = self._shapes.collision(geom)
        assert shape is not None
        position, rotation = self._skeleton.pose("geom", geom).arrays()
        return ChildEntry(
            self._place("geom", geom),
            shape.shape,
            tuple(shape.dim),
            tuple(map(float, position)),
            tuple(map(float, quaternion_from_matrix(rotation))),
            self.materials.name(geom),
            self._appearance(geom),
        )

    def _commanded(self, body: int) -> list[ObjectEntry]:
        """A mocap body: a kinematic body, or one for each mesh."""
        name, pose = self._skeleton.body_names[body], self._skeleton.pose("body", body)
        entries: list[ObjectEntry] = []
        for geom in self._skeleton.geoms(body):
            if self._shapes.collision(geom) is None:
                self.notes.add("planes and height fields on moving bodies")
                continue
            common = self._common(geom, name if not entries else f"{name}_{len(entries)}")
            placed = _state(pose @ self._skeleton.pose("geom", geom))
            entries.append(self._body_of(geom, common | {"body_type": "kinematic", "state": placed}))
        self.notes.add("bodies on mocap bodies", bool(self._skeleton.children[body]))
        self.notes.add("mocap bodies with several geoms, which are a kinematic body each", len(entries) > 1)
        return entries


def _is_identity(pose: Pose) -> bool:
    position, rotation = pose.arrays()
    return not position.any() and np.array_equal(rotation, np.eye(3))


def _state(pose: Pose) -> BodyState:
    position, rotation = pose.arrays()
    return BodyState(tuple(map(float, position)), tuple(map(float, quaternion_from_matrix(rotation))))

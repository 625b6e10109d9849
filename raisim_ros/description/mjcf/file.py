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

from raisim_ros.description.materials import MaterialManager
from raisim_ros.description.mjcf.actuator import read_drives, servo_settings
from raisim_ros.description.mjcf.body import BodyReader, MjcfBody
from raisim_ros.description.mjcf.contact import Filters, Materials
from raisim_ros.description.mjcf.geom import ContactClass, Geom
from raisim_ros.description.mjcf.robot import RobotBuilder, is_floating
from raisim_ros.description.mjcf.source import MjcfSource
from raisim_ros.description.robot.model import Place as ModelPlace
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array, quaternion_from_matrix
from raisim_ros.description.world.types import (
    GROUND_GROUP,
    ArticulatedEntry,
    BodyEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    MeshEntry,
    ObjectEntry,
    Place,
    PrimitiveEntry,
    WorldDescription,
)

_READ_SECTIONS = ("compiler", "option", "default", "asset", "worldbody", "contact", "equality", "actuator")
_WITHOUT_EFFECT = ("size", "visual", "statistic", "custom")
_DRAWN = ("texture", "material", "skin", "mesh")
_TIME_STEP = 0.002  # s, MuJoCo's default
_TILTED_PLANE = (100.0, 100.0, 1.0)  # half lengths of the box in place of an endless plane that is not horizontal [m]


def read_mjcf(root: etree._Element, file: Path, world: WorldDescription) -> None:
    """Add what an MJCF file says to a description. Raises ParseError with file and line."""
    source = MjcfSource(root, file)
    _note_sections(source)
    _read_option(source, world)
    top = BodyReader(source).read_world()
    statics = _static_geoms(top, Pose())
    ground = next((geom for geom, pose in statics if _is_ground(geom, pose)), None)
    reader = _WorldReader(source, top, ground)
    world.objects += [reader.static(geom, pose, k) for k, (geom, pose) in enumerate(statics)]
    for body in top.children:
        if body.moves():
            world.objects.append(reader.moving(body))
    world.materials = world.materials or MaterialManager()
    reader.materials.add_pairs(world.materials)
    if source.notes.features:
        world.warnings.append(source.notes.warning(file))


def _note_sections(source: MjcfSource) -> None:
    notes = source.notes
    for section in source.root:
        if section.tag not in _READ_SECTIONS and section.tag not in _WITHOUT_EFFECT and len(section):
            notes.add(str(section.tag))
    for item in source.items("asset"):
        if item.tag not in _DRAWN:
            notes.add(item.tag)
    for item in source.items("contact"):
        if item.tag != "exclude":
            notes.add(f"contact {item.tag}")
    for item in source.items("equality"):
        if item.tag not in ("connect", "joint"):
            notes.add(f"equality {item.tag}")


def _read_option(source: MjcfSource, world: WorldDescription) -> None:
    gravity, time_step = (0.0, 0.0, -9.81), _TIME_STEP
    for element in source.root.findall("option"):
        item = source.item(element, "")
        time_step = item.number("timestep", time_step)
        if time_step <= 0.0:
            item.fail(f"attribute timestep=\"{item.text('timestep')}\"; expected a number greater than 0")
        x, y, z = item.vector("gravity", gravity)
        gravity = (float(x), float(y), float(z))
        for flag in element.findall("flag"):
            for name, value in flag.attrib.items():
                if name == "gravity" and value == "disable":
                    gravity = (0.0, 0.0, 0.0)
                elif name not in ("gravity", "energy", "warmstart", "fwdinv", "island") and value == "disable":
                    source.notes.add(f"flag {name}")
    world.settings.time_step, world.settings.gravity = time_step, gravity


def _static_geoms(body: MjcfBody, pose: Pose) -> list[tuple[Geom, Pose]]:
    """The geoms of the world body and of bodies that are welded to it, with their places in the world."""
    found = [(geom, pose @ geom.pose) for geom in body.geoms]
    for child in body.children:
        if not child.joints:
            found += _static_geoms(child, pose @ child.pose)
    return found


def _is_ground(geom: Geom, pose: Pose) -> bool:
    """A plane that looks up."""
    return geom.geometry is None and pose.arrays()[1][2, 2] > 1.0 - 1e-12


class _WorldReader:
    """Makes the entries of a world file."""

    def __init__(self, source: MjcfSource, top: MjcfBody, ground: Geom | None) -> None:
        self._source = source
        self._ground = ground
        geoms = [geom for body in top.all_bodies() for geom in body.geoms if geom is not ground]
        self._filters = Filters(geoms, ground.contact if ground else None)
        self.materials = Materials()
        self._exclusions = [item for item in source.items("contact") if item.tag == "exclude"]
        self._pins = [
            item for item in source.items("equality") if item.tag == "connect" and item.switch("active", True)
        ]
        self._couplings = [
            item for item in source.items("equality") if item.tag == "joint" and item.switch("active", True)
        ]
        self._drives = read_drives(source)
        self._note_strangers(top)

    def _note_strangers(self, top: MjcfBody) -> None:
        """References to bodies and joints that do not exist are errors; those across systems cannot be kept."""
        systems = {body.name: body_top for body_top in top.children for body in body_top.all_bodies()}
        for item in (*self._exclusions, *self._pins):
            names = [item.text("body1"), item.text("body2", "world")]
            for name in names:
                if name != "world" and name not in systems:
                    item.fail(f"body '{name}' does not exist")
            if "world" in names and item.tag == "connect" and not is_floating(systems[names[0]]):
                continue
            if systems.get(names[0]) is not systems.get(names[1]):
                self._source.notes.add(f"{item.tag} between two systems or a system and the world")
        joints = {joint.name for body in top.all_bodies() for joint in body.joints}
        for item in self._couplings:
            for name in (item.text("joint1"), item.text("joint2") or item.text("joint1")):
                if name not in joints:
                    item.fail(f"joint '{name}' does not exist")
        for drive in self._drives:
            if drive.joint not in joints:
                drive.item.fail(f"joint '{drive.joint}' does not exist")

    # ---- static geoms ----

    def _common(self, geom: Geom, name: str) -> dict[str, Any]:
        return {
            "place": _place(geom.place),
            "name": name,
            "material": self.materials.name(geom.surface),
            "appearance": " ".join(f"{part:g}" for part in geom.color),
            "collision_group": self._filters.group(geom.contact),
            "collision_mask": self._filters.mask(geom.contact),
        }

    def static(self, geom: Geom, pose: Pose, number: int) -> ObjectEntry:
        """The entry of a geom that does not move."""
        common = self._common(geom, geom.name or f"geom_{number}")
        if geom is self._ground:
            height = float(pose.arrays()[0][2])
            return GroundEntry(**common | {"collision_group": GROUND_GROUP}, height=height)
        body: dict[str, Any] = {"body_type": "static", "state": _state(pose)}
        if geom.geometry is None:
            return self._plane(geom, pose, common | body)
        if geom.geometry.mesh_file is not None:
            scale = tuple(map(float, geom.geometry.scale))
            return MeshEntry(
                **common, **body, file=Path(geom.geometry.mesh_file), scale=scale, collision_mode="convex_hull"
            )
        return PrimitiveEntry(**common, **body, shape=geom.geometry.shape, dim=tuple(geom.geometry.dim))

    def _plane(self, geom: Geom, pose: Pose, arguments: dict[str, Any]) -> PrimitiveEntry:
        """A plane that is not the ground, as the upper side of a box."""
        self._source.notes.add("planes that are tilted or beside another plane, which end as boxes do")
        half = [given or endless for given, endless in zip((*geom.size, 0.0, 0.0, 0.0), _TILTED_PLANE, strict=False)]
        half[2] = _TILTED_PLANE[2]
        below = pose @ Pose((0.0, 0.0, -half[2]))
        box = arguments | {"state": _state(below)}
        return PrimitiveEntry(**box, shape="box", dim=tuple(2.0 * length for length in half))

    # ---- bodies with joints ----

    def moving(self, body: MjcfBody) -> ObjectEntry:
        """A single body where possible, else an articulated system."""
        if _is_single(body):
            return self._single_body(body)
        builder = RobotBuilder(body, self._filters, self.materials, self._source.notes)
        builder.add_exclusions(self._exclusions)
        builder.add_pins(self._pins)
        builder.add_couplings(self._couplings)
        tree, initial = builder.build()
        tree.source = str(self._source.file)
        tree.resource_dir = str(self._source.file.parent)
        drives = builder.own(self._drives)
        tree.actuators = [drive.actuator() for drive in drives]
        entry = ArticulatedEntry(place=_place(body.place), name=body.name, tree=tree, qpos=tuple(map(float, initial)))
        entry.self_collision = "all"  # the file says itself which bodies do not collide
        entry.joints = servo_settings(self._source, tree, drives)
        if entry.joints:
            entry.control_mode = "pd_plus_feedforward_torque"
        return entry

    def _single_body(self, body: MjcfBody) -> BodyEntry:
        inertia = body.mass.inertia
        arguments = {
            **self._common(body.geoms[0], body.name),
            "place": _place(body.place),
            "mass": body.mass.mass,
            "com": tuple(map(float, body.mass.com)),
            "inertia": tuple(float(inertia[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))),
            "state": _state(body.pose),
        }
        first = body.geoms[0]
        if len(body.geoms) == 1 and first.geometry is not None and _is_identity(first.pose):
            return PrimitiveEntry(**arguments, shape=first.geometry.shape, dim=tuple(first.geometry.dim))
        return CompoundEntry(**arguments, children=[self._child(geom) for geom in body.geoms])

    def _child(self, geom: Geom) -> ChildEntry:
        assert geom.geometry is not None
        position, rotation = geom.pose.arrays()
        return ChildEntry(
            _place(geom.place),
            geom.geometry.shape,
            tuple(geom.geometry.dim),
            tuple(map(float, position)),
            tuple(map(float, quaternion_from_matrix(rotation))),
            self.materials.name(geom.surface),
            " ".join(f"{part:g}" for part in geom.color),
        )


def _is_single(body: MjcfBody) -> bool:
    """Only a free joint, and shapes that a single body can have."""
    kinds: set[ContactClass] = {geom.contact for geom in body.geoms}
    return (
        [joint.type for joint in body.joints] == ["free"]
        and not body.children
        and len(kinds) == 1
        and not next(iter(kinds)).is_inert
        and all(geom.geometry is not None and geom.geometry.shape != "mesh" for geom in body.geoms)
    )


def _is_identity(pose: Pose) -> bool:
    position, rotation = pose.arrays()
    return not position.any() and np.array_equal(rotation, np.eye(3))


def _state(pose: Pose) -> BodyState:
    position, rotation = pose.arrays()
    quaternion: Array = quaternion_from_matrix(rotation)
    return BodyState(tuple(map(float, position)), tuple(map(float, quaternion)))


def _place(place: ModelPlace) -> Place:
    return Place(place.source, place.line or 0)

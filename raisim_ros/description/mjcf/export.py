"""Writes a WorldDescription as a file that MuJoCo's compiler takes.

Static objects are geoms of the world, dynamic ones bodies with a free joint, kinematic ones mocap bodies, robots
trees of bodies. What MuJoCo has no word for is told in one warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.appearance import HIDDEN, colour
from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.materials import MaterialManager
from raisim_ros.description.mjcf.document import Document, Key, Slot, add, placed
from raisim_ros.description.mjcf.export_contacts import BitFilters, Filter, Frictions
from raisim_ros.description.mjcf.export_lines import START, LineWriter
from raisim_ros.description.mjcf.export_robot import RobotWriter, shape_filters, shape_materials
from raisim_ros.description.mjcf.export_sensors import write_sensors
from raisim_ros.description.mjcf.export_shapes import ShapeWriter, add_inertial
from raisim_ros.description.mjcf.views import write_view
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyEntry,
    BodyState,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    ViewCameraEntry,
    WorldDescription,
)


def write_mjcf_file(path: Path, description: WorldDescription) -> list[str]:
    """Write the file, and its meshes to a folder beside it. Returns what MuJoCo has no word for, and is left out."""
    writer = _Writer(path, description)
    writer.write()
    write_file(path, writer.document.text())
    return list(writer.document.notes.features)


class _Writer:
    def __init__(self, path: Path, description: WorldDescription) -> None:
        self._description = description
        self.document = document = Document(path.stem)
        self._shapes = ShapeWriter(document, path)
        self._filters = BitFilters(_filters(description), document.notes)
        manager = description.materials or MaterialManager()
        self._frictions = Frictions(manager, _materials(description), document.notes)

    def write(self) -> None:
        document, settings = self.document, self._description.settings
        compiler = {"angle": "radian", "autolimits": True, "inertiafromgeom": False}
        document["compiler"].attrib.update({name: str(value).lower() for name, value in compiler.items()})
        option = document["option"]
        option.set("timestep", repr(float(settings.time_step or 0.005)))
        option.set("gravity", " ".join(repr(float(part)) for part in settings.gravity or (0.0, 0.0, -9.81)))
        for name, value in (settings.fluid or {}).items():
            option.set(name, " ".join(repr(float(part)) for part in np.atleast_1d(value)))
        option.set("integrator", "implicitfast")
        option.set("cone", "elliptic")
        for number, entry in enumerate(self._description.objects):
            self._object(number, entry)
        document.notes.add("wires", bool(self._description.wires))
        flags = option.findall("flag")
        for flag in flags[1:]:
            option.remove(flag)

    def _object(self, number: int, entry: ObjectEntry) -> None:
        if isinstance(entry, ArticulatedEntry):
            robot = RobotWriter(self.document, entry, number, self._shapes, self._filters, self._frictions)
            robot.write()
            LineWriter(robot).write()
            write_sensors(robot)
            return
        self.document.notes.add("sensors of single bodies", bool(entry.sensor_sets))
        if isinstance(entry, GroundEntry):
            shape = {"type": "plane", "size": (0.0, 0.0, 1.0), "pos": (0.0, 0.0, entry.height)}
            self._geom(self.document["worldbody"], entry, number, shape, entry.material, entry.appearance, True)
        elif isinstance(entry, HeightMapEntry):
            shape = self._shapes.height_field(entry)
            self._geom(self.document["worldbody"], entry, number, shape, entry.material, entry.appearance, True)
        elif isinstance(entry, BodyEntry):
            self._body(number, entry)
        elif isinstance(entry, LightEntry | ViewCameraEntry):
            write_view(self.document, entry)
        else:
            self.document.notes.add("deformable and granular objects")

    def _geom(
        self,
        parent: Any,
        entry: ObjectEntry,
        number: int,
        shape: dict[str, Any],
        material: str,
        appearance: str,
        is_named: bool = False,
    ) -> None:
        red_green_blue_alpha = colour(appearance, "ground" if is_named else "body", number)
        if appearance.strip().lower() == HIDDEN:
            red_green_blue_alpha = (0.0, 0.0, 0.0, 0.0)
        contact = self._filters.attributes((entry.collision_group, entry.collision_mask))
        name = self.document.name("geom", entry.name) if is_named and entry.name else None
        friction = self._frictions.attributes(material)
        add(parent, "geom", name=name, **shape, rgba=red_green_blue_alpha, **contact, **friction)

    def _body(self, number: int, entry: BodyEntry) -> None:
        world, pose = self.document["worldbody"], _pose(entry.state)
        if entry.body_type == "static":
            self._geoms(world, number, entry, pose)
            return
        name = self.document.name("body", entry.name or f"object_{number}")
        element = add(world, "body", name=name, **placed(pose))
        if entry.body_type == "kinematic":
            element.set("mocap", "true")
        else:
            add(element, "freejoint", name=self.document.name("joint", f"{name}_free"))
            com, inertia = np.array(entry.com or (0.0, 0.0, 0.0)), np.zeros((3, 3))
            xx, xy, xz, yy, yz, zz = entry.inertia or (0.0,) * 6
            inertia[:] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
            add_inertial(element, entry.mass, com, inertia)
            self._add_slot(number, entry)
        self._geoms(element, number, entry, Pose())
        self.document.notes.add("damping of single bodies", bool(entry.linear_damping) or any(entry.angular_damping))

    def _add_slot(self, number: int, entry: BodyEntry) -> None:
        """The velocity of the body's origin, and the spin in its axes, as MuJoCo has them."""
        state = entry.state
        rotation, spin = matrix_from_quaternion(state.quaternion), np.array(state.angular_velocity)
        arm = rotation @ np.array(entry.com or (0.0, 0.0, 0.0))
        linear = np.array(state.linear_velocity) - np.cross(spin, arm)
        coordinate = np.array([*state.position, *state.quaternion])
        velocity = np.concatenate([linear, rotation.T @ spin])
        self.document.slots.append(Slot(number, 0, coordinate, np.zeros(6)))
        if velocity.any():
            self.document.keys.setdefault(START, Key()).velocities[number, 0] = velocity

    def _geoms(self, parent: Any, number: int, entry: BodyEntry, pose: Pose) -> None:
        is_static = entry.body_type == "static"
        if isinstance(entry, CompoundEntry):
            for child in entry.children:
                inner = pose @ Pose(child.position, matrix_from_quaternion(child.quaternion))
                shape = self._shapes.primitive(child.shape, child.dim) | placed(inner)
                self._geom(parent, entry, number, shape, child.material, child.appearance or entry.appearance)
            return
        if isinstance(entry, MeshEntry):
            shape = self._shapes.mesh(entry.file, entry.scale)
            as_hull = entry.collision_mode == "convex_hull"
            self.document.notes.add("meshes that collide otherwise than as their hulls", not as_hull)
        else:
            assert isinstance(entry, PrimitiveEntry)
            shape = self._shapes.primitive(entry.shape, entry.dim)
        self._geom(parent, entry, number, shape | placed(pose), entry.material, entry.appearance, is_static)


def _pose(state: BodyState) -> Pose:
    return Pose(state.position, matrix_from_quaternion(state.quaternion))


def _filters(description: WorldDescription) -> Iterator[Filter]:
    for entry in description.objects:
        if isinstance(entry, ArticulatedEntry):
            yield from shape_filters(entry).values()
        yield entry.collision_group, entry.collision_mask


def _materials(description: WorldDescription) -> Iterator[str]:
    for entry in description.objects:
        if isinstance(entry, ArticulatedEntry):
            yield from shape_materials(entry).values()
        elif isinstance(entry, CompoundEntry):
            yield from (child.material for child in entry.children)
        elif isinstance(entry, BodyEntry | GroundEntry | HeightMapEntry):
            yield entry.material

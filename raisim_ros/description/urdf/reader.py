"""URDF elements, with the simulator's extensions, to links and joints. What other tools own is passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from lxml import etree

from raisim_ros.description.errors import ParseError, Place
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.resource_paths import (
    SENSOR_FOLDERS,
    candidates_in_folders,
    first_file,
    portable_address,
    resource_candidates,
)
from raisim_ros.description.robot.checks import fail
from raisim_ros.description.robot.model import (
    Collision,
    Geometry,
    Joint,
    Link,
    Pin,
    Pose,
    RobotModel,
    SensorReference,
    Visual,
)
from raisim_ros.description.rotation import Array
from raisim_ros.description.shapes import SHAPES
from raisim_ros.description.urdf.fields import Fields

Color = tuple[float, ...]
SensorFileOpener = Callable[[Path], etree._Element]


class UrdfReader:
    """Collects the links and joints of a file and of its modules.

    In the elements it reads it replaces the names of files by full addresses, so that their text can be read
    anywhere.
    """

    def __init__(self, name: str, place: Place, res_path: str | Path, open_sensor_file: SensorFileOpener) -> None:
        self.model = RobotModel(name, [], [], place=place)
        self._res_path = res_path
        self._open_sensor_file = open_sensor_file
        self._colors: dict[str, Color] = {}
        self._meshes: dict[tuple[str, Path], tuple[str, str]] = {}  # files, and addresses valid anywhere
        self.left_out: list[str] = []  # what nothing could be made of, in words

    def read(self, root: etree._Element, source: str, directory: Path) -> None:
        """Add what is below `root`; `directory` is where relative paths start."""
        fields = Fields(source)
        for material in root.iter("material"):
            self._remember_color(material, fields)
        links, most = root.findall("link"), get_file_limits().max_links
        if len(self.model.links) + len(links) > most:
            raise ParseError(source, root.sourceline, f"the robot has more than {most} links (limit max_links)")
        for element in links:
            self.model.links.append(self._link(element, fields, directory))
        for element in root.findall("joint"):
            self.model.joints.append(_joint(element, fields))
        for element in root.findall("constraints"):
            self.model.pins.extend(_pins(element, fields))

    def _remember_color(self, material: etree._Element, fields: Fields) -> None:
        color, name = material.find("color"), material.get("name")
        if color is not None and name:
            self._colors.setdefault(name, fields.numbers(color, "rgba", 4))

    # ---- links ----

    def _link(self, element: etree._Element, fields: Fields, directory: Path) -> Link:
        link = Link(fields.text(element, "name"), place=fields.place(element))
        if element.get("sensor") is None:
            self._fill_link(link, element, fields, directory, Pose())
        else:
            self._fill_sensor_link(link, element, fields, directory)
        return link

    def _fill_link(
        self, link: Link, element: etree._Element, fields: Fields, directory: Path, offset: Pose
    ) -> None:
        """Mass and shapes from `element`, whose frame lies at `offset` in the link's frame."""
        what = f"link '{link.name}'"
        link.mass, link.com, link.inertia = _inertial(element, fields, what, offset)
        link.collisions = [
            Collision(
                self._geometry(part, fields, directory, what),
                offset @ fields.pose(part),
                _contact_material(part, fields),
                fields.place(part),
            )
            for part in element.findall("collision")
        ]
        link.visuals = [
            Visual(
                self._geometry(part, fields, directory, what),
                offset @ fields.pose(part),
                self._color(part, fields),
                fields.place(part),
            )
            for part in element.findall("visual")
        ]
        seen = [part for part in link.visuals if not _is_flat(part.geometry)]
        if len(seen) < len(link.visuals):
            self.left_out.append(f"visuals of {what} whose size is zero")
            link.visuals = seen

    def _fill_sensor_link(self, link: Link, element: etree._Element, fields: Fields, directory: Path) -> None:
        """A link that is described by a sensor file: ``<sensor_set><origin/><link>…</link>…``."""
        what = f"link '{link.name}'"
        if len(element):
            fail(link.place, f"{what} has the sensor file '{element.get('sensor')}'; expected no element below it")
        address = fields.text(element, "sensor")
        candidates = candidates_in_folders(address, directory, SENSOR_FOLDERS)
        file = first_file(candidates)
        if file is None:
            fail(link.place, f"{what}: sensor file '{address}' not found; looked at {_listed(candidates)}")
        root = self._open_sensor_file(file)
        sensor_fields = Fields(str(file))
        if root.tag != "sensor_set":
            fail(sensor_fields.place(root), f"root element is <{root.tag}>; expected <sensor_set>")
        element.set("sensor", str(file))
        link.sensor = SensorReference(
            str(file), fields.optional_text(element, "serial_number"), fields.optional_text(element, "model")
        )
        described = root.find("link")
        if described is not None:
            self._fill_link(link, described, sensor_fields, file.parent, sensor_fields.pose(root))

    def _geometry(self, part: etree._Element, fields: Fields, directory: Path, what: str) -> Geometry:
        geometry = fields.child(part, "geometry", f"<{part.tag}> of {what}")
        if not len(geometry):
            fail(fields.place(geometry), f"{what}: <geometry> is empty; expected a shape")
        shape = geometry[0]
        if shape.tag == "mesh":
            return self._mesh(shape, fields, directory, what)
        known = SHAPES.get(shape.tag)
        if known is None or not known.urdf:
            expected = ", ".join(one.name for one in SHAPES.values() if one.urdf)
            fail(fields.place(shape), f"{what}: unknown shape <{shape.tag}>; expected {expected} or mesh")
        if len(known.urdf) < len(known.fields):
            return Geometry(known.name, fields.numbers(shape, known.urdf[0], len(known.fields)))
        return Geometry(known.name, tuple(fields.number(shape, _spelling(shape, names)) for names in known.urdf))

    def _mesh(self, shape: etree._Element, fields: Fields, directory: Path, what: str) -> Geometry:
        address = fields.text(shape, "filename")
        found = self._meshes.get((address, directory))
        if found is None:
            file = find_mesh(address, directory, self._res_path, fields.place(shape), what)
            found = self._meshes[address, directory] = (str(file), portable_address(address, file))
        shape.set("filename", found[1])
        scale = fields.split_numbers(shape, "scale", shape.get("scale") or "1", (1, 3))
        return Geometry("mesh", (), found[0], scale * 3 if len(scale) == 1 else scale)

    def _color(self, part: etree._Element, fields: Fields) -> Color | None:
        material = part.find("material")
        if material is None:
            return None
        color = material.find("color")
        if color is not None:
            return fields.numbers(color, "rgba", 4)
        return self._colors.get(material.get("name", ""))


def _is_flat(geometry: Geometry) -> bool:
    """Without extent along some axis, and no mistake of sign: nothing to see."""
    return min(geometry.dim, default=1.0) == 0.0


def find_mesh(address: str, directory: Path, res_path: str | Path, place: Place, what: str) -> Path:
    """The file of a mesh. Raises UrdfError that lists the places looked at."""
    file = first_file(resource_candidates(address, directory, res_path))
    if file is None:
        looked_at = _listed(list(resource_candidates(address, directory, res_path)))
        fail(place, f"{what}: mesh '{address}' not found; looked at {looked_at}")
    return file


def _listed(candidates: list[Path]) -> str:
    shown = ", ".join(str(path) for path in candidates[:8])
    return shown + (f" and {len(candidates) - 8} more places" if len(candidates) > 8 else "")


def _inertial(element: etree._Element, fields: Fields, what: str, offset: Pose) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it, in the axes of the frame that has `element` at `offset`."""
    inertial = element.find("inertial")
    if inertial is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    mass = fields.number(fields.child(inertial, "mass", f"<inertial> of {what}"), "value")
    position, rotation = (offset @ fields.pose(inertial)).arrays()
    tensor = inertial.find("inertia")
    if tensor is None:
        if mass > 0.0:
            fail(fields.place(inertial), f"<inertial> of {what} has no <inertia>")
        return mass, position, np.zeros((3, 3))
    xx, yy, zz = (fields.number(tensor, name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (fields.number(tensor, name, 0.0) for name in ("ixy", "ixz", "iyz"))
    own_axes = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.array_equal(rotation, np.eye(3)):
        return mass, position, own_axes  # bit for bit what the file says
    return mass, position, rotation @ own_axes @ rotation.T


def _contact_material(collision: etree._Element, fields: Fields) -> str:
    """``<material><contact name="ice"/></material>`` names the material of a collision shape."""
    contact = collision.find("material/contact")
    return "default" if contact is None else fields.text(contact, "name")


# ---- joints ----


def _joint(element: etree._Element, fields: Fields) -> Joint:
    name = fields.text(element, "name")
    what = f"joint '{name}'"
    joint = Joint(
        name,
        fields.text(element, "type"),
        fields.pose(element),
        parent=fields.text(fields.child(element, "parent", what), "link"),
        child=fields.text(fields.child(element, "child", what), "link"),
        place=fields.place(element),
    )
    axis = element.find("axis")
    if axis is not None:
        joint.axis = fields.numbers(axis, "xyz", 3)
    _read_dynamics(joint, element.find("dynamics"), fields)
    _read_limits(joint, element.find("limit"), fields)
    mimic = element.find("mimic")
    if mimic is not None:
        leader = fields.text(mimic, "joint")
        joint.mimic = (leader, fields.number(mimic, "multiplier", 1.0), fields.number(mimic, "offset", 0.0))
    return joint


def _read_dynamics(joint: Joint, dynamics: etree._Element | None, fields: Fields) -> None:
    if dynamics is None:
        return
    joint.damping = fields.number(dynamics, "damping", 0.0)
    joint.friction = fields.number(dynamics, "friction", 0.0)
    joint.rotor_inertia = fields.number(dynamics, "rotor_inertia", 0.0)
    joint.stiffness = fields.number(dynamics, "stiffness", 0.0)
    mount = dynamics.get("spring_mount")
    if mount:
        count = 4 if joint.type == "spherical" else 1
        numbers = fields.split_numbers(dynamics, "spring_mount", mount, (count,))
        joint.spring_mount = numbers if count == 4 else numbers[0]


def _read_limits(joint: Joint, limit: etree._Element | None, fields: Fields) -> None:
    if joint.type == "spherical":  # its `lower` is the largest angle
        joint.upper = fields.limit(limit, "lower", fields.limit(limit, "upper", np.inf))
    else:
        joint.lower = fields.limit(limit, "lower", -np.inf)
        joint.upper = fields.limit(limit, "upper", np.inf)
    joint.effort_limit = fields.limit(limit, "effort", np.inf)
    velocity = fields.limit(limit, "velocity", np.inf)
    # A joint that may not move would be a fixed one: files write 0 where they know no limit.
    joint.velocity_limit = velocity if velocity != 0.0 else np.inf


def _pins(constraints: etree._Element, fields: Fields) -> list[Pin]:
    text = constraints.get("nominal_config")
    config = fields.split_numbers(constraints, "nominal_config", text) if text else None
    return [
        Pin(
            fields.text(pin, "body1"),
            fields.text(pin, "body2"),
            fields.numbers(pin, "anchor", 3),
            config,
            fields.place(pin),
        )
        for pin in constraints.findall("pin")
    ]


def _spelling(element: etree._Element, names: str) -> str:
    """The one of several names that the element has as an attribute, or else the last."""
    return next((name for name in names.split() if element.get(name) is not None), names.split()[-1])

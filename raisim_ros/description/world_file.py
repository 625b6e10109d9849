"""Reads world files (RaiSim's, and MuJoCo's by their root element) into a WorldDescription."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.checked import mapping
from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.files import is_file
from raisim_ros.description.limits import IncludeBudget, get_file_limits
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mjcf.file import read_mjcf
from raisim_ros.description.robot.drive import DriveSettings
from raisim_ros.description.robot.kinematic_tree import TreeActuator, TreeState, TreeTendon
from raisim_ros.description.robot.tree_topology import DEPTH_FIRST
from raisim_ros.description.sensor.file import sensor_set_of_element
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.scene_types import LightSettings, NamedPose, ViewCameraSettings, Viewpoint
from raisim_ros.description.world.schema import (
    CANONICAL,
    DIMENSIONS,
    ELEMENTS,
    ENGINE,
    PRIMITIVES,
    PUBLISHED,
    REQUIRED,
    ROBOT_STATE,
    Attribute,
)
from raisim_ros.description.world.types import (
    GROUND_GROUP,
    ArticulatedEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    Place,
    PrimitiveEntry,
    SensorSetEntry,
    ShapeEntry,
    TerrainEntry,
    ViewCameraEntry,
    WireEndEntry,
    WireEntry,
    WorldDescription,
)
from raisim_ros.description.world.values import read_value
from raisim_ros.description.xml.literal_text import ATTRIBUTE, is_literal
from raisim_ros.description.xml.source import parse_xml, read_text
from raisim_ros.description.xml.template import ParameterValue, check_known, expand_template

Values = dict[str, Any]


@dataclass
class _Source:
    """The file that an element stands in, and where warnings go."""

    file: Path
    warnings: list[str] = field(default_factory=list)
    literal: bool = False

    def place(self, element: etree._Element) -> Place:
        return Place(str(self.file), int(element.sourceline or 0))

    def error(self, element: etree._Element, message: str) -> ParseError:
        return ParseError(self.file, element.sourceline, f"<{element.tag}>: {message}")

    def warn(self, element: etree._Element, message: str) -> None:
        self.warnings.append(f"{self.place(element)}: <{element.tag}>: {message}")

    def find(self, name: str) -> Path:
        """A path of the file: beside it first, then in the working directory."""
        path = Path(name)
        beside = self.file.parent / path
        return beside if path.is_absolute() or is_file(beside) or not is_file(path) else path


# ---- attributes and children by table ----


def _attributes(source: _Source, element: etree._Element, table: tuple[Attribute, ...]) -> Values:
    """Values of all attributes in the table, by canonical name and in the table's order; warns about others."""
    known = {name: attribute for attribute in table for name in attribute.names}
    values: Values = {}
    for name, text in element.attrib.items():
        attribute = known.get(name)
        if attribute is None:
            if name not in ("exist", ATTRIBUTE):
                source.warn(element, f"unknown attribute '{name}' is ignored{_nearest(name, known)}")
            continue
        if attribute.names[0] in values:
            raise source.error(element, f"attribute '{attribute.names[0]}' is given twice")
        try:
            values[attribute.names[0]] = read_value(attribute.kind, text, source.literal)
        except ValueError as error:
            raise source.error(
                element, f'attribute {name}="{text}": {error}; expected {attribute.kind.value}'
            ) from None
    for attribute in table:
        if attribute.names[0] not in values:
            if attribute.default is REQUIRED:
                raise source.error(
                    element, f"attribute '{attribute.names[0]}' is missing; expected {attribute.kind.value}"
                )
            if attribute.default is not ENGINE:
                values[attribute.names[0]] = attribute.default
    return {attribute.names[0]: values[attribute.names[0]] for attribute in table if attribute.names[0] in values}


def _children(source: _Source, element: etree._Element, canonical: str) -> dict[str, list[etree._Element]]:
    """Child elements by canonical name; warns about those that do not belong here."""
    allowed = ELEMENTS[canonical].children
    names = {name: child for child in allowed for name in ELEMENTS[child].names}
    found: dict[str, list[etree._Element]] = {}
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if child.tag in names:
            found.setdefault(names[child.tag], []).append(child)
        else:
            source.warn(child, f"unknown element inside <{element.tag}> is ignored{_nearest(child.tag, names)}")
    return found


def _nearest(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _read(source: _Source, element: etree._Element) -> Values:
    return _attributes(source, element, ELEMENTS[CANONICAL[element.tag]].attributes)


def _one(source: _Source, children: dict[str, list[etree._Element]], name: str) -> etree._Element | None:
    elements = children.get(name, [])
    if len(elements) > 1:
        raise source.error(elements[1], "stands twice; expected once")
    return elements[0] if elements else None


def _must_have(source: _Source, parent: etree._Element, child: etree._Element | None, name: str) -> etree._Element:
    if child is None:
        raise source.error(parent, f"<{name}> is missing")
    return child


# ---- objects ----


def _dimensions(
    source: _Source, element: etree._Element, children: dict[str, list[etree._Element]]
) -> tuple[float, ...]:
    dim = _must_have(source, element, _one(source, children, "dim"), "dim")
    return tuple(_attributes(source, dim, DIMENSIONS[element.tag]).values())


def _state(source: _Source, children: dict[str, list[etree._Element]]) -> BodyState:
    element = _one(source, children, "state")
    if element is None:
        return BodyState()
    values = _read(source, element)
    return BodyState(values["pos"], values["quat"], values["lin_vel"], values["ang_vel"])


def _take_interface(
    source: _Source, element: etree._Element, values: Values, children: dict[str, list[etree._Element]]
) -> InterfaceSettings:
    """Takes what concerns the object's topics out of the values of its attributes."""
    published = {attribute.names[0]: values.pop(attribute.names[0]) for attribute in PUBLISHED}
    controller, drive = _one(source, children, "controller"), _one(source, children, "drive")
    gains = {"linear": None, "angular": None} if controller is None else _read(source, controller)
    try:
        if drive is not None:
            published["drive"] = DriveSettings(**_read(source, drive))
        return InterfaceSettings(gains["linear"], gains["angular"], **published)
    except InvalidValueError as error:
        places = {"drive": drive, "linear_gains": controller, "angular_gains": controller}
        about = next((place for word, place in places.items() if str(error).startswith(word)), None)
        raise source.error(element if about is None else about, str(error)) from error


def _body_arguments(source: _Source, element: etree._Element, children: dict[str, list[etree._Element]]) -> Values:
    """Keyword arguments that every BodyEntry takes, and the element's other attributes."""
    values = _read(source, element)
    inertia = _one(source, children, "inertia")
    values["inertia"] = None if inertia is None else tuple(_read(source, inertia).values())
    values["state"] = _state(source, children)
    values["interface"] = _take_interface(source, element, values, children)
    values["place"] = source.place(element)
    values["sensor"] = source.find(values["sensor"]) if values["sensor"] else None
    return values


def _primitive(source: _Source, element: etree._Element) -> PrimitiveEntry:
    children = _children(source, element, element.tag)
    arguments = _body_arguments(source, element, children)
    return PrimitiveEntry(**arguments, shape=element.tag, dim=_dimensions(source, element, children))


def _child(source: _Source, element: etree._Element) -> ChildEntry:
    children = _children(source, element, element.tag)
    state = _state(source, children)
    return ChildEntry(
        source.place(element),
        element.tag,
        _dimensions(source, element, children),
        state.position,
        state.quaternion,
        element.get("material", "default"),
        element.get("appearance", ""),
    )


def _compound(source: _Source, element: etree._Element) -> CompoundEntry:
    children = _children(source, element, "compound")
    arguments = _body_arguments(source, element, children)
    inside = _must_have(source, element, _one(source, children, "children"), "children")
    parts = [_child(source, part) for group in _children(source, inside, "children").values() for part in group]
    if not parts:
        raise source.error(inside, f"no primitives; expected at least one of {', '.join(PRIMITIVES)}")
    parts.sort(key=lambda part: part.place.line)
    return CompoundEntry(**arguments, children=parts)


def _mesh(source: _Source, element: etree._Element) -> MeshEntry:
    arguments = _body_arguments(source, element, _children(source, element, "mesh"))
    file = source.find(arguments.pop("file_name"))
    return MeshEntry(**arguments, file=file)


def _ground(source: _Source, element: etree._Element) -> GroundEntry:
    children = _children(source, element, "ground")
    values = _read(source, element)
    values["interface"] = _take_interface(source, element, values, children)
    values["collision_group"] = GROUND_GROUP  # the attribute is accepted and has no effect
    return GroundEntry(place=source.place(element), **values)


def _heightmap(source: _Source, element: etree._Element) -> HeightMapEntry:
    values = _read(source, element)
    children = _children(source, element, "heightmap")
    properties = _one(source, children, "terrain_properties")
    entry = HeightMapEntry(
        place=source.place(element),
        name=values["name"],
        material=values["material"],
        appearance=values["appearance"],
        collision_group=values["collision_group"],
        collision_mask=values["collision_mask"],
        interface=_take_interface(source, element, values, children),
        x_samples=values["x_sample"] or 0,
        y_samples=values["y_sample"] or 0,
        x_size=values["x_size"],
        y_size=values["y_size"],
        center=(values["center_x"], values["center_y"], values["center_z"]),
        z_scale=values["z_scale"],
        z_offset=values["z_offset"],
    )
    if values["height"] is not None:
        entry.heights = values["height"]
    elif properties is not None:
        entry.terrain = TerrainEntry(**_read(source, properties))
    elif values["png"] is not None:
        entry.png = source.find(values["png"])
    elif values["text"] is not None:
        entry.text = source.find(values["text"])
    else:
        raise source.error(element, "nothing says how high it is; expected height, <terrain_properties>, png or text")
    return entry


def _articulated_system(source: _Source, element: etree._Element) -> ArticulatedEntry:
    children = _children(source, element, "articulated_system")
    values = _read(source, element)
    urdf, res_dir = source.find(values.pop("urdf_path")), values.pop("res_dir")
    srdf = values.pop("srdf")
    order = values.pop("joint_order")
    values["interface"] = _take_interface(source, element, values, children)
    entry = ArticulatedEntry(
        place=source.place(element),
        urdf=urdf,
        res_dir=None if res_dir is None else source.find(res_dir),
        srdf=None if srdf is None else source.find(srdf),
        joint_order=DEPTH_FIRST if order == (DEPTH_FIRST,) else order,
        **values,
    )
    state, joints = _one(source, children, "state"), _one(source, children, "joints")
    if state is not None:
        given = _attributes(source, state, ROBOT_STATE)
        entry.qpos, entry.qvel = given["qpos"], given["qvel"]
        entry.base_position, entry.base_quaternion = given["base_pos"], given["base_quat"]
    if joints is not None:
        entry.joints = {name: value for name, value in _read(source, joints).items() if value is not None}
    for shape in children.get("collision_shape", []):
        entry.shapes.append(ShapeEntry(source.place(shape), **_read(source, shape)))
    for pair in children.get("ignore_collision", []):
        links = _read(source, pair)
        entry.ignored_links.append((links["link1"], links["link2"]))
    for actuator in children.get("actuator", []):
        motor = _read(source, actuator)
        if bool(motor["joint"]) == bool(motor["tendon"]):
            raise source.error(actuator, "expected a joint or a tendon")
        entry.actuators.append(TreeActuator(**motor | {"name": motor["name"] or motor["joint"] or motor["tendon"]}))
    for tendon in children.get("tendon", []):
        entry.tendons.append(_tendon(source, tendon))
    for lifted in children.get("gravity_compensation", []):
        given = _read(source, lifted)
        entry.lifted.append((given["link"], given["mass"], given["com"]))
    for named in children.get("named_state", []):
        given = _read(source, named)
        if given["name"] in entry.states:
            raise source.error(named, f"a second state '{given['name']}'")
        entry.states[given["name"]] = TreeState(*(np.array(given[part]) for part in ("qpos", "qvel", "control")))
    return entry


def _tendon(source: _Source, element: etree._Element) -> TreeTendon:
    values = _read(source, element)
    joints, coefficients = values.pop("joints"), values.pop("coefficients")
    if len(joints) != len(coefficients):
        raise source.error(element, f"{len(joints)} joints and {len(coefficients)} coefficients; expected as many")
    if len(values["rest"]) != 2:
        raise source.error(element, f"rest has {len(values['rest'])} numbers; expected 2")
    return TreeTendon(terms=tuple(zip(joints, coefficients, strict=True)), **values)


def _light(source: _Source, element: etree._Element) -> LightEntry:
    common, state, values = _seen(source, element, "light")
    try:
        settings = LightSettings(values["type"], values["color"], values["cutoff"], values["shadows"])
    except InvalidValueError as error:
        raise source.error(element, str(error)) from error
    return LightEntry(**common, state=state, settings=settings)


def _view_camera(source: _Source, element: etree._Element) -> ViewCameraEntry:
    common, state, values = _seen(source, element, "view_camera")
    try:
        settings = ViewCameraSettings(values["horizontal_fov"], values["near"], values["far"])
    except InvalidValueError as error:
        raise source.error(element, str(error)) from error
    return ViewCameraEntry(**common, state=state, settings=settings)


def _seen(source: _Source, element: etree._Element, canonical: str) -> tuple[Values, BodyState, Values]:
    """What entries of lights and cameras have in common, their state, and the other attributes."""
    children = _children(source, element, canonical)
    values = _read(source, element)
    common = {
        "place": source.place(element),
        "name": values["name"],
        "appearance": values["appearance"],
        "interface": _take_interface(source, element, values, children),
    }
    return common, _state(source, children), values


_OBJECT_READERS = {
    **dict.fromkeys(PRIMITIVES, _primitive),
    "compound": _compound,
    "mesh": _mesh,
    "ground": _ground,
    "heightmap": _heightmap,
    "articulated_system": _articulated_system,
    "light": _light,
    "view_camera": _view_camera,
}


def _sensor_set(source: _Source, element: etree._Element) -> SensorSetEntry:
    values = _read(source, element)
    return SensorSetEntry(
        sensor_set_of_element(element, str(source.file)), values["link"], values["serial_number"]
    )


def _objects(source: _Source, element: etree._Element) -> list[ObjectEntry]:
    found = _children(source, element, "objects")
    entries: list[tuple[int, ObjectEntry]] = []
    order = {child: number for number, child in enumerate(element)}
    for canonical, group in found.items():
        for child in group:
            entry = _OBJECT_READERS[canonical](source, child)
            entry.sensor_sets = [_sensor_set(source, one) for one in child.findall("sensor_set")]
            entries.append((order[child], entry))
    return [entry for _, entry in sorted(entries, key=lambda item: item[0])]


# ---- wires ----


def _wire_end(
    source: _Source, wire: etree._Element, children: dict[str, list[etree._Element]], tag: str
) -> WireEndEntry:
    element = _must_have(source, wire, _one(source, children, tag), tag)
    values = _read(source, element)
    if (values["name"] is None) == (values["index"] is None):
        raise source.error(element, "expected either the name or the index of an object")
    return WireEndEntry(
        values["name"] or "", values["index"], values["local_index"], values["pos"], values["frame"]
    )


def _wire(source: _Source, element: etree._Element, first_object: int) -> WireEntry:
    """`first_object`: how many objects of included files come before those of this file."""
    values = _read(source, element)
    children = _children(source, element, "wire")
    ends = _wire_end(source, element, children, "object1"), _wire_end(source, element, children, "object2")
    for end in ends:
        end.index = None if end.index is None else end.index + first_object
    if values["type"] == "compliant" and values["stiffness"] is None:
        raise source.error(element, "attribute 'stiffness' is missing; a compliant wire needs one")
    values["stiffness"] = values["stiffness"] or 0.0
    default = "compression_only" if values["type"] == "custom" else "stretch_only"
    values["stretch_type"] = values["stretch_type"] or default
    return WireEntry(source.place(element), ends, **values)


# ---- the world ----


def _pair(source: _Source, element: etree._Element, values: Values) -> MaterialPairProperties:
    return MaterialPairProperties(
        values["friction"],
        values["restitution"],
        values["restitution_threshold"],
        values["static_friction"],
        values["static_friction_velocity_threshold"],
        values["rolling_friction"],
        values["spinning_friction"],
    )


def _materials(source: _Source, element: etree._Element, manager: MaterialManager) -> None:
    children = _children(source, element, "material")
    default = _one(source, children, "default")
    if default is not None:
        manager.default = _pair(source, default, _read(source, default))
    for pair in children.get("pair_prop", []):
        values = _read(source, pair)
        manager.set_material_pair_prop(values["name1"], values["name2"], _pair(source, pair, values))


def load_world_file(path: str | Path, params: Mapping[str, ParameterValue] | None = None) -> WorldDescription:
    """What a world file and the files it includes say; `params` override the ``<params>`` of all of them."""
    world = WorldDescription(source=str(path))
    known: set[str] = set()
    values = mapping("params", params)
    _load(Path(path), values, world, (), known, IncludeBudget())
    check_known(values, known, path)
    return world


def load_material_file(path: str | Path) -> MaterialManager:
    """The materials of a world file."""
    materials = load_world_file(path).materials
    if materials is None:
        raise ParseError(path, None, "<material> is missing")
    return materials


def _load(
    file: Path,
    params: Mapping[str, ParameterValue],
    world: WorldDescription,
    above: tuple[Path, ...],
    known: set[str],
    budget: IncludeBudget,
) -> None:
    """Adds a file to the description, the files that it includes first."""
    root = parse_xml(read_text(file, "world file"), file)
    if root.tag == "mujoco":
        read_mjcf(root, file, world)
        return
    if root.tag != "raisim":
        raise ParseError(file, root.sourceline, f"the root element is <{root.tag}>; expected <raisim> or <mujoco>")
    expand_template(root, file, file.parent.resolve(), params, known=known)
    source = _Source(file, world.warnings, is_literal(root))
    for include in root.findall("include"):
        value = include.get("value")
        if value is None:
            raise source.error(include, "attribute 'value' is missing; expected a path")
        inner = source.find(value.replace("\\", "/"))
        budget.take(above, partial(source.error, include))
        if inner.resolve() in (file.resolve(), *above):
            raise source.error(include, f"'{value}' includes itself, directly or through others")
        if not is_file(inner):
            raise source.error(include, f"'{value}' does not exist, neither beside this file nor in the working folder")
        _load(inner, params, world, (*above, file.resolve()), known, budget)
    _read_world(source, root, world)


def _check_objects(source: _Source, element: etree._Element, count: int) -> None:
    most = get_file_limits().max_objects
    if count > most:
        raise source.error(element, f"more than {most} objects and wires (limit max_objects)")


def _read_world(source: _Source, root: etree._Element, world: WorldDescription) -> None:
    """Adds what one file says, its template expanded, to the description."""
    _attributes(source, root, ELEMENTS["raisim"].attributes)
    children = _children(source, root, "raisim")
    settings = world.settings
    gravity, time_step, erp = (_one(source, children, name) for name in ("gravity", "time_step", "erp"))
    if gravity is not None:
        settings.gravity = _read(source, gravity)["value"]
    if time_step is not None:
        settings.time_step = _read(source, time_step)["value"]
    if erp is not None:
        settings.erp = _read(source, erp)
    simulation = _one(source, children, "simulation")
    if simulation is not None:
        settings.time = _read(source, simulation)["time"]
        inside = _children(source, simulation, "simulation")
        for name in ("solver", "contact", "sleeping"):
            element = _one(source, inside, name)
            if element is not None:
                setattr(settings, name, _read(source, element))
    for material in children.get("material", []):
        world.materials = world.materials or MaterialManager()
        _materials(source, material, world.materials)
    first_object = len(world.objects)
    for objects in children.get("objects", []):
        _check_objects(source, objects, len(world.objects) + len(objects))
        world.objects += _objects(source, objects)
    _check_objects(source, root, len(world.objects) + len(children.get("wire", [])))
    world.wires += [_wire(source, wire, first_object) for wire in children.get("wire", [])]
    camera = _one(source, children, "camera")
    if camera is not None:
        values = _read(source, camera)
        world.viewpoint = Viewpoint(values["follow"], (values["x"], values["y"], values["z"]))
    for element in children.get("named_pose", []):
        _add_named_pose(source, element, world)


def _add_named_pose(source: _Source, element: etree._Element, world: WorldDescription) -> None:
    values = _read(source, element)
    if values["name"] in {pose.name for pose in world.named_poses}:
        raise source.error(element, f"the name '{values['name']}' is taken by another one")
    values["position"], values["quaternion"] = values.pop("pos"), values.pop("quat")
    if values["size"] is not None and not min(values["size"]) > 0.0:
        raise source.error(element, f"size is {values['size']}; expected lengths above 0")
    world.named_poses.append(NamedPose(**values))

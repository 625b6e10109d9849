"""Reads world files (RaiSim's, and MuJoCo's by their root element) into a WorldDescription."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from lxml import etree

from raisim_ros.description.collision_groups import GROUND_GROUP
from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import is_file
from raisim_ros.description.limits import IncludeBudget, get_file_limits
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mjcf.file import read_mjcf
from raisim_ros.description.robot.kinematic_tree import TreeState
from raisim_ros.description.robot.tree_topology import DEPTH_FIRST
from raisim_ros.description.sensor.file import sensor_set_of_element
from raisim_ros.description.world.read_lines import add_actuator, lock_of, tendon_of
from raisim_ros.description.world.read_soft import deformable, granular
from raisim_ros.description.world.reader import (
    Children,
    Source,
    Values,
    attributes,
    body_state,
    checked,
    children_of,
    must_have,
    only_child,
    read_attributes,
    take_interface,
)
from raisim_ros.description.world.scene_types import LightSettings, NamedPose, ViewCameraSettings, Viewpoint
from raisim_ros.description.world.schema import DIMENSIONS, ELEMENTS, PRIMITIVES, ROBOT_STATE
from raisim_ros.description.world.soft_entries import ParticleBudget
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    BodyState,
    ChildEntry,
    CompoundEntry,
    GroundEntry,
    HeightMapEntry,
    LightEntry,
    MeshEntry,
    ObjectEntry,
    PrimitiveEntry,
    SensorSetEntry,
    ShapeEntry,
    TerrainEntry,
    ViewCameraEntry,
    WireEndEntry,
    WireEntry,
    WorldDescription,
)
from raisim_ros.description.xml.literal_text import is_literal
from raisim_ros.description.xml.source import parse_xml, read_text
from raisim_ros.description.xml.template import (
    Parameters,
    ParameterValue,
    check_known,
    expand_template,
    parameter_values,
)

# ---- objects ----


def _dimensions(source: Source, element: etree._Element, children: Children) -> tuple[float, ...]:
    dim = must_have(source, element, only_child(source, children, "dim"), "dim")
    return tuple(attributes(source, dim, DIMENSIONS[element.tag]).values())


def _body_arguments(source: Source, element: etree._Element, children: Children) -> Values:
    """Keyword arguments that every BodyEntry takes, and the element's other attributes."""
    values = read_attributes(source, element)
    inertia = only_child(source, children, "inertia")
    values["inertia"] = None if inertia is None else tuple(read_attributes(source, inertia).values())
    values["state"] = body_state(source, children)
    values["interface"] = take_interface(source, element, values, children)
    values["place"] = source.place(element)
    values["sensor"] = source.find(values["sensor"]) if values["sensor"] else None
    return values


def _primitive(source: Source, element: etree._Element) -> PrimitiveEntry:
    children = children_of(source, element, element.tag)
    arguments = _body_arguments(source, element, children)
    return PrimitiveEntry(**arguments, shape=element.tag, dim=_dimensions(source, element, children))


def _child(source: Source, element: etree._Element) -> ChildEntry:
    children = children_of(source, element, element.tag)
    state = body_state(source, children)
    return ChildEntry(
        source.place(element),
        element.tag,
        _dimensions(source, element, children),
        state.position,
        state.quaternion,
        element.get("material", "default"),
        element.get("appearance", ""),
    )


def _compound(source: Source, element: etree._Element) -> CompoundEntry:
    children = children_of(source, element, "compound")
    arguments = _body_arguments(source, element, children)
    inside = must_have(source, element, only_child(source, children, "children"), "children")
    parts = [_child(source, part) for group in children_of(source, inside, "children").values() for part in group]
    if not parts:
        raise source.error(inside, f"no primitives; expected at least one of {', '.join(PRIMITIVES)}")
    parts.sort(key=lambda part: part.place.line or 0)
    return CompoundEntry(**arguments, children=parts)


def _mesh(source: Source, element: etree._Element) -> MeshEntry:
    arguments = _body_arguments(source, element, children_of(source, element, "mesh"))
    file = source.find(arguments.pop("file_name"))
    return MeshEntry(**arguments, file=file)


def _ground(source: Source, element: etree._Element) -> GroundEntry:
    children = children_of(source, element, "ground")
    values = read_attributes(source, element)
    values["interface"] = take_interface(source, element, values, children)
    values["collision_group"] = GROUND_GROUP  # the attribute is accepted and has no effect
    return GroundEntry(place=source.place(element), **values)


def _heightmap(source: Source, element: etree._Element) -> HeightMapEntry:
    values = read_attributes(source, element)
    children = children_of(source, element, "heightmap")
    properties = only_child(source, children, "terrain_properties")
    entry = HeightMapEntry(
        place=source.place(element),
        name=values["name"],
        material=values["material"],
        appearance=values["appearance"],
        collision_group=values["collision_group"],
        collision_mask=values["collision_mask"],
        interface=take_interface(source, element, values, children),
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
        entry.terrain = TerrainEntry(**read_attributes(source, properties))
    elif values["png"] is not None:
        entry.png = source.find(values["png"])
    elif values["text"] is not None:
        entry.text = source.find(values["text"])
    else:
        raise source.error(element, "nothing says how high it is; expected height, <terrain_properties>, png or text")
    return entry


def _articulated_system(source: Source, element: etree._Element) -> ArticulatedEntry:
    children = children_of(source, element, "articulated_system")
    values = read_attributes(source, element)
    urdf, res_dir = source.find(values.pop("urdf_path")), values.pop("res_dir")
    srdf = values.pop("srdf")
    order = values.pop("joint_order")
    values["interface"] = take_interface(source, element, values, children)
    entry = ArticulatedEntry(
        place=source.place(element),
        urdf=urdf,
        res_dir=None if res_dir is None else source.find(res_dir),
        srdf=None if srdf is None else source.find(srdf),
        joint_order=DEPTH_FIRST if order == (DEPTH_FIRST,) else order,
        **values,
    )
    state, joints = only_child(source, children, "state"), only_child(source, children, "joints")
    if state is not None:
        given = attributes(source, state, ROBOT_STATE)
        entry.qpos, entry.qvel = given["qpos"], given["qvel"]
        entry.base_position, entry.base_quaternion = given["base_pos"], given["base_quat"]
    if joints is not None:
        entry.joints = {name: value for name, value in read_attributes(source, joints).items() if value is not None}
    for shape in children.get("collision_shape", []):
        entry.shapes.append(ShapeEntry(source.place(shape), **read_attributes(source, shape)))
    for pair in children.get("ignore_collision", []):
        links = read_attributes(source, pair)
        entry.ignored_links.append((links["link1"], links["link2"]))
    for actuator in children.get("actuator", []):
        add_actuator(source, actuator, entry)
    entry.tendons = [tendon_of(source, tendon) for tendon in children.get("tendon", [])]
    entry.locks = [lock_of(source, lock) for lock in children.get("lock", [])]
    for lifted in children.get("gravity_compensation", []):
        given = read_attributes(source, lifted)
        entry.lifted.append((given["link"], given["mass"], given["com"]))
    for named in children.get("named_state", []):
        given = read_attributes(source, named)
        if given["name"] in entry.states:
            raise source.error(named, f"a second state '{given['name']}'")
        parts = ("qpos", "qvel", "control", "activation")
        entry.states[given["name"]] = TreeState(*(np.array(given[part]) for part in parts))
    return entry


def _light(source: Source, element: etree._Element) -> LightEntry:
    common, state, values = _seen(source, element, "light")
    given = {"kind": values["type"]} | {name: values[name] for name in ("color", "cutoff", "shadows")}
    settings = checked(source, element, LightSettings, given)
    return LightEntry(**common, state=state, settings=settings)


def _view_camera(source: Source, element: etree._Element) -> ViewCameraEntry:
    common, state, values = _seen(source, element, "view_camera")
    given = {name: values[name] for name in ("horizontal_fov", "near", "far")}
    settings = checked(source, element, ViewCameraSettings, given)
    return ViewCameraEntry(**common, state=state, settings=settings)


def _seen(source: Source, element: etree._Element, canonical: str) -> tuple[Values, BodyState, Values]:
    """What entries of lights and cameras have in common, their state, and the other attributes."""
    children = children_of(source, element, canonical)
    values = read_attributes(source, element)
    common = {
        "place": source.place(element),
        "name": values["name"],
        "appearance": values["appearance"],
        "interface": take_interface(source, element, values, children),
    }
    return common, body_state(source, children), values


_OBJECT_READERS = {
    **dict.fromkeys(PRIMITIVES, _primitive),
    "compound": _compound,
    "mesh": _mesh,
    "ground": _ground,
    "heightmap": _heightmap,
    "articulated_system": _articulated_system,
    "light": _light,
    "view_camera": _view_camera,
    "granular": granular,
    "deformable": deformable,
}


def _sensor_set(source: Source, element: etree._Element) -> SensorSetEntry:
    values = read_attributes(source, element)
    return SensorSetEntry(sensor_set_of_element(element, str(source.file)), values["link"], values["serial_number"])


def _objects(source: Source, element: etree._Element, budget: ParticleBudget) -> list[ObjectEntry]:
    found = children_of(source, element, "objects")
    entries: list[tuple[int, ObjectEntry]] = []
    order = {child: number for number, child in enumerate(element)}
    for canonical, group in found.items():
        for child in group:
            entry = _OBJECT_READERS[canonical](source, child)
            checked(source, child, budget.take, {"entry": entry})
            entry.sensor_sets = [_sensor_set(source, one) for one in child.findall("sensor_set")]
            entries.append((order[child], entry))
    return [entry for _, entry in sorted(entries, key=lambda item: item[0])]


# ---- wires ----


def _wire_end(source: Source, wire: etree._Element, children: Children, tag: str) -> WireEndEntry:
    element = must_have(source, wire, only_child(source, children, tag), tag)
    values = read_attributes(source, element)
    if (values["name"] is None) == (values["index"] is None):
        raise source.error(element, "expected either the name or the index of an object")
    return WireEndEntry(values["name"] or "", values["index"], values["local_index"], values["pos"], values["frame"])


def _wire(source: Source, element: etree._Element, first_object: int) -> WireEntry:
    """`first_object`: how many objects of included files come before those of this file."""
    values = read_attributes(source, element)
    children = children_of(source, element, "wire")
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


def _materials(source: Source, element: etree._Element, manager: MaterialManager) -> None:
    children = children_of(source, element, "material")
    default = only_child(source, children, "default")
    if default is not None:
        manager.default = MaterialPairProperties(**read_attributes(source, default))
    for pair in children.get("pair_prop", []):
        values = read_attributes(source, pair)
        names = values.pop("name1"), values.pop("name2")
        manager.set_material_pair_prop(*names, MaterialPairProperties(**values))


def load_world_file(path: str | Path, params: Parameters = None) -> WorldDescription:
    """What a world file and the files it includes say; `params` override the ``<params>`` of all of them."""
    world = WorldDescription(source=str(path))
    known: set[str] = set()
    values = parameter_values(params)
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
    source = Source(file, world.warnings, is_literal(root))
    for include in root.findall("include"):
        value = include.get("value")
        if value is None:
            raise source.error(include, "attribute 'value' is missing; expected a path")
        inner = source.find(value.replace("\\", "/"))
        budget.take(above, partial(source.error, include))
        if not is_file(inner):
            raise source.error(include, f"'{value}' does not exist, neither beside this file nor in the working folder")
        if inner.resolve() in (file.resolve(), *above):
            raise source.error(include, f"'{value}' includes itself, directly or through others")
        _load(inner, params, world, (*above, file.resolve()), known, budget)
    _read_world(source, root, world)


def _check_objects(source: Source, element: etree._Element, count: int) -> None:
    most = get_file_limits().max_objects
    if count > most:
        raise source.error(element, f"more than {most} objects and wires (limit max_objects)")


def _read_world(source: Source, root: etree._Element, world: WorldDescription) -> None:
    """Adds what one file says, its template expanded, to the description."""
    attributes(source, root, ELEMENTS["raisim"].attributes)
    children = children_of(source, root, "raisim")
    settings = world.settings
    names = ("gravity", "fluid", "time_step", "erp")
    gravity, fluid, time_step, erp = (only_child(source, children, name) for name in names)
    if gravity is not None:
        settings.gravity = read_attributes(source, gravity)["value"]
    if fluid is not None:
        settings.fluid = read_attributes(source, fluid)
    if time_step is not None:
        settings.time_step = read_attributes(source, time_step)["value"]
    if erp is not None:
        settings.erp = read_attributes(source, erp)
    simulation = only_child(source, children, "simulation")
    if simulation is not None:
        settings.time = read_attributes(source, simulation)["time"]
        inside = children_of(source, simulation, "simulation")
        for name in ("solver", "contact", "sleeping"):
            element = only_child(source, inside, name)
            if element is not None:
                setattr(settings, name, read_attributes(source, element))
    for material in children.get("material", []):
        world.materials = world.materials or MaterialManager()
        _materials(source, material, world.materials)
    first_object = len(world.objects)
    budget = ParticleBudget(world.objects)
    for objects in children.get("objects", []):
        _check_objects(source, objects, len(world.objects) + len(objects))
        world.objects += _objects(source, objects, budget)
    _check_objects(source, root, len(world.objects) + len(children.get("wire", [])))
    world.wires += [_wire(source, wire, first_object) for wire in children.get("wire", [])]
    camera = only_child(source, children, "camera")
    if camera is not None:
        values = read_attributes(source, camera)
        world.viewpoint = Viewpoint(values["follow"], (values["x"], values["y"], values["z"]))
    for element in children.get("named_pose", []):
        _add_named_pose(source, element, world)


def _add_named_pose(source: Source, element: etree._Element, world: WorldDescription) -> None:
    values = read_attributes(source, element)
    if values["name"] in {pose.name for pose in world.named_poses}:
        raise source.error(element, f"the name '{values['name']}' is taken by another one")
    values["position"], values["quaternion"] = values.pop("pos"), values.pop("quat")
    if values["size"] is not None and not min(values["size"]) > 0.0:
        raise source.error(element, f"size is {values['size']}; expected lengths above 0")
    world.named_poses.append(NamedPose(**values))

"""The part of World that adds articulated systems."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.file import MeshData
from raisim_ros.description.mjcf.file import is_mjcf, load_mjcf_robot
from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody, TreeCollision
from raisim_ros.description.robot.model import Child
from raisim_ros.description.shapes import ObjectType, ShapeType
from raisim_ros.description.urdf.file import load_urdf, tree_from_child
from raisim_ros.description.world.types import ArticulatedEntry, WorldDescription
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.lines import Lines
from raisim_ros.engine.articulated.self_collision import leave_out_pairs
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.assets import listed_asset
from raisim_ros.engine.entries.build_articulated import add_articulated_entry
from raisim_ros.engine.errors import check, is_read
from raisim_ros.engine.link_mesh import link_mesh
from raisim_ros.engine.objects.placed import Placed, place
from raisim_ros.engine.objects.shape_def import fill_shape
from raisim_ros.engine.types import ArticulatedSystemOption, ArticulationBuffer, LinkCollisionBody
from raisim_ros.engine.world.core import WorldCore

if TYPE_CHECKING:
    from typing_extensions import Unpack


_LINK = ffi.new("rs_link_def *")
lib.rs_default_link_def(_LINK)
_JOINT_TYPES = {kind: getattr(lib, f"RS_JOINT_{kind.name}") for kind in JointType}

_JOINT_NUMBERS = (
    "damping",
    "friction",
    "rotor_inertia",
    "stiffness",
    "lower",
    "upper",
    "velocity_limit",
    "effort_limit",
)


class Robots(WorldCore):
    """Adding robots, and reading all of them at once. A failed call leaves the world as it was."""

    def __init__(self) -> None:
        super().__init__()
        # By the order of quaternions, with the same arrays as the engine takes them.
        self._articulations: dict[bool, tuple[ArticulationBuffer, Any]] = {}

    def add_articulated_system(
        self,
        file_path_or_urdf_script: str | Path | Child | KinematicTree,
        res_path: str | Path = "",
        joint_order: Sequence[str] | str = (),
        collision_group: int = 1,
        collision_mask: int = -1,
        options: ArticulatedSystemOption | None = None,
        *,
        modules: Sequence[str | Path] = (),
        params: Parameters = None,
        **placed: Unpack[Placed],
    ) -> ArticulatedSystem:
        """Add a robot from a URDF or MJCF file, their text, a Child tree or a KinematicTree, with its sensors.

        Of an MJCF file the one body on the world that moves is the robot, with the pose, motors and materials that the
        file gives it; the file's static geoms are left out, and `res_path` is the folder that a text's files lie in.
        `res_path`: folder of the meshes; by default that of the file. `joint_order`: names of all movable joints,
        parents first, or "depth_first". `modules`: URDF fragments to insert. `params`: values of ``@@name``.
        Also `name`, `position`, `orientation` and `velocity` of the base, and `appearance`.
        """
        option = ArticulatedSystemOption() if options is None else options
        arguments.instance("options", option, ArticulatedSystemOption)
        source, base = file_path_or_urdf_script, option.base
        if isinstance(source, KinematicTree):
            tree = source
        elif isinstance(source, Child):
            tree = tree_from_child(source, res_path, joint_order, base)
        else:
            for name, given in (("file_path_or_urdf_script", source), ("res_path", res_path)):
                arguments.path(name, given)
            if not isinstance(modules, Sequence) or isinstance(modules, str):
                raise InvalidValueError(f"modules is {arguments.shown(modules)}; expected a list of files")
            for module in modules:
                arguments.path("module", module)
            if is_mjcf(source):
                found = load_mjcf_robot(source, res_path)
                return place(self.add_described_robot(*found, collision_group, collision_mask), placed)
            tree = load_urdf(source, res_path, joint_order, params, modules, base)
        group = arguments.collision_bits("collision_group", collision_group)
        mask = arguments.collision_bits("collision_mask", collision_mask)
        with ExitStack() as assets, self.locked():
            shapes = self._link_shapes(tree, option, assets)
            definition, _alive = self._tree_def(tree, option, shapes, group, mask)
            out = ffi.new("rs_object_id *")
            check(lib.rs_articulation_create(self._world, definition, out))
            robot = ArticulatedSystem(self, int(out[0]), tree, shapes, option)
            self._register(robot)
            try:
                leave_out_pairs(robot)
                for add in self._adders:
                    add(robot, params)
            except Exception:
                self._take_out(robot)
                raise
            return place(robot, placed)

    def add_described_robot(
        self, description: WorldDescription, entry: ArticulatedEntry, collision_group: int = 1, collision_mask: int = -1
    ) -> ArticulatedSystem:
        """Add the robot that load_mjcf_robot() read, with its motors, materials and sensors."""
        arguments.instance("description", description, WorldDescription)
        arguments.instance("entry", entry, ArticulatedEntry)
        for text in description.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        if (collision_group, collision_mask) != (1, -1):
            entry.collision_group = arguments.collision_bits("collision_group", collision_group)
            entry.collision_mask = arguments.collision_bits("collision_mask", collision_mask)
            for shape in (shape for body in entry.tree.bodies for shape in body.collisions) if entry.tree else ():
                shape.collision_group = shape.collision_mask = None
        with self.locked():
            robot = add_articulated_entry(self, entry)
            for equip in self._equippers:
                equip(robot, entry, description)
        return robot

    def _link_shapes(
        self, tree: KinematicTree, option: ArticulatedSystemOption, assets: ExitStack
    ) -> list[LinkCollisionBody]:
        """Collision shapes of all bodies; meshes become assets that live until `assets` is closed."""
        shapes = []
        for index, body in enumerate(tree.bodies):
            for collision in body.collisions:
                quaternion = arguments.orientation(collision.rotation)
                if collision.shape == "mesh":
                    parts = self._mesh_parts(collision, option, assets)
                else:
                    parts = [(ShapeType[collision.shape.upper()], 0)]
                for shape, asset in parts:
                    shapes.append(
                        LinkCollisionBody(
                            shape,
                            np.asarray(collision.dim, dtype=np.float64),
                            np.asarray(collision.position, dtype=np.float64),
                            quaternion,
                            collision.material,
                            asset=asset,
                            name=collision.name,
                            body_index=index,
                            collision_group=collision.collision_group,
                            collision_mask=collision.collision_mask,
                        )
                    )
        return shapes

    def _mesh_parts(
        self, collision: TreeCollision, option: ArticulatedSystemOption, assets: ExitStack
    ) -> list[tuple[ShapeType, int]]:
        if collision.mesh_file is None:
            raise InvalidValueError(f"collision shape '{collision.name}' is a mesh without a file")
        made = link_mesh(collision.mesh_file, collision.scale, "hull" if collision.convex else option.mesh_mode)
        if isinstance(made, MeshData):
            return [(ShapeType.MESH, assets.enter_context(listed_asset(self._world, made)))]
        return [(ShapeType.CONVEX, assets.enter_context(listed_asset(self._world, part))) for part in made]

    def _tree_def(
        self,
        tree: KinematicTree,
        option: ArticulatedSystemOption,
        shapes: list[LinkCollisionBody],
        group: int,
        mask: int,
    ) -> tuple[Any, Any]:
        """The tree as the engine takes it, and what must live as long."""
        links = ffi.new("rs_link_def[]", [_LINK[0]] * len(tree.bodies))
        names = [ffi.new("char[]", body.name.encode()) for body in tree.bodies]
        for link, body, name in zip(links, tree.bodies, names, strict=True):
            _fill_link(link, body)
            link.name = name
        definition = ffi.new("rs_articulation_def *")
        definition.object_type = int(ObjectType.ARTICULATED_SYSTEM)
        definition.link_count = len(tree.bodies)
        definition.links = links
        # Files of robots name materials for whoever sets their pairs: no reason for doubts.
        self._known_materials.update(shape.material for shape in shapes)
        c_shapes = ffi.new("rs_link_shape_def[]", len(shapes))
        for c_shape, shape in zip(c_shapes, shapes, strict=True):
            fill_shape(c_shape.shape, shape, self._material(shape.material))
            c_shape.link = shape.body_index
            c_shape.collision_group = group if shape.collision_group is None else shape.collision_group
            c_shape.collision_mask = mask if shape.collision_mask is None else shape.collision_mask
        definition.shape_count = len(shapes)
        definition.shapes = c_shapes
        definition.collide_with_parent = not option.do_not_collide_with_parent
        pins = ffi.new("rs_pin_def[]", len(tree.pins))
        nominal = [ffi.new("double[]", list(pin.nominal_config)) for pin in tree.pins]
        for c_pin, pin, config in zip(pins, tree.pins, nominal, strict=True):
            c_pin.link_a, c_pin.link_b, c_pin.nominal = pin.body1, pin.body2, config
            c_pin.anchor = list(arguments.vector("pin anchor", pin.anchor, 3))
        definition.pin_count, definition.pins = len(tree.pins), pins
        place = {body.joint_name: index for index, body in enumerate(tree.bodies)}
        followers = [(index, body.mimic) for index, body in enumerate(tree.bodies) if body.mimic is not None]
        couplings = ffi.new("rs_coupling_def[]", len(followers))
        for coupling, (index, (leader, multiplier, offset)) in zip(couplings, followers, strict=True):
            coupling.follower, coupling.leader = index, place[leader]
            coupling.multiplier, coupling.offset = multiplier, offset
        definition.coupling_count, definition.couplings = len(followers), couplings
        lines = Lines(tree)
        lines.fill(definition)
        return definition, (links, names, c_shapes, pins, nominal, couplings, lines)

    def read_articulations(self, xyzw: bool = False) -> ArticulationBuffer:
        """State of all articulated systems, filled by one call of the engine; the arrays are reused.

        Quaternions are w, x, y, z; with `xyzw` in the order of ROS messages, in arrays of their own.
        """
        w_last = arguments.flag("xyzw", xyzw)
        made = self._articulations.get(w_last)
        while made is None or not is_read(lib.rs_world_read_articulations(self._world, made[1])):
            made = self._articulations[w_last] = self._make_articulations(w_last)
        return made[0]

    def _make_articulations(self, w_last: bool) -> tuple[ArticulationBuffer, Any]:
        links, coordinates, velocities = 0, 0, 0
        firsts: tuple[dict[int, int], dict[int, int], dict[int, int]] = ({}, {}, {})
        with self.locked():
            number = self.get_configuration_number()
            handles = [self._handles[int(engine_id) >> 32] for engine_id in self._engine_ids()]
        for handle in handles:
            if isinstance(handle, ArticulatedSystem):
                for first, place in zip(firsts, (links, coordinates, velocities), strict=True):
                    first[handle.get_id()] = place
                links += handle.get_number_of_joints()
                coordinates += handle.get_generalized_coordinate_dim()
                velocities += handle.get_dof()
        of_links = np.zeros((links, 7)), np.zeros((links, 6)), np.zeros((links, 6))
        numbers = *of_links, np.zeros(coordinates), np.zeros(velocities), np.zeros(velocities)
        rows = ffi.new("rs_articulation_rows *", (number, w_last, *map(c_array, numbers)))
        return ArticulationBuffer(number, *numbers, *firsts), rows


def _fill_link(link: Any, body: TreeBody) -> None:
    link.parent = body.parent
    link.joint_type = _JOINT_TYPES[body.joint_type]
    link.joint_position = list(arguments.vector("joint position", body.joint_position, 3))
    link.joint_rotation = list(arguments.vector("joint rotation", np.reshape(body.joint_rotation, -1), 9))
    link.axis = list(arguments.vector("axis", body.axis, 3))
    link.mass = body.mass
    link.com = list(arguments.vector("com", body.com, 3))
    link.lifted_mass = body.lifted_mass
    link.lifted_com = list(arguments.vector("lifted_com", body.lifted_com, 3))
    link.inertia = list(arguments.symmetric6("inertia", body.inertia))
    for name in _JOINT_NUMBERS:
        setattr(link, name, getattr(body, name))
    mount = np.atleast_1d(np.asarray(body.spring_mount, dtype=np.float64))
    link.spring_mount = [*mount, 0.0, 0.0, 0.0, 0.0][:4]

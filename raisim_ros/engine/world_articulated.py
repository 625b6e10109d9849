"""The part of World that adds articulated systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from raisim_ros.description.kinematic_tree import JointType, KinematicTree, TreeBody
from raisim_ros.description.robot_model import Child
from raisim_ros.description.template import ParameterValue
from raisim_ros.description.urdf import load_urdf, tree_from_child
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.articulated import ArticulatedSystem
from raisim_ros.engine.errors import check
from raisim_ros.engine.types import ObjectType
from raisim_ros.engine.world_objects import WorldObjects

if TYPE_CHECKING:
    from raisim_ros.engine.world import World

_JOINT_TYPES = {
    JointType.FIXED: lib.RS_JOINT_FIXED,
    JointType.FLOATING: lib.RS_JOINT_FLOATING,
    JointType.REVOLUTE: lib.RS_JOINT_REVOLUTE,
    JointType.PRISMATIC: lib.RS_JOINT_PRISMATIC,
    JointType.SPHERICAL: lib.RS_JOINT_SPHERICAL,
}

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


@dataclass(frozen=True)
class ArticulatedSystemOption:
    """How a robot is built.

    `base`: "auto" fixes a root link named ``world``; "fixed", "floating".
    """

    base: str = "auto"


class WorldArticulated(WorldObjects):
    """Adding robots. A failed call leaves the world as it was."""

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
        params: Mapping[str, ParameterValue] | None = None,
    ) -> ArticulatedSystem:
        """Add a robot from a URDF file, URDF text, a Child tree or a KinematicTree.

        `res_path`: folder of the meshes; by default that of the file. `joint_order`: names of all movable joints,
        parents first, or "depth_first". `modules`: URDF fragments to insert. `params`: values of ``@@name``.
        """
        source, base = file_path_or_urdf_script, (options or ArticulatedSystemOption()).base
        if isinstance(source, KinematicTree):
            tree = source
        elif isinstance(source, Child):
            tree = tree_from_child(source, res_path, joint_order, base)
        else:
            tree = load_urdf(source, res_path, joint_order, params, modules, base)
        arguments.collision_bits("collision_group", collision_group)
        arguments.collision_bits("collision_mask", collision_mask)
        return self._insert_tree(tree)

    def _insert_tree(self, tree: KinematicTree) -> ArticulatedSystem:
        links = ffi.new("rs_link_def[]", len(tree.bodies))
        names = [ffi.new("char[]", body.name.encode()) for body in tree.bodies]
        for link, body, name in zip(links, tree.bodies, names, strict=True):
            _fill_link(link, body)
            link.name = name
        definition = ffi.new("rs_articulation_def *")
        definition.object_type = int(ObjectType.ARTICULATED_SYSTEM)
        definition.link_count = len(tree.bodies)
        definition.links = links
        out = ffi.new("rs_object_id *")
        with self.locked():
            check(lib.rs_articulation_create(self._world, definition, out))
            handle = ArticulatedSystem(cast("World", self), int(out[0]), tree)
            self._register(handle)
        return handle


def _fill_link(link: Any, body: TreeBody) -> None:
    lib.rs_default_link_def(ffi.addressof(link))
    link.parent = body.parent
    link.joint_type = _JOINT_TYPES[body.joint_type]
    link.joint_position = list(arguments.vector("joint position", body.joint_position, 3))
    link.joint_rotation = list(arguments.vector("joint rotation", np.reshape(body.joint_rotation, -1), 9))
    link.axis = list(arguments.vector("axis", body.axis, 3))
    link.mass = body.mass
    link.com = list(arguments.vector("com", body.com, 3))
    link.inertia = list(arguments.symmetric6("inertia", body.inertia))
    for name in _JOINT_NUMBERS:
        setattr(link, name, getattr(body, name))
    mount = np.atleast_1d(np.asarray(body.spring_mount, dtype=np.float64))
    link.spring_mount = [*mount, 0.0, 0.0, 0.0, 0.0][:4]

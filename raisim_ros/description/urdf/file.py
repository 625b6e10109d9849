"""Robots from URDF files, text, templates, xacro files and code: each becomes a KinematicTree.

    tree = load_urdf("anymal.urdf")
    tree = load_urdf("chain.urdf", params={"n": 20}, base="fixed")
    tree = tree_from_child(Child(Link("world"), children=[…]))
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description.errors import FileMissingError, ParseError, Place, RaisimError, UrdfError
from raisim_ros.description.files import existing_file, expanded, full_path, working_folder
from raisim_ros.description.resource_paths import MODULE_FOLDERS, candidates_in_folders, first_file
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.robot.model import Child, Geometry, Link, model_from_child
from raisim_ros.description.robot.tree_builder import build_tree
from raisim_ros.description.urdf.export import urdf_text
from raisim_ros.description.urdf.other_tools import listed, read_other_tools
from raisim_ros.description.urdf.reader import UrdfReader, find_mesh
from raisim_ros.description.xml.source import parse_xml, read_text, without_declaration
from raisim_ros.description.xml.template import (
    Parameters,
    as_text,
    check_known,
    expand_template,
    is_plain,
    parameter_values,
)

# Elements of other tools, whose text may look like a template.
_OTHER_TOOLS = frozenset(
    {"gazebo", "transmission", "ros2_control", "actuator", "joint_properties", "safety_controller"}
)


def load_urdf(
    path_or_text: str | Path,
    res_path: str | Path = "",
    joint_order: Sequence[str] | str = (),
    params: Parameters = None,
    modules: Sequence[str | Path] = (),
    base: str = "auto",
) -> KinematicTree:
    """Read a robot.

    `path_or_text`: a ``.urdf`` or ``.xacro`` file, or the URDF itself. `res_path`: folder of meshes, beside those
    that the file's own place offers. `joint_order`: names of all movable joints, parents first, or "depth_first";
    empty for the order of the file. `params`: values of ``@@name`` and of xacro's arguments. `modules`: URDF
    fragments to insert. `base`: "fixed", "floating" or "auto", which fixes a root link named ``world``.

    Raises FileMissingError, ParseError, TemplateError or UrdfError, which name file and line, and
    InvalidValueError for a wrong argument.
    """
    known: set[str] = set()
    source, directory, text = _open(path_or_text, res_path, params, known)
    root = _expanded_root(text, source, directory, params, known)
    if root.tag != "robot":
        raise UrdfError(source, root.sourceline, f"root element is <{root.tag}>; expected <robot>")

    def open_sensor_file(file: Path) -> etree._Element:
        return _expanded_root(read_text(file), str(file), file.parent, params, known)

    name = root.get("name") or "robot"
    reader = UrdfReader(name, Place(source, root.sourceline), res_path, open_sensor_file)
    reader.read(root, source, directory)
    for module in modules:
        _insert_module(reader, root, module, directory, params, known)
    check_known(params, known, source)
    left_out = reader.left_out + read_other_tools(root, reader.model)
    if left_out:
        warnings.warn(f"{source}: not read: {listed(left_out)}", RuntimeWarning, stacklevel=3)
    return build_tree(
        reader.model,
        joint_order,
        base,
        robot_description=etree.tostring(root, encoding="unicode"),
        resource_dir=str(res_path or directory),
        lenient=True,
    )


def tree_from_child(
    child: Child, res_path: str | Path = "", joint_order: Sequence[str] | str = (), base: str = "auto"
) -> KinematicTree:
    """The tree of a robot built in code; the meshes are looked for in `res_path` and the working directory."""
    model = model_from_child(child)
    model.links = [_with_mesh_files(link, res_path) for link in model.links]
    tree = build_tree(model, joint_order, base, resource_dir=str(res_path or working_folder()))
    tree.robot_description = urdf_text(tree)
    return tree


def is_urdf_text(path_or_text: str | Path) -> bool:
    """URDF itself rather than the path of a file?"""
    return isinstance(path_or_text, str) and "<" in path_or_text


# ---- sources ----


def _open(
    path_or_text: str | Path, res_path: str | Path, params: Parameters, known: set[str]
) -> tuple[str, Path, str]:
    """Name for errors, folder of relative paths, and text."""
    if is_urdf_text(path_or_text):
        return "text", full_path(res_path or "."), str(path_or_text)
    file = expanded(path_or_text)
    if not str(path_or_text) or "\0" in str(path_or_text):
        raise FileMissingError(path_or_text, "robot file")
    if file.suffix == ".xacro":
        return str(file), full_path(file).parent, _xacro_text(file, params, known)
    return str(file), full_path(file).parent, read_text(file, "robot file")


def _expanded_root(
    text: str, source: str, directory: Path, params: Parameters, known: set[str]
) -> etree._Element:
    root = parse_xml(text, source)
    if not is_plain(text):
        expand_template(root, source, directory, params, untouched=_OTHER_TOOLS, known=known)
    return root


class _Arguments(dict[str, str]):
    """Arguments of a xacro file; `known` receives the names that the file asks for."""

    def __init__(self, values: dict[str, str], known: set[str]) -> None:
        super().__init__(values)
        self._known = known

    def __contains__(self, name: object) -> bool:
        self._known.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self._known.add(name)
        return super().__getitem__(name)


def _xacro_text(file: Path, params: Parameters, known: set[str]) -> str:
    """The URDF that the optional package xacro makes of a file."""
    existing_file(file, "robot file")
    try:
        import xacro
    except ImportError:
        raise ParseError(file, None, "xacro files need the package 'xacro' (pip install raisim_ros[xacro])") from None
    values = {name: as_text(value, f"parameter '{name}'") for name, value in parameter_values(params).items()}
    mappings = _Arguments(values, known)
    try:
        document: Any = xacro.process_file(str(file), mappings=mappings)
        return str(document.toprettyxml(indent="  "))
    except RaisimError:
        raise
    except Exception as error:  # xacro raises many kinds, also from expressions in the file
        raise ParseError(file, None, f"xacro: {error or type(error).__name__}") from error


def _insert_module(
    reader: UrdfReader,
    root: etree._Element,
    module: str | Path,
    directory: Path,
    params: Parameters,
    known: set[str],
) -> None:
    """Read a fragment, one or several elements or a whole <robot>, and put it at the end of `root`."""
    if is_urdf_text(module):
        source, module_directory, text = "module text", directory, str(module)
    else:
        candidates = candidates_in_folders(str(module), directory, MODULE_FOLDERS)
        file = first_file(candidates)
        if file is None:
            looked_at = ", ".join(str(path) for path in candidates)
            raise FileMissingError(module, f"module (looked at {looked_at})")
        source, module_directory, text = str(file), file.parent, read_text(file)
    fragment = _fragment_root(text, source)
    expand_template(fragment, source, module_directory, params, untouched=_OTHER_TOOLS, known=known)
    reader.read(fragment, source, module_directory)
    root.extend(fragment)


def _fragment_root(text: str, source: str) -> etree._Element:
    """The parent of a fragment's elements: its own <robot>, or one put around it without changing line numbers."""
    try:
        root = parse_xml(text, source)
        if root.tag == "robot":
            return root
    except ParseError:
        pass  # several elements side by side; real mistakes show below
    return parse_xml(f"<robot>{without_declaration(text)}</robot>", source)


def _with_mesh_files(link: Link, res_path: str | Path) -> Link:
    """`link` with full paths of its meshes."""

    def found(geometry: Geometry, place: Place) -> Geometry:
        if geometry.shape != "mesh" or not geometry.mesh_file:
            return geometry
        file = find_mesh(geometry.mesh_file, working_folder(), res_path, place, f"link '{link.name}'")
        return replace(geometry, mesh_file=str(file))

    return replace(
        link,
        collisions=[replace(part, geometry=found(part.geometry, part.place)) for part in link.collisions],
        visuals=[replace(part, geometry=found(part.geometry, part.place)) for part in link.visuals],
    )

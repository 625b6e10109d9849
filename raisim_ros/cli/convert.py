"""From one format of files to another one."""

from __future__ import annotations

import warnings
from pathlib import Path

from raisim_ros.cli.open_file import check_output, open_world
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.file_kind import MESH, RECORDING, ROBOT, kind_of
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.world.world import World

FORMATS = ("urdf", "mjcf", "world", "obj", "mcap")
_ENDINGS = {
    ".mjcf.xml": "mjcf",
    ".urdf": "urdf",
    ".xml": "world",
    ".obj": "obj",
    ".mcap": "mcap",
}


def convert_file(source: str, out: str, wanted: str | None = None) -> list[str]:
    """Write a file in the format that is wanted, or that the name tells. Returns what the reader and the writer warned
    of."""
    kind = kind_of(source)
    check_output(out, source)
    format_ = wanted or next((name for ending, name in _ENDINGS.items() if out.lower().endswith(ending)), "")
    if kind == MESH and format_ == "obj":
        from raisim_ros.description.mesh.export import write_obj
        from raisim_ros.description.mesh.file import load_mesh

        write_obj(load_mesh(source), Path(out))
        return []
    if kind == RECORDING and format_ == "mcap":
        from raisim_ros.viewer.mcap_export import write_mcap
        from raisim_ros.viewer.recording import Recording

        write_mcap(Recording(source), out)
        return []
    if format_ not in ("urdf", "mjcf", "world"):
        raise InvalidValueError(f"a {kind} cannot be written to '{out}'; expected .urdf, .mjcf.xml, .xml, .obj, .mcap")
    world, told = open_world(source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        _write(world, source, out, format_, is_robot=kind == ROBOT)
    return told + [str(one.message) for one in caught]


def _write(world: World, source: str, out: str, format_: str, is_robot: bool) -> None:
    robots = [handle for handle in world.get_obj_list() if isinstance(handle, ArticulatedSystem)]
    if format_ == "urdf":
        if len(robots) != 1:
            raise InvalidValueError(f"'{source}' has {len(robots)} robots; a URDF file holds one")
        robots[0].export_robot_description_to_urdf(out)
    elif format_ == "mjcf":
        if is_robot:  # without the ground that it stands on here
            robots[0].export_robot_description_to_mjcf(out)
        else:
            world.export_to_mjcf(out)
    else:
        world.export_to_xml(out)

"""New objects for a World: primitives, and files of robots and meshes."""

from __future__ import annotations

from pathlib import Path

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.types import ArticulatedSystemOption
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import AUTO, SHAPES, NewObject
from raisim_ros.viewer.stance import take_stance

ROBOT_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf")


def add_to_world(world: World, new: NewObject) -> Object:
    """Add what is asked for; the world is as before when that fails."""
    if new.file:
        handle: Object = _from_file(world, new)
    elif new.shape in SHAPES:
        names = SHAPES[new.shape]
        if len(new.size) != len(names):
            raise InvalidValueError(f"size is {new.size}; a {new.shape} has {', '.join(names)}")
        add = getattr(world, f"add_{new.shape}")
        handle = add(*new.size, new.mass, new.material)
    else:
        raise InvalidValueError(f"the shape is '{new.shape}'; expected one of {', '.join(SHAPES)}")
    if isinstance(handle, ArticulatedSystem) and new.stance is not None:
        take_stance(handle, new.stance, new.position)
    elif isinstance(handle, ArticulatedSystem):
        handle.set_base_pos(new.position)
    elif isinstance(handle, SingleBodyObject):
        handle.set_position(new.position)
    handle.set_name(_free_name(world, new.name or new.shape or Path(new.file).stem))
    if new.appearance:
        handle.set_appearance(new.appearance)
    return handle


def _from_file(world: World, new: NewObject) -> Object:
    if Path(new.file).suffix.lower() in ROBOT_SUFFIXES:
        base = new.stance.base if new.stance is not None else AUTO
        return world.add_articulated_system(new.file, options=ArticulatedSystemOption(base=base))
    return world.add_mesh(new.file, new.mass, material=new.material)


def _free_name(world: World, wish: str) -> str:
    name, number = wish, 1
    while world.get_object(name) is not None:
        name, number = f"{wish}_{number}", number + 1
    return name

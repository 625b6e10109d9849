"""Random calls of the whole Python API, made from the signatures: right, nearly right and wrong arguments."""

from __future__ import annotations

import inspect
import math
import random
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich_world import HILLS, TETRAHEDRON, public_methods, sensor_models

import raisim_ros
from raisim_ros import RaisimError, World

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-12, 1e12, 1e30, 1e50, -1e50, 1e200, 1.7e308, 1e-320, math.nan, math.inf, -math.inf]
INTEGERS = [0, 1, 2, 3, -1, 7, 100, 2**31 - 1, 2**31, 2**63, 2**64, -(2**63), -(2**70)]
STRINGS = [
    "", "a", "ground", "body_0", "arm", "steel", "hidden", "1 0 0 1", "red", "{", "{1+1}", "@@x", "[THIS_DIR]", "a\0b",
    "\ud800", "\x07", "line\nbreak", "é", "x" * 5000, "../..", "/", ".", "/dev/null", "world.xml", "mesh.obj", "<a/>",
    '<robot name="r"><link name="a"/></robot>', "package://raisim_ros/rsc/robots/arm.urdf", "package://a/../../etc/passwd",
]  # fmt: skip
ODDITIES = [None, True, False, b"bytes", [], {}, (), [[]], [1, [2]], object, "text", 3, 1.5, {"a": 1}, [None] * 3, ["1", "2", "3"],
            np.zeros(0), np.zeros((3, 3)), np.array(["a"]), np.array([1 + 1j]), np.float32(2), np.int8(3), range(3)]  # fmt: skip


@dataclass
class Call:
    """A call that is about to be made."""

    thing: object
    name: str
    arguments: list[object]
    keywords: dict[str, object]

    def __call__(self) -> object:
        return getattr(self.thing, self.name)(*self.arguments, **self.keywords)

    def __str__(self) -> str:
        parts = [_short(value) for value in self.arguments]
        parts += [f"{name}={_short(value)}" for name, value in self.keywords.items()]
        return f"{type(self.thing).__name__}.{self.name}({', '.join(parts)})"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 120 else text[:117] + "..."


class CallMaker:
    """Makes calls for the things of a world; the same seed makes the same calls."""

    def __init__(self, world: World, things: list[object], seed: int, folder: Path) -> None:
        self._world = world
        self._things = things
        self._random = random.Random(seed)
        self._folder = folder
        self.strange: list[object] = []  # removed objects, things of other worlds

    def methods(self) -> list[tuple[type, str]]:
        """Every class and method that there is to call."""
        kinds = {type(thing): thing for thing in self._things}
        return [(kind, name) for kind in kinds for name in public_methods(kinds[kind])]

    def call(self, kind: type | None = None, name: str | None = None, wrong: float = 0.3) -> Call:
        """A call of one method, or of any; a share of `wrong` of the arguments is."""
        things = [thing for thing in self._things if kind is None or type(thing) is kind]
        thing = self._random.choice(things)
        chosen = name or self._random.choice(public_methods(thing))
        return self.with_arguments(thing, chosen, wrong)

    def with_arguments(self, thing: object, name: str, wrong: float) -> Call:
        arguments: list[object] = []
        keywords: dict[str, object] = {}
        for parameter in inspect.signature(getattr(thing, name)).parameters.values():
            optional = parameter.default is not inspect.Parameter.empty
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                if parameter.kind == parameter.VAR_POSITIONAL and self._random.random() < 0.3:
                    arguments.append(self._right(thing, parameter))
                continue
            if optional and self._random.random() < 0.6:
                if parameter.kind == parameter.POSITIONAL_ONLY:
                    break
                continue
            value = self._wrong() if self._random.random() < wrong else self._right(thing, parameter)
            if name in ("integrate",):
                value = self._few(value)
            if optional or parameter.kind == parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                arguments.append(value)
        return Call(thing, name, arguments, keywords)

    @staticmethod
    def _few(value: object) -> object:
        """A number of steps that ends."""
        return min(value, 3) if isinstance(value, (int, np.integer)) else value

    def _wrong(self) -> object:
        pools: list[Callable[[], object]] = [
            lambda: self._random.choice(NUMBERS),
            lambda: self._random.choice(INTEGERS),
            lambda: self._random.choice(STRINGS),
            lambda: self._random.choice(ODDITIES),
            lambda: self._random.choice(self._things),
            lambda: self._random.choice(self.strange or [None]),
            lambda: [self._random.choice(NUMBERS) for _ in range(self._random.choice((1, 2, 3, 4, 6, 7, 9)))],
            lambda: np.full(self._random.choice((3, 4, 6)), self._random.choice(NUMBERS)),
        ]
        return self._random.choice(pools)()

    def _right(self, thing: object, parameter: inspect.Parameter) -> object:
        kinds = str(parameter.annotation).replace("|", " ").replace("[", " ").replace("]", " ").replace(",", " ").split()
        makers = [maker for maker in (self._maker(kind, thing, parameter.name) for kind in kinds) if maker is not None]
        try:
            return self._random.choice(makers)() if makers else self._wrong()
        except RaisimError:  # the thing was removed, or the world is half-way through a step
            return None

    def _maker(self, kind: str, thing: object, name: str) -> Callable[[], object] | None:
        choose, world = self._random.choice, self._world
        made: dict[str, Callable[[], object]] = {
            "float": lambda: round(self._random.uniform(0.05, 3.0), 3),
            "int": lambda: self._random.randrange(4),
            "bool": lambda: choose((True, False)),
            "str": lambda: self._text(name, thing),
            "Path": lambda: self._folder / choose(("world.xml", "mesh.obj", "robot.urdf", "new/one.xml")),
            "VectorLike": lambda: self._vector(name, thing),
            "Vector": lambda: self._vector(name, thing),
            "NDArray": lambda: np.eye(3),
            "None": lambda: None,
            "Object": lambda: choose(world.get_obj_list() or [None]),
            "Handle": lambda: choose(world.get_obj_list() or [None]),
            "SingleBody": lambda: choose(world.get_obj_list() or [None]),
            "Wire": lambda: choose(world.get_wires() or [None]),
            "SensorSet": lambda: choose(world.get_sensor_sets() or [None]),
            "WorldSnapshot": world.save_snapshot,
            "SingleBodySnapshot": lambda: world.capture_single_body_snapshot(choose(world.get_obj_list())),
            "MeshData": lambda: TETRAHEDRON,
            "HeightMapData": lambda: HILLS,
            "SensorSetModel": lambda: sensor_models(False),
            "Mapping": lambda: {"n": 3},
            "FrameLike": lambda: 0,
            "LocalIndex": lambda: self._random.randrange(3),
        }
        if kind in made:
            return made[kind]
        found = getattr(raisim_ros, kind, None)
        if isinstance(found, type) and hasattr(found, "__members__"):
            return lambda: choose(list(found))  # type: ignore[call-overload]
        declares = isinstance(found, type) and typing.get_type_hints(found, localns={"Home": object})
        if declares and not issubclass(found, (raisim_ros.Object, World)):
            return lambda: _default(found)
        return None

    def _text(self, name: str, thing: object) -> str:
        if "path" in name or "file" in name or "dir" in name:
            return str(self._folder / self._random.choice(("world.xml", "mesh.obj", "robot.urdf")))
        names = ["ground", "body_0", "body_1", "steel", "rubber", "arm", "head", "imu", "wire_0", "new"]
        if hasattr(thing, "get_body_names"):
            names += [*thing.get_body_names(), *thing.get_movable_joint_names()]
        return self._random.choice(names)

    def _vector(self, name: str, thing: object) -> list[float]:
        size = {"orientation": 4, "quaternion": 4, "velocity": 3}.get(name, 3)
        if hasattr(thing, "get_dof"):
            size = self._random.choice((3, thing.get_dof(), thing.get_generalized_coordinate_dim()))
        return [round(self._random.uniform(-1.0, 1.0), 3) for _ in range(size)]


def _default(kind: type) -> object:
    try:
        return kind()
    except TypeError:
        return None

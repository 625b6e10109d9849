"""Values as bytes that run no code when they are read: what pickle is for, without its power.

A table of nodes in JSON, and behind it the bytes of arrays. Numbers, texts, containers, arrays, enumerators, paths and
instances of this package's own classes are known; instances get their attributes back without their constructor being
called. Shared and circular references stay what they are. What belongs to somebody else (a handle of a world) can be
written as a note that the reader looks up.
"""

from __future__ import annotations

import copyreg
import importlib
import json
import struct
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from raisim_ros.description.declared import check_declared
from raisim_ros.description.errors import InvalidValueError, RaisimError

Note = list[Any]
"""What stands for something that is not written: a list of numbers and texts."""

_LENGTH = struct.Struct("<QQ")
_PACKAGES = ("raisim_ros.description.", "raisim_ros.engine.")
_PLAIN = (type(None), bool, int, float, str)
_CONTAINERS: dict[str, Callable[[Iterable[Any]], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def pack(value: Any, note_of: Callable[[Any], Note | None] = lambda _: None) -> bytes:
    """The bytes of a value; `note_of` tells what to write in place of something, or None."""
    writer = _Writer(note_of)
    root = writer.cell(value)
    table = json.dumps([root, writer.nodes]).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(table), len(writer.blob)) + table + bytes(writer.blob)


def unpack(data: bytes, look_up: Callable[[Note], Any] | None = None) -> Any:
    """The value again; `look_up` finds what notes stand for. Raises InvalidValueError for anything that is wrong."""
    try:
        table_size, blob_size = _LENGTH.unpack_from(data)
        if _LENGTH.size + table_size + blob_size != len(data):
            raise InvalidValueError("the data have another length than they say")
        behind = _LENGTH.size + table_size
        root, nodes = json.loads(data[_LENGTH.size : behind].decode("utf-8", "surrogatepass"))
        reader = _Reader(nodes, memoryview(data)[behind:], look_up)
        value = reader.value(root)
        reader.check_instances()
        return value
    except RaisimError as error:
        raise InvalidValueError(str(error)) from error
    except Exception as error:  # whatever a made-up table can lead to
        raise InvalidValueError(f"the data make no sense: {type(error).__name__}: {error}") from error


class _Writer:
    def __init__(self, note_of: Callable[[Any], Note | None]) -> None:
        self.nodes: list[Any] = []
        self.blob = bytearray()
        self._note_of = note_of
        self._index: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no identity is used twice

    def cell(self, value: Any) -> Any:
        """A plain value itself, or the number of its node in a list."""
        if type(value) in _PLAIN:
            return value
        key = id(value)
        if key not in self._index:
            self._index[key] = len(self.nodes)
            self._alive.append(value)
            self.nodes.append(None)
            place = self._index[key]
            self.nodes[place] = self._node(value)
        return [self._index[key]]

    def _node(self, value: Any) -> list[Any]:
        note = self._note_of(value)
        kind = type(value)
        if note is not None:
            return ["note", note]
        if isinstance(value, Enum):
            return ["enum", _name_of(kind), value.value]
        if kind is dict:
            return ["dict", [[self.cell(key), self.cell(one)] for key, one in value.items()]]
        if kind in (list, tuple):
            return [kind.__name__, [self.cell(one) for one in value]]
        if kind in (set, frozenset):  # in an order that does not differ from process to process
            return [kind.__name__, [self.cell(one) for one in sorted(value, key=repr)]]
        if kind is bytes:
            return ["bytes", *self._put(value)]
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(value)
        if isinstance(value, PurePath):
            return ["path", str(value)]
        return self._instance(value)

    def _put(self, data: bytes) -> tuple[int, int]:
        begin = len(self.blob)
        self.blob += data
        return begin, len(data)

    def _array(self, value: np.ndarray[Any, Any] | np.generic) -> list[Any]:
        if value.dtype.hasobject:
            raise InvalidValueError("an array of Python objects cannot be stored")
        names = value.dtype.descr if value.dtype.names else value.dtype.str
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return [kind, names, list(value.shape), *self._put(value.tobytes())]

    def _instance(self, value: Any) -> list[Any]:
        name = _name_of(type(value))
        made = value.__reduce_ex__(2)
        if isinstance(made, str) or made[0] is not copyreg.__newobj__ or any(part is not None for part in made[3:]):  # type: ignore[attr-defined]
            raise InvalidValueError(f"{name} cannot be stored")
        state = made[2] if len(made) > 2 else None
        return ["instance", name, [self.cell(one) for one in made[1][1:]], self.cell(state)]


def _name_of(kind: type) -> str:
    if not kind.__module__.startswith(_PACKAGES) or "<locals>" in kind.__qualname__:
        raise InvalidValueError(f"{kind.__module__}.{kind.__qualname__} cannot be stored: it is no class of raisim_ros")
    return f"{kind.__module__}:{kind.__qualname__}"


def _class_of(name: str) -> Any:
    module, _, path = name.partition(":")
    if not module.startswith(_PACKAGES) or not all(part.isidentifier() for part in module.split(".")):
        raise InvalidValueError(f"'{name}' is no class of raisim_ros")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or found.__module__ != module or found.__qualname__ != path:
        raise InvalidValueError(f"'{name}' is no class of raisim_ros")
    return found


class _Reader:
    def __init__(self, nodes: list[Any], blob: memoryview, look_up: Callable[[Note], Any] | None) -> None:
        self._nodes = nodes
        self._blob = blob
        self._look_up = look_up
        self._made: dict[int, Any] = {}
        self._instances: list[Any] = []

    def value(self, cell: Any) -> Any:
        """What a cell stands for."""
        if not isinstance(cell, list):
            return cell
        (index,) = cell
        if index not in self._made:
            kind, *rest = self._nodes[index]
            self._made[index] = getattr(self, f"_make_{_KINDS[kind]}")(index, kind, *rest)
        return self._made[index]

    def check_instances(self) -> None:
        """Instances have what their classes declare, and dataclasses pass their own checks."""
        for made in self._instances:
            check_declared(made)
            for own_check in ("__post_init__", "_check_read"):
                if hasattr(made, own_check):
                    getattr(made, own_check)()

    def _make_note(self, index: int, kind: str, note: Note) -> Any:
        if self._look_up is None:
            raise InvalidValueError(f"nobody knows what {note} stands for")
        return self._look_up(note)

    def _make_enum(self, index: int, kind: str, name: str, value: Any) -> Any:
        found = _class_of(name)
        if not issubclass(found, Enum):
            raise InvalidValueError(f"'{name}' has no enumerators")
        return found(value)

    def _make_list(self, index: int, kind: str, cells: list[Any]) -> Any:
        made: list[Any] = []
        self._made[index] = made
        made.extend(self.value(one) for one in cells)
        return made

    def _make_container(self, index: int, kind: str, cells: list[Any]) -> Any:
        return _CONTAINERS[kind](self.value(one) for one in cells)

    def _make_dict(self, index: int, kind: str, items: list[Any]) -> Any:
        made: dict[Any, Any] = {}
        self._made[index] = made
        for key, one in items:
            made[self.value(key)] = self.value(one)
        return made

    def _take(self, begin: int, size: int) -> bytes:
        if not 0 <= begin <= begin + size <= len(self._blob):
            raise InvalidValueError("an array lies outside the data")
        return bytes(self._blob[begin : begin + size])

    def _make_bytes(self, index: int, kind: str, begin: int, size: int) -> bytes:
        return self._take(begin, size)

    def _make_array(self, index: int, kind: str, names: Any, shape: list[int], begin: int, size: int) -> Any:
        fields = names if isinstance(names, str) else [(one, form, *map(tuple, rest)) for one, form, *rest in names]
        dtype = np.dtype(fields)
        if dtype.hasobject:
            raise InvalidValueError("an array of Python objects cannot be read")
        array = np.frombuffer(self._take(begin, size), dtype).reshape(shape).copy()
        return array if kind == "array" else array[()]

    def _make_path(self, index: int, kind: str, text: str) -> Path:
        return Path(text)

    def _make_instance(self, index: int, kind: str, name: str, args: list[Any], state: Any) -> Any:
        found = _class_of(name)
        made = found.__new__(found, *(self.value(one) for one in args))
        self._made[index] = made
        self._instances.append(made)
        attributes = self.value(state)
        if "__setstate__" in dir(found):
            made.__setstate__(attributes)
        elif attributes is not None:
            for table in attributes if isinstance(attributes, tuple) else (attributes,):
                for attribute, value in (table or {}).items():
                    object.__setattr__(made, attribute, value)
        return made


_KINDS = {
    **{kind: kind for kind in ("note", "enum", "list", "dict", "bytes", "array", "path", "instance")},
    **dict.fromkeys(_CONTAINERS, "container"),
    "scalar": "array",
}

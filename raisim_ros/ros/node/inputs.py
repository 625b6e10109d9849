"""What came from outside and changed a world: the commands and requests of a recording."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rclpy.serialization import serialize_message

from raisim_ros.description.errors import ParseError
from raisim_ros.description.recording_file import INPUTS, WORLD, laid_out, read_chunks, unpack_files
from raisim_ros.engine.world.world import World

# Kinds of inputs.
START = "start"  # the recording begins; name: "fresh" when nothing had happened in the world before
SERVICE, PARAMETERS, GOAL, CANCEL, WIRE = "service", "parameters", "goal", "cancel", "wire"
DEFORMABLE, GRANULAR = "deformable", "granular"  # commands to objects made of particles
PULL = "pull"  # of a hand
COMMAND = "command"  # to an object; name: object, detail: topic or number of the link
CHECK = "check"  # name: hash of all states, in hexadecimal digits
END = "end"
_KINDS = {START, SERVICE, PARAMETERS, GOAL, CANCEL, WIRE, DEFORMABLE, GRANULAR, PULL, COMMAND, CHECK, END}


@dataclass(frozen=True)
class Input:
    """One of them, or one of several actions on the world that a request consists of."""

    at: int  # steps taken since the recording began
    kind: str
    name: str = ""
    detail: str = ""
    request: int = 0  # number of the request, from 1; the same for all its actions
    data: bytes = b""  # message as CDR; empty from the second action on


@dataclass(frozen=True)
class Noted:
    """An input whose message is still to be packed."""

    input: Input
    message: Any = None


@dataclass(frozen=True)
class Direct:
    """Inputs that are carried out at once, on the stepping thread, given a name and a message."""

    message_type: Any  # None: there is no message
    carry_out: Callable[[str, Any], None]


def pack_inputs(noted: Sequence[Noted]) -> bytes:
    """The content of a chunk."""
    data = [b"" if one.message is None else bytes(serialize_message(one.message)) for one in noted]
    rows = [
        {**asdict(one.input), "data": len(message)} for one, message in zip(noted, data, strict=True)
    ]
    table = json.dumps(rows).encode()
    return struct.pack("<I", len(table)) + table + b"".join(data)


def unpack_inputs(payload: bytes) -> list[Input]:
    """The inverse of pack_inputs(); ValueError, TypeError or struct.error for what it did not make."""
    (length,) = struct.unpack_from("<I", payload)
    at = 4 + length
    inputs = []
    for row in json.loads(payload[4:at]):
        size = row.pop("data")
        if set(row) != {field.name for field in fields(Input)} - {"data"} or row["kind"] not in _KINDS:
            raise ValueError("unknown input")
        inputs.append(Input(**row, data=payload[at : at + size]))
        at += size
    return inputs


@dataclass(frozen=True)
class RecordedRun:
    """What a replay needs of a recording."""

    files: dict[str, bytes]  # the world at the beginning, and what lies beside it
    inputs: list[Input]


def recorded_world(run: RecordedRun) -> World:
    """The world in which a recording begins."""
    with laid_out(run.files) as file:
        return World(file)


def read_run(path: Path) -> RecordedRun:
    """The commands and requests of a recording that a node made from its beginning. Raises ParseError."""
    files: dict[str, bytes] | None = None
    inputs: list[Input] = []
    for kind, payload in read_chunks(path):
        try:
            if kind == WORLD and files is None:
                files = unpack_files(payload)
            elif kind == INPUTS:
                inputs += unpack_inputs(payload)
        except (ValueError, TypeError, KeyError, AttributeError, struct.error) as error:
            raise ParseError(str(path), None, "the recording is damaged") from error
    if files is None or not inputs or inputs[0].kind != START:
        raise ParseError(str(path), None, "it has no commands and requests: only recordings of a node can be replayed")
    if inputs[0].name != "fresh":
        raise ParseError(str(path), None, "it was begun in the middle of a run, and can be looked at, but not replayed")
    return RecordedRun(files, inputs)

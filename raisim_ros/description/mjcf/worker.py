"""Runs MuJoCo's compiler in a process of its own: requests on stdin, answers on stdout.

Started as a script by compiler.py: a model may take long, take much memory, or end the process that compiles it. Needs
nothing of this package. A request is one line of JSON; an answer is the length of a JSON header (8 bytes, little
endian), the header, and the arrays that it lists one after the other. The process ends with its stdin, or when nobody
asked for a while.
"""

from __future__ import annotations

import json
import os
import re
import resource
import select
import sys
import tempfile
from typing import Any

IDLE = 120.0  # seconds without a request after which the process ends
ARRAYS = re.compile(
    "body_|jnt_|dof_|geom_|mesh_(face|vert|graph|pos|quat)|hfield_|actuator_|tendon_|wrap_|eq_|exclude_|pair_|key_|site_"
    "|cam_|light_|sensor_|mat_rgba|qpos"
)
KINDS = {
    "jnt_type": "mjtJoint", "geom_type": "mjtGeom", "eq_type": "mjtEq", "eq_objtype": "mjtObj", "wrap_type": "mjtWrap",
    "actuator_trntype": "mjtTrn", "actuator_gaintype": "mjtGain", "actuator_biastype": "mjtBias",
    "actuator_dyntype": "mjtDyn", "sensor_type": "mjtSensor", "sensor_objtype": "mjtObj", "light_type": "mjtLightType",
    "light_mode": "mjtCamLight", "cam_mode": "mjtCamLight",
}  # fmt: skip
COUNTS = ("nflex", "nskin", "nplugin", "na", "nu", "nsite", "ncam", "nlight")
NAMED = (
    "body", "jnt", "geom", "mesh", "hfield", "actuator", "tendon", "eq", "pair", "exclude", "key", "site", "cam",
    "light", "sensor",
)  # fmt: skip
LISTED = {
    "body": "bodies", "jnt": "joints", "geom": "geoms", "actuator": "actuators", "eq": "equalities", "cam": "cameras",
    "light": "lights",
}  # fmt: skip


def compile_model(request: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The compiled model of a request: what is not an array, and the arrays."""
    import mujoco

    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)
    if request.get("text") is not None:
        os.chdir(request["folder"])
        spec = mujoco.MjSpec.from_string(request["text"])
    else:
        spec = mujoco.MjSpec.from_file(request["file"])
    folder = spec.compiler.meshdir
    if folder and not os.path.isdir(os.path.join(request["folder"], folder)):
        spec.compiler.meshdir = ""  # a file moved without its folder of meshes
    spec.compiler.discardvisual = 0
    spec.compiler.fusestatic = 0
    model = spec.compile()
    return _described(mujoco, spec, model, warnings)


def _described(mujoco: Any, spec: Any, model: Any, warnings: list[str]) -> tuple[dict[str, Any], list[Any]]:
    import numpy as np

    arrays = {}
    for name in dir(model):
        if ARRAYS.match(name):
            value = getattr(model, name)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                arrays[name] = np.ascontiguousarray(value)
    option = {name: getattr(model.opt, name) for name in ("timestep", "density", "viscosity", "disableflags")}
    option |= {name: list(map(float, getattr(model.opt, name))) for name in ("gravity", "wind")}
    flags = {
        bit.name.removeprefix("mjDSBL_").lower(): bool(model.opt.disableflags & bit.value)
        for bit in mujoco.mjtDisableBit.__members__.values()
        if bit.name != "mjNDISABLE"
    }
    header = {
        "version": mujoco.__version__,
        "name": spec.modelname,
        "arrays": [[name, value.dtype.str, list(value.shape)] for name, value in arrays.items()],
        "names": {kind: _names(model, kind) for kind in NAMED},
        "lines": {
            kind: _lines(getattr(spec, listed), len(getattr(model, f"name_{kind}adr")))
            for kind, listed in LISTED.items()
        },
        "kinds": {field: _kinds(mujoco, enum, arrays[field]) for field, enum in KINDS.items() if field in arrays},
        "counts": {name: int(getattr(model, name)) for name in COUNTS},
        "option": option,
        "disabled": [name for name, is_off in flags.items() if is_off],
        "warnings": warnings,
    }
    return header, list(arrays.values())


def _names(model: Any, kind: str) -> list[str]:
    table = bytes(model.names)
    starts = getattr(model, f"name_{kind}adr")
    return [table[at : table.index(b"\0", at)].decode("utf-8", "replace") for at in map(int, starts)]


def _lines(elements: Any, count: int) -> list[int]:
    """Line of each element in the file that it was read from; 0 where MuJoCo does not know."""
    lines = [0] * count
    for element in elements:
        found = re.search(r"line (\d+)", element.info or "")
        if found and 0 <= element.id < count:
            lines[element.id] = int(found.group(1))
    return lines


def _kinds(mujoco: Any, enum: str, values: Any) -> list[str]:
    words = {
        int(member.value): re.sub(r"^mj[A-Z]+_", "", name).lower()
        for name, member in getattr(mujoco, enum).__members__.items()
    }
    return [words.get(int(value), str(int(value))) for value in values]


def serve(memory: int) -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints gets among the answers
    os.chdir(tempfile.gettempdir())
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while select.select([requests], [], [], IDLE)[0]:
        line = requests.readline()
        if not line:
            return
        arrays: list[Any] = []
        try:
            header, arrays = compile_model(json.loads(line))
        except Exception as failure:  # the library raises plain ValueErrors of its own
            header = {"error": str(failure).strip() or type(failure).__name__}
        text = json.dumps(header).encode()
        answers.write(len(text).to_bytes(8, "little") + text)
        for array in arrays:
            answers.write(array.tobytes())
        answers.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))

"""PD gains of robots as parameters: `<robot>.p_gains` and `<robot>.d_gains`, in the order of joint_states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from raisim_ros.ros.conversions import Vector
from raisim_ros.ros.node.setting_services import Change, gain_numbers
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.robots.joint_commands import present_gains, set_gains

GAINS = {
    "p_gains": "Position gains of the joints, as in joint_states [N m/rad, N/m]; one number: for all.",
    "d_gains": "Velocity gains of the joints, as in joint_states [N m s/rad, N s/m]; one number: for all.",
}


def gain_changes(table: ObjectTable) -> dict[str, Change]:
    """By the name of the parameter, how the gains of all robots are changed. For the stepping thread."""
    return {
        f"{entry.name}.{field}": Change(_changer(entry, field), _reader(entry, field))
        for entry in table.entries()
        if entry.joints is not None and entry.joints.names
        for field in GAINS
    }


def _reader(entry: ObjectRow, field: str) -> Callable[[], list[float]]:
    return lambda: [float(gain) for gain in present_gains(entry)[field]]


def _changer(entry: ObjectRow, field: str) -> Callable[[Sequence[float]], None]:
    def change(values: Sequence[float]) -> None:
        assert entry.joints is not None
        gains: dict[str, Vector | None] = dict.fromkeys(GAINS)
        gains[field] = gain_numbers(values, f"{entry.name}.{field}", len(entry.joints.names))
        set_gains(entry, np.arange(len(entry.joints.names)), **gains)

    return change

"""Domain randomisation as a table: what varies, how, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raisim_ros import InvalidValueError, WorldBatch
from raisim_ros.description.checked import check_fields, numbers, shown
from raisim_ros.envs.task import Rows

_OF_LINKS = ("masses", "coms", "inertias")
_OF_JOINTS = ("damping", "joint_friction", "rotor_inertias", "stiffness", "p_gains", "d_gains")
_OF_WORLD = ("friction", "gravity")
_OPERATIONS = ("scale", "add", "set")


@dataclass(frozen=True)
class Randomization:
    """A row of the table. At every reset a member draws anew, from `low` to `high`.

    `what`: masses, coms, inertias (of links), damping, joint_friction, rotor_inertias, stiffness, p_gains, d_gains (of
    joints), friction (of `materials`) or gravity. `operation`: scale, add or set, relative to the world that the batch
    began with. `each`: one number for every entry instead of one per member.
    """

    what: str
    low: float
    high: float
    operation: str = "scale"
    robot: str | None = None
    links: tuple[int | str, ...] | None = None
    materials: tuple[str, str] = ("default", "default")
    each: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        numbers("low and high", (self.low, self.high), 2)
        if not isinstance(self.materials, (tuple, list)) or len(self.materials) != 2:
            raise InvalidValueError(f"materials is {shown(self.materials)}; expected two names")
        known = (*_OF_LINKS, *_OF_JOINTS, *_OF_WORLD)
        if self.what not in known:
            raise InvalidValueError(f"what is '{self.what}'; expected one of {', '.join(known)}")
        if self.operation not in _OPERATIONS:
            raise InvalidValueError(f"operation is '{self.operation}'; expected one of {', '.join(_OPERATIONS)}")
        if not self.low <= self.high:
            raise InvalidValueError(f"low is {self.low}, high {self.high}; expected low <= high")

    def array(self, batch: WorldBatch) -> Rows:
        """The array of the batch that varies."""
        if self.what == "friction":
            return batch.material_pair(*self.materials)[:, 0:4:3]  # friction and static friction
        if self.what == "gravity":
            return batch.gravity
        robot = batch.robot(self.robot)
        found: Rows = getattr(robot, self.what)
        if self.what in _OF_LINKS:
            return found(self.links)  # type: ignore[operator, no-any-return]
        return found[:, robot.base_velocities :]


class Randomizer:
    """A table of randomisations on a batch."""

    def __init__(self, batch: WorldBatch, table: Sequence[Randomization]) -> None:
        if not isinstance(table, Sequence) or not all(isinstance(one, Randomization) for one in table):
            raise InvalidValueError(f"randomization is {shown(table)}; expected a list of Randomization")
        self._rows = [(one, one.array(batch)) for one in table]
        self._nominal = [array[0].copy() for _, array in self._rows]

    def draw(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """Draw the parameters of members anew; they act with the next step or refresh."""
        for (one, array), nominal in zip(self._rows, self._nominal, strict=True):
            size = nominal.shape if one.each and one.what != "friction" else (1,) * nominal.ndim
            drawn = np.array([random.uniform(one.low, one.high, size) for random in randoms])
            if one.operation == "scale":
                array[members] = nominal * drawn
            else:
                array[members] = nominal + drawn if one.operation == "add" else drawn

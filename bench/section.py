"""What the sections of the benchmarks share: how much to measure, one core, tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    `share` is the part of all steps, rays and seconds: a small one only shows that the benchmark runs. Plots go to the
    folder `images`, or nowhere.
    """

    repeats: int = 3
    share: float = 1.0
    images: Path | None = None

    def part(self, count: int) -> int:
        """The share of a number of steps or rays, at least one."""
        return max(1, round(self.share * count))


@contextmanager
def one_core() -> Iterator[None]:
    """This process on one core: other programs then disturb all engines alike."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def table(head: list[str], lines: list[list[str]]) -> str:
    """Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])

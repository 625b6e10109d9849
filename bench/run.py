"""Measures this engine beside others and writes docs/benchmarks.md with its plots.

    python bench/run.py [--only rigid contacts robots batches zoo families soft sensors ros viewer files]
                        [--repeats 3] [--share 1] [--no-write]

Sections that are not measured stay in the page as they are. Machines differ, therefore ratios are reported wherever
another engine does the same.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
IMAGES = PAGE.parent / "images"
INTRODUCTION = """# Benchmarks

Written by `make bench`; `make bench ARGS="--only sensors"` measures one section anew. Every engine simulates the same
scene with the same time step, friction and gravity, in one process on one core; sleeping is off everywhere. Times are
CPU times, the median of the repeats; since machines differ, ratios are given: seconds of the other engine over seconds
of raisim_ros. The hash of the last state stands beside the speed: the same build gives the same bits in every run.
"""


@dataclass(frozen=True)
class Section:
    """A part of the page: `measure(effort)` of these modules gives its text."""

    name: str
    modules: tuple[str, ...]

    @property
    def begin(self) -> str:
        return f"<!-- begin {self.name} -->"

    @property
    def end(self) -> str:
        return f"<!-- end {self.name} -->"

    def measure(self, effort: Effort) -> str:
        """The text between the marks."""
        parts = [importlib.import_module(module).measure(effort).strip() for module in self.modules]
        return "\n\n".join(parts)

    def kept(self, page: str) -> str:
        """The text that the page has already."""
        found = re.search(f"{re.escape(self.begin)}\n(.*)\n{re.escape(self.end)}", page, re.DOTALL)
        return found.group(1).strip() if found else ""


SECTIONS = (
    Section("rigid", ("rigid",)),
    Section("contacts", ("contact_physics",)),
    Section("robots", ("articulated",)),
    Section("batches", ("batch",)),
    Section("zoo", ("zoo",)),
    Section("families", ("families",)),
    Section("soft", ("soft",)),
    Section("sensors", ("sensors", "sensors_ros")),
    Section("ros", ("ros_publish", "ros_load")),
    Section("viewer", ("viewer",)),
    Section("files", ("load_time", "load_robots")),
)


def write_page(measured: dict[str, str]) -> None:
    """Replace the sections that were measured."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    texts = {one: measured.get(one.name) or one.kept(page) for one in SECTIONS}
    parts = [f"{one.begin}\n\n{text}\n\n{one.end}" for one, text in texts.items() if text]
    PAGE.write_text("\n".join([INTRODUCTION, "\n\n".join(parts), ""]), encoding="utf-8")


def main() -> None:
    names = [one.name for one in SECTIONS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="sections to measure")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="part of all steps, rays and seconds")
    parser.add_argument("--no-write", action="store_true", help="print only; leave docs/ as it is")
    arguments = parser.parse_args()
    if not arguments.no_write:
        IMAGES.mkdir(parents=True, exist_ok=True)
    effort = Effort(arguments.repeats, arguments.share, None if arguments.no_write else IMAGES)
    for one in SECTIONS:
        if one.name not in arguments.only:
            continue
        text = one.measure(effort)
        print(text, flush=True)
        if not arguments.no_write:
            write_page({one.name: text})


if __name__ == "__main__":
    main()

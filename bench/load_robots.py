"""Time to load robots as they come, beside MuJoCo: with an empty cache of hulls, and once it is filled.

    python bench/load_robots.py [pattern]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table
from zoo import COMPILER, mjcf_files, readable_mesh, urdf_files

TARGET = 3.0  # times MuJoCo's time
SAMPLE = 4  # every so many files of the zoo


def our_seconds(file: str) -> float:
    from raisim_ros import World

    warnings.simplefilter("ignore")
    World()
    start = time.perf_counter()
    if file.endswith(".xml"):
        World(file)
    else:
        World().add_articulated_system(file)
    return time.perf_counter() - start


def their_seconds(file: str, text: str) -> float:
    import mujoco

    start = time.perf_counter()
    if file.endswith(".xml"):
        mujoco.MjModel.from_xml_path(file)
    else:
        mujoco.MjModel.from_xml_string(text)
    return time.perf_counter() - start


def their_text(file: Path, folder: Path) -> str:
    """A URDF file as MuJoCo takes it: without visuals, meshes in formats that it reads."""
    text = re.sub(r"<visual\b.*?</visual>", "", file.read_text(errors="replace"), flags=re.DOTALL)
    text = re.sub(r'filename="([^"]*)"', lambda found: f'filename="{readable_mesh(found[1], file, folder)}"', text)
    return re.sub(r"(<robot\b[^>]*>)", r"\1" + COMPILER, text, count=1)


def in_new_process(engine: str, file: Path, text: str, cache: Path) -> float | None:
    """Seconds of a first load in a process of its own, after imports; None when the engine does not load the file."""
    command = [sys.executable, __file__, "--child", engine, str(file)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, input=text, text=True, capture_output=True, env=environment)
    return float(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else None


def measure_robot(file: Path, effort: Effort, folder: Path) -> list[float] | None:
    """MuJoCo's time, ours with an empty cache and with a filled one [s]: medians."""
    text = their_text(file, folder) if file.suffix == ".urdf" else ""
    rows = []
    for _ in range(effort.repeats):
        with tempfile.TemporaryDirectory() as cache:
            row = [in_new_process(engine, file, text, Path(cache)) for engine in ("theirs", "ours", "ours")]
        if any(one is None for one in row):
            return None
        rows.append(row)
    return [median(column) for column in zip(*rows, strict=True)]


def measure(effort: Effort, pattern: str = "") -> str:
    """The section as Markdown."""
    files = [file for file in [*urdf_files(), *mjcf_files()] if re.search(pattern, str(file))]
    chosen = files if pattern else files[:: max(SAMPLE, round(len(files) / effort.part(len(files))))]
    results = []
    with tempfile.TemporaryDirectory() as name:
        for file in chosen:
            times = measure_robot(file, effort, Path(name))
            if times is not None:
                results.append((f"{file.parts[-3].removesuffix('_description')}: {file.stem}", times))
                print(results[-1][0], *(f"{1e3 * one:.1f}" for one in times), flush=True)
    if not results:
        return ""
    lines = [[name, *(f"{1e3 * one:.1f}" for one in times), f"{times[1] / times[0]:.1f}", f"{times[2] / times[0]:.1f}"]
             for name, times in results]
    ratios = [times[1] / times[0] for _, times in results]
    head = ["robot", "MuJoCo [ms]", "first load [ms]", "later [ms]", "first: times MuJoCo", "later: times MuJoCo"]
    return f"""### Robots

{table(head, lines)}

Each load in a process of its own, after its imports; "first" with an empty cache. MuJoCo gets files without visuals and
meshes that it reads. Median {median(ratios):.1f} times MuJoCo's time,
{sum(one > TARGET for one in ratios)} of {len(ratios)} above {TARGET:g}.
MJCF files need a process that starts MuJoCo's compiler, once for each program.
"""


if __name__ == "__main__":
    if "--child" in sys.argv:
        engine, file = sys.argv[-2:]
        print(json.dumps(our_seconds(file) if engine == "ours" else their_seconds(file, sys.stdin.read())))
    else:
        print(measure(Effort(), sys.argv[1] if len(sys.argv) > 1 else ""))

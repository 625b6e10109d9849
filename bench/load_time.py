"""Time to load a large world: 10,000 objects from one templated file."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, one_core, table

from raisim_ros import World
from raisim_ros.description.world_file import load_world_file

OBJECTS = 10_000
TARGET_SECONDS = 2.0

# Two kinds in nested loops, with parameters, expressions, materials and names of their own.
WORLD = """<raisim version="1.0">
<params><columns value="100"/><spacing value="0.5"/></params>
<material><pair_prop name1="steel" name2="rubber" friction="0.6"/></material>
<objects><ground material="rubber"/>
<array idx="@@i" start="1" end="@@rows"><array idx="@@j" start="1" end="{@@columns/2}">
<sphere name="ball_@@i_@@j" mass="{1+0.01*@@i}" material="steel" appearance="red">
<dim radius="0.1"/><state pos="{@@spacing*@@i} {@@spacing*@@j} 1" lin_vel="0 0 {0.1*@@j}"/></sphere>
<box name="box_@@i_@@j" mass="2" collision_group="collision[1|2]">
<dim x="0.2" y="0.1" z="{0.1+0.001*@@j}"/><state pos="{@@spacing*@@i},{@@spacing*@@j},2" quat="1 0 0 0"/></box>
</array></array></objects></raisim>
"""


def seconds(work, repeats: int) -> float:
    """Median CPU time."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


@one_core()
def measure(effort: Effort) -> str:
    """Load the world; the section as Markdown."""
    rows = effort.part(OBJECTS // 100)
    with tempfile.TemporaryDirectory() as folder:
        file, saved = Path(folder) / "world.xml", Path(folder) / "saved.xml"
        file.write_text(WORLD)
        world = World(file, {"rows": rows})
        objects = len(world.get_obj_list()) - 1
        assert objects == 100 * rows
        reading = seconds(lambda: load_world_file(file, {"rows": rows}), effort.repeats)
        loading = seconds(lambda: World(file, {"rows": rows}), effort.repeats)
        saving = seconds(lambda: world.export_to_xml(saved), effort.repeats)
        again = seconds(lambda: World(saved), effort.repeats)
    line = [str(objects), f"{reading:.2f}", f"**{loading:.2f}**", f"{saving:.2f}", f"{again:.2f}"]
    print(*line, sep=" | ", flush=True)
    head = ["objects", "reading the file [s]", f"reading and building the world [s] (target {TARGET_SECONDS:g})",
            "saving it [s]", "loading the saved one [s]"]
    return f"""## Load time

{table(head, [line])}

The file has two nested loops with parameters and expressions. The saved one is plain, with every state and setting.
"""


if __name__ == "__main__":
    print(measure(Effort()))

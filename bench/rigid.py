"""Speed and accuracy of rigid bodies beside MuJoCo and PyBullet.

    python bench/rigid.py
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

import accuracy
import scenes
from engines import ENGINES, RaisimRos
from scenes import Scene
from section import Effort, one_core, table

TARGETS = {"primitives": 4.0, "666 balls": 4.0, "1000 balls": 15.0, "kapla tower": 4.0}
KAPLA_SECONDS = 600.0
STANDS_WITHIN = 0.01  # of its place, for every plank [m]


@dataclass
class SpeedRow:
    """Seconds of CPU time per engine (median), and what came out."""

    scene: Scene
    seconds: dict[str, float]
    state: str
    overlap: dict[str, float]


def shortened(scene: Scene, effort: Effort) -> Scene:
    return replace(scene, steps=effort.part(scene.steps))


def measure_speed(scene: Scene, repeats: int) -> SpeedRow:
    """Time all steps of a scene in every engine."""
    row = SpeedRow(scene, {}, "", {})
    for engine in ENGINES:
        times = []
        for _ in range(repeats):
            simulation = engine(scene)
            begin = time.process_time()
            simulation.step(scene.steps)
            times.append(time.process_time() - begin)
        row.seconds[engine.name] = median(times)
        overlaps = simulation.overlaps()
        row.overlap[engine.name] = float(overlaps.max()) if len(overlaps) else 0.0
        if isinstance(simulation, RaisimRos):
            row.state = simulation.state_hash()
    rates = {name: f"{scene.steps / seconds:.0f} steps/s" for name, seconds in row.seconds.items()}
    print(f"{scene.name:12}", rates, f"{ratio(row, 'MuJoCo'):.1f} x MuJoCo", row.state, flush=True)
    return row


def ratio(row: SpeedRow, peer: str) -> float:
    """How many times faster than the peer."""
    return row.seconds[peer] / row.seconds["raisim_ros"]


def measure_growth(effort: Effort) -> tuple[list[int], list[float]]:
    """CPU time per step of piles of growing size [s]."""
    counts, times = [], []
    for n in (3, 4, 5, 6, 7, 8, 9, 10):
        scene = shortened(scenes.balls(n, 0.01, 3.0), effort)
        simulation = RaisimRos(scene)
        begin = time.process_time()
        simulation.step(scene.steps)
        counts.append(n**3)
        times.append((time.process_time() - begin) / scene.steps)
    return counts, times


def kapla_drift(effort: Effort) -> float:
    """How far any plank of the tower has moved after ten minutes [m]."""
    scene = shortened(scenes.kapla_tower(KAPLA_SECONDS), effort)
    simulation = RaisimRos(scene)
    before = simulation.positions()
    simulation.step(scene.steps)
    return float(np.linalg.norm(simulation.positions() - before, axis=1).max())


def stage_shares(effort: Effort) -> str:
    """Where the time of a pile of 1000 balls goes, the largest stages first."""
    scene = shortened(scenes.balls(10, 0.01, 2.0), effort)
    simulation = RaisimRos(scene)
    stages = simulation.profile(scene.steps)
    total = sum(stages.values())
    ordered = sorted(stages.items(), key=lambda item: -item[1])
    return ", ".join(f"{name.replace('_', ' ')} {100 * seconds / total:.0f} %" for name, seconds in ordered[:5])


def draw_speed(rows: list[SpeedRow], path: Path) -> None:
    """Bars: how many times faster than each peer."""
    import matplotlib.pyplot as plt

    peers = [engine.name for engine in ENGINES if engine is not RaisimRos]
    figure, axes = plt.subplots(figsize=(7, 3))
    for k, peer in enumerate(peers):
        axes.barh(np.arange(len(rows)) + 0.38 * k, [ratio(row, peer) for row in rows], 0.36, label=f"over {peer}")
    axes.set_yticks(np.arange(len(rows)) + 0.19, [row.scene.name for row in rows])
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("times faster")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(peers))
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def draw_growth(counts: list[int], times: list[float], path: Path) -> None:
    """Step time against the number of bodies, with a line of slope one."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.loglog(counts, 1e3 * np.array(times), "o-", label="piles of n x n x n balls")
    axes.loglog(counts, 1e3 * times[-1] * np.array(counts) / counts[-1], "--", color="gray", label="linear")
    axes.set_xlabel("bodies")
    axes.set_ylabel("CPU time per step [ms]")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def speed_table(rows: list[SpeedRow]) -> str:
    """Ratios, targets, and what the last state looks like."""
    peers = [engine.name for engine in ENGINES if engine is not RaisimRos]
    head = ["scene", "content", "dt [s]", "steps", *(f"x {peer}" for peer in peers), "target (x MuJoCo)",
            "largest overlap at the end [m]", "state hash"]
    lines = []
    for row in rows:
        overlaps = ", ".join(f"{name} {value:.0e}" for name, value in row.overlap.items())
        lines.append([row.scene.name, row.scene.content, f"{row.scene.dt:g}", str(row.scene.steps),
                      *(f"**{ratio(row, peer):.1f}**" for peer in peers), f"{TARGETS[row.scene.name]:g}", overlaps,
                      f"`{row.state}`"])
    return table(head, lines)


def accuracy_table(rows: list[accuracy.AccuracyRow]) -> str:
    """Errors of every engine."""
    names = [engine.name for engine in ENGINES]
    lines = [[row.name, row.what, *(f"{row.errors[name]:.1e}" for name in names), row.target] for row in rows]
    return table(["test", "error", *names, "target"], lines)


@one_core()
def measure(effort: Effort) -> str:
    """Run everything; the section as Markdown."""
    speed_scenes = [scenes.primitives(), scenes.balls(6, 0.01, 4.0), scenes.balls(10, 0.01, 4.0), scenes.kapla_tower()]
    rows = [measure_speed(shortened(scene, effort), effort.repeats) for scene in speed_scenes]
    drift = kapla_drift(effort)
    stands = "stands" if drift < STANDS_WITHIN else "FALLS"
    counts, times = measure_growth(effort)
    slope = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    if effort.images is not None:
        draw_speed(rows, effort.images / "benchmark_speed.png")
        draw_growth(counts, times, effort.images / "benchmark_growth.png")
    return f"""## Rigid bodies

MuJoCo is {mujoco.__version__} with its default solver (pyramidal cones; elliptic ones in the accuracy tests), PyBullet
has its defaults without damping.

{speed_table(rows)}

![Times faster than the peers](images/benchmark_speed.png)

The kapla tower {stands}: after {effort.share * KAPLA_SECONDS:g} s no plank is farther than {drift:.1e} m from its
place.

Where the time of the pile of 1000 balls goes: {stage_shares(effort)}.

The cost of a step grows with the number of balls in a pile to the power {slope:.2f}:

![Cost against the number of bodies](images/benchmark_growth.png)

### Accuracy

{accuracy_table(accuracy.measure(effort))}

The accuracy tests run with overlap correction off (`set_erp(0)`). MuJoCo has no coefficient of restitution: elastic
contacts are undamped springs there (`solref="-200000 0"`).
"""


if __name__ == "__main__":
    print(measure(Effort()))

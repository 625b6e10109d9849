"""The engine's builds for several instruction sets: the best one is loaded, and all of them give the same bits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import raisim_ros

HELPERS = Path(__file__).parents[1] / "engine"

# Bodies of every kind, terrain, robots with springs and motors, wires and rays; prints hashes on the way.
SCENE = """
import sys
sys.path[:0] = [sys.argv[1]]
import numpy as np
import raisim_ros
from raisim_ros import World
from robot_scenes import ROBOTS, add_quadruped
from shared_scenes import busy_world

def report(world, steps):
    for _ in range(4):
        world.integrate(steps // 4)
        print(world.get_state_hash())

report(busy_world(), 200)
world = World()
world.add_height_map(12, 12, 6.0, 6.0, 0.0, 0.0, np.random.default_rng(3).uniform(-0.05, 0.05, 144))
add_quadruped(world, (0.0, 0.0, 0.8))
for k, name in enumerate(("arm.urdf", "pendulum.urdf")):
    if (ROBOTS / name).exists():
        world.add_articulated_system(ROBOTS / name).set_base_pos((2.0 + k, 0.0, 1.5))
ball = world.add_sphere(0.1, 1.0)
ball.set_position(0.0, 1.5, 1.0)
report(world, 400)
hits = [world.ray_test((0.0, 0.0, 2.0), (np.sin(a), np.cos(a), -1.0), 10.0) for a in np.linspace(0, 6, 100)]
print([tuple(h[0].get_position()) for h in hits if h])
print(raisim_ros.info().isa)
"""


def run(isa: str, script: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RAISIM_ISA": isa}
    command = [sys.executable, "-c", script, str(HELPERS)]
    return subprocess.run(command, cwd=HELPERS, env=env, capture_output=True, text=True, timeout=110)


def portable_levels() -> list[str]:
    return [isa for isa in raisim_ros.info().available if isa != "native"]


def test_the_best_portable_build_is_loaded_unless_told_otherwise():
    chosen = os.environ.get("RAISIM_ISA") or portable_levels()[0]
    assert raisim_ros.info().isa == chosen
    assert Path(raisim_ros.info().library).is_file()


def test_all_instruction_sets_give_the_same_bits():
    printed = {}
    for isa in portable_levels():
        done = run(isa, SCENE)
        assert done.returncode == 0, done.stderr
        *printed[isa], loaded = done.stdout.splitlines()
        assert loaded == isa
        assert len(printed[isa]) == 9
    assert len({tuple(lines) for lines in printed.values()}) == 1


def test_no_build_but_the_native_one_has_fused_instructions():
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump is not installed")
    engines = [path for path in Path(raisim_ros.info().library).parent.glob("_engine*.so") if "native" not in path.name]
    assert engines
    for path in engines:
        listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True)
        # FMA3 and FMA4 of x86, FMADD and FMLA families of ARM
        found = set(re.findall(r"\t(vfn?m(?:add|sub)\w*|fn?m(?:add|sub|la|ls)\w*)\b", listing.stdout))
        assert not found, f"{path.name}: {sorted(found)}"


def test_an_unknown_instruction_set_is_refused_with_those_that_exist():
    done = run("v9", "import raisim_ros; raisim_ros.World")
    assert done.returncode != 0
    assert "RAISIM_ISA is 'v9'; this build has on this processor: " in done.stderr
    assert "base" in done.stderr.splitlines()[-1]

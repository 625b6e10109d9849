"""Fuzzing for minutes or hours: `make fuzz MINUTES=10`, or

    python test/fuzz/run.py --minutes 60 --kinds world,robot,api --seed 7

Workers run under the sanitizers that the environment brings (tools/instrumented_engine.sh). An input that raises anything
but an error of ours, crashes, hangs for more than ten seconds or leaves a state that is not finite is a fault: it is kept in
build/fuzz/faults, from where it goes to test/fuzz/corpus once it is mended. The same seed makes the same inputs. What takes
ten seconds under a sanitizer, which is many times slower, is run again in the usual engine (RAISIM_PLAIN, the PYTHONPATH of
one), and is a fault when it takes ten seconds there.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import gc
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from watching import Outcome, Watched

HERE = Path(__file__).resolve().parent
FAULTS = HERE.parents[1] / "build" / "fuzz" / "faults"
HANG = 10.0  # seconds of processor time of one file or call, of all processes; waiting counts a tenth
PATIENCE = 4.0  # how much longer a sanitized engine may take before it is stopped
SLICE = 240.0  # seconds that a worker lives: memory that an input leaves behind does not count against the next ones


def work(kind: str, seed: int, seconds: float) -> None:
    """One worker: inputs of one kind until the time is over, at least one; a line of JSON before every input and call, for
    every fault, and at the end. Whoever watches it ends it when nothing comes (watching.py)."""
    from targets import run_one

    # MuJoCo's compiler, a process of its own, has less memory than a sanitizer wants.
    os.environ.pop("LD_PRELOAD", None)
    faulthandler.enable()
    gc.freeze()  # what was imported is not looked through for every input
    end, inputs, refused = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        while not inputs or time.monotonic() < end:
            begin = partial(print, json.dumps({"at": seed}), flush=True)
            begin()
            try:
                count, was_refused = run_one(kind, seed, folder, begin)
                inputs, refused = inputs + count, refused + was_refused
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                fault = "".join(traceback.format_exception(error))
                print(json.dumps({"fault": fault, "seed": seed}), flush=True)
                inputs += 1
            seed += 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"inputs": inputs, "refused": refused, "next": seed, "memory": memory}), flush=True)


class Kind:
    """What is known about one kind of input."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self.inputs = self.refused = self.memory = 0
        self.slowest = 0.0
        self.faults: dict[str, str] = {}

    def run(self, seconds: float) -> None:
        limit = HANG * (PATIENCE if "LD_PRELOAD" in os.environ else 1.0)
        outcome = Watched(self._worker(self.seed, seconds), HANG, limit).run(dict(os.environ))
        self.slowest = max(self.slowest, outcome.slowest)
        finished = False
        for record in outcome.records:
            if "fault" in record:
                self._keep(record["seed"], record["fault"])
            if "inputs" in record:
                finished = True
                self.inputs, self.refused = self.inputs + record["inputs"], self.refused + record["refused"]
                self.memory, self.seed = max(self.memory, record["memory"]), record["next"]
        if not finished:
            last = max(outcome.last, self.seed)
            if not outcome.hung:
                self._keep(last, f"the process ended with {outcome.code}\n{outcome.errors}")
            self.inputs, self.seed = self.inputs + last - self.seed + 1, last + 1
        for seed in sorted(outcome.slow | ({outcome.last} if outcome.hung else set())):
            self._judge_slow(seed, outcome)

    def _worker(self, seed: int, seconds: float) -> list[str]:
        return [sys.executable, str(HERE / "run.py"), "--worker", self.name, str(seed), str(seconds)]

    def _judge_slow(self, seed: int, outcome: Outcome) -> None:
        """An input that took ten seconds: a fault, unless a sanitizer was the reason."""
        if "LD_PRELOAD" in os.environ:
            plain = {**os.environ, "PYTHONPATH": os.environ["RAISIM_PLAIN"]}
            del plain["LD_PRELOAD"]
            outcome = Watched(self._worker(seed, 0.0), HANG, HANG).run(plain)
            print(f"{self.name} seed {seed}: slow under the sanitizer, {outcome.slowest:.1f} s in the usual engine", flush=True)
        if outcome.hung or seed in outcome.slow:
            self._keep(seed, f"longer than {HANG:g} s\n{outcome.errors}")

    def _keep(self, seed: int, text: str) -> None:
        """One file for each different place at which something went wrong."""
        lines = [line.strip() for line in text.splitlines() if line.strip().startswith(("File ", "#", "SUMMARY"))]
        place = lines[-1] if lines else text.strip()[-200:]
        if place in self.faults:
            return
        self.faults[place] = text
        FAULTS.mkdir(parents=True, exist_ok=True)
        (FAULTS / f"{self.name}_{seed}.log").write_text(text)
        print(f"FAULT {self.name} seed {seed}: {text.strip().splitlines()[-1][:300]}", flush=True)


def replay(kind: str, seed: int) -> None:
    """One input, in this process, with its traceback."""
    from targets import FILES, make_file, run_one

    os.environ.pop("LD_PRELOAD", None)
    with tempfile.TemporaryDirectory() as name:
        if kind in FILES:
            kept = FAULTS / f"{kind}_{seed}.{FILES[kind].suffix}"
            FAULTS.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(make_file(kind, seed, Path(name)).read_bytes())
            print(f"input: {kept}")
        os.chdir(name)
        print(run_one(kind, seed, Path(name), lambda: None))


def main() -> int:
    parser = argparse.ArgumentParser(description="Damaged files and random calls, for a while.")
    parser.add_argument("--minutes", type=float, default=5.0, help="of the whole run")
    parser.add_argument("--inputs", type=int, default=10**9, help="ends earlier, after so many of all kinds together")
    parser.add_argument("--slice", type=float, default=SLICE, help="seconds of one kind before the next has its turn")
    parser.add_argument("--kinds", default="all", help="comma-separated; all by default")
    parser.add_argument("--seed", type=int, default=None, help="first input; by default the time of day")
    parser.add_argument("--replay", nargs=2, metavar=("KIND", "SEED"), help="one input again, in this process")
    parser.add_argument("--worker", nargs=3, metavar=("KIND", "SEED", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], int(options.worker[1]), float(options.worker[2]))
        return 0
    if options.replay:
        replay(options.replay[0], int(options.replay[1]))
        return 0
    from targets import KINDS

    names = KINDS if options.kinds == "all" else options.kinds.split(",")
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"fuzzing {', '.join(names)} for {options.minutes:g} minutes from seed {seed}", flush=True)
    kinds = collections.deque(Kind(name, seed) for name in names)
    end = time.monotonic() + 60.0 * options.minutes
    turn = 0
    with contextlib.suppress(KeyboardInterrupt):  # the summary comes all the same
        while sum(kind.inputs for kind in kinds) < options.inputs:
            left, waiting = end - time.monotonic(), len(kinds) - turn % len(kinds)
            if left <= 0.0 and turn >= len(kinds):  # workers take time to start: the last kinds have their turn all the same
                break
            kinds[0].run(min(options.slice, max(1.0, left / waiting)))
            turn += 1
            kinds.rotate(-1)
            print(f"{sum(kind.inputs for kind in kinds)} inputs so far", flush=True)
    print(f"{'kind':12} {'inputs':>9} {'refused':>9} {'slowest':>9} {'memory':>9} {'faults':>7}")
    for kind in sorted(kinds, key=lambda one: one.name):
        numbers = f"{kind.inputs:9} {kind.refused:9} {kind.slowest:7.2f} s {kind.memory:6} MB {len(kind.faults):7}"
        print(f"{kind.name:12} {numbers}")
    faults = sum(len(kind.faults) for kind in kinds)
    print(f"{sum(kind.inputs for kind in kinds)} inputs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the fuzzer sees of its workers: without this, an input that hangs would never be told."""

import os
import sys

import pytest
from watching import Watched

SPIN = "while True: pass"
BEGIN = "print('{\"at\": 7}', flush=True)"


def watch(code, limit=0.5):
    return Watched([sys.executable, "-c", code], slow=limit, limit=limit).run(dict(os.environ))


@pytest.mark.parametrize(
    "hang",
    [
        SPIN,
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{SPIN}'])",
        "import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 7)); time.sleep(1e6)",
    ],
    ids=["of its own", "of a process that it started", "waiting"],
)
def test_an_input_that_hangs_is_ended_and_told(hang):
    outcome = watch(f"{BEGIN}\n{hang}")
    assert outcome.hung
    assert outcome.last == 7


def test_processes_that_outlive_the_worker_do_not_keep_it():
    outcome = watch(f"{BEGIN}\nimport subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1e6)'])", 5.0)
    assert not outcome.hung
    assert outcome.code == 0


def test_an_input_that_was_slow_is_named_and_the_next_ones_are_not():
    slow = "import time\nwhile time.process_time() < 3.0: pass"
    outcome = Watched([sys.executable, "-c", f"{BEGIN}\n{slow}\nprint('{{\"at\": 8}}')"], slow=1.0, limit=60.0).run(dict(os.environ))
    assert outcome.slow == {7}
    assert not outcome.hung


def test_a_worker_that_dies_tells_how():
    outcome = watch(f"{BEGIN}\nimport os, sys; print('last words', file=sys.stderr, flush=True); os.abort()", 5.0)
    assert (outcome.hung, outcome.code, outcome.last) == (False, -6, 7)
    assert "last words" in outcome.errors

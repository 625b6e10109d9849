"""The ways of data are as short as docs/architecture.md says, and shorter than they were."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def hops(text: str) -> dict[str, tuple[int, ...]]:
    """Functions and files on each way, and calls of the engine, by the rows of a table."""
    rows = re.findall(r"^\| ([^|(]+?) (?:\([^|]*)?\| (\d+) in (\d+) \| [^|]*\| (\d+) \|", text, re.MULTILINE)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def test_ways_have_as_many_hops_as_documented():
    told = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    found = subprocess.run([sys.executable, ROOT / "tools/trace_walks.py"], capture_output=True, text=True, check=True)
    assert len(hops(told)) == 7
    assert hops(found.stdout) == hops(told)

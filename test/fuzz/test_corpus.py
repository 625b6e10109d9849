"""Everything that ever went wrong, again: read, or refused with an error of ours, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from targets import FILES, make_file, refused, run_one

CORPUS = Path(__file__).with_name("corpus")
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("file", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_kept_inputs(file, tmp_path, monkeypatch):
    target = FILES[file.parent.name]
    path = tmp_path / f"input.{target.suffix}"
    shutil.copy(file, path)
    monkeypatch.chdir(tmp_path)
    refused(target.check, path)


@pytest.mark.parametrize("kind", FILES)
def test_new_inputs(kind, tmp_path, monkeypatch):
    """A few of each kind, always the same ones; `make fuzz` makes millions."""
    monkeypatch.chdir(tmp_path)
    answers = {run_one(kind, seed, tmp_path, lambda: None)[1] for seed in range(25)}
    seeds = iter(range(25, 100))  # few damaged snapshots make sense
    while len(answers) < 2:
        answers.add(run_one(kind, next(seeds), tmp_path, lambda: None)[1])
    assert answers == {True, False}  # some are read, some are refused


def test_the_same_number_makes_the_same_input(tmp_path):
    for kind in FILES:
        first, second = (make_file(kind, 7, tmp_path).read_bytes() for _ in range(2))
        assert first == second

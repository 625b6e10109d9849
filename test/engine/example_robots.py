"""The robots of the package example-robot-data, as parameters of tests."""

from __future__ import annotations

import importlib.metadata

import pytest


def example_robots():
    """Paths of all its URDF files; one skipped parameter where it is not installed."""
    try:
        data = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        return [pytest.param(None, marks=pytest.mark.skip(reason="the package 'example-robot-data' is not installed"))]
    folder = data.locate_file("cmeel.prefix/share/example-robot-data/robots")
    return [pytest.param(path, id=path.name) for path in sorted(folder.glob("**/*.urdf"))]

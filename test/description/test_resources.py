"""Finding the files that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from raisim_ros.description import resources


def test_a_resource_is_found_by_its_relative_path():
    assert resources.resource("README.md") == resources.resource_dir() / "README.md"


def test_a_missing_resource_is_named():
    with pytest.raises(FileNotFoundError, match=r"worlds/none\.xml' does not exist"):
        resources.resource("worlds/none.xml")


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("site-packages/raisim_ros", "site-packages/raisim_ros/rsc"),
        ("checkout/raisim_ros", "checkout/rsc"),
        ("prefix/lib/python3.12/site-packages/raisim_ros", "prefix/share/raisim_ros/rsc"),
    ],
    ids=["pip", "source tree", "colcon"],
)
def test_every_way_of_installing_is_understood(tmp_path: Path, monkeypatch, package, folder):
    (tmp_path / package).mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / package)
    with pytest.raises(FileNotFoundError, match="looked at"):
        resources.resource_dir()
    (tmp_path / folder).mkdir(parents=True)
    assert resources.resource_dir() == tmp_path / folder

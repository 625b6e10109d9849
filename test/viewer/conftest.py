"""One page that several tests use."""

from __future__ import annotations

import pytest
from page_tools import Stage, browser  # noqa: F401  a fixture


@pytest.fixture(scope="session", autouse=True)
def _uploads_of_tests(tmp_path_factory):
    """What tests give a page does not stay with whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("uploads")
        patch.setattr("raisim_ros.viewer.uploads.cache_folder", lambda kind: folder / kind)
        yield


@pytest.fixture(scope="module")
def shared_stage(browser):  # noqa: F811
    stage = Stage(browser)
    yield stage
    stage.close()


@pytest.fixture
def stage(shared_stage):
    """A page that shows a ball and an arm, paused and as in the beginning."""
    shared_stage.begin()
    return shared_stage

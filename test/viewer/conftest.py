"""One page that several tests use."""

from __future__ import annotations

import pytest
from page_tools import Stage, browser  # noqa: F401  a fixture


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

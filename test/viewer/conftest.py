"""Pages in a headless Chromium: the system's, or the one RAISIM_CHROMIUM names. Without one these tests skip."""

from __future__ import annotations

import os
import shutil

import pytest
from page_tools import Stage

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


@pytest.fixture(scope="session")
def browser():
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = [os.environ.get("RAISIM_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    found = next((path for path in (shutil.which(name) for name in names if name) if path), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def shared_stage(browser):
    stage = Stage(browser)
    yield stage
    stage.close()


@pytest.fixture
def stage(shared_stage):
    """A page that shows a ball and an arm, paused and as in the beginning."""
    shared_stage.begin()
    return shared_stage

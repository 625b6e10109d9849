"""Tests see the package as it was built and installed, whichever way pytest was started."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


# A shell that starts the tests in the background has them ignore Ctrl-C, which all they start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_checkout(entry: str) -> bool:
    return Path(entry or ".").resolve() == ROOT


# `python -m pytest` puts the checkout first, whose raisim_ros lacks the generated messages.
_others = [entry for entry in sys.path if not _is_checkout(entry)]
if any((Path(entry) / "raisim_ros/__init__.py").is_file() for entry in _others):
    sys.path[:] = _others


# They wait for other processes and browsers: on a machine that stands still for a while one try may fail. The summary
# lists what was tried again.
_WITH_OTHER_PROCESSES = tuple(ROOT / "test" / folder for folder in ("ros", "system", "viewer"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if any(folder in item.path.parents for folder in _WITH_OTHER_PROCESSES):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def world_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the text of a world file."""

    def write(text: str) -> Path:
        file = tmp_path / "world.xml"
        file.write_text(text)
        return file

    return write

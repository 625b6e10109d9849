"""The viewer of an environment with the render mode "human"."""

from __future__ import annotations

import time
from typing import Any

from raisim_ros import World


class Window:
    """Opens a viewer at the first picture, and keeps to the speed of the simulated time."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._viewer: Any = None
        self._next = 0.0

    def show(self, world: World) -> None:
        """Open the viewer, which follows the world by itself, and wait until it is time for the next step."""
        if self._viewer is None:
            from raisim_ros import Viewer

            self._viewer, self._next = Viewer(world), time.monotonic()
        self._next = max(self._next + 1.0 / self._rate, time.monotonic() - 0.5)
        time.sleep(max(0.0, self._next - time.monotonic()))

    def close(self) -> None:
        """Close the viewer."""
        viewer, self._viewer = self._viewer, None
        if viewer is not None:
            viewer.close()

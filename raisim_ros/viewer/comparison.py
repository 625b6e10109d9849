"""Two recorded runs in one scene: the second one as ghosts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raisim_ros.viewer.describe import numbers
from raisim_ros.viewer.recording import Recording, RecordingFeed
from raisim_ros.viewer.scene import DrawnWires, Item, Moment, Part, Rgb, SceneModel, Surface, Wanted

GHOST_RGB: Rgb = (0.20, 0.45, 0.95)
GHOST_OPACITY = 0.4
GHOST_MARK = " (2)"


class ComparisonFeed(RecordingFeed):
    """See Feed: time goes over the first run, the second one stands beside it at the same time."""

    def __init__(self, recording: Recording, other: Recording) -> None:
        super().__init__(recording)
        self._other = RecordingFeed(other)
        self._plain: dict[Surface, Surface] = {}

    def _seek_other(self) -> None:
        self._other.seek(float(self.recording.times[self.recording.frame_at(self._time)]))

    def model(self) -> SceneModel:
        """The items of the first run, and ghosts of what moves in the second."""
        own, other = super().model(), self._other.model()
        ghosts = [self._ghost(item, own.frames) for item in other.items if item.movable or item.soft is not None]
        return SceneModel([*own.items, *ghosts], own.frames + other.frames)

    def _ghost(self, item: Item, frames: int) -> Item:
        parts = [self._ghost_part(part, frames) for part in item.parts]
        name, first = item.name + GHOST_MARK, item.first_frame + frames
        soft = None if item.soft is None else replace(item.soft, color=GHOST_RGB, opacity=GHOST_OPACITY)
        return replace(item, name=name, movable=False, parts=parts, first_frame=first, soft=soft)

    def _ghost_part(self, part: Part, frames: int) -> Part:
        if part.surface.glb is not None:  # in the colour of ghosts, not its own
            surface = self._plain.setdefault(part.surface, replace(part.surface, glb=None))
            part = replace(part, surface=surface)
        return replace(part, frame=part.frame + frames, color=GHOST_RGB, opacity=GHOST_OPACITY)

    def moment(self, wanted: Wanted) -> Moment:
        """Both runs at one time; contacts are those of the first."""
        own = super().moment(wanted)
        self._other.seek(own.time)
        other = self._other.moment(Wanted())
        return replace(
            own,
            number=(own.number, other.number),
            poses=np.vstack((own.poses, other.poses)),
            wires=DrawnWires(
                np.concatenate((own.wires.ends, other.wires.ends)),
                np.concatenate((own.wires.widths, other.wires.widths)),
                np.concatenate((own.wires.colors, np.tile(GHOST_RGB, (len(other.wires), 1)))),
            ),
            soft=own.soft | {name + GHOST_MARK: shape for name, shape in other.soft.items()},
        )

    def describe(self, name: str) -> str:
        """The state, and how far apart the two runs are."""
        if name.endswith(GHOST_MARK):
            return self._other.describe(name.removesuffix(GHOST_MARK))
        text = super().describe(name)
        self._seek_other()
        here, there = self.place(name), self._other.place(name)
        if here is None or there is None:
            return text
        return f"{text}\n| second run is off by [m] | {numbers(there - here)} |"

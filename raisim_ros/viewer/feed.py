"""What a viewer needs of a world, wherever that world runs."""

from __future__ import annotations

from typing import Protocol

from raisim_ros.viewer.scene import Joint, Moment, NewObject, Quantities, SceneModel, Vector, Wanted


class Feed(Protocol):
    """Where the scene comes from, and whom people's wishes are told. What cannot be done raises RaisimError."""

    def model(self) -> SceneModel:
        """What is to be drawn."""

    def moment(self, wanted: Wanted) -> Moment:
        """Where everything is now. Its number changes whenever model() has changed; the poses fit the model of it."""

    def viewpoint(self) -> tuple[str, tuple[float, ...]] | None:
        """The object that the camera shall follow (or "") and its offset from it [m], if anybody said."""

    # ---- time ----

    def play(self) -> None:
        """Let time run."""

    def pause(self) -> None:
        """Stop time."""

    def step(self, steps: int) -> None:
        """Take steps while time stands still."""

    def reset(self) -> None:
        """Everything as it was at the beginning."""

    def set_speed(self, factor: float) -> None:
        """Simulated seconds per second; 0: as fast as possible."""

    def timeline(self) -> tuple[float, float] | None:
        """The first and the last time that seek() can go to [s]; None: it cannot."""

    def seek(self, time_: float) -> None:
        """Stop and go to a time that was; from there it goes on to the same bits."""

    def can_go_on(self) -> bool:
        """Whether go_on() makes a world of this moment: of something that was recorded."""

    def go_on(self) -> Feed:
        """A world of its own that goes on from this moment to the same bits."""

    # ---- one object ----

    def describe(self, name: str) -> str:
        """State, contacts and materials of an object, as Markdown."""

    def quantities(self, name: str) -> Quantities:
        """Numbers of an object that can be plotted, besides its place."""

    def joints(self, name: str) -> list[Joint]:
        """The joints of a robot that have one coordinate; none while they are not known yet. Returns at once."""

    def set_joint(self, name: str, joint: str, position: float) -> None:
        """Move a joint: its target when it has gains and time runs, else itself."""

    def set_gains(self, name: str, p_gain: float, d_gain: float) -> None:
        """PD gains of all joints of a robot; it holds the pose it has."""

    def pull(self, name: str, body: int, point: Vector, target: Vector) -> None:
        """Let a spring pull a point of a body (in its frame) to a target (world) until release()."""

    def release(self) -> None:
        """End what pull() began."""

    def move(self, name: str, shift: Vector) -> None:
        """Shift an object at once [m], world axes."""

    def remove(self, name: str) -> None:
        """Take an object out of the world."""

    # ---- the world ----

    def add(self, new: NewObject) -> str:
        """Put an object into the world; the name it got."""

    def load(self, file: str) -> None:
        """Replace the world by that of a world file."""

    def save(self, file: str) -> None:
        """Write the world to a file."""

    def keep(self, label: str) -> None:
        """Keep everything as it is now under a label."""

    def bring_back(self, label: str) -> None:
        """Go back to what was kept."""

    def kept(self) -> list[str]:
        """The labels in use, oldest first."""

    def close(self) -> None:
        """The viewer leaves."""

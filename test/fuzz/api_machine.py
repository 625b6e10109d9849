"""Runs random calls against a world and says what a call did that it must not do."""

from __future__ import annotations

import contextlib
import inspect
import io
import warnings
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

from api_calls import Call, CallMaker
from rich_world import digest, rich_world, things_to_call

import raisim_ros
from raisim_ros import DivergedError, RaisimError, World
from raisim_ros.engine._library import ffi, lib


class ApiMachine:
    """One world and the calls made in it. The same seed makes the same calls."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = rich_world()
        gone, elsewhere = self.world.add_sphere(1.0, 1.0), World()
        self.world.remove_object(gone)
        self.maker = CallMaker(self.world, things_to_call(self.world), seed, folder)
        self.maker.strange = [gone, elsewhere, elsewhere.add_box(1, 1, 1, 1), elsewhere.save_snapshot()]
        self._before = digest(self.world)

    def make(self, call: Call) -> str:
        """Make a call; what was wrong with it, or nothing."""
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                call()
        except RaisimError as error:
            return self._compare(call, error)
        except Exception as error:  # what this is about
            return f"{call} raised {type(error).__name__}: {error}"
        # Depth cameras keep the points that they are asked for.
        if not call.name.startswith(("get_", "is_")) or call.name == "get_3d_points":
            self._before = digest(self.world)
        return self._broken(call)

    def _broken(self, call: Call) -> str:
        """What the engine's validator says."""
        if lib.rs_world_validate(self.world._world) == lib.RS_OK:
            return ""
        return f"{call}: {ffi.string(lib.rs_error_text()).decode()}"

    def _compare(self, call: Call, error: RaisimError) -> str:
        after = digest(self.world)
        changed = after != self._before and not isinstance(error, DivergedError)
        self._before = after
        if changed:
            return f"{call} raised {type(error).__name__}: {error}, and changed the world"
        return self._broken(call)

    def run(self, calls: int, wrong: float = 0.35) -> Iterator[str]:
        """What was wrong with random calls of random methods."""
        for _ in range(calls):
            yield self.make(self.maker.call(wrong=wrong))

    def run_everything(self, calls: int, wrong: float = 0.5) -> Iterator[str]:
        """What was wrong with `calls` calls of each method of each class."""
        for kind, name in self.maker.methods():
            for _ in range(calls):
                yield self.make(self.maker.call(kind, name, wrong))

    def run_definitions(self, calls: int, wrong: float = 0.7) -> Iterator[str]:
        """What was wrong with calls of the package's functions and with values that are made for it; none has a world
        that it could change. (Objects of the engine are made by worlds alone.)"""
        limits = raisim_ros.get_file_limits()
        names = [name for name in raisim_ros.__all__ if _is_for_all(getattr(raisim_ros, name))]
        for call in (self.maker.with_arguments(raisim_ros, name, wrong) for name in names for _ in range(calls)):
            try:
                call()
            except RaisimError:
                pass
            except Exception as error:  # what this is about
                yield f"{call} raised {type(error).__name__}: {error}"
            finally:
                raisim_ros.set_allowed_folders(None)
                raisim_ros.set_file_limits(limits)

    def count_methods(self) -> int:
        return len(self.maker.methods())


def _is_for_all(defined: object) -> bool:
    return is_dataclass(defined) or inspect.isfunction(defined)

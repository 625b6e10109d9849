"""What the physics tests share: worlds in which nothing but the tested behaviour acts."""

import functools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.world.core import WorldCore


def validated(function: Callable[..., None]) -> Callable[..., None]:
    """`function` of a world, after which the engine looks for anything broken inside it."""

    @functools.wraps(function)
    def call(self: World, *arguments: object) -> None:
        try:
            function(self, *arguments)
        finally:
            assert lib.rs_world_validate(self._world) == lib.RS_OK, ffi.string(lib.rs_error_text()).decode()

    return call


@pytest.fixture(autouse=True, scope="session")
def validate_worlds() -> Iterator[None]:
    """All worlds of the engine's tests are looked at after all steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorldCore, "_step", validated(WorldCore._step))
        yield


@pytest.fixture
def world() -> World:
    """An empty world that never sleeps, with a fine step of 1 ms."""
    world = World()
    world.set_time_step(0.001)
    world.set_sleeping_enabled(False)
    return world


@pytest.fixture
def weightless(world: World) -> World:
    """The same without gravity."""
    world.set_gravity((0.0, 0.0, 0.0))
    return world


@pytest.fixture
def quaternion_about() -> Callable[[tuple[float, float, float], float], np.ndarray]:
    """quaternion_about(axis, angle): unit quaternion w, x, y, z."""

    def quaternion(axis, angle):
        unit = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
        return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * unit])

    return quaternion


@pytest.fixture
def angular_momentum() -> Callable[..., np.ndarray]:
    """angular_momentum(body, about=(0, 0, 0)): spin plus orbital momentum [kg m^2/s]."""

    def momentum(body, about=(0.0, 0.0, 0.0)):
        arm = body.get_com_position() - np.asarray(about)
        return np.cross(arm, body.get_linear_momentum()) + body.get_inertia_matrix_w() @ body.get_angular_velocity()

    return momentum

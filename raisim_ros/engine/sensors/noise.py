"""Noise models in the engine's terms."""

from __future__ import annotations

from typing import Any

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.sensor.types import NoiseModel
from raisim_ros.engine import arguments
from raisim_ros.engine._library import lib

_TYPES = {"none": lib.RS_NOISE_NONE, "gaussian": lib.RS_NOISE_GAUSSIAN, "uniform": lib.RS_NOISE_UNIFORM}


def fill_noise(target: Any, noise: NoiseModel, frame: int = 0) -> None:
    """Write a noise model into an ``rs_noise``; `frame` counts the measurements."""
    if noise.type not in _TYPES:
        raise InvalidValueError(f"noise_type is '{noise.type}'; expected {', '.join(_TYPES)}")
    target.type = _TYPES[noise.type]
    target.mean = arguments.number("noise mean", noise.mean)
    target.spread = arguments.number("noise stddev", noise.stddev)
    target.dropout = arguments.number("dropout", noise.dropout)
    target.seed = arguments.count("noise seed", noise.seed)
    target.frame = max(frame, 0)  # before the first measurement that was numbered

"""A policy as NumPy runs it: the network that train_quadruped.py wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np

POLICY = Path(__file__).parent / "quadruped_walk.npz"


class Policy:
    """The mean action of a policy: a network with two hidden layers."""

    def __init__(self, path: str | Path = POLICY) -> None:
        with np.load(path) as file:
            self._layers = [(file[f"weight{k}"], file[f"bias{k}"]) for k in range(len(file.files) // 2)]

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """The action for an observation, or one for each row."""
        values = np.asarray(observation)
        for weight, bias in self._layers[:-1]:
            values = np.tanh(values @ weight.T + bias)
        weight, bias = self._layers[-1]
        return np.clip(values @ weight.T + bias, -1.0, 1.0)

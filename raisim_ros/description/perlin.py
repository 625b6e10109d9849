"""Fractal gradient noise (Perlin, "Improving noise", 2002) in two dimensions.

Only additions and multiplications touch the numbers, and the permutation comes from a generator of our own,
so that a seed gives the same bits on every machine and with every NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TABLE = 256
_MASK64 = (1 << 64) - 1

# Eight unit gradients; with them the noise stays within ±sqrt(1/2), which NORM stretches to ±1.
_DIAGONAL = 0.7071067811865476
_GRADIENTS = np.array(
    [
        [1.0, 0.0],
        [_DIAGONAL, _DIAGONAL],
        [0.0, 1.0],
        [-_DIAGONAL, _DIAGONAL],
        [-1.0, 0.0],
        [-_DIAGONAL, -_DIAGONAL],
        [0.0, -1.0],
        [_DIAGONAL, -_DIAGONAL],
    ]
)
_NORM = 1.4142135623730951


def fractal_noise(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    octaves: int,
    lacunarity: float,
    gain: float,
    seed: int,
) -> NDArray[np.float64]:
    """Noise on the grid of the coordinates x and y, within -1..1, as an array [len(y), len(x)].

    Octave i has frequency lacunarity**i and amplitude gain**i; the sum is divided by that of the amplitudes.
    """
    table = _permutation(seed)
    total = np.zeros((len(y), len(x)))
    frequency, amplitude, amplitudes = 1.0, 1.0, 0.0
    for _ in range(octaves):
        total += amplitude * _noise(x * frequency, y * frequency, table)
        amplitudes += amplitude
        frequency *= lacunarity
        amplitude *= gain
    return total / amplitudes


def _noise(x: NDArray[np.float64], y: NDArray[np.float64], table: NDArray[np.int64]) -> NDArray[np.float64]:
    """One octave: the gradients at the four corners of a unit cell, blended."""
    cell_x, cell_y = np.floor(x), np.floor(y)
    fx, fy = x - cell_x, y - cell_y
    ix = (cell_x % _TABLE).astype(np.int64)
    iy = (cell_y % _TABLE).astype(np.int64)

    def corner(dx: int, dy: int) -> NDArray[np.float64]:
        hashed = table[(table[(ix + dx) % _TABLE][None, :] + (iy + dy)[:, None]) % _TABLE]
        gradient = _GRADIENTS[hashed % len(_GRADIENTS)]
        return np.asarray(gradient[..., 0] * (fx - dx)[None, :] + gradient[..., 1] * (fy - dy)[:, None])

    u, v = _fade(fx)[None, :], _fade(fy)[:, None]
    low = corner(0, 0) + u * (corner(1, 0) - corner(0, 0))
    high = corner(0, 1) + u * (corner(1, 1) - corner(0, 1))
    return np.asarray(_NORM * (low + v * (high - low)))


def _fade(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """6t⁵ - 15t⁴ + 10t³: value, slope and curvature agree at the borders of the cells."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


def _permutation(seed: int) -> NDArray[np.int64]:
    """0..255 shuffled (Fisher-Yates) by the SplitMix64 generator."""
    table = list(range(_TABLE))
    state = seed & _MASK64
    for i in range(_TABLE - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & _MASK64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
        j = (z ^ (z >> 31)) % (i + 1)
        table[i], table[j] = table[j], table[i]
    return np.array(table, dtype=np.int64)

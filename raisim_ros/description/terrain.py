"""Heightmaps: from values, a text file, a PNG image, or the fractal terrain generator."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import checked
from raisim_ros.description.errors import InvalidValueError, ParseError, TerrainError
from raisim_ros.description.files import existing_file, read_bytes, reading
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.number_text import numbers_of
from raisim_ros.description.perlin import fractal_noise

MAX_SAMPLES_PER_AXIS = 46330
_HEADER = 4096  # bytes in which the announced numbers of a text file must stand
_LETTERS_PER_HEIGHT = 64

Heights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeightMapData:
    """A grid of heights in the world frame [m].

    Sample (ix, iy) stands at x = center_x - x_size/2 + ix * x_size/(x_samples - 1), likewise y.
    """

    x_samples: int
    y_samples: int
    x_size: float
    y_size: float
    center_x: float
    center_y: float
    heights: Heights
    """``heights[iy, ix]`` [m], y_samples rows of x_samples."""

    def drawn_samples(self, most_cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns, the last ones among them, between which there are about `most_cells` cells or fewer."""
        cells = (self.x_samples - 1) * (self.y_samples - 1)
        stride = max(1, math.ceil(math.sqrt(cells / most_cells)))
        every = [np.append(np.arange(0, count - 1, stride), count - 1) for count in (self.y_samples, self.x_samples)]
        return every[0], every[1]

    def surface(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[Heights, NDArray[np.int64]]:
        """Samples as points (N x 3) in the map's frame [m], and the triangles between them (M x 3)."""
        x = (columns / (self.x_samples - 1) - 0.5) * self.x_size
        y = (rows / (self.y_samples - 1) - 0.5) * self.y_size
        points = np.dstack((*np.meshgrid(x, y), self.heights[np.ix_(rows, columns)])).reshape(-1, 3)
        place = np.arange(len(points)).reshape(len(rows), len(columns))
        p00, p10, p01, p11 = place[:-1, :-1], place[:-1, 1:], place[1:, :-1], place[1:, 1:]
        # The same diagonal as in the collision: from (ix, iy) to (ix + 1, iy + 1).
        return points, np.stack((p00, p10, p11, p00, p11, p01), axis=-1).reshape(-1, 3)


@dataclass(frozen=True)
class TerrainProperties:
    """Settings of the fractal terrain generator."""

    frequency: float = 0.1
    """Noise cells per metre, of the first octave [1/m]."""
    x_size: float = 10.0
    y_size: float = 10.0
    z_scale: float = 2.0
    """Heights stay within height_offset ± z_scale, before rounding to steps [m]."""
    x_samples: int = 100
    y_samples: int = 100
    fractal_octaves: int = 5
    fractal_lacunarity: float = 2.0
    """Frequency of an octave over that of the one before."""
    fractal_gain: float = 0.5
    """Amplitude of an octave over that of the one before."""
    step_size: float = 0.0
    """Heights are rounded to whole steps; 0: not at all [m]."""
    height_offset: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for one in fields(self):
            if one.type == "float":
                checked.number(one.name, getattr(self, one.name))
        if not checked.is_whole(self.seed):
            raise InvalidValueError(f"seed is {checked.shown(self.seed)}; expected a whole number")
        for name in ("z_scale", "height_offset"):
            if not np.isfinite(getattr(self, name)):
                raise InvalidValueError(f"{name} is {getattr(self, name)}, expected a finite number")
        for name in ("frequency", "fractal_lacunarity"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InvalidValueError(f"{name} is {getattr(self, name)}, expected a positive number")
        for name in ("fractal_gain", "step_size"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise InvalidValueError(f"{name} is {getattr(self, name)}, expected zero or more")
        if not checked.is_whole(self.fractal_octaves) or not 1 <= self.fractal_octaves <= 32:
            raise InvalidValueError(f"fractal_octaves is {checked.shown(self.fractal_octaves)}; expected 1..32")


def height_map_from_values(
    x_samples: int,
    y_samples: int,
    x_size: float,
    y_size: float,
    heights: Sequence[float] | NDArray[Any],
    center_x: float = 0.0,
    center_y: float = 0.0,
    source: str = "heightmap",
) -> HeightMapData:
    """A checked heightmap; ``heights`` holds height[iy * x_samples + ix] [m]. Raises TerrainError."""
    _check_samples(x_samples, y_samples, source)
    for name, size in (("x_size", x_size), ("y_size", y_size)):
        if not 0.0 < checked.number(name, size) < np.inf:
            raise TerrainError(f"{source}: {name} is {size}, expected a positive length in metres")
    for name, center in (("center_x", center_x), ("center_y", center_y)):
        if not np.isfinite(checked.number(name, center)):
            raise TerrainError(f"{source}: {name} is {center}, expected a finite number")
    try:
        values = np.array(heights, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise TerrainError(f"{source}: the heights are not numbers: {error}") from error
    if values.size != x_samples * y_samples:
        raise TerrainError(
            f"{source}: {values.size} heights, expected {x_samples} x {y_samples} = {x_samples * y_samples}"
        )
    finite = np.isfinite(values)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise TerrainError(
            f"{source}: height {bad} (ix {bad % x_samples}, iy {bad // x_samples}) is {values[bad]}, "
            "expected a finite number"
        )
    grid = values.reshape(y_samples, x_samples)
    grid.setflags(write=False)
    return HeightMapData(
        int(x_samples), int(y_samples), float(x_size), float(y_size), float(center_x), float(center_y), grid
    )


def height_map_from_text(path: str | Path, center_x: float = 0.0, center_y: float = 0.0) -> HeightMapData:
    """A text file: ``x_samples y_samples x_size y_size``, then the heights, separated by any white space.

    Raises FileMissingError, ParseError (a word that is no number) and TerrainError.
    """
    file = _existing_file(path)
    x_samples, y_samples = _announced_samples(file)
    most = _HEADER + _LETTERS_PER_HEIGHT * x_samples * y_samples
    text = read_bytes(path, "heightmap file", most, f"{_LETTERS_PER_HEIGHT} letters for each height that it announces")
    numbers = numbers_of(text)
    if numbers is None or len(numbers) < 4:
        raise _first_bad_word(path, text)
    return height_map_from_values(
        x_samples,
        y_samples,
        float(numbers[2]),
        float(numbers[3]),
        numbers[4:],
        center_x,
        center_y,
        source=str(path),
    )


def height_map_from_png(
    path: str | Path,
    x_size: float,
    y_size: float,
    height_scale: float,
    height_offset: float,
    center_x: float = 0.0,
    center_y: float = 0.0,
) -> HeightMapData:
    """An 8- or 16-bit greyscale PNG: height = raw pixel value · height_scale + height_offset [m].

    The image's first row lies at the lowest y. Raises FileMissingError and TerrainError.
    """
    from PIL import Image, UnidentifiedImageError

    for name, value in (("height_scale", height_scale), ("height_offset", height_offset)):
        if not np.isfinite(checked.number(name, value)):
            raise InvalidValueError(f"{name} is {value}, expected a finite number")
    file = _existing_file(path)
    width, height = _check_png_header(file)
    _check_samples(width, height, str(path))
    try:
        with Image.open(file) as image:
            if image.size != (width, height):  # a further header
                sizes = f"{width} x {height} and {image.width} x {image.height}"
                raise TerrainError(f"{path}: the image says two sizes, {sizes}")
            pixels = np.asarray(image, dtype=np.float64)
    except TerrainError:
        raise
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise TerrainError(f"{path}: not a readable PNG image: {error}") from error
    return height_map_from_values(
        width, height, x_size, y_size, pixels * height_scale + height_offset, center_x, center_y, str(path)
    )


def generate_height_map(
    properties: TerrainProperties, center_x: float = 0.0, center_y: float = 0.0
) -> HeightMapData:
    """Fractal Perlin terrain: the same settings and seed give the same bits on every machine.

    The noise is laid out in the map's own frame, so that moving the centre moves the terrain as it is.
    """
    p = properties
    _check_samples(p.x_samples, p.y_samples, "terrain")
    for name, size in (("x_size", p.x_size), ("y_size", p.y_size)):
        if not 0.0 < checked.number(name, size) < np.inf:
            raise TerrainError(f"terrain: {name} is {size}, expected a positive length in metres")
    x = np.arange(p.x_samples, dtype=np.float64) * (p.x_size / (p.x_samples - 1))
    y = np.arange(p.y_samples, dtype=np.float64) * (p.y_size / (p.y_samples - 1))
    noise = fractal_noise(
        x * p.frequency, y * p.frequency, p.fractal_octaves, p.fractal_lacunarity, p.fractal_gain, p.seed
    )
    heights = noise * p.z_scale
    if p.step_size > 0.0:
        heights = np.floor(heights / p.step_size + 0.5) * p.step_size
    return height_map_from_values(
        p.x_samples, p.y_samples, p.x_size, p.y_size, heights + p.height_offset, center_x, center_y, "terrain"
    )


# ---- checks ----


def _existing_file(path: str | Path) -> Path:
    return existing_file(path, "heightmap file")


def _check_samples(x_samples: int, y_samples: int, source: str) -> None:
    for name, count in (("x_samples", x_samples), ("y_samples", y_samples)):
        if not checked.number(name, count).is_integer() or not 2 <= count <= MAX_SAMPLES_PER_AXIS:
            raise TerrainError(f"{source}: {name} is {count}, expected 2..{MAX_SAMPLES_PER_AXIS}")
    most = get_file_limits().max_samples
    if x_samples * y_samples > most:
        raise TerrainError(
            f"{source}: {x_samples} x {y_samples} samples, expected at most {most} in total (limit max_samples)"
        )


_PNG_COLOR_TYPES = {
    0: "greyscale",
    2: "colour",
    3: "palette",
    4: "greyscale with transparency",
    6: "colour with transparency",
}


def _check_png_header(file: Path) -> tuple[int, int]:
    """Width and height from the image header; only what the header says tells a true 16-bit grey image."""
    with reading(file), file.open("rb") as stream:
        head = stream.read(29)
    if len(head) < 26 or head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        raise TerrainError(f"{file}: not a PNG image")
    width, height, bits, color_type = struct.unpack(">IIBB", head[16:26])
    if color_type != 0 or bits not in (8, 16):
        kind = _PNG_COLOR_TYPES.get(color_type, f"colour type {color_type}")
        raise TerrainError(f"{file}: a {bits}-bit {kind} image, expected 8- or 16-bit greyscale")
    return int(width), int(height)


def _announced_samples(file: Path) -> tuple[int, int]:
    """The two numbers at the beginning of a text file, checked before the rest is read."""
    with reading(file), file.open("rb") as stream:
        words = stream.read(_HEADER).split()[:2]
    try:
        x_samples, y_samples = (float(word) for word in words)
    except ValueError:
        raise ParseError(file, 1, "expected 'x_samples y_samples x_size y_size' and then the heights") from None
    if not (x_samples.is_integer() and y_samples.is_integer()):
        raise ParseError(file, 1, f"the sample counts are {x_samples:g} and {y_samples:g}, expected whole numbers")
    _check_samples(int(x_samples), int(y_samples), str(file))
    return int(x_samples), int(y_samples)


def _first_bad_word(path: str | Path, text: bytes) -> ParseError:
    """Where a text is wrong. The word is not told: whoever may ask for a file need not be one who may read it."""
    for number, line in enumerate(text.splitlines(), start=1):
        for place, word in enumerate(line.split(), start=1):
            try:
                float(word)
            except ValueError:
                return ParseError(path, number, f"word {place} is not a number")
    return ParseError(path, 1, "expected 'x_samples y_samples x_size y_size' and then the heights")

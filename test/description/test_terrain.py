"""Heightmaps from values, text, PNG and the generator."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from raisim_ros.description.errors import FileMissingError, InvalidValueError, ParseError, TerrainError
from raisim_ros.description.perlin import fractal_noise
from raisim_ros.description.terrain import (
    TerrainProperties,
    generate_height_map,
    height_map_from_png,
    height_map_from_text,
    height_map_from_values,
)


def test_values_are_rows_of_constant_y():
    grid = height_map_from_values(3, 2, 4.0, 5.0, [0, 1, 2, 10, 11, 12], center_x=1.0, center_y=-1.0)
    assert grid.heights.shape == (2, 3)
    assert grid.heights[1, 2] == 12.0
    assert (grid.x_size, grid.y_size, grid.center_x, grid.center_y) == (4.0, 5.0, 1.0, -1.0)


def test_values_are_copied():
    values = np.zeros(4)
    grid = height_map_from_values(2, 2, 1.0, 1.0, values)
    values[0] = 7.0
    assert grid.heights[0, 0] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 2, 1.0, 1.0, [0, 1, 2]), r"3 heights, expected 2 x 2 = 4"),
        ((1, 5, 1.0, 1.0, [0] * 5), r"x_samples is 1, expected 2"),
        ((5, 1, 1.0, 1.0, [0] * 5), r"y_samples is 1, expected 2"),
        ((-2, -2, 1.0, 1.0, [0] * 4), r"x_samples is -2"),
        ((2, 2, 0.0, 1.0, [0] * 4), r"x_size is 0.0, expected a positive"),
        ((2, 2, 1.0, float("nan"), [0] * 4), r"y_size is nan"),
        ((2, 2, 1.0, 1.0, [0, 1, float("nan"), 3]), r"height 2 \(ix 0, iy 1\) is nan"),
        ((2, 2, 1.0, 1.0, [0, float("inf"), 2, 3]), r"height 1 \(ix 1, iy 0\) is inf"),
        ((2, 2, 1.0, 1.0, ["a", "b", "c", "d"]), r"not numbers"),
        ((2.5, 2, 1.0, 1.0, [0] * 5), r"x_samples is 2.5"),
        ((46341, 2, 1.0, 1.0, []), r"x_samples is 46341"),
        ((40000, 40000, 1.0, 1.0, []), r"at most"),
    ],
)
def test_bad_values(arguments, message):
    with pytest.raises(TerrainError, match=message):
        height_map_from_values(*arguments)


def test_text_file(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text("3 2  6.0\t4.0\n0 1 2\n\n3 4\n5.5e0")
    grid = height_map_from_text(path, center_x=2.0)
    np.testing.assert_array_equal(grid.heights, [[0, 1, 2], [3, 4, 5.5]])
    assert (grid.x_size, grid.y_size, grid.center_x) == (6.0, 4.0, 2.0)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("2 2 1 1\n0 1\n2 x3", ParseError, r"map\.txt:3: word 2 is not a number"),
        ("2 2 1 1\n0 1 2", TerrainError, r"map\.txt: 3 heights, expected 2 x 2 = 4"),
        ("2 2 1 1\n0 1 2 3 4", TerrainError, r"5 heights, expected"),
        ("2 2 1 1\n0 1 nan 3", TerrainError, r"height 2 .* is nan"),
        ("2.5 2 1 1\n0 1 2 3", ParseError, r"sample counts are 2\.5 and 2"),
        ("1 4 1 1\n0 1 2 3", TerrainError, r"x_samples is 1"),
        ("2 2", ParseError, r"x_samples y_samples x_size y_size"),
        ("", ParseError, r"x_samples y_samples x_size y_size"),
        ("nan 2 1 1 0", ParseError, r"sample counts"),
    ],
)
def test_bad_text(tmp_path, content, error, message):
    path = tmp_path / "map.txt"
    path.write_text(content)
    with pytest.raises(error, match=message):
        height_map_from_text(path)


def test_binary_file_is_no_text(tmp_path):
    path = tmp_path / "map.txt"
    path.write_bytes(b"\xff\xfe\x00\x80" * 10)
    with pytest.raises(ParseError, match="expected 'x_samples"):
        height_map_from_text(path)


def test_missing_files(tmp_path):
    with pytest.raises(FileMissingError, match=r"heightmap file '.*gone\.txt' does not exist"):
        height_map_from_text(tmp_path / "gone.txt")
    with pytest.raises(FileMissingError, match=r"gone\.png"):
        height_map_from_png(tmp_path / "gone.png", 1, 1, 1, 0)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_png_keeps_raw_values_and_rows(tmp_path, dtype):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, np.iinfo(dtype).max, size=(5, 7), endpoint=True, dtype=dtype)
    pixels[0, 0] = np.iinfo(dtype).max
    path = tmp_path / "map.png"
    Image.fromarray(pixels).save(path)
    grid = height_map_from_png(path, 7.0, 5.0, height_scale=0.005, height_offset=-10.0)
    assert (grid.x_samples, grid.y_samples) == (7, 5)
    np.testing.assert_allclose(grid.heights, pixels * 0.005 - 10.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("RGB", "8-bit colour image, expected 8- or 16-bit greyscale"),
        ("RGBA", "colour with transparency"),
        ("LA", "greyscale with transparency"),
        ("P", "palette"),
        ("1", "1-bit greyscale"),
    ],
)
def test_other_pngs_are_refused(tmp_path, mode, message):
    path = tmp_path / "map.png"
    Image.new(mode, (8, 8)).save(path)
    with pytest.raises(TerrainError, match=message):
        height_map_from_png(path, 1, 1, 1, 0)


def test_damaged_png(tmp_path):
    path = tmp_path / "map.png"
    Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TerrainError, match=r"map\.png: not a readable PNG"):
        height_map_from_png(path, 1, 1, 1, 0)
    path.write_bytes(b"GIF89a" + whole)
    with pytest.raises(TerrainError, match="not a PNG image"):
        height_map_from_png(path, 1, 1, 1, 0)


def test_one_pixel_wide_png(tmp_path):
    path = tmp_path / "thin.png"
    Image.new("L", (1, 9)).save(path)
    with pytest.raises(TerrainError, match=r"thin\.png: x_samples is 1"):
        height_map_from_png(path, 1, 1, 1, 0)


# ---- generator ----


def test_generator_is_deterministic_and_seeded():
    one = generate_height_map(TerrainProperties(seed=5))
    two = generate_height_map(TerrainProperties(seed=5))
    other = generate_height_map(TerrainProperties(seed=6))
    np.testing.assert_array_equal(one.heights, two.heights)
    assert np.abs(one.heights - other.heights).max() > 0.1


def test_generator_bits_never_change():
    """The hash of one terrain, so that worlds and results can be reproduced across machines and versions."""
    heights = generate_height_map(TerrainProperties(x_samples=40, y_samples=30, seed=12345)).heights
    assert (
        hashlib.sha256(heights.astype("<f8").tobytes()).hexdigest()
        == "229d355232c78c25a4432cc271ec0f22b990ea28daad75f4f07ffe2947ca8311"
    )


def test_noise_vanishes_on_its_lattice_and_stays_bounded():
    lattice = np.arange(-4.0, 5.0)
    np.testing.assert_allclose(fractal_noise(lattice, lattice, 1, 2.0, 0.5, 3), 0.0, atol=1e-15)
    fine = np.linspace(-20.0, 20.0, 801)
    noise = fractal_noise(fine, fine, 1, 2.0, 0.5, 3)
    assert 0.5 < np.abs(noise).max() <= 1.0 + 1e-12


def test_noise_matches_its_definition_at_single_points():
    """Scalar gradient noise, written out, against the vectorised one."""
    from raisim_ros.description import perlin

    table = perlin._permutation(9)
    assert sorted(table) == list(range(256))
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(-300, 300, size=(50, 2)):
        value = 0.0
        for dx in (0, 1):
            for dy in (0, 1):
                cx, cy = int(np.floor(x)) + dx, int(np.floor(y)) + dy
                gx, gy = perlin._GRADIENTS[table[(table[cx % 256] + cy) % 256] % 8]
                wx, wy = 1 - abs(x - cx), 1 - abs(y - cy)
                fade = (6 * wx**5 - 15 * wx**4 + 10 * wx**3) * (6 * wy**5 - 15 * wy**4 + 10 * wy**3)
                value += fade * (gx * (x - cx) + gy * (y - cy))
        got = fractal_noise(np.array([x]), np.array([y]), 1, 2.0, 0.5, 9)[0, 0]
        assert got == pytest.approx(value * np.sqrt(2.0), abs=1e-12)


def test_octaves_add_detail_with_their_gain():
    x = np.linspace(0.0, 10.0, 200)
    one = fractal_noise(x, x, 1, 2.0, 0.5, 1)
    double = fractal_noise(2.0 * x, 2.0 * x, 1, 2.0, 0.5, 1)
    np.testing.assert_allclose(fractal_noise(x, x, 2, 2.0, 0.5, 1), (one + 0.5 * double) / 1.5, atol=1e-12)


def test_frequency_is_per_metre():
    """Twice the frequency over half the size is the same picture."""
    coarse = generate_height_map(TerrainProperties(frequency=0.1, x_size=20, y_size=20))
    dense = generate_height_map(TerrainProperties(frequency=0.2, x_size=10, y_size=10))
    np.testing.assert_allclose(coarse.heights, dense.heights, atol=1e-12)


def test_scale_offset_and_steps():
    plain = generate_height_map(TerrainProperties(z_scale=1.0))
    raised = generate_height_map(TerrainProperties(z_scale=3.0, height_offset=2.0))
    np.testing.assert_allclose(raised.heights, 3.0 * plain.heights + 2.0, atol=1e-12)
    stepped = generate_height_map(TerrainProperties(z_scale=3.0, step_size=0.25)).heights
    np.testing.assert_allclose(stepped / 0.25, np.round(stepped / 0.25), atol=1e-12)
    assert np.abs(stepped - 3.0 * plain.heights).max() <= 0.125 + 1e-12


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("frequency", 0.0),
        ("frequency", float("nan")),
        ("z_scale", float("inf")),
        ("fractal_octaves", 0),
        ("fractal_octaves", 33),
        ("fractal_lacunarity", -1.0),
        ("fractal_gain", -0.1),
        ("step_size", -0.1),
        ("step_size", float("nan")),
    ],
)
def test_bad_generator_settings(setting, value):
    with pytest.raises(InvalidValueError, match=f"{setting} is"):
        TerrainProperties(**{setting: value})


def test_bad_generator_size():
    with pytest.raises(TerrainError, match="x_samples is 1"):
        generate_height_map(TerrainProperties(x_samples=1))
    with pytest.raises(TerrainError, match="y_size is 0"):
        generate_height_map(TerrainProperties(y_size=0.0))

"""Colours of objects."""

import pytest

from raisim_ros.description.appearance import colour


def test_a_name_is_a_colour():
    assert colour("red", "box", 1) == colour(" RED ", "sphere", 2)
    assert colour("red", "box", 1)[0] > 0.5


@pytest.mark.parametrize("text", ["0.1 0.2 0.3 0.4", "0.1, 0.2, 0.3, 0.4", "0.1,0.2,0.3,0.4"])
def test_numbers_are_a_colour(text):
    assert colour(text, "box", 1) == (0.1, 0.2, 0.3, 0.4)


def test_alpha_may_be_left_out_and_numbers_are_clamped():
    assert colour("0.1 0.2 0.3", "box", 1) == (0.1, 0.2, 0.3, 1.0)
    assert colour("7 -1 0.5", "box", 1) == (1.0, 0.0, 0.5, 1.0)


def test_a_texture_is_the_colour_that_it_has_from_afar():
    assert colour("steel", "box", 1) == colour("Steel", "ground", 2) != colour("wood", "box", 1)


@pytest.mark.parametrize("text", ["", "1 2", "a b c"])
def test_anything_else_gets_a_colour_of_its_own(text):
    assert len({colour(text, "box", number) for number in range(5)}) == 5
    assert colour(text, "ground", 1) == colour(text, "ground", 2)

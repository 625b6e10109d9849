"""Damaged files: a typed error or a tree, never a crash or a hang."""

import random
import re

import numpy as np
import pytest

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.description.urdf.file import load_urdf

WORDS = ["0", "-1", "1e308", "nan", "inf", "", "@@x", "{1/0}", "{", "world", "base", "fixed", "spherical", "floating",
         "mesh", "<", "&amp;", "\u00e9", "1 2", "99999999999999999999"]  # fmt: skip


def cut(text, rng):
    start = rng.randrange(len(text))
    return text[:start] + text[start + rng.randrange(200) :]


def repeat(text, rng):
    start = rng.randrange(len(text))
    end = start + rng.randrange(400)
    return text[:end] + text[start:end] + text[end:]


def flip(text, rng):
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.randrange(1, 256)) + text[at + 1 :]


def change_value(text, rng):
    values = list(re.finditer(r'"([^"]*)"', text))
    value = rng.choice(values)
    return text[: value.start() + 1] + rng.choice(WORDS) + text[value.end() - 1 :]


def swap_values(text, rng):
    first, second = sorted(rng.sample(list(re.finditer(r'"([^"]*)"', text)), 2), key=lambda match: match.start())
    middle = text[first.end() : second.start()]
    return text[: first.start()] + second.group() + middle + first.group() + text[second.end() :]


def drop_element(text, rng):
    element = rng.choice(list(re.finditer(r"<[^<>]*/>", text)))
    return text[: element.start()] + text[element.end() :]


MUTATIONS = [cut, repeat, flip, change_value, change_value, change_value, swap_values, drop_element]


def is_sound(tree):
    assert all(body.parent < index for index, body in enumerate(tree.bodies))
    assert all(np.isfinite(body.inertia).all() and body.mass >= 0.0 for body in tree.bodies)
    assert all(np.isfinite(body.joint_position).all() for body in tree.bodies)


@pytest.mark.timeout(60)  # against hanging
@pytest.mark.parametrize("name", ["wheeled_base", "chain", "four_bar", "arm"])
def test_damaged_files(name):
    original = resource(f"robots/{name}.urdf").read_text()
    rng = random.Random(name)
    loaded = refused = 0
    for _ in range(150):
        text = original
        for _ in range(rng.choice([1, 1, 2, 3])):
            text = rng.choice(MUTATIONS)(text, rng)
        try:
            tree = load_urdf(text)
        except RaisimError:
            refused += 1
        else:
            is_sound(tree)
            loaded += 1
    assert loaded > 5
    assert refused > 10

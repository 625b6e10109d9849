"""Object names become valid, unique ROS names."""

import random
import re
import string

import pytest

from raisim_ros.ros import names

VALID = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("box", "box"),
        ("my box", "my_box"),
        ("robot/arm-1", "robot/arm_1"),
        ("/a//b c/", "a/b_c"),
        ("a__b", "a_b"),
        ("_hidden_", "hidden"),
        ("3box", "object_3box"),
        ("Kugel-Größe", "Kugel_Gr_e"),
        ("", ""),
        ("!?", ""),
    ],
)
def test_sanitise(given, expected):
    assert names.sanitise(given) == expected


def test_any_text_becomes_empty_or_a_valid_topic_name():
    validator = pytest.importorskip("rclpy.validate_topic_name", reason="needs rclpy")
    generator = random.Random(7)
    alphabet = string.printable + "äß漢🙂__//~{}"
    for _ in range(2000):
        text = "".join(generator.choices(alphabet, k=generator.randrange(200)))
        cleaned = names.sanitise(text)
        if cleaned:
            assert VALID.fullmatch(cleaned)
            assert "__" not in cleaned
            assert len(cleaned) <= names.MAX_LENGTH
            validator.validate_topic_name(f"{cleaned}/state")
        assert names.sanitise(cleaned) == cleaned


def test_unique_avoids_taken_and_reserved_names():
    taken = {"box", "box_1"}
    assert names.unique("ball", taken) == "ball"
    assert names.unique("box", taken) == "box_2"
    for reserved in names.RESERVED:
        assert names.unique(reserved, set()) == f"{reserved}_1"


def test_names_with_levels_do_not_mix_with_those_above_or_below():
    taken = {"robot_a/panda", "box"}
    assert names.is_free("robot_a/base", taken)
    assert not names.is_free("robot_a", taken)
    assert not names.is_free("robot_a/panda/hand", taken)
    assert not names.is_free("box/lid", taken)
    assert not names.is_free("world/box", taken)
    assert names.unique("robot_a/panda", taken) == "robot_a/panda_1"
    assert names.unique("robot_a", taken) == "robot_a_1"
    assert names.unique("box/lid", taken) == "box_1/lid"


def test_names_are_found_among_thousands_and_free_again_when_they_are_removed():
    """As many boxes as there are: not one look for each of all the others."""
    looked = 0

    class Counted(names.Taken):
        def is_free(self, name):
            nonlocal looked
            looked += 1
            return super().is_free(name)

    taken = Counted()
    for number in range(2000):
        name = taken.unique("box")
        assert name == (f"box_{number}" if number else "box")
        taken.add(name)
    assert looked < 3 * 2000
    taken.remove("box_7")
    assert taken.unique("box") == "box_7"
    taken.add("a/b")
    assert not taken.is_free("a")
    taken.remove("a/b")
    assert taken.is_free("a")
    assert taken.unique("box", names.Taken({"box_7", "box_2000"})) == "box_2001"

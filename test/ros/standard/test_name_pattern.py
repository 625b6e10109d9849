"""Regular expressions of requests: the same as Python's where both know them, and never slow."""

import random
import re

import pytest

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.ros.standard.name_pattern import MAX_LENGTH, name_pattern

ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", "[a-b_]", "\\d", "\\w", "_", "^", "$", "\\.", "[]b]", "[b-]", "\\S"]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{,1}"]


def random_expression(chance, depth=3):
    def part():
        if depth and chance.random() < 0.3:
            inner = "|".join(random_expression(chance, depth - 1) for _ in range(chance.randint(1, 3)))
            return chance.choice(["(", "(?:"]) + inner + ")"
        return chance.choice(ATOMS)

    def repeated(atom):
        return atom if atom in ("^", "$") else atom + chance.choice(REPEATS)

    return "".join(repeated(part()) for _ in range(chance.randint(0, 4)))


def test_random_expressions_find_what_python_finds():
    chance = random.Random(7)
    names = ["", *("".join(chance.choices("abc_1.", k=chance.randint(1, 7))) for _ in range(40))]
    found = 0
    for _ in range(1500):
        text = random_expression(chance)
        if len(text) > 60:  # Python's may take for ever
            continue
        own = name_pattern(text, "filter")
        for name in names:
            wanted = bool(re.search(text, name))
            assert own.search(name) == wanted, (text, name)
            found += wanted
    assert found > 1000


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("[[:alpha:]]+_[[:digit:]]{2}$", "robot_07", True),
        ("^[[:alpha:]]+_[[:digit:]]{2}$", "robot_7", False),
        ("[^[:upper:]]", "ROBOT", False),
        ("robot_.*_arm_.*_link.*_[0-9]+", "robot_a_arm_b_link_c_17", True),
        ("", "anything", True),
        ("a||b", "c", True),
    ],
)
def test_what_posix_has(text, name, wanted):
    assert name_pattern(text, "filter").search(name) == wanted


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*b", ".*.*.*.*.*x", "a?" * 30 + "a" * 30, "(a|b)*a(a|b){20}", "((a*)*)*c"])
def test_expressions_that_take_for_ever_elsewhere_read_every_letter_once(text):
    pattern = name_pattern(text, "filter")
    reads = 0
    read = pattern._read

    def counted(*arguments):
        nonlocal reads
        reads += 1
        return read(*arguments)

    pattern._read = counted
    for length in range(1, 60):
        pattern.search("a" * length + "!")
    assert reads <= sum(length + 1 for length in range(1, 60))


@pytest.mark.parametrize(
    "text",
    ["(", ")", "[", "[]", "a{2", "a{}", "a{x}", "a{3,1}", "a{999}", "*", "|*", "(*a)", "\\", "(a)\\1", "(?=a)", "(?i)a", "[b-a]", "[[:what:]]", "\\b", "(" * 60 + ")" * 60, "(a{99}){99}", "x" * (MAX_LENGTH + 1)],
)  # fmt: skip
def test_wrong_ones_are_refused_with_a_reason(text):
    with pytest.raises(InvalidValueError, match="filter"):
        name_pattern(text, "filter")

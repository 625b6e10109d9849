"""The arithmetic between braces."""

import math

import pytest

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.xml.expression import MAX_DEPTH, MAX_LENGTH, evaluate, format_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("  2.5 ", 2.5),
        (".5", 0.5),
        ("3.", 3.0),
        ("1e-05*2", 2e-05),
        ("1+2*3", 7.0),
        ("(1+2)*3", 9.0),
        ("8-2-1", 5.0),
        ("8/2/2", 2.0),
        ("2*3-4/8", 5.5),
        ("-2", -2.0),
        ("--2", 2.0),
        ("+2", 2.0),
        ("3-2", 1.0),
        ("3 - -2", 5.0),
        ("2*-3", -6.0),
        ("-(1+2)", -3.0),
        ("-2*-2", 4.0),
        ("pi", math.pi),
        ("sin(pi/6)", 0.5),
        ("cos(0)", 1.0),
        ("exp(1)", math.e),
        ("log(exp(3))", 3.0),
        ("sin(cos(0)-1)+2*(3+(4))", 14.0),
    ],
)
def test_value(text, value):
    assert evaluate(text) == pytest.approx(value, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty expression"),
        ("   ", "empty expression"),
        ("1+", "found the end, expected a number"),
        ("1 2", "found '2', expected an operator or the end"),
        ("(1", "found the end, expected ')'"),
        ("1)", "found ')', expected an operator"),
        ("sin 1", "expected '(' after sin"),
        ("sin", "expected '(' after sin"),
        ("tan(1)", "found 'tan'"),
        ("1/0", "divides by zero"),
        ("1/(2-2)", "divides by zero"),
        ("log(0)", "log(0.0) has no value"),
        ("log(-1)", "log(-1.0) has no value"),
        ("exp(1000)", "too large"),
        ("1e308*10", "too large"),
        ("1e308*10-1e308*10", "too large"),
        ("2**3", "found '*'"),
        ("1,2", "found ','"),
        (".", "found '.'"),
        ('__import__("os")', "found '__import__'"),
        ("nan", "found 'nan'"),
        ("a.b", "found 'a'"),
        ("1;2", "found ';'"),
    ],
)
def test_what_is_refused_and_why(text, reason):
    with pytest.raises(InvalidValueError) as caught:
        evaluate(text)
    assert reason in str(caught.value)


@pytest.mark.timeout(60)  # against hanging
def test_deep_and_long_expressions_are_refused_at_once():
    for text in ("(" * 900, "-" * 900 + "1", "sin(" * (MAX_DEPTH + 1), "1+" * MAX_LENGTH + "1", "(" * 10_000_000):
        with pytest.raises(InvalidValueError):
            evaluate(text)


def test_nesting_up_to_the_limit_works():
    depth = MAX_DEPTH - 1
    assert evaluate("(" * depth + "7" + ")" * depth) == 7.0
    assert evaluate("+".join(["(1)"] * 200)) == 200.0  # wide is not deep


@pytest.mark.parametrize("value", [0.0, 3.0, -12.0, 0.1, 1 / 3, 1e-9, 1e20, -2.5e-300])
def test_numbers_read_back_exactly(value):
    assert float(format_number(value)) == value


def test_whole_numbers_have_no_point():
    assert format_number(3.0) == "3"
    assert format_number(-0.0) == "0"

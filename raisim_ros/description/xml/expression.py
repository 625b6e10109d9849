"""The arithmetic of templates, ``{0.5*@@size + sin(pi/4)}``: a parser of its own, so that no file can run code.

    sum     = product (("+" | "-") product)*
    product = factor (("*" | "/") factor)*
    factor  = ("+" | "-") factor | number | "pi" | function "(" sum ")" | "(" sum ")"

Functions are sin, cos, exp and log (radians, natural logarithm). Numbers are decimals; an exponent is allowed
because parameters given from code may be as small as ``1e-05``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from raisim_ros.description.errors import InvalidValueError

MAX_LENGTH = 1000  # characters; longer text is a mistake, not arithmetic
MAX_DEPTH = 50  # nested parentheses and signs; keeps the recursion far from Python's own limit

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
}
_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\S))")


def evaluate(text: str) -> float:
    """The value of an expression (without its braces). Raises InvalidValueError that says what is wrong."""
    if len(text) > MAX_LENGTH:
        raise InvalidValueError(f"expression of {len(text)} characters; expected at most {MAX_LENGTH}")
    try:
        value = _Parser(text).parse()
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InvalidValueError(f"expression '{text}' is too large for a number")
    return value


def format_number(value: float) -> str:
    """Text that reads back to the same number; whole numbers without a point, so that they fit into names."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match.group().strip() for match in _TOKEN.finditer(text)]
        self._next = 0
        self._depth = 0

    def parse(self) -> float:
        if not self._tokens:
            raise InvalidValueError("empty expression; expected a number")
        value = self._sum()
        if self._peek():
            raise self._unexpected("an operator or the end")
        return value

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._next += 1
        return token

    def _unexpected(self, expected: str) -> InvalidValueError:
        found = f"'{self._peek()}'" if self._peek() else "the end"
        return InvalidValueError(f"expression '{self._text}': found {found}, expected {expected}")

    def _sum(self) -> float:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> float:
        value = self._factor()
        while self._peek() in ("*", "/"):
            if self._take() == "*":
                value *= self._factor()
                continue
            divisor = self._factor()
            if divisor == 0.0:
                raise InvalidValueError(f"expression '{self._text}' divides by zero")
            value /= divisor
        return value

    def _factor(self) -> float:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise InvalidValueError(f"expression '{self._text}' is nested deeper than {MAX_DEPTH} levels")
        value = self._unnested_factor()
        self._depth -= 1
        return value

    def _unnested_factor(self) -> float:
        token = self._peek()
        if token in ("+", "-"):
            self._take()
            return self._factor() if token == "+" else -self._factor()
        if token == "(":
            return self._parenthesis()
        if token == "pi":
            self._take()
            return math.pi
        if token in _FUNCTIONS:
            self._take()
            return self._call(token)
        if token[:1].isdigit() or (token[:1] == "." and len(token) > 1):
            return float(self._take())
        raise self._unexpected("a number, pi, sin, cos, exp, log or '('")

    def _call(self, name: str) -> float:
        if self._peek() != "(":
            raise self._unexpected(f"'(' after {name}")
        argument = self._parenthesis()
        try:
            return _FUNCTIONS[name](argument)
        except ValueError:
            raise InvalidValueError(f"expression '{self._text}': {name}({argument!r}) has no value") from None

    def _parenthesis(self) -> float:
        self._take()
        value = self._sum()
        if self._peek() != ")":
            raise self._unexpected("')'")
        self._take()
        return value

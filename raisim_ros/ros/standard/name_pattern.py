"""Regular expressions of requests, POSIX extended as the standard asks, in a time that no expression can blow up.

Python's `re` tries one way after the other and can take for ever. Here an expression becomes a list of instructions,
and a name is read once, with all places in the list where a match could be (Thompson's method). What follows from a set
of places and a letter is remembered, so that the names of a world cost little more than looking up their letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from raisim_ros.description.errors import InvalidValueError

MAX_LENGTH = 200  # letters of an expression
MAX_SIZE = 400  # instructions, counted repeats written out
_MAX_DEPTH = 50  # groups within groups
_MAX_KNOWN = 2000  # remembered steps
_MAX_COUNT = 255  # of a counted repeat, as POSIX has it

_Places = frozenset[int]
_Ranges = tuple[tuple[str, str], ...]

_DIGITS: _Ranges = (("0", "9"),)
_LOWER, _UPPER = (("a", "z"),), (("A", "Z"),)
_SPACE: _Ranges = ((" ", " "), ("\t", "\r"))
_WORD: _Ranges = (*_LOWER, *_UPPER, *_DIGITS, ("_", "_"))
_EVERYTHING: _Ranges = (("\0", "\U0010ffff"),)
_ESCAPES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CLASSES: dict[str, _Ranges] = {
    "alpha": (*_LOWER, *_UPPER),
    "digit": _DIGITS,
    "alnum": (*_LOWER, *_UPPER, *_DIGITS),
    "lower": _LOWER,
    "upper": _UPPER,
    "space": _SPACE,
    "blank": ((" ", " "), ("\t", "\t")),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "xdigit": (*_DIGITS, ("a", "f"), ("A", "F")),
    "print": ((" ", "~"),),
    "graph": (("!", "~"),),
    "cntrl": (("\0", "\x1f"), ("\x7f", "\x7f")),
}


@dataclass(frozen=True)
class _Letter:
    """One letter of a set."""

    ranges: _Ranges
    negated: bool = False

    def has(self, letter: str) -> bool:
        return any(low <= letter <= high for low, high in self.ranges) != self.negated


@dataclass(frozen=True)
class _Edge:
    """The beginning or the end of a name."""

    at_end: bool


@dataclass(frozen=True)
class _Sequence:
    parts: tuple[_Node, ...]


@dataclass(frozen=True)
class _Choice:
    options: tuple[_Node, ...]


@dataclass(frozen=True)
class _Repeat:
    part: _Node
    least: int
    most: int | None


_Node = _Letter | _Edge | _Sequence | _Choice | _Repeat


class _Parser:
    """Reads an expression; ValueError says what is wrong with it."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> _Node:
        node = self._choice()
        if self._at < len(self._text):
            raise ValueError("a ')' too many")
        return node

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, wanted: str) -> bool:
        found = self._text.startswith(wanted, self._at)
        self._at += len(wanted) if found else 0
        return found

    def _choice(self) -> _Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else _Choice(tuple(options))

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        return _Sequence(tuple(parts))

    def _repeated(self, node: _Node) -> _Node:
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        while True:
            if self._peek() in bounds and self._peek():
                node = _Repeat(node, *bounds[self._peek()])
                self._at += 1
            elif self._take("{"):
                node = _Repeat(node, *self._counts())
            else:
                return node

    def _counts(self) -> tuple[int, int | None]:
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not inside.strip(",") or any(n and not (n.isascii() and n.isdigit()) for n in (low, high)):
            raise ValueError("'{' without counts; expected as in 'a{2}', 'a{2,}' or 'a{2,5}'")
        self._at += len(inside) + 1
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if max(least, most or 0) > _MAX_COUNT or (most is not None and most < least):
            raise ValueError(f"'{{{inside}}}' is no count; expected at most {_MAX_COUNT}, the smaller one first")
        return least, most

    def _atom(self) -> _Node:
        letter = self._peek()
        self._at += 1
        match letter:
            case "(":
                return self._group()
            case "[":
                return self._set()
            case ".":
                return _Letter(_EVERYTHING)
            case "^" | "$":
                return _Edge(letter == "$")
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                raise ValueError(f"nothing to repeat before '{letter}'")
        return _Letter(((letter, letter),))

    def _group(self) -> _Node:
        if self._take("?") and not self._take(":"):
            raise ValueError("'(?' is not known; expected '(' or '(?:'")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"more than {_MAX_DEPTH} groups within each other")
        node = self._choice()
        if not self._take(")"):
            raise ValueError("a '(' without ')'")
        self._depth -= 1
        return node

    def _escape(self) -> _Letter:
        letter = self._peek()
        self._at += 1
        if letter.lower() in _ESCAPES and letter:
            return _Letter(_ESCAPES[letter.lower()], letter.isupper())
        if not letter or letter.isalnum():
            raise ValueError(f"'\\{letter}' is not known")
        return _Letter(((letter, letter),))

    def _set(self) -> _Letter:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        while not ranges or not self._take("]"):
            if self._take("[:"):
                name, closed, _ = self._text[self._at :].partition(":]")
                if not closed or name not in _CLASSES:
                    raise ValueError(f"'[:{name}' is not known; expected one of {', '.join(_CLASSES)}")
                self._at += len(name) + 2
                ranges += _CLASSES[name]
                continue
            low = self._member()
            if isinstance(low, _Letter):
                ranges += low.ranges
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._member()
                if isinstance(high, _Letter) or high < low:
                    raise ValueError(f"a range from '{low}' to what does not come after it")
                ranges.append((low, high))
            else:
                ranges.append((low, low))
        return _Letter(tuple(ranges), negated)

    def _member(self) -> str | _Letter:
        """A letter of a set, or an escape that stands for several."""
        letter = self._peek()
        self._at += 1
        if not letter:
            raise ValueError("a '[' without ']'")
        if letter != "\\":
            return letter
        escaped = self._escape()
        if escaped.negated:
            raise ValueError("a negated escape within '[ ]' is not known")
        (low, high), *more = escaped.ranges
        return low if low == high and not more else escaped


@dataclass
class _Jump:
    """Go on at each of these places."""

    targets: tuple[int, ...] = ()


@dataclass
class _Program:
    """The instructions; a match is found where they end."""

    code: list[_Letter | _Edge | _Jump] = field(default_factory=list)

    def add(self, node: _Node) -> None:
        """Write out an expression."""
        if len(self.code) > MAX_SIZE:
            raise ValueError(f"it has more than {MAX_SIZE} parts, counted repeats written out")
        match node:
            case _Letter() | _Edge():
                self.code.append(node)
            case _Sequence():
                for part in node.parts:
                    self.add(part)
            case _Choice():
                self._add_choice(node)
            case _Repeat():
                self._add_repeat(node)

    def _add_jump(self) -> _Jump:
        jump = _Jump()
        self.code.append(jump)
        return jump

    def _add_choice(self, node: _Choice) -> None:
        fork, begins, ends = self._add_jump(), [], []
        for option in node.options:
            begins.append(len(self.code))
            self.add(option)
            ends.append(self._add_jump())
        fork.targets = tuple(begins)
        for end in ends:
            end.targets = (len(self.code),)

    def _add_repeat(self, node: _Repeat) -> None:
        for _ in range(node.least):
            self.add(node.part)
        forks = []
        for _ in range(1 if node.most is None else node.most - node.least):
            forks.append((self._add_jump(), len(self.code)))
            self.add(node.part)
        if node.most is None:
            self._add_jump().targets = (forks[0][1] - 1,)
        for fork, inside in forks:
            fork.targets = (inside, len(self.code))

    def reach(self, places: Iterable[int], at_begin: bool, at_end: bool) -> _Places:
        """Where one can be without reading a letter; edges that may still come are kept."""
        seen: set[int] = set()
        left = list(places)
        while left:
            place = left.pop()
            if place in seen:
                continue
            seen.add(place)
            one = self.code[place] if place < len(self.code) else None
            if isinstance(one, _Jump):
                left += one.targets
            elif isinstance(one, _Edge) and (at_end if one.at_end else at_begin):
                left.append(place + 1)
        return frozenset(place for place in seen if place >= len(self.code) or not isinstance(self.code[place], _Jump))


class NamePattern:
    """An expression that names are searched for."""

    def __init__(self, text: str) -> None:
        """ValueError says why it is none."""
        self._program = _Program()
        self._program.add(_Parser(text).whole())
        self._begin = self._program.reach([0], at_begin=True, at_end=False)
        self._known: dict[tuple[_Places, str], _Places] = {}

    def search(self, name: str) -> bool:
        """Whether the expression matches some part of the name."""
        program, places = self._program, self._begin
        found = len(program.code)
        for letter in name:
            if found in places:
                return True
            places = self._known.get((places, letter)) or self._read(places, letter)
        return found in program.reach(places, at_begin=not name, at_end=True)

    def _read(self, places: _Places, letter: str) -> _Places:
        """Where one is after a letter; a match may begin behind each."""
        code = self._program.code
        read = [p + 1 for p in places if p < len(code) and isinstance(one := code[p], _Letter) and one.has(letter)]
        after = self._program.reach([0, *read], at_begin=False, at_end=False)
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[places, letter] = after
        return after


def name_pattern(text: str, field_name: str) -> NamePattern:
    """The expression; InvalidValueError, naming the field, for one that is wrong or too large."""
    if len(text) > MAX_LENGTH:
        raise InvalidValueError(f"{field_name} has {len(text)} letters; expected at most {MAX_LENGTH}")
    try:
        return NamePattern(text)
    except ValueError as error:
        raise InvalidValueError(f"{field_name} '{text}' is no regular expression: {error}") from None

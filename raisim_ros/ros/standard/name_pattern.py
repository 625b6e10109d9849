"""Regular expressions of requests. Python's can take for ever, and nothing ends them: those that could are refused."""

from __future__ import annotations

import re

from raisim_ros.description.errors import InvalidValueError

MAX_LENGTH = 200  # letters
MAX_REPEATS = 2  # each may have to be tried with every length of the name
MAX_OPTIONS = 8  # each doubles what may have to be tried
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?:|\(\?|[()|]|(?:[*+?]|\{\d*,?\d*\})[?+]?|.", re.DOTALL)
_REPEAT = re.compile(r"[*+?]|\{\d*,?\d*\}")


def name_pattern(text: str, field: str) -> re.Pattern[str]:
    """The expression; InvalidValueError, naming the field, for one that is wrong or may take too long."""
    if len(text) > MAX_LENGTH:
        raise InvalidValueError(f"{field} has {len(text)} letters; expected at most {MAX_LENGTH}")
    reason = _why_slow(text)
    if reason:
        raise InvalidValueError(f"{field} '{text}' may take too long: {reason}")
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidValueError(f"{field} '{text}' is no regular expression: {error}") from None


def _why_slow(text: str) -> str:
    groups = [False]  # of the open groups, whether one has a choice or a repeat
    closed: bool | None = None  # of the group before this token, the same
    repeats = options = 0
    for token in _TOKEN.findall(text):
        if token == "(?" or (token.startswith("\\") and token[1:].isdigit()):
            return "it refers to other parts of the name"
        if token in ("(", "(?:"):
            groups.append(False)
        elif token == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] |= closed
            continue
        elif token == "|":
            groups[-1] = True
        elif _REPEAT.match(token):
            if closed:
                return "a part that has choices or repeats is repeated"
            options += token.startswith("?")
            repeats += not token.startswith("?")
            groups[-1] = True
        closed = None
    if repeats > MAX_REPEATS or options > MAX_OPTIONS:
        return f"it has {repeats} repeats and {options} options; expected at most {MAX_REPEATS} and {MAX_OPTIONS}"
    return ""

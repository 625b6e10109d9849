"""The template language of robot and world files, expanded in a parsed XML tree.

    <params><n value="3"/></params>             values of this file; parameters given from code override them
    <array idx="@@i" start="1" end="@@n" increment="1">  children once for each index, the end included
    <box name="box_@@i" exist="false"/>         removed; loops too
    "{0.5*@@i}"  "[THIS_DIR]/mesh.obj"          arithmetic; folder of the file

Elements keep the line numbers of the file, so that later errors can name them.
"""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lxml import etree

from raisim_ros.description.checked import mapping, shown
from raisim_ros.description.errors import InvalidValueError, TemplateError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.xml.expression import evaluate, format_number
from raisim_ros.description.xml.literal_text import is_literal
from raisim_ros.description.xml.template_marks import MARKS, THIS_DIR

ParameterValue = str | float | int | bool


@dataclass(frozen=True)
class ParameterContainer:
    """A value for the parameter ``@@name`` of a robot, sensor or world file."""

    name: str
    value: ParameterValue


Parameters = Mapping[str, ParameterValue] | Sequence[ParameterContainer] | None

_SIGNS = (*MARKS, "&#", "<params", "<array", "exist")  # marks may be written as references to characters

_NAME = re.compile(r"[A-Za-z_]\w*")
_LEFTOVER = re.compile(r"@@\w*")
_BRACES = re.compile(r"\{([^{}]*)\}")
_REFERENCE = re.compile(r"@@(\w+)")


def expand_template(
    root: etree._Element,
    source: str | Path,
    directory: str | Path,
    params: Parameters = None,
    untouched: Iterable[str] = (),
    known: set[str] | None = None,
) -> None:
    """Expand `root` in place.

    `source` names the file in errors, `directory` replaces ``[THIS_DIR]``, `params` are given from code and win over
    the file's own ``<params>``. Elements whose tag is in `untouched` or has a prefix (``xacro:if``) belong to other
    tools and keep their content as it is. `known`
    receives the parameters that the file declares or uses, for `check_known`.
    """
    if is_literal(root):
        return
    values = parameter_values(params)
    given = {_checked_name(name): as_text(value, f"parameter '{name}'") for name, value in values.items()}
    expander = _Expander(source, Path(directory).as_posix(), frozenset(untouched))
    if known is not None:
        known.update(_parameters_of(root))
    scope = expander.read_params(root, given)
    expander.expand_element(root, scope)


def is_plain(text: str) -> bool:
    """Does nothing in a file's text belong to this language? Then there is nothing to expand."""
    return not any(sign in text for sign in _SIGNS)


def parameter_values(params: Parameters) -> Mapping[str, ParameterValue]:
    """Values by name of what programs give as parameters; where a list gives one twice, the last counts."""
    if isinstance(params, Sequence) and all(isinstance(one, ParameterContainer) for one in params):
        return mapping("params", {one.name: one.value for one in params})
    if params is None or isinstance(params, Mapping):
        return mapping("params", params)
    raise InvalidValueError(f"params is {shown(params)}; expected values by name, or a list of ParameterContainer")


def check_known(params: Parameters, known: set[str], source: str | Path) -> None:
    """Refuse parameters that no file declares or uses; InvalidValueError names the nearest one that is."""
    for name in parameter_values(params):
        # Behind @@ a name may run on into other text.
        if name not in known and not any(used.startswith(f"@@{name}") for used in known):
            names = sorted({one.removeprefix("@@") for one in known} - {""})
            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"it knows: {', '.join(names) or 'none'}"
            raise InvalidValueError(f"parameter '{name}' is unknown to {source}; {hint}")


def _parameters_of(root: etree._Element) -> set[str]:
    """Names declared in ``<params>``, and, with their ``@@``, what is used without a declaration."""
    declared = {str(element.tag) for block in root.findall("params") for element in block}
    used: set[str] = set()
    for element in root.iter():
        for text in (*element.attrib.values(), element.text, element.tail):
            used.update(_LEFTOVER.findall(text or ""))
    indices = {(array.get("idx") or "").strip().removeprefix("@@") for array in root.iter("array")}
    marked = tuple(f"@@{name}" for name in declared | indices - {""})
    return declared | {name for name in used if not name.startswith(marked)}


def as_text(value: ParameterValue, what: str) -> str:
    """A parameter's value as a file would spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return value
    raise InvalidValueError(f"{what} is a {type(value).__name__}; expected text, a number or a bool")


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidValueError(f"parameter name '{name}'; expected letters, digits and '_', without '@@'")
    return name


class _Scope:
    """Parameter values; where several names fit, the longest counts."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    def inner(self, name: str) -> _Scope:
        """A scope with one more name, whose value is set for each pass of a loop."""
        return _Scope({**self.values, name: ""})

    def substitute(self, text: str, most: int) -> str | None:
        """`text` with the values of its parameters; None when it would be longer than `most`."""
        parts, at, length = [], 0, 0
        for match in _REFERENCE.finditer(text):
            word = match.group(1)
            name = next((word[:end] for end in range(len(word), 0, -1) if word[:end] in self.values), None)
            if name is not None:
                parts += [text[at : match.start()], self.values[name]]
                length += len(parts[-2]) + len(parts[-1])
                at = match.start() + 2 + len(name)
                if length > most:
                    return None
        parts.append(text[at:])
        return "".join(parts) if length + len(parts[-1]) <= most else None


class _Expander:
    """Expands one file."""

    def __init__(self, source: str | Path, directory: str, untouched: frozenset[str]) -> None:
        self._source = source
        self._directory = directory
        self._untouched = untouched
        self._limits = get_file_limits()
        self._reserved = 0
        self._written = 0

    def read_params(self, root: etree._Element, given: dict[str, str]) -> _Scope:
        """Values of the file's own parameters and of the given ones; removes ``<params>`` from the tree."""
        values = dict(given)
        for block in root.findall("params"):
            if len(block) + len(values) > self._limits.max_parameters:
                most = self._limits.max_parameters
                self._fail(block, f"{len(block)} parameters; expected at most {most} (limit max_parameters)")
            for element in block:
                name = str(element.tag)
                if not _NAME.fullmatch(name):
                    self._fail(element, f"parameter name '{name}'; expected letters, digits and '_'")
                value = element.get("value")
                if value is None:
                    self._fail(element, f"parameter '{name}' has no attribute 'value'")
                if name not in given:
                    values[name] = self._expanded(value, _Scope(values), element)
            root.remove(block)
        return _Scope(values)

    def expand_element(self, element: etree._Element, scope: _Scope) -> None:
        """Expand attributes, text and children of an element that stays in the tree."""
        for name, value in element.attrib.items():
            if any(mark in value for mark in MARKS):
                element.set(name, self._expanded(value, scope, element))
        if element.text and any(mark in element.text for mark in MARKS):
            element.text = self._expanded(element.text, scope, element)
        for child in list(element):
            self._expand_child(element, child, scope)

    def _expand_child(self, parent: etree._Element, child: etree._Element, scope: _Scope) -> None:
        if child.tag in self._untouched or child.prefix or ":" in child.tag:
            return
        if child.tail and any(mark in child.tail for mark in MARKS):
            child.tail = self._expanded(child.tail, scope, child)
        if not self._exists(child, scope):
            parent.remove(child)
        elif child.tag == "array":
            self._expand_array(parent, child, scope)
        else:
            self.expand_element(child, scope)

    def _exists(self, element: etree._Element, scope: _Scope) -> bool:
        """Asked before anything else about the element: what does not exist may be incomplete."""
        given = element.get("exist")
        return given is None or self._expanded(given, scope, element).strip() not in ("false", "False")

    def _expand_array(self, parent: etree._Element, array: etree._Element, scope: _Scope) -> None:
        """Put the children of a loop, once for each index, in the place of the loop."""
        name, indices = self._loop(array, scope)
        self._reserve(array, len(indices))
        inner = scope.inner(name)
        place = parent.index(array)
        expanded: list[etree._Element] = []
        for index in indices:
            inner.values[name] = str(index)
            one_pass = copy.deepcopy(array)
            for child in list(one_pass):
                self._expand_child(one_pass, child, inner)
            expanded.extend(one_pass)
        parent[place : place + 1] = expanded

    def _loop(self, array: etree._Element, scope: _Scope) -> tuple[str, range]:
        """The name of a loop's index and its values."""
        name = (array.get("idx") or "").strip().removeprefix("@@")
        if not _NAME.fullmatch(name):
            self._fail(array, f"<array idx=\"{array.get('idx', '')}\">; expected a name such as @@i")
        start = self._whole_number(array, "start", scope)
        end = self._whole_number(array, "end", scope)
        increment = self._whole_number(array, "increment", scope, default="1")
        if increment < 1:
            self._fail(array, f"<array increment=\"{increment}\">; expected 1 or more")
        if start > end:
            self._fail(array, f"<array start=\"{start}\" end=\"{end}\">; expected start ≤ end")
        most = self._limits.max_elements
        if (end - start) // increment >= most:
            self._fail(array, f"<array> from {start} to {end}; expected at most {most} passes (limit max_elements)")
        return name, range(start, end + 1, increment)

    def _whole_number(self, array: etree._Element, attribute: str, scope: _Scope, default: str | None = None) -> int:
        raw = array.get(attribute, default)
        if raw is None:
            self._fail(array, f"<array> has no attribute '{attribute}'")
        text = self._expanded(raw, scope, array).strip()
        try:
            value = float(text)
            if value != int(value):
                raise ValueError
        except (ValueError, OverflowError):
            self._fail(array, f"<array {attribute}=\"{text}\">; expected a whole number")
        return int(value)

    def _expanded(self, text: str, scope: _Scope, element: etree._Element) -> str:
        """`text` with its parameters, folder and expressions replaced."""
        result = scope.substitute(text, self._limits.max_text)
        if result is None:
            self._fail(element, f"a text gets longer than {self._limits.max_text} characters (limit max_text)")
        self._written += len(result)
        if self._written > self._limits.max_expanded_text:
            most = self._limits.max_expanded_text
            self._fail(element, f"the file expands to more than {most} characters (limit max_expanded_text)")
        leftover = _LEFTOVER.search(result)
        if leftover:
            known = ", ".join(sorted(scope.values)) or "none"
            self._fail(element, f"parameter '{leftover.group()}' has no value; known parameters: {known}")
        if "${" in result:
            self._fail(element, f"'{result}' is a xacro expression; give the file the suffix .xacro")
        if "{" in result or "}" in result:
            result = self._evaluated(result, element)
        return result.replace(THIS_DIR, self._directory)

    def _evaluated(self, text: str, element: etree._Element) -> str:
        try:
            result = _BRACES.sub(lambda match: format_number(evaluate(match.group(1))), text)
        except InvalidValueError as error:
            self._fail(element, str(error))
        if "{" in result or "}" in result:
            self._fail(element, f"'{text}' has a brace without its partner, or braces within braces")
        return result

    def _reserve(self, array: etree._Element, passes: int) -> None:
        """Count all passes of a loop before the first one, so that a runaway nest of loops is refused at once."""
        self._reserved += passes * sum(1 for _ in array.iter())
        most = self._limits.max_elements
        if self._reserved > most:
            self._fail(array, f"the loops of this file make more than {most} elements (limit max_elements)")

    def _fail(self, element: etree._Element, message: str) -> NoReturn:
        raise TemplateError(self._source, element.sourceline, message)

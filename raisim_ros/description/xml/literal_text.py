r"""Names with any characters in XML files.

XML cannot hold control characters, and the template language gives ``{``, ``@@`` and ``[THIS_DIR]`` a meaning. A file
whose root element says ``literal="true"`` is no template, and in its names and paths ``\uXXXXXX`` (six hexadecimal
digits) stands for a character. The writers of files set it where it is needed, and only there.
"""

from __future__ import annotations

import re

from lxml import etree

from raisim_ros.description.xml.template_marks import MARKS

ATTRIBUTE = "literal"

# What XML does not carry, what separates the words of a list, and the sign of these escapes itself.
_SPECIAL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ufffe\uffff]|^\\s|\\s$")
_IN_LISTS = re.compile("[\\\\,\\s\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{6})")


def escaped(text: str, *, in_list: bool = False) -> str:
    """`text` as it stands in a literal file; the same text where nothing needs care."""
    pattern = _IN_LISTS if in_list else _SPECIAL
    return pattern.sub(lambda match: f"\\u{ord(match.group()):06x}", text)


def unescaped(text: str) -> str:
    """The reverse of escaped()."""
    return _ESCAPE.sub(lambda match: chr(min(int(match.group(1), 16), 0x10FFFF)), text)


def is_literal(root: etree._Element) -> bool:
    """Whether a file says that it is no template."""
    return (root.get(ATTRIBUTE) or "").strip().lower() == "true"


def mark_literal(root: etree._Element) -> None:
    """Let the root element say so, where any attribute would otherwise be read as something else."""
    for element in root.iter():
        if any(mark in value for value in element.attrib.values() for mark in (*MARKS, "\\")):
            root.set(ATTRIBUTE, "true")
            return


def add_element(parent: etree._Element | None, tag: str, /, **attributes: str) -> etree._Element:
    """A new element, inside another or a root, whose attributes may have any characters."""
    texts = {name: escaped(value) for name, value in attributes.items()}
    return etree.Element(tag, texts) if parent is None else etree.SubElement(parent, tag, texts)

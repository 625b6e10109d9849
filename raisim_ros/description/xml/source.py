"""Parsing XML from files and text: the tolerances robots and worlds need, and none of XML's traps."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import read_bytes
from raisim_ros.description.limits import get_file_limits

_DECLARATION = re.compile(r"<\?xml\b[^>]*\?>")
_NAME = re.compile(r"[A-Za-z_][\w.:-]*")
_SPACE = re.compile(r"\s*")
_ENCODING = re.compile(rb"<\?xml\b[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_NEAR_START = 4096  # where an encoding is looked for [bytes]


def read_text(path: Path, what: str = "file") -> str:
    """The text of a file in the encoding that it declares (UTF-8 when it declares none)."""
    content = read_bytes(path, what, get_file_limits().max_file_bytes, "max_file_bytes")
    declared = _ENCODING.search(content[:_NEAR_START])
    encoding = declared.group(1).decode("ascii") if declared else "utf-8-sig"
    if encoding.lower().replace("-", "") == "utf8":
        encoding = "utf-8-sig"  # with or without a byte order mark
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(path, line, f"bytes that are not {error.encoding} text") from None
    except (LookupError, UnicodeError, ValueError):  # no encoding of text, or one that fails in a way of its own
        raise ParseError(path, 1, f"unknown encoding '{encoding}'") from None


def parse_xml(text: str, source: str | Path) -> etree._Element:
    """The root element; comments and processing instructions are left out, line numbers are those of `text`.

    Document type declarations (entities, external files) are refused. A prefix without a namespace is accepted,
    as files with leftovers of other tools have them, and the NUL that ends a text in C at the end of a file. Raises
    ParseError with `source` and the line.
    """
    body = without_declaration(text).rstrip("\0")
    most = get_file_limits().max_elements
    if body.count("<") > 2 * most + 2:  # elements that open and close
        raise ParseError(source, None, f"more than {most} elements (limit max_elements)")
    try:
        root = etree.fromstring(body, _parser(recover=False))
    except etree.XMLSyntaxError as error:
        root = _root_despite_prefixes(body, source, error)
    except ValueError as error:  # characters that XML does not allow
        raise ParseError(source, None, f"malformed XML: {error}") from None
    if root.getroottree().docinfo.doctype:
        raise ParseError(source, 1, "a document type declaration (<!DOCTYPE …>) is not accepted")
    _check_attributes(root, body, source)
    return root


def _check_attributes(root: etree._Element, body: str, source: str | Path) -> None:
    """Refuse elements with very many attributes: reading them takes the square of their number."""
    most = get_file_limits().max_attributes
    if body.count("=") <= most:
        return
    for element in root.iter():
        if len(element.attrib) > most:
            raise ParseError(source, element.sourceline, f"more than {most} attributes (limit max_attributes)")


def without_declaration(text: str) -> str:
    """`text` without its XML declarations and what precedes them; lines keep their numbers.

    White space, comments, output of the tool that wrote the file or a further declaration before the declaration are
    against XML, but files have them.
    """
    first = text.find("<")
    if first < 0:
        return text
    end = _end_of_declarations(text, first) or (first if text[:first].strip() else 0)
    return "\n" * text.count("\n", 0, end) + text[end:]


def _end_of_declarations(text: str, at: int) -> int:
    """Where the last declaration ends of those that follow `at` with white space and comments between them; 0: none."""
    end = 0
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if text.startswith("<!--", at):
            close = text.find("-->", at + 4)
            if close < 0:
                return end
            at = close + 3
        elif declaration := _DECLARATION.match(text, at):
            at = end = declaration.end()
        else:
            return end


def first_element(text: str) -> str:
    """The name of the first element, found without parsing; empty when there is none."""
    at = text.find("<")
    while at >= 0:
        if text.startswith("<!--", at):
            at = text.find("-->", at + 4)
        elif text.startswith(("<?", "<!"), at):
            at = text.find(">", at)
        else:
            name = _NAME.match(text, at + 1)
            return name.group() if name else ""
        at = text.find("<", at) if at >= 0 else at
    return ""


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,  # libxml2's own limits on depth, text and entity growth
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _root_despite_prefixes(body: str, source: str | Path, error: etree.XMLSyntaxError) -> etree._Element:
    """The root element if undeclared prefixes are all that is wrong; otherwise raises ParseError."""
    parser = _parser(recover=True)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        root = None
    faults = [entry for entry in parser.error_log if entry.domain != etree.ErrorDomains.NAMESPACE]
    if root is not None and not faults:
        return root
    line, message = (faults[0].line, faults[0].message) if faults else (error.lineno, error.msg)
    raise ParseError(source, line, f"malformed XML: {message}") from None

"""Parameters, loops, expressions and `exist` in XML files."""

import pytest
from lxml import etree

from raisim_ros.description.errors import InvalidValueError, RaisimError, TemplateError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.xml.source import parse_xml
from raisim_ros.description.xml.template import expand_template


def expand(text, params=None, directory="/folder", **more):
    root = parse_xml(text, "w.xml")
    expand_template(root, "w.xml", directory, params, **more)
    return root


def names(root):
    return [element.get("name") for element in root.iter("b")]


def test_parameters_from_code_and_file():
    root = expand('<a><params><x value="1"/><y value="2"/></params><b name="@@x,@@y"/></a>', {"y": 7})
    assert names(root) == ["1,7"]  # a value from code wins
    assert root.find("params") is None


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (3, "3"), (0.25, "0.25"), ("a", "a")])
def test_values_from_code(value, text):
    assert names(expand('<a><b name="@@v"/></a>', {"v": value})) == [text]


def test_longest_name_first():
    values = {"n": "short", "name": "long", "nam": "middle"}
    assert names(expand('<a><b name="@@name @@nam_ @@n @@nx"/></a>', values)) == ["long middle_ short shortx"]


def test_a_parameter_may_use_those_before_it():
    root = expand('<a><params><x value="@@given"/><y value="{@@x*2}"/></params><b name="@@y"/></a>', {"given": 4})
    assert names(root) == ["8"]


def test_unused_parameters_are_fine():
    assert names(expand('<a><params><spare value="1"/></params><b name="c"/></a>', {"more": 1})) == ["c"]


def test_text_and_folder():
    root = expand('<a file="[THIS_DIR]/m.obj">@@x<b/>{1+1}</a>', {"x": 5}, directory="/d{}@@")
    assert root.get("file") == "/d{}@@/m.obj"  # a folder's name is never read as a template
    assert root.text == "5"
    assert root[0].tail == "2"


def test_expressions():
    assert names(expand('<a><b name="{1/4} {@@x+1} n{2*3}"/></a>', {"x": 0.5})) == ["0.25 1.5 n6"]


def test_array_includes_its_end():
    assert names(expand('<a><array idx="@@i" start="0" end="3" increment="1"><b name="n_@@i"/></array></a>')) == [
        "n_0", "n_1", "n_2", "n_3"]


def test_array_increment_default_and_steps():
    assert names(expand('<a><array idx="@@i" start="-1" end="1"><b name="@@i"/></array></a>')) == ["-1", "0", "1"]
    stepped = expand('<a><array idx="i" start="0" end="5" increment="2"><b name="@@i"/></array></a>')
    assert names(stepped) == ["0", "2", "4"]
    assert names(expand('<a><array idx="@@i" start="2" end="2"><b name="@@i"/></array></a>')) == ["2"]


def test_nested_parameterised_arrays_keep_their_place():
    text = """<a><b name="first"/>
      <array idx="@@i" start="1" end="@@n">
        <b name="row@@i"/>
        <array idx="@@j" start="@@i" end="{@@n+0}"><b name="@@i.@@j"/></array>
      </array>
      <b name="last"/></a>"""
    expected = ["first", "row1", "1.1", "1.2", "row2", "2.2", "last"]
    assert names(expand(text, {"n": 2})) == expected


def test_inner_index_shadows_outer_name():
    inner = '<array idx="@@i" start="8" end="9"><b name="@@i"/></array>'
    text = f'<a><array idx="@@i" start="1" end="2">{inner}</array></a>'
    assert names(expand(text, {"i": "outer"})) == ["8", "9", "8", "9"]


def test_exist():
    body = '<b name="1" exist="false"/><b name="2" exist="False"/><b name="3" exist="no"/><b name="4" exist="@@e"/>'
    assert names(expand(f"<a>{body}</a>", {"e": False})) == ["3"]
    assert names(expand(f"<a>{body}</a>", {"e": True})) == ["3", "4"]
    inside = '<a><array idx="@@i" start="1" end="2"><b name="@@i" exist="@@e"/></array></a>'
    assert names(expand(inside, {"e": "false"})) == []


def test_loops_that_do_not_exist_are_not_even_read():
    loop = '<array idx="@@i" start="1" end="@@n" exist="@@e"><b name="@@i"/></array>'
    assert names(expand(f"<a>{loop}</a>", {"e": True, "n": 2})) == ["1", "2"]
    assert names(expand(f"<a>{loop}<b name='x'/></a>", {"e": False})) == ["x"]
    nested = f'<array idx="@@j" start="1" end="2"><b name="j@@j"/>{loop}</array>'
    assert names(expand(f"<a>{nested}</a>", {"e": "False"})) == ["j1", "j2"]
    with pytest.raises(TemplateError, match="@@e"):
        expand(f"<a>{loop}</a>", {"n": 2})


def test_lines_survive_expansion():
    root = expand('<a>\n<array idx="@@i" start="0" end="1">\n\n<b name="@@i"/>\n</array>\n<b/></a>')
    assert [element.sourceline for element in root] == [4, 4, 6]


def test_untouched_elements_keep_their_content():
    root = expand('<a><gazebo x="{not math}">@@what</gazebo><b name="@@x"/></a>', {"x": 1}, untouched={"gazebo"})
    assert root[0].get("x") == "{not math}"
    assert names(root) == ["1"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('<b name="@@missing"/>', "parameter '@@missing' has no value; known parameters: n"),
        ("<b>@@missing</b>", "'@@missing' has no value"),
        ('<b name="@@"/>', "'@@' has no value"),
        ('<b name="{1/0}"/>', "'1/0' divides by zero"),
        ("<b name=\"{__import__('os')}\"/>", "found '__import__'"),
        ('<b name="{1"/>', "brace without its partner"),
        ('<b name="1}"/>', "brace without its partner"),
        ('<b name="{{1}}"/>', "braces within braces"),
        ('<b name="${PI}"/>', "xacro expression"),
        ('<array start="0" end="1"/>', 'idx=""'),
        ('<array idx="@@1" start="0" end="1"/>', 'idx="@@1"'),
        ('<array idx="@@i" end="1"/>', "no attribute 'start'"),
        ('<array idx="@@i" start="0"/>', "no attribute 'end'"),
        ('<array idx="@@i" start="0.5" end="1"/>', 'start="0.5">; expected a whole number'),
        ('<array idx="@@i" start="x" end="1"/>', "expected a whole number"),
        ('<array idx="@@i" start="0" end="1e999"/>', "expected a whole number"),
        ('<array idx="@@i" start="2" end="1"/>', "expected start ≤ end"),
        ('<array idx="@@i" start="0" end="1" increment="0"/>', "expected 1 or more"),
        ('<array idx="@@i" start="0" end="1" increment="-1"/>', "expected 1 or more"),
        ('<array idx="@@i" start="0" end="1000000000"><b/></array>', f"at most {get_file_limits().max_elements} passes"),
        ("<params><x/></params>", "parameter 'x' has no attribute 'value'"),
        ('<params><x.y value="1"/></params>', "parameter name 'x.y'"),
    ],
)
def test_mistakes_name_file_line_and_reason(body, reason):
    with pytest.raises(TemplateError) as caught:
        expand(f"<a>\n\n{body}</a>", {"n": 1})
    assert str(caught.value).startswith("w.xml:3: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["", "@@x", "a b", "1x", "x-y"])
def test_bad_parameter_names_from_code(name):
    with pytest.raises(InvalidValueError, match="parameter name"):
        expand("<a/>", {name: 1})


def test_bad_parameter_values_from_code():
    with pytest.raises(InvalidValueError, match="'x' is a list"):
        expand("<a/>", {"x": [1]})


def nested_loops(depth, passes, inside):
    for level in range(depth):
        inside = f'<array idx="@@i{level}" start="1" end="{passes}">{inside}</array>'
    return f"<a>{inside}</a>"


@pytest.mark.parametrize(
    "text",
    [
        nested_loops(1, 10**18, "<b/>"),
        nested_loops(8, 100000, ""),
        "<a><params>" + "".join(f'<p{i} value="@@p{i - 1}@@p{i - 1}"/>' for i in range(1, 60)) + "</params></a>",
    ],
)
def test_runaway_templates_are_refused(text):
    with pytest.raises(RaisimError):
        expand(text, {"p0": "xx"})


def test_ten_thousand_objects():
    inner = '<b name="n@@i" mass="{0.1+@@i}"><dim radius="@@r"/><state pos="{@@i*0.5} 0 1"/></b>'
    root = expand(f'<a><array idx="@@i" start="1" end="10000">{inner}</array></a>', {"r": 0.1})
    assert len(root) == 10000
    assert root[9999].find("state").get("pos") == "5000 0 1"
    assert etree.tostring(root[0]) == b'<b name="n1" mass="1.1"><dim radius="0.1"/><state pos="0.5 0 1"/></b>'

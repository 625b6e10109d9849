"""Parsing XML: what is tolerated, what is refused."""


import pytest

from raisim_ros.description.errors import FileMissingError, ParseError
from raisim_ros.description.xml.source import first_element, parse_xml, read_text

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


@pytest.mark.parametrize(
    "start",
    ["", DECLARATION, "\n\n" + DECLARATION, f"<!-- a -->\n<!-- b\n> -->\n{DECLARATION}\n", "<!-- none -->\n\n",
     DECLARATION + "\n" + DECLARATION, f"{DECLARATION}\n<!-- a -->\n{DECLARATION}\n<!-- b -->",
     "xacro: in-order processing became default\n" + DECLARATION, "warning: something\n\n"],
)
def test_start_of_a_file(start):
    root = parse_xml(start + "\n<robot>\n<link/></robot>", "r.urdf")
    assert root.tag == "robot"
    assert root.sourceline == start.count("\n") + 2
    assert root[0].sourceline == start.count("\n") + 3


def test_comments_are_left_out():
    assert [child.tag for child in parse_xml("<a><!-- x --><b/><?go now?><c/></a>", "a.xml")] == ["b", "c"]


def test_prefix_without_namespace_is_accepted():
    assert parse_xml("<a><sensor:camera/><b xacro:c='1'/></a>", "a.xml")[1].tag == "b"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("<a>\n<b>\n</a>", 3, "mismatch"),
        ("", 1, "empty"),
        ("<a", 1, "malformed"),
        ("<a/>\n<b/>", 2, "Extra content"),
        ("<a x='1'\n x='2'/>", 2, "redefined"),
        ("<a>\n<x:b>\n</a>", 3, "mismatch"),
        ("<a b='\x01'/>", None, "malformed"),
    ],
)
def test_malformed_text_is_named_by_file_and_line(text, line, reason):
    with pytest.raises(ParseError, match=reason) as caught:
        parse_xml(text, "dir/a.xml")
    assert str(caught.value).startswith("dir/a.xml" + (f":{line}" if line else ""))


def bomb(use):
    entities = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    return f"<!DOCTYPE a [{entities}]>{use}"


@pytest.mark.timeout(60)  # against hanging
@pytest.mark.parametrize(
    "text",
    [
        bomb("<a>&a11;</a>"),
        bomb('<a b="&a11;"/>'),
        '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        '<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a/>',
        "<a>" * 5000 + "</a>" * 5000,
    ],
)
def test_bombs_and_external_entities_are_refused_at_once(text):
    with pytest.raises(ParseError):
        parse_xml(text, "bomb.xml")


@pytest.mark.parametrize(
    "text",
    [
        " " * 3_000_000,
        "v 0 0 0\n" * 400_000,
        "<!-- > -->" * 50_000,
        "<!--" * 500_000,
        "<?xml" * 500_000,
        "<?xml version='1.0'?>" * 50_000,
    ],
    ids=lambda text: text[:12].strip(),
)
def test_long_texts_without_an_element_are_refused(text):
    with pytest.raises(ParseError, match="long"):
        parse_xml(text, "long.xml")
    assert first_element(text) == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<a/>", "a"),
        ("junk <?xml version='1.0'?> <!-- <b> > --> <!-- -- ><c/> --><mujoco model='m'>", "mujoco"),
        ("<!DOCTYPE x><y:z/>", "y:z"),
        ("</a>", ""),
        ("<!-- <a/>", ""),
        ("no element", ""),
    ],
)
def test_the_first_element_of_a_text(text, name):
    assert first_element(text) == name


def test_encodings(tmp_path):
    file = tmp_path / "a.xml"
    for encoding, declared in [("utf-8", ""), ("utf-8-sig", ""), ("utf-8-sig", "utf-8"), ("latin-1", "ISO-8859-1")]:
        declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
        file.write_bytes((declaration + '<a name="Gelenkgröße"/>').encode(encoding))
        assert parse_xml(read_text(file), file).get("name") == "Gelenkgröße"


def test_unreadable_files(tmp_path):
    file = tmp_path / "a.xml"
    with pytest.raises(FileMissingError, match=r"a\.xml' does not exist"):
        read_text(file)
    with pytest.raises(FileMissingError, match="is a folder"):
        read_text(tmp_path)
    file.write_bytes(b"<a>\n\xff\xfe</a>")
    with pytest.raises(ParseError, match=r"a\.xml:2: bytes that are not utf-8 text"):
        read_text(file)
    file.write_bytes(b"<?xml version='1.0' encoding='klingon'?><a/>")
    with pytest.raises(ParseError, match=r"a\.xml:1: unknown encoding 'klingon'"):
        read_text(file)


def test_elements_with_very_many_attributes_are_refused():
    def text(count):
        return "<a>\n<b " + " ".join(f"k{n}='1'" for n in range(count)) + "/></a>"

    assert len(parse_xml(text(1000), "file")[0].attrib) == 1000
    with pytest.raises(ParseError, match="file:2: more than 1000 attributes"):
        parse_xml(text(300_000), "file")

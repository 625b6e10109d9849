"""The check of the site's links finds those that lead nowhere, and no others."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_site.py"


def load():
    spec = importlib.util.spec_from_file_location("check_site", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_links_are_told(tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a b.png").write_bytes(b"")
    good = '<a href="sub/">x</a><a href="/sub/#part">x</a><img src="a%20b.png"><a href="#here" id="here">x</a>'
    (tmp_path / "index.html").write_text(good + '<a href="https://example.org/none">x</a>')
    (tmp_path / "sub" / "index.html").write_text('<h2 id="part">x</h2><a href="../index.html#here">x</a>')
    check = load()
    assert check.broken_links(tmp_path) == []
    assert check.main(str(tmp_path)) == 0
    (tmp_path / "sub" / "index.html").write_text('<a href="../gone.md">x</a><a href="..#nowhere">x</a>')
    assert check.broken_links(tmp_path) == [
        "index.html: /sub/#part",
        "sub/index.html: ..#nowhere",
        "sub/index.html: ../gone.md",
    ]
    assert check.main(str(tmp_path)) == 1
    assert "gone.md" in capsys.readouterr().err

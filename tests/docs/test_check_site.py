"""The checks of the built site find what they are for, in a site made to have every fault once."""

import importlib
from pathlib import Path

import pytest
from required import needs_packages

ROOT = Path(__file__).parents[2]

GOOD = """<html><head><link rel="stylesheet" href="a.css"><style>p { background: url("b.png") }</style></head><body>
<nav>Nav mispeled</nav><article><h1 id="top">A networkk</h1><p>Its behaviour is <code>not_a_wrod xyzzy</code> shown.</p>
<a href="#top">up</a> <a href="inside/two.html#part">on</a> <a href="https://example.org/paper">a paper</a>
<img src="b.png"></article></body></html>"""
FAULTS = """<html><body><article><p id="part">Its behavior.</p>
<a href="../gone.html">x</a><a href="../one.html#nowhere">x</a><a href="../../outside.html">x</a><img src="gone.png">
<script src="https://cdn.example.org/x.js"></script><img srcset="//example.org/a 2x"><iframe src="http://example.org"></iframe>
<p style="background: url(https://example.org/c.png)"></p><link rel="preconnect" href="https://fonts.example.org">
</article></body></html>"""


@pytest.fixture
def check(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module


@pytest.fixture
def site(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "one.html").write_text(GOOD)
    (tmp_path / "inside" / "two.html").write_text(FAULTS)
    (tmp_path / "a.css").write_text("@import 'https://example.org/d.css'; p { background: url(b.png) }")
    (tmp_path / "b.png").touch()
    return tmp_path


@pytest.fixture
def pages(check, site):
    return [check("check.page").read(path, site) for path in sorted(site.rglob("*.html"))]


def test_dead_links(check, site, pages):
    assert check("check.links").dead(pages, site) == [
        "inside/two.html: ../gone.html leads nowhere",
        "inside/two.html: ../one.html#nowhere has no such anchor",
        "inside/two.html: ../../outside.html leads out of the site",
        "inside/two.html: gone.png leads nowhere",
    ]


def test_what_is_fetched_from_elsewhere(check, site, pages):
    assert check("check.fetched").from_elsewhere(pages, site) == [
        "inside/two.html: loads https://cdn.example.org/x.js",
        "inside/two.html: loads //example.org/a",
        "inside/two.html: loads http://example.org",
        "inside/two.html: loads https://fonts.example.org",
        "inside/two.html: its style loads https://example.org/c.png",
        "a.css: loads https://example.org/d.css",
    ]


def test_prose_is_what_stands_in_the_article_and_is_no_code(check, pages):
    found = check("check.spelling").words(" ".join(pages[1].prose))
    assert found == {"networkk", "its", "behaviour", "shown", "paper"}


def test_american_spelling(check):
    problem_with = check("check.spelling").problem_with
    for word in ("behavior", "initialize", "optimizer", "colored", "neighbors", "analyzed", "center"):
        assert problem_with(word) == "is American", word


def test_unknown_words(check, pages):
    needs_packages("spellchecker")
    spelling = check("check.spelling")
    assert spelling.unknown(pages) == [
        "inside/two.html: 'behavior' is American",
        "one.html: 'networkk' is in no dictionary",
    ]
    for word in (
        "behaviour",
        "initialise",
        "generalisation",
        "neighbour",
        "size",
        "orthonormal",
        "jacobians",
        "minimised",
    ):
        assert spelling.problem_with(word) is None, word


def test_the_command_lists_findings_and_fails(check, site, capsys, monkeypatch):
    main = check("check_site").main
    monkeypatch.setattr(check("check.spelling"), "unknown", lambda pages: [])  # its dictionary may not be there
    assert main([str(site)]) == 1
    assert capsys.readouterr().out.endswith("2 pages, 10 findings\n")
    (site / "inside" / "two.html").write_text('<p id="part"></p>')
    (site / "a.css").unlink()
    (site / "a.css").touch()
    assert main([str(site)]) == 0
    assert main([str(site / "inside" / "nothing")]) == 1

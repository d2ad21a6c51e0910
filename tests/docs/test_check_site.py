"""The checks of the built site find what they are for, in a site made to have every fault once."""

import importlib
from pathlib import Path

import pytest
from required import needs_packages

ROOT = Path(__file__).parents[2]

GOOD = """<html><head><link rel="stylesheet" href="a.css"><style>p { background: url("b.png") }</style></head><body>
<nav>Nav mispeled</nav><article><h1 id="top">A networkk</h1><p>Its behaviour is <code>not_a_wrod xyzzy</code> shown.</p>
<a href="#top">up</a> <a href="inside/two.html#part">on</a> <a href="https://example.org/paper">a paper</a>
<a href="mailto:somebody@example.org">x</a>
<img src="b.png"></article></body></html>"""
FAULTS = """<html><body><article><p id="part">Its behavior.</p>
<a href="../gone.html">x</a><a href="../one.html#nowhere">x</a><a href="../../outside.html">x</a><img src="gone.png">
<a href="http://example.org/old">x</a><a href="//example.org/either">x</a>
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


def test_links_to_elsewhere_are_encrypted(check, pages):
    assert check("check.links").not_encrypted(pages) == [
        "inside/two.html: http://example.org/old is not https",
        "inside/two.html: //example.org/either is not https",
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


def test_prose_of_markdown_that_is_no_page(check, tmp_path):
    (tmp_path / "A.md").write_text(
        "# Titel\nUse `wrod` as [saidd](https://example.org/x)\n\n    not prosee\n\n| a | cel |\n|---|---|\n"
    )
    page = check("check.page").read_markdown(tmp_path / "A.md")
    assert (page.name, page.links) == ("A.md", ["https://example.org/x"])
    assert check("check.spelling").words(" ".join(page.prose)) == {"titel", "use", "saidd", "cel"}


def test_what_stands_beside_the_readme_is_spelled_right(check):
    pytest.importorskip("spellchecker", reason="its dictionary comes with the extra `docs`")
    beside = [check("check.page").read_markdown(path) for path in check("check_site").BESIDE]
    assert {"README.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "THIRD_PARTY.md"} <= {page.name for page in beside}
    assert check("check.spelling").unknown(beside) == []


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
    assert capsys.readouterr().out.endswith("2 pages, 12 findings\n")
    (site / "inside" / "two.html").write_text('<p id="part"></p>')
    (site / "a.css").unlink()
    (site / "a.css").touch()
    assert main([str(site)]) == 0
    assert main([str(site / "inside" / "nothing")]) == 1


def test_seconds_of_the_build_and_of_its_notebooks(check, tmp_path):
    times, site = check("check.times"), tmp_path / "html"
    assert (times.told(site), times.too_long(site)) == ([], [])
    known = {"index": {}, "n/b": {"exec_data": {"runtime": 120.4}}, "n/a": {"exec_data": {"runtime": 30.2}}}
    times.write(site, 200.3, True, known)
    assert times.told(site) == [
        "The site was built in 200 s, from nothing (pages with code that runs: 2, 151 s together)."
    ]
    (line,) = times.too_long(site)
    assert line.startswith("n/b: took 120 s to run, and may take 120 s: ")
    times.write(site, 20, False, {"n/a": known["n/a"]})
    assert times.told(site) == [
        "The site was built in 20 s, with results kept from an earlier build (pages with code that runs: 1, 30 s together)."
    ]
    assert times.too_long(site) == []


@pytest.mark.parametrize(
    "changed",
    ["gnode/a.py", "gnode/explorer/assets/explorer.js", "tests/fixtures/numbers.npz", "the version of a package"],
)
def test_notebooks_are_run_again_when_what_they_depend_on_changes(check, tmp_path, monkeypatch, changed):
    notebooks = check("generate.notebooks")
    files = (
        "gnode/a.py",
        "gnode/explorer/assets/explorer.js",
        "tests/fixtures/numbers.npz",
        "tests/fixtures/others.npz",
    )
    for name in (*files, "docs/notebooks/1.md", "gnode/__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("numbers.npz")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["numpy>=2", "jax[cpu] >=0.1"]\n')
    before = notebooks.digest(tmp_path / "docs", tmp_path)
    for other in ("tests/fixtures/others.npz", "gnode/__pycache__/a.pyc"):  # no notebook reads them
        (tmp_path / other).write_text("changed")
    assert notebooks.digest(tmp_path / "docs", tmp_path) == before
    assert {"python", "numpy", "jax", "jaxlib"} <= notebooks.versions(tmp_path).keys()
    if changed in files:
        (tmp_path / changed).write_text("changed")
    else:
        monkeypatch.setattr(notebooks.importlib.metadata, "version", lambda name: "9.9.9")
    assert notebooks.digest(tmp_path / "docs", tmp_path) != before


def test_the_fixture_of_a_notebook_is_found(check):
    assert [path.name for path in check("generate.notebooks").fixtures_read()] == [
        "common_tool.npz",
        "make_common_tool.py",
    ]

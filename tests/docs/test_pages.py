"""The pages of docs/pages are made from committed files, and the committed pages are what they make."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(module.name for module in pkgutil.iter_modules([str(ROOT / "docs" / "pages")]))


@pytest.fixture(autouse=True)
def docs_on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))


def test_each_page_has_a_module():
    of_results = ["baselines", "kernel", "real_world", "theory", "two_bit", "variable_n6"]
    assert sorted([*of_results, "citation", "folders", "speed", "support"]) == MODULES


@pytest.mark.parametrize("name", MODULES)
def test_the_committed_page_is_what_its_module_makes(name):
    module = importlib.import_module(f"pages.{name}")
    assert module.__doc__
    assert (ROOT / module.PATH).read_text() == module.page()


def test_every_page_of_results_is_made_and_says_so():
    """No page of results is typed: each is one of `docs/pages`, or one of `gnode reproduce collect` (tests/reproduce)."""
    made = {importlib.import_module(f"pages.{name}").PATH for name in MODULES}
    collected = {"docs/results/reproduce.md"}
    pages = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs" / "results").glob("*.md"))]
    assert set(pages) <= made | collected
    for page in pages:
        top = (ROOT / page).read_text().partition("\n|")[0].partition("\n## ")[0]  # up to a table or a section
        maker = "gnode reproduce collect" if page in collected else "make docs"
        assert f"Made by `{maker}`" in top, page


@pytest.mark.parametrize("name", MODULES)
def test_links_of_a_page_lead_to_files(name):
    module = importlib.import_module(f"pages.{name}")
    for target in re.findall(r"\]\(([^)#]+)", module.page()):
        assert ((ROOT / module.PATH).parent / target).exists(), target


def test_check_compares_and_writes_nothing(tmp_path, monkeypatch, capsys):
    """`docs/make.py --check` exits with 1 as long as a page differs; without the option it writes the page."""
    make = importlib.import_module("make")
    assert make.main(["--check"]) == 0
    monkeypatch.setattr(make, "ROOT", tmp_path)
    made = importlib.import_module("pages").pages()
    for path, text in made.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "docs/speed.md").write_text("older")
    assert make.main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/speed.md: differs from what the committed results make\n"
    assert (tmp_path / "docs/speed.md").read_text() == "older"
    assert make.main([]) == 0
    assert (tmp_path / "docs/speed.md").read_text() == made["docs/speed.md"]
    assert make.main(["--check"]) == 0

"""The reference of the site, which is made from the package: every public name and every command, once, as it is."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gnode"
DIRECTIVE = re.compile(r"^`{3,}\{py:(?:function|class|data)\} (\w+)(.*)$(?:\n:canonical: (.*))?", re.MULTILINE)


@pytest.fixture(scope="module")
def pages():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        yield importlib.import_module("generate").made_pages()


@pytest.fixture(scope="module")
def described(pages):
    """Every described name with its signature, and the shorter names under which some are found too."""
    names, short = [], []
    for path, text in pages.items():
        room = re.search(r"^```\{py:module\} (.*)$", text, re.MULTILINE)
        for name, signature, also in DIRECTIVE.findall(text):
            assert room, path
            names.append((f"{room[1]}.{name}", signature))
            short += [also] if also else []
    return names, short


def faces():
    """The public names, as the faces of the rooms list them: room, name, and where it comes from."""
    for face in [PACKAGE / "__init__.pyi", *PACKAGE.glob("*/__init__.pyi")]:
        room = ".".join(face.parent.relative_to(ROOT).parts)
        for node in ast.parse(face.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                yield from ((room, alias.asname, node.module) for alias in node.names if alias.asname)


def test_every_public_name_is_described_once(described):
    expected, expected_short = ["gnode.__version__"], []
    for room, name, origin in faces():
        if room == "gnode" and origin == "gnode":
            continue  # a room
        comes_from_a_room = room == "gnode" and (PACKAGE.parent.joinpath(*origin.split(".")) / "__init__.pyi").exists()
        (expected_short if comes_from_a_room else expected).append(f"{room}.{name}")
    names, short = described
    assert sorted(name for name, _ in names) == sorted(expected)
    assert sorted(short) == sorted(expected_short)
    assert len(expected) > 300


def test_signatures_have_every_argument(described):
    names, _ = described
    compared = 0
    for full, signature in names:
        room, _, name = full.rpartition(".")
        value = getattr(importlib.import_module(room), name)
        if inspect.isfunction(value):
            ast.parse(f"def f{signature.split(' -> ')[0]}: ...".replace("~", ""))
            for argument in inspect.signature(value).parameters:
                assert re.search(rf"[(* ]{argument}\b", signature), f"{full}{signature} lacks {argument}"
                compared += 1
    assert compared > 500


def test_texts_are_those_of_the_docstrings(pages):
    text = pages["reference/analysis.md"]
    assert "Searches for fixed points of dh/dt = f(h, x) at a constant input, from many starts." in text
    assert re.search(r"```pycon\n>>> fixed_points\(lambda h, x: h - h\*\*3", text)
    assert re.search(r"^`{3,}\{py:method\} FixedPoints\.summary\(\)", text, re.MULTILINE)
    assert "{py:obj}`FixedPoints <gnode.analysis.FixedPoints>`" in text
    assert "[](../analysis.md)" in text  # a page that a docstring names
    (line,) = re.findall(
        r'source/gnode/analysis/_pca.py.html#line-(\d+)">source</a>\n`{3,}\n\n`{3,}\{py:function\} pca_', text
    )
    assert (PACKAGE / "analysis" / "_pca.py").read_text().splitlines()[int(line) - 1].startswith("def pca(")


def test_fences_are_closed(pages):
    """A docstring's own code may not end the directive around it."""
    for path, text in pages.items():
        open_fences = []
        for line in text.splitlines():
            fence = re.match(r"(`{3,})(.*)", line)
            if fence and open_fences and not fence[2] and fence[1] == open_fences[-1]:
                open_fences.pop()
            elif fence and (not open_fences or fence[2]):
                assert not open_fences or len(fence[1]) < len(open_fences[-1]), f"{path}: {line}"
                open_fences.append(fence[1])
        assert not open_fences, path


def cells(line):
    """The cells of a row as Markdown splits it: at every bar that has no backslash before it."""
    first, *inside, last = re.split(r"(?<!\\)\|", line)
    assert (first, last) == ("", ""), line
    return inside


def test_every_row_of_a_table_has_as_many_cells_as_its_head(pages):
    """Markdown leaves out what stands in a cell too many."""
    tables, rows = 0, 0
    for path, text in pages.items():
        head = None
        for line in map(str.strip, text.splitlines()):
            if not line.startswith("|"):
                head = None
                continue
            head, tables = head or line, tables + (head is None)
            assert len(cells(line)) == len(cells(head)), f"{path}: {line}"
            rows += 1
    assert tables > 100
    assert rows > 1000


def test_bars_in_the_cells_of_a_docstring_are_text(pages, monkeypatch):
    text = pages["reference/analysis.md"]
    assert re.search(r"^\| `residual` +\| \\\|F\(h\) - h\\\|, where", text, re.MULTILINE)
    assert re.search(r"^\| `leaving` +\| the share of \\\|dh/dt\\\|\^2 that", text, re.MULTILINE)
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    page_text = importlib.import_module("generate.markdown").page_text
    table = "| a | b |\n|---|:-:|\n| |x| | y\\|z |"
    assert page_text(table, "gnode") == "| a | b |\n|---|:-:|\n| \\|x\\| | y\\|z |"
    assert page_text("The size |h| of\n|x| is", "gnode") == "The size |h| of\n|x| is"


def test_rooms_have_their_job_and_the_index_lists_them(pages):
    index = pages["reference/index.md"]
    design = (ROOT / "docs" / "design.md").read_text()
    for face in PACKAGE.glob("*/__init__.pyi"):
        room = face.parent.name
        (job,) = re.findall(rf"^\| `{room}` \| (.*?\.) \|$", design, re.MULTILINE)
        assert job in index
        assert job in pages[f"reference/{room}.md"]


def test_every_command_and_every_option_of_training(pages):
    from gnode.cli._app import COMMANDS
    from gnode.train.spec import OPTIONS

    text = pages["reference/commands.md"]
    for command in COMMANDS:
        assert text.count(f"\n## gnode {command}\n") == 1
    assert "\n### gnode sweep resume\n" in text
    (training,) = re.findall(r"\n## gnode train\n(.*?)\n## ", text, re.DOTALL)
    for name in OPTIONS:
        assert f"`--{name.replace('_', '-')} " in training, name


def test_the_overview_names_commands_and_options_that_there_are(pages):
    text = pages["reference/commands.md"]
    (overview,) = re.findall(r"A first overview:\n\n```\n(.*?)```", text, re.DOTALL)
    lines = [line.split(" #")[0].split() for line in overview.splitlines()]
    assert len(lines) > 10
    for words in lines:
        name = " ".join(words[:3] if f"\n### {' '.join(words[:3])}\n" in text else words[:2])
        (section,) = re.findall(rf"\n##+ {name}\n(.*?)(?=\n##|\Z)", text, re.DOTALL)
        for option in (word for word in words if word.startswith("--")):
            assert f"`{option}" in section, f"{name} {option}"


def test_a_page_that_stands_for_a_folder_has_its_pages_in_the_order_of_its_links(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    tree = importlib.import_module("generate.tree")
    (tmp_path / "howto").mkdir()
    for name in ("index", "a", "b", "c"):
        (tmp_path / "howto" / f"{name}.md").write_text("")
    made = tree.with_tree("howto/index", "See [b](b.md#part) and [a](a.md), not [x](x.md).", tmp_path)
    assert re.findall(r"^/.*$", made, re.MULTILINE) == ["/howto/b", "/howto/a", "/howto/c"]
    assert tree.with_tree("howto/a", "[b](b.md)", tmp_path) == "[b](b.md)"
    assert tree.with_tree("index", "[b](b.md)", tmp_path) == "[b](b.md)"


def test_links_out_of_the_pages_become_pages_and_downloads(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    links = importlib.import_module("generate.sources").with_links
    assert links("theory", "[`f`:7](../gnode/demo.py)") == (
        '<a class="source" href="source/gnode/demo.py.html#line-7">`f`:7</a>'
    )
    assert 'href="../source/gnode/demo.py.html"' in links("results/theory", "[the demo](../../gnode/demo.py)")
    assert links("a", "[licence](../LICENSE)") == "{download}`licence </../LICENSE>`"
    assert links("a", "[changes](../CHANGELOG.md#010)") == "[changes](/changelog.md#010)"
    assert links("a", "in [this folder](../gnode/theory)") == "in this folder"
    for left in (
        "[page](theory.md)",
        "[away](https://x.org)",
        "![picture](../a.png)",
        "[gone](../gone.py)",
        "[x](#part)",
    ):
        assert links("a", left) == left

"""Every page of the documents: its Python runs, and its command lines are ones that `gnode` takes.

The blocks of a page run in order in one namespace, as they stand there, in a folder in which lies what the pages speak of
(`assumed`). So that this takes seconds, `Settings` trains no run for more than `EPOCHS` epochs, and a sweep has at most
`SEEDS` seeds and as many learning rates and decays; the text of the pages is not touched. Where each block runs:

- `make test`: every block without a mark, also on a machine that has no further package (see `in_pages` for the marks).
- `make test-extras`: every page that has a block with the mark "needs", whole; a package that is missing there is a failure.
- `make test-slow`: the pages of `SLOW`.
- `make docs`: the cells of notebooks and of docs/concepts, by the site itself (`test_concepts.py` runs the latter, too).

Command lines, those of the notebooks' pages as well, go through the parser of the command, which then does not run, but for
those that a block has to come "after".
"""

import ast
import contextlib
import re
import shutil
import sys
import webbrowser
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import typer
from in_pages import ROOT, Block, blocks, calls, commands, indented_lines, inline_code, pages
from required import absent, needs_packages

import gnode
from gnode.cells import CELLS
from gnode.cells.registry import OPTIONS as CELL_OPTIONS
from gnode.cli import _app
from gnode.cli._old_spellings import translated
from gnode.models import entry_with
from gnode.own_code import is_own
from gnode.sweeps.grid import Grid, read_axes
from gnode.tasks import TASKS
from gnode.train import RunSpec, Settings
from gnode.train.spec import OPTIONS, read_one

EPOCHS, SEEDS = 2, 2
SLOW = {
    "docs/expressivity.md": "trains many networks, and a search trains each one over and over with more noise",
    "docs/reproduce.md": "makes a figure of the paper: a grid of networks, their fixed points, and a report",
}
"""Pages whose Python takes about half a minute even so, and why."""
TEXTS = {page: (ROOT / page).read_text() for page in pages()}
PYTHON = {page: [block for block in blocks(page, text) if block.language == "python"] for page, text in TEXTS.items()}
ANYWHERE = [
    pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page
    for page, found in PYTHON.items()
    if any(block.mark in (None, "after") for block in found)
]
WITH_PACKAGES = [page for page, found in PYTHON.items() if any(block.mark == "needs" for block in found)]


@pytest.fixture(scope="session")
def assumed(tmp_path_factory):
    """The folder that the pages speak of: a run and a sweep, trained for a moment."""
    folder = tmp_path_factory.mktemp("pages")
    few = {"trials": 12, "validation": 6, "bins": 20, "epochs": 1}
    spec = RunSpec.of("flipflop-square", {"widths": (8,), "batch_size": 6, **few})
    gnode.train.train_spec(spec, folder / "runs" / "flipflop-square-gnode-2")
    gnode.sweep("flipflop-square", folder / "runs" / "grid", model=["gru", "gnode"], seed=[0, 1], widths=[(8,)], **few)
    return folder


@pytest.fixture
def beside(assumed, tmp_path, monkeypatch):
    """A copy of that folder, in which the test is; what runs there is small and quiet."""
    folder = tmp_path / "here"
    shutil.copytree(assumed, folder)
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(webbrowser, "open", lambda address: True)
    make_small(monkeypatch)
    modules = set(sys.modules)
    yield folder
    for name in set(sys.modules) - modules:
        if Path(getattr(sys.modules[name], "__file__", None) or ROOT).is_relative_to(folder):
            del sys.modules[name]  # the next page has its own file of this name
    plt.close("all")


def make_small(monkeypatch):
    """Caps the epochs of whatever is trained, and the seeds and learning rates of whatever is swept."""
    as_it_is, over = Settings.__post_init__, Grid.over.__func__

    def few_epochs(self):
        if self.spans is None:
            object.__setattr__(self, "epochs", min(self.epochs, EPOCHS))
        as_it_is(self)

    def few_members(cls, task, *arguments, **axes):
        for name in ("seed", "lr", "weight_decay"):
            if isinstance(axes.get(name), list | tuple):
                axes[name] = axes[name][:SEEDS]
        return over(cls, task, *arguments, **axes)

    monkeypatch.setattr(Settings, "__post_init__", few_epochs)
    monkeypatch.setattr(Grid, "over", classmethod(few_members))


def command_for(block: Block) -> tuple[str, ...]:
    """The command line above a block that writes the folder of its mark "after"."""
    above = [one for one in commands(block.page, TEXTS[block.page]) if one.line < block.line and not one.in_sentence]
    (found,) = [one.words for one in above if ("--out", block.reason) in zip(one.words, one.words[1:])]
    return found


@pytest.fixture
def run_blocks(beside, gnode_command):
    """Runs blocks as their page shows them, and returns the names that are then known."""

    def run(found: list[Block]) -> dict:
        names = {"__name__": "page"}
        for block in found:
            if block.mark == "after":
                gnode_command("", *command_for(block)).ok()
            if block.file is not None:  # it is this file from then on
                Path(block.file).write_text(block.text)
            ahead = "\n" * (block.line - 1)  # an error then names the line of the page
            exec(compile(ahead + block.text, str(ROOT / block.page), "exec"), names)
        return names

    return run


@pytest.mark.parametrize("page", ANYWHERE)
def test_the_python_of_a_page_runs(page, run_blocks):
    """Blocks that need further packages are left out even where these are: what follows them must not lean on them."""
    run_blocks([block for block in PYTHON[page] if block.mark in (None, "after")])


def four_memories(names):
    """What docs/start.md says of its GRU: four stable points, one for each pair of signs, and saddles between them."""
    points = names["points"]
    assert set(points.kind) == {"stable", "saddle"}
    memories = np.asarray(points.outputs)[points.kind == "stable"]
    assert sorted(map(tuple, np.sign(memories))) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    np.testing.assert_allclose(abs(memories), 1, atol=0.2)


SAYS = {"docs/start.md": four_memories}
"""Checks of what a page says that it finds, by the names that are known at its end."""


@pytest.mark.parametrize("page", WITH_PACKAGES)
def test_the_python_of_a_page_that_needs_packages_runs(page, run_blocks):
    needs_packages(*(name for block in PYTHON[page] for name in block.packages))
    names = run_blocks([block for block in PYTHON[page] if block.mark != "not run"])
    if page in SAYS:
        SAYS[page](names)


def test_what_is_not_run_says_why_and_is_the_exception():
    found = [block for page in PYTHON.values() for block in page]
    left = [block for block in found if block.mark == "not run" or absent(block.packages)]
    print(*(f"{block}: {block.reason}" for block in left), f"{len(left)} of {len(found)} blocks are not run", sep="\n")
    for block in found:
        ast.parse(block.text, str(block))  # those that do not run are Python too
        if block.mark == "not run":
            assert len(block.reason.split()) > 2, f"{block} is not run, and does not say why"
        elif block.mark == "after":
            assert command_for(block)
        for name in block.packages:
            assert re.fullmatch(r"[a-z_]\w*", name), f"{block} needs a package by its name of import"
    assert sum(block.mark == "not run" for block in found) < len(found) / 20
    assert len(left) < len(found) / 4, "too many need packages that are not here"


def test_python_is_fenced():
    """Code of Python that is only indented would run in no test."""
    for page, text in TEXTS.items():
        for number, line in indented_lines(page, text):
            with contextlib.suppress(SyntaxError):
                parts = {type(part) for part in ast.walk(ast.parse(line))}
                assert not parts & {ast.Call, ast.Import, ast.ImportFrom}, f"{page}:{number} is Python without a fence"


def test_blocks_are_found_with_their_marks_and_lines():
    text = "A\n\n<!-- not run: no GPU here -->\n```python\n1 / 0\n```\n\n```{python}\nx = 1\n```\n"
    text += "- a\n  ```bash\n  gnode list\n  ```\n"
    found = list(blocks("a.md", text))
    assert [(block.line, block.language, block.text) for block in found] == [
        (5, "python", "1 / 0\n"),
        (9, "python", "x = 1\n"),
        (13, "bash", "gnode list\n"),
    ]
    assert [(block.mark, block.reason) for block in found] == [("not run", "no GPU here"), (None, ""), (None, "")]


def parsed(words) -> tuple[typer.models.AnyType, dict]:
    """Parses a command line with the parser of `gnode` alone; returns the words of the command, and its arguments.

    **Raises:** as the parser does, for a command, an option or an argument that does not exist.
    """
    words = translated(words)
    app = typer.main.get_command(_app.make_app(words[0] if words else ""))
    seen = {}

    def watched(command, path):
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                watched(inner, (*path, name))
        else:
            command.callback = lambda **arguments: seen.update({path: arguments})

    watched(app, ())
    app(list(words), standalone_mode=False, prog_name="gnode")
    return next(iter(seen.items()), ((), {}))


def is_name(words) -> bool:
    """Whether words are the name of a command, as sentences speak of it, rather than a call of it."""
    if not words or words[0] not in _app.COMMANDS:
        return not words
    command = typer.main.get_command(_app.make_app(words[0]))
    for word in words:
        command = getattr(command, "commands", {}).get(word)
    return command is not None


def takes_value(words) -> set[str]:
    """The options of a command, and of the commands inside it, that are followed by a value."""
    commands = [typer.main.get_command(_app.make_app(words[0]))]
    for word in translated(words):
        commands += [command.commands[word] for command in commands[-1:] if word in getattr(command, "commands", {})]
    return {
        flag
        for one in commands
        for option in one.params
        if not getattr(option, "is_flag", True)
        for flag in option.opts
    }


def check_values(command, arguments) -> None:
    """Reads the settings of a command that trains as that command does, and has them checked by what they are for."""
    given = {name: text for name, text in arguments.items() if name in OPTIONS and isinstance(text, str)}
    if command == ("train",):
        values = {name: read_one(name, text) for name, text in given.items()}
        if arguments["task"] in TASKS and is_known(values.get("model")):
            entry_with(values.get("model", "gnode"), [name for name in values if name in CELL_OPTIONS])
            RunSpec.of(arguments["task"], values).fit_settings()
    elif command == ("sweep", "run"):
        axes = read_axes(given)
        if arguments["task"] in TASKS and all(map(is_known, axes.get("model", ()))):
            Grid.over(arguments["task"], **axes)
    elif command == ("explore",) and arguments["source"] in CELLS:
        for name, text in given.items():
            OPTIONS[name].accept(name, read_one(name, text))


def is_known(model) -> bool:
    """Whether a model can be looked up: not a placeholder, and not a file that is not there."""
    return model is None or (model in CELLS and not is_own(model))


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if any(commands(page, text))])
def test_the_commands_of_a_page_are_ones_that_gnode_takes(page, capsys):
    for command in commands(page, TEXTS[page]):
        if command.in_sentence and is_name(command.words):
            continue
        words = command.words
        if command.in_sentence and words[-1] in takes_value(words):
            words = (*words, "1")  # `gnode train --resume`: the sentence says of what
        try:
            check_values(*parsed(words))
        except Exception as problem:
            if not (command.in_sentence and type(problem).__name__ == "MissingParameter"):  # its options are known
                pytest.fail(f"{command}\n{problem}")


OTHERS = {"--array", "--wrap", "--upgrade", "--gres", "--time-min", "--extra-index-url", "--check", "--lowest"}
"""Options of other programs that pages speak of."""


def all_options() -> set[str]:
    """Every option of every command."""
    found = {"--" + name.replace("_", "-") for name in OPTIONS}

    def collect(command):
        for parameter in command.params:
            found.update((*parameter.opts, *parameter.secondary_opts))
        for inner in getattr(command, "commands", {}).values():
            collect(inner)

    for name in _app.COMMANDS:
        collect(typer.main.get_command(_app.make_app(name)))
    return found


def test_options_in_sentences_exist():
    known = all_options() | OTHERS | {"--help", "--version"}
    for page, text in TEXTS.items():
        for line, code in inline_code(page, text):
            for option in re.findall(r"(?:^|\s)(--[a-z][\w-]*)", code):
                assert option in known, f"{page}:{line}: {code} (options of other programs are in OTHERS)"


def test_commands_are_found_where_they_hide():
    text = (
        "Call `gnode list`.\n\n    $ pip install x && VAR=1 gnode demo \\\n        --epochs 3 > log.txt  # a minute\n"
    )
    text += "    sbatch --wrap 'gnode info'\n"
    assert [(one.line, one.words) for one in commands("a.md", text)] == [
        (3, ("demo", "--epochs", "3")),
        (5, ("info",)),
        (1, ("list",)),
    ]
    assert not list(calls("pip install gnode"))


@pytest.mark.parametrize(
    "words", [["trian"], ["train", "ou", "--epoch", "3"], ["train", "ou", "--lr"], ["analyse"], ["sweep", "rerun", "x"]]
)
def test_the_parser_refuses_what_does_not_exist(words):
    with pytest.raises((typer.BadParameter.__bases__[0], gnode.GnodeError)):
        check_values(*parsed(words))


@pytest.mark.parametrize("option", ["--lr=fast", "--model=gru --widths=3", "--optimiser=adams", "--state=0"])
def test_values_are_checked_too(option):
    with pytest.raises(gnode.GnodeError):
        check_values(*parsed(["train", "flipflop-square", *option.split()]))

"""CONTRIBUTING.md lists the slow tests, and one of their files has its turn in continuous integration."""

import ast
import re
from pathlib import Path

from slow_turn import files_in_turn, slow_files, turn

ROOT = Path(__file__).parent.parent


def marked_slow(path):
    """The names of the tests of a file that are marked slow, all or some of their cases."""
    text = path.read_text()
    tree = ast.parse(text)
    lists = {  # names of lists that mark some cases
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and "mark.slow" in ast.unparse(node)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "mark.slow" in decorators or any(re.search(rf"\b{name}\b", decorators) for name in lists):
                yield node.name


def test_every_slow_test_is_listed():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    for path in slow_files():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{path.relative_to(ROOT)}` |")]
        for name in marked_slow(path):
            assert f"`{name}`" in row, f"{name} of {path.name} is slow and not listed"


def test_the_commands_of_make_exist_and_continuous_integration_runs_its_share():
    targets = set(re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    listed = re.findall(r"^    make ([\w-]+) ", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    run = re.findall(r"^make ([\w-]+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert targets >= {*listed, *run}
    assert {"test", "test-extras", "test-browser", "lint-github"} <= set(run) & set(listed)


def test_the_turn_goes_round():
    files = files_in_turn()
    assert len(files) > 10
    assert files[turn() % len(files)].exists()
    assert "make test-slow-turn" in (ROOT / ".ci" / "run").read_text()

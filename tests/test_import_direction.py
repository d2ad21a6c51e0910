"""The house: rooms import in one direction, private files stay in their room, names are unique (docs/design.md).

These tests read the source, so a lazy import counts too.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gnode"
DESIGN = PACKAGE.parent / "docs" / "design.md"

GROUND = {
    "_kinds",
    "_lazy",
    "_activation_functions",
    "activations",
    "arguments",
    "compilation_cache",
    "compiled_programs",
    "devices",
    "errors",
    "files",
    "interrupts",
    "locks",
    "options",
    "os_errors",
    "own_code",
    "precision",
    "progress_bar",
    "provenance",
    "schema",
    "trained",
    "training_code",
    "types",
    "user_folders",
    "wording",
}
"""Open to all."""

_NETWORKS = {"theory", "init", "cells", "solve", "network", "models"}
_TRAINED = _NETWORKS | {"tasks", "train", "sweeps", "expressivity"}

MAY_IMPORT = {
    **{room: set() for room in GROUND},
    "theory": set(),
    "tasks": set(),
    "init": {"theory"},
    "cells": {"init"},
    "solve": {"cells"},
    "network": {"init", "cells", "solve"},
    "models": {"init", "cells", "solve", "network"},
    "analysis": {"theory", "init", "cells", "solve", "network"},
    "train": {"init", "cells", "solve", "network", "models", "tasks"},
    "sweeps": {"init", "cells", "solve", "network", "models", "tasks", "train"},
    "expressivity": {"init", "cells", "solve", "network", "models", "tasks", "train", "sweeps"},
    "bench": {"cells", "solve", "network", "models"},
    "plots": {"cells", "network", "theory", "analysis", "train", "expressivity"},
    "programs": {"cells"},
    "explorer": {"cells", "solve", "network", "tasks", "train", "sweeps", "analysis", "programs"},
    "export": {"cells", "solve", "network", "tasks", "train", "programs"},
    "sklearn": {"models", "tasks", "train"},
    "report": {"network", "tasks", "train", "sweeps", "analysis", "plots", "explorer"},
    "baselines": {"cells", "network", "tasks", "train", "plots"},
    "demo": {"train", "analysis", "plots"},
    "doctor": {"tasks", "train", "sweeps", "reproduce"},
    "reproduce": _TRAINED | {"analysis", "plots"},
    "cli": _TRAINED
    | {"analysis", "plots", "explorer", "export", "report", "baselines", "demo", "bench", "reproduce", "doctor"},
    "__main__": {"cli"},
}

ROOMS = sorted({path.parent.name for path in PACKAGE.glob("*/__init__.pyi")})
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Every gnode module, or name in one, that a file imports, as a dotted path."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gnode":
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("gnode.")}
    return frozenset(found - {"gnode.__version__"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_direction_and_privacy(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in docs/design.md and here what it may import"
    allowed = MAY_IMPORT[room] | GROUND | {room}
    modules = imported_modules(path)
    others = {module.split(".")[1] for module in modules} - allowed
    assert not others, f"{path.name} imports {others}"
    private = {
        module
        for module in modules
        if module.split(".")[1] != room and any(part.startswith("_") for part in module.split(".")[2:])
    }
    assert not private, f"{path.name} imports {private}: a name or file with an underscore is private to its room"


def test_the_design_page_has_the_same_table():
    rows = re.findall(r"^\| ([\w, `]+) \| (.+) \|$", DESIGN.read_text().split("may import")[1].split("\n\n")[0], re.M)
    told = {name.strip(" `"): text for names, text in rows for name in names.split(",")}
    rooms = set(MAY_IMPORT) - GROUND - {"__main__"}
    assert rooms <= told.keys(), f"docs/design.md does not list {rooms - told.keys()}"
    for room in rooms:
        names = {name.strip(" `") for name in told[room].split(",")} - {"nothing"}
        if names & {"everything above", "all above"}:
            continue
        assert names == MAY_IMPORT[room], f"docs/design.md says that {room} may import {names}"
    for name in GROUND:
        assert f"`{name}`" in DESIGN.read_text(), f"docs/design.md does not name {name}"


def test_only_plots_draw():
    for path in FILES:
        # A report embeds figures and a command saves them, so those two know the type of a figure.
        if room_of(path) not in ("plots", "report", "cli"):
            assert not re.search(r"^\s*(import|from) matplotlib", path.read_text(), re.M), path


def test_one_fit_imports_no_sweep():
    """A single `fit` needs nothing of the sweeps, and nothing of figures."""
    for path in FILES:
        if room_of(path) == "train":
            assert not any(module.startswith(("gnode.sweeps", "gnode.plots")) for module in imported_modules(path))


@pytest.mark.parametrize("room", ["gnode", *(f"gnode.{room}" for room in ROOMS)])
def test_public_names_are_there_and_shadow_no_module(room):
    module = importlib.import_module(room)
    folder = Path(module.__file__).parent
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        is_module_here = (folder / f"{name}.py").exists() or (folder / name).is_dir()
        assert inspect.ismodule(value) == is_module_here, f"{room}.{name} shadows a module of that name"


def test_no_two_public_classes_have_one_name():
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"gnode.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                assert found.setdefault(name, value) is value, f"there are two public classes called {name}"
    assert len(found) > 40


def test_files_and_functions_are_of_a_size_to_read():
    """No file over 350 lines, no function over 60 or with more than 7 positional parameters."""
    for path in FILES:
        text = path.read_text()
        assert text.count("\n") <= 350, f"{path} is too long"
        if "/cli/" in str(path) or "_kernels" in path.name:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno
                assert length <= 60, f"{path}: {node.name} has {length} lines"
                positional = [a.arg for a in node.args.posonlyargs + node.args.args if a.arg not in ("self", "cls")]
                assert len(positional) <= 7, f"{path}: {node.name} takes {len(positional)} positional parameters"

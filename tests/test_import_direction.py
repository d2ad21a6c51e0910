"""Rooms import in one direction (docs/design.md). This test reads the source, so a lazy import counts too."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gnode"

OPEN_TO_ALL = {"errors", "types", "activations", "precision", "stopping"}

MAY_IMPORT = {
    **{room: set() for room in OPEN_TO_ALL},
    "theory": set(),
    "tasks": set(),
    "init": {"theory"},
    "cells": {"init"},
    "solve": {"cells"},
    "network": {"init", "cells", "solve"},
    "models": {"init", "cells", "solve", "network"},
    "analysis": {"theory", "init", "cells", "solve", "network"},
    "train": {"init", "cells", "solve", "network", "models", "tasks"},
    "expressivity": {"init", "cells", "solve", "network", "models", "tasks", "train"},
    "plots": {"network", "theory", "analysis", "train", "expressivity"},
    "report": {"analysis", "plots"},
    "bench": {"cells", "solve", "network", "models"},
    "experiments": {
        "theory",
        "init",
        "cells",
        "solve",
        "network",
        "models",
        "analysis",
        "train",
        "tasks",
        "expressivity",
        "plots",
        "report",
    },
    "cli": {
        "theory",
        "init",
        "cells",
        "solve",
        "network",
        "models",
        "analysis",
        "train",
        "tasks",
        "expressivity",
        "plots",
        "report",
        "experiments",
        "bench",
    },
    "__main__": {"cli"},
}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gnode":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("gnode.")}
    return found - {"__version__"}


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_direction(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in docs/design.md and here what it may import"
    allowed = MAY_IMPORT[room] | OPEN_TO_ALL | {room}
    assert imported_rooms(path) <= allowed, f"{path.name} imports {imported_rooms(path) - allowed}"


def test_only_plots_draw():
    for path in FILES:
        # A report embeds figures and a command saves them, so those two know the type of a figure.
        if "matplotlib" in path.read_text() and room_of(path) not in ("plots", "report", "cli"):
            assert "import matplotlib" not in path.read_text(), path
            assert "from matplotlib" not in path.read_text(), path

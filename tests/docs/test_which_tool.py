"""docs/which-tool.md names every public function and class of the rooms, every command, and nothing that does not exist."""

import importlib
import re

import pytest
from in_pages import ROOT

import gnode
from gnode.cli import _app

TEXT = (ROOT / "docs" / "which-tool.md").read_text()
ROOMS = (
    "analysis",
    "train",
    "sweeps",
    "tasks",
    "theory",
    "expressivity",
    "explorer",
    "report",
    "reproduce",
    "doctor",
    "export",
)


@pytest.mark.parametrize("room", [room for room in ROOMS if (ROOT / "gnode" / room).is_dir()])
def test_which_tool_names_every_public_function_and_class(room):
    """By its whole name, as `gnode.analysis.fixed_points`, or as a name of `gnode` where it is one."""
    names = [name for name in importlib.import_module(f"gnode.{room}").__all__ if not name.isupper()]
    at_top = set(gnode.__all__)
    missing = [
        name
        for name in names
        if f"`gnode.{room}.{name}`" not in TEXT and not (name in at_top and f"`gnode.{name}`" in TEXT)
    ]
    assert names
    assert not missing


def test_which_tool_names_every_command():
    assert not [name for name in _app.COMMANDS if f"`gnode {name}" not in TEXT]


def test_what_which_tool_names_exists():
    for name in set(re.findall(r"`(gnode(?:\.\w+)+)`", TEXT)):
        found = gnode
        for part in name.split(".")[1:]:
            found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")

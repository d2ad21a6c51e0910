"""Every example in a docstring is run, and every public name has a docstring."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import gnode

MODULES = [m.name for m in pkgutil.walk_packages(gnode.__path__, "gnode.") if not m.name.endswith("__main__")]
ROOMS = [
    "gnode",
    *(f"gnode.{room}" for room in ["cells", "solve", "init", "tasks", "train", "theory", "analysis", "plots"]),
    "gnode.expressivity",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_documented(room):
    module = importlib.import_module(room)
    for name, value in vars(module).items():
        ours = getattr(value, "__module__", "").startswith("gnode")
        if name.startswith("_") or not ours or not (inspect.isfunction(value) or inspect.isclass(value)):
            continue
        assert inspect.getdoc(value), f"{room}.{name} has no docstring"

"""Every example in a docstring is run; every public name is documented, with an example or a reason not to have one."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
from itertools import pairwise
from pathlib import Path

import pytest

import gnode
from gnode._lazy import _origins

PACKAGE = Path(gnode.__file__).parent
MODULES = [m.name for m in pkgutil.walk_packages(gnode.__path__, "gnode.") if not m.name.endswith("__main__")]


def source_of(name):
    return Path(importlib.util.find_spec(name).origin).read_text()


FACES = sorted([PACKAGE / "__init__.pyi", *PACKAGE.glob("*/__init__.pyi")])


@pytest.mark.parametrize(
    "name", [name for name in MODULES if ">>>" in Path(importlib.util.find_spec(name).origin).read_text()]
)
def test_examples(name):
    module = importlib.import_module(name)
    ran = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert ran.failed == 0
    assert ran.attempted > 0


def constants_with_a_text(module):
    """The names of a module that are assigned, with a string right below that says what they are."""
    body = ast.parse(Path(module.__file__).read_text()).body
    found = set()
    for node, after in pairwise(body):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.parent.name)
def test_public_names_are_documented(face):
    missing = []
    for name, (origin, original) in _origins(face).items():
        if (PACKAGE / original / "__init__.py").exists() and origin == "gnode":
            continue  # a room
        module = importlib.import_module(origin)
        value = getattr(module, original)
        if not (inspect.isfunction(value) or inspect.isclass(value)):
            if hasattr(module, "__path__"):  # re-exported from a room, where it is checked
                continue
            if original not in constants_with_a_text(module):
                missing.append(f"{name}: a constant without a text below it")
            continue
        doc = inspect.getdoc(value) or ""
        if not doc or doc.startswith(f"{name}("):
            missing.append(f"{name}: no docstring")
        elif ">>>" not in doc and "No example:" not in doc:
            missing.append(f"{name}: no example and no reason")
    assert not missing, f"{face.parent.name}: " + "; ".join(missing)

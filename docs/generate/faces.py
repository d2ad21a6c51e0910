"""The public names of gnode: the names in every room's `__init__.pyi`, with what they stand for."""

import ast
import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from generate import ROOT
from gnode._lazy import _origins as origins_of

PACKAGE = ROOT / "gnode"


@dataclass(frozen=True)
class Name:
    """A public name: where it is documented, what it is, and its text."""

    room: str
    """The module whose page documents it: `gnode`, or `gnode.ROOM`."""
    name: str
    value: Any
    origin: str
    """The module that defines it."""
    kind: str
    """"function", "class" or "data"."""
    text: str
    also: str | None
    """Its shorter spelling: `gnode.fit` for `gnode.train.fit`."""

    @property
    def full(self) -> str:
        """The name by which it is documented."""
        return f"{self.room}.{self.name}"

    @property
    def line(self) -> str:
        """The first sentence of its text, in one line."""
        first = re.split(r"\n\s*\n", self.text.strip())[0]
        return re.split(r"(?<=[.:])\s+(?=[A-Z*`|])", " ".join(first.split()))[0].rstrip(":")


@functools.cache
def rooms() -> list[str]:
    """Returns the modules that have a face, `gnode` first."""
    return ["gnode", *sorted(f"gnode.{face.parent.name}" for face in PACKAGE.glob("*/__init__.pyi"))]


@functools.cache
def names() -> list[Name]:
    """Returns every public name once, at home in the room that it belongs to."""
    faces = {room: origins_of(_face(room)) for room in rooms()}
    short = {target: f"gnode.{name}" for name, target in faces["gnode"].items()}
    found = []
    for room, face in faces.items():
        for name, (origin, original) in face.items():
            if room == "gnode" and _is_elsewhere(origin, original):
                continue
            also = None if room == "gnode" else short.get((room, name))
            found.append(_described(room, name, origin, original, also))
    return [*found, _version()]


@functools.cache
def shown_by_root() -> dict[str, str]:
    """Returns the names of `gnode` itself that are documented on a room's page, each with its name there."""
    return {name.also.removeprefix("gnode."): name.full for name in names() if name.also}


@functools.cache
def full_names() -> dict[str, Name]:
    """Returns every public name by every spelling of it."""
    return {spelling: name for name in names() for spelling in (name.full, name.also) if spelling}


@functools.cache
def by_object() -> dict[int, Name]:
    """Returns public functions and classes by their identity."""
    return {id(name.value): name for name in names() if name.kind != "data"}


def jobs() -> dict[str, str]:
    """Returns what each room is for, as the table of docs/design.md says."""
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("### The import table")[0]
    return {f"gnode.{room}": job for room, job in re.findall(r"^\| `(\w+)` \| (.*?) \|$", text, re.MULTILINE)}


def file_of(name: Name) -> str:
    """Returns the file that defines a public name."""
    return str(importlib.import_module(name.origin).__file__)


def line_of(name: Name) -> int | None:
    """Returns the line of its file where it is defined."""
    return _lines(file_of(name)).get(name.name)


@functools.cache
def _lines(file: str) -> dict[str, int]:
    found = {}
    for node in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        for target in getattr(node, "targets", [getattr(node, "target", node)]):
            name = getattr(target, "id", None) or getattr(target, "name", None)
            if name:
                found[name] = node.lineno
    return found


def texts_of_constants(module: Any) -> dict[str, str]:
    """Returns the strings that stand below the assignments of a module, by the assigned name."""
    body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    found = {}
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            text = inspect.cleandoc(after.value.value)
            found |= {target.id: text for target in targets if isinstance(target, ast.Name)}
    return found


def _face(room: str) -> Path:
    return PACKAGE.joinpath(*room.split(".")[1:], "__init__.pyi")


def _is_elsewhere(origin: str, original: str) -> bool:
    """Whether a name of `gnode` itself is a room, or a room's name, which its own page documents."""
    return origin in rooms()


def _described(room: str, name: str, origin: str, original: str, also: str | None) -> Name:
    module = importlib.import_module(origin)
    value = getattr(module, original)
    if inspect.isclass(value) or inspect.isfunction(value):
        kind = "class" if inspect.isclass(value) else "function"
        return Name(room, name, value, origin, kind, inspect.getdoc(value) or "", also)
    return Name(room, name, value, origin, "data", texts_of_constants(module).get(original, ""), also)


def _version() -> Name:
    from gnode import __version__

    return Name("gnode", "__version__", __version__, "gnode", "data", "The version of gnode, as text.", None)

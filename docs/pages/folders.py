"""docs/folders.md: the files that gnode stores, from the schemas by which it checks them."""

import types
import typing
from typing import Any

from gnode.reproduce import archive
from gnode.schema import Entry, StoredFile
from gnode.sweeps import stored as sweep_folder
from gnode.tasks import cache
from gnode.train import run_folder
from pages import table

PATH = "docs/folders.md"

INTRODUCTION = """# Folders and files

Made by `make docs` from the schemas in the source, by which every JSON file is checked when it is read: a missing entry, a
wrong kind of value, or an entry of a newer version is an error that names it. `gnode doctor FOLDER` checks a whole folder
and says what can be saved. What is promised about these files is in [promises.md](promises.md).

JSON has no nan and no infinity: they are stored as `{"float": "nan"}`, `{"float": "inf"}` and `{"float": "-inf"}`.
"""

FOLDERS = {
    "A run": ("`gnode train --out FOLDER`, `gnode.fit(..., out=FOLDER)`", run_folder.FILES),
    "A sweep": ("`gnode sweep run --out FOLDER`, `gnode.sweep(..., FOLDER)`", sweep_folder.FILES),
    "Results": ("`gnode reproduce run NAME --out FOLDER`", archive.FILES),
    "A data set": (
        "`gnode data get` and `gnode data add`, in the folder `GNODE_DATA` or the platform's cache",
        cache.FILES,
    ),
}


def page() -> str:
    """Returns the text of the page."""
    parts = [INTRODUCTION]
    for title, (command, stored) in FOLDERS.items():
        parts.append(f"## {title}\nWritten by {command}.\n")
        parts.append(table(["file", "what it holds"], [[f"`{file.name}`", file.what] for file in stored]) + "\n")
        parts += [_entries_of(file) for file in stored if file.kind is not None]
    return "\n".join(parts)


def _entries_of(file: StoredFile[Any]) -> str:
    rows = _rows(file.entries(), "")
    more = " Users may add entries of their own (`extra_config`)." if file.is_open else ""
    return f"**`{file.name}`**.{more}\n\n" + table(["entry", "kind", "meaning"], rows) + "\n"


def _rows(entries: dict[str, Entry], place: str) -> list[list[str]]:
    rows = []
    for name, entry in entries.items():
        kind = _kind(entry.hint).replace("|", "\\|") + ("" if entry.required else ", may be missing")
        rows.append([f"`{place}{name}`", kind, entry.what])
        inside = _schema_in(entry.hint)
        if inside is not None:
            own = StoredFile("", "", inside).entries()
            rows += _rows(own, f"{place}{name}{'[k]' if typing.get_origin(entry.hint) is list else ''}.")
    return rows


def _schema_in(hint: Any) -> Any:
    inside = typing.get_args(hint)
    if typing.is_typeddict(hint):
        return hint
    return inside[0] if typing.get_origin(hint) is list and typing.is_typeddict(inside[0]) else None


_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null"}


def _kind(hint: Any) -> str:
    """An annotation in the words of JSON."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_kind, inside))
    if origin is typing.Literal:
        return " or ".join(f'"{one}"' for one in inside)
    if origin is list:
        return f"list of {_kind(inside[0])}"
    if origin is dict:
        return "object" if inside[1] is typing.Any else f"object of {_kind(inside[1])}"
    return "object" if typing.is_typeddict(hint) else _WORDS.get(hint, "anything")

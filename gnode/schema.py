"""Schemas of stored files: what each holds, said once, checked whenever one is read, and shown in docs/folders.md.

The schema of a JSON file is a `TypedDict` whose entries are annotated with their meaning:
`lr: Annotated[float, "learning rate"]`. An entry that is `NotRequired` may be missing.
"""

import dataclasses
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, NotRequired, TypeVar

from gnode import arguments, errors, files

__all__ = ["Entry", "StoredFile", "unknown_names"]

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of a stored JSON file: its annotation, what it means, and whether it must be there."""

    hint: Any
    what: str
    required: bool


@dataclasses.dataclass(frozen=True)
class StoredFile(Generic[T]):
    """A kind of file that gnode stores.

    - `name`: of the file, such as "config.json", or a pattern.
    - `what`: what it holds.
    - `kind`: the TypedDict of a JSON file; None for a file of another format.
    - `is_open`: whether users may add entries of their own.
    - `remedy`: what to do about a damaged one, if there is something better than to look at what can be saved.
    """

    name: str
    what: str
    kind: type[T] | None = None
    is_open: bool = False
    remedy: str = ""

    def read(self, path: Path) -> T:
        """Reads a JSON file and checks it.

        **Raises:** `StoreError` if it is missing or damaged, or has entries that this version of gnode does not know.
        """
        assert self.kind is not None, f"{self.name} is not a JSON file"
        value = files.read_json(path)
        self.check(value, path)
        return value

    def check(self, value: Any, path: Path) -> None:
        """Checks what was read from a file.

        **Raises:** `StoreError`, which names the entry.
        """
        if not isinstance(value, dict):
            raise self._wrong(path, f"it holds {_a_kind(value)}, but must hold an object of JSON")
        by = written_by(value)
        entries = self.entries()
        if not self.is_open and (unknown := [name for name in value if name not in entries]):
            raise errors.StoreError(unknown_names(path, unknown, by))
        self._check_entries(entries, value, path, "")

    def entries(self) -> dict[str, Entry]:
        """Returns the entries of the file's schema, by name."""
        return {} if self.kind is None else _entries(self.kind)

    def _check_entries(self, entries: dict[str, Entry], value: Mapping[str, Any], path: Path, place: str) -> None:
        for name, entry in entries.items():
            if name not in value:
                if entry.required:
                    raise self._wrong(path, f"it has no entry {place + name!r}")
                continue
            if parts := _parts(entry.hint, value[name], place + name):
                for where, kind, part in parts:
                    if not isinstance(part, dict):
                        raise self._wrong(path, f"its entry {where!r} must be an object of JSON")
                    self._check_entries(_entries(kind), part, path, f"{where}.")
                continue
            try:
                arguments.check_kind(f"its entry {place + name!r}", value[name], entry.hint)
            except errors.ArgumentError as problem:
                raise self._wrong(path, str(problem).rstrip(".")) from problem

    def _wrong(self, path: Path, why: str) -> errors.StoreError:
        remedy = self.remedy or f"gnode doctor {path.parent} says what can be saved"
        return errors.StoreError(errors.in_one_line(f"{path} is damaged: {why}; {remedy}."))


def unknown_names(path: Path, names: list[str], written_by: str | None) -> str:
    """Says that a stored file has entries that this version of gnode does not know."""
    from gnode import __version__

    what = ("an entry " if len(names) == 1 else "entries ") + ", ".join(errors.shown(name) for name in names[:5])
    if written_by is not None and written_by != __version__:
        remedy = f"it was written by gnode {errors.shortened(written_by, 20)}, so use that version"
    else:
        remedy = "use the version of gnode that wrote it"
    return errors.in_one_line(f"{path} has {what} that this version of gnode ({__version__}) does not know; {remedy}.")


def written_by(value: Mapping[str, Any]) -> str | None:
    """Returns the version of gnode that wrote a stored file, if it says so."""
    versions = value.get("versions")
    found = versions.get("gnode") if isinstance(versions, dict) else None
    return found if isinstance(found, str) else None


def _a_kind(value: Any) -> str:
    return {list: "a list", str: "a text", int: "a number", float: "a number", bool: "a truth value"}.get(
        type(value), "nothing"
    )


def _parts(hint: Any, value: Any, place: str) -> list[tuple[str, Any, Any]]:
    """The objects inside an entry that have a schema of their own: the place, the schema and the value of each."""
    if typing.is_typeddict(hint):
        return [(place, hint, value)]
    inside = typing.get_args(hint)
    if typing.get_origin(hint) is list and typing.is_typeddict(inside[0]) and isinstance(value, list):
        return [(f"{place}[{index}]", inside[0], part) for index, part in enumerate(value)]
    return []


def _entries(kind: Any) -> dict[str, Entry]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: _entry(hint, name in kind.__required_keys__) for name, hint in hints.items()}


def _entry(hint: Any, required: bool) -> Entry:
    if typing.get_origin(hint) is NotRequired:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is typing.Annotated:
        hint, what = typing.get_args(hint)[:2]
        return Entry(hint, what, required)
    return Entry(hint, "", required)

"""Copies of users' own code in the folder of a run or a sweep. They are run only for someone who says so."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, TypedDict

from gnode import errors, files, own_code
from gnode.own_code import Code
from gnode.train.settings import Settings

FOLDER = "code"


class CodeRecord(TypedDict):
    """A copied file."""

    names: Annotated[list[str], "what it is used for, each as FILE.py:NAME"]
    copy: Annotated[str, "the copy's name in the folder `code`"]
    path: Annotated[str, "where the file was"]


@dataclasses.dataclass(frozen=True)
class Copies:
    """Copies of code, and how a folder's configuration describes them."""

    codes: tuple[Code, ...] = ()
    records: tuple[CodeRecord, ...] = ()

    @classmethod
    def of(cls, names: Iterable[Any], classes: Iterable[type] = ()) -> "Copies":
        """Copies the files behind names that are a user's own, and behind classes that are. Others are passed over."""
        named: dict[str, tuple[Code, list[str]]] = {}  # by digest: a file may be named in several ways
        for name in dict.fromkeys(name for name in names if own_code.is_own(name)):
            if (code := own_code.code_of(name)) is not None:
                named.setdefault(code.digest, (code, []))[1].append(name)
        for kind in classes:
            if (found := own_code.code_of_class(kind)) is not None and found[1].digest not in named:
                named[found[1].digest] = (found[1], [found[0]])
        records, taken = list[CodeRecord](), set[str]()
        for code, uses in named.values():
            stem, number = PurePath(code.path).stem, 1
            while (copy := f"{stem}{'' if number == 1 else f'-{number}'}.py") in taken:
                number += 1
            taken.add(copy)
            records.append(CodeRecord(names=uses, copy=copy, path=code.path))
        return cls(tuple(code for code, _ in named.values()), tuple(records))

    @property
    def digests(self) -> set[str]:
        """What tells these copies from others."""
        return {code.digest for code in self.codes}

    def write(self, folder: Path) -> None:
        """Writes the copies into a folder."""
        if self.codes:
            place = files.inside(folder, FOLDER)
            with files.writing(place):
                for code, record in zip(self.codes, self.records):
                    files.write_text(place / record["copy"], code.text)

    def entry(self) -> dict[str, Any]:
        """Returns what a configuration holds of them; nothing if there are none."""
        return {"code": list(self.records)} if self.records else {}


def names_in(settings: Settings | Mapping[str, Any]) -> list[Any]:
    """Returns those settings that may name a user's own code."""
    values = vars(settings) if isinstance(settings, Settings) else settings
    return [values.get("model"), values.get("loss"), values.get("optimiser"), *(values.get("metrics") or ())]


def read(folder: Path, described: Sequence[CodeRecord] | None) -> dict[str, Code]:
    """Reads the copies in a folder, by the files that they are copies of. Nothing is run.

    **Raises:** `StoreError` if one is missing.
    """
    found: dict[str, Code] = {}
    for record in described or ():
        name = PurePath(record["copy"]).name
        place = files.inside(folder, FOLDER, name)
        code = Code(files.read_text(place), record["path"])
        found |= {str(own_code.file_of(one)): code for one in record["names"]}
    return found


def untrusted(folder: Path, described: Sequence[CodeRecord]) -> errors.StoreError:
    """Returns the error for code in a folder that nobody has said they trust."""
    names = [name for record in described for name in record["names"]]
    shown = errors.shortened(", ".join(names) or "a class", 200)
    return errors.StoreError(
        errors.in_one_line(
            f"{folder} was made with code of its author's own ({shown}). Look at {folder / FOLDER}, and if you trust it, "
            f"pass --trust (in Python trust=True) to run it, or in Python the network and task (like=network, task=task)."
        )
    )

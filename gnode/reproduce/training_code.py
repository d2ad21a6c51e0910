"""The source that decides what training gives: a hash of it is stored with every sweep, and a result is made of one only.

Two tables of numbers can be compared only if their networks were trained by the same code. The hash is over the files of the
rooms that take part in training, byte by byte; a sweep's folder has it in `training_code.json`, a result in its JSON file.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, TypedDict

from gnode import errors, files, provenance
from gnode.schema import StoredFile
from gnode.sweeps import Sweep

ROOMS = ("theory", "init", "cells", "solve", "network", "tasks", "train")
MODULES = ("_activation_functions", "activations", "models", "precision")
"""Single files outside these rooms that take part in training."""
DIGITS = 16
RECORD = "training_code.json"


class CodeRecord(TypedDict):
    """`training_code.json`."""

    hashes: Annotated[
        list[str], "of the training code of every process that prepared the sweep or trained members of it"
    ]
    commits: Annotated[list[str | None], "the commit of each"]


RECORD_FILE = StoredFile(RECORD, "a hash of the source that a sweep of an artefact was trained by", CodeRecord)


@cache
def training_code() -> str:
    """Returns the hash of the training code that is running, in 16 hexadecimal digits."""
    return hash_of(Path(__file__).resolve().parents[1])


def hash_of(package: Path) -> str:
    """Returns the hash of the training code in a folder of gnode's source."""
    found = [path for room in ROOMS for path in (package / room).rglob("*.py")]
    found += [package / f"{name}.py" for name in MODULES]
    total = hashlib.sha256()
    for path in sorted(found, key=lambda path: path.relative_to(package).as_posix()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return total.hexdigest()[:DIGITS]


def record_code(sweep: Path) -> None:
    """Adds the running code to the record of a sweep. To be called before members of it are trained."""
    path = sweep / RECORD
    stored: CodeRecord = RECORD_FILE.read(path) if path.exists() else {"hashes": [], "commits": []}
    if training_code() not in stored["hashes"]:
        commit = provenance.environment()["commit"]
        added: CodeRecord = {
            "hashes": [*stored["hashes"], training_code()],
            "commits": [*stored["commits"], commit],
        }
        files.write_json(path, added)


def recorded(sweep: Path) -> list[str]:
    """Returns the hashes in the record of a sweep; none if it was made by an earlier version."""
    path = sweep / RECORD
    return RECORD_FILE.read(path)["hashes"] if path.exists() else []


def common_code(sweeps: Iterable[Sweep]) -> str | None:
    """Returns the hash of the code that all members of some sweeps were trained by; None if one has no record.

    **Raises:** `StoreError` if there is more than one.
    """
    found = {sweep.folder: recorded(sweep.folder) for sweep in sweeps}
    first: dict[str, Path] = {}
    for folder, hashes in found.items():
        for one in hashes:
            first.setdefault(one, folder)
    if len(first) > 1:
        where = ", ".join(f"{one} in {folder}" for one, folder in first.items())
        raise errors.StoreError(
            f"the networks were trained by different versions of the training code ({where}), so one table cannot hold "
            f"them; remove the sweeps of one version and train them again."
        )
    return next(iter(first)) if found and all(found.values()) else None

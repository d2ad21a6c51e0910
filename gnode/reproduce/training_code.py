"""The source that decides what training gives: a hash of it is stored with every sweep, and a result is made of one only.

Two tables of numbers can be compared only if their networks were trained by the same code. The hash is over the files of the
rooms that take part in training, without their comments and docstrings, which decide nothing; a sweep's folder has it in
`training_code.json`, a result in its JSON file.
"""

import ast
import hashlib
import io
import tokenize
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
        content = without_comments(path.read_text(encoding="utf-8"))
        total.update(f"{path.relative_to(package).as_posix()} {len(content)}\n{content}".encode())
    return total.hexdigest()[:DIGITS]


def without_comments(source: str) -> str:
    """Returns the lines of a Python source that are code: no comments, no docstrings, no empty lines.

    It is the same in every version of Python, as a dump of the syntax tree would not be.

    >>> without_comments("x = 1  # one")
    'x = 1'
    """
    lines = [line.encode() for line in source.splitlines()]  # positions in a syntax tree count bytes
    texts = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start[0] - 1, len(token.line[: token.start[1]].encode())
            lines[row] = lines[row][:column]
    for node in texts:
        assert node.end_lineno is not None
        for row in range(node.lineno - 1, node.end_lineno):
            lines[row] = b""
    return "\n".join(line.decode().rstrip() for line in lines if line.strip())


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


def refuse_another(sweeps: Iterable[Sweep]) -> None:
    """Checks, before anything is trained, that what is left to train would be trained by the code that trained the rest.

    **Raises:** `StoreError` if not.
    """
    sweeps = list(sweeps)
    others = sorted({one for sweep in sweeps for one in recorded(sweep.folder)} - {training_code()})
    left = [sweep.folder.name for sweep in sweeps if sweep.todo()]
    if others and left:
        raise errors.StoreError(
            f"{', '.join(left)} would be trained by another version of the training code ({training_code()}) than the "
            f"sweeps that are there ({', '.join(others)}), and one table cannot hold both; name "
            f"the trained ones with --only, or give another folder with --sweeps to train all of them again."
        )


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

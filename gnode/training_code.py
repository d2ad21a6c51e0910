"""The source that decides what training gives, as a hash: numbers of one table have to be trained by the same code.

The hash is over the files of the rooms that take part in training, without their comments and docstrings, which decide
nothing. The sweep of an artefact has it in `training_code.json`, which every process that trains members of it writes into,
also `gnode sweep resume`; `gnode.reproduce` makes a result of sweeps with one hash only, which the result stores.
"""

import ast
import hashlib
import io
import tokenize
from functools import cache
from pathlib import Path
from typing import Annotated, TypedDict

from gnode import files, provenance
from gnode.schema import StoredFile

ROOMS = ("theory", "init", "cells", "solve", "network", "tasks", "train", "sweeps")
MODULES = ("_activation_functions", "activations", "models", "precision", "trained", "types")
"""Single files outside these rooms that take part in training."""
DIGITS = 16
RECORD = "training_code.json"
UNKNOWN = "unknown"
"""Stands for the code of members that were trained before there was a record."""


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
    return hash_of(Path(__file__).resolve().parent)


def hash_of(package: Path) -> str:
    """Returns the hash of the training code in a folder of gnode's source."""
    found = [path for room in ROOMS for path in (package / room).rglob("*.py")]
    found += [package / f"{name}.py" for name in MODULES]
    total = hashlib.sha256()
    for path in sorted(found, key=lambda path: path.relative_to(package).as_posix()):
        content = without_comments(path.read_text(encoding="utf-8"))
        total.update(f"{path.relative_to(package).as_posix()} {len(content)}\n{content}".encode())
    return total.hexdigest()[:DIGITS]


@cache  # a file is the same whenever the hash is taken again
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


def record_code(sweep: Path, *, begun: bool) -> None:
    """Adds the running code to the record of a sweep. To be called before members of it are trained.

    **Arguments:** `sweep`, its folder; `begun`, whether members were trained already: without a record theirs is unknown.
    """
    path = sweep / RECORD
    nothing: CodeRecord = {"hashes": [UNKNOWN], "commits": [None]} if begun else {"hashes": [], "commits": []}
    stored: CodeRecord = RECORD_FILE.read(path) if path.exists() else nothing
    if training_code() not in stored["hashes"]:
        commit = provenance.environment()["commit"]
        added: CodeRecord = {
            "hashes": [*stored["hashes"], training_code()],
            "commits": [*stored["commits"], commit],
        }
        files.write_json(path, added)


def has_record(sweep: Path) -> bool:
    """Whether a sweep, by its folder, has a record of the code that trained it."""
    return (sweep / RECORD).exists()


def recorded(sweep: Path) -> list[str]:
    """Returns the hashes in the record of a sweep, by its folder; none if it was made by an earlier version."""
    return RECORD_FILE.read(sweep / RECORD)["hashes"] if has_record(sweep) else []

"""Command lines as they were written before `sweep` and `reproduce` had commands of their own. They keep working.

| old                                  | new                                  |
|--------------------------------------|--------------------------------------|
| `gnode sweep TASK ...`               | `gnode sweep run TASK ...`           |
| `gnode sweep --resume FOLDER ...`    | `gnode sweep resume FOLDER ...`      |
| `gnode reproduce NAME ...`           | `gnode reproduce run NAME ...`       |
| `gnode reproduce --list`             | `gnode reproduce list`               |
| `gnode reproduce --collect`          | `gnode reproduce collect`            |
| `gnode reproduce NAME --prepare ...` | `gnode reproduce prepare NAME ...`   |
| `gnode reproduce NAME --about`       | `gnode reproduce about NAME`         |
| `--schedule 14@100+28@100`           | `--spans 14@100+28@100`              |
"""

import difflib
from collections.abc import Sequence

SWEEP = ("run", "status", "resume")
REPRODUCE = ("list", "run", "collect", "draw", "prepare", "keep", "restore", "about")
HELP = ("--help", "-h")
_OPTIONS = {"--schedule": "--spans"}
CLOSE = 0.7
"""How alike a word and a command must be for the word to be a misspelled command rather than a task or an artefact."""


def translated(arguments: Sequence[str]) -> list[str]:
    """Returns a command line in its new spelling; one that is new already is returned as it is.

    >>> translated(["sweep", "--resume", "runs/grid", "--part", "1/2"])
    ['sweep', 'resume', 'runs/grid', '--part', '1/2']
    """
    words = [_with_new_option(word) for word in arguments]
    if words[:1] == ["sweep"]:
        return ["sweep", *_sweep(words[1:])]
    if words[:1] == ["reproduce"]:
        return ["reproduce", *_reproduce(words[1:])]
    return words


def _with_new_option(word: str) -> str:
    option, equals, value = word.partition("=")
    return _OPTIONS.get(option, option) + equals + value


def _is_new(rest: list[str], commands: Sequence[str]) -> bool:
    """Whether a command line names one of the commands, asks for help, or misspells a command."""
    if not rest or rest[0].startswith("-"):
        return bool(rest) and rest[0] in HELP
    return bool(difflib.get_close_matches(rest[0], commands, cutoff=CLOSE))


def _sweep(rest: list[str]) -> list[str]:
    if _is_new(rest, SWEEP):
        return rest
    for position, word in enumerate(rest):
        if word == "--resume":
            return ["resume", *rest[position + 1 : position + 2], *rest[:position], *rest[position + 2 :]]
        if word.startswith("--resume="):
            return ["resume", word.removeprefix("--resume="), *rest[:position], *rest[position + 1 :]]
    return ["run", *rest]


def _reproduce(rest: list[str]) -> list[str]:
    if _is_new(rest, REPRODUCE):
        return rest
    for flag in ("list", "collect", "prepare", "about"):
        if f"--{flag}" in rest:
            return [flag, *(word for word in rest if word != f"--{flag}")]
    return ["run", *rest]

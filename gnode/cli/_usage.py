"""Usage errors as one sentence, with the option that was probably meant."""

import difflib
from typing import Any

import typer

from gnode import errors
from gnode.train.spec import OPTIONS

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""The class of all usage errors of typer's parser, which typer does not export by name."""

CLOSE = 0.7
"""How alike two names must be for one to be suggested in place of the other."""

LONGEST = 120
"""How many characters of a word of the command line are shown."""


def sentence(problem: Any) -> str:
    """Says what is wrong with a command line, and what was probably meant."""
    command = "gnode" if problem.ctx is None else problem.ctx.command_path
    if type(problem).__name__ == "NoSuchOption":
        unknown = problem.option_name
        meant = _meant(unknown, problem.ctx)
        return f"{command} has no option {errors.shortened(unknown, LONGEST)}.{meant} See {command} --help."
    text = problem.format_message().strip().rstrip(".")
    if "unexpected extra argument" in text:
        extra = errors.shortened(text.split("(")[-1].rstrip(")"), LONGEST)
        return f"{command} does not take {extra!r}; a folder is given by --out {extra}. See {command} --help."
    end = "" if text.endswith("?") else "."
    return f"{_lower_first(_cut(' '.join(text.split())))}{end} See {command} --help."


def _meant(unknown: str, context: Any) -> str:
    """The option that was meant: one that is known by this other name, or one that is spelled nearly so."""
    known = [] if context is None else [flag for one in context.command.params for flag in one.opts]
    wanted = unknown.lstrip("-").replace("-", "_")
    for name, option in OPTIONS.items():
        flag = "--" + name.replace("_", "-")
        if wanted in option.synonyms and flag in known:
            return f" Did you mean {flag}?"
    close = difflib.get_close_matches(unknown, known, n=1, cutoff=CLOSE)
    return f" Did you mean {close[0]}?" if close else ""


def _cut(text: str) -> str:
    """Leaves out the middle of a long message, which is a long value: its beginning says what is wrong, its end why."""
    return text if len(text) <= 3 * LONGEST else f"{text[:LONGEST]} ... {text[-LONGEST:]}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]

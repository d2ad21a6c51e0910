"""docs/reference/commands.md: every command with its arguments and options, from the command line itself."""

import re
from typing import Any

import typer

from generate import markdown
from gnode.cli._app import COMMANDS, make_app

PATH = "reference/commands.md"

INTRODUCTION = """# Commands

Every command with its arguments and options, as `gnode COMMAND --help` shows them. A mistake is one sentence and exit
status 2.

A first overview:

```
gnode list                                             # models, tasks, integrators, initialisers, engines
gnode train flipflop-square --model gnode --state 2 --widths 316x316 --lr 1e-3 --epochs 200
gnode train --resume runs/flipflop-square-gnode-2      # to the same numbers as without the interruption
gnode train --resume runs/flipflop-square-gnode-2 --epochs 400         # longer
gnode train mytasks.py:integrate --model mycells.py:LowRank --fresh update   # your own code, new trials in every update
gnode explore runs/flipflop-square-gnode-2             # its flow, fixed points and trials, live in the browser
gnode analyse runs/flipflop-square-gnode-2             # report.html, figures, analysis.json
gnode sweep run flipflop-variable --model rnn,gru,gnode --state 6 --lr 1e-3,1e-2 --batch-size 10,100 --out runs/grid
gnode sweep status runs/grid
gnode doctor runs/grid                                 # is anything damaged, and what can be saved
gnode theory critical --depth 3 --activation tanh --sigma-b 0.1
gnode data get characters                              # or add a local copy; gnode data check draws what is there
gnode train walker2d --model gnode                     # real series with gaps, the paper's growing fit, test scores
gnode train mine.csv --target-columns y --fill hold    # your own series
gnode bench                                            # this machine against a plain scan and diffrax
gnode reproduce list                                   # every figure, table and claim of the paper
```

A run is a folder of plain files (JSON, CSV, `.npz` without pickle). A sweep is a folder of such folders and one
`results.csv` that pandas and polars read; killed at any moment, `gnode sweep resume` completes it to the same table.
"""


def page() -> str:
    """Returns the text of the page."""
    parts = [INTRODUCTION, markdown.table(["command", "what it does"], _rows())]
    for name in COMMANDS:
        parts += _command(f"gnode {name}", typer.main.get_command(make_app(name)).commands[name], 2)  # type: ignore[attr-defined]
    return "\n\n".join(parts) + "\n"


def _rows() -> list[list[str]]:
    return [
        [f"[`gnode {name}`](#{_anchor(f'gnode {name}')})", markdown.cell(_shown(line))]
        for name, line in COMMANDS.items()
    ]


def _anchor(title: str) -> str:
    return title.replace(" ", "-")


def _command(title: str, command: Any, level: int) -> list[str]:
    parts = [f"({_anchor(title)})=\n{'#' * level} {title}", *_text(command.help or "")]
    inside = getattr(command, "commands", {})
    if not inside:
        parts += _parameters(title, command)
    if command.epilog:
        parts += _text(command.epilog)
    for name, one in inside.items():
        parts += _command(f"{title} {name}", one, level + 1)
    return parts


def _text(text: str) -> list[str]:
    """The paragraphs of a help text; one that begins with an example is shown as code."""
    made = []
    for block in markdown.blocks(text):
        line = " ".join(block.split())
        head, colon, rest = line.partition(": ")
        if colon and rest.startswith("gnode "):
            made += [f"{_shown(head)}:", f"```\n{rest}\n```"]
        else:
            made.append(_shown(line))
    return made


def _shown(text: str) -> str:
    """A help text as Markdown: angle brackets and stars are meant as they are."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([<>*_\[\]$])", r"\\\1", part)
        for part in re.split(r"(`[^`]*`)", text)
    )


def _parameters(title: str, command: Any) -> list[str]:
    shown = [one for one in command.params if not one.hidden]
    arguments = [one for one in shown if type(one).__name__.endswith("Argument")]
    options = [one for one in shown if one not in arguments]
    usage = " ".join([title, *(["[OPTIONS]"] if options else []), *map(_placed, arguments)])
    parts = [f"```\n{usage}\n```"]
    if arguments:
        parts.append(
            markdown.table(["argument", "meaning"], [[f"`{_placed(one)}`", _meaning(one)] for one in arguments])
        )
    panels = dict.fromkeys(one.rich_help_panel or "Options" for one in options)
    for panel in panels:
        rows = [[_flags(one), _meaning(one)] for one in options if (one.rich_help_panel or "Options") == panel]
        parts.append(markdown.table(["option" if panel == "Options" else panel.lower(), "meaning"], rows))
    return parts


def _placed(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper()
    return (name if argument.required else f"[{name}]") + ("..." if argument.nargs == -1 else "")


def _flags(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or _kind(option)}"
    return ", ".join(f"`{flag}{value}`" for flag in (*option.opts, *option.secondary_opts))


def _kind(option: Any) -> str:
    hint = getattr(getattr(option, "type_descriptor", None), "annotation", str)
    return {int: "N", float: "NUMBER"}.get(hint, "FOLDER" if option.name in ("out", "folder") else option.name.upper())


def _meaning(parameter: Any) -> str:
    default = parameter.default
    told = (
        default not in (None, "", False, [], ())
        and not callable(default)
        and parameter.show_default
        and not _is_flag(parameter)
    )
    return markdown.cell(_shown(parameter.help or "")) + (f" Default: `{default}`." if told else "")


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))

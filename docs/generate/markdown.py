"""Docstrings, which are Markdown with doctests, as Markdown of a page."""

import re

from generate import faces

DIRECTIVE = re.compile(r"^(`{3,})")
BELOW_HEAD = re.compile(r"^[ \t]*\|[-:| ]+\|[ \t]*$", re.MULTILINE)
"""The line of a table below its head."""
IN_CELL = re.compile(r"(?<!\\)(?:(?<=\S)\|(?=.*\S)|\|(?=\S))")
"""A bar that belongs to the text of a cell, as in |dh/dt|: one between cells has white space, or nothing, on both sides."""


def blocks(text: str) -> list[str]:
    """Splits a text at its blank lines, and keeps indented code that has some in one piece."""
    return [block for block in re.split(r"\n[ \t]*\n", text.strip("\n")) if block.strip()]


def page_text(text: str, room: str, own: frozenset[str] = frozenset()) -> str:
    """Returns a docstring as Markdown of a page in `docs/reference`.

    Doctests become code, names of pages become links, and so do the public names of the room in backticks, but for those in
    `own`: the name that is described and its arguments.
    """
    made = []
    for block in blocks(text):
        if block.lstrip().startswith(">>>"):
            made.append(f"```pycon\n{block}\n```")
        elif block.startswith("    "):
            made.append(block)
        else:
            made.append(_linked(_escaped(block) if BELOW_HEAD.search(block) else block, room, own))
    return "\n\n".join(made)


def _escaped(block: str) -> str:
    """A table of a docstring whose cells may hold bars as they are; Markdown would end the cell at each."""
    return "\n".join(
        line if BELOW_HEAD.match(line) or not line.lstrip().startswith("|") else IN_CELL.sub(r"\|", line)
        for line in block.split("\n")
    )


def _linked(text: str, room: str, own: frozenset[str]) -> str:
    text = re.sub(r"(?<![`\w/(])docs/([\w/-]+)\.md\b", r"[](../\1.md)", text)
    return re.sub(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)", lambda found: _role(found, room, own), text)


def _role(found: re.Match[str], room: str, own: frozenset[str]) -> str:
    name = found[1]
    if name in own:
        return found[0]
    known = faces.full_names()
    for spelling in (name, f"{room}.{name}"):
        if spelling in known and (spelling != name or name.startswith("gnode.")):
            return f"{{py:obj}}`{name} <{spelling}>`"
    return found[0]


def fenced(directive: str, argument: str, options: dict[str, str], body: str) -> str:
    """Returns a directive of MyST with a fence longer than every fence inside it."""
    longest = max((len(one) for line in body.splitlines() for one in DIRECTIVE.findall(line)), default=2)
    fence = "`" * (longest + 1)
    head = "".join(f":{name}: {value}".rstrip() + "\n" for name, value in options.items())
    return f"{fence}{{{directive}}} {argument}\n{head}\n{body}\n{fence}"


def cell(text: str) -> str:
    """Returns a text that a cell of a table can hold."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table, with cells as they are."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

"""docs/reference/ROOM.md: every public name of a room, with its signature and its docstring."""

import functools
import inspect
from pathlib import Path
from typing import Any

from generate import ROOT, faces, markdown, signatures, sources
from generate.faces import Name

INTRODUCTION = """# Reference

Every public name of gnode, by room. A name that is listed here is documented and stable; everything else is private
([](../design.md)). Names load when they are first used, so `import gnode` is quick. Arguments of public functions are
checked against their annotations, and what is wrong is said in one sentence. `Array['count state']` is an array of that
shape.
"""

HEADINGS = {"function": "Functions", "class": "Classes", "data": "Constants"}

ROOT_INTRODUCTION = """What is used most has a short name here: `gnode.fit` is `gnode.train.fit`. The rooms are listed in
[](index.md)."""

SPECIAL = ("__call__",)
PROPERTIES = (property, classmethod, staticmethod, functools.cached_property)


def pages() -> dict[str, str]:
    """Returns the text of every page by its path in `docs`."""
    return {"reference/index.md": _index()} | {path_of(room): room_page(room) for room in faces.rooms()}


def path_of(room: str) -> str:
    """Returns the path of a room's page in `docs`."""
    return f"reference/{room.removeprefix('gnode.')}.md"


def _index() -> str:
    jobs = faces.jobs()
    rows = [[f"[`{room}`]({path_of(room).split('/')[1]})", jobs.get(room, ROOT_JOB)] for room in faces.rooms()]
    inside = "\n".join(path_of(room).split("/")[1].removesuffix(".md") for room in faces.rooms())
    tables = markdown.table(["room", "its job"], rows)
    commands = "In a shell: [every command with its options](commands.md). By letter: [index of names](#genindex)."
    return f"{INTRODUCTION}\n{tables}\n\n{commands}\n\n```{{toctree}}\n:hidden:\n\n{inside}\n```\n"


ROOT_JOB = "What is used most, by its short name, and what belongs to no room."


def room_page(room: str) -> str:
    """Returns the page of a room."""
    here = sorted(
        (name for name in faces.names() if name.room == room), key=lambda name: (name.name.lower(), name.name)
    )
    parts = [f"# {room}", faces.jobs().get(room, ROOT_JOB), _module(room)]
    if room == "gnode":
        parts += [ROOT_INTRODUCTION, _short_names()]
    for kind, heading in HEADINGS.items():
        found = [name for name in here if name.kind == kind]
        if found:
            parts += [f"## {heading}", _overview(found), *map(entry, found)]
    return "\n\n".join(parts) + "\n"


def _module(room: str) -> str:
    return f"```{{py:module}} {room}\n```"


def _short_names() -> str:
    rows = [
        [f"{{py:obj}}`gnode.{short} <{full}>`", markdown.cell(faces.full_names()[full].line)]
        for short, full in sorted(faces.shown_by_root().items(), key=lambda pair: pair[0].lower())
    ]
    return markdown.table(["name", "what it does"], rows)


def _overview(found: list[Name]) -> str:
    if len(found) < 4:
        return ""
    return markdown.table(
        ["name", "in a line"], [[f"{{py:obj}}`{name.name} <{name.full}>`", markdown.cell(name.line)] for name in found]
    )


def entry(name: Name) -> str:
    """Returns the directive that describes a public name."""
    options = {"canonical": name.also} if name.also else {}
    if name.kind == "data":
        text = repr(name.value)
        shown = {"value": text} if len(text) <= 100 and "<" not in text else {}
        return markdown.fenced("py:data", name.name, options | shown, markdown.page_text(name.text, name.room))
    text = markdown.page_text(name.text, name.room, _own(name.value, name.name)) + f"\n\n{_source(name)}"
    if name.kind == "function":
        return markdown.fenced("py:function", name.name + signatures.signature_of(name.value), options, text)
    made_by_others = "No example: made by" in name.text or "returns it" in name.text
    signature = "" if made_by_others else signatures.signature_of(name.value)
    body = "\n\n".join([*_bases(name), text, *_members(name)])
    return markdown.fenced("py:class", name.name + signature, options, body)


def _source(name: Name) -> str:
    """A link to the lines that define it."""
    file = Path(faces.file_of(name)).relative_to(ROOT).as_posix()
    return sources.html_link(path_of(name.room), file, "source", faces.line_of(name))


def _own(value: Any, name: str) -> frozenset[str]:
    """The words that mean an argument, or the thing itself, in its own text."""
    try:
        return frozenset({name, *inspect.signature(value).parameters})
    except (ValueError, TypeError):
        return frozenset({name})


def _bases(name: Name) -> list[str]:
    known = (faces.by_object().get(id(base)) for base in name.value.__mro__[1:])
    found = [f"{{py:obj}}`{base.full}`" for base in known if base is not None]
    return [f"Base: {found[0]}"] if found else []


def _members(name: Name) -> list[str]:
    return [_member(name, member, value) for member, value in members_of(name.value).items()]


def members_of(kind: type) -> dict[str, Any]:
    """Returns the public methods and properties of a class that it does not have from another public class."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        is_ours = base.__module__.startswith("gnode") and (base is kind or id(base) not in faces.by_object())
        for member, value in vars(base).items() if is_ours else ():
            if _is_member(member, value):
                found[member] = value
    return dict(sorted(found.items()))


def _is_member(name: str, value: Any) -> bool:
    if name.startswith("_") and not (name in SPECIAL and inspect.getdoc(value)):
        return False
    return isinstance(value, (property, classmethod, staticmethod, functools.cached_property)) or (
        callable(getattr(value, "__get__", None))
        and (
            inspect.isfunction(value)
            or inspect.isroutine(getattr(value, "__wrapped__", None) or getattr(value, "method", None))
        )
    )


def _member(name: Name, member: str, value: Any) -> str:
    bound = getattr(name.value, member)
    text = _text_of(name.value, member, value)
    own = _own(bound, member)
    body = markdown.page_text(text, name.room, own)
    place = f"{name.name}.{member}"
    if isinstance(value, (property, functools.cached_property)):
        getter = value.fget if isinstance(value, property) else value.func
        hint = inspect.signature(getter).return_annotation
        options = {} if hint is inspect.Signature.empty else {"type": signatures.kind(hint)}
        return markdown.fenced("py:property", place, options, body)
    options = {"classmethod": ""} if isinstance(value, classmethod) else {}
    options |= {"staticmethod": ""} if isinstance(value, staticmethod) else {}
    is_bound = isinstance(value, (classmethod, staticmethod))
    signature = signatures.signature_of(bound, without_first=not is_bound) or "()"
    return markdown.fenced("py:method", place + signature, options, body)


def _text_of(kind: type, member: str, value: Any) -> str:
    """The docstring of a member, or that of the member it takes the place of."""
    for base in kind.__mro__:
        found = vars(base).get(member)
        text = (
            inspect.getdoc(found.__func__ if isinstance(found, (classmethod, staticmethod)) else found)
            if found
            else None
        )
        if text:
            return text
    return ""

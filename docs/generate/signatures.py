"""Signatures as a page shows them: short names of types, links to public classes, defaults that can be read."""

import ast
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from jaxtyping import AbstractArray

from generate import faces

LONGEST_DEFAULT = 40


def signature_of(value: Any, without_first: bool = False) -> str:
    """Returns `(net, task, *, key: Array | int = 0) -> Run`, or nothing for what has no signature."""
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return ""
    parameters = list(found.parameters.values())[int(without_first) :]
    returned = found.return_annotation
    arrow = "" if returned in (inspect.Signature.empty, None) or inspect.isclass(value) else f" -> {kind(returned)}"
    return f"({', '.join(_parts(parameters))}){arrow}"


def _parts(parameters: list[inspect.Parameter]) -> list[str]:
    parts, star = [], False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(_one(parameter))
    return parts


def _one(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    hint, default = parameter.annotation, parameter.default
    known = hint is not inspect.Parameter.empty and hint is not Any
    text = f"{stars}{parameter.name}" + (f": {kind(hint)}" if known else "")
    if default is not inspect.Parameter.empty:
        text += f" = {_default(default)}" if known else f"={_default(default)}"
    return text


def _default(value: Any) -> str:
    text = value.__name__ if inspect.isclass(value) or inspect.isfunction(value) else repr(value)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return "..."
    return text if len(text) <= LONGEST_DEFAULT else "..."


def kind(hint: Any) -> str:
    """Returns an annotation in few words: `Array['count state']` for an array of that shape, `~gnode.Run` for a link."""
    if hint is None or hint is type(None):
        return "None"
    if isinstance(hint, str):
        return hint if hint.isidentifier() else "Any"
    if hint is Ellipsis:
        return "..."
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(kind, inside)))
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, inside))}]"
    if origin is typing.Annotated:
        return kind(inside[0])
    if origin is Callable or getattr(origin, "__name__", "") == "Callable":
        taken, returned = inside
        takes = "..." if taken is Ellipsis else f"[{', '.join(map(kind, taken))}]"
        return f"Callable[{takes}, {kind(returned)}]"
    if isinstance(hint, list):
        return f"[{', '.join(map(kind, hint))}]"
    if origin is not None:
        return f"{_class_name(origin)}[{', '.join(map(kind, inside))}]"
    return _class_name(hint)


def _class_name(hint: Any) -> str:
    if inspect.isclass(hint) and issubclass(hint, AbstractArray):
        return f"Array[{hint.dim_str!r}]" if hint.dim_str not in ("", "...") else "Array"
    public = faces.by_object().get(id(hint))
    if public is not None:
        return f"~{public.also or public.full}"
    name = (
        str(getattr(hint, "__name__", None) or hint).rsplit(".")[-1].lstrip("~")
    )  # of jax and typing with their modules
    return name if name.isidentifier() else "Any"

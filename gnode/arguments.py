"""Arguments of public functions, checked against their annotations before the function begins.

A wrong kind of value (a text for a number, "no" for False, a list for a network) is refused at the door in a sentence,
rather than somewhere inside in another library's words. Ranges, shapes and names are checked by the functions themselves,
with `gnode.errors`.
"""

import collections.abc
import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gnode import errors
from gnode._kinds import described, dtype_kind, fits, is_key, is_traced
from gnode.wording import plural

__all__ = ["check_fields", "check_kind", "check_takes", "checked", "checked_class", "real_array"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a function check the kinds of its arguments, as annotated, and the names of its keywords.

    **Raises:** when called wrongly: `ArgumentError`, or `CallError` (which is a TypeError too) for an argument that is
    missing, unknown or too many.

    >>> @checked
    ... def halve(value: float, twice: bool = False) -> float:
    ...     return value / (4 if twice else 2)
    >>> halve(3, twice="no")
    Traceback (most recent call last):
    ...
    gnode.errors.ArgumentError: twice is 'no', but must be True or False.
    """
    signature = inspect.signature(function)
    hints: dict[str, Any] | None = None

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal hints
        if hints is None:  # at the first call, when every module that an annotation names is there
            hints = _hints(function, signature)
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            raise _wrong_call(function, signature, args, kwargs) from None
        for name, value in given.items():
            if name in hints:
                check_kind(name, value, hints[name])
        return function(*args, **kwargs)

    return call


def checked_class(kind: type[T]) -> type[T]:
    """Makes a class check the arguments with which it is made, as `checked` does: a dataclass, a module of equinox.

    Subclasses that are dataclasses have an `__init__` of their own, which is not checked.

    >>> import dataclasses
    >>> @checked_class
    ... @dataclasses.dataclass
    ... class Step:
    ...     length: float
    >>> Step(size=1)
    Traceback (most recent call last):
    ...
    gnode.errors.CallError: Step has no argument 'size'. It takes: length.
    """
    kind.__init__ = checked(kind.__init__)
    return kind


def check_fields(instance: Any) -> None:
    """Checks the fields of a dataclass instance against their annotations. Call it in `__post_init__`."""
    for name, hint in _class_hints(type(instance)).items():
        check_kind(name, getattr(instance, name), hint)


def check_takes(name: str, function: Callable[..., Any], arguments: int = 1) -> None:
    """Raises an `ArgumentError` if a user's function cannot be called with so many arguments.

    >>> check_takes("progress", print)
    """
    try:
        inspect.signature(function).bind(*[None] * arguments)
    except TypeError:
        counted = plural(arguments, "argument")
        raise errors.ArgumentError(
            f"{name} is {errors.shown(function)}, but must be a function of {counted}."
        ) from None
    except ValueError:  # of a function in C nothing is known
        return


def check_kind(name: str, value: Any, hint: Any) -> None:
    """Raises an `ArgumentError` if a value is not of the annotated kind."""
    if not fits(value, hint):
        if value is None and is_key(hint):
            raise errors.ArgumentError(f"{name} is missing: pass a whole number or a jax key, e.g. {name}=0.")
        names = [one for one in typing.get_args(hint) if isinstance(one, str)]
        guess = errors.nearest(value, names) if isinstance(value, str) else None
        remedy = f" Did you mean {guess!r}?" if guess else ""
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be {described(hint)}.{remedy}")


def real_array(name: str, value: Any, dimensions: int | None = None, *, finite: bool = False) -> Any:
    """Returns a value as an array if it is one of real numbers; one of jax stays as it is, also in a compiled function.

    **Arguments:**

    - `name`: the name of the argument.
    - `value`: an array, or numbers in lists.
    - `dimensions`: how many dimensions it must have; any by default.
    - `finite`: whether nan and infinity are refused.

    **Raises:** `ArgumentError` for anything else.

    >>> real_array("xs", [[1.0, 2.0], [3.0]])
    Traceback (most recent call last):
    ...
    gnode.errors.ArgumentError: xs is [[1.0, 2.0], [3.0]], but must be an array of numbers.
    """
    import numpy as np

    wanted = "an array of numbers" if dimensions is None else f"an array of numbers with {dimensions} dimensions"
    if isinstance(value, bool | str | bytes | collections.abc.Mapping | set | frozenset) or value is None:
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be {wanted}.")
    try:
        array = value if hasattr(value, "dtype") and hasattr(value, "ndim") else np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be {wanted}.") from None
    if dtype_kind(array) not in ("b", "i", "u", "f", "V", "traced") or dimensions not in (None, array.ndim):
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be {wanted}.")
    if finite and not is_traced(array) and not np.all(np.isfinite(array)):
        raise errors.ArgumentError(f"{name} holds values that are not finite; fill missing values first.")
    return array


@functools.cache
def _class_hints(kind: type) -> dict[str, Any]:
    import dataclasses

    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def _hints(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    """The annotations of the named parameters. Those of *args and **kwargs belong to what they are handed on to.

    An annotation that names what is imported for type checkers only is left to the functions that import it.
    """
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    inner: Any = inspect.unwrap(function)
    hints: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind not in several and name in inner.__annotations__:
            alone = types.SimpleNamespace(__annotations__={name: inner.__annotations__[name]})
            with contextlib.suppress(NameError):
                hints |= typing.get_type_hints(alone, inner.__globals__)
    return hints


def _wrong_call(
    function: Callable[..., Any], signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> errors.CallError:
    """Says which argument is unknown, missing or too many."""
    of, parameters = function.__qualname__.removesuffix(".__init__").split(".")[-1], dict(signature.parameters)
    if next(iter(parameters), "") in ("self", "cls"):
        del parameters[next(iter(parameters))]
        args = args[1:]
    by_position = [
        name
        for name, one in parameters.items()
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    takes_more = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    for name in [] if takes_more else kwargs:
        if name not in parameters:
            guess = errors.nearest(name, parameters)
            hint = f" Did you mean {guess!r}?" if guess else f" It takes: {', '.join(parameters) or 'none'}."
            return errors.CallError(f"{of} has no argument {errors.shown(name)}.{hint}")
    if len(args) > len(by_position):
        others = [name for name in parameters if name not in by_position and name not in ("args", "kwargs")]
        named = f"; pass the others by name ({', '.join(others)})" if others else ""
        return errors.CallError(
            f"{of} is called with {len(args)} positional arguments, but takes at most {len(by_position)}{named}."
        )
    twice = [name for name in by_position[: len(args)] if name in kwargs]
    if twice:
        return errors.CallError(f"{of} is given {twice[0]} twice, by position and by name.")
    given = {*by_position[: len(args)], *kwargs}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [name for name, one in parameters.items() if one.default is one.empty and one.kind not in several]
    return errors.CallError(f"{of} needs {' and '.join(name for name in needed if name not in given)}.")

"""Compiled programs that use one core each, run on several cores at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
from jax.extend import core

from gnode.devices import available_cores

_CALLS_OUT = {"pure_callback", "io_callback", "debug_callback", "ffi_call"} | {
    value.name for value in vars(jax.lax.linalg).values() if isinstance(value, core.Primitive)
}
"""Primitives that leave the program, for LAPACK or for Python. Two programs at once that hold one of them can wait
for each other for ever: it holds a thread of jax's pool while it waits for another thread of the same pool."""


def threads_for(function: Callable, *arguments: Any) -> int:
    """How many programs made of `function` may run at once: a thread per core, on a processor and without danger."""
    if jax.default_backend() != "cpu" or not _is_plain(jax.make_jaxpr(function)(*arguments).jaxpr):
        return 1
    return available_cores()


def in_threads(function: Callable[[Any], Any], items: Sequence[Any], threads: int) -> Iterator[Any]:
    """`function` of every item, in order. The first runs alone, so that it compiles what the others then share."""
    yield from map(function, items[:1] if threads > 1 else items)
    if threads > 1 and len(items) > 1:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(function, items[1:])


def _is_plain(program: core.Jaxpr) -> bool:
    if any(equation.primitive.name in _CALLS_OUT for equation in program.eqns):
        return False
    settings = [list(equation.params.values()) for equation in program.eqns]
    inner = [value for value in jax.tree.leaves(settings, is_leaf=_is_program) if _is_program(value)]
    return all(_is_plain(getattr(value, "jaxpr", value)) for value in inner)


def _is_program(value: Any) -> bool:
    return isinstance(value, (core.Jaxpr, core.ClosedJaxpr))

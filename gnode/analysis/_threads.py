"""Runs compiled programs that use one core each on several cores at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
from jax.extend import core

from gnode.devices import available_cores

_CALLS_OUT = {"pure_callback", "io_callback", "debug_callback", "ffi_call"} | {
    value.name for value in vars(jax.lax.linalg).values() if isinstance(value, core.Primitive)
}
"""Primitives that call LAPACK or Python. Each holds a thread of jax's pool while it waits for another thread of the same
pool, so two programs that contain one can deadlock when they run at once."""


def threads_for(function: Callable, *arguments: Any) -> int:
    """Returns how many programs that call `function` may run at once: one per core on a CPU, 1 where that is unsafe."""
    if jax.default_backend() != "cpu" or not _is_plain(jax.make_jaxpr(function)(*arguments).jaxpr):
        return 1
    return available_cores()


def in_threads(function: Callable[[Any], Any], items: Sequence[Any], threads: int) -> Iterator[Any]:
    """Yields `function(item)` for every item, in order. The first call runs alone and compiles for the others."""
    yield from map(function, items[:1] if threads > 1 else items)
    if threads > 1 and len(items) > 1:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(function, items[1:])


def _is_plain(program: core.Jaxpr) -> bool:
    if any(equation.primitive.name in _CALLS_OUT for equation in program.eqns):
        return False
    parameters = [list(equation.params.values()) for equation in program.eqns]
    inner = [value for value in jax.tree.leaves(parameters, is_leaf=_is_program) if _is_program(value)]
    return all(_is_plain(getattr(value, "jaxpr", value)) for value in inner)


def _is_program(value: Any) -> bool:
    return isinstance(value, (core.Jaxpr, core.ClosedJaxpr))

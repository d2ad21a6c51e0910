"""The compilers of the GPU kernels: the only file that knows them.

A kernel is a function of references to arrays, written for Pallas. What a compiler needs beside it, how a kernel is
launched over tiles of trials, how its threads wait for each other and how units are cut, is a `Backend`. Another one is
another class in `BACKENDS`; the kernels stay as they are. Pallas is imported only where a kernel runs: the day JAX drops it,
everything else still works.
"""

import abc
import importlib
import warnings
from typing import Any

import jax
from jaxtyping import PyTree

from gnode import errors

__all__ = ["Backend", "backend", "why_missing"]

PALLAS, TRITON = "jax.experimental.pallas", "jax.experimental.pallas.triton"


class Backend(abc.ABC):
    """A compiler of kernels that are written for Pallas."""

    needs: tuple[str, ...]
    """The modules of JAX without which it does not compile; the first one is enough for Pallas' interpreter."""

    def why_missing(self, interpret: bool = False) -> str:
        """Returns which module is missing, as the end of a sentence, or an empty string if none is."""
        for name in self.needs[: 1 if interpret else None]:
            try:
                importlib.import_module(name)
            except ImportError:
                return f"needs {name}, which this version of JAX does not have"
        return ""

    @abc.abstractmethod
    def options(self, warps: int, stages: int) -> Any:
        """Returns what Pallas passes to the compiler: groups of 32 threads of a program, and the depth of pipelining."""

    @abc.abstractmethod
    def barrier(self) -> None:
        """Synchronises the threads of a program. Called inside a kernel."""


class Triton(Backend):
    """Pallas' Triton backend, which newer versions of JAX call deprecated."""

    needs = (PALLAS, TRITON)

    def options(self, warps: int, stages: int) -> Any:
        return importlib.import_module(TRITON).CompilerParams(num_warps=warps, num_stages=stages)

    def barrier(self) -> None:
        importlib.import_module(TRITON).debug_barrier()


BACKENDS: tuple[Backend, ...] = (Triton(),)
"""In the order in which they are preferred."""


def why_missing(interpret: bool = False) -> str:
    """Returns why no backend is there, as the end of a sentence, or an empty string if one is."""
    reasons = [own.why_missing(interpret) for own in BACKENDS]
    return reasons[0] if all(reasons) else ""


def backend(interpret: bool = False) -> Backend:
    """Returns the first backend that is there.

    **Raises:** `GnodeError` if none is.
    """
    for own in BACKENDS:
        if not own.why_missing(interpret):
            return own
    raise errors.GnodeError(f"a GPU kernel {why_missing(interpret)}.")


def span(first: Any, size: int) -> Any:
    """Returns a slice of an axis, for reading or writing inside a kernel."""
    from jax.experimental import pallas

    return pallas.ds(first, size)


def run_over_tiles(
    kernel: Any,
    over_trials: PyTree,
    whole: PyTree,
    out: PyTree,
    *,
    axis: int,
    tile: int,
    warps: int,
    stages: int,
    interpret: bool,
) -> Any:
    """Runs a kernel over tiles of trials.

    **Arguments:**

    - `kernel`: the kernel, a function of references to its arrays.
    - `over_trials`: arrays of which each program reads its own trials.
    - `whole`: arrays that each program reads as a whole.
    - `out`: arrays or shapes like those that the kernel writes.
    - `axis`: the axis of trials, counted from the end.
    - `tile`: the number of trials of a program, a divisor of the number of trials.
    - `warps`: the number of groups of 32 threads of a program.
    - `stages`: the depth of software pipelining.
    - `interpret`: whether to run in Pallas' interpreter.

    **Returns:** arrays like `out`.
    """
    compiler = backend(interpret)
    from jax.experimental import pallas as pl

    def cut(array: Any) -> Any:
        place = array.ndim + axis
        shape = tuple(tile if at == place else size for at, size in enumerate(array.shape))
        return pl.BlockSpec(shape, lambda i: tuple(i if at == place else 0 for at in range(len(shape))))

    def uncut(array: Any) -> Any:
        return pl.BlockSpec(array.shape, lambda i: (0,) * array.ndim)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pl.pallas_call(
            kernel,
            out_shape=jax.tree.map(lambda like: jax.ShapeDtypeStruct(like.shape, like.dtype), out),
            grid=(jax.tree.leaves(out)[0].shape[axis] // tile,),
            in_specs=(jax.tree.map(cut, over_trials), jax.tree.map(uncut, whole)),
            out_specs=jax.tree.map(cut, out),
            interpret=interpret,
            compiler_params=None if interpret else compiler.options(warps, stages),
        )(over_trials, whole)

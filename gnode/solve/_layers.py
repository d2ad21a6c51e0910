"""Layers of cells: each is integrated over all bins, and the next one sees its outputs."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

from gnode.cells import Cell, Layers
from gnode.solve._solver import Solver
from gnode.solve.parallel import AtOnce


class Beside(NamedTuple):
    """What a batch may have beside its inputs and initial states.

    - `noise`: independent normal numbers times sigma, of the shape of the states.
    - `guess`: states to begin with, where all bins are found at once.
    - `first`: the input before the first sample, trials x inputs.
    """

    noise: Array | None = None
    guess: Array | None = None
    first: Array | None = None


def layer_by_layer(
    run: Callable[[Cell, Array, Array, Solver, Beside], AtOnce],
    cell: Layers,
    xs: Array,
    h0: Array,
    solver: Solver,
    beside: Beside,
) -> AtOnce:
    """Integrates each layer over all bins under the outputs of the one below, which are held for a bin."""
    of_noise, of_guess = ([None] * len(cell.layers) if each is None else cell.parts(each) for each in beside[:2])
    if cell.has("diffusion"):  # the noise is that of stochastic layers, and no other has any
        of_noise = [own if layer.has("diffusion") else None for layer, own in zip(cell.layers, of_noise)]
    found: list[AtOnce] = []
    first = None
    for layer, start, own_noise, own_guess in zip(cell.layers, cell.parts(h0), of_noise, of_guess):
        found.append(run(layer, xs, start, solver, Beside(own_noise, own_guess, first)))
        first = layer.seen(start, xs[:, 0] if first is None else first)
        xs = layer.seen(found[-1].states, xs)
        solver = dataclasses.replace(solver, interpolation="hold")
    rounds, converged = ([getattr(each, name) for each in found] for name in ("rounds", "converged"))
    states = jnp.concatenate([each.states for each in found], axis=-1)
    return AtOnce(states, jnp.max(jnp.stack(rounds)), jnp.all(jnp.stack(converged)))


def found_by_loop(states: Array) -> AtOnce:
    return AtOnce(states, jnp.int32(0), jnp.bool_(True))

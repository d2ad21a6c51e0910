"""Forward Euler for the gated family, with a hand-written derivative.

A step of the cell tau dh/dt = G * (-h + F), with r_t = dt_t / tau and layer values s = phi(a), is

    h_t = h_(t-1) + r_t G_t (F_t - h_(t-1)).

Let d denote a tangent. The tangent of the weights enters each pre-activation through a *tap*, dW s + db, which depends on
the states but not on their tangents. The taps of all bins and trials are therefore one product per layer, and the loop over
time only propagates dh:

    da = W ds + tap,   ds = phi'(a) da,   dh_t = dh_(t-1) + dr_t G (F - h) + r_t (dG (F - h) + G (dF - dh_(t-1))).

Reverse mode is the transpose: a loop backwards in time computes the adjoint state and stacks the cotangents of the
pre-activations, and one product per layer, over time and trials, gives the gradient of its weights. A plain loop instead
adds an outer product to the gradient of every weight in every bin. Forward mode and higher derivatives also work, because
the rule consists of differentiable operations.

The products of the first layers of F and G with h and x are computed as one product.
"""

from functools import partial
from typing import TypeGuard

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode._activation_functions import SLOPES
from gnode.activations import activation
from gnode.cells import Cell, Gated, Stack
from gnode.solve._unroll import unroll

ROWS = {"cpu": 1000}
"""Rows (bins times trials) of one product for the gradient of the weights. More are slower if two networks share a cache."""

NARROW, SMALL = 128, 16_000
"""On a CPU: the hand-written derivative is faster up to this width, or this width times the number of trials."""


def stacks(cell: Gated) -> list[Stack]:
    """Returns F, and G if there is a gate."""
    return [cell.F] if cell.G is None else [cell.F, cell.G]


def has_hand_written_derivative(cell: Cell) -> TypeGuard[Gated]:
    """Whether `gated_euler` supports the cell."""
    return is_plain(cell) and {name for stack in stacks(cell) for name in (stack.hidden, stack.final)} <= SLOPES.keys()


def is_plain(cell: Cell) -> TypeGuard[Gated]:
    """Whether the cell is exactly a `Gated` without `activate_state`. A subclass may define another vector field."""
    if type(cell) is not Gated:
        return False
    return all(type(stack) is Stack and not stack.activate_state for stack in stacks(cell))


def pays(cell: Gated, trials: int) -> bool:
    """Whether a derivative with flat products is faster than that of the plain loop for a batch of `trials`.

    The plain loop is slow because of many small products. On a CPU it is as fast if the products of one bin are large
    enough to occupy all cores.
    """
    widest = max(W.shape[0] for stack in stacks(cell) for W in stack.W)
    return jax.default_backend() != "cpu" or widest <= NARROW or trials * widest <= SMALL


def gated_euler(
    cell: Gated,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
) -> Float[Array, "time trials state"]:
    """Computes the states of a batch of trials, time first, with one Euler step per bin and the input held."""
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    return _states(structure, values, h0, xs, dt)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _states(structure: PyTree, values: PyTree, h0: Array, xs: Array, dt: Array) -> Array:
    return _forward(eqx.combine(values, structure), h0, xs, dt)[0]


Layers = list[Array]
"""The values of all layers of a stack; the last one is F or G itself."""


def _forward(cell: Gated, h0: Array, xs: Array, dt: Array) -> tuple[Array, Layers, Layers]:
    """Computes the states, and the values of all layers of F and G (no layers without a gate)."""
    first, bias = _first_layer(cell)
    # Transposed once, outside the loop: a product with a transposed matrix is slower.
    first, F_after, G_after = first.T, _after(cell.F), _after(cell.G)
    width = cell.F.W[0].shape[0]

    def step(h: Array, bin: tuple[Array, Array]) -> tuple[Array, tuple[Array, Layers, Layers]]:
        x, rate = bin
        a = jnp.concatenate([h, x], axis=-1) @ first + bias
        F = _values(cell.F, a[:, :width], F_after)
        G = _values(cell.G, a[:, width:], G_after)
        drift = F[-1] - h if cell.leak else F[-1]
        h = h + rate * (G[-1] * drift if cell.G is not None else drift)
        return h, (h, F, G)

    return jax.lax.scan(step, h0, (xs, rate_of(cell, dt)), unroll=unroll(xs.shape[0]))[1]


@_states.defjvp
def _states_jvp(structure: PyTree, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    values, h0, xs, dt = primals
    dvalues, dh0, dxs, ddt = tangents
    cell, dcell = eqx.combine(values, structure), eqx.combine(dvalues, structure)
    hs, F, G = _forward(cell, h0, xs, dt)
    before = jnp.concatenate([h0[None], hs[:-1]])
    rate, drate = jax.jvp(
        lambda timescale, dt: rate_of(eqx.tree_at(lambda cell: cell.timescale, cell, timescale), dt),
        (cell.timescale, dt),
        (dcell.timescale, ddt),
    )
    bins = (before, xs, rate, F, G, dxs, drate)
    chunk = _bins_per_product(*dt.shape)
    # Recomputing the slopes from the values is cheaper than storing both, so the loops store their inputs only.
    along = jax.checkpoint(partial(_tangent_chunk, cell, dcell), prevent_cse=False)
    if chunk == dt.shape[0]:
        return hs, along(dh0, bins)[1]
    _, dhs = jax.lax.scan(along, dh0, jax.tree.map(lambda part: part.reshape(-1, chunk, *part.shape[1:]), bins))
    return hs, dhs.reshape(hs.shape)


def _tangent_chunk(cell: Gated, dcell: Gated, dh: Array, bins: tuple) -> tuple[Array, Array]:
    """Propagates the tangent of the state over some bins; returns it at their end and in every bin."""
    before, xs, rate, F, G, dxs, drate = bins
    first, F_after, G_after = _first_layer(cell)[0].T, _after(cell.F), _after(cell.G)
    dfirst, dbias = _first_layer(dcell)
    width = cell.F.W[0].shape[0]
    tap = _product(jnp.concatenate([before, xs], axis=-1), dfirst) + dbias
    F_taps, G_taps = _taps(dcell.F, F), _taps(dcell.G, G)

    @partial(jax.checkpoint, prevent_cse=False)
    def step(dh: Array, bin: tuple) -> tuple[Array, Array]:
        h, rate, F, G, dx, drate, tap, F_taps, G_taps = bin
        da = jnp.concatenate([dh, dx], axis=-1) @ first + tap
        dF = _changes(cell.F, F, da[:, :width], F_after, F_taps)
        drift, ddrift = (F[-1] - h, dF - dh) if cell.leak else (F[-1], dF)
        if cell.G is not None:
            dG = _changes(cell.G, G, da[:, width:], G_after, G_taps)
            drift, ddrift = G[-1] * drift, dG * drift + G[-1] * ddrift
        dh = dh + drate * drift + rate * ddrift
        return dh, dh

    time = xs.shape[0]
    return jax.lax.scan(step, dh, (before, rate, F, G, dxs, drate, tap, F_taps, G_taps), unroll=unroll(time))


def rate_of(cell: Gated, dt: Array) -> Array:
    """Computes dt / tau for every bin, trial and unit."""
    return jnp.broadcast_to(dt[..., None] / cell.timescale(), (*dt.shape, cell.units))


def _first_layer(cell: Gated) -> tuple[Array, Array]:
    """Returns [W^0 U] and b^0, with the rows of F above those of G."""
    weights = jnp.concatenate([jnp.concatenate([stack.W[0], stack.U], axis=1) for stack in stacks(cell)])
    return weights, jnp.concatenate([stack.b[0] for stack in stacks(cell)])


def _after(stack: Stack | None) -> Layers:
    """Returns the transposed weights of all layers after the first."""
    return [] if stack is None else [W.T for W in stack.W[1:]]


def layer_names(stack: Stack) -> list[str]:
    """Returns the name of the activation of every layer."""
    return [stack.hidden] * (stack.depth - 1) + [stack.final]


def _values(stack: Stack | None, a: Array, after: Layers) -> Layers:
    """Computes the values of all layers from the pre-activation of the first."""
    if stack is None:
        return []
    names = layer_names(stack)
    values = [activation(names[0])(a)]
    for name, W, b in zip(names[1:], after, stack.b[1:]):
        values.append(activation(name)(values[-1] @ W + b))
    return values


def _taps(dstack: Stack | None, values: Layers) -> Layers:
    """Computes the tangents that the weights add to the pre-activations of all layers after the first."""
    if dstack is None:
        return []
    return [_product(s, dW) + db for s, dW, db in zip(values[:-1], dstack.W[1:], dstack.b[1:])]


def _changes(stack: Stack, values: Layers, da: Array, after: Layers, taps: Layers) -> Array:
    """Computes the tangent of a stack's output from that of its first pre-activation."""
    names = layer_names(stack)
    ds = SLOPES[names[0]](values[0]) * da
    for name, s, W, tap in zip(names[1:], values[1:], after, taps):
        ds = SLOPES[name](s) * (ds @ W + tap)
    return ds


def _product(s: Array, dW: Array) -> Array:
    """Computes s dW^T for all bins and trials as one flat product, whose transpose is then one product too."""
    flat = jax.lax.dot_general(s.reshape(-1, s.shape[-1]), dW, (((1,), (1,)), ((), ())))
    return flat.reshape(*s.shape[:-1], -1)


def _bins_per_product(time: int, trials: int) -> int:
    """Returns the largest divisor of `time` that keeps a product within `ROWS`, or all bins if there is no such limit."""
    most = ROWS.get(jax.default_backend(), time * trials)
    chunk = max(bins for bins in range(1, time + 1) if time % bins == 0 and (bins == 1 or bins * trials <= most))
    return time if chunk * trials < most / 5 else chunk

"""The gated family's Euler steps as one GPU kernel forwards and one backwards (Pallas).

A compiled loop launches some kernels for every bin and reads the weights again each time. Here one program takes a network
and a tile of trials through all bins by itself, with the weights on the chip. The mathematics is that of `gated_euler`:

    forwards     h_t = h_(t-1) + r_t G_t (F_t - h_(t-1)), storing every layer's value s;
    backwards    lambda_(t-1) = (adjoint of h_(t-1) from outside) + lambda_t (1 - r_t G_t) + W^0T a_F^0 + W^0T a_G^0,

where a^l is the cotangent of a pre-activation, a^(L-1) = slope * (lambda r G) for F and slope * (lambda r (F - h)) for G.
The kernel stores the a^l; the gradient of every weight is then one product over bins and trials.

A first layer takes z = (h, x, 1) in one product with [W^0 U b^0]. A tile is a matrix of units x trials, so that a product
is W s: the chip is faster with a large left factor that stays where it is than with a large right one. Widths are
padded to powers of two and trials to whole tiles, by zeros that reach nothing. Only reverse mode is defined here: `rollout`
asks for this kernel where a gradient is all that is wanted, in training.
"""

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode.cells import Gated, Stack, gated
from gnode.solve._gated_euler import has_hand_written_derivative, rate_of, stacks
from gnode.solve.gpu.fused_kernels import (
    Layers,
    backward_kernel,
    biases_on_chip,
    forward_kernel,
    laid_out,
    layer_shapes,
    product_on_chip,
    run_over_trials,
    trials_before_units,
    units_first,
    weights_on_chip,
)
from gnode.solve.gpu.tiles import padded, why_not_precision

WIDEST = 128
"""Units of the widest layer that the kernel takes; also the most of z = (h, x, 1)."""

OLDEST = 9.0
"""The least compute capability of a GPU on which the kernel is chosen by itself: `ON_CHIP` is measured for those."""


def why_not(cell: Any, dtype: Any) -> str:
    """Why the kernel can not run the cell, as the end of a sentence; nothing if it can."""
    if not has_hand_written_derivative(cell):
        return "runs cells of the gated family only, with activations whose value tells their slope"
    if why := why_not_precision(dtype):
        return why
    widest = max(W.shape[0] for stack in stacks(cell) for W in stack.W)
    if widest > WIDEST:
        return f"takes layers of at most {WIDEST} units, not {widest}"
    size = cell.units + cell.inputs + 1
    return f"takes at most {WIDEST} units of state and inputs and one more, not {size}" if size > WIDEST else ""


def fits(cell: Any, dtype: Any) -> bool:
    """Whether the kernel can run the cell."""
    return not why_not(cell, dtype)


def is_chosen_here() -> bool:
    """Whether training takes the kernel by itself: on a GPU that runs it, unless full precision is asked for."""
    device, precision = (getattr(jax.config, f"jax_default_{name}") for name in ("device", "matmul_precision"))
    if device is not None and getattr(device, "platform", device) != "gpu":
        return False
    return precision not in ("highest", "float32") and _runs_here()


@cache
def _runs_here() -> bool:
    """Found out once, by running a small network. Pallas' translator for GPUs may be missing, or the GPU too old."""
    if jax.default_backend() != "gpu":
        return False
    try:
        if float(getattr(jax.devices()[0], "compute_capability", 0)) < OLDEST:
            return False
        try_out()
    except Exception as problem:  # whatever it is, the loop does the same work
        warnings.warn(
            f"the fused kernel does not run here ({problem}); training takes the compiled loop.", stacklevel=2
        )
        return False
    return True


def try_out(interpret: bool = False) -> None:
    """Runs the kernel on the smallest network, with its gradient, also when called in the middle of a trace."""

    def both_ways() -> None:
        cell, h0, xs, dt = gated(1, 1, key=0), jnp.zeros((1, 1)), jnp.zeros((1, 1, 1)), jnp.zeros((1, 1))
        jax.block_until_ready(eqx.filter_grad(lambda c: fused_euler(c, h0, xs, dt, interpret=interpret).sum())(cell))

    with ThreadPoolExecutor(1) as elsewhere:  # traces belong to a thread: in another one nothing is being traced
        elsewhere.submit(both_ways).result()


def fused_euler(
    cell: Gated,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
    products: str = "tf32",
    interpret: bool = False,
) -> Float[Array, "time trials state"]:
    """What `gated_euler` computes, by the kernel; `interpret` runs it on any device, slowly."""
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    return _states(structure, products, interpret, values, h0, xs, dt)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _states(
    structure: PyTree, products: str, interpret: bool, values: PyTree, h0: Array, xs: Array, dt: Array
) -> Array:
    return _run_forward(structure, products, interpret, values, h0, xs, dt, store=False)[0]


def _states_forward(
    structure: PyTree, products: str, interpret: bool, values: PyTree, h0: Array, xs: Array, dt: Array
) -> tuple[Array, tuple]:
    return _run_forward(structure, products, interpret, values, h0, xs, dt, store=True)


def _run_forward(
    structure: PyTree,
    products: str,
    interpret: bool,
    values: PyTree,
    h0: Array,
    xs: Array,
    dt: Array,
    *,
    store: bool,
) -> tuple[Array, tuple]:
    """The states, and what the backward pass needs; without `store` no layer's values leave the chip."""
    cell = eqx.combine(values, structure)
    time, trials = dt.shape
    state, inputs, rate = laid_out(cell, h0, xs, dt)
    weights = weights_on_chip(cell, products)
    biases = Layers(biases_on_chip(cell.F, weights.F), biases_on_chip(cell.G, weights.G))
    hs, layers = run_over_trials(
        partial(forward_kernel, structure, time, product_on_chip(products, interpret)),
        over_trials=(state, rate, inputs),
        whole=(weights, biases),
        out=(rate, layer_shapes(weights, time, rate.shape[-1]) if store else Layers([], [])),
        interpret=interpret,
    )
    return trials_before_units(hs[: cell.units, :, :trials]), (values, xs, dt, state, inputs, rate, hs, layers)


def _states_backward(structure: PyTree, products: str, interpret: bool, kept: tuple, dhs: Array) -> tuple:
    values, xs, dt, state, inputs, rate, hs, layers = kept
    cell = eqx.combine(values, structure)
    before = jnp.concatenate([state[:, None], hs[:, :-1]], axis=1)
    weights = weights_on_chip(cell, products)
    adjoint, da = run_over_trials(
        partial(backward_kernel, structure, dt.shape[0], product_on_chip(products, interpret)),
        over_trials=(before, rate, layers, padded(units_first(dhs), rate.shape)),
        whole=(Layers(*([W.T for W in stack] for stack in weights)),),
        out=(rate, layers),
        interpret=interpret,
    )
    return _cotangents(cell, xs, dt, before, inputs, rate, layers, adjoint, da)


_states.defvjp(_states_forward, _states_backward)


def _cotangents(
    cell: Gated,
    xs: Array,
    dt: Array,
    before: Array,
    inputs: Array,
    rate: Array,
    layers: Layers,
    adjoint: Array,
    da: Layers,
) -> tuple:
    """The cotangents of the cell's values, h0, xs and dt, from those of states and pre-activations."""
    trials, units = dt.shape[1], cell.units
    z = before + inputs
    F = _stack_cotangent(cell.F, z, layers.F, da.F)
    G = None if cell.G is None else _stack_cotangent(cell.G, z, layers.G, da.G)
    drift = layers.F[-1] - before if cell.leak else layers.F[-1]
    gate = layers.G[-1] if cell.G is not None else jnp.ones_like(drift)
    own = lambda array: trials_before_units(array[:units, :, :trials])  # noqa: E731
    dxs, dh0 = jnp.zeros_like(xs), own(adjoint * (1 - rate * gate) if cell.leak else adjoint)[0]
    for stack, found in ((cell.F, da.F), (cell.G, da.G)):
        if stack is not None:
            first = trials_before_units(found[0][: stack.W[0].shape[0], :, :trials]).astype(xs.dtype)
            dxs, dh0 = dxs + first @ stack.U, dh0 + first[0] @ stack.W[0]
    _, back = jax.vjp(
        lambda timescale, dt: rate_of(eqx.tree_at(lambda cell: cell.timescale, cell, timescale), dt), cell.timescale, dt
    )
    dtimescale, ddt = back(own(adjoint * gate * drift))
    dcell = eqx.tree_at(
        lambda cell: (cell.F, cell.G, cell.timescale),
        eqx.filter(cell, eqx.is_inexact_array),
        (F, G, eqx.filter(dtimescale, eqx.is_inexact_array)),
        is_leaf=lambda leaf: leaf is None,
    )
    return dcell, dh0, dxs, ddt


def _stack_cotangent(stack: Stack, z: Array, values: Sequence[Array], da: Sequence[Array]) -> Stack:
    """The gradient of a stack's weights and biases, one product for each layer."""
    state, inputs = stack.W[0].shape[1], stack.U.shape[1]
    first = _product(da[0], z)[: stack.W[0].shape[0]]
    dW = [_product(a, s)[: W.shape[0], : W.shape[1]] for a, s, W in zip(da[1:], values, stack.W[1:])]
    db = [a.sum((1, 2), dtype=jnp.float32)[: b.shape[0]] for a, b in zip(da[1:], stack.b[1:])]
    return eqx.tree_at(
        lambda stack: (stack.W, stack.U, stack.b),
        stack,
        (
            (first[:, :state], *dW),
            first[:, state : state + inputs],
            (first[:, state + inputs], *db),
        ),
    )


def _product(a: Array, s: Array) -> Array:
    """Sum over bins and trials of a s^T."""
    # Both factors as coarse as the coarser of them: the kernel's own products took them so.
    kind = jnp.bfloat16 if jnp.bfloat16 in (a.dtype, s.dtype) else a.dtype
    flat = (array.reshape(array.shape[0], -1).astype(kind) for array in (a, s))
    return jnp.einsum("it,jt->ij", *flat, preferred_element_type=jnp.float32)

"""The fused kernel: forward Euler of the gated family as one GPU kernel forwards and one backwards (Pallas).

A compiled loop launches several kernels for every bin and reads the weights again each time. Here one program integrates a
network on a tile of trials over all bins, and keeps the weights on the chip. The equations are those of `gated_euler`:

    forwards     h_t = h_(t-1) + r_t G_t (F_t - h_(t-1)), storing the values s of all layers;
    backwards    lambda_(t-1) = (cotangent of h_(t-1)) + lambda_t (1 - r_t G_t) + W^0T a_F^0 + W^0T a_G^0,

where lambda is the adjoint state and a^l the cotangent of a pre-activation: a^(L-1) = slope * (lambda r G) for F and
slope * (lambda r (F - h)) for G. The kernel stores the a^l; the gradient of each weight is then one product over bins and
trials.

A first layer computes the product of [W^0 U b^0] with z = (h, x, 1). A tile is a matrix of units x trials, so that products
have the form W s: a large, constant left operand is faster than a large right one. Widths are padded with zeros to powers
of two, and trials to whole tiles. Only reverse mode is defined, so the kernel is used in training only.
"""

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple

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
    run_over_trials,
    trials_before_units,
    units_first,
    weights_on_chip,
)
from gnode.solve.gpu.tiles import bounded, padded, power_for_16_bits, why_not_precision

WIDEST = 128
"""The maximum width of a layer, and of z = (h, x, 1)."""

OLDEST = 9.0
"""The minimum compute capability for which "auto" chooses the kernel; `ON_CHIP` was measured on such GPUs."""


def why_not(cell: Any, dtype: Any) -> str:
    """Returns why the kernel does not support the cell, as the end of a sentence, or an empty string if it does."""
    if not has_hand_written_derivative(cell):
        return "supports the gated family only, with activations whose value determines their slope"
    if why := why_not_precision(dtype):
        return why
    widest = max(W.shape[0] for stack in stacks(cell) for W in stack.W)
    if widest > WIDEST:
        return f"supports layers of at most {WIDEST} units, not {widest}"
    size = cell.units + cell.inputs + 1
    return f"supports at most {WIDEST - 1} units and inputs together, not {size - 1}" if size > WIDEST else ""


def fits(cell: Any, dtype: Any) -> bool:
    """Whether the kernel supports the cell."""
    return not why_not(cell, dtype)


def is_chosen_here() -> bool:
    """Whether "auto" chooses the kernel: on a GPU that can run it, unless full precision of products is requested."""
    device, precision = (getattr(jax.config, f"jax_default_{name}") for name in ("device", "matmul_precision"))
    if device is not None and getattr(device, "platform", device) != "gpu":
        return False
    return precision not in ("highest", "float32") and _runs_here()


@cache
def _runs_here() -> bool:
    """Whether the kernel runs on this GPU, tested once on a small network. Pallas may be missing, or the GPU too old."""
    if jax.default_backend() != "gpu":
        return False
    try:
        if float(getattr(jax.devices()[0], "compute_capability", 0)) < OLDEST:
            return False
        try_out()
    except Exception as problem:  # the loop computes the same on any failure
        why = str(problem).rstrip(".")
        warnings.warn(
            f"the fused kernel does not run on this GPU ({why}); training uses the compiled loop.", stacklevel=2
        )
        return False
    return True


def try_out(interpret: bool = False) -> None:
    """Runs the kernel and its gradient on the smallest network, also if called while jax is tracing."""

    def both_ways() -> None:
        cell, h0, xs, dt = gated(1, 1, key=0), jnp.zeros((1, 1)), jnp.zeros((1, 1, 1)), jnp.zeros((1, 1))
        jax.block_until_ready(eqx.filter_grad(lambda c: fused_euler(c, h0, xs, dt, interpret=interpret).sum())(cell))

    with ThreadPoolExecutor(1) as elsewhere:  # a trace is local to its thread
        elsewhere.submit(both_ways).result()


def fused_euler(
    cell: Gated,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
    products: str = "tf32",
    interpret: bool = False,
) -> Float[Array, "time trials state"]:
    """Computes what `gated_euler` does by the kernel.

    **Arguments:**

    - `cell`: a cell of the gated family that the kernel supports.
    - `h0`: the initial states, trials x state.
    - `xs`: the inputs, time x trials x inputs.
    - `dt`: the lengths of the bins in seconds, time x trials.
    - `products`: a name from `PRODUCTS`.
    - `interpret`: whether to run in Pallas' interpreter, which works on any device but is slow.

    **Returns:** the states, time x trials x state.
    """
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    return _states(structure, products, interpret, values, h0, xs, dt)


class Kept(NamedTuple):
    """The values that the forward pass keeps for the backward pass."""

    values: PyTree
    """The arrays of the cell."""
    xs: Array
    dt: Array
    state: Array
    """The initial state in the kernel's layout, like all that follow."""
    inputs: Array
    rate: Array
    hs: Array
    layers: Layers


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _states(
    structure: PyTree, products: str, interpret: bool, values: PyTree, h0: Array, xs: Array, dt: Array
) -> Array:
    return _run_forward(structure, products, interpret, values, h0, xs, dt, store=False)[0]


def _states_forward(
    structure: PyTree, products: str, interpret: bool, values: PyTree, h0: Array, xs: Array, dt: Array
) -> tuple[Array, Kept]:
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
) -> tuple[Array, Kept]:
    """Computes the states and keeps what the backward pass needs; without `store` no values of layers are written."""
    cell = eqx.combine(values, structure)
    time, trials = dt.shape
    state, inputs, rate = laid_out(cell, h0, xs, dt)
    weights = weights_on_chip(cell, products, interpret)
    biases = Layers(biases_on_chip(cell.F, weights.F), biases_on_chip(cell.G, weights.G))
    hs, layers = run_over_trials(
        partial(forward_kernel, structure, time),
        over_trials=(state, rate, inputs),
        whole=(weights, biases),
        out=(rate, layer_shapes(weights, time, rate.shape[-1]) if store else Layers([], [])),
        interpret=interpret,
    )
    return trials_before_units(hs[: cell.units, :, :trials]), Kept(values, xs, dt, state, inputs, rate, hs, layers)


def _states_backward(structure: PyTree, products: str, interpret: bool, kept: Kept, dhs: Array) -> tuple:
    cell = eqx.combine(kept.values, structure)
    before = jnp.concatenate([kept.state[:, None], kept.hs[:, :-1]], axis=1)
    weights = weights_on_chip(cell, products, interpret)
    scale = power_for_16_bits(jnp.max(jnp.abs(dhs)))
    adjoint, da = run_over_trials(
        partial(backward_kernel, structure, kept.dt.shape[0]),
        over_trials=(before, kept.rate, kept.layers, padded(units_first(scale * dhs), kept.rate.shape)),
        whole=(Layers(*([W.T for W in stack] for stack in weights)),),
        out=(kept.rate, kept.layers),
        interpret=interpret,
    )
    return jax.tree.map(lambda cotangent: cotangent / scale, _cotangents(cell, kept, before, adjoint, da))


_states.defvjp(_states_forward, _states_backward)


def _cotangents(cell: Gated, kept: Kept, before: Array, adjoint: Array, da: Layers) -> tuple:
    """Computes the cotangents of the cell's arrays, h0, xs and dt.

    **Arguments:** `before`, the state before each bin; `adjoint` and `da`, the cotangents of states and pre-activations.
    """
    xs, dt, rate, layers = kept.xs, kept.dt, kept.rate, kept.layers
    trials, units = dt.shape[1], cell.units
    z = before + kept.inputs
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
    """Computes the gradient of the weights and biases of a stack, with one product for each layer."""
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
    """Computes the sum over bins and trials of a s^T."""
    # Both operands in the lower of their precisions, as in the products of the kernel.
    lower = min((a.dtype, s.dtype), key=lambda dtype: dtype.itemsize)
    flat = (bounded(array.reshape(array.shape[0], -1), lower) for array in (a, s))
    return jnp.einsum("it,jt->ij", *flat, preferred_element_type=jnp.float32)

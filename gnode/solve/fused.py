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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, Float, PyTree

from gnode.activations import SLOPES, activation
from gnode.cells import Gated, gated
from gnode.cells.stack import Stack
from gnode.solve.gated_euler import has_hand_written_derivative, layer_names, rate_of, stacks

WIDEST = 128
"""Units of the widest layer that the kernel takes; also the most of z = (h, x, 1)."""

NARROWEST = 16
"""The least side of a product on the chip; smaller layers are padded to it."""

TILE = 32
"""Trials of one program, at most."""

ON_CHIP = 150_000
"""Bytes of weights that stay on the chip for all bins; what is beyond is read again in every bin."""

Dot = Callable[[Array, Array], Array]


OLDEST = 9.0
"""The least compute capability of a GPU on which the kernel is chosen by itself: `ON_CHIP` is measured for those."""


def why_not(cell: Any, dtype: Any) -> str:
    """Why the kernel can not run the cell, as the end of a sentence; nothing if it can."""
    if not has_hand_written_derivative(cell):
        return "runs cells of the gated family only, with activations whose value tells their slope"
    if dtype != jnp.float32:
        return f"computes in float32, not {jnp.dtype(dtype)}"
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


class Layers(NamedTuple):
    """Something for every layer of F and of G (no layers without a gate)."""

    F: Sequence[Any]
    G: Sequence[Any]


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
    state, inputs, rate = _laid_out(cell, h0, xs, dt)
    weights = _weights(cell, products)
    biases = Layers(_biases(cell.F, weights.F), _biases(cell.G, weights.G))
    hs, layers = _call(
        partial(_forward_kernel, structure, time, _dot(products, interpret)),
        over_trials=(state, rate, inputs),
        whole=(weights, biases),
        out=(rate, _stacked(weights, time, rate.shape[-1]) if store else Layers([], [])),
        interpret=interpret,
    )
    return _trials_before_units(hs[: cell.units, :, :trials]), (values, xs, dt, state, inputs, rate, hs, layers)


def _states_backward(structure: PyTree, products: str, interpret: bool, kept: tuple, dhs: Array) -> tuple:
    values, xs, dt, state, inputs, rate, hs, layers = kept
    cell = eqx.combine(values, structure)
    before = jnp.concatenate([state[:, None], hs[:, :-1]], axis=1)
    weights = _weights(cell, products)
    adjoint, da = _call(
        partial(_backward_kernel, structure, dt.shape[0], _dot(products, interpret)),
        over_trials=(before, rate, layers, _padded(_units_first(dhs), rate.shape)),
        whole=(Layers(*([W.T for W in stack] for stack in weights)),),
        out=(rate, layers),
        interpret=interpret,
    )
    return _cotangents(cell, xs, dt, before, inputs, rate, layers, adjoint, da)


_states.defvjp(_states_forward, _states_backward)


def _laid_out(cell: Gated, h0: Array, xs: Array, dt: Array) -> tuple[Array, Array, Array]:
    """h0, the rest (x, 1) of z for all bins, and dt / tau: units first, trials last, all in their places of z."""
    time, trials = dt.shape
    size = cell.units + cell.inputs + 1
    tile = _tile(trials)
    shape = (_power_of_two(size), time, -(-trials // tile) * tile)
    rest = jnp.concatenate([_units_first(xs), jnp.ones((1, time, trials), xs.dtype)])
    inputs = jnp.pad(rest, [(cell.units, shape[0] - size), (0, 0), (0, shape[2] - trials)])
    return _padded(h0.T, (shape[0], shape[2])), inputs, _padded(_units_first(rate_of(cell, dt)), shape)


def _units_first(array: Float[Array, "time trials units"]) -> Float[Array, "units time trials"]:
    return jnp.moveaxis(array, -1, 0)


def _trials_before_units(array: Float[Array, "units time trials"]) -> Float[Array, "time trials units"]:
    return jnp.moveaxis(array, 0, -1)


def _weights(cell: Gated, products: str) -> Layers:
    """The weights of all layers as the kernel keeps them: [W^0 U b^0], then the others; out x in, padded."""
    dtype = jnp.bfloat16 if products == "bfloat16" else jnp.float32
    size = _power_of_two(cell.units + cell.inputs + 1)

    def of(stack: Stack | None) -> list[Array]:
        if stack is None:
            return []
        first = jnp.concatenate([stack.W[0], stack.U, stack.b[0][:, None]], axis=1)
        widths = [_power_of_two(W.shape[0]) for W in stack.W[:-1]] + [size]
        padded = [_padded(W, shape) for W, *shape in zip([first, *stack.W[1:]], widths, [size, *widths])]
        return [W.astype(dtype) for W in padded]

    return Layers(of(cell.F), of(cell.G))


def _biases(stack: Stack | None, weights: Sequence[Array]) -> list[Array]:
    """Those of all layers but the first."""
    return [] if stack is None else [_padded(b, W.shape[:1]) for b, W in zip(stack.b[1:], weights[1:])]


def _stacked(weights: Layers, time: int, trials: int) -> Layers:
    """Shapes of every layer's values over time. Hidden layers are kept as precisely as products take them."""

    def of(stack: Sequence[Array]) -> list[jax.ShapeDtypeStruct]:
        hidden = [jax.ShapeDtypeStruct((W.shape[0], time, trials), W.dtype) for W in stack[:-1]]
        return hidden + [jax.ShapeDtypeStruct((W.shape[0], time, trials), jnp.float32) for W in stack[-1:]]

    return Layers(of(weights.F), of(weights.G))


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
    own = lambda array: _trials_before_units(array[:units, :, :trials])  # noqa: E731
    dxs, dh0 = jnp.zeros_like(xs), own(adjoint * (1 - rate * gate) if cell.leak else adjoint)[0]
    for stack, found in ((cell.F, da.F), (cell.G, da.G)):
        if stack is not None:
            first = _trials_before_units(found[0][: stack.W[0].shape[0], :, :trials]).astype(xs.dtype)
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


def _forward_kernel(
    cell: Gated, time: int, dot: Dot, over_trials: tuple, whole: tuple, hs: Any, layers: Layers
) -> None:
    state, rate, inputs = over_trials
    weights, biases = whole
    weights, biases = _kept(weights), jax.tree.map(lambda ref: ref[...], biases)

    def step(t: Array, carry: tuple) -> tuple:
        h, (r, rest) = carry
        following = _at((rate, inputs), jnp.minimum(t + 1, time - 1))  # asked for a bin ahead, to be there in time
        z = h + rest
        F = _values(cell.F, z, weights.F, biases.F, dot)
        G = _values(cell.G, z, weights.G, biases.G, dot)
        drift = F[-1] - h if cell.leak else F[-1]
        h = h + r * (G[-1] * drift if cell.G is not None else drift)
        _store((hs, layers), t, (h, Layers(F, G) if layers.F else Layers([], [])))
        return h, following

    jax.lax.fori_loop(0, time, step, (state[...], _at((rate, inputs), 0)))


def _backward_kernel(
    cell: Gated, time: int, dot: Dot, over_trials: tuple, whole: tuple, adjoints: Any, da: Layers
) -> None:
    weights = _kept(whole[0])

    def step(i: Array, carry: tuple) -> tuple:
        later, (h, r, layers, given) = carry
        t = time - 1 - i
        following = _at(over_trials, jnp.maximum(t - 1, 0))
        adjoint = given + later
        drift = layers.F[-1] - h if cell.leak else layers.F[-1]
        along = r * adjoint
        gated = along * layers.G[-1] if cell.G is not None else along
        F, dh = _pulled_back(cell.F, gated, layers.F, weights.F, dot)
        G, more = _pulled_back(cell.G, along * drift, layers.G, weights.G, dot)
        dh = dh + (adjoint - gated if cell.leak else adjoint)
        _store((adjoints, da), t, (adjoint, Layers(F, G)))
        return (dh + more if cell.G is not None else dh), following

    last = _at(over_trials, time - 1)
    jax.lax.fori_loop(0, time, step, (jnp.zeros_like(last[0]), last))


Weight = Callable[[], Array]
"""A matrix, rows as many as units of the result, when it is needed: W forwards, its transpose backwards."""


def _kept(weights: Layers) -> PyTree:
    """The weights, read once as long as they fit, and whenever they are needed beyond that."""
    room = ON_CHIP
    kept: dict[int, Weight] = {}
    for ref in sorted(jax.tree.leaves(weights), key=lambda ref: ref.size):
        room -= ref.size * ref.dtype.itemsize
        if room >= 0:
            value = ref[...]
            kept[id(ref)] = lambda value=value: value
        else:
            kept[id(ref)] = lambda ref=ref: ref[...]
    return jax.tree.map(lambda ref: kept[id(ref)], weights)


def _values(stack: Stack | None, z: Array, weights: Sequence[Weight], biases: Sequence[Array], dot: Dot) -> list[Array]:
    """Every layer's value."""
    if stack is None:
        return []
    names = layer_names(stack)
    values = [activation(names[0])(dot(weights[0](), z))]
    for name, W, b in zip(names[1:], weights[1:], biases):
        values.append(activation(name)(dot(W(), values[-1]) + b[:, None]))
    return values


def _pulled_back(
    stack: Stack | None, ds: Array, values: Sequence[Array], weights: Sequence[Weight], dot: Dot
) -> tuple[list[Array], Array]:
    """The cotangent of every pre-activation, first layer first, and that of z, from that of the stack's output."""
    if stack is None:
        return [], ds
    found: list[Array] = []
    for name, s, W in reversed(list(zip(layer_names(stack), values, weights))):
        found.append(SLOPES[name](s.astype(ds.dtype)) * ds)
        ds = dot(W(), found[-1])
    return found[::-1], ds


def _dot(products: str, interpret: bool) -> Dot:
    """W s inside the kernel. The interpreter, on a CPU, has no TF32: it computes in float32."""
    algorithm = jax.lax.DotAlgorithmPreset.TF32_TF32_F32 if products == "tf32" and not interpret else None
    return lambda W, s: jnp.dot(W, s.astype(W.dtype), precision=algorithm, preferred_element_type=jnp.float32)


def _at(refs: PyTree, t: Array | int) -> PyTree:
    """One bin."""
    return jax.tree.map(lambda ref: ref[:, t, :], refs)


def _store(refs: PyTree, t: Array, values: PyTree) -> None:
    for ref, value in zip(jax.tree.leaves(refs), jax.tree.leaves(values), strict=True):
        ref[:, t, :] = value.astype(ref.dtype)


def _call(kernel: Any, *, over_trials: tuple, whole: tuple, out: PyTree, interpret: bool) -> Any:
    """Runs a kernel over tiles of trials. `out`: arrays or shapes like those that it writes."""
    trials = jax.tree.leaves(out)[0].shape[-1]
    tile = _tile(trials)

    def cut(array: Any) -> pl.BlockSpec:
        """A tile of all trials: the last axis."""
        shape = (*array.shape[:-1], tile)
        return pl.BlockSpec(shape, lambda i: (*(0,) * (len(shape) - 1), i))

    def uncut(array: Any) -> pl.BlockSpec:
        return pl.BlockSpec(array.shape, lambda i: (0,) * array.ndim)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pl.pallas_call(
            kernel,
            out_shape=jax.tree.map(lambda like: jax.ShapeDtypeStruct(like.shape, like.dtype), out),
            grid=(trials // tile,),
            in_specs=(jax.tree.map(cut, over_trials), jax.tree.map(uncut, whole)),
            out_specs=jax.tree.map(cut, out),
            interpret=interpret,
            compiler_params=None if interpret else _compiler_params(tile, whole[0]),
        )(over_trials, whole)


def _compiler_params(tile: int, weights: PyTree) -> Any:
    """Few threads for little work: fewer have to wait for each other. Many where weights have to be read again."""
    from jax.experimental.pallas import triton  # not there on every platform

    stay = sum(W.size * W.dtype.itemsize for W in jax.tree.leaves(weights)) <= ON_CHIP
    return triton.CompilerParams(num_warps=4 if stay and tile == NARROWEST else 8, num_stages=1)


def _tile(trials: int) -> int:
    return min(TILE, _power_of_two(trials))


def _power_of_two(size: int) -> int:
    """The least one that holds `size`, and that the chip's products take."""
    return max(NARROWEST, 1 << (size - 1).bit_length())


def _padded(array: Array, shape: Sequence[int]) -> Array:
    """Zeros up to `shape`."""
    return jnp.pad(array, [(0, new - size) for new, size in zip(shape, array.shape)])


def _product(a: Array, s: Array) -> Array:
    """Sum over bins and trials of a s^T."""
    # Both factors as coarse as the coarser of them: the kernel's own products took them so.
    kind = jnp.bfloat16 if jnp.bfloat16 in (a.dtype, s.dtype) else a.dtype
    flat = (array.reshape(array.shape[0], -1).astype(kind) for array in (a, s))
    return jnp.einsum("it,jt->ij", *flat, preferred_element_type=jnp.float32)

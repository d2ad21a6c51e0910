"""The forward and the backward kernel of the fused integration. Arrays have units first and trials last, in whole tiles."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode._activation_functions import SLOPES
from gnode.activations import activation
from gnode.cells import Gated, Stack
from gnode.solve._gated_euler import layer_names, rate_of
from gnode.solve.gpu.backend import run_over_tiles
from gnode.solve.gpu.tiles import FACTORS, NARROWEST, bounded, padded, power_of_two

TILE = 32
"""The maximum number of trials of one program."""

ON_CHIP = 150_000
"""Bytes of weights that stay on the chip for all bins; the others are read again in every bin."""


class Layers(NamedTuple):
    """One item for every layer of F and of G (no layers of G without a gate)."""

    F: Sequence[Any]
    G: Sequence[Any]


def laid_out(cell: Gated, h0: Array, xs: Array, dt: Array) -> tuple[Array, Array, Array]:
    """Returns h0, the part (x, 1) of z for all bins, and dt / tau in the kernel's layout, at their rows of z."""
    time, trials = dt.shape
    size = cell.units + cell.inputs + 1
    tile = _tile(trials)
    shape = (power_of_two(size), time, -(-trials // tile) * tile)
    rest = jnp.concatenate([units_first(xs), jnp.ones((1, time, trials), xs.dtype)])
    inputs = jnp.pad(rest, [(cell.units, shape[0] - size), (0, 0), (0, shape[2] - trials)])
    return padded(h0.T, (shape[0], shape[2])), inputs, padded(units_first(rate_of(cell, dt)), shape)


def units_first(array: Float[Array, "time trials units"]) -> Float[Array, "units time trials"]:
    """Moves the axis of units to the front."""
    return jnp.moveaxis(array, -1, 0)


def trials_before_units(array: Float[Array, "units time trials"]) -> Float[Array, "time trials units"]:
    """Moves the axis of units to the end."""
    return jnp.moveaxis(array, 0, -1)


def weights_on_chip(cell: Gated, products: str, interpret: bool) -> Layers:
    """Returns the weights of all layers in the kernel's layout: [W^0 U b^0], then the others, out x in, padded.

    Their dtype is that of both operands of products. Pallas' interpreter computes in float32 unless bfloat16 is requested.
    """
    dtype = jnp.float32 if interpret and products == "tf32" else FACTORS[products]
    size = power_of_two(cell.units + cell.inputs + 1)

    def of(stack: Stack | None) -> list[Array]:
        if stack is None:
            return []
        first = jnp.concatenate([stack.W[0], stack.U, stack.b[0][:, None]], axis=1)
        widths = [power_of_two(W.shape[0]) for W in stack.W[:-1]] + [size]
        shapes = zip(widths, [size, *widths])
        return [padded(W, shape).astype(dtype) for W, shape in zip([first, *stack.W[1:]], shapes)]

    return Layers(of(cell.F), of(cell.G))


def biases_on_chip(stack: Stack | None, weights: Sequence[Array]) -> list[Array]:
    """Returns the padded biases of all layers but the first, whose bias is part of its weights."""
    return [] if stack is None else [padded(b, W.shape[:1]) for b, W in zip(stack.b[1:], weights[1:])]


def layer_shapes(weights: Layers, time: int, trials: int) -> Layers:
    """Returns the shapes of all layers' values over time. Hidden layers have the precision of the products' operands."""

    def of(stack: Sequence[Array]) -> list[jax.ShapeDtypeStruct]:
        hidden = [jax.ShapeDtypeStruct((W.shape[0], time, trials), W.dtype) for W in stack[:-1]]
        return hidden + [jax.ShapeDtypeStruct((W.shape[0], time, trials), jnp.float32) for W in stack[-1:]]

    return Layers(of(weights.F), of(weights.G))


def forward_kernel(cell: Gated, time: int, over_trials: tuple, whole: tuple, hs: Any, layers: Layers) -> None:
    """Integrates a tile of trials over all bins; writes the states and, if `layers` has any, the values of all layers."""
    state, rate, inputs = over_trials
    weights, biases = whole
    weights, biases = _kept(weights), jax.tree.map(lambda ref: ref[...], biases)

    def step(t: Array, carry: tuple) -> tuple:
        h, (r, rest) = carry
        following = _at((rate, inputs), jnp.minimum(t + 1, time - 1))  # prefetched one bin ahead
        z = h + rest
        F = _values(cell.F, z, weights.F, biases.F)
        G = _values(cell.G, z, weights.G, biases.G)
        drift = F[-1] - h if cell.leak else F[-1]
        h = h + r * (G[-1] * drift if cell.G is not None else drift)
        _store((hs, layers), t, (h, Layers(F, G) if layers.F else Layers([], [])))
        return h, following

    jax.lax.fori_loop(0, time, step, (state[...], _at((rate, inputs), 0)))


def backward_kernel(cell: Gated, time: int, over_trials: tuple, whole: tuple, adjoints: Any, da: Layers) -> None:
    """Integrates the adjoint state of a tile backwards; writes it and the cotangents of all pre-activations."""
    weights = _kept(whole[0])

    def step(i: Array, carry: tuple) -> tuple:
        later, (h, r, layers, given) = carry
        t = time - 1 - i
        following = _at(over_trials, jnp.maximum(t - 1, 0))
        adjoint = given + later
        drift = layers.F[-1] - h if cell.leak else layers.F[-1]
        along = r * adjoint
        gated = along * layers.G[-1] if cell.G is not None else along
        F, dh = _pulled_back(cell.F, gated, layers.F, weights.F)
        G, more = _pulled_back(cell.G, along * drift, layers.G, weights.G)
        dh = dh + (adjoint - gated if cell.leak else adjoint)
        _store((adjoints, da), t, (adjoint, Layers(F, G)))
        return (dh + more if cell.G is not None else dh), following

    last = _at(over_trials, time - 1)
    jax.lax.fori_loop(0, time, step, (jnp.zeros_like(last[0]), last))


Weight = Callable[[], Array]
"""A function that returns a matrix whose rows are the units of the result: W forwards, its transpose backwards."""


def _kept(weights: Layers) -> PyTree:
    """Reads as many weights as fit on the chip once; the others are read whenever they are needed."""
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


def _values(stack: Stack | None, z: Array, weights: Sequence[Weight], biases: Sequence[Array]) -> list[Array]:
    """Computes the values of all layers."""
    if stack is None:
        return []
    names = layer_names(stack)
    values = [activation(names[0])(_dot(weights[0](), z))]
    for name, W, b in zip(names[1:], weights[1:], biases):
        values.append(activation(name)(_dot(W(), values[-1]) + b[:, None]))
    return values


def _pulled_back(
    stack: Stack | None, ds: Array, values: Sequence[Array], weights: Sequence[Weight]
) -> tuple[list[Array], Array]:
    """Computes the cotangents of all pre-activations, first layer first, and of z from that of the stack's output."""
    if stack is None:
        return [], ds
    found: list[Array] = []
    for name, s, W in reversed(list(zip(layer_names(stack), values, weights))):
        found.append(SLOPES[name](s.astype(ds.dtype)) * ds)
        factor = W()
        ds = _dot(factor, bounded(found[-1], factor.dtype))
    return found[::-1], ds


def _dot(W: Array, s: Array) -> Array:
    """Computes W s inside the kernel, with operands in the precision of W and sums in float32."""
    return jnp.dot(W, s.astype(W.dtype), preferred_element_type=jnp.float32)


def _at(refs: PyTree, t: Array | int) -> PyTree:
    """Reads one bin."""
    return jax.tree.map(lambda ref: ref[:, t, :], refs)


def _store(refs: PyTree, t: Array, values: PyTree) -> None:
    for ref, value in zip(jax.tree.leaves(refs), jax.tree.leaves(values), strict=True):
        ref[:, t, :] = bounded(value, ref.dtype)


def run_over_trials(kernel: Any, *, over_trials: tuple, whole: tuple, out: PyTree, interpret: bool) -> Any:
    """Runs a kernel over tiles of trials, the last axis; `out` has the shapes and dtypes of what it writes."""
    tile = _tile(jax.tree.leaves(out)[0].shape[-1])
    how: dict[str, Any] = {
        "axis": -1,
        "tile": tile,
        "warps": _warps(tile, whole[0]),
        "stages": 1,
        "interpret": interpret,
    }
    return run_over_tiles(kernel, over_trials, whole, out, **how)


def _warps(tile: int, weights: PyTree) -> int:
    """Returns the number of warps: few for small tiles, which spend less on synchronisation, many if weights are reread."""
    stay = sum(W.size * W.dtype.itemsize for W in jax.tree.leaves(weights)) <= ON_CHIP
    return 4 if stay and tile == NARROWEST else 8


def _tile(trials: int) -> int:
    return min(TILE, power_of_two(trials))

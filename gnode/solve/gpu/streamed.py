"""Cells of any width and kind through time by one GPU kernel forwards and one backwards (Pallas).

`fused` keeps a network's weights on the chip, which narrow networks of the gated family allow. Here they are read block by
block in every bin, from the GPU's own cache, and the cell is any that can be told as a `Step`: the gated family, GRU, LSTM
and LEM. One program still takes a tile of trials through all bins, so that a bin costs no launches, no intermediate result
goes through main memory to be read by another kernel, and products of many trials share each block of weights.

Backwards the kernel finds the cotangents of all pre-activations; the gradient of every weight is then one product over bins
and trials. Inputs enter as U x for all bins, one product before the kernel.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode.solve.gpu import cell_steps
from gnode.solve.gpu.cell_steps import RATE, Step, Values
from gnode.solve.gpu.streamed_kernels import How, backward_kernel, forward_kernel
from gnode.solve.gpu.tiles import padded, power_of_two, run_over_tiles, why_not_precision

BLOCK = 64
"""Units of a block."""
TILE = 64
"""Trials of a program, at most."""
SLAB = 256
"""Trials that are taken through time at once, at most: of so many U x is in memory for all bins."""
DEPTH = 64
"""Units of a source that are read at a time, at most."""
FACTORS = {"tf32": jnp.float16, "bfloat16": jnp.bfloat16}
"""What products take. float16 has TF32's 10 bits of mantissa in half the memory, and needs no rounding on the way."""
WARPS, STAGES = 8, 2
"""Groups of 32 threads of a program, and how many blocks ahead it reads."""


def why_not(cell: Any, method: str, dtype: Any) -> str:
    """Why the kernel can not run the cell, as the end of a sentence; nothing if it can."""
    return cell_steps.why_not(cell, method) or why_not_precision(dtype)


def streamed_euler(
    cell: Any,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
    method: str = "euler",
    products: str = "tf32",
    interpret: bool = False,
) -> Float[Array, "time trials state"]:
    """The states of a batch of trials of a `Cell`, time first, one step per bin; `interpret` runs on any device, slowly."""
    how = {"method": method, "products": products, "interpret": interpret}
    trials = h0.shape[0]
    slabs = -(-trials // SLAB)
    if slabs <= 1:
        return _slab(cell, h0, xs, dt, **how)
    size = slabs * -(-trials // slabs)  # slabs of equal size
    h0, xs, dt = (_in_slabs(_whole(array, size, axis), slabs, axis) for array, axis in ((h0, 0), (xs, 1), (dt, 1)))
    states = jax.lax.map(lambda slab: _slab(cell, *slab, **how), (h0, xs, dt))
    return jnp.concatenate(list(states), axis=1)[:, :trials]


def _in_slabs(array: Array, slabs: int, axis: int) -> Array:
    """Trials in equal parts, along a leading axis."""
    return jnp.stack(jnp.split(array, slabs, axis))


def _slab(cell: Any, h0: Array, xs: Array, dt: Array, method: str, products: str, interpret: bool) -> Array:
    """The states of trials that are taken through time at once."""
    step, weights = cell_steps.step_of(cell, method)
    trials, units = h0.shape[0], cell.units
    call = Call(step, BLOCK, min(TILE, power_of_two(trials)), products, interpret)
    whole = partial(_whole, multiple=call.block, axis=-1)
    h0, xs, dt = (_whole(array, call.tile, axis) for array, axis in ((h0, 0), (xs, 1), (dt, 1)))
    rate = dt[..., None] / cell.timescale()
    states: Any = _states(
        call,
        {name: whole(whole(own.W.T).T) for name, own in weights.items() if own.W is not None},
        {name: whole(own.b) for name, own in weights.items()},
        {name: whole(xs @ own.U.T) for name, own in weights.items() if own.U is not None},
        dict(zip(step.parts, map(whole, jnp.split(h0, len(step.parts), axis=-1)))),
        rate if rate.shape[-1] == 1 else whole(rate),
    )
    return jnp.concatenate([states[part][:, :trials, :units] for part in step.parts], axis=-1)


class Call(NamedTuple):
    """What is known of a call before its arrays."""

    step: Step
    block: int
    tile: int
    products: str
    interpret: bool

    def how(self, time: int, W: Values, parts: Values) -> How:
        blocks = {name: matrix.shape[0] // self.block for name, matrix in W.items()}
        blocks |= {part: parts[part].shape[-1] // self.block for part in self.step.parts}
        return How(self.step, time, blocks, self.block, min(DEPTH, self.block), self.tile, self.interpret)

    def taken(self, W: Values) -> dict[str, Array]:
        """Matrices as products take them."""
        return {name: matrix.astype(FACTORS[self.products]) for name, matrix in W.items()}

    def factor(self, *shape: int) -> jax.ShapeDtypeStruct:
        """The shape of a product's factor."""
        return jax.ShapeDtypeStruct(shape, FACTORS[self.products])


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _states(call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array) -> Values:
    """The parts of the state at the end of every bin. All arrays are padded to whole blocks and tiles."""
    return _run_forward(call, W, b, given, start, rate, keep=False)[0]


def _states_forward(
    call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array
) -> tuple[Values, tuple]:
    after, states, groups = _run_forward(call, W, b, given, start, rate, keep=True)
    return after, (W, b, given, rate, states, groups)


def _run_forward(
    call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array, *, keep: bool
) -> tuple[Values, Values, Values]:
    """The states after every bin; those with the start before them; every group's pre-activations, of all bins or one."""
    step = call.step
    time, trials, _ = rate.shape
    out = (
        {part: _result(time + 1, *start[part].shape) for part in step.parts},
        {name: _result(time if keep else 1, trials, matrix.shape[0]) for name, matrix in W.items()},
        {
            f"u{index}": call.factor(2, trials, W[product.groups[0]].shape[1])
            for index, product in enumerate(step.products)
        },
    )
    how = call.how(time, W, start)
    arrays = (start, given, rate), (call.taken(W), b)
    states, groups, _ = _run_over_trials(partial(forward_kernel, how, keep), how, *arrays, out)
    return {part: states[part][1:] for part in step.parts}, states, groups


def _states_backward(call: Call, kept: tuple, outside: Values) -> tuple:
    step = call.step
    W, b, given, rate, states, groups = kept
    time, trials, _ = rate.shape
    before = {part: states[part][:-1] for part in step.parts}
    units = before[step.parts[0]].shape[-1]
    out = (
        {name: _result(time, trials, bias.shape[0]) for name, bias in b.items()} | {RATE: _result(time, trials, units)},
        {part: _result(trials, units) for part in step.parts},
        {name: call.factor(trials, matrix.shape[0]) for name, matrix in W.items()},
    )
    # The backward pass is linear: each trial's is scaled to lie well within 16 bits, and back again after it.
    scale = _scale(outside)
    outside = {part: scale * own for part, own in outside.items()}
    how = call.how(time, W, before)
    arrays = (before, groups, given, rate, outside), (call.taken({name: matrix.T for name, matrix in W.items()}), b)
    cotangents, adjoints, _ = _run_over_trials(partial(backward_kernel, how), how, *arrays, out)
    cotangents, adjoints = jax.tree.map(lambda array: array / scale, (cotangents, adjoints))
    values = before | groups | {name: given[name] + b[name] for name in given if name not in groups} | {RATE: rate}
    dW = {}
    for product in step.products:
        source = product.source(values)
        dW |= {group: _summed_product(cotangents[group], source, call.products) for group in product.groups}
    drate = cotangents.pop(RATE)
    drate = drate.sum(-1, keepdims=True) if rate.shape[-1] == 1 else drate
    db = {name: cotangents[name].sum((0, 1)) for name in b}
    return dW, db, {name: cotangents[name] for name in given}, adjoints, drate


_states.defvjp(_states_forward, _states_backward)


def _scale(outside: Values) -> Float[Array, "trials 1"]:
    """What takes the largest cotangent of each trial to about 1/8.

    In float16 there is room to grow half a million times; those of less than 1/2000 of the largest lose precision, and those
    of less than a two millionth are lost.
    """
    largest = jnp.max(jnp.stack([jnp.max(jnp.abs(own), axis=(0, 2)) for own in outside.values()]), axis=0)[:, None]
    return jnp.where(largest > 0, jnp.exp2(jnp.floor(-3 - jnp.log2(largest))), 1.0)


def _summed_product(cotangent: Array, source: Array, products: str) -> Array:
    """Sum over bins and trials of cotangent source^T."""
    flat = (array.reshape(-1, array.shape[-1]) for array in (cotangent, source))
    if products == "bfloat16":
        flat = (array.astype(jnp.bfloat16) for array in flat)
    return jnp.einsum("ti,tj->ij", *flat, preferred_element_type=jnp.float32)


def _run_over_trials(kernel: Any, how: How, over_trials: PyTree, whole: PyTree, out: PyTree) -> Any:
    """Runs a kernel over tiles of trials, the axis before the last."""
    # Without a loop inside the loop over bins, the compiler would read ahead over bins: what is not written yet.
    stages = STAGES if max(how.blocks.values()) > 1 else 1
    options = {"axis": -2, "tile": how.tile, "warps": WARPS, "stages": stages, "interpret": how.interpret}
    return run_over_tiles(kernel, over_trials, whole, out, **options)


def _result(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _whole(array: Array, multiple: int, axis: int) -> Array:
    """Zeros up to a whole number of blocks of units or tiles of trials."""
    sizes = list(array.shape)
    sizes[axis] += -sizes[axis] % multiple
    return padded(array, tuple(sizes))

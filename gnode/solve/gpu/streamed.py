"""The streamed kernel: cells of any width as one GPU kernel forwards and one backwards (Pallas).

The fused kernel keeps the weights on the chip, which is possible for narrow networks of the gated family. The streamed
kernel reads them block by block in every bin, from the cache of the GPU, and supports every cell that `cell_steps`
describes: the gated family, GRU, LSTM and LEM. One program integrates a tile of trials over all bins, so that there are no
launches per bin, no intermediate results pass through main memory to another kernel, and the products of many trials share
each block of weights.

The backward kernel computes the cotangents of all pre-activations; the gradient of each weight is then one product over
bins and trials. The products U x of all bins are computed before the kernel, as one product.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode.cells import Gated
from gnode.solve._gated_euler import stacks
from gnode.solve.gpu import cell_steps
from gnode.solve.gpu.backend import run_over_tiles
from gnode.solve.gpu.cell_steps import RATE, Step, Values
from gnode.solve.gpu.side_by_side import networks_side_by_side
from gnode.solve.gpu.streamed_kernels import How, backward_kernel, forward_kernel
from gnode.solve.gpu.tiles import FACTORS, padded, power_for_16_bits, power_of_two, why_not_precision

BLOCK = 64
"""The number of units of a block."""
TILES = (32, 16)
"""The maximum number of trials of a program: the smaller one where the larger would leave the chip half empty."""
FILLED, FEW = 200, 64
"""Programs that fill the chip (132 multiprocessors), and so few that each is alone on its multiprocessor."""
SLAB = 256
"""The maximum number of trials that are integrated at once; U x of all bins is in memory for these."""
DEPTH = 64
"""The maximum number of units of a source that are read at a time."""
WARPS, WARPS_IF_FEW, STAGES = 4, 8, 2
"""The number of groups of 32 threads of a program, and the depth of software pipelining. Programs that share a
multiprocessor hide each other's waiting; one that is alone needs more threads."""
WIDEST_CHOSEN = 512
"""The widest layer for which "auto" chooses the kernel: with layers of 1000 the loop is as fast (docs/speed.md)."""


def why_not(cell: Any, method: str, dtype: Any) -> str:
    """Returns why the kernel does not support the cell, as the end of a sentence, or an empty string if it does."""
    return cell_steps.why_not(cell, method) or why_not_precision(dtype)


def pays(cell: Any, trials: int) -> bool:
    """Whether the kernel is clearly faster than the loop: several networks of the gated family fill the chip."""
    if type(cell) is not Gated or networks_side_by_side() < 2:  # GRU, LSTM and LEM were not compared
        return False
    widest = max(W.shape[0] for stack in stacks(cell) for W in stack.W)
    return widest <= WIDEST_CHOSEN and _tiling(trials).programs >= FEW


class Tiling(NamedTuple):
    """How trials are divided: the trials of a program, its warps, and the number of all programs."""

    tile: int
    warps: int
    programs: int


def _tiling(trials: int) -> Tiling:
    def tiling(tile: int) -> tuple[int, int]:
        tile = min(tile, power_of_two(trials))
        return tile, networks_side_by_side() * -(-trials // tile)

    tile, programs = next((own for own in map(tiling, TILES) if own[1] >= FILLED), tiling(TILES[-1]))
    return Tiling(tile, WARPS if programs >= FEW else WARPS_IF_FEW, programs)


def streamed_euler(
    cell: Any,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
    method: str = "euler",
    products: str = "tf32",
    interpret: bool = False,
) -> Float[Array, "time trials state"]:
    """Computes the states of a batch of trials with one step per bin.

    **Arguments:**

    - `cell`: a cell that the kernel supports.
    - `h0`: the initial states, trials x state.
    - `xs`: the inputs, time x trials x inputs.
    - `dt`: the lengths of the bins in seconds, time x trials.
    - `method`: "euler", or "forward_backward_euler" for LEM.
    - `products`: a name from `PRODUCTS`.
    - `interpret`: whether to run in Pallas' interpreter, which works on any device but is slow.

    **Returns:** the states, time x trials x state.
    """
    how: dict[str, Any] = {"method": method, "products": products, "interpret": interpret}
    trials = h0.shape[0]
    slabs = -(-trials // SLAB)
    if slabs <= 1:
        return _slab(cell, h0, xs, dt, **how)
    size = slabs * -(-trials // slabs)  # slabs of equal size
    h0, xs, dt = (_in_slabs(_whole(array, size, axis), slabs, axis) for array, axis in ((h0, 0), (xs, 1), (dt, 1)))
    states = jax.lax.map(lambda slab: _slab(cell, *slab, **how), (h0, xs, dt))
    return jnp.concatenate(list(states), axis=1)[:, :trials]


def _in_slabs(array: Array, slabs: int, axis: int) -> Array:
    """Splits trials into equal parts along a new leading axis."""
    return jnp.stack(jnp.split(array, slabs, axis))


def _slab(cell: Any, h0: Array, xs: Array, dt: Array, method: str, products: str, interpret: bool) -> Array:
    """Computes the states of trials that are integrated at once."""
    step, weights = cell_steps.step_of(cell, method)
    trials, units = h0.shape[0], cell.units
    tile, warps, _ = _tiling(trials)
    call = Call(step, BLOCK, tile, warps, products, interpret)
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
    """The static arguments of a kernel call."""

    step: Step
    block: int
    tile: int
    warps: int
    products: str
    interpret: bool

    def how(self, time: int, W: Values, parts: Values) -> How:
        """Returns the static arguments of a kernel for arrays of these shapes."""
        blocks = {name: matrix.shape[0] // self.block for name, matrix in W.items()}
        blocks |= {part: parts[part].shape[-1] // self.block for part in self.step.parts}
        return How(self.step, time, blocks, self.block, min(DEPTH, self.block), self.tile, self.warps, self.interpret)

    def taken(self, W: Values) -> dict[str, Array]:
        """Casts matrices to the dtype of the operands of products."""
        return {name: matrix.astype(FACTORS[self.products]) for name, matrix in W.items()}

    def factor(self, *shape: int) -> jax.ShapeDtypeStruct:
        """Returns the shape and dtype of an operand of a product."""
        return jax.ShapeDtypeStruct(shape, FACTORS[self.products])


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _states(call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array) -> Values:
    """Computes the parts of the state at the end of every bin. All arrays are padded to whole blocks and tiles."""
    return _run_forward(call, W, b, given, start, rate, keep=False)[0]


def _states_forward(
    call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array
) -> tuple[Values, tuple]:
    after, states, groups = _run_forward(call, W, b, given, start, rate, keep=True)
    return after, (W, b, given, rate, states, groups)


def _run_forward(
    call: Call, W: Values, b: Values, given: Values, start: Values, rate: Array, *, keep: bool
) -> tuple[Values, Values, Values]:
    """Runs the forward kernel.

    **Returns:** the states after every bin; the states with the initial one before them; the pre-activations of all groups,
    of all bins if `keep`, otherwise of one.
    """
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
    """Computes the power of two by which the cotangents of each trial are scaled."""
    largest = jnp.max(jnp.stack([jnp.max(jnp.abs(own), axis=(0, 2)) for own in outside.values()]), axis=0)[:, None]
    return power_for_16_bits(largest)


def _summed_product(cotangent: Array, source: Array, products: str) -> Array:
    """Computes the sum over bins and trials of cotangent source^T."""
    flat = (array.reshape(-1, array.shape[-1]) for array in (cotangent, source))
    if products == "bfloat16":
        flat = (array.astype(jnp.bfloat16) for array in flat)
    return jnp.einsum("ti,tj->ij", *flat, preferred_element_type=jnp.float32)


def _run_over_trials(kernel: Any, how: How, over_trials: PyTree, whole: PyTree, out: PyTree) -> Any:
    """Runs a kernel over tiles of trials, the axis before the last."""
    # Without an inner loop the compiler would pipeline the loop over bins and read values that are not written yet.
    stages = STAGES if max(how.blocks.values()) > 1 else 1
    options: dict[str, Any] = {
        "axis": -2,
        "tile": how.tile,
        "warps": how.warps,
        "stages": stages,
        "interpret": how.interpret,
    }
    return run_over_tiles(kernel, over_trials, whole, out, **options)


def _result(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _whole(array: Array, multiple: int, axis: int) -> Array:
    """Pads an axis with zeros to a multiple of `multiple`: whole blocks of units or whole tiles of trials."""
    sizes = list(array.shape)
    sizes[axis] += -sizes[axis] % multiple
    return padded(array, tuple(sizes))

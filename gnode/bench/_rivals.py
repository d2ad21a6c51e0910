"""Implementations of the same gradient."""

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.bench._shapes import BenchShape, Data
from gnode.devices import on_cores
from gnode.network import Network
from gnode.solve import advance, rollout_batch
from gnode.solve.fixed_step import has_fixed_step
from gnode.solve.gpu import fused, streamed
from gnode.solve.gpu.choice import is_one_euler_step
from gnode.solve.gpu.side_by_side import side_by_side
from gnode.trained import trainable

Outputs = Callable[[Network, Data], Float[Array, "trials time outputs"]]
"""A function that computes the outputs of a network on a batch."""


def by_gnode(**choices: Any) -> Outputs:
    """Returns the implementation that `gnode.fit` uses, with these settings of the solver changed."""

    def outputs(net: Network, data: Data) -> Array:
        solver = dataclasses.replace(net.solver, **choices)
        starts = jax.vmap(net.initial)(data.inputs[:, 0])
        return net.read(rollout_batch(net.cell, data.inputs, starts, data.dt, solver, gradient_only=True))

    return outputs


def by_plain_scan(net: Network, data: Data) -> Array:
    """Computes the outputs by the steps of single trials in a `lax.scan`, differentiated by JAX."""
    one_trial = jax.vmap(lambda h, x, length: advance(net.cell, h, (x, x, length), net.solver))

    def step(h: Array, bin: tuple[Array, Array]) -> tuple[Array, Array]:
        h = one_trial(h, *bin)
        return h, h

    h0 = jax.vmap(net.initial)(data.inputs[:, 0])
    states = jax.lax.scan(step, h0, (jnp.swapaxes(data.inputs, 0, 1), data.dt.T))[1]
    return jnp.swapaxes(net.read(states), 0, 1)


def by_diffrax(adjoint: Callable[[], diffrax.AbstractAdjoint]) -> Outputs:
    """Returns an implementation by diffrax: Euler with a constant step, states saved at the end of every bin, `vmap`."""

    def outputs(net: Network, data: Data) -> Array:
        bins = data.inputs.shape[1]

        def one_trial(xs: Array, dt: Array) -> Array:
            length = dt[0]

            def field(t: Any, h: Any, args: Any) -> Array:
                bin = jnp.clip(jnp.floor(t / length + 1e-3).astype(int), 0, bins - 1)
                return net.cell.vector_field(h, xs[bin])

            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(field),
                diffrax.Euler(),
                t0=0.0,
                t1=bins * length,
                dt0=length,
                y0=net.initial(xs[0]),
                saveat=diffrax.SaveAt(ts=jnp.arange(1, bins + 1) * length),
                adjoint=adjoint(),
                max_steps=bins + 1,
            )
            assert solution.ys is not None
            return net.read(solution.ys)

        return jax.vmap(one_trial)(data.inputs, data.dt)

    return outputs


RIVALS: dict[str, Outputs] = {
    "gnode": by_gnode(),
    "plain scan": by_plain_scan,
    "diffrax, recursive checkpointing": by_diffrax(diffrax.RecursiveCheckpointAdjoint),
    "diffrax, direct adjoint": by_diffrax(diffrax.DirectAdjoint),
}
"""The implementations that are compared on every machine, by name."""

LOOP, STREAMED, FUSED = "gnode, loop", "gnode, streamed kernel", "gnode, fused kernel"
AT_ONCE, COARSE = "gnode, all bins at once", "gnode, fused kernel, bfloat16 products"
"""The names of the implementations that are compared on a GPU besides what training chooses there."""

ON_ALL_CORES = "gnode, all cores"
"""The name of the implementation that splits trials over all CPU cores."""


LARGEST_JACOBIANS = 20e9
"""In bytes: where the Jacobians of all bins take more on their way through a layer, all bins at once are not a row."""


def rivals(net: Network, bins: int = 1) -> dict[str, Outputs]:
    """Returns the implementations that are compared for a network on this machine, diffrax for forward Euler only.

    `bins` is the number of bins of all trials of all networks, which have to fit into memory at once.
    """
    shared = {name: own for name, own in RIVALS.items() if is_one_euler_step(net.solver) or "diffrax" not in name}
    cores = jax.device_count() if jax.default_backend() == "cpu" else 1
    if cores > 1:
        return shared | {ON_ALL_CORES: by_gnode(cores=cores)}
    return shared | _on_a_gpu(net, bins) if fused.is_chosen_here() else shared


def _on_a_gpu(net: Network, bins: int) -> dict[str, Outputs]:
    """Returns every way that gnode has to compute a network on a GPU, by name: what training chooses is one of them."""
    ways = {LOOP: by_gnode(kernel="loop", time="loop")}
    if fused.fits(net.cell, jnp.float32):
        ways |= {FUSED: by_gnode(kernel="fused"), COARSE: by_gnode(kernel="fused", products="bfloat16")}
    if not streamed.why_not(net.cell, net.solver.method, jnp.float32):
        ways[STREAMED] = by_gnode(kernel="streamed")
    widest = max(max(array.shape, default=1) for array in jax.tree.leaves(eqx.filter(net.cell, eqx.is_inexact_array)))
    if has_fixed_step(net.solver) and 4.0 * bins * net.cell.state_size * widest <= LARGEST_JACOBIANS:
        ways[AT_ONCE] = by_gnode(kernel="loop", time="parallel")
    return ways


Gradient = Callable[[], tuple[Array, Network]]
"""A function that computes losses and gradients."""


@lru_cache(maxsize=1)
def _networks_and_data(shape: BenchShape) -> tuple[Network, Network, Data]:
    """Returns the trained arrays of all networks along a leading axis, the rest of one, and as many copies of the data."""
    nets = [shape.network(seed) for seed in range(shape.networks)]
    structure = eqx.partition(nets[0], trainable(nets[0]))[1]
    values = jax.tree.map(lambda *all: jnp.stack(all), *(eqx.filter(net, trainable(net)) for net in nets))
    return values, structure, jax.tree.map(lambda array: jnp.stack([array] * shape.networks), shape.data())


def gradient_of(outputs: Outputs, shape: BenchShape, exact: bool = False, cores: int = 1) -> Gradient:
    """Returns a function that computes the loss and the gradient of each network of a shape; the first call compiles it.

    **Arguments:**

    - `outputs`: the implementation.
    - `shape`: the networks and the batch.
    - `exact`: whether products are in full float32 even if the device uses a lower precision by default.
    - `cores`: the number of CPU cores over which trials are split.
    """
    values, structure, data = _networks_and_data(shape)

    def loss(values: Network, data: Data) -> Array:
        return jnp.mean((outputs(eqx.combine(values, structure), data) - data.targets) ** 2)

    gradient = jax.value_and_grad(loss)
    if shape.networks == 1:
        values, data = jax.tree.map(lambda array: array[0], (values, data))
    values, data = on_cores((values, data), cores)
    compiled = jax.jit(gradient if shape.networks == 1 else jax.vmap(gradient))

    def call() -> tuple[Array, Network]:
        with side_by_side(shape.networks), jax.default_matmul_precision("highest" if exact else "default"):
            return compiled(values, data)

    return call

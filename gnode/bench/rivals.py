"""Ways to make the same gradient."""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.bench.shapes import Data
from gnode.network import Network

Outputs = Callable[[Network, Data], Float[Array, "trials time outputs"]]


def by_gnode(net: Network, data: Data) -> Array:
    """What `gnode.fit` calls."""
    return net.batch(data.inputs, data.dt).outputs


def by_plain_scan(net: Network, data: Data) -> Array:
    """Nothing but the right-hand side in a `lax.scan`, differentiated by JAX."""
    field = jax.vmap(net.cell.vector_field)

    def step(h: Array, bin: tuple[Array, Array]) -> tuple[Array, Array]:
        x, length = bin
        h = h + length[:, None] * field(h, x)
        return h, h

    h0 = jax.vmap(net.initial)(data.inputs[:, 0])
    states = jax.lax.scan(step, h0, (jnp.swapaxes(data.inputs, 0, 1), data.dt.T))[1]
    return jnp.swapaxes(net.read(states), 0, 1)


def by_diffrax(adjoint: Callable[[], diffrax.AbstractAdjoint]) -> Outputs:
    """As diffrax's documentation does it: Euler, a constant step, states saved at the end of every bin, `vmap`."""

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
    "gnode": by_gnode,
    "plain scan": by_plain_scan,
    "diffrax, recursive checkpointing": by_diffrax(diffrax.RecursiveCheckpointAdjoint),
    "diffrax, direct adjoint": by_diffrax(diffrax.DirectAdjoint),
}


def gradient_of(outputs: Outputs, net: Network, data: Data) -> Callable[[], tuple[Array, Network]]:
    """A call that computes the loss and its gradient, compiled at the first one."""
    values, structure = eqx.partition(net, eqx.is_inexact_array)

    @jax.jit
    def gradient(values: Network, data: Data) -> tuple[Array, Network]:
        def loss(values: Network) -> Array:
            return jnp.mean((outputs(eqx.combine(values, structure), data) - data.targets) ** 2)

        return jax.value_and_grad(loss)(values)

    return lambda: gradient(values, data)

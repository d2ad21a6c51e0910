"""A batch of trials at once, with a gradient that adds up nothing inside its loop over time.

The plain gradient of a loop over bins adds an outer product to every weight's gradient at every bin. But the weights'
gradient is that of one big evaluation: with lambda_t = d loss / d h_t, the adjoint state, and g = dh/dt,

    d loss / d theta = sum over t of (dt_t lambda_t)^T  d g(h_(t-1), x_t; theta) / d theta,

so the loop backwards in time only has to find lambda, and one product over all bins and trials does the rest.
`benchmarks/training_step.py` has what it gains.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from gnode.cells import Cell
from gnode.solve.rollout import rollout, unroll
from gnode.solve.solver import Solver

States = Float[Array, "trials time state"]


def rollout_batch(
    cell: Cell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    solver: Solver,
) -> States:
    """`rollout` of every trial of a batch; the same numbers as `jax.vmap` of it, and the same first derivatives.

    One forward Euler step per bin with a held input takes the fast path, which reverse mode can differentiate once;
    everything else is the vmapped `rollout`.
    """
    is_plain_euler = (
        solver.method == "euler"
        and solver.substeps == 1
        and solver.interpolation == "hold"
        and solver.adjoint == "discretise_then_optimise"
        and solver.memory == "store"
    )
    if not is_plain_euler:
        return jax.vmap(lambda xs, h0, dt: rollout(cell, xs, h0, dt=dt, method=solver))(xs, h0, dt)
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    by_time = (jnp.swapaxes(part, 0, 1) for part in (xs, dt))
    return jnp.swapaxes(_euler(structure, values, h0, *by_time), 0, 1)


def _loop(structure: PyTree, values: PyTree, h0: Array, xs: Array, dt: Array, push: Array | None) -> Array:
    """The states, time first. `push` is added to every state; its gradient is the adjoint state."""
    field = jax.vmap(eqx.combine(values, structure).vector_field)

    def step(h: Array, bin: tuple[Array, ...]) -> tuple[Array, Array]:
        x, length, *added = bin
        h = h + length[:, None] * field(h, x)
        if added:
            h = h + added[0]
        return h, h

    bins = (xs, dt) if push is None else (xs, dt, push)
    return jax.lax.scan(step, h0, bins, unroll=unroll(xs.shape[0]))[1]


def _euler(structure: PyTree, values: PyTree, h0: Array, xs: Array, dt: Array) -> Array:
    return _loop(structure, values, h0, xs, dt, None)


def _euler_forward(structure: PyTree, values: PyTree, h0: Array, xs: Array, dt: Array) -> tuple[Array, PyTree]:
    still = jnp.zeros((*dt.shape, h0.shape[-1]), h0.dtype)
    hs, pull = jax.vjp(lambda h0, push: _loop(structure, values, h0, xs, dt, push), h0, still)
    return hs, (values, h0, xs, dt, hs, pull)


def _euler_backward(structure: PyTree, kept: PyTree, hs_bar: Array) -> tuple[PyTree, Array, Array, Array]:
    values, h0, xs, dt, hs, pull = kept
    h0_bar, adjoint = pull(hs_bar)
    before = _flat(jnp.concatenate([h0[None], hs[:-1]]))

    def speeds(values: PyTree, xs: Array) -> Array:
        return jax.vmap(eqx.combine(values, structure).vector_field)(before, _flat(xs))

    speed, pull_speeds = jax.vjp(speeds, values, xs)
    values_bar, xs_bar = pull_speeds(_flat(dt)[:, None] * _flat(adjoint))
    dt_bar = jnp.sum(_flat(adjoint) * speed, axis=-1).reshape(dt.shape)
    return values_bar, h0_bar, xs_bar, dt_bar


def _flat(values: Array) -> Array:
    """Bins and trials along one axis."""
    return values.reshape(-1, *values.shape[2:])


_euler = jax.custom_vjp(_euler, nondiff_argnums=(0,))
_euler.defvjp(_euler_forward, _euler_backward)

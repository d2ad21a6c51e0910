"""The equations of the GPU kernels, evaluated in float64 on the CPU, are those of the cells."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gated_cases import plain_loop

from gnode import cells
from gnode.solve import Solver, advance
from gnode.solve.gpu import cell_steps, fused, fused_kernels

FUSED = {
    "rnn": lambda: cells.rnn(2, 3, key=0),
    "mgru, tau per unit": lambda: cells.mgru(2, 3, learn_tau="per_unit", key=0),
    "nODE without leak": lambda: cells.node(2, 3, widths=(4,), leak=False, hidden="tanh", learn_tau="shared", key=0),
    "gnODE": lambda: cells.gnode(2, 3, widths=(4, 5), hidden="tanh", key=0),
    "deep gate, no leak": lambda: cells.gnode(2, 3, widths=(4,), gate_widths=(4, 5), leak=False, final="tanh", key=0),
}
CELLS = {
    **FUSED,
    "gelu": lambda: cells.gnode(2, 3, widths=(4,), hidden="gelu", final="sin", tau=(0.5, 1.0, 2.0), key=0),
    "gru": lambda: cells.gru(2, 3, learn_tau="per_unit", key=0),
    "lstm": lambda: cells.lstm(2, 3, learn_tau="shared", key=0),
    "lem": lambda: cells.lem(2, 3, key=0),
    "lem without gates": lambda: cells.lem(2, 3, gate=False, learn_tau="per_unit", key=0),
}
CASES = [(name, "euler") for name in CELLS] + [(name, "forward_backward_euler") for name in CELLS if "lem" in name]


def filled(make, rng):
    """A cell with random values, each of them exact in float32; its own draws would be compiled for every shape."""
    shapes = eqx.filter_eval_shape(make)
    cell = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape).astype(np.float32).astype(float), shapes)
    tau = jax.tree.map(lambda leaf: jnp.asarray(0.5 + np.abs(leaf)), cell.timescale)
    return eqx.tree_at(lambda cell: cell.timescale, jax.tree.map(jnp.asarray, cell), tau)


def by_description(cell, method, h, x, dt):
    """Evaluates the description of a step as it stands: products in order, with the pointwise functions between them."""
    step, weights = cell_steps.step_of(cell, method)
    values = dict(zip(step.parts, jnp.split(h, len(step.parts))), **{cell_steps.RATE: dt / cell.timescale()})
    values |= {name: own.U @ x + own.b for name, own in weights.items() if own.W is None}
    for product in step.products:
        source = product.source(values)
        for group in product.groups:
            own = weights[group]
            values[group] = own.W @ source + own.b + (0.0 if own.U is None else own.U @ x)
    return jnp.concatenate(step.after(values))


def test_every_description_is_the_step_of_its_cell(x64):
    rng = np.random.default_rng(0)
    given = {}
    for name, method in CASES:
        cell = filled(CELLS[name], rng)
        given[name, method] = cell, jnp.asarray(rng.normal(size=cell.state_size)), jnp.asarray(rng.normal(size=2))
    dt = jnp.asarray(0.3)

    @eqx.filter_jit  # one program for all cells
    def steps(given):
        found = {}
        for (name, method), (cell, h, x) in given.items():
            found[name, method] = [by_description(cell, method, h, x, dt), advance(cell, h, (x, x, dt), Solver(method))]
            if method == "euler":
                found[name, method].append(h + dt * cell.vector_field(h, x))
        return found

    for case, (described, *others) in steps(given).items():
        for other in others:
            np.testing.assert_allclose(described, other, rtol=1e-12, atol=1e-12, err_msg=str(case))


def test_every_kind_of_cell_has_a_case():
    kinds = {type(eqx.filter_eval_shape(make)) for make in CELLS.values()}
    assert kinds == set(cell_steps.STEPS)


def plainly(kernel, *, over_trials, whole, out, interpret):
    """Runs a fused kernel on numpy arrays in float64, one operation after the other."""
    results = jax.tree.map(lambda like: np.zeros(like.shape), out)
    with jax.disable_jit():
        kernel(*jax.tree.map(np.asarray, (over_trials, whole)), *results)
    return jax.tree.map(jnp.asarray, results)


@pytest.mark.parametrize("name", FUSED)
def test_the_fused_kernels_compute_the_steps_of_the_cell_and_their_gradient(name, x64, monkeypatch):
    """The states to 1e-12, the gradient, whose sums over bins and trials are in float32, to 1e-6."""
    monkeypatch.setattr(fused, "run_over_trials", plainly)
    monkeypatch.setattr(fused_kernels, "_dot", lambda W, s: jnp.dot(W.astype(float), s))
    rng, (trials, bins) = np.random.default_rng(1), (2, 3)
    values, structure = eqx.partition(filled(FUSED[name], rng), eqx.is_inexact_array)
    xs, h0, dhs = (jnp.asarray(rng.normal(size=(trials, *shape))) for shape in ((bins, 2), (3,), (bins, 3)))
    dt = jnp.asarray(rng.uniform(0.1, 0.5, (trials, bins)))

    @jax.jit
    def reference(values, xs, h0, dt):
        states, back = jax.vjp(
            lambda values, *rest: plain_loop(eqx.combine(values, structure), *rest), values, xs, h0, dt
        )
        return states, back(dhs)

    expected, (dvalues, dxs, dh0, ddt) = reference(values, xs, h0, dt)
    time_first = jnp.swapaxes(xs, 0, 1), dt.T
    states, kept = fused._states_forward(structure, "tf32", True, values, h0, *time_first)
    np.testing.assert_allclose(jnp.swapaxes(states, 0, 1), expected, rtol=1e-12, atol=1e-12)
    found = fused._states_backward(structure, "tf32", True, kept, jnp.swapaxes(dhs, 0, 1))
    wanted = dvalues, dh0, jnp.swapaxes(dxs, 0, 1), ddt.T
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)

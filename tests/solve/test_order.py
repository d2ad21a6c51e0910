"""The measured order of every fixed-step method: log error against log step."""

import jax.numpy as jnp
import numpy as np
import pytest

from gnode import cells, rollout
from gnode.errors import ArgumentError
from gnode.solve import Solver

ORDERS = {"euler": 1, "heun": 2, "midpoint": 2, "rk4": 4}
XS = np.random.default_rng(0).normal(size=(5, 2))


def smooth_cell(name="gnode", **options):
    extra = {"widths": (8,), "hidden": "tanh"} if name == "gnode" else {}
    return cells.CELLS[name](2, 3, tau=0.7, bias_std=0.3, key=1, **extra, **options)


def end_state(cell, method, substeps, interpolation, h0):
    solver = Solver(method, substeps=substeps, interpolation=interpolation)
    return rollout(cell, XS, h0, dt=0.4, method=solver)[-1]


def measured_order(cell, method, interpolation, coarse):
    h0 = jnp.linspace(-1, 1, cell.state_size)
    exact = rollout(cell, XS, h0, dt=0.4, method=Solver("tsit5", rtol=1e-12, atol=1e-13, interpolation=interpolation))[
        -1
    ]
    errors = [jnp.max(jnp.abs(end_state(cell, method, n, interpolation, h0) - exact)) for n in (coarse, 2 * coarse)]
    return float(jnp.log2(errors[0] / errors[1]))


@pytest.mark.parametrize("interpolation", ["hold", "linear"])
@pytest.mark.parametrize("method", ORDERS)
def test_order(method, interpolation, x64):
    order = measured_order(smooth_cell(), method, interpolation, coarse=32 if ORDERS[method] == 1 else 8)
    assert abs(order - ORDERS[method]) < 0.15


def test_order_of_forward_backward_euler(x64):
    assert abs(measured_order(smooth_cell("lem"), "forward_backward_euler", "hold", coarse=64) - 1) < 0.15


@pytest.mark.parametrize("method", ["tsit5", "kvaerno5"])
def test_adaptive_methods_reach_their_tolerance(method, x64):
    """A linear field, whose solution is known: dh/dt = -h + b with the input off."""
    cell = cells.node(2, 3, widths=(4,), key=0)
    cell = cells.Gated(
        F=cells.Stack(
            W=(jnp.zeros((3, 3)),),
            U=jnp.zeros((3, 2)),
            b=(jnp.array([1.0, -2.0, 0.5]),),
            hidden="relu",
            final="identity",
        ),
        G=None,
        timescale=cell.timescale,
        inputs=2,
        units=3,
    )
    states = rollout(cell, np.zeros((4, 2)), jnp.zeros(3), dt=0.5, method=method, rtol=1e-9, atol=1e-11)
    times = np.arange(1, 5) * 0.5
    np.testing.assert_allclose(states, np.outer(1 - np.exp(-times), [1.0, -2.0, 0.5]), atol=1e-8)


def test_a_stiff_field_is_followed_by_the_stiff_method(x64):
    """tau of one unit is a thousandth of a bin: explicit Euler diverges, the implicit method does not."""
    cell = cells.node(1, 2, widths=(), final="tanh", tau=(1.0, 1e-3), key=0)
    xs = np.ones((20, 1))
    good = rollout(cell, xs, jnp.array([1.0, -1.0]), dt=1.0, method="kvaerno5", rtol=1e-6)
    assert float(jnp.max(jnp.abs(good))) < 2
    assert float(jnp.max(jnp.abs(rollout(cell, xs, jnp.array([1.0, -1.0]), dt=1.0)))) > 2


def test_too_few_steps_give_nan_not_a_wrong_number(x64):
    cell = smooth_cell()
    states = rollout(cell, XS, jnp.zeros(3), dt=400.0, method="tsit5", rtol=1e-10, atol=1e-12, max_steps=3)
    assert bool(jnp.all(jnp.isnan(states[-1])))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"method": "eular"}, "Did you mean 'euler'"),
        ({"method": "tsit5", "substeps": 2}, "chooses its own steps"),
        ({"substeps": 0}, "substeps is 0"),
        ({"adjoint": "direct"}, "adjoint is 'direct'"),
        ({"method": "forward_backward_euler", "adjoint": "optimise_then_discretise"}, "needs a flow"),
        ({"rtol": -1.0}, "rtol is -1.0"),
    ],
)
def test_bad_solvers(options, word):
    with pytest.raises(ArgumentError, match=word):
        Solver(**options)


@pytest.mark.parametrize("method", ["heun", "midpoint", "rk4"])
def test_steps_of_a_cell_with_a_control_are_those_of_diffrax(method, x64):
    """They are written out, unless the adjoint equation is integrated, for which diffrax takes them."""
    cell, h0 = cells.ncde(2, 3, widths=(8,), tau=0.7, key=1), jnp.linspace(-1, 1, 3)
    ours, theirs = (
        rollout(
            cell,
            XS,
            h0,
            dt=[0.4, 0.1, 0, 0.3, 0.2],
            method=method,
            substeps=3,
            interpolation="natural",
            adjoint=adjoint,
        )
        for adjoint in ("discretise_then_optimise", "optimise_then_discretise")
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    assert float(jnp.abs(ours[-1] - h0).max()) > 0.1

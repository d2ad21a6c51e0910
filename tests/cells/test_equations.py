"""Each cell against something written down elsewhere: PyTorch's stored output, a published update, another cell."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import cells, rollout
from gnode.models import build
from gnode.precision import to_dtype

FIXTURES = Path(__file__).parent.parent / "fixtures"


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


@pytest.fixture(scope="module")
def torch_cells():
    return dict(np.load(FIXTURES / "torch_cells.npz"))


def set_fields(cell, **values):
    names = list(values)
    return eqx.tree_at(lambda c: [getattr(c, name) for name in names], cell, [jnp.asarray(values[n]) for n in names])


def test_gru_at_dt_equal_tau_is_pytorchs(torch_cells, x64):
    weights = {key: torch_cells[f"gru/{key}"] for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    # PyTorch's update gate z is how much of the old state stays; ours, g = 1 - z, how much of the new one comes in.
    sign = np.array([1, -1, 1])
    flip = np.repeat(sign, 5)[:, None]
    b = weights["bias_ih"] + np.where(np.arange(15) < 10, weights["bias_hh"], 0)
    cell = set_fields(
        cells.gru(3, 5, tau=0.25, key=0),
        W=flip * weights["weight_hh"],
        U=flip * weights["weight_ih"],
        b=flip[:, 0] * b,
        c=weights["bias_hh"][10:],
    )
    states = rollout(cell, torch_cells["xs"], torch_cells["h0"], dt=0.25)
    np.testing.assert_allclose(states, torch_cells["gru/states"], atol=1e-6)


def test_a_forget_bias_is_added_to_b_f_and_to_nothing_else():
    plain, biased = (cells.lstm(2, 3, bias_std=0.1, key=4, **own) for own in ({}, {"forget_bias": 1.5}))
    np.testing.assert_allclose(biased.b - plain.b, [0, 0, 0, 1.5, 1.5, 1.5, 0, 0, 0, 0, 0, 0], atol=1e-6)
    np.testing.assert_array_equal(biased.W, plain.W)
    net = build("lstm", 2, 1, state=3, forget_bias=1.0, key=0)
    np.testing.assert_array_equal(net.cell.b, np.repeat([0, 1, 0, 0], 3))  # by name, as commands and sweeps give it


def test_lstm_at_dt_equal_tau_is_pytorchs(torch_cells, x64):
    weights = {key: torch_cells[f"lstm/{key}"] for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    cell = set_fields(
        cells.lstm(3, 5, tau=0.25, key=0),
        W=weights["weight_hh"],
        U=weights["weight_ih"],
        b=weights["bias_ih"] + weights["bias_hh"],
    )
    start = np.concatenate([torch_cells["h0"], torch_cells["c0"]])
    states = rollout(cell, torch_cells["xs"], start, dt=0.25)
    np.testing.assert_allclose(states, torch_cells["lstm/states"], atol=1e-6)


def test_the_blocks_of_a_cell_move_by_its_vector_field_alone(x64):
    """LEM computes what its blocks share once; a cell that only names its blocks gets the same."""
    cell = cells.lem(2, 3, key=0)
    h, x, moved = (jax.random.normal(jax.random.key(seed), shape) for seed, shape in enumerate([(6,), (2,), (3,)]))
    for field, of_second in (cell.fields_of_blocks(h, x), cells.Cell.fields_of_blocks(cell, h, x)):
        np.testing.assert_allclose(field, cell.vector_field(h, x)[3:], rtol=1e-12)
        np.testing.assert_allclose(
            of_second(moved), cell.vector_field(jnp.concatenate([h[:3], moved]), x)[:3], rtol=1e-12
        )


@pytest.mark.parametrize("gate", [True, False])
def test_lem_is_its_published_update(gate, x64):
    """z_n = (1 - D_n) z + D_n tanh(..y..), y_n = (1 - E_n) y + E_n tanh(..z_n..), written out in numpy."""
    cell = cells.lem(3, 4, tau=0.5, gate=gate, bias_std=0.3, key=3)
    dt, rng = 0.2, np.random.default_rng(0)
    xs, y, z = rng.normal(size=(9, 3)), rng.normal(size=4), rng.normal(size=4)
    W, U, b = np.asarray(cell.W), np.asarray(cell.U), np.asarray(cell.b)
    expected, start = [], np.concatenate([y, z])
    for x in xs:
        steps = np.full(8, dt / 0.5)
        if gate:
            steps = (
                dt / 0.5 * sigmoid(np.asarray(cell.W_gate) @ y + np.asarray(cell.U_gate) @ x + np.asarray(cell.b_gate))
            )
        z = (1 - steps[:4]) * z + steps[:4] * np.tanh(W[:4] @ y + U[:4] @ x + b[:4])
        y = (1 - steps[4:]) * y + steps[4:] * np.tanh(W[4:] @ z + U[4:] @ x + b[4:])
        expected.append(np.concatenate([y, z]))
    np.testing.assert_allclose(rollout(cell, xs, start, dt=dt), expected, atol=1e-12)


def test_lem_is_a_constrained_mgru(x64):
    """The paper: the second half of W_z's columns is zero, and W_h is an anti-diagonal block matrix."""
    lem = cells.lem(3, 4, tau=0.5, bias_std=0.3, key=3)
    (W_z, W_y), (U_z, U_y), (b_z, b_y) = (jnp.split(part, 2) for part in (lem.W, lem.U, lem.b))
    (W_1, W_2), (U_1, U_2), (b_1, b_2) = (jnp.split(part, 2) for part in (lem.W_gate, lem.U_gate, lem.b_gate))
    none = jnp.zeros((4, 4))
    mgru = cells.mgru(3, 8, tau=0.5, key=0)
    stack = lambda rows: jnp.block(rows)  # noqa: E731
    mgru = eqx.tree_at(
        lambda c: [c.F.W[0], c.F.U, c.F.b[0], c.G.W[0], c.G.U, c.G.b[0]],
        mgru,
        [
            stack([[none, W_y], [W_z, none]]),
            jnp.concatenate([U_y, U_z]),
            jnp.concatenate([b_y, b_z]),
            stack([[W_2, none], [W_1, none]]),
            jnp.concatenate([U_2, U_1]),
            jnp.concatenate([b_2, b_1]),
        ],
    )
    xs, h0 = np.random.default_rng(1).normal(size=(9, 3)), np.linspace(-1, 1, 8)
    np.testing.assert_allclose(rollout(lem, xs, h0, dt=0.2, method="euler"), rollout(mgru, xs, h0, dt=0.2), atol=1e-12)


def test_gnode_of_depth_one_without_gate_is_the_rnn(x64):
    rnn = cells.rnn(2, 3, key=5)
    same = cells.gated(2, 3, widths=(), gate=False, final="tanh", key=5)
    W, U, b = rnn.F.W[0], rnn.F.U, rnn.F.b[0]
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    np.testing.assert_allclose(same.vector_field(h, x), rnn.vector_field(h, x), atol=0)
    np.testing.assert_allclose(rnn.vector_field(h, x), -h + jnp.tanh(W @ h + U @ x + b), atol=1e-14)


def test_gnode_of_depth_one_is_the_mgru(x64):
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    mgru, same = cells.mgru(2, 3, key=5), cells.gnode(2, 3, widths=(), final="tanh", key=5)
    np.testing.assert_allclose(same.vector_field(h, x), mgru.vector_field(h, x), atol=0)


def test_the_gated_family_written_out_in_numpy(x64):
    cell = cells.gnode(2, 3, widths=(5, 6), gate_widths=(4,), bias_std=0.2, tau=0.3, key=2)
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    relu = lambda a: np.maximum(a, 0)  # noqa: E731
    W, b = [np.asarray(w) for w in cell.F.W], [np.asarray(v) for v in cell.F.b]
    F = W[2] @ relu(W[1] @ relu(W[0] @ h + np.asarray(cell.F.U) @ x + b[0]) + b[1]) + b[2]
    V, c = [np.asarray(w) for w in cell.G.W], [np.asarray(v) for v in cell.G.b]
    G = sigmoid(V[1] @ relu(V[0] @ h + np.asarray(cell.G.U) @ x + c[0]) + c[1])
    np.testing.assert_allclose(cell.vector_field(h, x), G * (F - h) / 0.3, atol=1e-12)
    np.testing.assert_allclose(cell.gate(h, x), G, atol=1e-14)
    np.testing.assert_allclose(cell.drift(h, x), F - h, atol=1e-14)


def test_the_neuroscience_form_written_out(x64):
    cell = cells.rate_rnn(2, 3, bias_std=0.2, key=2)
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    W, U, b = np.asarray(cell.F.W[0]), np.asarray(cell.F.U), np.asarray(cell.F.b[0])
    np.testing.assert_allclose(cell.vector_field(h, x), -h + W @ np.tanh(h) + U @ x + b, atol=1e-14)


def test_without_leak(x64):
    cell = cells.node(2, 3, widths=(5,), leak=False, key=2)
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    np.testing.assert_allclose(cell.vector_field(h, x), cell.F(h, x), atol=0)


def test_state_through_the_activation_first(x64):
    cell = cells.node(2, 3, widths=(5,), activate_state=True, key=2)
    plain = eqx.tree_at(lambda c: c.F.b[0], cells.node(2, 3, widths=(5,), key=2), cell.F.b[0])
    h, x = jnp.array([0.1, -0.5, 2.0]), jnp.array([1.0, -1.0])
    np.testing.assert_allclose(cell.F(h, x), plain.F(jax.nn.relu(h), x), atol=0)


def test_trained_tau_starts_where_it_was_set_and_stays_positive():
    cell = cells.gru(2, 3, tau=0.3, learn_tau="per_unit", key=0)
    np.testing.assert_allclose(cell.timescale(), np.full(3, 0.3), rtol=1e-6)
    pushed = eqx.tree_at(lambda c: c.timescale.log_tau, cell, cell.timescale.log_tau - 50)
    assert bool(jnp.all(pushed.timescale() > 0))
    assert to_dtype(cell, jnp.float16).timescale.log_tau.dtype == jnp.float16

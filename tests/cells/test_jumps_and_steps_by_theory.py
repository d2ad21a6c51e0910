"""Cells with jumps, steps of their own or no damping against closed forms, conserved energies and Legendre polynomials."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import legendre

from gnode import cells
from gnode.cells import Stack
from gnode.errors import ArgumentError
from gnode.solve import Solver, advance, rollout

INPUTS, UNITS = 2, 3
CELLS = {
    "ode_lstm": {"widths": (4,)},
    "ode_lstm, masked": {"widths": (4,), "masked": True},
    "gru_ode_bayes": {"impute": True},
    "gru_ode_bayes, masked": {"masked": True},
    "unicornn": {},
    "ltc": {},
    "cfc": {"widths": (4, 5)},
    "lmu": {"order": 4, "memories": 2, "gating": "state", "theta": 1.5},
}


def filled(make, tau=0.4):
    """The cell with normal numbers in place of its own draws, which are compiled for every shape and are often zero."""
    rng = np.random.default_rng(0)
    given = {"tau": tau, "alpha": 2.0, "theta": 1.5}

    def value(path, leaf):
        drawn = 0.5 * rng.normal(size=leaf.shape)
        return jnp.broadcast_to(jnp.asarray(given.get(getattr(path[-1], "name", ""), drawn)), leaf.shape)

    return jax.tree_util.tree_map_with_path(value, eqx.filter_eval_shape(make))


def small(name, tau=0.4):
    return filled(lambda: cells.CELLS[name.split(",")[0]](INPUTS, UNITS, tau=tau, key=0, **CELLS[name]), tau)


def state_of(cell, seed=1):
    return jnp.asarray(np.random.default_rng(seed).normal(size=cell.state_size))


def sigmoid(a):
    return 1 / (1 + np.exp(-np.asarray(a)))


def test_a_bin_of_no_length_leaves_the_state(x64):
    """Exactly, by the method of each cell, and the gradient with respect to the state is the identity."""
    made = {name: small(name) for name in CELLS}
    states = {name: state_of(cell) for name, cell in made.items()}
    x = jnp.ones(INPUTS)

    @eqx.filter_jit  # one program for all cells
    def ends(made, states, length):
        def end(cell, h):
            return advance(cell, h, (x, x, length), Solver(cell.default_method))

        return {name: (end(cell, states[name]), jax.jacrev(end, 1)(cell, states[name])) for name, cell in made.items()}

    still, moved = (ends(made, states, jnp.array(length)) for length in (0.0, 0.1))
    for name, h in states.items():
        np.testing.assert_array_equal(still[name][0], h, err_msg=name)
        np.testing.assert_array_equal(still[name][1], np.eye(len(h)), err_msg=name)
        assert np.abs(moved[name][0] - h).max() > 1e-3, name


def lstm_in_numpy(cell, h, c, x):
    i, f, g, o = np.split(np.asarray(cell.W) @ h + np.asarray(cell.U) @ x + np.asarray(cell.b), 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@pytest.mark.parametrize(("method", "substeps"), [("euler", 1), ("euler", 4), ("rk4", 3)])
def test_a_jump_happens_once_in_a_bin(method, substeps, x64):
    """With a constant flow F(h) = b, an LSTM and a straight line in turn, whatever the number of steps and stages."""
    cell, xs = small("ode_lstm"), np.random.default_rng(2).normal(size=(5, INPUTS))
    drift, lengths = np.array([0.5, -0.2, 0.1]), np.array([0.3, 0.0, 0.2, 1.0, 0.0])
    F = Stack((0 * cell.F.W[0], 0 * cell.F.W[1]), cell.F.U, (cell.F.b[0], jnp.asarray(drift)), "tanh", "identity")
    cell = eqx.tree_at(lambda cell: cell.F, cell, F)
    found = rollout(cell, xs, state_of(cell), dt=lengths, method=method, substeps=substeps)
    h, c = np.split(np.asarray(state_of(cell)), 2)
    for x, length, state in zip(xs, lengths, found):
        if length > 0:
            h, c = lstm_in_numpy(cell, h, c, x)
            h = h + length / 0.4 * drift
        np.testing.assert_allclose(state, np.concatenate([h, c]), rtol=1e-12, atol=1e-13)


def gru_ode_in_numpy(flow, h):
    """The full continuous GRU without an input."""
    W_r, W_g, W_n = np.split(np.asarray(flow.W), 3)
    b_r, b_g, b_n = np.split(np.asarray(flow.b), 3)
    g, n = sigmoid(W_g @ h + b_g), np.tanh(W_n @ (sigmoid(W_r @ h + b_r) * h) + b_n)
    return g * (n - h)


def masked_cell():
    return filled(lambda: cells.gru_ode_bayes(4, UNITS, masked=True, key=0))


def test_missing_samples_are_no_jump(x64):
    """A mask of zeros leaves the flow alone, whatever stands in the place of the values."""
    cell = masked_cell()
    lengths = np.array([0.1, 0.3, 0.2])
    xs = np.concatenate([np.zeros((3, 2)), np.random.default_rng(3).normal(size=(3, 2))], 1)
    found = rollout(cell, xs, state_of(cell), dt=lengths)
    h = np.asarray(state_of(cell))
    for length, state in zip(lengths, found):
        h = h + length / 0.4 * gru_ode_in_numpy(cell.flow, h)
        np.testing.assert_allclose(state, h, rtol=1e-12, atol=1e-13)


def test_a_missing_variable_is_not_looked_at(x64):
    """Not even where it is not a number, nor in derivatives; with a mask of all ones it is the cell without a mask."""
    cell = masked_cell()
    h = state_of(cell)
    jump = lambda *x: cell.jump(h, jnp.array(x))  # noqa: E731
    seen = jump(1.0, 0.0, 0.7, 0.0)
    np.testing.assert_array_equal(seen, jump(1.0, 0.0, 0.7, np.nan))
    assert np.abs(seen - h).max() > 1e-2
    assert np.abs(seen - jump(1.0, 1.0, 0.7, 0.0)).max() > 1e-3
    by_values = jax.jacrev(cell.jump, 1)(h, jnp.array([1.0, 0.0, 0.7, np.nan]))[:, 2:]
    np.testing.assert_array_equal(by_values[:, 1], 0)
    assert np.abs(by_values[:, 0]).max() > 1e-3
    unmasked = filled(lambda: cells.gru_ode_bayes(2, UNITS, key=0))  # the same numbers, as all shapes are the same
    np.testing.assert_array_equal(unmasked.jump(h, jnp.array([0.7, 2.0])), jump(1.0, 1.0, 0.7, 2.0))


def test_an_ode_lstm_flows_on_where_nothing_was_observed(x64):
    """A mask of zeros leaves the flow of a constant F alone; any other is a sample, and the LSTM sees mask and values."""
    own = {"widths": (4,)}
    cell, plain = (
        filled(lambda masked=m: cells.ode_lstm(4, UNITS, masked=masked, key=0, **own)) for m in (True, False)
    )
    drift, h = np.array([0.5, -0.2, 0.1]), np.asarray(state_of(cell))
    rest = jax.tree.map(jnp.zeros_like, cell.F)
    cell, plain = (
        eqx.tree_at(lambda c: c.F, one, eqx.tree_at(lambda F: F.b[-1], rest, drift)) for one in (cell, plain)
    )
    masks = np.array([[0, 0], [1, 0], [0, 0], [0, 0], [1, 1]])
    values = np.random.default_rng(4).normal(size=(5, 2))
    xs, lengths = np.concatenate([masks, values], 1), np.array([0.3, 0.2, 0.1, 0.4, 0.2])
    found = rollout(cell, xs, h, dt=lengths)
    for x, mask, length, state in zip(xs, masks, lengths, found):
        position, memory = np.split(h, 2)
        if mask.any():
            position, memory = lstm_in_numpy(cell, position, memory, x)
        h = np.concatenate([position + length / 0.4 * drift, memory])
        np.testing.assert_allclose(state, h, rtol=1e-12, atol=1e-13)
    everything = np.concatenate([np.ones((5, 2)), values], 1)
    np.testing.assert_array_equal(*(rollout(one, everything, h, dt=lengths) for one in (cell, plain)))
    with pytest.raises(ArgumentError, match="masked is True, but there are 3 inputs"):
        cells.ode_lstm(3, UNITS, masked=True, key=0)


class Oscillators:
    """UnICORNN at a constant input, where every unit has an energy of its own, z^2/2 + alpha y^2/2 + log cosh(w y + a)/w."""

    def __init__(self):
        cell = cells.unicornn(INPUTS, UNITS, alpha=2.0, tau=0.5, key=0)
        b, c = jnp.array([0.3, -0.2, 0.5]), jnp.array([-1.0, 0.0, 1.5])
        self.cell = eqx.tree_at(lambda cell: (cell.b, cell.c), cell, (b, c))
        self.x, self.start = np.array([0.4, -0.7]), np.array([1.0, -0.5, 0.7, 0.0, 0.0, 0.0])
        self.w, self.a = np.asarray(cell.w), np.asarray(cell.V) @ self.x + np.asarray(b)
        self.pace = sigmoid(c) / 0.5
        self.omega = self.pace * np.sqrt(2.0 + self.w)  # the largest frequency, where tanh is steepest

    def run(self, bins, dt, method=None):
        xs = np.tile(self.x, (bins, 1))
        return np.asarray(rollout(self.cell, xs, self.start, dt=dt, method=method))

    def energy(self, states):
        y, z = np.split(states, 2, axis=-1)
        return z**2 / 2 + y**2 + np.log(np.cosh(self.w * y + self.a)) / self.w

    def force(self, states):
        y = states[..., :UNITS]
        return np.tanh(self.w * y + self.a) + 2.0 * y

    def change(self, states):
        return np.abs(self.energy(states) - self.energy(self.start)) / self.energy(self.start)


def test_the_flow_of_unicornn_keeps_its_energy(x64):
    """By the classical rule, which for y'' = -omega^2 y loses (omega dt)^6 / 72 of the energy in a step.

    The tanh, which is nearly linear here, only lowers the frequency.
    """
    system, (bins, dt) = Oscillators(), (1000, 0.04)
    lost = system.change(system.run(bins, dt, "rk4")).max(0)
    assert np.all(lost < bins * (system.omega * dt) ** 6 / 72)
    assert np.all(lost < 1e-4)


def test_symplectic_euler_keeps_the_energy_of_unicornn_within_bounds(x64):
    """It conserves energy - dt/2 pace z force but for terms in dt^2, so that the energy changes as the second term does.

    From z = 0 that is at most dt/2 max |pace z force|, which is reached, linear in dt, and does not grow with time. Forward
    Euler gains energy in every step, and the more the more it has.
    """
    system, most = Oscillators(), {}
    for dt in (0.04, 0.02):
        states = system.run(6000, dt)
        change, pull = system.change(states), np.abs(system.pace * states[:, UNITS:] * system.force(states)).max(0)
        most[dt] = change.max(0)
        np.testing.assert_allclose(most[dt], dt / 2 * pull / system.energy(system.start), rtol=dt)
        np.testing.assert_allclose(change[3000:].max(0), change[:3000].max(0), rtol=1e-2)
    # Terms in dt^2 are smaller by omega dt than those in dt.
    assert np.all(np.abs(most[0.04] / most[0.02] - 2) < system.omega * 0.04)
    gained = system.change(system.run(1000, 0.02, "euler"))
    assert np.all(gained[-1] > 2 * gained[499])


def bare_memory(order, theta):
    """An LMU that writes its only input into its only memory."""
    cell = cells.lmu(1, 1, order=order, theta=theta, key=0)
    return eqx.tree_at(lambda cell: cell.P, cell, jnp.array([[1.0, 0.0]]))


def test_the_memory_of_lmu_holds_the_last_theta_seconds(x64):
    """sum_k m_k P_k(2 r - 1) is the sine that was written r theta seconds ago.

    Samples from the middle of bins, held and then smoothed over a bin, are straight lines between samples: (omega dt)^2 / 8
    from the sine at most, and the smoothing moves it by (omega dt)^2 / 24. Twelve polynomials resolve no single bin but at
    the ends, which are left out; what they lack for one period is 25 j_12(pi) = 3e-6.
    """
    order, theta = 12, 0.5
    omega, cell, errors = 2 * np.pi / theta, bare_memory(order, theta), []
    for per_theta in (50, 100):
        dt, bins = theta / per_theta, 3 * per_theta
        wave = lambda t: np.sin(omega * t + 0.3)  # noqa: E731
        xs = wave(dt * (np.arange(bins) + 0.5))[:, None]
        memory = np.asarray(rollout(cell, xs, np.zeros(order + 1), dt=dt))[-1, :order]
        shares = np.linspace(0.1, 0.9, 81)
        errors.append(np.abs(legendre.legval(2 * shares - 1, memory) - wave(bins * dt - shares * theta)).max())
        assert errors[-1] < (omega * dt) ** 2 / 6 + 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def with_bias_of_gate(cell, *bias):
    return eqx.tree_at(lambda cell: cell.gate.b[0], cell, jnp.array(bias))


@pytest.mark.parametrize("gating", ["input", "state"])
def test_gates_of_lmu(gating, x64):
    """Open, it is the ungated cell; shut, it holds the memory while the units move; half open, theta is twice as long."""
    options = {"order": 4, "memories": 2, "theta": 1.5, "key": 0}
    gated = filled(lambda: cells.lmu(INPUTS, UNITS, gating=gating, **options))
    plain = eqx.tree_at(lambda cell: cell.gate, gated, None)
    slow = eqx.tree_at(lambda cell: cell.theta, plain, jnp.array(3.0))
    xs, start = np.random.default_rng(4).normal(size=(20, INPUTS)), state_of(plain)
    of = lambda cell: np.asarray(rollout(cell, xs, start, dt=0.1))  # noqa: E731
    np.testing.assert_allclose(of(with_bias_of_gate(gated, 50.0, 50.0)), of(plain), rtol=1e-11, atol=1e-12)
    shut = of(with_bias_of_gate(gated, -800.0, -800.0))
    np.testing.assert_allclose(shut[:, :8], np.tile(start[:8], (20, 1)), rtol=1e-13)
    assert np.abs(np.diff(shut[:, 8:], axis=0)).max() > 1e-2
    first_shut = of(with_bias_of_gate(gated, -800.0, 50.0))
    np.testing.assert_allclose(first_shut[:, :4], np.tile(start[:4], (20, 1)), rtol=1e-13)
    assert np.abs(np.diff(first_shut[:, 4:8], axis=0)).max() > 1e-2
    half = eqx.tree_at(lambda cell: cell.gate, gated, replace_fn=lambda gate: jax.tree.map(jnp.zeros_like, gate))
    np.testing.assert_allclose(of(half), of(slow), rtol=1e-11, atol=1e-12)
    # What the gate looks at: of the state only where it is asked to.
    x, h = jnp.asarray(xs[0]), start[8:]
    by_state, by_input = jax.jacrev(lambda h: gated._gate(h, x))(h), jax.jacrev(lambda x: gated._gate(h, x))(x)
    assert (np.abs(by_state).max() > 1e-2) == (gating == "state")
    assert np.abs(by_input).max() > 1e-2


@pytest.mark.parametrize("name", ["ltc", "lmu"])
def test_own_steps_begin_along_the_vector_field(name, x64):
    """The derivative by the length of the step, at no length; that of LTC lacks the 1e-8 h / c of its denominator."""
    cell = small(name)
    h, x = state_of(cell), jnp.array([0.3, -0.8])
    _, speed = jax.jvp(lambda dt: cell.own_step(h, x, dt), (jnp.array(0.0),), (jnp.array(1.0),))
    tolerance = 1e-8 * np.abs(h / jax.nn.softplus(cell.capacitance)).max() / 0.4 if name == "ltc" else 1e-12
    np.testing.assert_allclose(speed, cell.vector_field(h, x), rtol=1e-12, atol=tolerance)


def test_states_of_ltc_stay_between_its_potentials_for_any_step(x64):
    """A step is a mean of the state and of the potentials v and E, which hold it in [-1, 1], and of 0 (the 1e-8)."""
    cell, xs = cells.ltc(INPUTS, UNITS, tau=0.4, key=0), 10 * np.random.default_rng(5).normal(size=(200, INPUTS))
    lengths = np.geomspace(1e-3, 1e6, 200)
    states = rollout(cell, xs, np.array([1.0, -1.0, 0.3]), dt=lengths)
    assert np.abs(states).max() <= 1 + 1e-12
    assert np.abs(np.diff(states, axis=0)).max() > 0.1


def test_cfc_is_its_formula(x64):
    """Per unit tau, two layers; the vector field is the mean velocity over tau, and no flow has this step."""
    tau = np.array([0.4, 1.0, 2.0])
    cell = small("cfc", tau)
    h, x = np.asarray(state_of(cell)), np.array([0.3, -0.8])

    def formula(h, share):
        q = np.concatenate([x, h])
        for B, b in zip(cell.B, cell.b):
            q = 1.7159 * np.tanh(0.666 * (np.asarray(B) @ q + np.asarray(b)))
        F_1, F_2, A_1, A_2 = np.asarray(cell.heads).reshape(4, UNITS, -1)
        f_1, f_2, a_1, a_2 = np.asarray(cell.offsets).reshape(4, UNITS)
        s = sigmoid(share * (A_1 @ q + a_1) + A_2 @ q + a_2)
        return (1 - s) * np.tanh(F_1 @ q + f_1) + s * np.tanh(F_2 @ q + f_2)

    found = rollout(cell, x[None], h, dt=0.7)[0]
    np.testing.assert_allclose(found, formula(h, 0.7 / tau), rtol=1e-12, atol=1e-13)
    by_field = h + tau * np.asarray(cell.vector_field(jnp.asarray(h), jnp.asarray(x)))
    np.testing.assert_allclose(by_field, formula(h, 1.0), rtol=1e-12, atol=1e-13)
    in_halves = rollout(cell, x[None], h, dt=0.7, substeps=2)[0]
    np.testing.assert_allclose(in_halves, formula(formula(h, 0.35 / tau), 0.35 / tau), rtol=1e-12, atol=1e-13)
    assert np.abs(in_halves - found).max() > 1e-2
    assert not cell.is_flow


def test_which_cells_are_flows():
    flows = {name for name in CELLS if small(name).is_flow}
    assert flows == {"unicornn", "ltc", "lmu"}

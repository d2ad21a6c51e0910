"""Linear memories against their authors' code, their exact step, their scan and their gates; augmented neural ODEs."""

import dataclasses
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from three_eighths import three_eighths

from gnode import build, cells, rollout
from gnode.cells import LRU, S4D, FixedTimescale, Gated, Stack, _lmu, _lru
from gnode.network import AffineState, AugmentedState, Network
from gnode.solve import Solver, rollout_batch
from gnode.solve._bin import moved
from gnode.solve._path import bins_of

FIXTURES = Path(__file__).parent.parent / "fixtures" / "relatives"
SECOND = FixedTimescale(jnp.array(1.0))
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def stored(name):
    return {key: jnp.asarray(value) for key, value in np.load(FIXTURES / f"{name}.npz").items()}


def own_states(cell, xs, **options):
    """From rest, with bins of tau: the authors' recurrences."""
    h0 = jnp.zeros((len(xs), cell.state_size))
    return rollout_batch(cell, xs, h0, jnp.ones(xs.shape[:2]), Solver("own", **options))


def s4d_of(given, key, sign=1):
    """A cell with the stored parameters. Their minimal file has + i A_imag, which conjugates the modes: `sign` is -1."""
    name = {
        "kernel": ("A_real", "A_imag", "inv_dt", "B", "C"),
        "minimal": ("kernel.log_A_real", "kernel.A_imag", "kernel.log_dt", None, "kernel.C"),
    }[key]
    a, omega, step, B, C = (None if one is None else given[f"{key}/{one}"] for one in name)
    one = jnp.stack([jnp.ones((2, 4)), jnp.zeros((2, 4))], -1)
    D = given["minimal/D"] if key == "minimal" else jnp.zeros(2)
    B, C = one if B is None else B[0], C.reshape(2, 4, 2)
    return S4D(a, sign * omega, step.reshape(2), B, C, D, None, None, None, SECOND, "no", 2, 2)


@pytest.mark.parametrize("time", ["loop", "parallel"])
def test_s4d(time, x64):
    given = stored("s4d")
    cell, us = s4d_of(given, "kernel"), given["us"]
    states = own_states(cell, us, time=time)
    modes = cell.as_modes(states).reshape(given["kernel/zoh/states"].shape)
    np.testing.assert_allclose(modes, given["kernel/zoh/states"], **TIGHT)
    np.testing.assert_allclose(cell.seen(states, us), given["kernel/zoh/outputs"], **TIGHT)
    loss = lambda cell: jnp.sum(cell.seen(own_states(cell, us, time=time), us)[:, -1] ** 2)  # noqa: E731
    found = eqx.filter_jit(eqx.filter_grad(loss))(cell)
    for name, value in {"A_real": found.a, "A_imag": found.omega, "inv_dt": found.log_step[:, None]}.items():
        np.testing.assert_allclose(value, given[f"kernel/zoh/gradient/{name}"], rtol=1e-8, atol=1e-10)
    # A sample at the beginning alone, one for each feature: their kernel.
    impulses = jnp.zeros((1, 6, 2)).at[:, 0].set(1.0)
    answer = cell.seen(own_states(cell, impulses, time=time), impulses)[0]
    np.testing.assert_allclose(answer.T, given["kernel/zoh/K"], **TIGHT)


def test_s4d_of_the_minimal_file(x64):
    given = stored("s4d")
    cell, us = s4d_of(given, "minimal", sign=-1), given["us"]
    found = cell.seen(own_states(cell, us), us)
    np.testing.assert_allclose(found, given["minimal/outputs"], **TIGHT)


@pytest.mark.parametrize("spectrum", ["lin", "inv", "real", "legs"])
def test_first_spectra_of_s4d(spectrum, x64):
    """Those of LegS were made in single precision, whose rounding is 6e-8 of the largest eigenvalue."""
    given, cell = stored("s4d"), cells.s4d(3, 3, modes=4, spectrum=spectrum, key=0)
    A = np.asarray(cell.rates().reshape(3, 4) / jnp.exp(cell.log_step)[:, None])
    expected = np.asarray(given[f"init/{spectrum}/A"])
    error = 1e-6 * np.abs(expected).max() if spectrum == "legs" else 1e-13
    np.testing.assert_allclose(A, np.broadcast_to(expected, (3, 4)), rtol=1e-13, atol=error)
    if spectrum != "legs":
        np.testing.assert_array_equal(
            cell.B[..., 0] + 1j * cell.B[..., 1], np.broadcast_to(given[f"init/{spectrum}/B"], (3, 4))
        )


def test_first_values_of_s4d(x64):
    """C is standard complex normal, D standard normal, log Delta uniform; 4000 of each, so within 4 standard errors."""
    cell = cells.s4d(2, 4000, modes=1, mix=False, key=0)
    steps = np.asarray(jnp.exp(cell.log_step))
    assert steps.min() >= 0.001 * (1 - 1e-9)
    assert steps.max() <= 0.1 * (1 + 1e-9)
    assert np.log10(steps).mean() == pytest.approx(-2.0, abs=4 * 2 / np.sqrt(12 * 4000))
    for values, variance in ((cell.C, 0.5), (cell.D, 1.0)):
        assert float(values.var()) == pytest.approx(variance, rel=4 * np.sqrt(2 / values.size))
        assert float(values.mean()) == pytest.approx(0.0, abs=4 * np.sqrt(variance / values.size))


def lru_of(given):
    B, C = (jnp.stack([given[f"{name}_re"], given[f"{name}_im"]], -1) for name in "BC")
    logs = [given[f"{name}_log"] for name in ("nu", "theta", "gamma")]
    return LRU(*logs, B, C, given["D"], None, None, None, SECOND, "no", 3, 3)


@pytest.mark.parametrize("time", ["loop", "parallel"])
def test_lru(time, x64):
    given = stored("lru")
    cell, xs = lru_of(given), given["xs"][None]
    states = own_states(cell, xs, time=time)
    expected = jnp.concatenate([given["states_re"], given["states_im"]], -1)
    np.testing.assert_allclose(states[0], expected, **TIGHT)
    np.testing.assert_allclose(cell.seen(states, xs)[0], given["outputs"], **TIGHT)
    loss = lambda cell: jnp.sum(cell.seen(own_states(cell, xs, time=time), xs)[:, -1] ** 2)  # noqa: E731
    found = eqx.filter_jit(eqx.filter_grad(loss))(cell)
    for name, value in {"nu_log": found.nu, "theta_log": found.theta, "gamma_log": found.gamma}.items():
        np.testing.assert_allclose(value, given[f"gradient/{name}"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.B[..., 0], given["gradient/B_re"], rtol=1e-8, atol=1e-10)


def test_first_values_of_lru_from_their_uniform_numbers(x64, monkeypatch):
    given = stored("lru")
    fastest, slowest, phase = map(float, given["init/r_min_r_max_max_phase"])
    monkeypatch.setattr(jax.random, "uniform", lambda key, shape: given["init/uniform"].reshape(shape))
    monkeypatch.setattr(_lru, "LARGEST_PHASE", phase)
    cell = cells.lru(3, 3, modes=4, slowest=slowest, fastest=fastest, mix=False, key=0)
    for name in ("nu", "theta", "gamma"):
        np.testing.assert_allclose(getattr(cell, name), given[f"init/{name}_log"], rtol=1e-11, atol=1e-12)


def test_first_ring_of_lru(x64):
    """|lambda|^2 is uniform, the phase too; B and C have variances 1 / (2 N) and 1 / K in each part."""
    cell = cells.lru(2, 50, modes=4000, slowest=0.9, fastest=0.4, mix=False, key=0)
    rates = np.asarray(jnp.exp(cell.rates()))
    share = (np.abs(rates) ** 2 - 0.16) / (0.81 - 0.16)
    for values in (share, np.exp(np.asarray(cell.theta)) / 6.28):
        assert values.min() >= 0
        assert values.max() <= 1
        assert np.abs(np.sort(values) - (np.arange(4000) + 0.5) / 4000).max() < 1.95 / np.sqrt(
            4000
        )  # Kolmogorov, 0.1 %
    for values, variance in ((cell.B, 1 / 100), (cell.C, 1 / 4000)):
        assert float(values.var()) == pytest.approx(variance, rel=4 * np.sqrt(2 / values.size))


NAMES = ("s4d", "lru")
XS = np.random.default_rng(0).normal(size=(2, 9, 2))
DT = np.array([[0.3, 0.1, 0.5, 0.2, 0.4, 0.0, 0.3, 0.7, 0.0], [0.2] * 9])


def drawn(name, gating="no", **options):
    """Modes that are fast enough for bins of these lengths to matter, with a tau for each."""
    modes = {"modes": 3} if name == "s4d" else {"modes": 4}
    taus = (0.3, 0.5, 0.7) if name == "s4d" else (0.3, 0.5, 0.7, 0.4)
    cell = cells.CELLS[name](2, 3, tau=taus, gating=gating, key=1, **modes | options)
    if name == "s4d":
        cell = eqx.tree_at(lambda c: c.log_step, cell, cell.log_step + 3.0)
    if cell.gate is not None:  # louder, so that it matters
        cell = eqx.tree_at(lambda c: (c.gate.U, c.gate.b[0]), cell, (2 * cell.gate.U, cell.gate.b[0] - 0.5))
    return cell


def given_start(cell, seed=4):
    return jnp.asarray(np.random.default_rng(seed).normal(size=(2, cell.state_size)))


@pytest.mark.parametrize("gating", ["no", "input", "state"])
@pytest.mark.parametrize("name", NAMES)
def test_all_bins_at_once_equal_one_by_one(name, gating, x64):
    """States with and without noise, and the gradients by all weights, samples, starts and lengths."""
    cell = drawn(name, gating)
    h0, xs, dt = given_start(cell), jnp.asarray(XS), jnp.asarray(DT)
    noise = jnp.asarray(np.random.default_rng(5).normal(size=(2, 9, cell.state_size)))
    one_by_one, h = [], h0
    for t in range(9):
        h = jax.vmap(cell.own_step)(h, xs[:, t], dt[:, t])
        one_by_one.append(h)
    expected = jnp.stack(one_by_one, 1)
    values, rest = eqx.partition((cell, xs, h0, dt), eqx.is_inexact_array)

    def run(time, noise=None):
        def states(values):
            cell, xs, h0, dt = eqx.combine(values, rest)
            found = rollout_batch(cell, xs, h0, dt, Solver("own", time=time), noise=noise)
            return jnp.sum(jnp.sin(cell.seen(found, xs))), found

        return jax.jit(jax.value_and_grad(states, has_aux=True))(values)

    quiet = {time: run(time) for time in ("loop", "parallel")}
    for (_, states), _ in quiet.values():
        np.testing.assert_allclose(states, expected, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(states[0, 5], states[0, 4])  # a bin of length zero
    for mine, other in zip(*(jax.tree.leaves(gradient) for _, gradient in quiet.values())):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)
    noisy = [run(time, noise)[0][1] for time in ("loop", "parallel")]
    np.testing.assert_allclose(*noisy, rtol=1e-10, atol=1e-11)
    assert float(jnp.abs(noisy[0] - expected).max()) > 0.1


@pytest.mark.parametrize("gating", ["no", "input"])
@pytest.mark.parametrize("name", NAMES)
def test_the_own_step_is_the_flow_under_a_held_input(name, gating, x64):
    """Against the classical rule of order 4 on the vector field, whose error falls 16-fold with the step."""
    cell = drawn(name, gating)
    h0, steps = given_start(cell)[0], DT[0]
    own = rollout(cell, XS[0], h0, dt=steps)
    fine = [rollout(cell, XS[0], h0, dt=steps, method="rk4", substeps=n) for n in (64, 128)]
    errors = [float(jnp.abs(each - own).max()) for each in fine]
    assert 3.7 < np.log2(errors[0] / errors[1]) < 4.3
    assert errors[1] < 1e-4 * float(jnp.abs(own).max())
    # One step, or 7: a flow.
    np.testing.assert_allclose(rollout(cell, XS[0], h0, dt=steps, substeps=7), own, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_with_a_gate_of_the_state_the_own_step_is_of_order_1(name, x64):
    """The gate is held during a step, at what it is at its start."""
    cell = drawn(name, "state")
    h0, steps = given_start(cell)[0], DT[0]
    exact = rollout(cell, XS[0], h0, dt=steps, method="rk4", substeps=256)
    errors = [float(jnp.abs(rollout(cell, XS[0], h0, dt=steps, substeps=n) - exact).max()) for n in (32, 64)]
    assert abs(np.log2(errors[0] / errors[1]) - 1) < 0.1


@pytest.mark.parametrize("gating", ["input", "state"])
@pytest.mark.parametrize("name", NAMES)
def test_an_open_gate_is_no_gate_and_a_shut_one_holds_the_state(name, gating, x64):
    cell = drawn(name, gating)
    constant = lambda b: eqx.tree_at(  # noqa: E731
        lambda c: (c.gate.W[0], c.gate.U, c.gate.b[0]),
        cell,
        (0 * cell.gate.W[0], 0 * cell.gate.U, b + 0 * cell.gate.b[0]),
    )
    plain = dataclasses.replace(cell, gate=None, gating="no")
    h0, xs = given_start(cell)[0], XS[0]
    expected = rollout(plain, xs, h0, dt=DT[0])
    np.testing.assert_allclose(rollout(constant(1e4), xs, h0, dt=DT[0]), expected, rtol=1e-12, atol=1e-13)
    shut = rollout(constant(-1e4), 100 * xs, h0, dt=DT[0])
    np.testing.assert_array_equal(shut, np.broadcast_to(h0, shut.shape))
    assert float(jnp.abs(rollout(cell, xs, h0, dt=DT[0]) - expected).max()) > 0.01  # the gate as drawn matters


@pytest.mark.parametrize("name", NAMES)
def test_time_is_counted_in_tau(name, x64):
    fast, slow = (cells.CELLS[name](2, 3, tau=tau, gating="state", key=1) for tau in (0.1, 1.0))
    h0 = given_start(fast)[0]
    found, expected = (rollout(one, XS[0], h0, dt=tau * DT[0]) for one, tau in ((fast, 0.1), (slow, 1.0)))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


ANODES = ("relu", "time_relu", "time_softplus")
UNITS, SEEN, STEPS = 4, 2, 10


def anode_of(given, kind):
    """The augmented neural ODE with the stored weights, whose inputs are x and the time t.

    Of t alone F takes notice, as their [t; x] has it; x makes the first state.
    """
    W, b = ([given[f"{kind}/odeblock.odefunc.fc{layer}.{part}"] for layer in (1, 2, 3)] for part in ("weight", "bias"))
    is_timed = kind.startswith("time")
    U = jnp.zeros((5, 3)).at[:, 2].set(W[0][:, 0] if is_timed else 0.0)
    F = Stack((W[0][:, is_timed:], W[1], W[2]), U, tuple(b), kind.removeprefix("time_"), "identity")
    cell = Gated(F, None, SECOND, 3, UNITS, leak=False)
    A = jnp.asarray(np.random.default_rng(0).normal(size=(UNITS, 3))).at[:SEEN].set(jnp.eye(SEEN, 3))
    start = AugmentedState(AffineState(A, jnp.ones(UNITS).at[:SEEN].set(0.0)), UNITS, UNITS - SEEN)
    net = Network(cell, 2, initial=start, key=0)
    weights = given[f"{kind}/linear_layer.weight"], given[f"{kind}/linear_layer.bias"]
    return eqx.tree_at(lambda net: (net.readout.C[0], net.readout.d[0]), net, weights)


def timed_inputs(given, bins):
    clock = jnp.broadcast_to(0.1 * jnp.arange(bins)[:, None], (3, bins, 1))
    return jnp.concatenate([jnp.broadcast_to(given["xs"][:, None], (3, bins, 2)), clock], -1)


@pytest.mark.parametrize("kind", ANODES)
def test_anode_by_euler(kind, x64):
    """Drift, trajectories from [x; 0] and the output, which theirs reads from all units."""
    given = stored("anode")
    net = anode_of(given, kind)
    x = jnp.array([7.0, -7.0, 0.3])  # the first two move nothing
    drift = jax.vmap(net.cell.vector_field, (0, None))(given[f"{kind}/drift_x"], x)
    np.testing.assert_allclose(drift, given[f"{kind}/drift_at_0.3"], **TIGHT)
    found = net.batch(timed_inputs(given, STEPS), jnp.full((3, STEPS), 0.1))
    expected = jnp.swapaxes(given[f"{kind}/euler/trajectory"], 0, 1)
    start = jax.vmap(net.initial)(timed_inputs(given, 1)[:, 0])
    np.testing.assert_array_equal(start, expected[:, 0])
    np.testing.assert_array_equal(start[:, SEEN:], 0.0)
    np.testing.assert_allclose(found.states[:, 1::2], expected[:, 1:], **TIGHT)  # their times are 0.2 apart
    np.testing.assert_allclose(found.outputs[:, -1], given[f"{kind}/euler/output"], **TIGHT)


@pytest.mark.parametrize("kind", ANODES)
def test_anode_by_their_rule_of_order_4(kind, x64):
    """Time runs on within a bin, as the straight line through its samples."""
    given, solver = stored("anode"), Solver(interpolation="linear")
    net, dt = anode_of(given, kind), jnp.full(STEPS + 1, 0.1)

    def states(cell, xs):
        def step(h, bin):
            h = moved(cell, h, bin, solver, three_eighths)
            return h, h

        return jax.lax.scan(step, net.initial(xs[0]), bins_of(cell, xs, dt, solver))[1][:STEPS]

    run = jax.jit(jax.vmap(states, (None, 0)))
    xs = timed_inputs(given, STEPS + 1)
    found = run(net.cell, xs)
    expected = jnp.swapaxes(given[f"{kind}/rk4/trajectory"], 0, 1)[:, 1:]
    np.testing.assert_allclose(found[:, 1::2], expected, **TIGHT)
    np.testing.assert_allclose(jax.vmap(net.readout)(found[:, -1]), given[f"{kind}/rk4/output"], **TIGHT)
    slope = eqx.filter_grad(lambda cell: jnp.sum(run(cell, xs)[:, -1] ** 2))(net.cell).F
    theirs = given[f"{kind}/rk4/gradient/odeblock.odefunc.fc1.weight"]
    is_timed = kind.startswith("time")
    mine = jnp.concatenate([slope.U[:, 2:], slope.W[0]], 1) if is_timed else slope.W[0]
    np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("model", "copies"), [("node", 1), ("gnode", 1), ("cornn", 2)])
def test_units_that_augment_begin_at_zero_and_stay_unseen(model, copies, x64):
    """Two units beside three; for oscillators both position and velocity of each. Their weights are trained all the same."""
    how = {} if model == "cornn" else {"widths": (6,)}
    net = build(model, 2, 4, state=3, augment=2, initial="affine", key=0, **how)
    assert (net.cell.units, net.readout.C[0].shape) == (5, (4, 3))
    xs, dt = jnp.asarray(XS), jnp.full(XS.shape[:2], 0.1)
    start = jax.vmap(net.initial)(xs[:, 0]).reshape(2, copies, 5)
    np.testing.assert_array_equal(start[..., 3:], 0.0)
    assert np.all(np.abs(start[..., :3]) > 0)
    found = net.batch(xs, dt)
    seen = found.states[..., :3]
    np.testing.assert_allclose(found.outputs, seen @ net.readout.C[0].T + net.readout.d[0], rtol=1e-12)
    assert np.all(np.abs(found.states[..., 3:5]).max((0, 1)) > 0)  # they move
    gradient = eqx.filter_grad(lambda net: jnp.sum(net.batch(xs, dt).outputs ** 2))(net)
    A = gradient.initial.state.A.reshape(copies, 5, 2)
    np.testing.assert_array_equal(A[:, 3:], 0.0)
    assert float(jnp.abs(A[:, :3]).min()) > 0
    weights = gradient.cell.W if model == "cornn" else gradient.cell.F.W[0]
    assert float(jnp.abs(weights[:, 3:]).max()) > 0  # what is seen depends on them


AUGMENTED = {
    "node": ({}, [3, 4]),
    "lstm": ({}, [3, 4, 8, 9]),
    "lem": ({}, [3, 4, 8, 9]),
    "cornn": ({"layers": 2}, [3, 4, 8, 9, 13, 14, 18, 19]),
    # Two modes of each feature: 6 to 9 of 10, the real parts, and again for the imaginary ones.
    "s4d": ({"modes": 2}, [6, 7, 8, 9, 16, 17, 18, 19]),
    "lru": ({}, []),
    "lmu": ({"order": 10}, [13, 14]),
}
"""For each cell of 3 units and 2 more the places that these have in its state."""


@pytest.mark.parametrize("model", AUGMENTED)
def test_what_begins_at_zero_in_an_augmented_network(model, x64):
    """Moving what is seen of the last two units moves these places alone, where every variable belongs to some unit."""
    how, places = AUGMENTED[model]
    net = build(model, 2, 4, state=3, augment=2, initial="affine", key=0, **how)
    start = net.initial(jnp.asarray(XS[0, 0]))
    assert np.flatnonzero(np.asarray(start) == 0).tolist() == places
    plain = net.initial.state(jnp.asarray(XS[0, 0]))
    rest = np.setdiff1d(np.arange(net.cell.state_size), places)
    np.testing.assert_array_equal(start[rest], plain[rest])
    if model == "s4d":  # a closed form of who owns a mode: the features that it moves
        seen = jax.jacfwd(lambda h: net.cell.features(net.cell.as_modes(h)))(plain)
        assert np.unique(np.nonzero(np.abs(seen[3:]).sum(0))[0]).tolist() == places


def test_the_flow_of_lru_turns_by_less_than_half_a_turn_in_tau(x64):
    """Of all flows with the authors' step at dt = tau it is the slowest, so that other steps stay near it."""
    cell = cells.lru(2, 4, modes=200, mix=False, key=0)
    phase = np.exp(np.asarray(cell.theta))
    assert np.max(phase) > np.pi, "some of the authors' phases are beyond half a turn"
    assert np.max(np.abs(cell.rates().imag)) <= np.pi
    np.testing.assert_allclose(np.exp(cell.rates()), np.exp(-np.exp(np.asarray(cell.nu)) + 1j * phase), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 6, 16, 40])
@pytest.mark.parametrize("share", [1e-3, 0.1, 1.0, 16.0])
def test_the_exponential_of_the_memories_by_products_alone(order, share):
    """Beside scipy's, which solves linear systems; in both precisions, relative to the largest entry."""
    A, B = _lmu.hippo(order)
    whole = np.pad(np.concatenate([A, B[:, None]], axis=1), ((0, 1), (0, 0))) * share
    expected = scipy.linalg.expm(whole) - np.eye(order + 1)
    for x64, tolerance in ((True, 1e-11), (False, 2e-4)):
        with jax.enable_x64(x64):
            found = _lmu.exponential_minus_one(jnp.asarray(whole), _lmu._halvings(order))
        assert np.max(np.abs(found - expected)) < tolerance * np.max(np.abs(expected))

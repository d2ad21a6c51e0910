"""Cells with jumps, steps of their own or layers against their authors' own code: the numbers of `tests/fixtures/relatives`.

All in float64, states, outputs and gradients, by the method of the authors. Rounding is the only difference: it was below
1e-13 where these tests were written, and they allow 1e-11.
"""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import relatives_in_numpy

from gnode import cells
from gnode.cells import GRUODE, LMU, LTC, ODELSTM, CfC, FixedTimescale, GRUODEBayes, Layers, Stack, UnICORNN
from gnode.solve import Solver, rollout, rollout_batch

FIXTURES = Path(__file__).parent.parent / "fixtures" / "relatives"


def stored(name):
    return {key: jnp.asarray(value) for key, value in np.load(FIXTURES / f"{name}.npz").items()}


def second():
    """A tau of one second: made in the test, where numbers have 64 bits."""
    return FixedTimescale(jnp.array(1.0))


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@eqx.filter_jit
def _run(cell, xs, h0, dt, solver, seen):
    def loss(cell):
        states = rollout_batch(cell, xs, h0, dt, solver, gradient_only=True)
        return jnp.sum(seen(states[:, -1]) ** 2), states

    return eqx.filter_grad(loss, has_aux=True)(cell)


def run(cell, xs, h0, dt, method=None, substeps=1, seen=lambda h: h):
    """The states after each bin, and the gradient of the sum of squares of (what is `seen` of) the last one."""
    solver = Solver(cell.default_method if method is None else method, substeps=substeps)
    gradient, states = _run(cell, xs, h0, jnp.broadcast_to(dt, xs.shape[:2]), solver, seen)
    return states, gradient


def _ode_lstm(given):
    """Torch's order of gates is that of the cell, whose one b is the sum of torch's two."""
    W, U, b_in, b = (given[f"rnn_cell.lstm.{part}"] for part in ("weight_hh", "weight_ih", "bias_ih", "bias_hh"))
    of_F = [[given[f"rnn_cell.f_node.{layer}.{part}"] for layer in (0, 2)] for part in ("weight", "bias")]
    F = Stack(tuple(of_F[0]), jnp.zeros((4, 0)), tuple(of_F[1]), "tanh", "identity")
    return ODELSTM(W, U, b_in + b, F, second(), 3, 4)


@pytest.mark.parametrize("method", ["euler", "heun", "rk4"])
def test_ode_lstm(method, x64):
    """Theirs always takes three steps; its "dopri5", the default, is left out as it mixes up the series of a batch."""
    given, name = stored("ode_lstm"), f"fixed_{method}"
    cell = _ode_lstm(given)
    start = jnp.concatenate([given["h0"], given["c0"]], -1)
    states, gradient = run(cell, given["xs"], start, given["timespans"], method, substeps=3)
    same(states, jnp.concatenate([given[f"{name}/h"], given[f"{name}/c"]], -1))
    same(gradient.W, given[f"{name}/gradient/rnn_cell.lstm.weight_hh"])
    same(gradient.F.W[0], given[f"{name}/gradient/rnn_cell.f_node.0.weight"])
    from_rest, _ = run(cell, given["xs"], jnp.zeros((2, 8)), given["timespans"], method, substeps=3)
    outputs = cell.visible(from_rest) @ given["fc.weight"].T + given["fc.bias"]
    same(outputs, given[f"{name}/outputs"])
    # Their mask chooses the output that is read; the states move under it as without one.
    last = [int(np.flatnonzero(row)[-1]) for row in given["mask"]]
    same(outputs[np.arange(2), np.array(last)], given[f"{name}/masked_output"])


def _flow(given, name, impute):
    """Their update gate is 1 - g, so that what leads to it has the other sign; without `impute` they have no biases."""
    weight = lambda part: given[f"{name}/gru_c.{part}.weight"]  # noqa: E731
    minimal = name == "minimal"
    signs = jnp.repeat(jnp.array([-1.0, 1.0] if minimal else [1.0, -1.0, 1.0]), 3)
    W = jnp.concatenate(
        [weight(part) for part in ("lin_hr", "lin_hz", "lin_hh", "lin_hn") if _is_part(given, name, part)]
    )
    U, b = jnp.zeros((len(signs), 4)), jnp.zeros(len(signs))
    if impute:
        of_x = ("lin_xz", "lin_xn") if minimal else ("lin_x",)
        U = signs[:, None] * jnp.concatenate([weight(part) for part in of_x])
        b = signs * jnp.concatenate([given[f"{name}/gru_c.{part}.bias"] for part in of_x])
    return GRUODE(signs[:, None] * W, U, b, second(), minimal, 4, 3)


def _is_part(given, name, part):
    return f"{name}/gru_c.{part}.weight" in given


def _gru_ode_bayes(given, name, impute):
    """Torch's GRU has two biases for each gate, of which only those of the candidate are not always added."""
    hidden, of_h = 3, given["gru_obs.gru_d.bias_hh"]
    layers = [[given[f"p_model.{layer}.{part}"] for layer in (0, 3)] for part in ("weight", "bias")]
    return GRUODEBayes(
        flow=_flow(given, name, impute),
        prediction=Stack(tuple(layers[0]), jnp.zeros((3, 0)), tuple(layers[1]), "relu", "identity"),
        P=given["gru_obs.w_prep"],
        p=given["gru_obs.bias_prep"],
        W=given["gru_obs.gru_d.weight_hh"],
        U=given["gru_obs.gru_d.weight_ih"],
        b=given["gru_obs.gru_d.bias_ih"] + of_h.at[2 * hidden :].set(0.0),
        b_n=of_h[2 * hidden :],
        masked=True,
        impute=impute,
        inputs=4,
        units=hidden,
    )


def _losses_before(mean, logarithm, values, mask):
    """The negative log-likelihood of the observations under what was predicted before the jump."""
    errors = (values - mean) ** 2 * jnp.exp(-logarithm)
    return (errors + logarithm + jnp.log(2 * jnp.pi)) * mask / 2


def test_one_jump_of_gru_ode_bayes(x64):
    """With another prediction than that of the state: the biases of a prediction whose weights are zero."""
    given = stored("gru_ode_bayes")
    for series in range(2):
        cell = _gru_ode_bayes(given, "full", False)
        F = cell.prediction
        F = Stack((0 * F.W[0], 0 * F.W[1]), F.U, (F.b[0], given["jump/p"][series]), "relu", "identity")
        cell = eqx.tree_at(lambda cell: cell.prediction, cell, F)
        values, mask, h = given["X"][1 + series], given["M"][1 + series], given["jump/h"][series]
        same(cell.jump(h, jnp.concatenate([mask, values])), given["jump/logvar/h_after"][series])
        found = _losses_before(*cell.predicted(h), values, mask)
        same(found, given["jump/logvar/losses"][series])


JUMP_ONLY = 1e-300
"""A length of a bin in which a sample arrives and, in 64 bits, nothing flows."""


def _bins(given):
    """Their loop over observations as bins: masks with values, lengths, and the entries of the path that end bins and jumps.

    Two of the observations act at the same point of their grid, so that a bin between them has no length.
    """
    rows, lengths, ends, jumps, entry, t = [jnp.zeros((2, 4))], [], [], {}, 0, 0.0
    until = [*np.asarray(given["times"]), float(given["T"])]
    for place, time in enumerate(until):
        last = place == len(until) - 1
        while t < time - (0 if last else 0.001 * given["delta_t"]):
            if len(lengths) == len(rows):  # nothing was observed since the last step
                rows.append(jnp.zeros((2, 4)))
            t, entry = t + float(given["delta_t"]), entry + 1
            lengths.append(float(given["delta_t"]))
            ends.append(entry)
        if last:
            break
        if len(lengths) < len(rows):  # the observation before this one acts at the same time
            lengths.append(JUMP_ONLY)
            ends.append(entry)
        of = slice(*np.asarray(given["time_ptr"][place : place + 2]))
        observed = jnp.concatenate([given["M"][of], given["X"][of]], 1)
        rows.append(jnp.zeros((2, 4)).at[given["obs_idx"][of]].set(observed))
        entry += 1
        jumps[len(rows) - 1] = entry
    return jnp.stack(rows, 1), jnp.array(lengths), ends, jumps


def _first_state(given):
    of_hidden = relatives_in_numpy.relu(relatives_in_numpy.linear(given, "covariates_map.0", given["cov"]))
    return jnp.tanh(relatives_in_numpy.linear(given, "covariates_map.3", of_hidden))


@pytest.mark.parametrize("name", ["full_euler", "full_midpoint_imputed", "minimal_midpoint_imputed"])
def test_gru_ode_bayes(name, x64):
    given = stored("gru_ode_bayes")
    drift, method = name.split("_")[:2]
    cell = _gru_ode_bayes(given, drift, "imputed" in name)
    (xs, lengths, ends, jumps), path = _bins(given), jnp.swapaxes(given[f"{name}/path_h"], 0, 1)
    assert (len(lengths), len(jumps)) == (7, 4)
    states, gradient = run(cell, xs, _first_state(given), lengths, method)
    same(states, path[:, np.array(ends)])
    of_update_gate = -gradient.flow.W[-6:-3]
    same(of_update_gate, given[f"{name}/gradient/gru_c.lin_hz.weight"])
    same(gradient.P, given[f"{name}/gradient/gru_obs.w_prep"])
    loss = 0.0
    for bin, entry in jumps.items():
        after = jax.vmap(cell.jump)(states[:, bin - 1], xs[:, bin])
        same(after, path[:, entry])
        mask, values = jnp.split(xs[:, bin], 2, axis=-1)
        loss += jnp.sum(_losses_before(*cell.predicted(states[:, bin - 1]), values, mask))
        mean, logarithm = cell.predicted(after)
        fit = (jnp.exp(logarithm) + (mean - values) ** 2) / (2 * 0.01**2) - 0.5
        loss += given["mixing"] * jnp.sum(mask * (jnp.log(0.01) - logarithm / 2 + fit))
    same(loss, given[f"{name}/loss"])


def test_the_flow_of_gru_ode_bayes_with_variances(x64):
    """The cell predicts logarithms of variances only, so that of this setting it has the flow, but not the jumps."""
    given = stored("gru_ode_bayes")
    cell = _gru_ode_bayes(given, "minimal", False)
    path, (_, lengths, ends, _) = given["minimal_euler_variance/path_h"], _bins(given)
    steps = [end for end, length in zip(ends, lengths) if length > JUMP_ONLY]
    assert len(steps) == 6
    for end in steps:
        found, _ = run(cell, jnp.zeros((2, 1, 4)), path[end - 1], given["delta_t"], "euler")
        same(found[:, 0], path[end])


def _unicornn(given, layer):
    V, b = (given[f"DIs.{layer}.fc.{part}"] for part in ("weight", "bias"))
    w, c = (given[f"RNNs.{layer}.{part}"] for part in ("weight_hh", "c_"))
    return UnICORNN(w, V, b, c, second(), given["alpha"], V.shape[1], 4)


def test_three_layers_of_unicornn(x64):
    """Their dropout between layers is off, as it is where they evaluate."""
    given = stored("unicornn")
    cell = Layers(tuple(_unicornn(given, layer) for layer in range(3)))
    xs = jnp.swapaxes(given["xs"], 0, 1)
    states, gradient = run(cell, xs, jnp.zeros((2, 24)), given["dt"], seen=cell.visible)
    expected = [given[f"layer{layer}/{part}"] for layer in range(3) for part in ("hy", "hz")]
    same(states, jnp.swapaxes(jnp.concatenate(expected, -1), 0, 1))
    outputs = cell.visible(states)[:, -1] @ given["classifier.weight"].T + given["classifier.bias"]
    same(outputs, given["output"])
    for layer in (0, 2):
        same(gradient.layers[layer].c, given[f"gradient/RNNs.{layer}.c_"])
    same(gradient.layers[0].w, given["gradient/RNNs.0.weight_hh"])
    same(gradient.layers[0].V, given["gradient/DIs.0.fc.weight"])


def test_one_layer_of_unicornn_from_a_given_state(x64):
    given = stored("unicornn")
    start = jnp.concatenate([given["started/hy0"], given["started/hz0"]], -1)
    for series in range(2):
        found = rollout(_unicornn(given, 0), given["xs"][:, series], start[series], dt=given["dt"])
        expected = [given[f"started/{part}"][:, series] for part in ("hy", "hz")]
        same(found, jnp.concatenate(expected, -1))


def _ltc(given, positive, mapped=True):
    """`positive` undoes the softplus of the cell where theirs takes the numbers as they are and clips them."""
    of = lambda name: given[f"ncps/{name}"]  # noqa: E731
    assert all(bool(jnp.all(of(f"{name}sparsity_mask") == 1)) for name in ("", "sensory_"))
    return LTC(
        **{ours: positive(of(name)) for ours, name in (("capacitance", "cm"), ("leak", "gleak"), ("w", "w"))},
        w_in=positive(of("sensory_w")),
        resting=of("vleak"),
        **{ours: of(name) for ours, name in (("E", "erev"), ("mu", "mu"), ("sigma", "sigma"))},
        **{ours: of(f"sensory_{name}") for ours, name in (("E_in", "erev"), ("mu_in", "mu"), ("sigma_in", "sigma"))},
        a=of("input_w") if mapped else jnp.ones(2),
        d=of("input_b") if mapped else jnp.zeros(2),
        timescale=second(),
        inputs=2,
        units=3,
    )


def undone(value):
    """The inverse of softplus."""
    return jnp.log(jnp.expm1(value))


@pytest.mark.parametrize("name", ["clipped", "clipped_timed", "softplus_timed"])
def test_ltc(name, x64):
    given = stored("ltc")
    is_softplus = name.startswith("softplus")
    cell = _ltc(given, (lambda value: value) if is_softplus else undone)
    lengths = given["timespans"] if name.endswith("timed") else 1.0
    states, gradient = run(cell, given["xs"], given["h0"], lengths, substeps=6)
    same(states, given[f"ncps/{name}/states"])
    same(states[..., :2] * given["ncps/output_w"] + given["ncps/output_b"], given[f"ncps/{name}/outputs"])
    # d/dw of softplus(w) is sigmoid(w), which the clipped form does not have.
    of_w = gradient.w if is_softplus else gradient.w / jax.nn.sigmoid(cell.w)
    same(of_w, given[f"ncps/{name}/gradient/w"])
    same(gradient.mu_in, given[f"ncps/{name}/gradient/sensory_mu"])


@pytest.mark.parametrize(
    ("name", "method", "length"),
    [("semi_implicit", "own", 6.0), ("explicit", "euler", 0.6), ("runge_kutta", "rk4", 0.6)],
)
def test_the_first_code_of_ltc(name, method, length, x64):
    """Six steps of 1 where the capacitance stands for itself over the step, and of 0.1 for the other two solvers."""
    given = stored("ltc")
    cell = _ltc(given, undone, mapped=False)
    if method == "own":  # theirs adds no 1e-8 to the denominator: a leak that is less by as much takes it away again
        leak = given["ncps/gleak"] - 1e-8
        resting = given["ncps/vleak"] * given["ncps/gleak"] / leak
        cell = eqx.tree_at(lambda cell: (cell.leak, cell.resting), cell, (undone(leak), resting))
    states, _ = run(cell, given["xs"], given["h0"], length, method, substeps=6)
    same(states, given[f"first/{name}/states"])


def test_cfc(x64):
    """Their modes `no_gate` and `pure`, and the LSTM before it (`mixed`), are other systems, which the cell leaves out."""
    given = stored("cfc")
    B, b = ([given[f"backbone.{layer}.{part}"] for layer in (0, 2)] for part in ("weight", "bias"))
    of_heads = ("ff1", "ff2", "time_a", "time_b")
    heads, offsets = (jnp.concatenate([given[f"{head}.{part}"] for head in of_heads]) for part in ("weight", "bias"))
    cell = CfC(tuple(B), tuple(b), heads, offsets, second(), 2, 3)
    states, gradient = run(cell, given["xs"], given["h0"], given["timespans"])
    same(states, given["default/states"])
    same(gradient.B[0], given["default/gradient/backbone.0.weight"])
    same(gradient.heads[:3], given["default/gradient/ff1.weight"])


def _lmu(given, kind):
    """Theirs multiply from the right; theta is in steps, which last a second here."""
    of = {name: given[f"{kind}/{name}"].T for name in ("kernel", "recurrent_kernel", "hidden.kernel")}
    memories, size = of["recurrent_kernel"].shape
    W, V = of["hidden.kernel"][:, :size], of["hidden.kernel"][:, size:]
    p, R = given.get(f"{kind}/bias", jnp.zeros(memories)), given[f"{kind}/hidden.recurrent_kernel"].T
    sizes = {"order": size // memories, "gating": "no", "inputs": 2, "units": 3}
    return LMU(of["kernel"], of["recurrent_kernel"], p, W, V, R, None, second(), theta=given[f"{kind}/theta"], **sizes)


@pytest.mark.parametrize("kind", ["zoh", "euler", "two"])
def test_lmu(kind, x64):
    given = stored("lmu")
    cell = _lmu(given, kind)
    start = jnp.concatenate([given[f"{kind}/m0"], given["h0"]], -1)
    method = "forward_backward_euler" if kind == "euler" else "own"
    states, gradient = run(cell, given["xs"], start, 1.0, method, seen=cell.visible)
    same(states, jnp.concatenate([given[f"{kind}/m"], given[f"{kind}/h"]], -1))
    same(gradient.P.T, given[f"{kind}/gradient/kernel"])
    same(jnp.concatenate([gradient.W, gradient.V], 1).T, given[f"{kind}/gradient/hidden.kernel"])


@pytest.mark.parametrize("kind", ["zoh", "two"])
def test_the_matrices_of_lmu(kind, x64):
    """Columns of A, of exp(A / theta) and of what is written, read off the vector field and the step of a bare memory."""
    given = stored("lmu")
    order, theta = len(given[f"{kind}/A"]), given[f"{kind}/theta"]
    bare = cells.lmu(1, 1, order=order, theta=float(theta), key=0)
    bare = eqx.tree_at(lambda cell: cell.P, bare, jnp.array([[1.0, 0.0]]))
    h, nothing, one = jnp.eye(order + 1, dtype=float)[:order], jnp.zeros(1), jnp.ones(1)
    speeds, steps = jax.vmap(bare.vector_field, (0, None)), jax.vmap(lambda h, x: bare.own_step(h, x, 1.0), (0, None))
    same(theta * speeds(h, nothing)[:, :order], given[f"{kind}/continuous_A"])
    same(theta * speeds(0 * h, one)[:1, :order], given[f"{kind}/continuous_B"])
    same(steps(h, nothing)[:, :order], given[f"{kind}/A"])
    same(steps(0 * h, one)[:1, :order], given[f"{kind}/B"])

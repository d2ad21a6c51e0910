"""Initialisers of single parts, and criticality under drive: drawn variances, and networks at the scale of theory."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import build, cells
from gnode.cells._stack import draw_stack
from gnode.errors import ArgumentError
from gnode.init import RULES, initialiser
from gnode.network._readout import draw_readout
from gnode.theory import critical_sigma_w, recursion

D, N, H, OUT = 300, 400, 500, 350
PARTS = {
    "W_h": lambda net: net.cell.F.W[0],
    "U": lambda net: net.cell.F.U,
    "W_z": lambda net: net.cell.G.W[0],
    "U_z": lambda net: net.cell.G.U,
    "C": lambda net: net.readout.C[0],
    "A": lambda net: net.initial.A,
}
GLOROT = {"W_h": 2 / (N + H), "U": 2 / (D + H), "W_z": 1 / N, "U_z": 2 / (D + N), "C": 2 / (N + OUT), "A": 2 / (D + N)}
KAIMING = {"W_h": 2 / N, "U": 2 / D, "W_z": 2 / N, "U_z": 2 / D, "C": 2 / N, "A": 2 / D}


def drawn(**options):
    return build("gnode", D, OUT, state=N, widths=(H,), initial="affine", key=4, **options)


@pytest.mark.parametrize(
    ("option", "parts"),
    [("init_input", ["U"]), ("init_gate", ["W_z", "U_z"]), ("init_readout", ["C", "A"]), (None, [])],
)
@pytest.mark.parametrize("rule", ["critical", "kaiming_uniform"])
def test_an_option_changes_the_variance_of_its_part_and_no_other_part(option, parts, rule):
    """At least 10^5 draws each: the standard error of a variance is below sqrt(2 / 10^5) = 0.5% of it."""
    plain = drawn(init="glorot_normal", bias_std=0.1)
    net = drawn(init="glorot_normal", bias_std=0.1, **({option: rule} if option else {}))
    for name, part in PARTS.items():
        expected = (KAIMING if name in parts else GLOROT)[name]
        assert np.var(part(net)) == pytest.approx(expected, rel=0.02), name
        assert (name in parts) != np.array_equal(part(net), part(plain)), name
    for before, after in ((plain.cell.F.b, net.cell.F.b), (plain.cell.G.b, net.cell.G.b)):
        assert eqx.tree_equal(before, after)  # the biases are those of `init`


def test_the_scale_of_W_h_alone():
    """The rest by Glorot's rule, to the last bit; W_h as in a network that is critical altogether."""
    rest = {f"init_{part}": "glorot_normal" for part in ("input", "gate", "readout")}
    alone, glorot, critical = drawn(init="critical", **rest), drawn(init="glorot_normal"), drawn(init="critical")
    for name, part in PARTS.items():
        assert np.array_equal(part(alone), part(critical if name == "W_h" else glorot)), name
    assert np.std(alone.cell.F.W[0]) * math.sqrt(N) == pytest.approx(2**0.25, rel=0.01)  # ReLU, two layers


@pytest.mark.parametrize("init", RULES)
def test_defaults_draw_the_bits_that_they_always_drew(init):
    """The draws as they were before parts had rules of their own: one rule for F, and one for all the rest."""
    key = jax.random.key(7)
    options = {"init": init, "bias_std": 1e-3, "final": "tanh"}
    net = build("gnode", 3, 2, state=6, widths=(5, 4), gate_widths=(4,), initial="affine", key=key, **options)
    parts = {"init_input": init, "init_gate": init, "init_readout": init, "drive": 0.0}
    named = build(
        "gnode", 3, 2, state=6, widths=(5, 4), gate_widths=(4,), initial="affine", key=key, **options, **parts
    )
    assert eqx.tree_equal(net, named)
    key_cell, key_network = jax.random.split(key)
    key_F, key_G = jax.random.split(key_cell)
    key_initial, key_readout = jax.random.split(key_network)
    rule, plain = initialiser(init, 1e-3), initialiser(init)
    for_F = rule.for_field((6, 5, 4, 6), "relu", "tanh")
    F = draw_stack(key_F, 3, 6, (5, 4), for_F, rule, hidden="relu", final="tanh")
    if rule.critical != "empirical":  # which rescales W afterwards
        assert eqx.tree_equal(net.cell.F.W, F.W)
    assert eqx.tree_equal((net.cell.F.U, net.cell.F.b), (F.U, F.b))
    assert eqx.tree_equal(net.cell.G, draw_stack(key_G, 3, 6, (4,), rule, rule, hidden="relu", final="sigmoid"))
    assert eqx.tree_equal(net.readout, draw_readout((6, 2), plain, key_readout))
    assert np.array_equal(net.initial.A, plain.weight(key_initial, (6, 3)))


@pytest.mark.parametrize(("init_input", "share"), [("critical", 1.0), ("glorot_normal", 20 / (20 + 900))])
@pytest.mark.parametrize("scaling", ["critical", "critical_glorot"])
def test_the_drive_is_the_variance_of_U_x(init_input, share, scaling):
    drive, widths = 1.7, (600, 900, 600)
    F = cells.node(
        20, 600, widths=(900,), final="tanh", init=scaling, init_input=init_input, drive=drive, bias_std=0.1, key=0
    ).F
    xs = jax.random.normal(jax.random.key(1), (20_000, 20))
    xs *= math.sqrt(drive) / jnp.sqrt(jnp.mean(xs**2))
    # U has 18,000 entries, so the variance over units has a relative standard error of about sqrt(2 / 18000) = 1%.
    assert np.var(xs @ F.U.T) == pytest.approx(2 * share * drive, rel=0.04)
    kind = "kaiming" if scaling == "critical" else "glorot"
    found = critical_sigma_w(
        2, "relu", kind, sigma_b=0.1, aspect=widths, final="tanh", input_variance=2 * share * drive
    )
    assert recursion(found.stack, found.state_variance).susceptibility == pytest.approx(1.0, abs=1e-6)
    for W, gain in zip(F.W, found.stack.gains):
        assert np.var(W) * W.shape[1] == pytest.approx(gain, rel=0.01)


def gain(F, x, variance, seed):
    """|J v|^2 / |v|^2 at a typical state: one of the theory's variance, independent of the weights."""
    h, v = (jax.random.normal(jax.random.key(seed + start), (F.W[0].shape[1],)) for start in (100, 200))
    pushed = jax.jvp(lambda h: F(h, x), (math.sqrt(variance) * h,), (v,))[1]
    return float(jnp.sum(pushed**2) / jnp.sum(v**2))


def constant_input(drive, seed):
    x = jax.random.normal(jax.random.key(seed + 50), (20,))
    return x * jnp.sqrt(drive / jnp.mean(x**2))


@pytest.mark.parametrize("hidden", ["relu", "tanh"])
@pytest.mark.parametrize("drive", [1.0, 9.4])
def test_critical_fields_have_unit_gain_under_their_drive(hidden, drive):
    """E |J v|^2 / |v|^2 = rho^2 = 1, averaged over 8 draws of width 400; the scale for no drive has much less."""
    options = {"widths": (400,), "hidden": hidden, "final": "tanh", "init": "critical"}
    variance = critical_sigma_w(2, hidden, final="tanh", input_variance=2 * drive).state_variance
    gains = {"driven": [], "not driven": []}
    for seed in range(8):
        for name, own in (("driven", drive), ("not driven", 0.0)):
            F = cells.node(20, 400, drive=own, key=seed, **options).F
            gains[name].append(gain(F, constant_input(drive, seed), variance, seed))
    # The squared gain of one draw fluctuates by about sqrt(2 L / 400) = 0.1, so the mean of 8 by 0.04.
    assert np.mean(gains["driven"]) == pytest.approx(1.0, abs=0.12)
    assert np.mean(gains["not driven"]) < 0.5


def radius_at_rest(seed, **options):
    """The largest |eigenvalue| of dF/dh where a network of width 400 is after relaxing under a constant input."""
    F, x = (
        cells.node(20, 400, widths=(400,), final="tanh", init="critical", key=seed, **options).F,
        constant_input(1, seed),
    )
    h = jax.lax.fori_loop(0, 400, lambda _, h: h + 0.5 * (F(h, x) - h), jnp.zeros(400))
    return np.abs(np.linalg.eigvals(np.asarray(jax.jacfwd(F)(h, x), np.float64))).max()


def test_a_driven_network_relaxes_to_the_edge_of_its_drive():
    """Four networks of width 400, whose radius is within 0.15 of 1 on average; without drive it is below 0.75.

    A single radius, the largest of 400 moduli, fluctuates by about 0.09.
    """
    assert np.mean([radius_at_rest(seed, drive=1.0) for seed in range(4)]) == pytest.approx(1.0, abs=0.15)
    assert radius_at_rest(0) < 0.75


def test_bad_values_are_one_sentence():
    for name in ("init_input", "init_gate"):
        with pytest.raises(ArgumentError, match=f"^{name} is 'glorot', but must be one of: .* Did you mean 'glorot_"):
            cells.mgru(2, 3, key=0, **{name: "glorot"})
    with pytest.raises(ArgumentError, match=r"^init_readout is 'criticl', .* Did you mean 'critical'"):
        build("gru", 2, 2, state=3, init_readout="criticl", key=0)
    with pytest.raises(ArgumentError, match=r"^drive is -1, but must be zero or a positive number"):
        cells.rnn(2, 3, init="critical", drive=-1, key=0)
    for init in ("glorot_normal", "empirical_critical"):
        with pytest.raises(ArgumentError, match=r"^drive is 1, but .* choose init='critical'"):
            cells.rnn(2, 3, init=init, drive=1, key=0)
    with pytest.raises(ArgumentError, match="no sigma_w up to 1000"):
        cells.rnn(2, 3, init="critical", drive=1e14, key=0)
    with pytest.raises(ArgumentError, match=r"model 'node' has no setting 'init_gate'; it belongs to mgru, .*gnode"):
        build("node", 2, 2, state=3, init_gate="critical", key=0)


def test_a_runaway_under_drive_says_so():
    with pytest.warns(UserWarning, match="and inputs add 0.02 to the variance of the first layer, but with silu"):
        cells.node(2, 40, widths=(50,), hidden="silu", init="critical", bias_std=0.3, drive=0.01, key=0)

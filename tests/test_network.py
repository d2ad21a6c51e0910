"""Initial states, readouts, and when the output is read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import Network, build, cells
from gnode.errors import ArgumentError
from gnode.network import LearnedState
from gnode.train import _parameters

XS = jnp.asarray(np.random.default_rng(0).normal(size=(3, 6, 2)), jnp.float32)


def make(**options):
    return Network(cells.gnode(2, 4, widths=(5,), tau=0.5, key=0), outputs=3, key=1, **options)


def test_the_output_is_read_after_the_state_took_in_the_input():
    net = make()
    changed = XS[0].at[2].add(1.0)
    before, after = net(XS[0], dt=0.1), net(changed, dt=0.1)
    np.testing.assert_array_equal(before.outputs[:2], after.outputs[:2])
    assert float(jnp.max(jnp.abs(before.outputs[2] - after.outputs[2]))) > 1e-4
    np.testing.assert_allclose(net.readout(before.states[3]), before.outputs[3], rtol=1e-5, atol=1e-6)


def test_a_batch_is_its_trials():
    net = make(initial="affine")
    many = net.run(XS, dt=0.1)
    for trial in range(3):
        np.testing.assert_allclose(many.outputs[trial], net(XS[trial], dt=0.1).outputs, rtol=1e-4, atol=1e-5)


def test_initial_states():
    x = XS[0, 0]
    assert not jnp.any(make(initial="zeros").initial(x))
    drawn = Network(cells.rnn(2, 4000, key=0), outputs=1, initial="random", key=3).initial(x)
    assert float(jnp.var(drawn)) == pytest.approx(2 / 4001, rel=0.1)
    one_draw = make(initial="random").initial
    np.testing.assert_array_equal(one_draw(x), one_draw(x + 1))  # the same for all trials
    affine = make(initial="affine").initial
    np.testing.assert_allclose(affine(x), affine.A @ x + affine.a, rtol=1e-6)
    given = make(initial=LearnedState(jnp.arange(4.0)))
    np.testing.assert_array_equal(given.initial(x), jnp.arange(4.0))


@pytest.mark.parametrize(("initial", "trained"), [("zeros", 0), ("random", 0), ("learned", 1), ("affine", 2)])
def test_what_is_trained(initial, trained):
    net = make(initial=initial)
    params, frozen = _parameters.split(net)
    assert len(jax.tree.leaves(params.initial)) == trained
    assert frozen.cell.timescale.tau is not None
    assert params.cell.timescale.tau is None


def test_step_is_the_map_that_a_rollout_iterates():
    net = make()
    states = net(XS[0], dt=0.1).states
    np.testing.assert_allclose(net.step(states[1], XS[0, 2], 0.1), states[2], rtol=1e-5, atol=1e-6)


def test_paths_of_a_stochastic_cell_are_drawn_by_a_key():
    net = build("nsde", 1, 1, state=2, widths=(4,), key=0)
    xs = jnp.zeros((200, 30, 1))
    plain, one, again, other = (net.run(xs, dt=0.01, key=key).states for key in (None, 1, 1, 2))
    assert jnp.array_equal(one, again)
    assert not jnp.allclose(one, other)
    first = (one - plain)[:, 0]  # after one bin the difference is s sqrt(dt) times a normal number
    expected = net.cell.diffusion(jnp.zeros(2), jnp.zeros(1)) * 0.1
    np.testing.assert_allclose(first.std(axis=0), expected, rtol=5 / np.sqrt(2 * 200))
    assert jnp.array_equal(plain[0], plain[1])


def test_mlp_readout():
    net = make(readout_widths=(8,))
    s = jnp.arange(4.0)
    expected = net.readout.C[1] @ jax.nn.relu(net.readout.C[0] @ s + net.readout.d[0]) + net.readout.d[1]
    np.testing.assert_allclose(net.read(s[None])[0], expected, rtol=1e-6)


def test_lstm_shows_half_its_state():
    net = Network(cells.lstm(2, 4, key=0), outputs=3, key=1)
    assert net.run(XS, dt=1.0).states.shape == (3, 6, 8)
    assert net.readout.C[0].shape == (3, 4)


@pytest.mark.parametrize(
    ("action", "word"),
    [
        (lambda: make(initial="random_draw"), "initial is 'random_draw'"),
        (lambda: make(method="ruler"), "Did you mean 'euler'"),
        (lambda: Network(cells.rnn(2, 2, key=0), outputs=0, key=1), "outputs is 0"),
        (lambda: make().run(XS[0], dt=0.1), "xs has shape"),
        (lambda: make().run(XS.at[0, 0, 0].set(jnp.nan), dt=0.1), "not finite"),
        (lambda: build("gnod", 2, 2, state=2, key=0), "Did you mean 'gnode'"),
        (lambda: build("gru", 2, 2, state=2, key=0).run(np.zeros((1, 2, 2)), dt=1.0, key=3), "GRU has no noise of its"),
        (lambda: build("gru", 2, 2, state=2, widths=(3,), key=0), "it belongs to .*node.*gnode"),
        (lambda: build("gru", 2, 2, state=2, sigma=1, key=0), "no setting 'sigma'"),
    ],
)
def test_bad_input(action, word):
    with pytest.raises(ArgumentError, match=word):
        action()


def test_biases_outside_the_cell_start_at_zero():
    net = build("gnode", 2, 3, state=4, widths=(5,), initial="affine", bias_std=1.0, tau=1.0, key=0)
    assert np.all(np.asarray(net.cell.F.b[0]) != 0)
    for values in (net.readout.d[0], net.initial.a):
        np.testing.assert_array_equal(values, 0)

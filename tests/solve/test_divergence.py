"""The divergence of path measures against Gaussian closed forms and mean log-likelihood ratios of drawn paths."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from gnode import cells
from gnode.cells import Cell
from gnode.errors import ArgumentError
from gnode.solve import Solver, path_divergence, rollout_batch

SIGMAS = 4.0
"""How many standard errors of the mean a measured mean may be off."""


class OrnsteinUhlenbeck(Cell):
    """tau dh = a (m - h) dt + s dW."""

    a: float
    m: float
    s: float = 0.6
    tau: float = 0.8
    inputs: int = 1
    units: int = 1

    def vector_field(self, h, x):
        return self.a * (self.m - h) / self.tau

    def diffusion(self, h, x):
        return jnp.full_like(h, self.s)


def law_of_path(cell, h0, dt):
    """Mean and covariance of the states after bins of these lengths by Euler-Maruyama, which are Gaussian."""
    mean, of_noise = [], np.zeros((len(dt), len(dt)))
    row, h = np.zeros(len(dt)), h0
    for t, length in enumerate(dt):
        keep = 1 - cell.a * length / cell.tau
        row, h = keep * row, cell.m + keep * (h - cell.m)
        row[t] = cell.s * np.sqrt(length) / cell.tau
        of_noise[t] = row
        mean.append(h)
    return np.array(mean), of_noise @ of_noise.T


def gaussian_divergence(first, second):
    (m, S), (other_m, other_S) = first, second
    gap, inverse = other_m - m, np.linalg.inv(other_S)
    logs = np.linalg.slogdet(other_S)[1] - np.linalg.slogdet(S)[1]
    return 0.5 * (np.trace(inverse @ S) - len(m) + gap @ inverse @ gap + logs)


def drawn(cell, trials, dt, h0=0.5, seed=0, xs=None):
    """Samples, initial states, lengths and paths of a cell."""
    size = cell.state_size
    noise = jnp.asarray(np.random.default_rng(seed).normal(size=(trials, len(dt), size)))
    xs = jnp.zeros((trials, len(dt), cell.inputs)) if xs is None else jnp.broadcast_to(xs, (trials, *xs.shape))
    start, steps = jnp.full((trials, size), h0), jnp.broadcast_to(jnp.asarray(dt), (trials, len(dt)))
    return xs, start, steps, rollout_batch(cell, xs, start, steps, Solver(), noise=noise)


def test_two_ou_processes_that_differ_in_their_mean(x64):
    """The drifts differ by a constant: KL = 1/2 (a (m - m') / s)^2 T on every path, discretised or not."""
    cell, prior = OrnsteinUhlenbeck(1.5, 0.3), OrnsteinUhlenbeck(1.5, -0.4)
    dt = np.array([0.1, 0.3, 0.2, 0.05, 0.25, 0.1])
    found = path_divergence(cell, prior, *drawn(cell, 5, dt))
    exact = gaussian_divergence(law_of_path(cell, 0.5, dt), law_of_path(prior, 0.5, dt))
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    np.testing.assert_allclose(found, 0.5 * (1.5 * 0.7 / 0.6) ** 2 * 1.0, rtol=1e-12)


@pytest.mark.parametrize("bins", [8, 128])
def test_two_ou_processes_that_differ_in_rate_and_mean(bins, x64):
    """The mean over drawn paths is that of the Gaussian laws of the paths, and at short bins that of the equations.

    The latter is the integral of 1/2 (tau (f - f') / s)^2 over the Gaussian law of h(t). Sums of squares of what decays by
    1 - k dt in a bin, k = a / tau, are larger than those integrals by 1 / (1 - k dt / 2): 2 % for 128 bins.
    """
    cell, prior, T = OrnsteinUhlenbeck(2.0, 0.3), OrnsteinUhlenbeck(0.5, -0.4), 2.0
    found = np.asarray(path_divergence(cell, prior, *drawn(cell, 8192, np.full(bins, T / bins))))
    error = found.std() / np.sqrt(len(found))
    discrete = gaussian_divergence(*(law_of_path(one, 0.5, np.full(bins, T / bins)) for one in (cell, prior)))
    assert error < 0.01 * discrete
    assert abs(found.mean() - discrete) < SIGMAS * error
    k, t = cell.a / cell.tau, np.linspace(0, T, 20_001)
    mean, variance = 0.3 + 0.2 * np.exp(-k * t), (0.6 / 0.8) ** 2 * -np.expm1(-2 * k * t) / (2 * k)
    slope, offset = prior.a - cell.a, cell.a * cell.m - prior.a * prior.m  # tau (f - f') = slope h + offset
    limit = np.trapezoid(0.5 * ((slope * mean + offset) ** 2 + slope**2 * variance) / 0.6**2, t)
    share = 1 / (1 - k * T / bins / 2) - 1
    assert 0 < discrete / limit - 1 < share
    assert abs(found.mean() - limit) < SIGMAS * error + share * limit


def two_networks(**options):
    """Gated neural SDEs with the same noise and other drifts."""
    how = {"widths": (5,), "hidden": "tanh", "bias_std": 0.2, "tau": (0.5, 1.0, 0.7)} | options
    cell, prior = (cells.gated_nsde(2, 3, key=key, **how) for key in (0, 1))
    louder = eqx.tree_at(lambda S: S.b[-1], cell.S, jnp.array([0.0, 0.7, 0.3]))
    return (eqx.tree_at(lambda c: c.S, each, louder) for each in (cell, prior))


def log_likelihoods(cell, xs, h0, dt, states):
    """Of each path under the Euler-Maruyama steps of a cell, from the normal density of every step."""
    starts = jnp.concatenate([h0[:, None], states[:, :-1]], axis=1)
    per_step = lambda f: np.asarray(jax.vmap(jax.vmap(f))(starts, xs))  # noqa: E731
    centre = np.asarray(starts) + np.asarray(dt)[..., None] * per_step(cell.vector_field)
    size = np.sqrt(np.asarray(dt))[..., None] / np.asarray(cell.time_constant) * per_step(cell.diffusion)
    return norm.logpdf(np.asarray(states), centre, size).sum((1, 2))


def test_it_is_the_mean_log_likelihood_ratio_of_drawn_paths(x64):
    cell, prior = two_networks()
    rng = np.random.default_rng(1)
    given = drawn(cell, 8192, rng.uniform(0.05, 0.4, 7), xs=jnp.asarray(rng.normal(size=(7, 2))))
    divergences = np.asarray(path_divergence(cell, prior, *given))
    ratios = log_likelihoods(cell, *given) - log_likelihoods(prior, *given)
    difference = ratios - divergences
    error = difference.std() / np.sqrt(len(difference))
    assert abs(difference.mean()) < SIGMAS * error
    assert SIGMAS * error < 0.1 * divergences.mean()  # a wrong factor would be seen
    # The densities of the prior integrate to 1.
    weights = np.exp(-ratios)
    assert abs(weights.mean() - 1) < SIGMAS * weights.std() / np.sqrt(len(weights))


def test_padding_adds_nothing_and_gradients_are_those_along_the_path(x64):
    cell, prior = two_networks(learn_tau="per_unit")
    rng = np.random.default_rng(2)
    noise = jnp.asarray(rng.normal(size=(2, 6, 3)))
    xs, h0, dt = jnp.asarray(rng.normal(size=(2, 6, 2))), jnp.asarray(rng.normal(size=(2, 3))), jnp.full((2, 6), 0.2)
    dt = dt.at[0, 4:].set(0.0)
    states = rollout_batch(cell, xs, h0, dt, Solver(), noise=noise)
    whole = path_divergence(cell, prior, xs, h0, dt, states)
    np.testing.assert_allclose(
        path_divergence(cell, prior, xs[:1, :4], h0[:1], dt[:1, :4], states[:1, :4])[0], whole[0]
    )
    values, rest = eqx.partition((cell, prior), eqx.is_inexact_array)

    @jax.jit
    def run(values):
        cell, prior = eqx.combine(values, rest)
        return jnp.sum(path_divergence(cell, prior, xs, h0, dt, rollout_batch(cell, xs, h0, dt, Solver(), noise=noise)))

    way = jax.tree.map(lambda leaf: jnp.asarray(0.1 * rng.normal(size=leaf.shape)), values)
    found = sum(float(jnp.vdot(*pair)) for pair in zip(*map(jax.tree.leaves, (jax.grad(run)(values), way))))
    at = lambda by: float(run(jax.tree.map(lambda leaf, d: leaf + by * d, values, way)))  # noqa: E731
    step = 1e-3  # the error of the formula is of its fourth power, that of rounding 1e-16 / 1e-3
    central = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
    assert found == pytest.approx(central, rel=1e-9)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"cell": cells.rnn(1, 2, key=0)}, "cell is of type Gated, which has no noise"),
        ({"cell": cells.layers("nsde", 1, 2, count=2, key=0)}, "cell is of type Layers, but must be a single cell"),
        ({"prior": cells.ncde(1, 2, key=0)}, "prior is of type NeuralCDE, but must be a single cell"),
        ({"prior": cells.rnn(1, 3, key=0)}, "prior has 1 input and a state of 3"),
        ({"xs": jnp.zeros((2, 4, 5))}, r"xs has shape \(2, 4, 5\), but must have shape \(2, 4, 1\)"),
        ({"h0": jnp.zeros((2, 5)), "states": jnp.zeros((2, 4, 5))}, r"h0 has shape \(2, 5\)"),
    ],
)
def test_bad_arguments_are_one_sentence(changed, says):
    good = {"cell": cells.nsde(1, 2, widths=(3,), key=0), "prior": cells.rnn(1, 2, key=0), "xs": jnp.zeros((2, 4, 1))}
    good |= {"h0": jnp.zeros((2, 2)), "dt": jnp.ones((2, 4)), "states": jnp.zeros((2, 4, 2))}
    assert path_divergence(**good).shape == (2,)
    with pytest.raises(ArgumentError, match=says):
        path_divergence(**good | changed)

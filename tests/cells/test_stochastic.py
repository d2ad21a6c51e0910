"""Neural SDEs, plain and gated: orders against closed forms, stationary moments, gradients along a path, training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import build, cells, fit, tasks
from gnode.cells import Cell
from gnode.solve import Solver, rollout_batch
from gnode.train import program

TAU = 0.8
SIGMAS = 4.0
"""How many standard errors of the mean a measured mean may be off."""


class OrnsteinUhlenbeck(Cell):
    """tau dh = a (m - h) dt + s dW."""

    a: float
    m: float
    s: float
    tau: float = TAU
    inputs: int = 1
    units: int = 1

    def vector_field(self, h, x):
        return self.a * (self.m - h) / self.tau

    def diffusion(self, h, x):
        return jnp.full_like(h, self.s)


class Geometric(Cell):
    """tau dh = mu h dt + s h dW, that is h0 exp((mu / tau - s^2 / (2 tau^2)) t + s W / tau)."""

    mu: float
    s: float
    tau: float = TAU
    inputs: int = 1
    units: int = 1

    def vector_field(self, h, x):
        return self.mu * h / self.tau

    def diffusion(self, h, x):
        return self.s * h


def ends(cell, dW, T, h0=1.0):
    """The last states for increments of Brownian paths (trials x bins) over the time T."""
    trials, bins = dW.shape
    noise = jnp.asarray(dW / np.sqrt(T / bins))[..., None]
    xs, start, dt = jnp.zeros((trials, bins, 1)), jnp.full((trials, 1), h0), jnp.full((trials, bins), T / bins)
    return np.asarray(rollout_batch(cell, xs, start, dt, Solver(), noise=noise)[:, -1, 0])


def coarser(dW, bins):
    """The increments of the same paths over longer bins."""
    return dW.reshape(len(dW), bins, -1).sum(-1)


def order_of(errors, levels, groups=16):
    """The slope of log error against log step, from independent groups of paths: its mean and standard error.

    `errors` are levels x paths; the error of a level is the modulus of their mean.
    """
    means = np.abs(errors.reshape(len(levels), groups, -1).mean(-1))
    slopes = -np.polyfit(np.log2(levels), np.log2(means), 1)[0]
    return slopes.mean(), slopes.std(ddof=1) / np.sqrt(groups)


def test_strong_order_of_multiplicative_noise_is_a_half(x64):
    """To 0.05, which the next term of the error, of order 1, leaves at 1/16 to 1/256, and the errors of sampling."""
    mu, s, T, levels = 0.3, 0.8, 1.0, (16, 32, 64, 128, 256)
    dW = np.sqrt(T / levels[-1]) * np.random.default_rng(0).normal(size=(4096, levels[-1]))
    exact = np.exp((mu / TAU - s**2 / (2 * TAU**2)) * T + s / TAU * dW.sum(1))
    errors = np.stack([np.abs(ends(Geometric(mu, s), coarser(dW, n), T) - exact) for n in levels])
    slope, error = order_of(errors, levels)
    assert error < 0.02
    assert abs(slope - 0.5) < 0.05 + SIGMAS * error


def paths_of_ou(cell, trials, bins, T, seed):
    """Increments of W, and the exact last states along the same paths from 1.

    Over a bin dW and the stochastic integral J of exp(-k (end - u)) dW are jointly Gaussian, k = a / tau.
    """
    step, k = T / bins, cell.a / cell.tau
    both = -np.expm1(-k * step) / k
    covariance = np.array([[step, both], [both, -np.expm1(-2 * k * step) / (2 * k)]])
    dW, J = np.moveaxis(
        np.random.default_rng(seed).normal(size=(trials, bins, 2)) @ np.linalg.cholesky(covariance).T, -1, 0
    )
    h = np.ones(trials)
    for each in J.T:
        h = cell.m + (h - cell.m) * np.exp(-k * step) + cell.s / cell.tau * each
    return dW, h


def test_strong_order_of_additive_noise_is_one(x64):
    cell, T, levels = OrnsteinUhlenbeck(a=1.0, m=0.4, s=0.7), 1.0, (16, 32, 64, 128)
    dW, exact = paths_of_ou(cell, 4096, levels[-1], T, seed=1)
    errors = np.stack([np.abs(ends(cell, coarser(dW, n), T) - exact) for n in levels])
    slope, error = order_of(errors, levels)
    assert error < 0.02
    assert abs(slope - 1) < 0.05 + SIGMAS * error


@pytest.mark.parametrize("power", [1, 2])
def test_weak_order_is_one(power, x64):
    """Of the mean and the second moment, which are known both for the equation and for the scheme.

    The exact solution on the same paths takes most of the variance of sampling away. The slope of the closed forms
    themselves at these steps is 0.95 to 1.
    """
    mu, s, T, levels = 0.6, 0.15, 1.0, (16, 32, 64, 128)
    dW = np.sqrt(T / levels[-1]) * np.random.default_rng(2).normal(size=(8192, levels[-1]))
    exact = np.exp((mu / TAU - s**2 / (2 * TAU**2)) * T + s / TAU * dW.sum(1)) ** power
    differences = np.stack([ends(Geometric(mu, s), coarser(dW, n), T) ** power - exact for n in levels])
    drift, spread = mu / TAU, (s / TAU) ** 2
    limit = np.exp(drift * T) if power == 1 else np.exp((2 * drift + spread) * T)
    for bins, found in zip(levels, differences):
        dt = T / bins
        growth = 1 + drift * dt if power == 1 else (1 + drift * dt) ** 2 + spread * dt
        error = found.std() / np.sqrt(len(found))
        assert abs(found.mean() - (growth**bins - limit)) < SIGMAS * error
        assert error < 0.05 * abs(found.mean())
    slope, error = order_of(differences, levels)
    assert abs(slope - 1) < 0.05 + SIGMAS * error


def with_constants(cell, field, logits, noise):
    """F, the logits of the gate and the noise of a neural SDE as constants, one for each unit."""

    def constant(stack, b):
        rest = jax.tree.map(jnp.zeros_like, (stack.W, stack.U))
        return eqx.tree_at(lambda s: (s.W, s.U, s.b[-1]), stack, (*rest, jnp.asarray(b)))

    parts = {"F": constant(cell.F, field), "S": constant(cell.S, np.log(np.expm1(noise)))}
    if cell.G is not None:
        parts["G"] = constant(cell.G, logits)
    return eqx.tree_at(lambda c: [getattr(c, name) for name in parts], cell, list(parts.values()))


@pytest.mark.parametrize("name", ["nsde", "gated_nsde"])
def test_stationary_moments_of_an_ornstein_uhlenbeck_process(name, x64):
    """tau dh = g (m - h) dt + s dW has mean m and variance s^2 / (2 g tau), by Euler-Maruyama s^2 / (2 g tau - g^2 dt).

    Every unit has a tau, gate and noise of its own; the last one's gate is shut, so that it is left with Brownian motion:
    the gate does not act on the noise.
    """
    tau, s, m = np.array([0.5, 1.0, 0.25, 0.4]), np.array([0.3, 0.6, 0.2, 0.5]), np.array([1.0, -2.0, 0.0, 0.7])
    logits = np.array([0.0, 1.0, -0.5, -1e4])
    g = 1 / (1 + np.exp(np.clip(-logits, None, 700))) if name == "gated_nsde" else np.ones(4)
    drawn = cells.CELLS[name](1, 4, widths=(3,), tau=tau, key=0)
    cell = with_constants(drawn, m, logits, s)
    trials, bins, dt = 20_000, 160, 0.1
    noise = jnp.asarray(np.random.default_rng(3).normal(size=(trials, bins, 4)))
    start = jnp.broadcast_to(m, (trials, 4))
    xs, steps = jnp.zeros((trials, bins, 1)), jnp.full((trials, bins), dt)
    found = np.asarray(rollout_batch(cell, xs, start, steps, Solver(), noise=noise)[:, -1])
    scheme = s**2 / np.maximum(2 * g * tau - g**2 * dt, 1e-300)
    scheme = np.where(g < 1e-9, s**2 * bins * dt / tau**2, scheme)
    assert np.all(np.abs(found.mean(0) - m) < SIGMAS * np.sqrt(scheme / trials))
    assert np.all(np.abs(found.var(0) / scheme - 1) < SIGMAS * np.sqrt(2 / trials))
    is_moving = g > 1e-9
    first_order = (g * dt / (2 * tau))[is_moving]  # the share by which the scheme's variance is larger
    limit = (s**2 / (2 * np.maximum(g, 1e-300) * tau))[is_moving]
    np.testing.assert_allclose(scheme[is_moving] / limit, 1 / (1 - first_order), rtol=1e-12)
    correlations = np.corrcoef(found.T)[np.triu_indices(4, 1)]
    assert np.all(np.abs(correlations) < SIGMAS / np.sqrt(trials))  # every unit has noise of its own


def moments_of_the_end(cell, h0, bins, T):
    """The mean and variance of the last state, from rollouts alone: where it is affine in the noise they are no estimates.

    Without noise it is the mean; the noise of one bin alone moves it by what that bin adds to the deviation.
    """
    size = cell.state_size
    noise = jnp.concatenate(
        [jnp.zeros((1, bins, size)), jnp.broadcast_to(jnp.eye(bins)[..., None], (bins, bins, size))]
    )
    xs, start = jnp.zeros((bins + 1, bins, 1)), jnp.full((bins + 1, size), h0)
    found = rollout_batch(cell, xs, start, jnp.full((bins + 1, bins), T / bins), Solver(), noise=noise)[:, -1]
    return np.asarray(found[0]), np.sum(np.asarray(found[1:] - found[0]) ** 2, axis=0)


@pytest.mark.parametrize("name", ["written out", "nsde", "gated_nsde"])
def test_weak_order_is_one_for_an_ornstein_uhlenbeck_process(name, x64):
    """Of the mean, the variance and the second moment, without sampling, for each unit; the scheme's are known as well."""
    T, h0, levels = 1.0, 1.3, (128, 256, 512)
    if name == "written out":
        cell, k, m, s = OrnsteinUhlenbeck(a=0.9, m=0.4, s=0.7), 0.9 / TAU, 0.4, 0.7 / TAU
    else:
        tau, m, s = np.array([0.5, 1.0, 0.8]), np.array([1.0, -2.0, 0.4]), np.array([0.3, 0.6, 0.9])
        logits = np.array([0.0, 1.0, -0.5])
        cell = with_constants(cells.CELLS[name](1, 3, widths=(3,), tau=tau, key=0), m, logits, s)
        k, s = (1 / (1 + np.exp(-logits)) if name == "gated_nsde" else 1.0) / tau, s / tau
    mean, variance = m + (h0 - m) * np.exp(-k * T), s**2 * -np.expm1(-2 * k * T) / (2 * k)
    errors = []
    for bins in levels:
        found_mean, found_variance = moments_of_the_end(cell, h0, bins, T)
        r = 1 - k * T / bins
        np.testing.assert_allclose(found_mean, m + (h0 - m) * r**bins, rtol=1e-11)
        np.testing.assert_allclose(found_variance, s**2 * T / bins * (1 - r ** (2 * bins)) / (1 - r**2), rtol=1e-10)
        second = found_variance + found_mean**2 - variance - mean**2
        errors.append([found_mean - mean, found_variance - variance, second])
    slopes = np.log2(np.abs(errors)[:-1] / np.abs(errors)[1:])
    np.testing.assert_allclose(slopes[-1], 1, atol=0.02)
    assert np.all(np.abs(slopes[1] - 1) < 0.6 * np.abs(slopes[0] - 1))  # and nearer the shorter the bins: by one half


def test_noise_is_that_of_the_start_of_the_bin_and_none_in_padding(x64):
    """end = flow(h) + noise sqrt(dt) / tau diffusion(h): Ito, also where the flow takes several steps in a bin."""
    cell, rng = cells.gated_nsde(2, 3, widths=(5,), tau=(0.5, 1.0, 2.0), key=0), np.random.default_rng(0)
    xs, noise = jnp.asarray(rng.normal(size=(1, 5, 2))), jnp.asarray(rng.normal(size=(1, 5, 3)))
    h, dt = jnp.asarray(rng.normal(size=(1, 3))), jnp.array([[0.3, 0.1, 0.0, 0.2, 0.0]])
    solver = Solver(substeps=3)
    found = rollout_batch(cell, xs, h, dt, solver, noise=noise)[0]
    h = h[0]
    for t, length in enumerate(dt[0]):
        kick = noise[0, t] * jnp.sqrt(length) / jnp.array([0.5, 1.0, 2.0]) * cell.diffusion(h, xs[0, t])
        for _ in range(3):
            h = h + length / 3 * cell.vector_field(h, xs[0, t])
        h = h + kick
        np.testing.assert_allclose(found[t], h, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found[2], found[1])


@pytest.mark.parametrize("name", ["nsde", "gated_nsde"])
def test_gradients_along_a_path_of_the_noise(name, x64):
    """By all weights, tau, the samples, the initial state, the lengths of bins and the noise, against differences."""
    rng = np.random.default_rng(0)
    cell = cells.CELLS[name](2, 3, widths=(5,), noise_widths=(4,), hidden="tanh", learn_tau="per_unit", key=1)
    shapes = (2, 6, 2), (2, 3), (2, 6, 3)
    xs, h0, noise = (jnp.asarray(rng.normal(size=shape)) for shape in shapes)
    values, rest = eqx.partition((cell, xs, h0, jnp.full((2, 6), 0.2), noise), eqx.is_inexact_array)

    @jax.jit
    def run(values):
        cell, xs, h0, dt, noise = eqx.combine(values, rest)
        return jnp.sum(jnp.sin(rollout_batch(cell, xs, h0, dt, Solver(), noise=noise)))

    way = jax.tree.map(lambda leaf: jnp.asarray(0.1 * rng.normal(size=leaf.shape)), values)
    gradient = jax.tree.leaves(jax.grad(run)(values))
    assert all(float(jnp.abs(leaf).max()) > 0 for leaf in gradient)  # S too is trained
    found = sum(float(jnp.vdot(g, d)) for g, d in zip(gradient, jax.tree.leaves(way)))
    at = lambda by: float(run(jax.tree.map(lambda leaf, d: leaf + by * d, values, way)))  # noqa: E731
    step = 1e-3  # the error of the formula is of its fourth power, that of rounding 1e-16 / 1e-3
    central = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
    assert found == pytest.approx(central, rel=1e-9)


def test_training_draws_a_new_path_for_every_trial_and_update_and_validation_none(monkeypatch):
    """The step is so small that no weight changes: the training loss then differs by its noise alone."""
    seen = []

    def perturbed(*arguments):
        net, given = actual(*arguments)
        jax.debug.callback(lambda noise: seen.append(np.array(noise)), given.noise)
        return net, given

    actual = program.perturbed
    monkeypatch.setattr(program, "perturbed", perturbed)
    task = tasks.flip_flop("square", trials=9, validation=5, bins=11, key=0)
    net = build("gated_nsde", 2, 2, state=3, widths=(4,), tau=0.01, initial="affine", key=1)
    run = fit(net, task, epochs=3, batch_size=4, lr=1e-30, weight_decay=0.0, key=2)
    jax.effects_barrier()
    assert len(seen) == 9  # three epochs of three updates
    paths = np.concatenate(seen)
    assert paths.shape == (36, 11, 3)
    flat = paths.reshape(36, -1)
    assert np.abs(np.corrcoef(flat) - np.eye(36)).max() < 6 / np.sqrt(flat.shape[1])  # 6 standard errors, of 630 pairs
    assert abs(paths.mean()) < SIGMAS / np.sqrt(paths.size)
    assert abs(paths.var() - 1) < SIGMAS * np.sqrt(2 / paths.size)
    assert len(set(run.curves["train"].tolist())) == 3
    assert len(set(run.curves["validation"].tolist())) == 1
    trials = task.validation
    outputs = net.batch(jnp.asarray(trials.inputs), jnp.full(trials.inputs.shape[:2], np.float32(trials.dt))).outputs
    by_drift = np.mean((np.asarray(outputs) - trials.targets) ** 2)
    assert run.curves["validation"][0] == pytest.approx(by_drift, rel=1e-5)


@pytest.mark.parametrize("model", ["nsde", "gated_nsde"])
@pytest.mark.parametrize("tau", [1.0, 0.01, [0.01, 0.1, 10.0]])
def test_a_fresh_network_is_not_swamped_by_its_noise_whatever_tau_is(model, tau):
    """In a time tau, the bin of most tasks, the noise moves a state by s sqrt(tau) / tau = 0.1."""
    cell = build(model, 2, 1, state=3, widths=(4,), tau=tau, key=0).cell
    moved = cell.diffusion(jnp.zeros(3), jnp.zeros(2)) / jnp.sqrt(jnp.asarray(tau))
    np.testing.assert_allclose(moved, 0.1, rtol=1e-4)

"""Balanced excitatory-inhibitory networks: drawn spectra against theory at N = 1000, and what balance removes."""

import numpy as np
import pytest
from scipy import special

from gnode import cells
from gnode.errors import ArgumentError
from gnode.theory import BalancedNetwork, critical_strength

N = 1000


def spectrum(network, seed):
    """Eigenvalues of drawn weights at T = 1; numpy draws them, not gnode."""
    rng, n_E = np.random.default_rng(seed), network.populations[0]
    W = np.zeros((network.units, network.units))
    for row in range(network.units):
        for source, (first, last, sign) in enumerate(((0, n_E, 1.0), (n_E, network.units, -1.0))):
            others = np.arange(first, last)
            if not network.self_connections:
                others = others[others != row]
            chosen = rng.choice(others, network.in_degrees[int(row >= n_E), source], replace=False)
            W[row, chosen] = sign * rng.dirichlet(np.full(chosen.size, network.shape))
    return np.linalg.eigvals(W)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("excitatory", "density", "self_connections"),
    [(0.8, 1.0, True), (0.8, 0.2, True), (0.8, 1.0, False), (0.5, 0.2, False)],
)
def test_spectral_radius_at_a_thousand_units(excitatory, density, self_connections):
    """The mean over twelve draws to 2%; a single draw scatters by 1 to 2%, because its radius is one eigenvalue."""
    network = BalancedNetwork(N, excitatory, density, self_connections)
    found = [np.abs(spectrum(network, seed)) / network.radius for seed in range(12)]
    largest = np.array([one.max() for one in found])
    assert np.mean(largest) == pytest.approx(1, abs=0.02)
    assert np.all(np.abs(largest - 1) < 0.1)
    assert np.mean([np.sum(one > 1.02) for one in found]) < 1.5  # on average less than one pair, by sampling


def largest_moduli(units, draws):
    """Of phi'(b) W of critical cells of gnode's own draw; softplus has slope 1/2 at its baseline, 0."""
    found = []
    for seed in range(draws):
        cell = cells.dale(2, units, density=0.5, init="critical", hidden="softplus", key=seed)
        W = np.asarray(cell.recurrent, np.float64)
        modulus = np.abs(np.linalg.eigvals(W)) / 2
        found.append(modulus.max())
        assert np.sum(modulus > 1.02) <= units / 50
        assert np.abs(W.sum(1)).max() < 1e-4
    return np.array(found)


@pytest.mark.slow
def test_critical_cells_of_a_thousand_units_have_the_radius_of_theory():
    assert np.mean(largest_moduli(N, 4)) == pytest.approx(1, abs=0.02)


def test_critical_cells_have_the_radius_of_theory():
    """Four hundred units scatter more, by about 4% each."""
    found = largest_moduli(400, 2)
    assert np.mean(found) == pytest.approx(1, abs=0.08)


def test_signs_without_balance_have_an_outlier():
    cell = cells.dale(2, 400, density=0.5, init="critical", hidden="softplus", key=0)
    W, state = np.asarray(cell.recurrent, np.float64), np.ones(400)
    assert np.linalg.norm(W @ state) < 1e-3
    shuffled = np.random.default_rng(0).permuted(np.abs(W), axis=1) * np.asarray(cell.signs)
    for _ in range(30):  # power iteration
        state = shuffled @ state / np.linalg.norm(state)
    assert np.linalg.norm(state) / 2 > 3


def test_the_disc_is_that_of_rajan_and_abbott():
    """sqrt(N [f var_E + (1 - f) var_I]), with the variances of weights that numpy draws."""
    network, rng = BalancedNetwork(N, 0.8, 0.1), np.random.default_rng(0)
    variances = []
    for count, degree in zip(network.populations, network.in_degrees[0]):
        weights = np.zeros((4000, count))
        weights[:, :degree] = rng.dirichlet(np.full(degree, network.shape), size=4000)
        variances.append(np.mean(weights**2) - np.mean(weights) ** 2)
    assert network.edge == pytest.approx(np.sqrt(N * (0.8 * variances[0] + 0.2 * variances[1])), rel=2e-3)


def test_without_self_connections_the_boundary_solves_its_equation():
    network = BalancedNetwork(N, 0.8, self_connections=False)
    n_E, n_I = network.populations
    K = network.in_degrees
    rows = np.array(network.populations) / N
    c = rows @ (3 / (2 * K + 1) - 1 / network.sources)
    z = network.edge
    assert c[0] / (z + 1 / (n_E - 1)) ** 2 + c[1] / (z - 1 / (n_I - 1)) ** 2 == pytest.approx(1, rel=1e-9)
    assert z > 1.05 * BalancedNetwork(N, 0.8).edge


def test_the_excess_of_a_finite_network_falls_as_one_over_root_n():
    """With equal populations and uniform variances it is that of Ginibre's ensemble: n(R) = 2 log 2, solved by hand."""
    for units in (100, 1000, 10000):
        network = BalancedNetwork(units, 0.5)
        x = np.linspace(0, 12, 400001) / np.sqrt(2 * units)
        u = np.sqrt(2 * units) * x
        beyond = np.sqrt(units / 2) * (np.exp(-(u**2)) / np.sqrt(np.pi) - u * special.erfc(u))
        assert network.radius / network.edge - 1 == pytest.approx(
            x[np.argmin(np.abs(beyond - 2 * np.log(2)))], rel=1e-3
        )


def test_strength_is_inverse_to_slope():
    network = BalancedNetwork(100)
    assert critical_strength(network, "relu", 2.0) == pytest.approx(1 / network.radius)
    assert critical_strength(network, "softplus", 0.0) == pytest.approx(2 / network.radius)
    assert critical_strength(network, np.tanh, 0.5) == pytest.approx(1 / ((1 - np.tanh(0.5) ** 2) * network.radius))


@pytest.mark.parametrize(
    ("settings", "activation", "baseline", "words"),
    [
        ({"units": 100}, "relu", 0.0, "the slope of relu is 0"),
        ({"units": 2}, "relu", 1.0, "needs at least two units"),
        ({"units": 100, "excitatory": 1.0}, "relu", 1.0, "needs at least two units"),
        ({"units": 100, "excitatory": 1.5}, "relu", 1.0, "excitatory is 1.5"),
        ({"units": 100, "density": 0.0}, "relu", 1.0, "density is 0.0, but must be a number above 0 and at most 1"),
        ({"units": 0}, "relu", 1.0, "units is 0"),
    ],
)
def test_bad_arguments(settings, activation, baseline, words):
    with pytest.raises(ArgumentError, match=words):
        critical_strength(BalancedNetwork(**settings), activation, baseline)

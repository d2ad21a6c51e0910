"""Spectra of drawn cells against mean-field theory, each other, and blocks written out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from gnode import errors
from gnode.analysis._spectra import MODELS, draw_cell, steady_spectrum
from gnode.theory import RandomStack, fixed_point


@pytest.mark.parametrize("model", MODELS)
def test_drawn_scales(model):
    """Standard deviations at N = 300 within 2%; gates at exactly one half when sigma_z = 0."""
    cell = draw_cell(model, 300, sigma_w=1.5, sigma_z=5.0)
    weights, gates = (cell.W, cell.W_gate) if model == "lem" else (cell.F.W[-1], cell.G.W[0])
    assert np.std(weights) * 300**0.5 == pytest.approx(1.5, rel=0.02)
    assert np.std(gates) * 300**0.5 == pytest.approx(5.0, rel=0.02)
    half, none = (draw_cell(model, 10, sigma_z=z) for z in (0.0, None))
    h = jnp.linspace(-1, 1, half.state_size)
    x = jnp.zeros(1)
    np.testing.assert_allclose(half.vector_field(h, x), 0.5 * none.vector_field(h, x), rtol=1e-6)


@pytest.mark.parametrize("model", ["mgru", "gnode", pytest.param("lem", marks=pytest.mark.slow)])
def test_disc_and_pinching(model):
    """N = 400: the ungated spectrum fills the mean-field disc (within 8%, the mean of five draws); gates pinch it at 0.

    One draw alone scatters by about 5%: the largest modulus is that of a single eigenvalue, in a state that moves.
    """
    free, *others = (steady_spectrum(model, 400, sigma_z=0.0, duration=300.0, seed=seed) for seed in range(5))
    gated = steady_spectrum(model, 400, sigma_z=5.0, duration=300.0)
    assert free.disc[0] == -0.5
    reached = [np.abs(one.flow_eigenvalues - one.disc[0]).max() / one.disc[1] for one in (free, *others)]
    assert np.mean(reached) == pytest.approx(1.0, abs=0.08)
    assert gated.disc is None
    assert free.pinching() < 0.04
    assert gated.pinching() > 0.15
    assert free.status == gated.status == "moving"


def test_stable_network():
    """Below criticality the state goes to 0; the radius there is the theory's, at N = 600 within 8%."""
    spectrum = steady_spectrum("gnode", 600, sigma_w=0.8, sigma_z=None, duration=100.0)
    theory = fixed_point(RandomStack(3, 0.8, "tanh"))
    assert spectrum.status == "at rest"
    assert spectrum.radius == pytest.approx(theory.radius, rel=1e-6)
    assert np.abs(spectrum.flow_eigenvalues + 1).max() == pytest.approx(theory.radius, rel=0.08)
    assert np.all(np.abs(spectrum.map_eigenvalues) < 1)


def test_euler_map_is_one_plus_flow():
    spectrum = steady_spectrum("mgru", 40, sigma_z=5.0, duration=50.0, dt=0.5)
    np.testing.assert_allclose(np.sort_complex(spectrum.map_generator), np.sort_complex(spectrum.flow_eigenvalues))


def test_lem_map_by_hand():
    """Forward-backward Euler at 0 without gates: z' = z + dt (W_z y - z), then y' = y + dt (W_y z' - y)."""
    dt, n = 0.4, 15
    spectrum = steady_spectrum("lem", n, sigma_w=0.3, sigma_z=None, duration=200.0, dt=dt)
    assert spectrum.status == "at rest"
    W_z, W_y = np.split(np.asarray(draw_cell("lem", n, sigma_w=0.3, sigma_z=None).W, float), 2)
    I, O = np.eye(n), np.zeros((n, n))
    first = np.block([[I, O], [dt * W_z, (1 - dt) * I]])  # on (y, z)
    second = np.block([[(1 - dt) * I, dt * W_y], [O, I]])
    expected = np.linalg.eigvals(second @ first)
    distances = np.abs(expected[:, None] - spectrum.map_eigenvalues[None])
    assert distances.min(axis=1).max() < 1e-5


@pytest.mark.slow
def test_tsit5_gives_much_the_same_flow_spectrum():
    """N = 150: the fraction of pinched modes by Euler and by Tsit5 within 0.1."""
    euler, tsit5 = (steady_spectrum("mgru", 150, sigma_z=5.0, method=m, duration=60.0) for m in ("euler", "tsit5"))
    assert euler.pinching() == pytest.approx(tsit5.pinching(), abs=0.1)
    decays = np.abs(tsit5.map_eigenvalues)
    assert np.sort(decays)[-1] == pytest.approx(np.exp(np.real(tsit5.flow_eigenvalues).max()), abs=0.02)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: draw_cell("gru", 10), "model is 'gru'"),
        (lambda: draw_cell("mgru", 0), "state is 0"),
        (lambda: draw_cell("mgru", 10, sigma_z=-1.0), "sigma_z is -1"),
        (lambda: steady_spectrum("mgru", 10, duration=0.0), "duration is 0"),
        (lambda: steady_spectrum("mgru", 10, dt=200.0, duration=1e5), "choose a shorter step"),
        (lambda: steady_spectrum("mgru", 10, duration=2.0).pinching(0.0), "within is 0"),
    ],
)
def test_bad_arguments(make, says):
    with pytest.raises(errors.ArgumentError, match=says):
        make()

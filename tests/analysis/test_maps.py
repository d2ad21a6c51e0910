"""Cells that are maps from bin to bin, noise, changes of the input, and readouts that see the input, in closed form."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import analysis, cells
from gnode.errors import ArgumentError
from gnode.plots import analysis as draw
from gnode.precision import double, to_dtype

DT = 0.1


class Jumping(cells.Cell):
    """A sample makes h <- gain h + x, then dh/dt = -h: a bin of Euler's method is h <- (1 - dt) (gain h + x)."""

    gain: jnp.ndarray
    inputs: int = eqx.field(static=True, default=1)
    units: int = eqx.field(static=True, default=1)

    def vector_field(self, h, x):
        return -h

    def jump(self, h, x):
        return self.gain * h + x


class Driven(cells.Cell):
    """dh = -h dt + h dX."""

    inputs: int = eqx.field(static=True, default=1)
    units: int = eqx.field(static=True, default=1)

    def vector_field(self, h, x):
        return -h

    def control(self, h, x):
        return h[:, None]


@pytest.mark.parametrize("gain", [0.5, -0.5, -3.0, 2.0, 0.0])
def test_a_jump_makes_a_map(gain):
    """With the gain -3 the mean velocity pulls back (its slope is negative), but the map overshoots and is unstable."""
    cell, x, mu = Jumping(jnp.array(gain)), 0.7, (1 - DT) * gain
    found = analysis.fixed_points(cell, [[-1.0], [0.3]], x=[x], dt=DT)
    point = (1 - DT) * x / (1 - mu)
    np.testing.assert_allclose(found.points, [[point]], atol=1e-7)  # gain is a float32
    np.testing.assert_allclose(found.residual, 0, atol=1e-9 * DT)
    spectrum = found.stability
    np.testing.assert_allclose(spectrum.map_eigenvalues, [[mu]], atol=1e-7)
    if gain:
        np.testing.assert_allclose(spectrum.abscissa, np.log(abs(mu)) / DT, rtol=1e-6)
        exponents = analysis.lyapunov(cell, [0.1], dt=DT, steps=20, transient=0, x=[x]).exponents
        np.testing.assert_allclose(exponents, spectrum.abscissa, rtol=1e-6)
    else:
        assert spectrum.abscissa == -np.inf  # forgotten at once
    expected = "stable" if abs(mu) < 1 else "unstable"
    assert [*found.kind, *spectrum.flow_class, *spectrum.map_class] == [expected] * 3
    assert not spectrum.disagrees.any()
    draw.eigenvalues(spectrum)


def test_flow_fields_slow_states_and_memories_of_a_map():
    cell = Jumping(jnp.array([0.9, 0.99]), inputs=2, units=2)
    mu = (1 - DT) * np.array([0.9, 0.99])
    field = analysis.flow_field(cell, dt=DT, limits=((-1, 1), (-1, 1)), resolution=3)
    np.testing.assert_allclose(field.velocity[0, 2], (mu - 1) / DT * [1, -1], rtol=1e-6)
    memory = analysis.memory_lifetime(cell, [[1.0, 0.0], [0.0, 1.0]], dt=DT, tolerance=0.5)
    np.testing.assert_allclose(memory.lifetimes, DT * np.ceil(np.log(0.5) / np.log(mu)), rtol=1e-6)
    np.testing.assert_allclose(analysis.slow_states(cell, [[1.0, 1.0]], dt=DT, speed=1.0), [mu**100], rtol=1e-4)
    measured = analysis.attractor(cell, np.zeros((1, 2)), dt=DT)
    np.testing.assert_allclose(measured.normal_abscissa, np.log(mu[1]) / DT, rtol=1e-6)


def test_a_map_needs_the_length_of_its_bins():
    for call in (
        lambda: analysis.fixed_points(Jumping(jnp.array(0.5)), [[1.0]]),
        lambda: analysis.stability(Jumping(jnp.array(0.5)), [[1.0]]),
        lambda: analysis.flow_field(Jumping(jnp.ones(2), 2, 2), limits=((-1, 1), (-1, 1))),
    ):
        with pytest.raises(ArgumentError, match="dt is missing: a Jumping is a map of one bin and no flow, so pass"):
            call()


@pytest.mark.parametrize("method", ["heun", pytest.param("tsit5", marks=pytest.mark.slow)])
def test_other_integrators_of_the_flow_between_jumps(method):
    """Heun's step is 1 - dt + dt^2/2; one that chooses its steps comes near exp(-dt), to its tolerance of 1e-3."""
    factor, tolerance = {"heun": (1 - DT + DT**2 / 2, 1e-7), "tsit5": (np.exp(-DT), 1e-3)}[method]
    of = analysis.system(Jumping(jnp.array(0.5)), x=[1.0], dt=DT, method=method)
    found = analysis.fixed_points(of, [[3.0]])
    np.testing.assert_allclose(found.points, factor / (1 - factor / 2), rtol=tolerance / (1 - factor / 2))
    np.testing.assert_allclose(found.stability.map_eigenvalues, factor / 2, rtol=tolerance)


def test_changes_of_the_input_count_for_the_exponents_of_a_driven_trajectory():
    """A bin multiplies h by (1 + dX) (1 - dt); at a constant input by 1 - dt."""
    xs = np.random.default_rng(0).uniform(-0.3, 0.3, (40, 1))
    found = analysis.lyapunov(Driven(), [1.0], dt=DT, xs=xs, steps=40, transient=0)
    steps = np.diff(xs[:, 0], prepend=xs[0, 0])
    expected = np.mean(np.log((1 + steps) * (1 - DT))) / DT
    np.testing.assert_allclose(found.exponents, expected, rtol=1e-9)
    still = analysis.stability(Driven(), [[0.0]], dt=DT)
    np.testing.assert_allclose(still.map_eigenvalues, 1 - DT)


@pytest.mark.parametrize("model", ["gru", "ode_lstm"])
def test_the_map_of_layers_is_not_the_step_of_their_flow(model):
    """Each layer moves under what the one below has at the end of the bin."""
    own = {"widths": (4,)} if model == "ode_lstm" else {}
    cell = cells.layers(model, 1, 2, count=2, tau=0.2, key=0, **own)
    h, x = np.linspace(-1, 1, cell.state_size), [0.3]
    found = analysis.stability(cell, h[None], x=x, dt=DT)
    with double():
        of = analysis.system(to_dtype(cell, jnp.float64), x=x, dt=DT)
        J = np.asarray(jax.jacfwd(of.step)(jnp.asarray(h)))
        D = np.asarray(jax.jacfwd(of.cell.vector_field)(jnp.asarray(h), jnp.asarray(x)))
    np.testing.assert_allclose(sums_of_powers(found.map_eigenvalues[0]), traces_of_powers(J), rtol=1e-6, atol=1e-9)
    assert np.abs(traces_of_powers(J) - traces_of_powers(np.eye(len(h)) + DT * D)).max() > 1e-3


def sums_of_powers(eigenvalues):
    return np.array([np.sum(eigenvalues**k) for k in range(1, len(eigenvalues) + 1)])


def traces_of_powers(matrix):
    """By Newton's identities they say as much as the eigenvalues, without an order."""
    return np.array([np.trace(np.linalg.matrix_power(matrix, k)) for k in range(1, len(matrix) + 1)])


def test_outputs_of_a_readout_that_sees_the_input():
    """At rest a network gives what is said of its fixed point, past the state included."""
    net = gnode.build("lru", 1, 1, state=2, modes=2, tau=0.1, fastest=0.1, slowest=0.5, key=0)
    found = analysis.fixed_points(net, [np.zeros(4)], x=[0.8], dt=DT)
    outputs = net.run(np.full((1, 200, 1), 0.8), dt=DT).outputs[0, -1]
    np.testing.assert_allclose(found.outputs[0], outputs, rtol=1e-4)
    assert np.abs(np.asarray(net.read(jnp.asarray(found.points[0], jnp.float32))) - outputs).max() > 0.01

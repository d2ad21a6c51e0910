"""Functions outside of jax: the same fixed points and the same stability as those of a cell that jax can trace."""

import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from required import needs_packages

import gnode
from gnode import errors
from gnode.analysis import fixed_points, flow_field, lyapunov, outside, slow_states, stability, study, system
from gnode.cells import from_torch
from gnode.precision import double

COMMON_TOOL = Path(__file__).parent.parent / "fixtures" / "common_tool.npz"
STARTS = 150
"""Of the 1024 that are stored, enough to find all points."""
DIFFERENCES = 1e-8
"""More than the error of central differences, about 1e-10 in units of what varies over distances of 1."""


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


class Plain:
    """A network of the common tool's example in plain numpy, with its derivative."""

    def __init__(self, kind):
        stored = {
            name.partition("/")[2]: value for name, value in np.load(COMMON_TOOL).items() if name.startswith(kind)
        }
        self.kind, self.starts = kind, stored["starts"][:STARTS]
        self.state = {f"{name}_l0": value for name, value in stored.items() if name.startswith(("weight", "bias"))}
        parts = ("weight_hh", "bias_hh", "weight_ih", "bias_ih")
        self.W, self.c, self.U, self.b = (stored[name].astype(float) for name in parts)

    def cell(self):
        with double():
            return from_torch(self.state, nonlinearity="tanh" if self.kind == "tanh" else None)

    def step(self, h, x):
        if self.kind == "tanh":
            return np.tanh(h @ self.W.T + self.c + x @ self.U.T + self.b)
        _, z, n, _ = self.gates(h, x)
        return (1 - z) * n + z * h

    def gates(self, h, x):
        hr, hz, hn = np.split(h @ self.W.T + self.c, 3, axis=1)
        xr, xz, xn = np.split(x @ self.U.T + self.b, 3, axis=1)
        r, z = sigmoid(hr + xr), sigmoid(hz + xz)
        return r, z, np.tanh(xn + r * hn), hn

    def jacobian(self, h, x):
        if self.kind == "tanh":
            return (1 - self.step(h, x) ** 2)[:, :, None] * self.W
        (r, z, n, hn), (Wr, Wz, Wn) = self.gates(h, x), np.split(self.W, 3)
        by_r = ((1 - z) * (1 - n**2) * hn * r * (1 - r))[:, :, None] * Wr
        by_z = ((h - n) * z * (1 - z))[:, :, None] * Wz
        by_n = ((1 - z) * (1 - n**2) * r)[:, :, None] * Wn
        return by_r + by_z + by_n + z[:, :, None] * np.eye(h.shape[1])


@pytest.fixture(scope="module", params=["tanh", "gru"])
def plain(request):
    return Plain(request.param)


@pytest.fixture(scope="module")
def inside(plain):
    return fixed_points(plain.cell(), plain.starts, dt=1.0, midpoints=True)


def test_the_same_points_and_the_same_stability(plain, inside):
    theirs = outside(plain.step, 16, is_map=True, inputs=3)
    found = fixed_points(theirs, plain.starts, midpoints=True).select(status="equilibrium")
    assert len(found) == len(inside) == 27
    np.testing.assert_allclose(found.points, inside.points, atol=DIFFERENCES)
    np.testing.assert_array_equal(found.kind, inside.kind)
    np.testing.assert_allclose(
        np.abs(found.stability.map_eigenvalues), np.abs(inside.stability.map_eigenvalues), atol=1e-6
    )
    assert found.residual.max() < 1e-9
    np.testing.assert_allclose(found.stability.flow_rates, np.log(np.abs(found.stability.map_eigenvalues)), rtol=1e-9)


def test_with_its_own_jacobian(plain, inside):
    theirs = outside(plain.step, 16, is_map=True, inputs=3, jacobian=plain.jacobian, dt=0.5)
    exact = stability(theirs, inside.points)
    np.testing.assert_allclose(exact.radius, inside.stability.radius, rtol=1e-7)
    np.testing.assert_allclose(exact.flow_rates, np.log(np.abs(exact.map_eigenvalues)) / 0.5, rtol=1e-9)
    by_differences = stability(outside(plain.step, 16, is_map=True, inputs=3), inside.points)
    np.testing.assert_allclose(by_differences.radius, exact.radius, rtol=DIFFERENCES)


def test_differences_are_as_exact_as_they_say(plain):
    h, x = plain.starts[:7].astype(float), np.random.default_rng(0).normal(size=(7, 3))
    calls = outside(plain.step, 16, is_map=True, inputs=3).cell.calls
    error = np.abs(calls.jacobians(h, x) - plain.jacobian(h, x)).max()
    assert 0 < error < 1e-9
    steps = [calls.values(h, x + shift) for shift in (1e-5 * np.eye(3)[1], -1e-5 * np.eye(3)[1])]
    np.testing.assert_allclose(calls.input_jacobians(h, x)[:, :, 1], (steps[0] - steps[1]) / 2e-5, atol=1e-8)


def test_derivatives_in_every_direction_that_jax_asks_for(plain):
    cell = outside(plain.step, 16, is_map=True, inputs=3, jacobian=plain.jacobian).cell
    h, x = plain.starts[0].astype(float), np.ones(3)
    with double():
        values = [jax.jacfwd(cell.own_step), jax.jacrev(cell.own_step)]
        expected = plain.jacobian(h[None], x[None])[0]
        for derivative in (*values, jax.jit(values[0]), jax.jit(values[1])):
            np.testing.assert_allclose(derivative(jnp.asarray(h), jnp.asarray(x), 1.0), expected, atol=1e-12)
        many = jax.jit(jax.vmap(values[1], (0, None, None)))(jnp.stack([h, 0 * h]), jnp.asarray(x), 1.0)
        np.testing.assert_allclose(many[0], expected, atol=1e-12)
        by_input = jax.jacfwd(cell.own_step, argnums=1)(jnp.asarray(h), jnp.asarray(x), 1.0)
        if plain.kind == "tanh":
            slope = (1 - plain.step(h[None], x[None])[0] ** 2)[:, None] * plain.U
            np.testing.assert_allclose(by_input, slope, atol=1e-9)


def test_a_field_is_what_jax_would_have_found(x64):
    def field(h, x, numpy=np):
        return numpy.stack([h[..., 1], h[..., 0] - h[..., 0] ** 3 - h[..., 1] + x[..., 0]], axis=-1)

    theirs = outside(field, 2, is_map=False, inputs=1)
    starts = np.random.default_rng(0).uniform(-2, 2, size=(20, 2))
    for x in ([0.0], [0.1]):
        found = fixed_points(theirs, starts, x=x, dt=0.05)
        ours = fixed_points(lambda h, x: field(h, x, jnp), starts, x=x, dt=0.05)
        np.testing.assert_allclose(found.points, ours.points, atol=DIFFERENCES)
        np.testing.assert_allclose(found.stability.flow_eigenvalues, ours.stability.flow_eigenvalues, atol=DIFFERENCES)
        np.testing.assert_array_equal(found.kind, ours.kind)
    assert fixed_points(theirs, starts).stability.map_class is None
    ends = slow_states(theirs, starts, dt=0.05)
    np.testing.assert_allclose(ends, slow_states(lambda h, x: field(h, x * jnp.ones(1), jnp), starts, x=[0.0], dt=0.05))


def test_large_searches_that_begin_in_single_precision():
    """Whatever precision jax has in the thread that calls, numbers arrive as they are."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    seen = set()

    def step(h, x):
        seen.add(h.dtype)
        return np.tanh(1.3 * h) @ turn.T

    found = fixed_points(outside(step, 40, is_map=True), np.random.default_rng(1).normal(size=(1300, 40)) * 0.05)
    assert seen == {np.dtype(np.float64)}
    assert found.points[np.argmin(np.linalg.norm(found.points, axis=1))] == pytest.approx(np.zeros(40), abs=1e-8)
    np.testing.assert_allclose(found.stability.radius[np.argmin(np.linalg.norm(found.points, axis=1))], 1.3, rtol=1e-6)


def test_other_analyses_take_it():
    plain = Plain("tanh")
    theirs, ours = outside(plain.step, 16, is_map=True, inputs=3), system(plain.cell(), dt=1.0)
    start, xs = plain.starts[0], np.random.default_rng(0).normal(size=(20, 3))
    options = {"dt": 1.0, "xs": xs, "steps": 60, "transient": 10, "exponents": 2}
    np.testing.assert_allclose(
        lyapunov(theirs, start, **options).exponents, lyapunov(ours, start, **options).exponents, atol=1e-6
    )
    fields = [flow_field(of, around=plain.starts) for of in (theirs, ours)]
    np.testing.assert_allclose(fields[0].speed, fields[1].speed, atol=1e-9)
    with double():
        states = [gnode.rollout(of.cell, xs, start, dt=1.0) for of in (theirs, ours)]
    np.testing.assert_allclose(states[0], states[1], atol=1e-12)
    assert repr(theirs) == "System(OutsideMap, 16 dimensions, own, dt=1.0)"


def test_a_study_of_a_function_outside():
    def step(h, x):
        return np.stack([np.tanh(2 * h[:, 0]), 0.5 * h[:, 1]], axis=1)

    states = np.random.default_rng(0).uniform(-1, 1, size=(5, 8, 2))
    theirs = study(outside(step, 2, is_map=True), states, dt=1.0, starts=20)
    ours = study(lambda h, x: jnp.stack([jnp.tanh(2 * h[0]), 0.5 * h[1]]) - h, states, dt=1.0, starts=20)
    np.testing.assert_allclose(theirs.fixed_points.points, ours.fixed_points.points, atol=DIFFERENCES)
    np.testing.assert_array_equal(theirs.fixed_points.kind, ours.fixed_points.kind)
    assert theirs.slow_count == ours.slow_count > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"function": lambda h, x: h[0]},
            r"function returns an array of shape \(3,\) for 2 states, but must return",
        ),
        ({"function": lambda h, x: h.astype(np.float32)}, "function returns float32 numbers.*double"),
        (
            {"function": lambda h, x: h @ np.ones((2, 2))},
            r"function fails on states of shape \(2, 3\).*ValueError: matmul",
        ),
        ({"function": lambda h: h}, "function is .*must be a function of 2 arguments"),
        ({"jacobian": lambda h, x: np.eye(3)}, r"jacobian returns an array of shape \(3, 3\).*must return \(2, 3, 3\)"),
        ({"jacobian": lambda h, x: x[:, 5]}, "jacobian fails.*IndexError"),
        ({"jacobian": "differences"}, "jacobian is 'differences'"),
        ({"state": 0}, "state is 0"),
        ({"inputs": -1}, "inputs is -1"),
        ({"dt": 0.0}, "dt is 0"),
        ({"is_map": None}, "is_map is None"),
    ],
)
def test_what_is_no_function_of_rows(options, says):
    given = {"function": lambda h, x: 0.5 * h, "state": 3, "is_map": True} | options
    with pytest.raises(errors.ArgumentError, match=f"{says}.*[.]$"):
        outside(**given)


def test_a_module_of_pytorch():
    needs_packages("torch")
    import torch

    torch.manual_seed(0)
    cell = torch.nn.GRUCell(2, 6).double()

    def step(h, x):
        with torch.no_grad():
            return cell(torch.from_numpy(x), torch.from_numpy(h)).numpy()

    def jacobian(h, x):
        slope = torch.func.vmap(torch.func.jacrev(lambda h, x: cell(x[None], h[None])[0]))
        return slope(torch.from_numpy(h), torch.from_numpy(x)).detach().numpy()

    starts = np.random.default_rng(0).normal(size=(10, 6))
    with double():
        ours = fixed_points(from_torch(cell), starts, dt=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch warns of arrays that cannot be written to
        for slope in (jacobian, None):
            found = fixed_points(outside(step, 6, is_map=True, inputs=2, jacobian=slope), starts)
            np.testing.assert_allclose(found.points, ours.points, atol=DIFFERENCES)
            np.testing.assert_allclose(found.stability.radius, ours.stability.radius, atol=1e-7)


def test_a_module_in_place_of_a_function_is_told_where_to_go():
    """The class has the names of PyTorch's, by which it is known."""
    Module = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": lambda self, h, x: h})
    with pytest.raises(
        errors.ArgumentError, match=r"is a PyTorch module \(Module\); make a cell .* by gnode\.cells\.from_torch"
    ):
        fixed_points(Module(), np.zeros((1, 2)), dt=1.0)


def test_a_module_and_a_tensor_with_a_gradient_of_pytorch_are_sentences():
    needs_packages("torch")
    import torch

    gru = torch.nn.GRU(2, 3)
    with pytest.raises(errors.ArgumentError, match=r"source is a PyTorch module \(GRU\)"):
        fixed_points(gru, np.zeros((1, 3)), dt=1.0)
    states, _ = gru(torch.zeros(5, 4, 2))
    with pytest.raises(
        errors.ArgumentError, match=r"is a tensor that carries a gradient; pass \w+\.detach\(\) instead"
    ):
        fixed_points(from_torch(gru), states, dt=1.0)

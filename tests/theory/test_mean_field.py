"""The recursion over layers and its fixed point, against closed forms and drawn networks."""

import numpy as np
import pytest

from gnode import errors
from gnode.theory import RandomStack, draw, fixed_point, kernel, layer_factors, measure, recursion, two_time

WIDTH = 700


def test_relu_fixed_point_in_closed_form():
    """The paper's C_h with the bias of the first layer put back and the last ratio N / H."""
    s, b, u, alpha, depth = 1.4, 0.3, 0.2, 2.5, 4
    first, middle, last = s**2 / (1 + alpha), s**2 / 2, s**2 / (1 + 1 / alpha)
    a = middle / 2
    slope = first * a ** (depth - 2) * last / 2
    constant = last / 2 * (a ** (depth - 2) * (u + b**2) + (1 - a ** (depth - 2)) / (1 - a) * b**2) + b**2
    stack = RandomStack(depth, s, "relu", "glorot", b, alpha, input_variance=u)
    found = fixed_point(stack)
    assert found.variance == pytest.approx(constant / (1 - slope), rel=1e-12)
    assert found.susceptibility == pytest.approx(slope, rel=1e-12)
    assert found.error < 1e-12


def test_layer_factors():
    assert layer_factors(4, "kaiming", 7.0) == (1, 1, 1, 1)
    assert layer_factors(3, "glorot", 3.0) == (1 / 4, 1 / 2, 3 / 4)
    assert layer_factors(3, "glorot", (10, 30, 30, 10)) == pytest.approx((1 / 4, 1 / 2, 3 / 4))
    assert layer_factors(1, "glorot", 9.0) == (0.5,)


def test_recursion_is_the_kernels_composed():
    stack = RandomStack(3, 1.3, "tanh", sigma_b=0.2, final="erf", activate_state=True)
    k1 = 1.69 * kernel("tanh", 0.5).value + 0.04
    k2 = 1.69 * kernel("tanh", k1).value + 0.04
    k3 = 1.69 * kernel("tanh", k2).value + 0.04
    slopes = [kernel("tanh", k, derivative=True).value for k in (0.5, k1, k2)]
    found = recursion(stack, 0.5)
    np.testing.assert_allclose(found.kernels, (k1, k2, k3), rtol=1e-12)
    assert found.output == pytest.approx(kernel("erf", k3).value, rel=1e-12)
    last = kernel("erf", k3, derivative=True).value
    assert found.susceptibility == pytest.approx(1.69**3 * np.prod(slopes) * last, rel=1e-12)


def test_susceptibility_is_the_derivative_of_the_two_point_recursion():
    stack, c0, c, step = RandomStack(3, 1.4, "tanh", sigma_b=0.3, final="tanh"), 0.9, 0.4, 1e-5
    evaluate = two_time(stack, c0)
    difference = (evaluate(np.array(c + step))[0] - evaluate(np.array(c - step))[0]) / (2 * step)
    assert evaluate(np.array(c))[1] == pytest.approx(difference, rel=1e-8)
    merged = evaluate(np.array(c0))
    assert merged[0] == pytest.approx(recursion(stack, c0).output, rel=1e-12)
    assert merged[1] == pytest.approx(recursion(stack, c0).susceptibility, rel=1e-12)


SAMPLED = {
    "tanh, biases": RandomStack(3, 1.2, "tanh", sigma_b=0.5),
    "relu, biases": RandomStack(2, 1.0, "relu", sigma_b=0.5),
    "relu, Glorot, wide": RandomStack(3, 1.3, "relu", "glorot", sigma_b=0.3, aspect=1.5),
    "relu, Glorot, narrow": RandomStack(2, 1.1, "relu", "glorot", sigma_b=0.3, aspect=0.5),
    "sigmoid, final tanh": RandomStack(2, 3.0, "sigmoid", sigma_b=0.5, final="tanh"),
    "elu, widths, input": RandomStack(3, 0.9, "elu", "glorot", 0.2, (2, 3, 1, 2), input_variance=0.5),
    "erf on the state": RandomStack(2, 0.8, "erf", sigma_b=0.4, activate_state=True),
}


@pytest.mark.parametrize("stack", SAMPLED.values(), ids=SAMPLED)
def test_fixed_point_of_drawn_networks(stack):
    """Width 700, three draws: C_h within 8%, tr J^T J / N within 5%, the abscissa of J within 6% of rho.

    Near criticality a single ReLU network strays much further: the variance of its state has a spread of 1 /
    (1 - rho^2).
    """
    theory = fixed_point(stack)
    drawn = [measure(stack, WIDTH, seed) for seed in range(3)]
    assert all(one.status == "at rest" for one in drawn)
    assert np.mean([one.state_variance for one in drawn]) == pytest.approx(theory.variance, rel=0.08)
    jacobians = [draw(stack, WIDTH, seed).jacobian(one.state) for seed, one in enumerate(drawn)]
    assert np.mean([np.sum(J**2) / WIDTH for J in jacobians]) == pytest.approx(theory.susceptibility, rel=0.05)
    assert np.mean([one.abscissa(leak=0.0) for one in drawn]) == pytest.approx(theory.radius, rel=0.06)


def test_zero_fixed_point_and_the_other_one():
    below, above = RandomStack(3, 0.9, "tanh"), RandomStack(3, 1.5, "tanh")
    assert fixed_point(below).status == "zero"
    assert fixed_point(below, start=1.0).status == "zero"
    assert fixed_point(above).radius == pytest.approx(1.5**3, rel=1e-12)  # rho_0 = sigma_w^L phi'(0)^(L - 1)
    other = fixed_point(above, start=1.0)
    assert other.status == "found"
    assert recursion(above, other.variance).output == pytest.approx(other.variance, rel=1e-12)


def test_no_leak_is_never_stable():
    """The corollary: without -h the abscissa is rho, so positive at every scale; drawn at width 300 too."""
    for sigma_w in (0.05, 0.5, 1.0):
        stack = RandomStack(3, sigma_w, "tanh")
        assert fixed_point(stack).abscissa(leak=0.0) > 0
        assert measure(stack, 300).abscissa(leak=0.0) > 0


def test_measured_jacobian_is_the_derivative():
    stack = RandomStack(3, 1.2, "tanh", sigma_b=0.3, final="tanh", activate_state=True, aspect=1.5)
    network = draw(stack, 12, sigma_z=2.0)
    h, v = np.random.default_rng(0).normal(size=(2, 12, 1))
    step = 1e-6
    along = (network.field(h + step * v)[0] - network.field(h - step * v)[0]) / (2 * step)
    np.testing.assert_allclose(network.jacobian(h[:, 0]) @ v, along, atol=1e-8)
    np.testing.assert_allclose(network.field(h, v)[1], along, atol=1e-8)
    along = (network.flow(h + step * v)[0] - network.flow(h - step * v)[0]) / (2 * step)
    np.testing.assert_allclose(network.flow(h, v)[1], along, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RandomStack(0, 1.0), "depth is 0"),
        (lambda: RandomStack(-3, 1.0), "depth is -3"),
        (lambda: RandomStack(2, -1.0), "sigma_w is -1"),
        (lambda: RandomStack(2, 1.0, scaling="xavier"), "scaling is 'xavier'"),
        (lambda: RandomStack(2, 1.0, final="tahn"), "final is 'tahn'.*Did you mean 'tanh'"),
        (lambda: RandomStack(2, 1.0, aspect=0.0), "aspect is 0"),
        (lambda: RandomStack(2, 1.0, aspect=(1, 2)), "depth \\+ 1 = 3 widths"),
        (lambda: RandomStack(2, 1.0, aspect=(1, 2, 3)), "last equal to the first"),
        (lambda: fixed_point(RandomStack(3, 1.3, "relu", sigma_b=0.1)), "no fixed point exists"),
        (lambda: fixed_point(RandomStack(3, 1.3, "relu")), "no fixed point exists"),
    ],
)
def test_bad_stacks(make, says):
    with pytest.raises(errors.ArgumentError, match=says):
        make()

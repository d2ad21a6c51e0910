"""Critical scales: closed forms, the numeric solution, and drawn networks."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

from gnode import errors
from gnode.theory import (
    RandomStack,
    capacity_experiment,
    chaotic_state,
    critical_curve,
    critical_sigma_w,
    critical_sigma_w_relu,
    draw,
    fixed_point,
    kernel,
    measure,
    measure_typical,
    pointwise,
    recursion,
    simulate,
)

WIDTH = 1000


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"depth": 2}, 2**0.25),
        ({"depth": 3}, 2 ** (1 / 3)),
        ({"depth": 3, "scaling": "glorot"}, 2 ** (1 / 2) * 2 ** (1 / 3)),
        ({"depth": 1, "final": "tanh"}, 1.0),
        ({"depth": 5, "activate_state": True}, 2**0.5),
        ({"depth": 4, "final": "tanh"}, 2 ** (3 / 8)),
        ({"depth": 3, "activation": "tanh"}, 1.0),
        ({"depth": 2, "activation": "erf"}, (np.pi / 4) ** 0.25),
        ({"depth": 2, "activation": "gelu"}, 2**0.5),
        ({"depth": 3, "activation": "leaky_relu"}, (2 / (1 + 0.01**2)) ** (1 / 3)),
    ],
)
def test_closed_forms_and_numeric_agree(settings, value):
    closed = critical_sigma_w(**settings)
    numeric = critical_sigma_w(**settings, method="numeric")
    assert (closed.method, numeric.method) == ("closed", "numeric")
    assert closed.sigma_w == pytest.approx(value, abs=1e-12)
    assert numeric.sigma_w == pytest.approx(value, abs=1e-12)


def test_float_is_sigma_w():
    found = critical_sigma_w(2)
    assert float(found) == found.sigma_w == pytest.approx(2**0.25)


def test_the_ensemble_is_positional_and_the_rest_is_by_keyword():
    given = critical_sigma_w(2, "tanh", "glorot", 0.2, 1.5, "tanh", True)
    by_name = RandomStack(2, given.sigma_w, "tanh", "glorot", 0.2, 1.5, "tanh", True)
    assert given.stack == by_name
    with pytest.raises(TypeError, match="positional"):
        critical_sigma_w(2, "tanh", "glorot", 0.2, 1.5, "tanh", True, 0.1)  # type: ignore[misc]


def test_representations_are_short():
    """Also of results that hold large arrays, or that have many layers."""
    deep = RandomStack(300, 0.5, sigma_b=0.1, aspect=(10,) * 301)
    curve = critical_curve((2,), np.linspace(0, 2, 3).tolist())
    found = [deep, critical_sigma_w(3), curve, draw(deep, 4), recursion(deep, 0.1), fixed_point(deep)]
    found += [measure(RandomStack(2, 0.5), 100), simulate(draw(RandomStack(2, 0.5), 5), 5.0, warm_up=1.0)]
    found += [chaotic_state(RandomStack(2, 1.5)), kernel("relu", 1.0), pointwise("tanh")]
    found += [capacity_experiment((4,), rows=30)]
    for one in found:
        assert len(repr(one)) <= 500
        assert "\n" not in repr(one)
        assert repr(one).startswith(type(one).__name__)


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("aspect", [0.2, 1.0, 3.16])
@pytest.mark.parametrize("scaling", ["kaiming", "glorot"])
def test_relu_formula(depth, aspect, scaling):
    by_hand = critical_sigma_w_relu(depth, scaling, aspect)
    assert critical_sigma_w(depth, "relu", scaling, aspect=aspect).sigma_w == pytest.approx(by_hand, abs=1e-12)
    if depth == 6:
        return  # covered by the smaller depths, which are faster
    with_bias = critical_sigma_w(depth, "relu", scaling, 0.5, aspect, method="numeric")
    assert with_bias.sigma_w == pytest.approx(by_hand, rel=1e-11)


def test_a_function_is_not_known_by_its_name():
    def relu(x):  # it is not
        return jnp.clip(x, 0.0, 1.0)

    with pytest.raises(errors.ArgumentError, match="method is 'closed', but"):
        critical_sigma_w(3, relu, sigma_b=0.5, method="closed")
    assert critical_sigma_w(3, "relu", sigma_b=0.5, method="closed").sigma_w == pytest.approx(2 ** (1 / 3))


def test_one_layer_is_linear_whatever_the_activation():
    found = critical_sigma_w(1, "tanh", sigma_b=0.1)
    assert found.sigma_w == 1.0
    assert np.isnan(found.state_variance)  # it diverges there


def test_usual_initialisations():
    """At sigma_w = sqrt 2 Kaiming is unstable and Glorot stable, at every depth from 2 and every ratio."""
    for depth in range(2, 8):
        assert critical_sigma_w_relu(depth) < 2**0.5
        assert min(critical_sigma_w_relu(depth, "glorot", a) for a in np.geomspace(0.01, 100, 41)) > 2**0.5
    assert measure(RandomStack(3, 2**0.5, "relu"), WIDTH).abscissa() > 0.2
    assert measure(RandomStack(3, 2**0.5, "relu", "glorot"), WIDTH).abscissa() < -0.4


AT_ZERO = {
    "tanh depth 1": {"depth": 1, "final": "tanh"},
    "relu depth 2": {"depth": 2},
    "relu depth 3": {"depth": 3},
    "relu Glorot wide": {"depth": 3, "scaling": "glorot", "aspect": 3.0},
    "relu Glorot narrow": {"depth": 2, "scaling": "glorot", "aspect": 0.5},
    "relu on the state": {"depth": 2, "activate_state": True},
    "relu, final tanh": {"depth": 3, "final": "tanh"},
}
AWAY_FROM_ZERO = {
    "tanh biases": {"depth": 3, "activation": "tanh", "sigma_b": 0.1},
    "sigmoid": {"depth": 2, "activation": "sigmoid"},
}


QUICKEST = ("tanh depth 1", "relu depth 2", "relu Glorot narrow")


def mean_abscissa(settings, width):
    """Returns the mean abscissa of -I + J at criticality over four draws whose widest layer has `width` units."""
    found = critical_sigma_w(**settings)
    assert found.radius == pytest.approx(1, abs=1e-12)
    state = round(width / max(1, settings.get("aspect", 1.0)))
    return np.mean([measure(found.stack, state, seed).abscissa() for seed in range(4)])


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(settings, id=name, marks=() if name in QUICKEST else pytest.mark.slow)
        for name, settings in AT_ZERO.items()
    ],
)
def test_drawn_networks_are_critical(settings):
    """Widest layer 1000: the mean abscissa is within 0.05 of 0."""
    assert abs(mean_abscissa(settings, WIDTH)) < 0.05


def test_a_network_rests_where_it_is_more_stable_than_theory_says_of_a_typical_state():
    """tanh with biases, width 500, 12 draws.

    A state of the theory's variance that is independent of the weights is marginal within three standard errors and 0.05.
    Where a network relaxes to a fixed point, its abscissa is lower.
    """
    found = critical_sigma_w(3, "tanh", sigma_b=0.1)
    typical = [measure_typical(found.stack, 500, found.state_variance, seed).abscissa() for seed in range(12)]
    relaxed = [measure(found.stack, 500, seed, max_steps=2000) for seed in range(12)]
    assert abs(np.mean(typical)) < min(0.05, 3 * np.std(typical) / 12**0.5)
    lower = np.array([a - one.abscissa() for a, one in zip(typical, relaxed) if one.status == "at rest"])
    assert lower.size >= 6
    assert np.mean(lower) > 2 * np.std(lower) / lower.size**0.5


def test_places_and_typical_states():
    """With a kink every direction has its own Jacobian, without one all share it; `measure_typical` agrees with numpy."""
    kinked, smooth = RandomStack(2, 1.0, "relu"), RandomStack(2, 1.0, "tanh")
    assert measure(kinked, 30, places=5).eigenvalues.shape == (5, 30)
    assert measure(smooth, 30, places=5).eigenvalues.shape == (1, 30)
    assert measure(kinked, 30, places=1).radius == np.abs(measure(kinked, 30, places=5).eigenvalues[0]).max()
    found = measure_typical(smooth, 30, 0.5, seed=3, places=2)
    states = 0.5**0.5 * np.random.default_rng(4).normal(size=(2, 30))
    by_hand = [np.linalg.eigvals(draw(smooth, 30, 3).jacobian(h)).real.max() - 1 for h in states]
    assert found.abscissa() == pytest.approx(np.mean(by_hand))
    with pytest.raises(errors.ArgumentError, match="variance is 0"):
        measure_typical(smooth, 30, 0.0)
    with pytest.raises(errors.ArgumentError, match="places is 0"):
        measure(kinked, 30, places=0)


@pytest.mark.slow
@pytest.mark.parametrize("settings", AWAY_FROM_ZERO.values(), ids=AWAY_FROM_ZERO)
def test_drawn_networks_are_critical_away_from_zero_at_typical_states(settings):
    """Width 1000, eight draws, three states each: the mean abscissa is within 0.05 of 0, and six of them are."""
    found = critical_sigma_w(**settings)
    draws = [measure_typical(found.stack, WIDTH, found.state_variance, seed, 3).abscissa() for seed in range(8)]
    assert abs(np.mean(draws)) < 0.05
    assert np.sum(np.abs(draws) < 0.05) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("settings", AWAY_FROM_ZERO.values(), ids=AWAY_FROM_ZERO)
def test_drawn_networks_are_critical_away_from_zero(settings):
    """Width 1000, four draws, after 75 time constants: mean abscissa up to 0.1 below 0, radius above 1."""
    found = critical_sigma_w(**settings)
    assert found.radius == pytest.approx(1, abs=1e-9)
    draws = [measure(found.stack, WIDTH, seed, max_steps=150) for seed in range(4)]
    assert -0.1 < np.mean([one.abscissa() for one in draws]) < 0.02
    assert 1 < np.mean([one.radius for one in draws]) < 1.1
    assert np.mean([one.state_variance for one in draws]) == pytest.approx(found.state_variance, rel=0.1)


def test_paper_glorot_form_fails_away_from_aspect_one():
    """The paper's (1 + alpha)^(1/L) 2^(1 - 3/2L), drawn at alpha = 3 and width 600, has radius sqrt 3."""
    aspect, depth = 3.0, 3
    printed = RandomStack(depth, (1 + aspect) ** (1 / depth) * 2 ** (1 - 1.5 / depth), "relu", "glorot", aspect=aspect)
    assert measure(printed, 600).radius == pytest.approx(3**0.5, rel=0.05)


def test_gain_and_radius_at_width_1000():
    """A tanh field of depth 2 with biases: |J|_F / sqrt N equals rho within 3%.

    At states of the theory's variance that are independent of the weights this holds for every network. At fixed points,
    which are not quite typical, it holds on average. The largest |eigenvalue| fluctuates: it is rho within 6% on average.
    """
    stack = RandomStack(2, 1.1, "tanh", sigma_b=0.3)
    theory, resting, radii = fixed_point(stack), [], []
    for seed in range(6):
        network, found = draw(stack, WIDTH, seed), measure(stack, WIDTH, seed)
        typical = np.sqrt(theory.variance) * np.random.default_rng(seed + 1).normal(size=WIDTH)
        at_typical, at_rest = (np.linalg.norm(network.jacobian(h)) / np.sqrt(WIDTH) for h in (typical, found.state))
        assert at_typical == pytest.approx(theory.radius, rel=0.03)
        resting.append(at_rest)
        radii.append(found.radius)
    assert np.mean(resting) == pytest.approx(theory.radius, rel=0.03)
    assert np.mean(radii) == pytest.approx(theory.radius, rel=0.06)


def test_a_slope_that_vanishes_at_rest_is_never_critical():
    for power in (2, 3):
        with pytest.raises(errors.ArgumentError, match="makes such a field critical"):
            critical_sigma_w(2, lambda x, power=power: x**power)


def test_points_of_a_curve_where_the_state_runs_away_are_marked():
    curve = critical_curve((2,), (0.0, 0.3), activation="silu")
    assert curve.runaway.tolist() == [[False, True]]
    assert not critical_curve((2,), (0.0, 0.3)).runaway.any()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: critical_sigma_w(2, aspect="ab"), "aspect is 'ab'"),
        (lambda: critical_sigma_w(2, aspect=["a", "b", "a"]), "aspect is 'a'"),
        (lambda: critical_curve(()), "depths is empty"),
        (lambda: critical_curve((2,), foo=1), "a setting of the curve is 'foo'"),
        (lambda: critical_curve((2,), sigma_w=1.0), "a setting of the curve is 'sigma_w'"),
    ],
)
def test_wrong_arguments_are_sentences(call, sentence):
    with pytest.raises(errors.ArgumentError, match=sentence):
        call()
    assert critical_sigma_w(2.0).sigma_w == critical_sigma_w(2).sigma_w  # type: ignore[arg-type]


def test_a_network_whose_state_grows_without_bound_says_so():
    assert measure(RandomStack(1, 1.5, "tanh", sigma_b=0.1), 50).status == "runs away"


@pytest.mark.slow
def test_curves_take_at_most_ten_seconds():
    """Measured in process time, which still depends on other processes on the core, so it is not part of every run."""
    began = time.process_time()
    check_curve(critical_curve(depths=range(2, 7)))
    assert time.process_time() - began < 10


def test_curves_to_one_in_a_million():
    check_curve(critical_curve(depths=(2, 4)))


def check_curve(curve):
    rows = len(curve.depths)
    assert curve.sigma_w.shape == (rows, 21)
    np.testing.assert_allclose(curve.sigma_w[:, 0], 1.0, atol=1e-12)  # phi'(0) = 1 and no bias
    assert np.all(np.diff(curve.sigma_w, axis=1) > 0)  # biases stabilise
    assert np.all(np.diff(curve.sigma_w[:, 1:], axis=0) > 0)  # and the more so the deeper
    rng = np.random.default_rng(0)
    for row, column in zip(rng.integers(0, rows, 6), rng.integers(1, 21, 6)):
        depth, bias, sigma_w = curve.depths[row], curve.sigma_b[column], curve.sigma_w[row, column]
        for shift, side in ((-1e-6, -1), (1e-6, 1)):
            radius = fixed_point(RandomStack(depth, sigma_w * (1 + shift), "tanh", sigma_b=bias)).radius
            assert np.sign(radius - 1) == side


def test_runaway_before_instability():
    """With biases silu's fixed point vanishes while rho < 1: a fold of C_F(C) = C."""
    found = critical_sigma_w(3, "silu", sigma_b=0.3)
    assert found.status == "runaway"
    assert found.radius < 0.99
    with pytest.raises(errors.ArgumentError, match="no fixed point"):
        fixed_point(RandomStack(3, found.sigma_w * 1.0001, "silu", sigma_b=0.3))
    assert fixed_point(RandomStack(3, found.sigma_w * 0.9999, "silu", sigma_b=0.3)).radius < 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: critical_sigma_w(0), "depth is 0"),
        (lambda: critical_sigma_w(2, "step"), "no sigma_w up to 1000"),
        (lambda: critical_sigma_w(2, "tanh", sigma_b=0.1, method="closed"), "method is 'closed'"),
        (lambda: critical_sigma_w(2, method="fast"), "method is 'fast'"),
        (lambda: critical_curve((2,), (0.2, 0.1)), "ascending"),
        (lambda: critical_curve((2,), ()), "ascending"),
    ],
)
def test_bad_arguments(make, says):
    with pytest.raises(errors.ArgumentError, match=says):
        make()

"""What small artefacts of the appendix measure and how they decide, on hand-made networks."""

import numpy as np
import pytest

from gnode.reproduce.artefact import Number
from gnode.reproduce.artefacts import adaptive_solver, filling, points_n100, three_components
from gnode.reproduce.evidence import Evidence


def decided(artefact, numbers=(), details=None):
    return [claim.verdict for claim in artefact.judge(Evidence.fresh(numbers, details))]


NEAR = {"RNN": 3.0, "nODE": -2.0, "mGRU": 0.1, "GRU": -0.2, "gnODE": 0.3}
"""Median abscissas by which the gated networks are nearer to zero."""


def test_unstable_points_in_the_middle_of_a_cube_lie_between_its_corners():
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    points = np.concatenate([corners, [[0, 0, 0], [1, 0, 0]]])
    found = points_n100.unstable_among_stable(points, np.array([-1.0] * 8 + [2.0, 3.0]))
    assert (found["stable"], found["unstable"], found["between"]) == (8, 2, 1.0)
    assert found["nearest"] == pytest.approx((np.sqrt(3) + np.sqrt(2)) / 2)  # centre and middle of a face
    assert found["apart"] == pytest.approx(np.sqrt(8))  # 12 edges, 12 diagonals of faces, 4 of the cube
    assert (
        decided(points_n100, details={"medians": {"box": NEAR, "near": NEAR}, "unstable among stable": found})[1]
        == "holds"
    )


def test_an_unstable_point_outside_is_not_between():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    found = points_n100.unstable_among_stable(points, np.array([-1.0, -1.0, 1.0]))
    assert (found["between"], found["nearest"], found["apart"]) == (0.0, 4.0, 1.0)
    assert points_n100.unstable_among_stable(points, np.array([-1.0, -1.0, -1.0])) == {"stable": 3, "unstable": 0}


def test_medians_near_the_trajectories_decide_and_not_those_in_the_box():
    box = dict.fromkeys(NEAR, 1.0)
    first = lambda near: decided(points_n100, details={"medians": {"box": box, "near": near}})[0]  # noqa: E731
    assert first(NEAR) == "holds"
    assert first(NEAR | {"GRU": 2.5}) == "does not hold"
    assert first(NEAR | {"nODE": None}) == "not decided"


def networks(*pairs):
    return [{"mse": mse, "stable points": points, "outputs": points} for mse, points in pairs]


def test_tsit5_makes_no_difference_if_the_same_networks_solve_the_task_with_eight_points():
    good, bad = networks((1e-3, 8), (2e-3, 8), (0.5, 1)), networks((0.1, 3), (0.2, 8))
    both = {"rnn": {"Euler": good, "Tsit5": good}, "node": {"Euler": bad, "Tsit5": bad}}
    assert decided(adaptive_solver, details={"networks": both}) == ["holds", "holds"]
    differ = both | {"node": {"Euler": bad, "Tsit5": good}}
    assert decided(adaptive_solver, details={"networks": differ}) == ["does not hold", "holds"]
    fewer = both | {"rnn": {"Euler": good, "Tsit5": networks((1e-3, 7), (1e-3, 6))}}
    assert decided(adaptive_solver, details={"networks": fewer}) == ["holds", "does not hold"]
    assert decided(adaptive_solver, details={"networks": {"rnn": {"Euler": good}}})[0] == "not decided"


def test_the_adaptive_sweeps_differ_from_those_by_euler_in_the_method_alone():
    *euler, simple, deep = adaptive_solver.plans("paper")
    (first,) = [plan for plan in euler if plan.settings["model"] == simple.settings["model"]]
    assert simple.settings == {**first.settings, "method": "tsit5"}
    assert deep.settings["seed"] == first.settings["seed"]


def test_three_components_of_a_network_that_solves_the_task():
    one = lambda mse, components: {"validation MSE": mse, "components": components}  # noqa: E731
    assert decided(three_components, details={"networks": [one(0.01, 9), one(0.015, 3)]}) == ["holds"]
    assert decided(three_components, details={"networks": [one(0.01, 9), one(0.03, 2)]}) == ["does not hold"]
    assert decided(three_components, details={"networks": [one(0.03, 2)]}) == ["not decided"]


def test_filling_helps_if_it_does_for_most_networks():
    def numbers(**means):
        return [
            Number(filling._number(data, kind), mean, None, 0.01, 3)
            for kind, own in means.items()
            for data, mean in own
        ]

    def of(spline, held, raw):
        return [("walker2d-spline", spline), ("walker2d-hold", held), ("walker2d-raw", raw)]

    found = numbers(gru=of(0.7, 0.9, 0.5), gnode=of(0.6, 0.8, 0.4), node=of(0.5, 0.5, 0.6))
    assert decided(filling, found) == ["holds", "does not hold"]
    assert decided(filling) == ["not decided", "not decided"]

"""The practical measure: the choice of settings, curves, the sweep's folder, and the longest trajectory."""

import numpy as np
import pytest

from gnode import Sweep, build, expressivity
from gnode.errors import ArgumentError, StoreError
from gnode.expressivity import Expressivity, LongestFit, longest_fit, longest_fit_of, measure
from gnode.sweeps import sweep_or_resume

SMALL = {"state": [2, 4], "hidden": [6], "tau": [1.0, 10.0], "seeds": 2, "bins": 6, "epochs": 8, "channels": 3}
SMALL |= {"lr": [1e-3, 1e-2], "weight_decay": [1e-3]}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expressivity") / "grid"
    return measure(["gru", "gnode"], folder, **SMALL), folder


def test_each_point_is_the_setting_with_the_lowest_mean_over_seeds(measured):
    found, folder = measured
    assert len(found.points) == 2 * 2 * 2
    rows = Sweep(folder).rows()
    for point in found.points:
        own = [r for r in rows if (r["model"], r["state"], r["tau"]) == (point.model, point.state, point.tau)]
        by_rate = {rate: np.mean([r["best_loss"] for r in own if r["lr"] == rate]) for rate in (1e-3, 1e-2)}
        assert point.mean == pytest.approx(min(by_rate.values()))
        assert by_rate[point.lr] == min(by_rate.values())
        assert len(point.errors) == 2
        assert point.std == pytest.approx(np.std(point.errors))


def test_curves_and_selections(measured):
    found, _ = measured
    curve = found.curve("state", model="gnode", tau=1.0)
    assert curve.x.tolist() == [2, 4]
    assert curve.mean.shape == curve.std.shape == (2,)
    assert found.values("tau") == [1.0, 10.0]
    assert {p.model for p in found.select(hidden=6).points} == {
        "gru",
        "gnode",
    }  # a GRU has no hidden layers to differ in
    assert not found.select(hidden=7, model="gnode").points
    with pytest.raises(ArgumentError, match="fix more of"):
        found.curve("state", model="gnode")
    with pytest.raises(ArgumentError, match="axis is 'width'"):
        found.select(width=3)


def test_the_same_call_resumes_the_folder_and_another_is_refused(measured):
    found, folder = measured
    assert measure(["gru", "gnode"], folder, **SMALL) == found
    with pytest.raises(StoreError, match="other settings"):
        measure(["gru", "gnode"], folder, **SMALL | {"epochs": 9})


def test_more_tau_is_a_harder_task(measured):
    """A network that hardly moves cannot follow noise: the paper's own argument, at any scale."""
    found, _ = measured
    for model in ("gru", "gnode"):
        slow, fast = (found.select(model=model, tau=tau, state=4).points[0].mean for tau in (10.0, 1.0))
        assert slow > fast


def test_a_sweep_of_another_task_is_refused(tmp_path):
    settings = {"trials": 8, "bins": 6, "epochs": 1, "widths": (4,), "state": 2}
    sweep = sweep_or_resume("flipflop-square", tmp_path / "grid", prepare=True, **settings)
    with pytest.raises(ArgumentError, match="the sweep's task is 'flipflop-square', but must be 'ou'"):
        Expressivity.of(sweep)


def test_the_longest_fit_is_counted_from_the_beginning():
    errors = np.array([[0.01, 0.01], [0.2, 0.02], [0.01, 0.03], [0.5, 0.6]])
    fit = LongestFit(0.05, (5, 10, 20, 40), errors)
    assert fit.by_seed.tolist() == [5, 20]  # the first seed failed at 10, whatever came after
    assert fit.mean == 12.5
    assert fit.std == 7.5
    assert not fit.is_bound
    assert LongestFit(1.0, (5,), np.zeros((1, 2))).is_bound
    assert "at least" in LongestFit(1.0, (5,), np.zeros((1, 2))).summary()
    assert LongestFit(0.001, (5, 10), errors[:2]).mean == 0


def test_the_longest_fit_of_a_model_and_of_a_network_of_ones_own(tmp_path):
    """Noise of two channels for two bins is learned by heart; an impossible error is not."""
    easy = {"lengths": [1, 2], "lr": [3e-2], "weight_decay": [1e-3], "seeds": 1, "epochs": 150, "channels": 2}
    fit = longest_fit("gnode", tmp_path / "longest", error=0.05, state=6, widths=(16,), **easy)
    assert fit.mean == 2
    assert fit.is_bound

    def make(key):
        return build("gnode", 2, 2, state=6, widths=(16,), initial="affine", key=key)

    own = longest_fit_of(make, error=0.05, **easy)
    assert own.mean == 2
    strict = longest_fit_of(make, error=1e-12, **easy | {"epochs": 2})
    assert strict.mean == 0
    assert strict.lengths == (1,)  # longer ones were not tried


def test_bad_input(tmp_path):
    with pytest.raises(ArgumentError, match="rising order"):
        longest_fit("gru", tmp_path / "x", lengths=[5, 5])
    with pytest.raises(ArgumentError, match="error is 0"):
        longest_fit("gru", tmp_path / "x", error=0)
    with pytest.raises(ArgumentError, match="Did you mean 'gnode'"):
        measure("gnod", tmp_path / "x")
    assert expressivity.LEARNING_RATES == (1e-4, 1e-3, 1e-2)
    assert not list(tmp_path.iterdir())

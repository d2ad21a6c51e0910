"""The comparison with the relatives: sizes within the budget, settings, and verdicts on gates."""

import pytest

from gnode.reproduce import relatives
from gnode.reproduce.artefacts import relatives as artefact
from gnode.reproduce.relatives import BUDGET, DATA, KINDS, PAIRS, Measured, parameters, size_of
from gnode.reproduce.verdicts import FAILS, HOLDS, OPEN, TIE


@pytest.mark.parametrize(
    ("kind", "data"),
    [("gnode", "walker2d-raw"), ("gru", "letters-30"), ("gated-lru", "speech"), ("ncde", "variable-n6")],
)
def test_sizes_are_the_largest_within_the_budget(kind, data):
    size = size_of(kind, data)
    assert parameters(KINDS[kind], DATA[data], size) <= BUDGET < parameters(KINDS[kind], DATA[data], size + 1)


def test_every_network_has_a_size_wherever_one_is_chosen():
    for data, of in DATA.items():
        for kind, own in KINDS.items():
            assert (size_of(kind, data) > 0) == (of.state is None or own.size != "state"), (kind, data)


def test_masks_and_paths_go_to_those_who_take_them():
    assert relatives.settings_of("gru-ode-bayes", "walker2d-hold")["masks"]
    assert "masks" not in relatives.settings_of("gru-ode-bayes", "walker2d-raw")
    assert "masks" not in relatives.settings_of("gru", "walker2d-hold")
    assert relatives.settings_of("ncde", "letters-30")["interpolation"] == "natural"
    assert relatives.settings_of("gated-ncde", "walker2d-hold")["interpolation"] == "hold"


BINS = {"walker2d-spline": 84, "walker2d-hold": 84, "walker2d-raw": 64, "letters": 182}


def test_growing_spans_end_at_the_trials_of_the_data():
    """Raw samples are fewer than the bins that they lie in, which once stopped the comparison on them."""
    for data in DATA:
        spans = artefact.plan_of(data, "gnode", "paper").settings.get("spans")
        expected = next((bins for name, bins in BINS.items() if data.startswith(name)), None)
        assert (spans[-1][0] if spans else None) == expected, data


def measured(*scores):
    return Measured(1, list(scores), {}, None, None, 1.0)._asdict()


def test_a_gate_helps_where_it_is_better_by_two_standard_errors_on_more_data_than_it_is_worse_on():
    """Lower errors and higher accuracies are better; what is within two standard errors decides nothing."""
    plain, gated = PAIRS["neural ODEs"]
    better = {plain: measured(1.0, 1.1, 0.9), gated: measured(0.5, 0.55, 0.45)}
    worse = {plain: measured(0.5, 0.55, 0.45), gated: measured(1.0, 1.1, 0.9)}
    same = {plain: measured(1.0, 2.0, 3.0), gated: measured(1.1, 2.1, 2.9)}

    def verdict(**found):
        return artefact._gating_helps(
            "neural ODEs", plain, gated, {k.replace("_", "-"): v for k, v in found.items()}
        ).verdict

    assert verdict(walker2d_raw=better) == HOLDS
    assert verdict(letters_30=worse) == HOLDS, "more is better there"
    assert verdict(walker2d_raw=worse) == FAILS
    assert verdict(walker2d_raw=better, walker2d_hold=worse) == FAILS, "half of them is not more than half"
    assert verdict(walker2d_raw=same) == TIE
    assert verdict() == OPEN

"""The comparison with the relatives: sizes within the budget, settings, and verdicts on gates."""

import pytest

from gnode.models import build
from gnode.reproduce import relatives
from gnode.reproduce.artefacts import relatives as artefact
from gnode.reproduce.relatives import BUDGET, COLUMNS, DATA, KINDS, PAIRS, Measured, parameters, size_of
from gnode.reproduce.verdicts import FAILS, HOLDS, OPEN, TIE
from gnode.types import count_parameters


@pytest.mark.parametrize("kind", KINDS)
def test_no_network_has_more_parameters_than_the_budget_and_none_could_be_larger(kind):
    for column in COLUMNS:
        data = next(name for name in DATA if name.startswith(column))
        of = DATA[data]._replace(state=None) if KINDS[kind].size == "state" else DATA[data]
        size = size_of(kind, data)
        assert parameters(KINDS[kind], of, size) <= BUDGET < parameters(KINDS[kind], of, size + 1), column
    for data, of in DATA.items():
        assert parameters(KINDS[kind], of, size_of(kind, data)) <= BUDGET, data


@pytest.mark.parametrize(("kind", "data"), [("gru", "letters-30"), ("gated-lru", "noise")])
def test_sizes_in_the_table_are_those_that_are_found(kind, data):
    assert relatives.sized(KINDS[kind], DATA[data]) == size_of(kind, data)


def test_counts_without_drawing_are_those_of_a_network():
    own = relatives.options_of(KINDS["gated-s4d"], DATA["variable-n3"], 5)
    net = build("s4d", 3, 3, initial="affine", key=0, **own)
    assert parameters(KINDS["gated-s4d"], DATA["variable-n3"], 5) == count_parameters(net)


def test_a_given_n_is_kept_where_the_budget_allows_it():
    assert relatives.settings_of("rnn", "variable-n100")["state"] == 100
    assert relatives.settings_of("lstm", "variable-n100")["state"] == 96
    assert all(relatives.settings_of(kind, "variable-n6")["state"] == 6 for kind in KINDS)


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

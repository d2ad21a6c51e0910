"""The registry: artefacts of the paper and beyond it that say what they are, and plans that agree with each other."""

import pytest

from gnode.errors import ArgumentError
from gnode.reproduce import registry
from gnode.reproduce.artefact import SCALES
from gnode.reproduce.artefacts import table1, table_characters, table_fixed_points
from gnode.reproduce.result_files import plan_settings
from gnode.reproduce.scale_differences import smaller_than_paper
from gnode.sweeps import Grid

ARTEFACTS = registry.all_artefacts()


def test_there_are_15_figures_6_tables_and_9_claims():
    assert [sum(artefact.kind == kind for artefact in ARTEFACTS) for kind in ("figure", "table", "claim")] == [15, 6, 9]
    assert len({artefact.name for artefact in ARTEFACTS}) == 30 + sum(own.kind == "extension" for own in ARTEFACTS)
    assert tuple(artefact.name for artefact in ARTEFACTS) == registry.NAMES


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda artefact: artefact.name)
def test_each_says_what_it_shows_its_command_its_cost_and_what_was_published(artefact):
    assert "Shows:" in artefact.about
    assert f"Command: gnode reproduce run {artefact.name} --scale paper" in artefact.about
    assert "Cost" in artefact.about
    assert "Published" in artefact.about
    assert {"smoke", "paper"} <= set(artefact.scales) <= set(SCALES)
    assert all(artefact.scales.values())


@pytest.mark.parametrize(
    ("module", "published"),
    [
        (table1, [value for row in (*table1.WALKER.values(), *table1.SPEECH.values()) for value, _ in row]),
        (table_characters, [value for row in table_characters.PUBLISHED.values() for value, _ in row]),
        (
            table_fixed_points,
            [v for rows in table_fixed_points.PUBLISHED.values() for row in rows.values() for v in row],
        ),
    ],
)
def test_the_published_numbers_in_words_and_in_code_agree(module, published):
    assert all(f"{value:.3f}" in module.__doc__ for value in published)


@pytest.mark.parametrize("scale", SCALES)
def test_plans_are_grids_and_a_name_means_one_sweep(scale):
    """Artefacts share a sweep by its name, so two of them must not mean different ones by it."""
    seen, grids = {}, {}
    for artefact in ARTEFACTS:
        for plan in artefact.plans(scale) if scale in artefact.scales else []:
            written = repr((plan.task, plan.search, plan.search_with, plan.settings))
            if written not in grids:  # the same words make the same members
                grid = Grid.over(
                    plan.task, plan.search, plan.search_with, **plan.settings
                )  # a wrong setting is an error
                grids[written] = grid.members
            members = grids[written]
            assert members
            if scale == "smoke":
                assert len(members) <= 60
            assert seen.setdefault(plan.name, members) == members, plan.name


def test_the_paper_scale_is_the_papers():
    plans = {plan.name: plan for artefact in ARTEFACTS for plan in artefact.plans("paper")}
    flip_flop = Grid.over(plans["variable-n6"].task, **plans["variable-n6"].settings).members
    assert len(flip_flop) == 5 * 27 * 3
    assert {own["epochs"] for own in flip_flop} == {600}
    assert all(own.get("widths", (100, 100, 100)) == (100, 100, 100) for own in flip_flop)
    square = Grid.over(plans["two-bit-square"].task, **plans["two-bit-square"].settings).members
    assert all(own.get("widths", (316, 316)) == (316, 316) and own["epochs"] == 200 for own in square)
    noise = Grid.over("ou", **plans["ou-h316-l1"].settings).members
    assert {own["epochs"] for own in noise} == {2000}
    assert {own["tau"] for own in noise} >= {1.0, 10.0, 30.0, 100.0}
    assert len({(own["lr"], own["weight_decay"]) for own in noise}) == 9
    assert (
        plans["ou-h316-l1"].search
        == plans["walker2d-n32"].search
        == plans["speech-n32"].search
        == ("lr", "weight_decay")
    )
    assert {own["seed"] for own in noise} == {0, 1, 2, 3, 4}  # one chooses, five are shown
    assert plans["characters-30"].search == ()
    assert plans["variable-n6"].search == ()
    walker, speech = (
        Grid.over(plan.task, plan.search, plan.search_with, **plan.settings)
        for plan in (plans["walker2d-n32"], plans["speech-n32"])
    )
    assert {own["epochs"] for own in walker.counted} == {700}
    assert {own["epochs"] for own in walker.tries} == {140}  # to choose among the nine settings
    assert ({own["epochs"] for own in speech.counted}, {own["epochs"] for own in speech.tries}) == ({300}, {40})
    walker = walker.members
    assert all(own["bias_std"] ** 2 == pytest.approx(1e-6) for own in walker)


def test_what_the_real_data_tables_do_not_search():
    """N, H and the initialisation are fixed in each sweep; letters have three seeds for every setting."""
    plans = {plan.name: plan for artefact in ARTEFACTS for plan in artefact.plans("paper")}
    for name, state, widths in (
        ("characters-50", 32, (316, 316)),
        ("walker2d-n100", 100, (316, 316)),
        ("speech-n32", 32, (1000,)),
    ):
        for ending, init, final in (("", "glorot_normal", None), ("-critical", "critical", "tanh")):
            own = Grid.over(plans[name + ending].task, **plans[name + ending].settings).members[-1]
            assert (own["state"], own["widths"], own["init"], own.get("final")) == (state, widths, init, final)
    assert plans["characters-50"].settings["seed"] == [0, 1, 2]
    assert plans["speech-tau"].settings["init"] == "glorot_normal"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ArgumentError, match="Did you mean 'fig1'"):
        registry.find_artefact("figg1")


def test_in_what_a_smaller_scale_is_smaller():
    """The settings, with the paper's scale in brackets; sweeps that have other names there are found by their place."""

    def less(name, scale="reduced"):
        artefact = registry.find_artefact(name)
        return smaller_than_paper(artefact, scale, {plan.name: plan_settings(plan) for plan in artefact.plans(scale)})

    assert less("table-tau") == "decay 0.01 (0.001, 0.01, 0.1); seeds 3 (5); epochs 40 (300)"
    assert less("table-characters").endswith("; decay 0.01 (0.001, 0.01, 0.1); epochs 60 (1300)")
    assert "; hidden layers 316 (1000); " in less("ou-depth")
    assert less("ou-width").endswith("; epochs 1000 (2000); without ou-h1000-l1, ou-h1000-l2")
    assert less("table1", "paper") == less("capacity", "smoke") == ""

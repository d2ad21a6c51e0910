"""Critical initialisation as a factorial: its variants differ as they say, and how changes are judged."""

import jax
import numpy as np
import pytest

from gnode import tasks
from gnode.reproduce import runner
from gnode.reproduce.artefact import Number, Trained
from gnode.reproduce.artefacts import critical_factorial as artefact
from gnode.reproduce.artefacts.critical_factorial import ALL, CHANGES, DATA, DRIVEN, GLOROT, VARIANTS
from gnode.reproduce.evidence import Evidence
from gnode.reproduce.verdicts import FAILS, HOLDS, TIE
from gnode.sweeps import Grid, sweep
from gnode.train.spec import RunSpec

PARTS = {
    "recurrent": lambda net: net.cell.F.W,
    "input": lambda net: net.cell.F.U,
    "gate": lambda net: (net.cell.G.W, net.cell.G.U),
    "readout": lambda net: (net.readout.C, net.initial.A),
    "tanh": lambda net: np.array(net.cell.F.final == "tanh", float),
}


def drawn(variant):
    """A network of the artefact, on a task that needs no data."""
    plan = artefact._plan("letters", variant, "paper")
    own = {
        name: value for name, value in plan.settings.items() if name not in ("seed", "lr", "weight_decay", "dropped")
    }
    return RunSpec.of("flipflop-square", own | {"widths": (30, 40), "trials": 2}).realise().net


def scales(net, part):
    return [float(np.sqrt(np.mean(np.square(array)))) for array in jax.tree.leaves(PARTS[part](net))]


def test_each_change_alone_is_that_of_all_five_and_changes_nothing_else():
    """W_h to 1%: the biases of 0.001 move sigma_w* a little, by another amount with a final tanh."""
    base, everything = drawn(GLOROT), drawn(ALL)
    for variant in CHANGES:
        net = drawn(variant)
        for part in PARTS:
            like = everything if part == variant else base
            assert scales(net, part) == pytest.approx(scales(like, part), rel=0.01), (variant, part)
            assert part != variant or scales(net, part) != pytest.approx(scales(base, part), rel=0.05)
    driven = drawn(DRIVEN)
    assert all(more > 1.2 * less for more, less in zip(scales(driven, "recurrent"), scales(everything, "recurrent")))
    assert all(scales(driven, part) == scales(everything, part) for part in PARTS if part != "recurrent")


@pytest.mark.parametrize("data", DATA)
def test_the_drive_is_that_of_the_data(data):
    of = DATA[data]
    if any(name.startswith(of.task) for name in runner.missing_data(artefact.ARTEFACT)):
        pytest.skip(f"{of.task} is not on this machine")
    trials = tasks.make(of.task, **of.options).train
    before_padding = np.arange(trials.bins) < trials.lengths[:, None]
    assert np.mean(np.square(trials.inputs[before_padding], dtype=np.float64)) == pytest.approx(of.drive, rel=1e-3)


def test_plans_are_of_equal_size_and_full_length():
    """Variants of one data set differ in their initialisation alone."""
    assert len(artefact.plans("paper")) == len(artefact.plans("reduced")) == 27
    lengths = {"walker2d": (700, 140), "characters": (1300, 60), "speech": (300, 40)}
    for plan in artefact.plans("paper"):
        grid = Grid.over(plan.task, plan.search, plan.search_with, **plan.settings)
        assert [{own["epochs"] for own in some} for some in (grid.counted, grid.tries)] == [
            {n} for n in lengths[plan.task]
        ]
        assert len(grid.tries) == 9
        assert {own["seed"] for own in grid.counted} == {0, 1, 2, 3, 4}
        assert {own["state"] for own in grid.members} == {100 if plan.task == "speech" else 32}
    varied = {name for own in VARIANTS.values() for name in own} | {"drive"}
    for data in DATA:
        same = [
            {name: value for name, value in artefact._plan(data, one, "paper").settings.items() if name not in varied}
            for one in VARIANTS
        ]
        assert all(own == same[0] for own in same)


def judged(**scores):
    """The verdicts, from scores by variant and data: three seeds around each."""
    numbers = [
        Number(artefact.number_name(data, variant), score, None, 0.01, 3)
        for variant, by_data in scores.items()
        for data, score in by_data.items()
    ]
    return {claim.claim.split(" (")[0]: claim.verdict for claim in artefact.judge(Evidence.fresh(numbers))}


def test_a_change_improves_if_it_is_better_on_more_data_than_it_is_worse_on():
    base = {"walker2d": 0.5, "letters": 0.9, "speech": 0.8}
    found = judged(
        glorot=base,
        tanh={"walker2d": 0.4, "letters": 0.95, "speech": 0.7},  # a lower error and a higher accuracy
        input={"walker2d": 0.6, "letters": 0.95},
        gate=base,
        all={"walker2d": 0.4},
        driven={"walker2d": 0.3},
    )
    assert found == {
        "The final tanh alone improves on Glorot": HOLDS,
        "The larger scale of U alone improves on Glorot": FAILS,
        "The larger scale of the gate alone improves on Glorot": TIE,
        "All five changes together improve on Glorot": HOLDS,
        "Criticality under drive is better than without": HOLDS,
    }


def test_numbers_and_kept_members_of_a_part(tmp_path):
    """Two variants of a task that needs no data stand in for those of Walker2D."""
    small = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1, "validation": 2, "seed": [0, 1]}
    small |= {"model": "gnode", "lr": 1e-3, "weight_decay": 1e-3}
    made = {
        artefact.name_of("walker2d", variant): sweep(
            "flipflop-square", tmp_path / variant, **small, **VARIANTS[variant]
        )
        for variant in (GLOROT, ALL)
    }
    for one in made.values():
        plain = one.result
        one.result = lambda member, plain=plain: plain(member) | {"test": {"loss": plain(member)["best_loss"]}}
    trained = Trained("smoke", made)
    outcome = artefact.analyse(trained)
    assert [number.name for number in outcome.numbers] == [
        "Walker2D: test MSE, Glorot normal",
        "Walker2D: test MSE, all five",
    ]
    assert [number.seeds for number in outcome.numbers] == [2, 2]
    assert len(outcome.claims) == 1
    assert set(outcome.details["Walker2D"]["all five"]["validation loss"]) == {
        f"rate 0.001, decay 0.001, 1 epochs, seed {seed}" for seed in (0, 1)
    }
    for name, kept in artefact.keeps(trained).items():
        assert kept == [int(np.argmin([made[name].result(member)["best_loss"] for member in (0, 1)]))]

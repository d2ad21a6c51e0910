"""A search: one seed tries all settings, the others repeat the best of each choice, and only those count."""

import numpy as np
import pytest

from gnode import Sweep, resume_sweep, sweep
from gnode.errors import ArgumentError, StoreError
from gnode.expressivity import measure
from gnode.sweeps import Grid, Part, _member, sweep_cost, sweep_or_resume
from gnode.sweeps._cost import check_grid
from gnode.sweeps._search import Search
from gnode.sweeps.grid import TaskCache
from gnode.train import Settings

AXES = {"model": ["rnn", "mgru"], "lr": [1e-4, 1e-2], "weight_decay": [1e-3, 1e-1], "seed": [3, 5, 7]}
SMALL = {"trials": 20, "bins": 10, "epochs": 3, "state": 2}
OVER = ("lr", "weight_decay")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search") / "sweep"
    return sweep("flipflop-square", folder, search=OVER, **AXES, **SMALL)


def losses(found, **where):
    """First-seed losses by (lr, weight decay)."""
    return {
        (own["lr"], own["weight_decay"]): found.result(index)["best_loss"]
        for index, own in enumerate(found.members)
        if own["seed"] == 3 and all(own[name] == value for name, value in where.items())
    }


def test_the_first_seed_tries_everything_and_the_others_the_best_alone(searched):
    done = [searched.members[index] for index in searched.done()]
    assert len(done) == searched.number() == 2 * 4 + 2 * 2  # 4 settings of 2 models, and 2 more seeds of the best
    assert sum(own["seed"] == 3 for own in done) == 8
    for model in AXES["model"]:
        tried = losses(searched, model=model)
        assert len(tried) == 4
        best = min(tried, key=lambda setting: tried[setting])
        repeated = {(own["lr"], own["weight_decay"]) for own in done if own["model"] == model and own["seed"] != 3}
        assert repeated == {best}
    assert searched.todo() == []
    assert searched.status()["members"] == 12


def test_only_the_chosen_settings_count(searched):
    best = searched.best()
    for model in AXES["model"]:
        tried = losses(searched, model=model)
        setting = best[model]["setting"]
        assert (setting["lr"], setting["weight_decay"]) == min(tried, key=lambda one: tried[one])
        assert best[model]["seeds"] == 3
        chosen = [i for i in searched.counting() if searched.members[i]["model"] == model]
        values = [searched.result(index)["best_loss"] for index in chosen]
        assert best[model]["mean"] == pytest.approx(np.mean(values))


def test_the_first_seed_chooses_even_if_the_others_disagree():
    members = [{"seed": s, "lr": lr} for lr in (1, 2) for s in (0, 1)]
    found = {0: 0.5, 1: 9.0, 2: 0.6, 3: 0.0}
    assert Search(members, ("lr",)).winners(found.get) == [0, 1]
    assert Search(members, ("lr",)).winners({2: 0.6}.get) == [2, 3]  # as far as known
    assert Search(members, ("lr",)).winners({}.get) == []


def test_settings_that_diverge_are_not_chosen_and_a_search_that_can_not_be_is_refused():
    members = [{"seed": s, "lr": lr} for lr in (1, 2) for s in (0, 1)]
    assert Search(members, ("lr",)).winners({0: float("inf"), 2: 0.6}.get) == [2, 3]
    assert Search(members, ("lr",)).winners({0: float("inf"), 2: float("inf")}.get) == [0, 1]
    apart = [{"seed": 0, "model": "rnn"}, {"seed": 0, "model": "gnode", "widths": (8,)}]
    with pytest.raises(ArgumentError, match="search over model would try nothing"):
        Search(apart, ("model",))


def test_a_search_that_was_interrupted_ends_the_same(searched, tmp_path):
    """Whatever is missing, in the first part or the second, is trained again and nothing else."""
    folder = tmp_path / "again"
    sweep("flipflop-square", folder, search=OVER, **AXES, **SMALL)
    same = (folder / "results.csv").read_text()
    assert same == (searched.folder / "results.csv").read_text()
    found = Sweep(folder)
    last = found.done()[-1]
    for index in (0, last):
        for file in _member.folder_of(folder, index).iterdir():
            file.unlink()
        _member.folder_of(folder, index).rmdir()
    resume_sweep(folder)
    assert (folder / "results.csv").read_text() == same


def test_as_one_program(searched, tmp_path):
    """The engine of accelerators chooses the same settings."""
    axes = AXES | {"model": ["rnn"]}
    found = sweep("flipflop-square", tmp_path / "one", search=OVER, engine="one_program", **axes, **SMALL)

    def chosen(of):
        return [of.members[index] for index in of.counting() if of.members[index]["model"] == "rnn"]

    assert chosen(found) == chosen(searched)
    assert len(found.done()) == found.number() == 6


def test_what_it_costs_and_bad_input(searched):
    grid = Grid.over("flipflop-square", **AXES, **SMALL)
    searching = Grid.over("flipflop-square", OVER, **AXES, **SMALL)
    assert sweep_cost(searching).members == 12
    assert sweep_cost(grid).members == 24
    assert sweep_cost(searching).compilations == sweep_cost(grid).compilations  # on a CPU, one network at a time
    with pytest.raises(ArgumentError, match="'learning'"):
        Grid.over("flipflop-square", ("learning",), **AXES, **SMALL)
    with pytest.raises(ArgumentError, match="'seed'"):
        Grid.over("flipflop-square", ("seed",), **AXES, **SMALL)
    with pytest.raises(StoreError, match="other settings"):  # the same grid, but not as a search
        sweep_or_resume("flipflop-square", searched.folder, **AXES, **SMALL)


def test_the_measure_by_a_search(tmp_path):
    small = {"state": [3], "lr": [1e-3, 1e-2], "weight_decay": [1e-3], "bins": 8, "epochs": 5, "channels": 2}
    found = measure("gru", tmp_path / "ou", search=True, seeds=2, **small)
    (point,) = found.points
    assert len(point.errors) == 2
    swept = Sweep(tmp_path / "ou")
    assert len(swept.done()) == 3
    tried = {own["lr"]: swept.result(i)["best_loss"] for i, own in enumerate(swept.members) if own["seed"] == 0}
    assert point.lr == min(tried, key=lambda rate: tried[rate])


def test_tries_may_be_shorter_than_what_counts(tmp_path):
    """One epoch each chooses; then every seed, the first too, trains the best setting for all epochs."""
    found = sweep("flipflop-square", tmp_path / "short", search=OVER, search_with={"epochs": 1}, **AXES, **SMALL)
    done = [found.members[index] for index in found.done()]
    assert len(done) == found.number() == 2 * 4 + 2 * 3
    assert sorted(own["epochs"] for own in done) == [1] * 8 + [3] * 6
    for model in AXES["model"]:
        tried = {
            (own["lr"], own["weight_decay"]): found.result(index)["best_loss"]
            for index, own in enumerate(found.members)
            if own["epochs"] == 1 and own["model"] == model
        }
        assert len(tried) == 4
        best = found.best()[model]
        chosen = best["setting"]
        assert (chosen["lr"], chosen["weight_decay"]) == min(tried, key=lambda setting: tried[setting])
        assert (best["seeds"], best["best_member"]["epochs_done"]) == (3, 3)
    assert found.grid.varying() == ["model", "lr", "weight_decay", "seed"]  # of what counts
    assert resume_sweep(found.folder).todo() == []


def test_short_tries_in_parts_and_on_an_accelerator_choose_the_same(tmp_path):
    """Two parts, one model each, by the engine of accelerators."""
    how = {"search": OVER, "search_with": {"epochs": 1}}
    whole = sweep("flipflop-square", tmp_path / "whole", **how, **AXES, **SMALL)
    folder = sweep("flipflop-square", tmp_path / "parts", prepare=True, **how, **AXES, **SMALL).folder
    for number in (2, 1):
        resume_sweep(folder, part=Part(number, 2), engine="one_program")
    divided = Sweep(folder)
    assert divided.todo() == []
    assert divided.done() == whole.done()
    assert divided.counting() == whole.counting()
    assert {divided.members[i]["model"] for i in divided.members_of(Part(1, 2))} == {"rnn"}


def test_what_short_tries_cost_and_bad_input(tmp_path):
    cost = sweep_cost(Grid.over("flipflop-square", OVER, {"epochs": 1}, **AXES, **SMALL))
    updates = -(-SMALL["trials"] // Settings.batch_size)
    assert (cost.members, cost.updates) == (8 + 6, (8 * 1 + 6 * 3) * updates)
    for wrong, says in (
        ({"seed": 1}, "several values of seed"),
        ({"lr": 1.0}, "several values of lr"),
        ({"epochs": 3}, "changes nothing"),
        ({"epoch": 1}, "'epoch'"),
    ):
        with pytest.raises(ArgumentError, match=says):
            sweep("flipflop-square", tmp_path / "bad", search=OVER, search_with=wrong, **AXES, **SMALL)
    with pytest.raises(ArgumentError, match="name what is searched for"):
        sweep("flipflop-square", tmp_path / "bad", search_with={"epochs": 1}, **AXES, **SMALL)
    assert not (tmp_path / "bad").exists()


def test_short_tries_of_models_with_other_settings():
    """What an RNN does not have may still be another in a gnODE's tries; a model that nothing changes for is refused."""
    axes = {"model": ["rnn", "gnode"], "lr": [1e-3, 1e-2], "seed": [0, 1], "epochs": 3, "widths": (8,)}
    search = Grid.over("flipflop-square", ("lr",), {"epochs": 1, "widths": (4,)}, **axes).chooser()
    assert [len(choice) for choice in search.choices] == [6, 6]  # 2 rates x 2 seeds, and 2 tries
    first = search.tries()[0]
    assert len(search.winners(lambda index: float(index - first))) == 4  # both models, both seeds
    with pytest.raises(ArgumentError, match="changes nothing for model rnn"):
        Grid.over("flipflop-square", ("lr",), {"widths": (4,)}, **axes)


def test_a_schedule_for_several_numbers_of_epochs_is_refused():
    with pytest.raises(ArgumentError, match="several values of epochs"):
        Grid.over("flipflop-square", ("lr",), {"schedule": ((5, 2),)}, lr=[1e-3, 1e-2], epochs=[10, 20])


@pytest.mark.parametrize(
    ("given", "tried", "epochs"),
    [
        ({"schedule": ((5, 2), (10, 2))}, {"epochs": 1}, 1),
        ({"epochs": 9}, {"schedule": ((5, 2), (10, 2))}, 4),
        ({"epochs": 9}, {"epochs": 2, "schedule": ((5, 1), (10, 1))}, 2),
    ],
)
def test_epochs_of_tries_stand_for_a_schedule_and_the_other_way_round(given, tried, epochs):
    grid = Grid.over("flipflop-square", ("lr",), tried, lr=[1e-3, 1e-2], bins=10, **given)
    check_grid(grid, TaskCache(grid.task))
    assert {own["epochs"] for own in grid.tries} == {epochs}
    assert {own.get("spans") for own in grid.tries} == {tried.get("schedule")}


def test_the_table_tells_what_counts_and_pictures_show_that_alone(searched):
    rows = searched.rows()
    assert [row["member"] for row in rows if row["counts"]] == sorted(searched.counting())
    assert searched.counting_rows() == [row for row in rows if row["counts"]]
    assert 0 < len(searched.counting_rows()) < len(rows)
    assert "counts" in (searched.folder / "results.csv").read_text().splitlines()[0]


def test_the_sizes_of_both_rounds():
    """On an accelerator each is an array of its own: 4 tries and 2 more seeds of the best, or 4 and all 3 seeds."""
    axes = AXES | {"model": "rnn"} | SMALL
    for tried, expected in (({}, [4, 2]), ({"patience": 1}, [4, 3])):
        grid = Grid.over("flipflop-square", OVER, tried, **axes)
        (group,) = grid.groups
        assert grid.chooser().rounds(group.members) == expected

"""A grid: its members, its compilations, its folder, and that it trains what `fit` would train alone."""

import csv
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import gnode
from gnode import Sweep, resume_sweep, sweep
from gnode.errors import ArgumentError, GnodeError, StoreError
from gnode.sweeps import Grid, sweep_cost
from gnode.sweeps._table import as_markdown, best_settings
from gnode.sweeps.engines import one_program
from gnode.sweeps.grid import read_axes
from gnode.train import RunSpec, program, train_spec

TASK = "flipflop-square"
SMALL = {"trials": 24, "bins": 12, "epochs": 5, "widths": (8,), "state": 2}


def table_of(folder):
    return (folder / "results.csv").read_text()


def alone(settings):
    """The same run as `gnode train` makes it."""
    return train_spec(RunSpec(TASK, settings))


def same_weights(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


@pytest.fixture(scope="module")
def grid_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweeps") / "threads"
    axes = {"model": ["rnn", "gnode"], "lr": [1e-3, 1e-2], "batch_size": [8, 24], "seed": [0, 1]}
    sweep(TASK, folder, engine="threads", **axes, **SMALL)
    return folder


def test_members_are_all_combinations_without_settings_that_a_model_lacks():
    grid = Grid.over(TASK, model=["rnn", "gnode"], widths=[(8,), (9, 9)], lr=[1e-3, 1e-2], epochs=3)
    assert len(grid.members) == 2 + 4  # the RNN has no widths
    assert all("widths" not in member for member in grid.members if member["model"] == "rnn")
    assert sorted(grid.varying()) == ["lr", "model", "widths"]


def test_what_compiles_and_what_does_not():
    """The 27 settings of one model make three groups, one for each batch size."""
    values = {"lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-2, 1e-1], "batch_size": [10, 50, 100]}
    grid = Grid.over("flipflop-variable", model="gnode", **values)
    assert len(grid.members) == 27
    assert [len(group.members) for group in grid.groups] == [9, 9, 9]
    assert sweep_cost(grid).compilations == 3
    more = Grid.over(
        "flipflop-variable",
        model="gnode",
        tau=[0.01, 0.1],
        init=["critical", "glorot_normal"],
        seed=[0, 1],
        clip=[1.0],
    )
    assert len(more.groups) == 1
    assert sweep_cost(Grid.over("flipflop-variable", epochs=4, schedule=((50, 2), (100, 2)))).compilations == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_the_27_settings_cost_three_compilations(engine, tmp_path):
    values = {"lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-2, 1e-1], "batch_size": [6, 12, 24]}
    before = program.traces()
    sweep(TASK, tmp_path / "grid", engine=engine, **values, **SMALL | {"epochs": 2, "state": 3, "widths": (7,)})
    assert program.traces() - before == 3


def test_a_member_is_the_run_that_fit_makes_alone(grid_folder):
    found = Sweep(grid_folder)
    for index in (1, 6, 8, 15):
        run, expected = found.load(index), alone(found.members[index])
        np.testing.assert_array_equal(run.curves["validation"], expected.curves["validation"])
        assert same_weights(run.net, expected.net)
        assert run.best_loss == expected.best_loss


def test_one_program_agrees_to_rounding(grid_folder, tmp_path):
    axes = {"model": ["rnn", "gnode"], "lr": [1e-3, 1e-2], "batch_size": [8, 24], "seed": [0, 1]}
    sweep(TASK, tmp_path / "one", engine="one_program", **axes, **SMALL)
    threads, one = Sweep(grid_folder), Sweep(tmp_path / "one")
    for index in range(len(threads.members)):
        a, b = threads.load(index).curves, one.load(index).curves
        for name in ("train", "validation"):
            np.testing.assert_allclose(a[name], b[name], rtol=2e-5)


def test_the_table_reads_as_csv_and_as_columns(grid_folder):
    with (grid_folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["member"]) for row in rows] == list(range(16))
    table = Sweep(grid_folder).table()
    assert {len(column) for column in table.values()} == {16}
    assert float(rows[3]["best_loss"]) == table["best_loss"][3]


def test_the_best_is_over_the_mean_of_seeds(grid_folder):
    found = Sweep(grid_folder)
    table = found.table()
    for model, entry in found.best("model").items():
        means = {}
        for i in range(16):
            if table["model"][i] == model:
                means.setdefault((table["lr"][i], table["batch_size"][i]), []).append(table["best_loss"][i])
        best = min(means, key=lambda setting: np.mean(means[setting]))
        assert (entry["setting"]["lr"], entry["setting"]["batch_size"]) == best
        assert entry["mean"] == pytest.approx(np.mean(means[best]))
        assert entry["std"] == pytest.approx(np.std(means[best]))
        assert entry["seeds"] == 2
        own = entry["best_member"]
        assert own["best_loss"] == table["best_loss"][own["member"]] == min(means[best])
        assert own["seed"] == table["seed"][own["member"]]
        assert not {"seed", "member", "best_loss", "best_epoch", "status"} & entry["setting"].keys()
        assert entry.keys() == {"setting", "mean", "std", "seeds", "test", "best_member"}
    assert "± " in found.markdown()


def test_open_sweep_is_the_sweep_of_a_folder(grid_folder, tmp_path):
    assert gnode.open_sweep(grid_folder).table() == Sweep(grid_folder).table()
    with pytest.raises(StoreError, match="holds no sweep"):
        gnode.open_sweep(tmp_path)


def test_best_is_over_seeds_for_any_test_score_and_any_axis():
    """An option that is called like the column of a search is an axis too, and every test score is a mean over seeds."""
    rows = [
        {"member": m, "task": "t", "model": "gru", "counts": c, "seed": s, "status": "finished", "best_loss": loss}
        | {"best_epoch": m, "diverged_at": None, "epochs_done": 3, "test_loss": loss, "test_r2": r2}
        for m, (c, s, loss, r2) in enumerate(
            [("9", 0, 4.0, 0.1), ("9", 1, 2.0, 0.3), ("5", 0, 1.0, 0.9), ("5", 1, 9.0, 1)]
        )
    ]
    entry = best_settings(rows, "model")["gru"]
    assert entry["setting"] == {"model": "gru", "counts": "9"}
    assert (entry["mean"], entry["seeds"]) == (3.0, 2)
    assert entry["test"] == pytest.approx({"loss": 3.0, "loss_std": 1.0, "r2": 0.2, "r2_std": 0.1})
    assert entry["best_member"]["member"] == 1
    assert "test r2" in as_markdown({"gru": entry}, "model", ["counts"])


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_members_that_diverge_do_not_touch_the_others(engine, tmp_path):
    # Groups of equal size, so that the first member's arithmetic is the same to the last bit.
    for name, rate in (("mixed", 1e3), ("pure", 2e-2)):
        sweep(TASK, tmp_path / name, engine=engine, lr=[1e-2, rate], model="node", batch_size=8, **SMALL)
    mixed, pure = Sweep(tmp_path / "mixed"), Sweep(tmp_path / "pure")
    good, wild = mixed.load(0), mixed.load(1)
    assert wild.status == "diverged"
    assert wild.diverged_at >= 1
    assert len(wild.curves["train"]) == (wild.diverged_at - 1) // 3 + 1
    np.testing.assert_array_equal(good.curves["validation"], pure.load(0).curves["validation"])
    assert same_weights(good.net, pure.load(0).net)
    assert mixed.status() == {"members": 2, "done": 2, "finished": 1, "stopped": 0, "diverged": 1}


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_patience_is_each_members_own(engine, tmp_path):
    axes = {"lr": [5e-2], "patience": [3, 6], "batch_size": 4}
    found = sweep(TASK, tmp_path / "s", engine=engine, **axes, **SMALL | {"epochs": 300})
    for index, patience in enumerate((3, 6)):
        run = found.load(index)
        assert run.status == "stopped"
        assert len(run.curves["train"]) == run.best_epoch + patience


def test_a_group_too_big_for_memory_is_cut_into_equal_pieces(tmp_path, monkeypatch):
    axes = {"lr": [1e-3, 2e-3, 3e-3, 4e-3, 5e-3], "batch_size": 8}
    own = SMALL | {"widths": (11,)}  # shapes that no other test compiles
    whole = sweep(TASK, tmp_path / "whole", engine="one_program", **axes, **own)
    monkeypatch.setattr(one_program.OneProgram, "members_at_once", lambda self, group, task, members: 2)
    before = program.traces()
    cut = sweep(TASK, tmp_path / "cut", engine="one_program", **axes, **own)
    assert program.traces() - before == 1  # the last piece is filled up to the same shape
    for index in range(5):
        np.testing.assert_allclose(whole.load(index).curves["train"], cut.load(index).curves["train"], rtol=2e-5)


def test_axes_of_numpy_and_ranges():
    grid = Grid.over(TASK, lr=np.logspace(-3, -2, 2), seed=range(2), state=[np.int64(2)], epochs=3)
    assert [(own["lr"], own["seed"], own["state"]) for own in grid.members[:2]] == [(0.001, 0, 2), (0.001, 1, 2)]
    assert all(type(own["seed"]) is int and type(own["lr"]) is float for own in grid.members)


@pytest.mark.slow
def test_over_several_devices_it_is_the_same(grid_folder, tmp_path):
    """Two devices of the host stand in for two accelerators; 16 members in groups of 4, and a group of 3 that is not cut."""
    code = f"""
import jax
from gnode import sweep
assert jax.device_count() == 2
axes = dict(model=["rnn", "gnode"], lr=[1e-3, 1e-2], batch_size=[8, 24], seed=[0, 1])
sweep({TASK!r}, {str(tmp_path / "two")!r}, engine="one_program", **axes, **{SMALL!r})
sweep({TASK!r}, {str(tmp_path / "odd")!r}, engine="one_program", lr=[1e-3, 2e-3, 3e-3], **{SMALL!r})
"""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    one, two = Sweep(grid_folder), Sweep(tmp_path / "two")
    for index in range(16):
        a, b = one.load(index).curves, two.load(index).curves
        np.testing.assert_allclose(a["validation"], b["validation"], rtol=2e-5)
    assert Sweep(tmp_path / "odd").status()["finished"] == 3


def test_two_processes_on_one_folder_are_refused(grid_folder):
    pytest.importorskip("fcntl")
    from gnode.sweeps._lock import sweep_locked

    with sweep_locked(grid_folder), pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
        resume_sweep(grid_folder)


def test_what_a_kill_left_half_written_is_removed(grid_folder):
    for name in (".results.csv.1a2b.tmp", "unfinished/.0000.npz.1a2b.tmp", "members/.0003.1a2b.tmp/config.json"):
        (grid_folder / name).parent.mkdir(exist_ok=True)
        (grid_folder / name).write_text("half")
    resume_sweep(grid_folder)
    assert not list(grid_folder.rglob("*.tmp"))
    assert not (grid_folder / "unfinished").exists()


def test_a_finished_sweep_resumes_to_nothing(grid_folder):
    stamps = {path: path.stat().st_mtime_ns for path in (grid_folder / "members").rglob("*.npz")}
    before = table_of(grid_folder)
    resume_sweep(grid_folder)
    assert table_of(grid_folder) == before
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())


def test_axes_from_the_command_line():
    assert read_axes({"lr": "1e-3,1e-2", "widths": "316x316,10", "model": "gru"}) == {
        "lr": [1e-3, 1e-2],
        "widths": [(316, 316), (10,)],
        "model": ["gru"],
    }


@pytest.mark.parametrize(
    ("action", "problem", "word"),
    [
        (lambda out: sweep("flipflop-squre", out), ArgumentError, "Did you mean 'flipflop-square'"),
        (lambda out: sweep(TASK, out, model=["gnode", "gnood"]), ArgumentError, "Did you mean 'gnode'"),
        (lambda out: sweep(TASK, out, learning_rate=[1]), ArgumentError, "setting is 'learning_rate'"),
        (lambda out: sweep(TASK, out, lr=[]), ArgumentError, "lr is an empty list"),
        (lambda out: sweep(TASK, out, lr=[1e-3, -1.0]), ArgumentError, "lr is -1.0"),
        (lambda out: sweep(TASK, out, tau=[0.0]), ArgumentError, "tau is 0.0"),
        (lambda out: sweep(TASK, out, engine="slurm"), ArgumentError, "engine is 'slurm'"),
        (lambda out: resume_sweep(out), StoreError, "holds no sweep"),
        (lambda out: read_axes({"lr": "fast"}), ArgumentError, "cannot be read"),
    ],
)
def test_bad_input_is_found_before_anything_is_trained(action, problem, word, tmp_path):
    with pytest.raises(problem, match=word):
        action(tmp_path / "out")
    assert not (tmp_path / "out" / "sweep.json").exists()


def test_a_folder_that_holds_a_sweep_is_left_alone(grid_folder):
    with pytest.raises(StoreError, match="already holds a sweep"):
        sweep(TASK, grid_folder, **SMALL)
    with pytest.raises(ArgumentError, match="member is 99"):
        Sweep(grid_folder).load(99)
    assert issubclass(StoreError, GnodeError)

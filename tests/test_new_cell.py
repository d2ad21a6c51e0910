"""A new cell is one file and one line of the registry: then it trains, sweeps, resumes, analyses, plots and reports."""

import json

import numpy as np
import pytest

from gnode import Sweep, load, resume
from gnode.cells import CELLS, CellEntry, cell_label, register
from gnode.errors import ArgumentError
from gnode.train import run_folder

LINE = CellEntry("leaky_cell:leaky", "leaky_cell:Leaky", "Leaky", "#AA3377", ("tau", "init"), "A leaky network.")
SMALL = "--state 2 --trials 24 --bins 12 --epochs 3 --batch-size 8"


@pytest.fixture(autouse=True)
def leaky():
    register("leaky", LINE)
    yield
    del CELLS["leaky"]


def test_it_trains_loads_resumes_and_reports(gnode_command, tmp_path):
    folder = tmp_path / "run"
    assert "A leaky network." in gnode_command("list").ok()
    assert "finished 3 epochs" in gnode_command(f"train flipflop-square --model leaky {SMALL} --out", folder).ok()
    run = load(folder)
    assert type(run.net.cell).__name__ == "Leaky"
    (folder / run_folder.RESULT).unlink()  # as if it had been killed after its last checkpoint
    assert resume(folder).best_loss == run.best_loss
    assert "report.html" in gnode_command("analyse --starts 20", folder).ok()
    assert "A Leaky cell with a state of 2 dimensions" in (folder / "analysis" / "report.html").read_text()
    assert json.loads((folder / "analysis" / "analysis.json").read_text())["fixed_points"]["starts"] == 20
    assert (
        "model 'leaky' has no setting 'widths'"
        in gnode_command(f"train flipflop-square --model leaky --widths 8 {SMALL}").one_sentence()
    )


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_it_is_swept_beside_the_others(engine, gnode_command, tmp_path):
    axes = f"--model leaky,rnn --lr 1e-3,1e-2 --engine {engine} {SMALL}"
    said = gnode_command(f"sweep run flipflop-square {axes} --out", tmp_path / "grid").ok()
    assert "4 members" in said
    sweep = Sweep(tmp_path / "grid")
    assert set(sweep.best("model")) == {"leaky", "rnn"}
    assert np.isfinite(sweep.load(0).evaluate()["loss"])
    assert (tmp_path / "grid" / "strip.png").stat().st_size > 0
    assert cell_label("leaky") == "Leaky"


def test_a_setting_that_the_cell_holds_as_a_static_field_is_no_value_of_one_program(gnode_command, tmp_path):
    axes = f"--model leaky --tau 0.01,0.02 {SMALL}"
    said = gnode_command(f"sweep run flipflop-square {axes} --engine one_program --out", tmp_path / "one")
    assert "differ in a static field, such as tau" in said.one_sentence()
    assert "2 members" in gnode_command(f"sweep run flipflop-square {axes} --engine threads --out", tmp_path / "t").ok()


def test_a_name_is_registered_once_and_with_known_options():
    with pytest.raises(ArgumentError, match="there is already a cell named 'leaky'"):
        register("leaky", LINE)
    with pytest.raises(ArgumentError, match="Did you mean 'widths'"):
        register("other", CellEntry("a:b", "a:B", "b", "#000000", ("width",), ""))

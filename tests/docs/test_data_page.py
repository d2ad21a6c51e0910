"""The examples of docs/data.md: what they print, what they find, and that it means what the page says."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gnode
from gnode.tasks import Series, arrays, make

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "data.md").read_text()


@pytest.fixture
def switch(tmp_path, monkeypatch):
    """The command lines about switch.csv, in the folder where the page's script has written it."""
    monkeypatch.chdir(tmp_path)
    script, then = re.search(r"```python\n(import csv\n.*?)```\n(.*?)^### ", PAGE, re.DOTALL | re.MULTILINE).groups()
    exec(script, {})
    lines = re.findall(r"^    \$ gnode (.*)$", then.replace("\\\n", " "), re.MULTILINE)
    return then, lines


def test_the_table_needs_a_fill(switch, gnode_command):
    then, lines = switch
    assert gnode_command(lines[0]).one_sentence().strip() == re.search(r"^    (gnode: .*)$", then, re.MULTILINE)[1]


@pytest.mark.slow
def test_the_network_of_the_table_has_the_equilibria_of_the_page(switch, gnode_command):
    """Another processor rounds differently, so the loss is compared to three decimal places."""
    then, lines = switch
    gnode_command(lines[1]).ok()
    run = gnode.load("runs/switch")
    assert run.best_loss == pytest.approx(float(re.search(r"validation loss is about ([\d.]+\d)", then)[1]), abs=1e-3)
    points = gnode.analysis.fixed_points(run.net, run.states, dt=run.dt).select(status="equilibrium")
    assert "five equilibria, three of them stable" in then
    assert (len(points), np.sum(points.kind == "stable")) == (5, 3)
    outputs = np.sort(points.outputs[points.kind == "stable"].ravel())
    np.testing.assert_allclose(outputs, [-1, 0, 1], atol=0.2)  # one for each sign, and one for "no pulse yet"


def test_the_error_of_the_last_value_is_the_stored_one():
    stored = json.loads((DOCS / "results" / "last-value-walker2d.json").read_text())
    assert re.findall(r"test error of\s+(\d\.\d+)", PAGE) == [f"{stored['test']['loss']:.4f}"]


def example():
    """The block about the next sample, and what the page says that it prints."""
    found = re.search(r"```python\n(import numpy as np\nimport gnode\n.*?)```\n\n((?:    [^\n]*\n)+)", PAGE, re.DOTALL)
    assert found is not None
    return found[1], [line.strip() for line in found[2].splitlines()]


def test_next_sample_and_irregular_bins(capsys):
    code, printed = example()
    place = {}
    exec(code, place)
    assert capsys.readouterr().out.splitlines() == printed
    trials = place["task"].train
    np.testing.assert_allclose(trials.targets[..., 0], trials.inputs[..., 0] * 2 ** (-trials.dt / 0.1), rtol=1e-5)
    # The lengths that the times of the samples give: the gap before, which is not the gap to the target.
    first = [place["values"][:-1, None]] * 4
    naive = arrays(Series.of(first, times=[place["times"][:-1]] * 4, targets=first), validation=0.25)
    np.testing.assert_allclose(naive.train.dt[0], [0.2, 0.1, 0.3], rtol=1e-5)


def test_the_same_as_a_table(tmp_path):
    """A row has the time of the target; before the first one comes a row without a target."""
    times = [0.0, 0.1, 0.4, 0.5]
    values = [2.0 ** (-time / 0.1) for time in times]
    rows = ["trial,time,x,y"]
    for trial in range(4):
        rows += [f"{trial},0.0,{values[0]},"]
        rows += [f"{trial},{times[k + 1]},{values[k]},{values[k + 1]}" for k in range(3)]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    trials = make(tmp_path / "a.csv", target_columns=("y",)).train
    assert trials.mask[0].tolist() == [0, 1, 1, 1]
    halved = trials.inputs[..., 0] * 2 ** (-trials.dt / 0.1)
    np.testing.assert_allclose(trials.targets[:, 1:, 0], halved[:, 1:], rtol=1e-5)

"""The worked example of docs/data.md: what it prints, and that it means what the page says."""

import re
from pathlib import Path

import numpy as np

from gnode.tasks import Series, arrays, make

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text()


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

"""The examples of docs/training.md run as they stand there."""

import re
from pathlib import Path

import jax
import numpy as np

PAGE = Path(__file__).parent.parent.parent / "docs" / "training.md"


def test_watching_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (section,) = re.findall(r"^## Watching a run\n(.*?)^## ", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    callback, loop = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {"__name__": "example"}
    exec(callback, names)
    assert names["run"].status == "finished"
    assert len(names["largest"].found) == 4
    assert len(capsys.readouterr().out.splitlines()) == 21
    exec(loop, names)
    assert names["losses"][-1] < 0.9 * names["losses"][0]
    net, trained = names["net"], names["trained"]
    before, after = jax.tree.leaves(net), jax.tree.leaves(trained)
    fixed = [leaf for leaf in jax.tree.leaves(names["rest"]) if isinstance(leaf, jax.Array)]
    assert fixed, "the network has a fixed tau"
    assert np.array_equal(net.cell.time_constant, trained.cell.time_constant)
    assert sum(not np.array_equal(a, b) for a, b in zip(before, after)) == len(jax.tree.leaves(names["params"]))

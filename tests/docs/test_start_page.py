"""docs/start.md: the network of PyTorch there has the fixed points that the page says."""

import re

import numpy as np
import pytest
from in_pages import ROOT, blocks

PAGE = (ROOT / "docs" / "start.md").read_text()


@pytest.mark.slow
def test_four_stable_points_of_a_gru_one_for_each_pair_of_signs(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in blocks("docs/start.md", PAGE):
        if block.mark == "needs":
            exec(block.text, names)
    assert "Four stable points, one for each pair of signs, and saddles between them" in re.sub(r"\s+", " ", PAGE)
    points = names["points"].select(status="equilibrium")
    stable = points.outputs[points.kind == "stable"]
    assert len(stable) == 4
    assert {tuple(signs) for signs in np.sign(stable)} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    assert np.sum(points.kind == "saddle") >= 4

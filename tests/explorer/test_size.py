"""docs/explorer.md: what it says of sizes and of agreement is so."""

import re
from pathlib import Path

import pytest
from test_page_engine import STATES, TOLERANCE

import gnode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explorer.md").read_text()


def test_the_script():
    size = (ROOT / "gnode" / "explorer" / "assets" / "explorer.js").stat().st_size
    assert re.findall(r"the script \((\d+) kB\)", PAGE) == [str(round(size / 1e3))]


@pytest.mark.parametrize(
    ("name", "sentence"), [("square", r"`square` makes a page of"), ("walker2d", r"`walker2d` one of")]
)
def test_the_page_of_a_network_that_comes_with_gnode(name, sentence, tmp_path):
    size = gnode.explore(name).save(tmp_path / "page.html").stat().st_size
    assert re.findall(rf"{sentence} ([\d.]+) MB", PAGE) == [f"{size / 1e6:.1f}"]


def test_what_it_is_compared_with():
    assert re.findall(r"at (\d+) states \(to (1e-\d+)\)", PAGE) == [(str(STATES), f"{TOLERANCE:.0e}")]

"""`gnode explore`: files, the browser, and bad input as one sentence."""

import json
import re

import pytest
from filmed_run import filmed_run

import gnode
from gnode.explorer import browser


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return filmed_run(tmp_path_factory)


@pytest.fixture
def opened(monkeypatch):
    """What was opened in the browser."""
    addresses = []
    monkeypatch.setattr(browser.webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def documents_in(page):
    return json.loads(re.search('id="gnode-document">(.*?)</script>', page.read_text()).group(1))


def test_it_writes_a_page(run, gnode_command, tmp_path, opened):
    said = gnode_command("explore --starts 10 --input 0.5,0 --out", tmp_path / "page.html", run.folder).ok()
    found = documents_in(tmp_path / "page.html")
    assert said.startswith(found["verdict"])
    assert said.endswith(f"Page: {tmp_path / 'page.html'}")
    assert found["verdict"].startswith("At the constant input (0.5, 0): ")
    assert found["networks"][0]["x"] == [0.5, 0.0]
    assert opened == []


def test_it_opens_the_browser(run, gnode_command, opened, monkeypatch, tmp_path):
    monkeypatch.setattr(browser.tempfile, "tempdir", str(tmp_path))
    said = gnode_command("explore --starts 5 --film --compare", run.folder, run.folder).ok()
    (address,) = opened
    place = next(tmp_path.glob("gnode-*/portrait.html"))
    assert address == place.as_uri()
    assert said.endswith(f"Page: {place}")
    assert len(documents_in(place)["networks"]) == 6
    monkeypatch.setattr(browser.webbrowser, "open", lambda address: False)
    assert "No browser could be opened; the page is" in gnode_command("explore --starts 5", run.folder).ok()


OWN_CELL = """
import equinox as eqx
from gnode.cells import Cell

class Turning(Cell):
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    rate: float = eqx.field(static=True)

    def vector_field(self, h, x):
        return self.rate * h[::-1] + x[0]

def turning(inputs, state, *, key, rate=1.0):
    return Turning(inputs, state, rate)
"""


def test_a_fresh_cell(gnode_command, tmp_path):
    """The cell that the seed draws, with its options, and not another."""
    page = tmp_path / "page.html"
    gnode_command("explore gru --state 3 --inputs 2 --seed 5 --tau 0.5 --starts 5 --out", page).ok()
    (found,) = documents_in(page)["networks"]
    assert (found["label"], found["state_size"], found["inputs"], found["tau"]) == ("GRU", 3, 2, pytest.approx(0.5))
    expected = gnode.explore(gnode.cells.gru(2, 3, tau=0.5, key=5), starts=5, seed=5).document["networks"][0]
    assert found["weights"] == expected["weights"]
    gnode_command("explore rnn --starts 5 --input 0.5 --out", page).ok()
    (found,) = documents_in(page)["networks"]
    assert (found["state_size"], found["x"]) == (2, [0.5])


def test_an_own_cell(gnode_command, tmp_path):
    (tmp_path / "mine.py").write_text(OWN_CELL)
    page = tmp_path / "page.html"
    gnode_command("explore --state 2 --starts 5 --set rate=3 --out", page, f"{tmp_path / 'mine.py'}:turning").ok()
    (found,) = documents_in(page)["networks"]
    assert (found["label"], found["state_size"]) == ("Turning", 2)
    said = gnode_command("explore --set pace=3", f"{tmp_path / 'mine.py'}:turning").one_sentence()
    assert "pace" in said


def test_bad_input_is_one_sentence(run, gnode_command, tmp_path):
    assert "must be the folder of a run, or one of the networks" in gnode_command("explore sqare").one_sentence()
    assert (
        "model 'rnn' has no setting 'density'; it belongs to dale"
        in gnode_command("explore rnn --density 0.5").one_sentence()
    )
    assert "state is 0" in gnode_command("explore gru --state 0").one_sentence()
    assert "state is a setting of a cell that is drawn" in gnode_command("explore square --state 3").one_sentence()
    assert "nowhere is not a folder" in gnode_command("explore", tmp_path / "nowhere").one_sentence()
    assert "holds no run" in gnode_command("explore", tmp_path).one_sentence()
    assert "input is '1;2'" in gnode_command("explore --input 1;2", run.folder).one_sentence()
    assert "x has shape (3,)" in gnode_command("explore --input 1,2,3", run.folder).one_sentence()
    assert "is a folder, but" in gnode_command("explore --out", tmp_path, run.folder).one_sentence()
    (tmp_path / "sweep.json").write_text('{"task": "flipflop-square", "axes": {}}')
    assert "is a sweep; pass one of its members" in gnode_command("explore", tmp_path).one_sentence()

"""`gnode explore`: files, the browser, and bad input as one sentence."""

import json
import re

import pytest
from filmed_run import filmed_run

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


def test_bad_input_is_one_sentence(run, gnode_command, tmp_path):
    assert "must be the folder of a run, or one of the networks" in gnode_command("explore sqare").one_sentence()
    assert "nowhere is not a folder" in gnode_command("explore", tmp_path / "nowhere").one_sentence()
    assert "holds no run" in gnode_command("explore", tmp_path).one_sentence()
    assert "input is '1;2'" in gnode_command("explore --input 1;2", run.folder).one_sentence()
    assert "x has shape (3,)" in gnode_command("explore --input 1,2,3", run.folder).one_sentence()
    assert "is a folder, but" in gnode_command("explore --out", tmp_path, run.folder).one_sentence()
    (tmp_path / "sweep.json").write_text('{"task": "flipflop-square", "axes": {}}')
    assert "is a sweep; pass one of its members" in gnode_command("explore", tmp_path).one_sentence()

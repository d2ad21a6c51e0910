"""The networks that come with gnode: made by a command, read without jax, and as the page wants them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from filmed_run import filmed_run
from page_engine import as_array, computed

import gnode
from gnode.errors import ArgumentError
from gnode.explorer import _shipped, ship, shipped_names

LARGEST = 800_000
"""In bytes: ten of them come with every installation."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return filmed_run(tmp_path_factory)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    ship.ship(run.folder, "small", starts=20, folder=folder)
    return folder


def test_a_network_is_made_and_read(run, folder, monkeypatch):
    monkeypatch.setattr(_shipped, "FOLDER", folder)
    assert shipped_names() == ["small"]
    portrait = gnode.explore("small")
    assert portrait.title == "small"
    assert portrait.document["networks"][0]["programs"].keys() >= {"field", "jacobian", "step", "readout"}
    held = gnode.explore("small", x=[0.5, 0.0], name="held").document
    assert (held["title"], held["networks"][0]["x"], held["networks"][0]["points"]) == ("held", [0.5, 0.0], None)
    with pytest.raises(ArgumentError, match="film is asked for, but small comes without one"):
        gnode.explore("small", film=True)
    with pytest.raises(ArgumentError, match=r"x has shape \(1,\)"):
        gnode.explore("small", x=[0.5])
    with pytest.raises(ArgumentError, match="Did you mean 'small'"):
        gnode.explore("smal")


def test_the_same_run_gives_the_same_bytes(run, folder, tmp_path):
    again = ship.ship(run.folder, "small", starts=20, folder=tmp_path)
    assert again.read_bytes() == (folder / again.name).read_bytes()
    with pytest.raises(ArgumentError, match="small letters, digits and dashes"):
        ship.ship(run.folder, "../small", folder=tmp_path)


def test_one_that_has_a_film_is_compared_without_it(run, monkeypatch, tmp_path):
    ship.ship(run.folder, "film", film=True, starts=20, folder=tmp_path)
    monkeypatch.setattr(_shipped, "FOLDER", tmp_path)
    assert len(gnode.explore("film").document["networks"]) > 1
    both = gnode.explore("film", compare="film").document["networks"]
    assert [network["epoch"] for network in both] == [None, None]


def test_fixed_points_are_searched_around_the_visited_states(run, monkeypatch, tmp_path):
    """As many scattered states as visited ones."""
    searched = []
    real = ship._sources.fixed_points

    def noted(of, starts, **options):
        searched.append(np.asarray(starts))
        return real(of, starts, **options)

    monkeypatch.setattr(ship._sources, "fixed_points", noted)
    ship.ship(run.folder, "small", starts=20, folder=tmp_path)
    around, visited = searched[-1], run.states.reshape(-1, 2)
    assert len(around) == 40
    outside = (around < visited.min(axis=0)) | (around > visited.max(axis=0))
    assert outside.any(axis=0).all()


def test_it_is_opened_without_jax(folder, tmp_path):
    code = f"""
import sys
from pathlib import Path
from gnode.explorer import _shipped
_shipped.FOLDER = Path({str(folder)!r})
from gnode.cli import main
try:
    main(["explore", "small", "--out", {str(tmp_path / "page.html")!r}])
except SystemExit as end:
    assert not end.code
assert "jax" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert "gnode-document" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name", shipped_names())
def test_every_network_rests_at_its_points(name, tmp_path):
    """The page's own field vanishes at the points that Python found when the network was made."""
    document = _shipped.shipped(name)
    network = document["networks"][0]
    assert document["title"] == name
    assert document["verdict"]
    assert (_shipped.FOLDER / f"{name}{_shipped.ENDING}").stat().st_size < LARGEST
    assert json.dumps(document, allow_nan=False)
    points = [point["h"] for point in network["points"]]
    if points:
        request = {"what": "field", "states": points, "x": network["x"] or [0.0] * network["inputs"]}
        (speeds,) = computed(document, [request], tmp_path)
        assert np.abs(as_array(speeds)).max() < 1e-6 / np.min(network["tau"])

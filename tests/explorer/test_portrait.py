"""`gnode.explore`: what the page knows of a run, a network, a cell and a function, and that the page is safe."""

import base64
import hashlib
import json
import re
import sys
import types

import jax.numpy as jnp
import numpy as np
import pytest
from filmed_run import filmed_run

import gnode
from gnode import cells, tasks
from gnode.analysis import fixed_points
from gnode.errors import ArgumentError, StoreError
from gnode.explorer import _page, _portrait, browser
from gnode.explorer._packing import packed, packed_weights, unpacked


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return filmed_run(tmp_path_factory)


@pytest.fixture(scope="module")
def portrait(run):
    return gnode.explore(run, starts=20)


def only(portrait):
    (network,) = portrait.document["networks"]
    return network


def test_a_run(run, portrait):
    network = only(portrait)
    assert portrait.title == network["name"] == run.folder.name
    assert "of the variance of the targets" in portrait.verdict
    assert network["label"] == "gnODE"
    assert "tau dh/dt = G * (-h + F)" in network["equation"]
    assert (network["units"], network["state_size"], network["inputs"], network["outputs"]) == (2, 2, 2, 2)
    assert (network["dt"], network["tau"], network["method"], network["substeps"]) == (
        run.dt,
        pytest.approx(0.01),
        "euler",
        1,
    )
    np.testing.assert_allclose(unpacked(network["states"]), run.states, atol=1e-6)
    trials = network["trials"]
    np.testing.assert_array_equal(unpacked(trials["inputs"]), run.task.validation.inputs)
    np.testing.assert_array_equal(unpacked(trials["targets"]), run.task.validation.targets)
    np.testing.assert_allclose(unpacked(trials["outputs"]), run.net.read(run.states), atol=1e-6)
    assert trials["lengths"] == [12] * 5
    found = fixed_points(run.net, run.states, dt=run.dt, most_starts=20).select(status="equilibrium")
    np.testing.assert_array_equal([point["h"] for point in network["points"]], found.points)
    assert network["notes"] == []


def test_weights_are_those_of_the_network(run, portrait):
    weights = only(portrait)["weights"]
    numbers = np.frombuffer(base64.b64decode(weights["data"]), "<f4")
    place = weights["arrays"]["cell.F.W.0"]
    found = numbers[place["offset"] :][: np.prod(place["shape"])].reshape(place["shape"])
    np.testing.assert_array_equal(found, run.net.cell.F.W[0])
    assert numbers.size == sum(np.prod(place["shape"], dtype=int) for place in weights["arrays"].values())


def test_a_classification(tmp_path):
    labels = np.tile([0, 1, 2], 10)
    inputs = np.random.default_rng(0).normal(size=(30, 8, 2)) + labels[:, None, None]
    lengths = np.where(np.arange(30) % 2, 8, 5)
    task = tasks.arrays(inputs, labels, 0.1, classes=("a<b", "b", "c"), lengths=lengths)
    run = gnode.fit(gnode.Network(cells.rnn(2, 2, key=0), 3, key=1), task, epochs=1, batch_size=10)
    portrait = gnode.explore(run, starts=10, name="letters")
    network, trials = only(portrait), task.validation
    assert portrait.title == "letters"
    assert "validation trials right" in portrait.verdict
    assert network["classes"] == network["output_names"] == ["a<b", "b", "c"]
    targets = unpacked(network["trials"]["targets"])
    assert network["trials"]["lengths"] == trials.lengths.tolist()
    for one, length, label in zip(targets, trials.lengths, trials.targets):
        assert one[length - 1].argmax() == label
        assert one[length - 1].sum() == 1
        assert np.isnan(np.delete(one, length - 1, axis=0)).all()


def test_bins_of_unequal_length_are_told():
    inputs = np.random.default_rng(0).normal(size=(20, 6, 1))
    dt = np.tile([0.1, 0.2, 0.1, 0.1, 0.1, 0.0], (20, 1))
    task = tasks.arrays(inputs, np.cumsum(inputs, axis=1), dt, lengths=np.full(20, 5))
    run = gnode.fit(gnode.Network(cells.rnn(1, 2, key=0), 1, key=1), task, epochs=1)
    assert "The bins of the trials differ in length" in only(gnode.explore(run, starts=5))["notes"][0]


def test_a_cell_a_network_and_a_function():
    cell = gnode.explore(cells.gru(1, 2, key=0), starts=5, x=[0.5])
    assert cell.title == "GRU"
    assert cell.verdict is None
    assert only(cell)["x"] == [0.5]
    assert unpacked(only(cell)["states"]).shape == (40, 100, 2)
    assert "readout" not in only(cell)["programs"]
    network = gnode.explore(gnode.Network(cells.rnn(1, 2, key=0), 1, key=1), starts=5, dt=0.2, name="mine")
    assert (network.title, only(network)["dt"]) == ("mine", 0.2)
    assert {"readout", "initial", "step"} <= only(network)["programs"].keys()
    function = gnode.explore(lambda h, x: h - h**3, state=1, states=[[-2.0], [0.0], [2.0]])
    assert only(function)["equation"] == "dh/dt = f(h, x)"
    points = {(point["h"][0], point["kind"]) for point in only(function)["points"]}
    assert points == {(-1.0, "stable"), (0.0, "unstable"), (1.0, "stable")}


def test_points_of_a_function_are_searched_away_from_its_trajectories():
    """From the visited states, all beyond -1 and 1, Newton's method does not come to 0."""
    network = only(gnode.explore(lambda h, x: h - h**3, state=1, states=[[-2.0], [2.0]], dt=0.05))
    points = {(round(point["h"][0], 6), point["kind"]) for point in network["points"]}
    assert points == {(-1.0, "stable"), (0.0, "unstable"), (1.0, "stable")}
    at_rest = only(gnode.explore(lambda h, x: h - h**3, state=2, states=np.ones((1, 5, 2))))
    assert {"stable", "saddle"} <= {point["kind"] for point in at_rest["points"]}


def test_two_side_by_side(run):
    both = gnode.explore(run, compare=cells.rnn(2, 3, key=0), starts=5)
    assert [network["state_size"] for network in both.document["networks"]] == [2, 3]
    assert both.title == f"{run.folder.name} and RNN"
    assert both.verdict is None
    assert repr(both).endswith("2 networks of 2 states, 3 states)")


def test_a_film(run):
    film = gnode.explore(run.folder, film=True, starts=5)
    networks = film.document["networks"]
    epochs = [network["epoch"] for network in networks]
    assert epochs == [run.best_epoch, *sorted({0, 1, 3} - {run.best_epoch})]
    assert all(network["programs"] == networks[0]["programs"] for network in networks)
    assert len({network["weights"]["data"] for network in networks}) == len(networks)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda run: gnode.explore(run.net, film=True), "only a run that was trained with gnode.train.Film"),
        (lambda run: gnode.explore("squar"), "source is 'squar', but must be the folder of a run"),
        (lambda run: gnode.explore(run, x=[1.0]), r"x has shape \(1,\)"),
        (lambda run: gnode.explore(cells.rnn(1, 2, key=0), states=[1.0]), r"must be \(trials, time, 2\)"),
        (lambda run: gnode.explore(lambda h, x: h), "state is missing"),
        (lambda run: gnode.explore(lambda h, x: jnp.sort(h), state=2), "'sort'"),
        (lambda run: gnode.explore(lambda h, x: h / 0, state=2), "not finite"),
        (lambda run: gnode.explore(3), "source is 3, but must be a run, a network"),
        (lambda run: gnode.explore(run, starts=0), "starts is 0"),
    ],
)
def test_bad_arguments_are_one_sentence(run, call, word):
    with pytest.raises(ArgumentError, match=word) as said:
        call(run)
    assert "\n" not in str(said.value)


def test_a_run_without_a_film(run, tmp_path):
    task = tasks.flip_flop("square", trials=4, validation=2, bins=3)
    other = gnode.fit(gnode.build("rnn", 2, 2, state=2, key=0), task, epochs=1, out=tmp_path / "run")
    with pytest.raises(StoreError, match="has no film: its weights were not kept"):
        gnode.explore(other, film=True)


def test_the_page_holds_one_script_and_names_it(portrait):
    text = portrait.html()
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', text).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert not {"unsafe-eval", "http", "connect-src", "*"} & set(re.split(r"[ ;]", policy))
    scripts = re.findall(r"<script(?P<kind>[^>]*)>(?P<text>.*?)</script>", text, re.S)
    assert [kind for kind, _ in scripts] == [' type="application/json" id="gnode-document"', ""]
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert json.loads(scripts[0][1]) == portrait.document
    assert not re.search(r"""(src|href|action)\s*=\s*["']?(https?:)?//""", text.replace(scripts[1][1], ""))
    assert text.index('id="gnode-explorer"') < text.index("<script")


def test_text_from_files_is_no_markup():
    name = "</script><img src=x onerror=alert(1)> <!-- \u2028 \udc80"
    text = _page.page({"format": 1, "title": name, "verdict": name, "networks": []}, "<p>below</p>")
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "<!--" not in text
    stored = re.search('id="gnode-document">(.*?)</script>', text).group(1)
    assert json.loads(stored)["title"] == name
    assert text.encode("utf-8")
    assert '<main class="gnode-report">\n<p>below</p></main>' in text


def test_arrays_are_little_endian_and_single():
    array = np.array([[1.0, 2.0, np.nan]])
    assert base64.b64decode(packed(array)["data"])[:8] == bytes.fromhex("0000803f00000040")
    np.testing.assert_array_equal(unpacked(packed(array)), array)
    both = packed_weights({"b": np.ones(2), "a": np.zeros((1, 3))})
    assert both["arrays"] == {"a": {"offset": 0, "shape": [1, 3]}, "b": {"offset": 3, "shape": [2]}}


def test_it_is_saved_and_shown(portrait, tmp_path, monkeypatch):
    assert portrait.save(tmp_path / "new" / "portrait.html").read_text() == portrait.html()
    with pytest.raises(StoreError, match="a folder, but must be the name of a file"):
        portrait.save(tmp_path)
    opened = []
    monkeypatch.setattr(browser.webbrowser, "open", lambda address: opened.append(address) or True)
    place = portrait.show()
    assert opened == [place.as_uri()]
    monkeypatch.setattr(browser.webbrowser, "open", lambda address: False)
    with pytest.raises(StoreError, match="no browser could be opened; the page is"):
        portrait.show()


def test_a_notebook_without_anywidget_shows_a_frame(portrait, monkeypatch):
    monkeypatch.setattr(_portrait.importlib.util, "find_spec", lambda name: None)
    shown = portrait._repr_mimebundle_()
    assert shown["text/html"].startswith('<iframe title="a&lt;b&gt;&amp;amp;" srcdoc="&lt;!doctype html&gt;')
    assert shown["text/plain"] == repr(portrait)
    assert portrait._display_()._repr_html_() == shown["text/html"]
    with pytest.raises(ArgumentError, match=r"pip install 'gnode\[explore\]'"):
        portrait.widget()


def test_a_widget_runs_the_same_script(portrait, monkeypatch):
    """With the few names of anywidget that are used; `test_anywidget` has the package itself."""

    class AnyWidget:
        def __init__(self, **traits):
            self.traits = traits

        def _repr_mimebundle_(self, **options):
            return {"application/vnd.jupyter.widget-view+json": {}}

    unicode = lambda text: types.SimpleNamespace(tag=lambda sync: text)  # noqa: E731
    monkeypatch.setitem(sys.modules, "anywidget", types.SimpleNamespace(AnyWidget=AnyWidget))
    monkeypatch.setitem(sys.modules, "traitlets", types.SimpleNamespace(Unicode=unicode))
    monkeypatch.delitem(sys.modules, "gnode.explorer._widget", raising=False)
    monkeypatch.setattr(_portrait.importlib.util, "find_spec", lambda name: name)
    widget = portrait.widget()
    assert json.loads(widget.traits["document"]) == portrait.document
    assert widget._esm.startswith(_page.script())
    assert "export default" in widget._esm
    assert isinstance(portrait._display_(), AnyWidget)
    assert list(portrait._repr_mimebundle_()) == ["application/vnd.jupyter.widget-view+json"]
    sys.modules.pop("gnode.explorer._widget")


def test_anywidget(portrait):
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    assert json.loads(portrait.widget().document) == portrait.document

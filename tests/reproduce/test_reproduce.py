"""Makes the cheapest artefacts at smoke scale: their results, determinism, reuse of sweeps, refusals, and the page."""

import json
import re

import numpy as np
import pytest

from gnode import Sweep, tasks
from gnode.errors import ArgumentError, StoreError
from gnode.reproduce import archive, page, result_files, selection, verdicts
from gnode.reproduce.artefact import SCALES, SweepPlan
from gnode.reproduce.registry import NAMES, find_artefact
from gnode.reproduce.request import Request
from gnode.reproduce.runner import missing_data, prepare_artefact, require_data, run_artefact
from gnode.sweeps import Part, resume_sweep, sweep_or_resume
from gnode.train import program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduce")
    for name in ("annulus-generalisation", "capacity", "critical-depth"):
        run_artefact(Request(name), out)
    return out


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


@pytest.mark.parametrize(
    ("name", "panels"), [("annulus-generalisation", ""), ("capacity", "a"), ("critical-depth", "a")]
)
def test_the_files_of_a_result(folder, name, panels):
    """Every number and claim is finite, decided, and in the tables; every panel is a picture."""
    content, tables = read(folder, name), (folder / f"{name}.md").read_text()
    artefact = find_artefact(name)
    assert [content[key] for key in ("name", "kind", "title", "place")] == [
        name,
        artefact.kind,
        artefact.title,
        artefact.place,
    ]
    assert content["scale"] == "smoke"
    assert content["command"] == f"gnode reproduce run {name} --scale smoke"
    assert content["sweeps_left_out"] == []
    assert tables.startswith(f"# {artefact.title}\n")
    for number in content["numbers"]:
        assert np.isfinite(number["ours"])
        assert f"| {number['name']} | {number['ours']:.3g}" in tables.replace(r"\|", "|")
    for one in content["checks"]:
        assert one["verdict"] in verdicts.VERDICTS
        assert one["verdict"] != verdicts.OPEN
        assert one["measured"]
        assert f"| {one['claim']} | {result_files.NOT_JUDGED} |" in tables
    assert content["figures"] == [f"{name}-{panel}.png" for panel in panels]
    for panel in panels:
        assert (folder / f"{name}-{panel}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{name}-{panel}.pdf").read_bytes().startswith(b"%PDF")
    timing = {"date", "seconds", "training_seconds", "trained_on"}
    assert set(content["run"]) == timing | {"training_code", "devices", "commit", "versions"}
    assert (content["run"]["training_seconds"] > 0) == bool(content["sweeps"])


def test_the_annulus_result_is_the_error_of_the_networks_in_its_sweep(folder):
    content = read(folder, "annulus-generalisation")
    assert set(content["sweeps"]) == {"two-bit-annulus"}
    assert [number["published"] for number in content["numbers"]] == ["0.028", "0.005", None, "0.490"]
    assert all(number["seeds"] == 2 for number in content["numbers"])
    sweep = Sweep(folder / "sweeps" / "two-bit-annulus-smoke")
    errors = []
    for member in (0, 1):  # one setting, two seeds
        run = sweep.load(member)
        trials = tasks.new_trials(run.task, 200, span=(1.0, 2.0))
        outputs = run.net.run(trials.inputs, dt=trials.dt).outputs
        errors.append(float(np.mean((np.asarray(outputs) - trials.targets) ** 2)))
    trained = content["numbers"][2]
    assert trained["name"] == "MSE, pulses of norm 1 to 2"
    assert trained["ours"] == pytest.approx(np.mean(errors), rel=1e-4)
    assert trained["std"] == pytest.approx(np.std(errors), rel=1e-2)
    inner, near, _, far = (number["ours"] for number in content["numbers"])
    (one,) = content["checks"]
    assert one["verdict"] != verdicts.HOLDS or near < inner < far
    assert list(one["measured"].values()) == [number["ours"] for number in content["numbers"]]


def test_the_capacity_result_is_covers_count_within_its_error(folder):
    content = read(folder, "capacity")
    *measured, limit = content["numbers"]
    assert (limit["ours"], limit["published"]) == (2.0, "2")
    errors = content["details"]["standard errors"]
    assert len(measured) == len(errors) == 2
    for number, size, error in zip(measured, (10, 20), errors):
        assert abs(number["ours"] - 2 * (size - 1) / size) < 4 * error
        assert 0 < error < 0.2


def test_the_critical_curves_start_at_1_and_rise(folder):
    content = read(folder, "critical-depth")
    assert [number["ours"] for number in content["numbers"]] == pytest.approx([1.0] * 5, abs=1e-6)
    assert content["checks"] == []  # the curves are our own formula
    details = content["details"]
    assert details["depths"] == [2, 3, 4, 5, 6]
    curves = np.array(details["sigma_w"])
    assert curves.shape == (5, len(details["sigma_b"])) == (5, 6)
    assert np.all(np.diff(curves, axis=1) > 0)


@pytest.mark.parametrize("name", ["annulus-generalisation", "capacity"])
def test_twice_the_same_json_but_for_the_section_run(folder, tmp_path, name):
    """The networks are trained again in another folder: every number is the same to the last bit."""
    again = json.loads(run_artefact(Request(name), tmp_path).read_text())
    first = json.loads((folder / f"{name}.json").read_text())
    assert result_files.without_run_section(again) == result_files.without_run_section(first)
    assert "run" in again
    assert "run" not in result_files.without_run_section(again)


def test_a_sweep_is_trained_once_and_shared(folder):
    """gate-and-residual would need more; the annulus network of the same folder is found there."""
    sweep = folder / "sweeps" / "two-bit-annulus-smoke"
    before = {path: path.stat().st_mtime_ns for path in sorted(sweep.rglob("weights.npz"))}
    traces = program.traces()
    run_artefact(Request("annulus-generalisation"), folder)
    assert program.traces() == traces
    assert {path: path.stat().st_mtime_ns for path in sorted(sweep.rglob("weights.npz"))} == before


def test_prepared_sweeps_are_trained_by_parts_and_found(folder, tmp_path):
    request = Request("annulus-generalisation", "smoke")
    (prepared,) = prepare_artefact(request, tmp_path)
    assert (prepared.done(), prepared.number()) == ([], 2)
    for part in ("1/2", "2/2"):
        resume_sweep(prepared.folder, part=Part.read(part))
    traces = program.traces()
    content = json.loads(run_artefact(Request("annulus-generalisation"), tmp_path).read_text())
    assert program.traces() == traces
    assert result_files.without_run_section(content) == result_files.without_run_section(
        json.loads((folder / "annulus-generalisation.json").read_text())
    )
    (again,) = prepare_artefact(request, tmp_path)  # loses nothing
    assert again.done() == [0, 1]
    with pytest.raises(ArgumentError, match="trains no networks, so there is nothing to prepare"):
        prepare_artefact(Request("capacity", "smoke"), tmp_path)


def test_another_number_of_seeds(folder, tmp_path):
    """Kept apart from the scale's own sweep, and said in the command."""
    path = run_artefact(Request("annulus-generalisation", seeds=1), tmp_path)
    content = json.loads(path.read_text())
    assert content["command"].endswith("--seeds 1")
    assert {number["seeds"] for number in content["numbers"]} == {1}
    assert (tmp_path / "sweeps" / "two-bit-annulus-smoke-1-seeds").is_dir()
    first = json.loads((folder / "annulus-generalisation.json").read_text())
    assert content["numbers"][0]["ours"] != first["numbers"][0]["ours"]


def test_a_smaller_scale_does_not_replace_a_larger_one(folder, tmp_path):
    content = json.loads((folder / "capacity.json").read_text()) | {"scale": "paper"}
    (tmp_path / "capacity.json").write_text(json.dumps(content))
    with pytest.raises(StoreError, match="holds a result at paper scale"):
        run_artefact(Request("capacity"), tmp_path)
    archive.refuse_smaller(tmp_path / "capacity.json", "paper", [])


def plan(name, seeds):
    return SweepPlan(name, "flipflop-fixed", {"seed": seeds})


def test_fewer_seeds_or_sweeps_do_not_replace_more(tmp_path):
    path = tmp_path / "x.json"
    there = {"scale": "reduced", "sweeps": {"a": {"seed": [0, 1]}, "b": {"seed": [0, 1]}}, "sweeps_left_out": []}
    path.write_text(
        json.dumps(there | {"name": "x", "command": "", "numbers": [], "checks": [], "figures": [], "run": {}})
    )
    for fewer in ([plan("a", [0]), plan("b", [0])], [plan("a", [0, 1])], [plan("a", [0, 1]), plan("c", [0, 1])]):
        with pytest.raises(StoreError, match="holds a result at reduced scale"):
            archive.refuse_smaller(path, "reduced", fewer)
    archive.refuse_smaller(path, "paper", [plan("a", [0])])
    archive.refuse_smaller(path, "reduced", [plan(name, [0, 1, 2]) for name in "abc"])
    assert archive.extent(there | {"seeds": 1, "sweeps_left_out": ["c"]}) == ["reduced", "in part", "1 seed"]


def test_what_a_larger_scale_leaves_out_may_be_there_at_a_smaller_one(folder, tmp_path):
    walker, speech = Request("table1", "paper", ("walker2d-n32",)), "speech-n100"
    content = json.loads((folder / "capacity.json").read_text()) | {"name": "table1", "scale": "paper"}
    first = content | {"sweeps": {"walker2d-n32": {}}, "sweeps_left_out": walker.left_out, "checks": [claim("A", True)]}
    (tmp_path / "table1.json").write_text(json.dumps(first))
    assert archive.result_path(tmp_path, Request("table1", "reduced", (speech,))) == tmp_path / "table1-reduced.json"
    for both in ((), ("walker2d-n32", speech)):
        with pytest.raises(StoreError, match="holds a result at paper scale"):
            archive.result_path(tmp_path, Request("table1", "reduced", both))
    rest = content | {"scale": "reduced", "sweeps": {speech: {"task": "speech"}}, "sweeps_left_out": ["walker2d-n32"]}
    rest |= {"checks": [claim("A", None), claim("B", False)], "command": "gnode reproduce table1 --only speech-n100"}
    (tmp_path / "table1-reduced.json").write_text(json.dumps(rest))
    made = page.results_page(tmp_path)
    assert f"1 of {len(NAMES)} artefacts have been run (1 at paper scale, 1 of them in part)" in made
    listed = page.artefact_pages(tmp_path)["artefacts.md"]
    assert "| [table1](table1.md) | Table 1 | paper, in part | 1 holds |" in listed
    assert "|  |  | part of the rest: reduced | 1 does not hold |" in listed
    assert f"[table1]({tmp_path.name}/table1.md) 1 of 2" in made
    assert "| the paper's claims, at its scale | 1 | 0 | 0 | 0 | 0 |" in made
    assert "| the paper's claims, at a smaller scale | 0 | 1 | 0 | 0 | 0 |" in made
    own = page.artefact_pages(tmp_path)["table1.md"]
    assert f"## The rest: {speech}\n\n*Run at reduced scale, not at the paper's." in own
    assert re.search(r"\*In part: of \d+ sweeps speech-n100 alone\.\*", own.partition("## The rest")[2])
    assert own.count("| A |") == 1  # undecided in the second, which does not say so again
    assert "- *B* Here: does not hold. Why: not known" in own
    (state,) = (state for artefact, state in page.states(tmp_path) if artefact.name == "table1")
    assert state.count("scale, in part, ") == 2
    (tmp_path / "table1.json").write_text(json.dumps(first | {"sweeps_left_out": ["walker2d-n100"]}))
    assert "## The rest" not in page.artefact_pages(tmp_path)["table1.md"]  # it is there at paper scale now


def test_a_complete_result_is_put_aside_for_a_larger_one_in_part(folder, tmp_path):
    content = json.loads((folder / "capacity.json").read_text()) | {"name": "table1", "scale": "reduced"}
    content |= {"sweeps": {"walker2d-n32": {}, "speech-n100": {}}, "figures": ["table1-a.png"]}
    path = tmp_path / "table1.json"
    path.write_text(json.dumps(content))
    (tmp_path / "table1-a.png").write_bytes(b"picture")
    archive.set_aside_smaller(path, Request("table1", "paper"))  # all of it: nothing of the old one is missed
    assert not (tmp_path / "table1-reduced.json").exists()
    archive.set_aside_smaller(path, Request("table1", "paper", ("walker2d-n32",)))
    aside = json.loads((tmp_path / "table1-reduced.json").read_text())
    assert aside == content | {"figures": ["table1-reduced-a.png"]}
    assert (tmp_path / "table1-reduced-a.png").read_bytes() == b"picture"


def test_the_smallest_scales_are_left_out_where_larger_ones_have_their_sweeps(folder, tmp_path):
    content = json.loads((folder / "capacity.json").read_text()) | {"name": "table1", "sweeps_left_out": ["b"]}
    for scale, sweeps in (("paper", "a"), ("reduced", "b"), ("smoke", "b")):
        ending = "" if scale == "paper" else f"-{scale}"
        (tmp_path / f"table1{ending}.json").write_text(
            json.dumps(content | {"scale": scale, "sweeps": {name: {} for name in sweeps}})
        )
    assert [one["scale"] for one in archive.read_results(tmp_path)["table1"]] == ["paper", "reduced"]


def claim(text, holds):
    return {"claim": text, "holds": holds, "measured": {}}


def test_a_file_that_is_no_result_is_a_sentence(tmp_path):
    stored = {name: {} if name in ("sweeps", "run") else [] for name in archive.RESULT_FILE.entries()}
    texts = dict.fromkeys(("name", "kind", "title", "place", "command"), "")
    unknown = stored | texts | {"seeds": None, "details": {}, "scale": "huge"}
    cases = {
        "{}": "is not a result of gnode reproduce",
        "[]": "is not a result of gnode reproduce",
        '{"scale": "smoke"}': "is not a result of gnode reproduce",
        json.dumps(unknown): "its entry 'scale' is 'huge', but must be one of",
        json.dumps(unknown | {"scale": "smoke", "checks": [{"claim": 3}]}): "its entry 'checks.0..claim' is 3",
    }
    for text, sentence in cases.items():
        (tmp_path / "capacity.json").write_text(text)
        with pytest.raises(StoreError, match=sentence):
            run_artefact(Request("capacity"), tmp_path)
        with pytest.raises(StoreError, match=sentence):
            archive.read_results(tmp_path)


def test_a_sweep_folder_with_other_settings_is_refused(tmp_path):
    other = {"trials": 8, "bins": 6, "epochs": 1, "widths": (4,), "state": 2}
    sweep_or_resume("flipflop-annulus", tmp_path / "sweeps" / "two-bit-annulus-smoke", prepare=True, **other)
    with pytest.raises(StoreError, match="other settings"):
        run_artefact(Request("annulus-generalisation"), tmp_path)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("fig9", {}, "artefact is 'fig9'"),
        ("capacity", {"scale": "huge"}, "scale of capacity is 'huge'"),
        ("capacity", {"scale": "reduced"}, "must be one of: smoke, paper"),
        ("fig1", {"only": ["variable-n6"]}, "fig1 needs all of its sweeps"),
        ("capacity", {"seeds": 2}, "capacity trains no networks"),
        ("capacity", {"only": ["variable-n6"]}, "capacity trains no networks"),
    ],
)
def test_bad_input(name, options, sentence, tmp_path):
    with pytest.raises(ArgumentError, match=sentence):
        run_artefact(Request(name, **options), tmp_path)
    assert not list(tmp_path.iterdir())


def test_missing_data_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "nothing"))
    assert missing_data(find_artefact("table1")) == ["walker2d", "speech-v1"]
    with pytest.raises(ArgumentError, match=r"table1 needs data sets that are missing \(walker2d, speech-v1\)"):
        require_data(find_artefact("table1"))
    assert not missing_data(find_artefact("fig1"))
    some = Request("relatives", "paper", only=("relatives-speech-gru", "relatives-variable-n3-gru"))
    assert missing_data(some.artefact, some.plans) == ["speech-v1"]
    states = {artefact.name: state for artefact, state in page.states(tmp_path)}
    assert states["table1"] == "never run (needs data: walker2d, speech-v1)"
    assert states["fig1"] == "never run"


def test_states_and_page(folder):
    states = {artefact.name: state for artefact, state in page.states(folder)}
    assert set(states) == set(NAMES)
    assert states["capacity"].startswith("smoke scale, 20")
    made = page.results_page(folder)
    assert f"3 of {len(NAMES)} artefacts have been run" in made
    assert made == page.results_page(folder)
    pages = page.artefact_pages(folder)
    assert set(pages) == {
        f"{own}.md" for own in ("annulus-generalisation", "capacity", "critical-depth", "rules", "artefacts")
    }
    assert "| fig1 | Figure 1 | never run (paper scale: 75 min on one H200) |  |" in pages["artefacts.md"]
    assert "Run at smoke scale, not at the paper's" in pages["capacity.md"]
    assert "![capacity, figure](capacity-a.png)" in pages["capacity.md"]
    assert "gnode reproduce run capacity --scale smoke" in pages["capacity.md"]
    assert "the *paper* [protocol](rules.md#protocols): two-bit-annulus" in pages["annulus-generalisation.md"]


def test_choice_by_seed(tmp_path):
    grid = {"lr": [1e-3, 1e-2], "seed": [0, 1], "trials": 8, "bins": 6, "epochs": 2, "widths": (4,), "state": 2}
    sweep = sweep_or_resume("flipflop-square", tmp_path / "grid", **grid)
    losses = {(own["seed"], own["lr"]): sweep.result(i)["best_loss"] for i, own in enumerate(sweep.members)}
    lowest = [min(losses[seed, rate] for rate in (1e-3, 1e-2)) for seed in (0, 1)]
    assert selection.lowest_losses(sweep).tolist() == lowest
    assert sweep.result(selection.best_member(sweep))["best_loss"] == min(losses.values())
    number = selection.mean_over_seeds("x", lowest, "0.1")
    assert number.ours == pytest.approx(np.mean(lowest))
    assert number.std == pytest.approx(np.std(lowest))
    best = selection.best_setting([sweep])
    mean = {rate: np.mean([losses[seed, rate] for seed in (0, 1)]) for rate in (1e-3, 1e-2)}
    assert best["setting"] == {"lr": min(mean, key=mean.get)}


def test_scales_are_in_order():
    assert list(SCALES) == ["smoke", "reduced", "paper"]

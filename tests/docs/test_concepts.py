"""docs/concepts: the cells that run when the site is built run here, and show what the text around them says."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from in_pages import ROOT, blocks

FOLDER = ROOT / "docs" / "concepts"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the cells of a page, and returns the names that are then known."""
    monkeypatch.chdir(tmp_path)

    def run_cells(page: str) -> dict:
        names = {"__name__": "page"}
        for block in blocks(page, (FOLDER / page).read_text()):
            if block.language == "code-cell":
                code = re.sub(r"\A(:[^\n]*\n)+", "", block.text)
                exec(compile(code, str(block), "exec"), names)
        return names

    yield run_cells
    plt.close("all")


def test_euler_makes_an_oscillation_of_what_comes_to_rest(run):
    names = run("flow-and-map.md")
    assert names["at_rest"].disagrees.all()
    np.testing.assert_allclose(names["at_rest"].radius, 1.2, rtol=1e-5)
    np.testing.assert_allclose(names["at_rest"].abscissa, (1.2 * np.cos(names["angle"]) - 1) / names["tau"], rtol=1e-5)
    euler, short, rk4 = (np.asarray(line.get_ydata()) for line in names["time"].lines)
    assert abs(euler[-10:]).max() > 0.5
    assert abs(short[-10:]).max() < 1e-3
    assert abs(rk4[-10:]).max() < 1e-3


def test_gates_move_no_zero_and_slow_inhibition_destabilises(run, capsys):
    names = run("gates-and-marginality.md")
    printed = capsys.readouterr().out
    assert re.findall(r"\['(\w+)'\] \[\[0", printed) == ["equilibrium", "closed_gate"]
    assert re.findall(r"1 (stable|unstable)", printed) == ["stable", "stable", "unstable"]
    slowed = np.diag([1.0, 0.1]) @ (names["weights"] - np.eye(2))
    assert np.linalg.eigvals(slowed).real.max() > 0 > np.linalg.eigvals(names["weights"] - np.eye(2)).real.max()


def test_drive_raises_the_critical_scale_of_what_saturates(run, capsys):
    run("critical-initialisation.md")
    lines = re.findall(r"^[\d.]+: ([\d.]+), ([\d.]+), ([\d.]+)$", capsys.readouterr().out, re.MULTILINE)
    tanh, relu, squashed = np.array(lines, float).T
    assert np.all(np.diff(tanh) > 0)
    assert np.all(np.diff(squashed) > 0)
    assert set(relu) == {round(2 ** (1 / 3), 3)}


def test_stored_sequences_approach_gardners_limit(run):
    found = run("expressivity.md")["found"]
    loads = [found.half_load(index) for index in range(len(found.units))]
    assert loads == sorted(loads)
    assert 1.8 < loads[-1] <= 2.05


def test_a_pinned_ring_keeps_the_second_condition_and_loses_its_memories(run):
    names = run("continuous-attractors.md")
    perfect, pinned = names["perfect"], names["pinned"]
    assert perfect.is_continuous_attractor
    assert perfect.memory.surviving == 1
    assert [check.holds for check in pinned.definition] == [True, True, False, True]
    assert pinned.memory.median < 60
    kinds = names["points"].select(status="equilibrium").kind
    assert sorted(kinds) == ["saddle"] * 3 + ["stable"] * 3

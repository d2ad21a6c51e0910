"""docs/theory.md: its values are computed again, and its comparisons hold for the numbers that are stored."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gnode.theory import BalancedNetwork, RandomStack, critical_sigma_w, critical_sigma_w_relu, measure

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "theory.md").read_text()
STORED = json.loads((ROOT / "docs" / "results" / "theory.json").read_text())
UNGATED = [command for command in STORED if command.startswith("spectra --sigma-z 0 ")]


def said(pattern: str) -> tuple[float, ...]:
    """The numbers of the one sentence of the page that a pattern finds, over line ends."""
    (found,) = re.findall(pattern.replace(" ", r"\s+"), PAGE)
    return tuple(map(float, found if isinstance(found, tuple) else (found,)))


def spectra(command: str) -> dict[str, list[list[float]]]:
    """The rows of each model in a table of `gnode theory spectra`: sigma_z, pinched, abscissa."""
    rows: dict[str, list[list[float]]] = {}
    for line in STORED[command]["printed"]:
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if cells[0] in ("mgru", "gnode", "lem"):
            rows.setdefault(cells[0], []).append([float(cell) for cell in cells[1:4]])
    return rows


def test_a_stored_curve_is_printed_today(gnode_command):
    """That of two layers; the others take longer, and other commands depend on how a machine rounds."""
    printed, stored = (
        [[cell.strip() for cell in line.split("│")[1:3]] for line in lines if line.startswith("│")]
        for lines in (
            gnode_command("theory curve --depths 2").out.splitlines(),
            STORED["curve --out critical-depth"]["printed"],
        )
    )
    assert printed == stored
    assert len(stored) == 21


def test_closed_forms_of_the_critical_scale():
    assert said(r": ([\d.]+) \(L = 2\), ([\d.]+) \(L = 3\) \|") == (
        round(critical_sigma_w_relu(2), 6),
        round(critical_sigma_w_relu(3), 6),
    )
    assert said(r": ([\d.]+) \(L = 3, alpha = 1\)") == (round(critical_sigma_w_relu(3, "glorot"), 6),)


def test_critical_scales_under_drive_and_with_biases():
    scales = (critical_sigma_w(2, "relu", final="tanh", input_variance=drive).sigma_w for drive in (2.0, 0.0))
    assert said(r"larger: ([\d.]+) in place of ([\d.]+) for ReLU with a final tanh, L = 2") == tuple(
        round(scale, 2) for scale in scales
    )
    biased = critical_sigma_w(3, "relu", sigma_b=0.5, final="tanh").sigma_w
    assert said(r"L = 3 and final tanh it is ([\d.]+), not ([\d.]+)\.? ?\|") == (
        round(biased, 3),
        round(critical_sigma_w_relu(3), 3),
    )


def test_the_radius_that_the_printed_glorot_form_gives():
    printed = RandomStack(3, 4 ** (1 / 3) * 2**0.5, "relu", "glorot", aspect=3.0)
    assert said(r"gives a measured radius of ([\d.]+)") == (round(measure(printed, 600).radius, 2),)


def test_balanced_networks_of_a_thousand_units():
    connected, without = (BalancedNetwork(1000, 0.8, 1.0, own) for own in (True, False))
    assert said(r"(\d+)% further out on the right at N = 1000, f = 0.8 and full density") == (
        round(100 * (without.edge / connected.edge - 1)),
    )
    assert said(r"largest modulus, (\d+)% above the edge at N = 1000, f = 0.8 with self connections") == (
        round(100 * (connected.radius / connected.edge - 1)),
    )


@pytest.mark.parametrize("self_connections", [True, False])
def test_a_small_balanced_network_lies_above_the_radius_by_less_than_a_tenth(self_connections):
    """The median of the largest modulus over 150 draws of twenty units; numpy draws them."""
    assert "At N = 20 the median that is measured lies above it, by less than a tenth." in PAGE
    network, rng = BalancedNetwork(20, 0.8, 1.0, self_connections), np.random.default_rng(0)
    n_E, largest = network.populations[0], []
    for _ in range(150):
        W = np.zeros((20, 20))
        for row in range(20):
            for columns, sign in ((np.arange(n_E), 1.0), (np.arange(n_E, 20), -1.0)):
                chosen = columns if self_connections else columns[columns != row]
                W[row, chosen] = sign * rng.dirichlet(np.full(chosen.size, network.shape))
        largest.append(np.abs(np.linalg.eigvals(W)).max())
    assert 1 < np.median(largest) / network.radius < 1.1


@pytest.mark.parametrize("command", ["spectra --out spectra", "spectra --method tsit5 --out spectra-tsit5"])
def test_gates_pinch_modes_in_all_three_cells(command):
    rows = spectra(command)
    assert len(rows) == 3
    for (free, of_free, _), (gated, of_gated, _) in rows.values():
        assert (free, gated) == (0, 5)
        assert of_gated > 5 * of_free


def test_without_gates_lem_is_no_closer_to_criticality_than_the_mgru():
    assert len(UNGATED) == 6
    distance = {
        model: np.mean([abs(spectra(command)[model][0][2]) for command in UNGATED])
        for model in ("mgru", "lem", "gnode")
    }
    assert distance["mgru"] < distance["lem"] < distance["gnode"]


def test_the_exponents_of_wider_networks_are_nearer_to_theory():
    """The mean exponent of the draws in the tables of `gnode theory dynamics`, at width 400 and at 800."""
    exponents = [
        [float(re.split(r"[│±]", line)[5]) for line in STORED[f"dynamics {words}"]["printed"] if line.startswith("│")]
        for words in ("--width 400 --out autocorrelation", "--width 800")
    ]
    (theory, *narrow), (same, *wide) = exponents
    assert theory == same
    assert np.mean(narrow) < np.mean(wide) < theory
    assert (theory - np.mean(wide)) / (theory - np.mean(narrow)) == pytest.approx(0.5, abs=0.2)

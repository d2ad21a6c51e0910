"""gnode theory: what it prints, and its errors."""

import pytest


def test_critical_prints_theory_and_draws(gnode_command):
    text = gnode_command("theory critical --depth 3 --activation tanh --sigma-b 0.1 --width 60 --draws 2").out
    assert "1.1453840799" in text
    assert "converged" in text
    assert "drawn at width 60" in text
    assert "of 2 networks have an abscissa within 0.05 of 0 after relaxing." in text
    assert "of 2 networks have an abscissa within 0.05 of 0 at typical states." in text
    assert "typical" not in gnode_command("theory critical --width 20 --draws 1").out  # at rest at 0
    assert "closed form" in gnode_command("theory critical --width 0").out


def test_curve_capacity_dynamics_spectra(gnode_command, tmp_path):
    assert "1.326803" in gnode_command("theory curve --depths 2 --max-sigma-b 0.5 --points 2").out
    said = gnode_command("theory capacity --units 6 --rows 4 --margins 0.5 --out", tmp_path / "c")
    assert "0.961205" in said.out
    assert (tmp_path / "c.png").stat().st_size > 0
    assert "0.5344" in gnode_command("theory dynamics --width 0").out
    assert "pinched" in gnode_command("theory spectra --models mgru --state 10 --duration 5").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("critical --depth 0", "depth is 0"),
        ("critical --activation tahn", "Did you mean 'tanh'"),
        ("curve --depths 2,x", "depths is '2,x'"),
        ("dynamics --sigma-w 0.5", "only above the critical scale"),
        ("spectra --models gru --state 5", "model is 'gru'"),
    ],
)
def test_errors_are_sentences(gnode_command, words, says):
    assert says in gnode_command(f"theory {words}").one_sentence()

"""gnode theory: what it prints, and its errors."""

import pytest
from typer.testing import CliRunner

from gnode import errors
from gnode.cli.theory import app

runner = CliRunner()


def run(*arguments: str) -> str:
    result = runner.invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_critical_prints_theory_and_draws():
    text = run(
        "critical",
        "--depth",
        "3",
        "--activation",
        "tanh",
        "--sigma-b",
        "0.1",
        "--width",
        "60",
        "--draws",
        "2",
    )
    assert "1.1453840799" in text
    assert "converged" in text
    assert "drawn at width 60" in text
    assert "of 2 networks have an abscissa within 0.05 of 0 after relaxing." in text
    assert "of 2 networks have an abscissa within 0.05 of 0 at typical states." in text
    assert "typical" not in run("critical", "--width", "20", "--draws", "1")  # at rest at 0
    assert "closed form" in run("critical", "--width", "0")


def test_curve_capacity_dynamics_spectra(tmp_path):
    assert "1.326803" in run("curve", "--depths", "2", "--max-sigma-b", "0.5", "--points", "2")
    assert "0.961205" in run(
        "capacity", "--units", "6", "--rows", "4", "--margins", "0.5", "--out", str(tmp_path / "c")
    )
    assert (tmp_path / "c.png").stat().st_size > 0
    assert "0.5344" in run("dynamics", "--width", "0")
    assert "pinched" in run("spectra", "--models", "mgru", "--state", "10", "--duration", "5")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("critical", "--depth", "0"), "depth is 0"),
        (("critical", "--activation", "tahn"), "Did you mean 'tanh'"),
        (("curve", "--depths", "2,x"), "depths is '2,x'"),
        (("dynamics", "--sigma-w", "0.5"), "only above the critical scale"),
        (("spectra", "--models", "gru", "--state", "5"), "model is 'gru'"),
    ],
)
def test_errors_are_sentences(arguments, says):
    with pytest.raises(errors.GnodeError, match=says):
        runner.invoke(app, arguments, catch_exceptions=False, standalone_mode=False)

"""Figures of the theory: what they show, not how they look."""

import dataclasses

import numpy as np
import pytest

from gnode import errors, theory
from gnode.analysis._spectra import steady_spectrum
from gnode.plots import theory as pictures


def test_critical_curves():
    curve = theory.critical_curve((2, 3), (0.0, 0.2, 0.5))
    axis = pictures.critical_curves(curve).axes[0]
    lines = axis.get_lines()
    np.testing.assert_array_equal([line.get_ydata() for line in lines], curve.sigma_w)
    assert [line.get_label() for line in lines] == ["L = 2", "L = 3"]
    assert "sigma_b" in axis.get_xlabel()
    assert "sigma_w" in axis.get_ylabel()


def test_autocorrelation():
    stack = theory.RandomStack(2, 2.0, "tanh", sigma_b=0.5)
    run = theory.simulate(theory.draw(stack, 20), duration=5.0, max_lag=2.0, warm_up=1.0)
    axis = pictures.autocorrelation(theory.chaotic_state(stack), [run]).axes[0]
    labels = [line.get_label() for line in axis.get_lines()]
    assert labels == ["simulated networks", "mean field", r"$C_h(\infty)$"]
    assert axis.get_lines()[1].get_xdata()[-1] <= 2.0


def test_spectra_grid():
    gated = steady_spectrum("mgru", 12, sigma_z=5.0, duration=5.0)
    free = dataclasses.replace(gated, sigma_z=0.0, gate=0.5, radius=1.1)
    lem = {"model": "lem", "method": "forward_backward_euler"}
    spectra = [free, dataclasses.replace(free, **lem), gated, dataclasses.replace(gated, **lem)]
    axes = pictures.spectra_grid(spectra).axes
    assert [len(axis.patches) for axis in axes] == [1, 1, 0, 0]  # a circle where theory knows it
    mapped = pictures.spectra_grid(spectra, of="map").axes
    assert [len(axis.patches) for axis in mapped] == [1, 0, 0, 0]  # and of the map only for Euler
    points = axes[2].collections[0].get_offsets()
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(np.real(spectra[2].flow_eigenvalues)))
    with pytest.raises(errors.ArgumentError, match="spectra is empty"):
        pictures.spectra_grid([])


def test_capacity_curve():
    experiment = theory.capacity_experiment((6, 8), rows=4)
    axis = pictures.capacity_curve(experiment).axes[0]
    assert [line.get_label() for line in axis.get_lines()][2::2] == ["N = 6", "N = 8"]

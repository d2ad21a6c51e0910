"""Stored values of related systems, made by their authors' code, against the equations of the sheet that goes with them."""

from pathlib import Path

import numpy as np
import pytest
import relatives_cde_in_numpy
import relatives_in_numpy
import relatives_linear_in_numpy

FOLDER = Path(__file__).parent.parent / "fixtures" / "relatives"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


class Stored(dict):
    """The arrays of a file, which remember that they were read."""

    def __init__(self, *items):
        super().__init__(*items)
        self.seen = set()

    def __getitem__(self, key):
        self.seen.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.seen.add(key)
        return super().get(key, default)


def equations(name):
    modules = relatives_in_numpy, relatives_cde_in_numpy, relatives_linear_in_numpy
    return next(getattr(module, name) for module in modules if hasattr(module, name))


@pytest.fixture(params=NAMES)
def system(request):
    return equations(request.param), Stored(np.load(FOLDER / f"{request.param}.npz"))


def weight_of(stored, key):
    """The weight that a gradient belongs to: it has the same name, under the same prefix or one that is shorter."""
    prefix, name = key.split("gradient/")
    while prefix and prefix + name not in stored:
        prefix = prefix[: max(prefix.rfind("/", 0, -1), prefix.find("_") if prefix.count("/") == 1 else -1) + 1]
        prefix = prefix[:-1] + "/" if prefix.endswith("_") else prefix
    return prefix + name


def test_there_is_a_recursion_for_every_file():
    assert len(NAMES) == 13
    assert all(equations(name) for name in NAMES)


def test_states_and_outputs(system):
    run, stored = system
    computed, _ = run(stored)
    for key, value in computed.items():
        if key == "init/legs/|B|":  # the phase of an eigenvector is free, and its imaginary part is clipped
            theirs = stored["init/legs/B"]
            whole = np.abs(theirs.imag) < 2
            np.testing.assert_allclose(np.abs(theirs[whole]), value[whole], rtol=1e-5)
            assert whole.sum() == 3
            assert value[~whole] > 2
        else:
            single = key.startswith("init/legs")  # the authors' are made in single precision
            np.testing.assert_allclose(value, stored[key], rtol=1e-5 if single else 1e-9, atol=1e-12, err_msg=key)
    others = set(stored) - stored.seen - set(computed)
    assert all("gradient/" in key for key in others), others


def test_gradients(system):
    """A central difference along the stored gradient, and along a random direction."""
    run, stored = system
    rng, size = np.random.default_rng(0), 1e-5
    for key in (key for key in stored if "gradient/" in key):
        weight, gradient = weight_of(stored, key), stored[key]
        for direction in (gradient / np.linalg.norm(gradient), rng.normal(size=gradient.shape)):
            ends = []
            for sign in (1, -1):
                ends.append(
                    run({**stored, weight: stored[weight] + sign * size * direction})[1][key.split("gradient/")[0]]
                )
            slope = (ends[0] - ends[1]) / (2 * size)
            np.testing.assert_allclose(slope, (gradient * direction).sum(), rtol=1e-5, atol=1e-7, err_msg=key)

"""ONNX Runtime computes from our models what the network computes: every cell, whole rollouts and one bin after another."""

import numpy as np
import pytest
import small_exports as small
from required import needs_packages

from gnode import export_network


@pytest.fixture(scope="module", autouse=True)
def onnx_runtime():
    needs_packages("onnx", "onnxruntime")


def session(folder, which):
    from onnxruntime import InferenceSession

    return InferenceSession(folder / f"{which}.onnx", providers=["CPUExecutionProvider"])


def run(folder, which, **values):
    """Runs a model with those of the values that it takes."""
    model = session(folder, which)
    taken = {one.name for one in model.get_inputs()}
    return model.run(None, {name: np.asarray(value, np.float32) for name, value in values.items() if name in taken})


def is_close(found, wanted):
    for name, got, want in zip(("states", "outputs"), found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.fixture(scope="module", params=small.CASES)
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx") / "made"
    export_network(small.drawn(request.param), "onnx", folder, dt=small.DT)
    return request.param, folder


def test_a_rollout(exported):
    case, folder = exported
    (h0,) = run(folder, "initial", x=small.inputs()[:, 0])
    is_close(run(folder, "rollout", x=small.inputs(), h0=h0), small.expected(case))


def test_bins_of_other_lengths_and_padding(exported):
    case, folder = exported
    if case == "lmu":  # whose bins all have the length that it was exported with
        assert not (folder / "rollout-bins.onnx").exists()
        return
    (h0,) = run(folder, "initial", x=small.inputs()[:, 0])
    found = run(folder, "rollout-bins", x=small.inputs(), h0=h0, dt=small.unequal_bins())
    is_close(found, small.expected(case, unequal=True))


def test_one_bin_after_another(exported):
    case, folder = exported
    xs, (states, outputs) = small.inputs(), small.expected(case)
    (h,) = run(folder, "initial", x=xs[:, 0])
    step = session(folder, "step")
    names = [one.name for one in step.get_inputs()]
    for now in range(small.BINS):
        beside = {"before": xs[:, max(now - 1, 0)], "after": xs[:, min(now + 1, small.BINS - 1)]}
        given = {"h": h, "x": xs[:, now]} | beside
        h, y = step.run(None, {name: given[name] for name in names})
        is_close((h, y), (states[:, now], outputs[:, now]))


def test_the_number_of_trials_and_of_bins_is_free(tmp_path):
    export_network(small.drawn("gru"), "onnx", tmp_path / "made", dt=small.DT)
    xs = np.random.default_rng(2).normal(size=(7, 31, small.INPUTS)).astype(np.float32)
    (h0,) = run(tmp_path / "made", "initial", x=xs[:, 0])
    went = small.drawn("gru").run(xs, dt=small.DT)
    is_close(run(tmp_path / "made", "rollout", x=xs, h0=h0), (went.states, went.outputs))

"""Files of numpy, jax and PyTorch compute what the network computes: every cell, in a namespace of their own."""

import hashlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small_exports as small

from gnode import build, export_network
from gnode.cells import CELLS
from gnode.programs import NamedArrays

MOST_LINES, MOST_LINES_OF_A_LAYER = 100, 50
FIXTURE = np.load(Path(__file__).parents[1] / "fixtures" / "torch_exports.npz")


def exported(case, to, tmp_path, dtype="float32"):
    place = tmp_path / f"{to}-{dtype}"
    export_network(small.drawn(case), to, place, dt=small.DT, dtype=dtype)
    text = (place / "network.py").read_text()
    assert text.count("\n") < MOST_LINES, f"{case} as {to} has {text.count(chr(10))} lines"
    assert max(map(len, text.splitlines())) <= 125
    return small.loaded(place) if to != "torch" else text


def lines_of(model, place, **sizes):
    """How many lines the file of numpy has, of a cell with three layers of hidden units."""
    has = CELLS[model].options
    given = dict.fromkeys([name for name in has if name.endswith("widths")], (4, 4, 4)) | {"readout_widths": (4, 4, 4)}
    given |= {name: size for name, size in small.SIZES.items() if name in has and name not in given}
    net = build(model, small.INPUTS, small.OUTPUTS, state=3, initial="affine", tau=0.3, key=0, **given, **sizes)
    export_network(net, "numpy", place, dt=small.DT)
    return (place / "network.py").read_text().count("\n")


@pytest.mark.parametrize("model", CELLS)
def test_the_lines_of_deeper_networks_are_as_many_as_the_page_says(model, tmp_path):
    one = lines_of(model, tmp_path / "one")
    assert one < MOST_LINES
    assert lines_of(model, tmp_path / "three", layers=3) - one < 2 * MOST_LINES_OF_A_LAYER


def test_the_page_says_these_numbers_of_lines():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "export.md").read_text()
    assert f"fewer than {MOST_LINES} lines" in page
    assert f"fewer than {MOST_LINES_OF_A_LAYER} lines" in page


def is_close(found, wanted, tolerance):
    for name, got, want in zip(("states", "outputs"), found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("case", small.CASES)
def test_numpy(case, tmp_path):
    """Rollouts in both precisions, one trial alone, a start of one's own, and step after step."""
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-10)):
        made = exported(case, "numpy", tmp_path, dtype)
        states, outputs = made.rollout(small.inputs())
        assert states.dtype == outputs.dtype == dtype
        is_close((states, outputs), small.expected(case, dtype), tolerance)
    alone = made.rollout(small.inputs()[1].tolist())
    is_close(alone, (states[1], outputs[1]), 1e-12)
    xs = small.inputs()
    later = made.rollout(xs[:, 3:], states[:, 2])
    if not any(name in code_of(made) for name in ("before = ", "after = ")):
        is_close(later, (states[:, 3:], outputs[:, 3:]), 1e-12)
        h = made.initial(xs[:, 0])
        for now in range(small.BINS):
            h = made.step(h, xs[:, now])
            np.testing.assert_allclose(h, states[:, now], rtol=1e-12, atol=1e-12)


def code_of(made):
    return small.code_of(Path(made.__file__).read_text())


@pytest.mark.parametrize("case", [case for case in small.CASES if case != "lmu"])
def test_bins_of_other_lengths_and_padding(case, tmp_path):
    made = exported(case, "numpy", tmp_path)
    is_close(made.rollout(small.inputs(), dt=small.unequal_bins()), small.expected(case, unequal=True), 1e-5)


def test_a_memory_that_turns_by_a_matrix_has_bins_of_one_length(tmp_path):
    made = exported("lmu", "numpy", tmp_path)
    assert "and no others" in made.__doc__
    with pytest.raises(TypeError, match="dt"):
        made.rollout(small.inputs(), dt=0.1)


@pytest.mark.parametrize("case", small.CASES)
def test_jax(case, tmp_path):
    made = exported(case, "jax", tmp_path)
    is_close(jax.jit(made.rollout)(small.inputs()), small.expected(case), 1e-5)


@pytest.mark.parametrize("case", small.QUICK)
def test_gradients_of_jax(case, tmp_path):
    """With respect to every trained weight and the inputs, beside those of the network itself."""
    made, net, xs = exported(case, "jax", tmp_path), small.drawn(case), jnp.asarray(small.inputs())
    arrays = NamedArrays(net)
    trained = {name: arrays.named[name] for name in sorted(arrays.trained)}
    dt = jnp.full(xs.shape[:2], small.DT)

    def own(named, xs):
        return (arrays.tree(jax.tree.map(jnp.asarray, arrays.named) | named).batch(xs, dt).outputs ** 2).sum()

    def files(named, xs):
        return (made.rollout(xs, W=made.W | named)[1] ** 2).sum()

    wanted = jax.jit(jax.grad(own, (0, 1)))(trained, xs)
    found = jax.jit(jax.grad(files, (0, 1)))(trained, xs)
    assert any(np.abs(gradient).max() > 1e-3 for gradient in jax.tree.leaves(wanted) if gradient.size)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, wanted)


@pytest.mark.parametrize("case", small.CASES)
def test_torch_computed_the_same_from_this_very_code(case, tmp_path):
    """The fixture holds what PyTorch computed, and the digest of the code that it ran."""
    text = exported(case, "torch", tmp_path)
    digest = hashlib.sha256(small.code_of(text).encode()).hexdigest()
    assert digest == str(FIXTURE[f"{case}/code"]), "the code changed: make tests/fixtures/torch_exports.npz anew"
    is_close((FIXTURE[f"{case}/states"], FIXTURE[f"{case}/outputs"]), small.expected(case), 1e-5)
    if case != "lmu":
        np.testing.assert_allclose(
            FIXTURE[f"{case}/unequal"], small.expected(case, unequal=True)[0], rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("case", small.QUICK)
def test_gradients_of_torch(case):
    net, dt = small.drawn(case), jnp.full((small.TRIALS, small.BINS), small.DT)
    wanted = jax.jit(jax.grad(lambda xs: (net.batch(xs, dt).outputs ** 2).sum()))(jnp.asarray(small.inputs()))
    np.testing.assert_allclose(FIXTURE[f"{case}/gradient"], wanted, rtol=1e-4, atol=1e-5)

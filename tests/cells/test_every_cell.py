"""Everything that the house does with a network, for every registered cell, for layers of cells and for augmented ones."""

import shutil

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import analysis, build, fit, load, resume, sweep
from gnode.cells import CELLS
from gnode.errors import ArgumentError
from gnode.precision import double, to_dtype
from gnode.report import _write
from gnode.solve import advance, rollout
from gnode.solve._path import bins_of
from gnode.train import run_folder

SIZES = {"widths": (4,), "gate_widths": (), "noise_widths": (), "modes": 2, "order": 3}
"""Of every option that says how large a cell is."""
STATE, TAU, DT = 3, 0.1, 0.05
MORE = {
    "gru, 2 layers": {"model": "gru", "layers": 2},
    "s4d, 2 layers": {"model": "s4d", "layers": 2},
    "gated_ncde, 2 layers": {"model": "gated_ncde", "layers": 2},
    "cornn, 2 layers": {"model": "cornn", "layers": 2},
    "gnode, augmented": {"model": "gnode", "augment": 2},
    "lstm, augmented": {"model": "lstm", "augment": 2},
}
KINDS = {**{name: {"model": name} for name in CELLS}, **MORE}
MAPS = {"ode_lstm", "gru_ode_bayes", "cfc"}
"""Those whose fixed points are not the zeros of their vector field."""
NO_PAGE = MAPS | {"s4d", "lru", "s4d, 2 layers"}
"""Those that the explorer refuses: maps, and complex numbers."""
ROOTLESS = {"ncde", "hbnode"}
"""Those whose fixed points are the roots of an F that need not have any; without biases and input it has one at 0."""
SECOND_ORDER = {"cornn", "hbnode", "ghbnode", "unicornn"}
QUICK = {"gru", "ode_lstm", "gated_ncde", "gated_nsde", "lmu", "lru", "gnode, augmented"}
"""One of each sort. The longest tests take the others where there is time."""
LONGEST = [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
HOW = {"epochs": 2, "lr": 1e-2, "batch_size": 6}
TRIALS = {"trials": 12, "validation": 6, "bins": 8}


def options_of(kind):
    given = KINDS[kind]
    has = CELLS[given["model"]].options
    return given | {"state": STATE, "tau": TAU} | {name: value for name, value in SIZES.items() if name in has}


def drawn(kind, **more):
    return build(inputs=2, outputs=2, **options_of(kind) | {"key": 1, "initial": "affine"} | more)


def task():
    return gnode.tasks.make("flipflop-square", key=0, **TRIALS)


@pytest.mark.parametrize("path", ["hold", "linear"])
@pytest.mark.parametrize("name", CELLS)
def test_two_layers_by_one_rollout_and_bin_by_bin(name, path, x64):
    """A rollout takes a layer through all bins before the next; `advance` and `step` take a bin through all layers.

    A sample moves both layers, and so does the output of the lower one, which changes also where the input is constant.
    """
    options = {option: size for option, size in SIZES.items() if option in CELLS[name].options}
    given = {"solver": {"interpolation": path}} | ({"bias_std": 0.5} if "bias_std" in CELLS[name].options else {})
    net = build(name, 2, 1, state=2, layers=2, tau=0.3, key=0, initial="random", **options | given)
    solver = net.solver
    rng = np.random.default_rng(0)
    xs, dt = jnp.asarray(rng.normal(size=(7, 2))), jnp.asarray([0.1, 0.2, 0.0, 0.1, 0.3, 0.0, 0.0])
    h0 = jnp.asarray(rng.normal(size=net.cell.state_size))
    bins = bins_of(net.cell, xs, dt, solver)
    by_bins = lambda h, bin: (advance(net.cell, h, tuple(bin), solver),) * 2  # noqa: E731
    by_steps = lambda h, length: (net.step(h, xs[0], length),) * 2  # noqa: E731
    found = rollout(net.cell, xs, h0, dt=dt, method=solver)
    np.testing.assert_allclose(found, jax.lax.scan(by_bins, h0, bins)[1], rtol=1e-12, atol=1e-13)
    still = net.run(jnp.broadcast_to(xs[0], (1, 7, 2)), dt=dt[None], h0=h0).states[0]
    np.testing.assert_allclose(still, jax.lax.scan(by_steps, h0, dt)[1], rtol=1e-12, atol=1e-13)
    assert np.abs(found - still).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_training_a_kill_resuming_and_loading(kind, tmp_path, monkeypatch):
    """The folder at the first checkpoint is what a kill leaves; what goes on from there ends as what went on here."""
    net, save, folder = drawn(kind), run_folder.save, tmp_path / "run"

    def save_and_keep(*arguments):
        save(*arguments)
        if not (tmp_path / "killed").exists():
            shutil.copytree(folder, tmp_path / "killed")

    monkeypatch.setattr(run_folder, "save", save_and_keep)
    whole = fit(net, task(), out=folder, checkpoint_seconds=0.0, **HOW)
    assert whole.status == "finished"
    assert np.isfinite(whole.curves["train"]).all()
    assert not eqx.tree_equal(whole.net, net)
    killed = load(tmp_path / "killed")
    assert (killed.status, len(killed.curves["train"])) == ("interrupted", 1)
    resumed = resume(tmp_path / "killed")
    for name, values in whole.curves.items():
        np.testing.assert_array_equal(resumed.curves[name], values, err_msg=name)
    assert eqx.tree_equal(resumed.net, whole.net)
    loaded = load(folder)
    assert eqx.tree_equal(loaded.net, whole.net)
    assert loaded.evaluate()["loss"] == pytest.approx(whole.best_loss, rel=1e-5)


@pytest.mark.parametrize("kind", LONGEST)
def test_sweeps_by_threads_and_in_one_program(kind, tmp_path):
    """A member of a sweep by threads is the run alone, to the last bit; in one program sums are of another order."""
    axes = {"seed": [0, 1], **HOW, **TRIALS, **options_of(kind)}
    found = {engine: sweep("flipflop-square", tmp_path / engine, engine=engine, **axes) for engine in ENGINES}
    tables = {engine: one.table() for engine, one in found.items()}
    losses = [tables[engine]["best_loss"] for engine in ENGINES]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert losses[0][0] != losses[0][1]
    alone = gnode.train.train_spec(gnode.train.RunSpec.of("flipflop-square", axes | {"seed": 1}))
    assert eqx.tree_equal(found["threads"].load(1).net, alone.net)


ENGINES = ("threads", "one_program")


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_points_and_stability(kind):
    """Points are checked by the equation in float64, spectra by finite differences, outputs by running the network."""
    more = {"bias_std": 0.0} if kind in ROOTLESS else {}
    if "hidden" in CELLS[KINDS[kind]["model"]].options:  # a relu has no derivative at 0, where some points are
        more["hidden"] = "sigmoid" if kind == "dale" else "tanh"
    net, x = drawn(kind, **more), np.zeros(2) if kind in ROOTLESS else np.array([0.3, -0.2])
    starts = np.random.default_rng(0).normal(size=(20, net.cell.state_size))
    found = analysis.fixed_points(net, starts, x=x, dt=DT).select(status="equilibrium")
    assert len(found) > 0
    assert net.cell.is_flow == (kind not in MAPS)
    with double():
        precise, held = to_dtype(net, jnp.float64), jnp.asarray(x)
        of = analysis.system(precise, x=x, dt=DT)
        step = jax.jit(jax.vmap(of.step))
        field = jax.jit(jax.vmap(lambda h: precise.cell.vector_field(h, held)))
        velocity = np.asarray(field(found.points)) if net.cell.is_flow else (step(found.points) - found.points) / DT
        # The tolerance of the search, in units of state; a gate only makes dh/dt smaller.
        assert np.linalg.norm(velocity, axis=1).max() <= 1.001e-9 * float(of.rate)
        assert np.abs(step(found.points) - found.points).max() <= 1e-7  # ltc keeps 1e-8 from a division by zero
        J = differences(step, found.points[0])
        D = differences(field, found.points[0])
    if kind in SECOND_ORDER:  # dy/dt = 0 means that there is no velocity
        assert np.abs(found.points[:, net.cell.units :]).max() <= 1e-7
    spectrum = found.stability
    assert_spectrum(spectrum.map_eigenvalues[0], J)
    if net.cell.is_flow:
        assert_spectrum(spectrum.flow_eigenvalues[0], D)
    else:
        np.testing.assert_allclose(spectrum.abscissa, np.log(spectrum.radius) / DT, rtol=1e-9)
        assert not spectrum.disagrees.any()
    still = net.run(np.broadcast_to(np.float32(x), (len(found), 2, 2)), dt=DT, h0=np.float32(found.points))
    np.testing.assert_allclose(still.states[:, -1], found.points, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(still.outputs[:, -1], found.outputs, rtol=1e-3, atol=1e-4)


def differences(function, h, width=1e-5):
    """The Jacobian by central differences; their error is about the square of the width."""
    ends = [np.asarray(function(h + way * width * np.eye(len(h)))) for way in (1, -1)]
    return (ends[0] - ends[1]).T / (2 * width)


def assert_spectrum(eigenvalues, matrix):
    """Compares the sums of the powers of eigenvalues with the traces of those of the matrix: there is no order in them."""
    size = np.abs(eigenvalues).max()
    for k in range(1, len(eigenvalues) + 1):
        power = np.trace(np.linalg.matrix_power(matrix / size, k))
        np.testing.assert_allclose(np.sum((eigenvalues / size) ** k), power, atol=1e-6 * k * len(matrix))


@pytest.mark.parametrize("kind", LONGEST)
def test_the_report_and_its_figures(kind, tmp_path, monkeypatch):
    """With the explorer's page where it knows the flow, and with a picture and a sentence where it does not."""
    monkeypatch.setattr(_write, "FORMATS", ("png",))
    run = fit(drawn(kind), task(), **HOW | {"epochs": 1})
    found = gnode.write_report(run, tmp_path, starts=5)
    assert found.fixed_points.stability.is_flow == (kind not in MAPS)
    text = (tmp_path / "report.html").read_text()
    assert ('id="gnode-explorer"' in text) == (kind not in NO_PAGE)
    assert ("cannot be shown in the explorer" in text.split("<h2>Stability")[0]) == (kind in NO_PAGE)
    assert ("The cell is that map alone, and no flow" in text) == (kind in MAPS)
    assert {"losses.png", "trial.png", "flow.png", "analysis.json"} <= {path.name for path in tmp_path.iterdir()}
    assert found.driven.status == "finished"
    if kind in NO_PAGE:
        with pytest.raises(ArgumentError, match=r"cannot be shown in the explorer: .*\.$"):
            gnode.explore(run, starts=5)


def test_every_cell_is_listed(gnode_command):
    listed = gnode_command("list").ok()
    for name, entry in CELLS.items():
        assert f" {name} " in listed
        assert " ".join(entry.summary.split()[:3]) in listed


@pytest.mark.parametrize("name", CELLS)
def test_bad_input_is_one_sentence(name, gnode_command):
    """What every cell can be asked that makes no sense."""
    small = "--state 3 --trials 4 --bins 4 --epochs 1"
    asked = {
        "--tau -1": "tau is -1",
        "--method nonsense": "method is 'nonsense'",
        "--layers 0": "layers is 0",
        "--excitatory 0.5" if name != "dale" else "--rank 2": "has no setting",
    }
    for words, said in asked.items():
        assert said in gnode_command(f"train flipflop-square --model {name} {small} {words}").one_sentence()
    net = drawn(name)
    with pytest.raises(ArgumentError, match=r"xs has shape \(1, 5, 3\), but must be \(batch, time, 2\)"):
        net.run(np.zeros((1, 5, 3)), dt=DT)
    with pytest.raises(ArgumentError, match="xs"):
        net.run(np.full((1, 5, 2), np.nan), dt=DT)
    with pytest.raises(ArgumentError, match=r"starts has shape \(1, 1\)|h has shape \(1,\)"):
        analysis.fixed_points(net, np.zeros((1, 1)), dt=DT)

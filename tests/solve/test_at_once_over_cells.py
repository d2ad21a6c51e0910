"""All bins at once over random shapes and every kind of cell and input, and the precision of its products."""

import tempfile
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from at_once_cases import assert_same, compare, trials_for

import gnode
from gnode import cells
from gnode.reproduce.kept_weights import FOLDER, restore_weights
from gnode.solve import Solver, rollout, rollout_at_once, rollout_batch_at_once

ROOT = Path(__file__).parents[2]


def random_case(seed):
    """A cell of random weights, sizes and time constant, and trials of random number and lengths, with gaps inside."""
    rng = np.random.default_rng(seed)
    key, state, inputs = int(rng.integers(1000)), int(rng.integers(1, 7)), int(rng.integers(1, 4))
    name = ("gnode", "gru", "lem")[seed % 3]
    widths = {"widths": tuple(map(int, rng.integers(2, 12, rng.integers(1, 3))))} if name == "gnode" else {}
    cell = getattr(cells, name)(inputs, state, tau=float(rng.uniform(0.2, 1.0)), key=key, **widths)
    trials, time = int(rng.integers(1, 6)), int(rng.integers(1, 61))
    lengths = rng.integers(1, time + 1, trials)
    dt = rng.uniform(0.02, 0.2, (trials, time)) * (np.arange(time) < lengths[:, None])
    dt *= rng.uniform(size=dt.shape) > 0.15  # bins of no length inside of trials
    given = rng.normal(size=(trials, time, inputs)), rng.normal(size=(trials, cell.state_size)), dt
    return cell, jax.tree.map(jnp.asarray, given)


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_shapes(seed, precise):
    with jax.enable_x64(precise):
        cell, given = random_case(seed)
        compare(cell, Solver(cell.default_method), given, 1e-10 if precise else 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 30))
def test_more_random_shapes(seed, x64):
    cell, given = random_case(seed)
    for jacobian in ("full", "diagonal"):
        compare(cell, Solver(cell.default_method, jacobian=jacobian, rounds=60), given, 1e-10)


BINS = 9
SMALL = {"tau": 0.4, "key": 0}
KINDS = {
    "a control": (lambda: cells.ncde(2, 3, widths=(4,), **SMALL), {}, False),
    "a control along a spline": (
        lambda: cells.gated_ncde(2, 3, widths=(4,), **SMALL),
        {"interpolation": "natural"},
        False,
    ),
    "a jump": (lambda: cells.ode_lstm(2, 3, widths=(4,), **SMALL), {}, False),
    "a diffusion": (lambda: cells.gated_nsde(2, 3, widths=(4,), noise_widths=(4,), **SMALL), {}, True),
    "layers": (lambda: cells.layers("gru", 2, 3, count=2, **SMALL), {"interpolation": "hermite"}, False),
    "chunks with noise": (lambda: cells.rnn(2, 3, **SMALL), {"bins_at_once": 4}, True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_cell_and_input(kind, x64):
    draw, options, noisy = KINDS[kind]
    cell = draw()
    xs, h0, dt = (array[:2] for array in trials_for(cell, seed=3))
    given = xs[:, :BINS], h0, dt[:, :BINS] + 0.1 * noisy  # the size of a kick, sqrt(dt), has no derivative at zero
    noise = 0.3 * jax.random.normal(jax.random.key(5), (2, BINS, cell.state_size)) if noisy else None
    compare(cell, Solver(cell.default_method, **options), given, 1e-10, noise)


SIZES = {"widths": (4,), "gate_widths": (), "noise_widths": (), "modes": 2, "order": 3}


@pytest.mark.slow
@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("name", cells.CELLS)
def test_every_cell(name, precise):
    with jax.enable_x64(precise):
        sizes = {option: size for option, size in SIZES.items() if option in cells.CELLS[name].options}
        cell = cells.CELLS[name](2, 4, tau=0.5, key=0, **sizes)
        xs, h0, dt = trials_for(cell)
        noise = None
        if cell.has("diffusion"):
            dt, noise = dt + 0.05, 0.1 * jax.random.normal(jax.random.key(5), h0.shape[:1] + (dt.shape[1], h0.shape[1]))
        # How well float32 agrees is how well it can: some of these steps are not contractions.
        compare(cell, Solver(cell.default_method, rounds=30), (xs, h0, dt), 1e-10 if precise else 1e-4, noise)


def products(jaxpr):
    """All products of matrices in a program, and in the programs inside of it."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield equation
        for value in jax.tree.leaves(equation.params, is_leaf=lambda leaf: hasattr(leaf, "eqns")):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from products(inner)


@pytest.mark.parametrize("jacobian", ["full", "diagonal"])
@pytest.mark.parametrize("name", ["gnode", "gru", "lstm", "lem"])
def test_every_product_is_in_full_precision(name, jacobian):
    """With operands that a GPU rounds to TF32 the residual never becomes small, and the rounds never converge."""
    widths = {"widths": (20,)} if name == "gnode" else {}
    cell = getattr(cells, name)(2, 14, tau=0.3, key=0, **widths)  # products of matrices as wide as that are not sums
    xs, h0, dt = trials_for(cell)
    solver = Solver(cell.default_method, time="parallel", jacobian=jacobian)

    def loss(given):
        cell, xs, h0, dt = given
        return jnp.sum(rollout_batch_at_once(cell, xs, h0, dt, solver).states)

    values, structure = eqx.partition((cell, xs, h0, dt), eqx.is_inexact_array)
    with jax.default_matmul_precision("tensorfloat32"):  # whatever is asked for elsewhere
        program = jax.make_jaxpr(jax.grad(lambda values: loss(eqx.combine(values, structure))))(values)
    found = [equation.params["precision"] for equation in products(program.jaxpr)]
    assert len(found) >= 6
    highest = jax.lax.Precision.HIGHEST
    assert all(precision in (highest, (highest, highest)) for precision in found), found


def on_its_task(run, bins=1000):
    """The inputs of a trained network: the validation trials of its task, one after another, again and again."""
    inputs = jnp.asarray(run.task.validation.inputs).reshape(-1, run.net.inputs)
    return jnp.tile(inputs, (-(-bins // len(inputs)), 1))[:bins]


def ten_rounds_suffice(run):
    xs = on_its_task(run)
    h0 = run.net.initial(xs[0])
    found = rollout_at_once(run.net.cell, xs, h0, dt=run.dt)
    assert bool(found.converged)
    assert int(found.rounds) <= 10
    assert_same(found.states, rollout(run.net.cell, xs, h0, dt=run.dt, time="loop"), 1e-4)


@pytest.mark.parametrize("name", ["variable-n32", "noise-n6"])
def test_trained_networks_take_few_rounds(name):
    """Without the first guess, from short stretches of the loop, they take more."""
    ten_rounds_suffice(gnode.load(ROOT / "benchmarks" / "networks" / name))


KEPT = ("square", "rectangle", "annulus", "ring", "variable-n3", "variable-n6")


@pytest.mark.slow
def test_trained_networks_of_the_flip_flop_family_take_few_rounds():
    kept = 0
    with tempfile.TemporaryDirectory() as folder:
        for sweep in restore_weights("true-attractors", folder, ROOT / FOLDER):
            if sweep.folder.name.removeprefix("attractor-").removesuffix("-paper") not in KEPT:
                continue
            members = sorted(int(path.parent.name) for path in sweep.folder.glob("members/*/weights.npz"))
            ten_rounds_suffice(sweep.load(next(one for one in members if sweep.members[one]["model"] == "gnode")))
            kept += 1
    assert kept == len(KEPT)

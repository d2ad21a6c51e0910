"""Times one gradient of long trajectories, bin after bin and all at once: drawn networks, trained ones, a chaotic one.

    python benchmarks/parallel_in_time.py

The trained networks are the kept weights of the artefact true-attractors, on trials of their own task, one after another,
and a wider one and three that fit noise, whose weights are in benchmarks/networks. The chaotic one must fall back to the
loop, and says so. Products are in full float32 both times, so that the numbers can be compared; on a GPU the loop that
training would take by itself is timed too (its products are coarser), where it is another one. All programs are compiled
before the first is timed.
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from timing import report, save

from gnode import Run, cells, load
from gnode.bench import compare
from gnode.cells import Cell
from gnode.devices import available_cores
from gnode.reproduce.kept_weights import restore_weights
from gnode.solve import Solver, rollout_batch, rollout_batch_at_once
from gnode.solve.gpu.choice import kernel_for
from gnode.train import RunSpec, train_spec

SIZES: dict[str, list[tuple[int, int, int]]] = {
    "cpu": [(2, 1, 1000), (6, 1, 1000)],
    "gpu": [
        *((state, 1, 20_000) for state in (2, 6, 16, 32, 64)),
        *((6, trials, 1000) for trials in (1, 10, 100)),
        *((32, trials, 1000) for trials in (1, 10)),
        *((6, 1, bins) for bins in (300, 200_000)),
    ],
}
"""Drawn networks: state variables, trials, bins."""
TRAINED_BINS = {"cpu": (1000,), "gpu": (20_000,)}
SHORTER = ("square", "variable-n6")
"""Trained networks that take 1000 bins, too."""
CHAOTIC_BINS = 1000
DT = 0.2
KEPT = ("square", "rectangle", "annulus", "ring", "variable-n3", "variable-n6")
FITTED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "variable-n32": ("flipflop-variable", {"state": 32}, {"bits": 3, "batch_size": 10, "epochs": 40}),
    "noise-n6": ("ou", {"state": 6, "tau": 1.0}, {"epochs": 2000}),
    "noise-n6-slow": ("ou", {"state": 6, "tau": 10.0}, {"epochs": 2000}),
    "noise-n32-slow": ("ou", {"state": 32, "tau": 10.0}, {"epochs": 2000}),
}
"""Networks that were trained for this benchmark: the task, and settings of the network and of the training."""
NETWORKS = Path(__file__).parent / "networks"
"""Their folders. One that is missing is trained again."""
TITLE, FILE = "One gradient of long trajectories, bin after bin and all bins at once", "parallel_in_time"
LOOP, AT_ONCE = Solver(kernel="loop", time="loop"), Solver(time="parallel")

Gradient = Callable[[], tuple[Any, Cell]]
"""Computes the loss (with how it was found, all at once) and its gradient."""


class Case(NamedTuple):
    """A cell, the inputs of some long trials, the initial state, and the length of a bin."""

    name: str
    cell: Cell
    inputs: Float[Array, "trials time inputs"]
    h0: Float[Array, " state"]
    dt: float


def drawn(state: int, trials: int, bins: int) -> Case:
    """A gnODE with the initialiser's own weights, three hidden layers of 100, driven by noise."""
    cell = cells.gnode(3, state, widths=(100, 100, 100), key=0)
    inputs = jax.random.normal(jax.random.key(1), (trials, bins, 3))
    return Case(f"drawn gnODE, N = {state}", cell, inputs, jnp.zeros(state), DT)


def chaotic(bins: int) -> Case:
    """A rate network with four times the critical weights and no input."""
    cell = cells.rate_rnn(1, 60, init="critical", tau=0.1, key=0)
    cell = eqx.tree_at(lambda cell: cell.F.W, cell, replace_fn=lambda W: tuple(4 * matrix for matrix in W))
    h0 = jax.random.normal(jax.random.key(2), (60,))
    return Case("chaotic rate network, N = 60", cell, jnp.zeros((1, bins, 1)), h0, 0.1)


def trained() -> Iterator[tuple[str, Run]]:
    """The first kept gnODE of each attractor, and those that are trained here."""
    with tempfile.TemporaryDirectory() as folder:
        for sweep in restore_weights("true-attractors", folder):
            name = sweep.folder.name.removeprefix("attractor-").removesuffix("-paper")
            if name in KEPT:
                kept = [int(path.parent.name) for path in sweep.folder.glob("members/*/weights.npz")]
                yield name, sweep.load(min(member for member in kept if sweep.members[member]["model"] == "gnode"))
    for name, (task, of_network, of_training) in FITTED.items():
        folder = NETWORKS / name
        if not folder.exists():
            settings = {
                "model": "gnode",
                "widths": (100, 100, 100),
                "lr": 1e-3,
                "clip": 0.1,
                **of_network,
                **of_training,
            }
            train_spec(RunSpec.of(task, settings), folder)
            (folder / "checkpoint.npz").unlink()
        yield name, load(folder)


def on_its_task(name: str, run: Run, bins: int) -> Case:
    """A trained network on the validation trials of its task, one after another, again and again."""
    inputs = jnp.asarray(run.task.validation.inputs).reshape(-1, run.net.inputs)
    repeated = jnp.tile(inputs, (-(-bins // len(inputs)), 1))[:bins]
    return Case(f"trained: {name}", run.net.cell, repeated[None], run.net.initial(repeated[0]), run.dt)


def compiled(case: Case) -> dict[str, Gradient]:
    """Compiles the gradient of the mean squared state by the weights, bin after bin and all bins at once."""
    values, structure = eqx.partition(case.cell, eqx.is_inexact_array)
    shape = case.inputs.shape[:2]
    steps, starts = jnp.full(shape, case.dt), jnp.broadcast_to(case.h0, (shape[0], *case.h0.shape))

    def loss(values: Cell, solver: Solver) -> tuple[Array, Any]:
        cell = eqx.combine(values, structure)
        if solver == AT_ONCE:
            found = rollout_batch_at_once(cell, case.inputs, starts, steps, solver)
            return jnp.mean(found.states**2), (found.rounds, found.converged)
        states = rollout_batch(cell, case.inputs, starts, steps, solver, gradient_only=True)
        return jnp.mean(states**2), None

    def gradient_by(solver: Solver, precision: str) -> Gradient:
        with jax.default_matmul_precision(precision):
            program = jax.jit(jax.value_and_grad(loss, has_aux=True), static_argnums=1).lower(values, solver).compile()
        return lambda: program(values)

    ways = {"loop": (LOOP, "highest"), "at once": (AT_ONCE, "highest")}
    if jax.default_backend() == "gpu" and kernel_for(case.cell, Solver(), jnp.float32, shape[0]) is not None:
        ways["chosen"] = (Solver(time="loop"), "default")
    return {way: gradient_by(*how) for way, how in ways.items()}


def times_of(case: Case, ways: dict[str, Gradient]) -> dict[str, Any]:
    """Times the gradients in turn."""
    ((loss, _), one), ((other_loss, (rounds, converged)), other) = (ways[way]() for way in ("loop", "at once"))
    size = max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(one))
    leaves = zip(jax.tree.leaves(one), jax.tree.leaves(other))
    error = max(float(jnp.max(jnp.abs(a - b))) for a, b in leaves) / size
    times = compare(ways, rounds=5)
    fastest = min(times["loop"], times.get("chosen", math.inf))
    return {
        "network": case.name,
        "trials": case.inputs.shape[0],
        "bins": case.inputs.shape[1],
        "loop, ms": times["loop"],
        "loop by itself, ms": times.get("chosen"),
        "at once, ms": times["at once"],
        "times faster than the loop": times["loop"] / times["at once"],
        "than the faster one": fastest / times["at once"],
        "rounds": int(rounds),
        "converged": "yes" if bool(converged) else "no: the loop",
        "difference of the losses": abs(float(loss - other_loss)) / float(loss),
        "difference of the gradients": error if math.isfinite(error) else "they overflow",
    }


def main() -> None:
    backend = "gpu" if jax.default_backend() == "gpu" else "cpu"
    cases = [drawn(*size) for size in SIZES[backend]]
    for name, run in trained():
        lengths = {*TRAINED_BINS[backend], *((1000,) if name in SHORTER else ())}
        cases += [on_its_task(name, run, bins) for bins in sorted(lengths)]
    cases.append(chaotic(CHAOTIC_BINS))
    print(f"compiling {len(cases)} cases", flush=True)
    with ThreadPoolExecutor(available_cores()) as pool:
        programs = list(pool.map(compiled, cases))
    rows = []
    for case, ways in zip(cases, programs):
        rows.append(times_of(case, ways))
        save(TITLE, rows, FILE)  # what was measured stays if a later case fails
        print(f"{case.name}, {case.inputs.shape[:2]}", flush=True)
    report(TITLE, rows, FILE)


if __name__ == "__main__":
    main()

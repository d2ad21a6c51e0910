"""Times one gradient of long trajectories, bin after bin and all bins at once: drawn networks, trained ones, a chaotic one.

    python benchmarks/parallel_in_time.py                        # the lengths that suit this machine
    python benchmarks/parallel_in_time.py 1000 20000 100000      # others

The loop is the one that training takes here. The trained networks are the kept weights of the artefact true-attractors, on
trials of their own task, one after another; the chaotic one must fall back to the loop, and says so. Products are in full
float32 both times, so that the numbers can be compared.
"""

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from timing import report

from gnode import cells
from gnode.bench import compare
from gnode.cells import Cell
from gnode.reproduce.kept_weights import restore_weights
from gnode.solve import Solver, rollout_at_once, rollout_batch

LENGTHS = {"cpu": (1000,), "gpu": (100, 1000, 20_000, 200_000)}
WIDTHS = {"cpu": (2, 6), "gpu": (2, 6, 16, 32, 64, 100)}
DT = 0.2
TRAINED = ("square", "rectangle", "annulus", "ring", "variable-n3", "variable-n6")
LOOP, AT_ONCE = Solver(), Solver(time="parallel")

Case = tuple[str, Cell, Array, Array, float]
"""A name, a cell, the inputs of one long trial, the initial state, and the length of a bin."""


def drawn(state: int, bins: int) -> Case:
    """A gnODE with the initialiser's own weights, three hidden layers of 100, driven by noise."""
    cell = cells.gnode(3, state, widths=(100, 100, 100), key=0)
    return f"drawn gnODE, N = {state}", cell, jax.random.normal(jax.random.key(1), (bins, 3)), jnp.zeros(state), DT


def chaotic(bins: int) -> Case:
    """A rate network with four times the critical weights and no input."""
    cell = cells.rate_rnn(1, 60, init="critical", tau=0.1, key=0)
    cell = eqx.tree_at(lambda cell: cell.F.W, cell, replace_fn=lambda W: tuple(4 * matrix for matrix in W))
    return "chaotic rate network, N = 60", cell, jnp.zeros((bins, 1)), jax.random.normal(jax.random.key(2), (60,)), 0.1


def trained(bins: int) -> Iterator[Case]:
    """The first kept gnODE of each attractor, on its validation trials one after another."""
    with tempfile.TemporaryDirectory() as folder:
        for sweep in restore_weights("true-attractors", folder):
            name = sweep.folder.name.removeprefix("attractor-").removesuffix("-paper")
            if name in TRAINED:
                kept = [int(path.parent.name) for path in sweep.folder.glob("members/*/weights.npz")]
                run = sweep.load(min(member for member in kept if sweep.members[member]["model"] == "gnode"))
                inputs = jnp.asarray(run.task.validation.inputs).reshape(-1, run.net.inputs)
                repeated = jnp.tile(inputs, (-(-bins // len(inputs)), 1))[:bins]
                start = run.net.initial(repeated[0])
                yield f"trained: {name}, N = {run.net.cell.units}", run.net.cell, repeated, start, run.dt


def times_of(case: Case) -> dict[str, Any]:
    """Times a gradient of the mean squared state by the weights, both ways, in turn."""
    name, cell, xs, h0, dt = case
    steps = jnp.full((1, len(xs)), dt)

    def gradient_by(solver: Solver) -> Callable[[], tuple[Array, Cell]]:
        @eqx.filter_jit
        @eqx.filter_value_and_grad
        def gradient(cell: Cell) -> Array:
            return jnp.mean(rollout_batch(cell, xs[None], h0[None], steps, solver, gradient_only=True) ** 2)

        return lambda: gradient(cell)

    ways = {"loop": gradient_by(LOOP), "at once": gradient_by(AT_ONCE)}
    (loss, one), (other_loss, other) = (way() for way in ways.values())
    size = max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(one))
    leaves = zip(jax.tree.leaves(one), jax.tree.leaves(other))
    error = max(float(jnp.max(jnp.abs(a - b))) for a, b in leaves) / size
    found = rollout_at_once(cell, xs, h0, dt=dt)
    times = compare(ways, rounds=5)
    return {
        "network": name,
        "bins": len(xs),
        "loop, ms": times["loop"],
        "at once, ms": times["at once"],
        "times faster": times["loop"] / times["at once"],
        "rounds": int(found.rounds),
        "converged": "yes" if bool(found.converged) else "no: the loop",
        "difference of the losses": abs(float(loss - other_loss)) / float(loss),
        "difference of the gradients": error if math.isfinite(error) else "they overflow",
    }


def main() -> None:
    backend = jax.default_backend()
    lengths = [int(text) for text in sys.argv[1:]] or LENGTHS.get(backend, LENGTHS["cpu"])
    rows = []
    with jax.default_matmul_precision("highest"):
        for bins in lengths:
            cases = [
                *(drawn(state, bins) for state in WIDTHS.get(backend, WIDTHS["cpu"])),
                *trained(bins),
                chaotic(bins),
            ]
            rows += [times_of(case) for case in cases]
    report("One gradient of a long trajectory, bin after bin and all bins at once", rows, "parallel_in_time")


if __name__ == "__main__":
    main()

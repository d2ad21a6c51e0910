"""Compares the gradients of the GPU kernels with those of the loop in full float32, over random shapes.

    python benchmarks/kernel_accuracy.py

On a GPU this runs the compiled kernels. On a CPU it runs Pallas' interpreter, in which the products of the fused kernel are
in float32 unless bfloat16 is requested.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from timing import report

from gnode import cells
from gnode.bench._table import relative_error
from gnode.solve import PRODUCTS, Solver, rollout_batch
from gnode.solve.gpu import choice

SHAPES = 6
"""The number of random shapes of each kernel."""


def random_cell(rng: np.random.Generator, turn: int) -> cells.Gated:
    """Draws a cell of the gated family of a random size that the fused kernel supports."""
    return random_gated(rng, depth=4, widest=128, widest_gate=64)


def random_gated(rng: np.random.Generator, depth: int, widest: int, widest_gate: int) -> cells.Gated:
    """Draws a cell of the gated family of a random size, with fewer than `depth` hidden layers."""
    hidden, gate_hidden = rng.integers(0, depth), rng.integers(0, 2)
    return cells.gated(
        int(rng.integers(1, 20)),
        int(rng.integers(1, 101)),
        widths=tuple(int(width) for width in rng.integers(1, widest + 1, hidden)),
        gate_widths=tuple(int(width) for width in rng.integers(1, widest_gate + 1, gate_hidden)),
        gate=bool(rng.random() < 0.7),
        leak=bool(rng.random() < 0.8),
        hidden=str(rng.choice(["relu", "tanh", "softplus"])),
        final=str(rng.choice(["identity", "tanh"])),
        learn_tau=str(rng.choice(["no", "shared", "per_unit"])),
        key=int(rng.integers(1000)),
    )


def random_wide_cell(rng: np.random.Generator, turn: int) -> cells.Cell:
    """Draws a cell of a random size that the streamed kernel supports, every second one of the gated family."""
    if turn % 2 == 0:
        return random_gated(rng, depth=3, widest=1000, widest_gate=1000)
    make = (cells.gru, cells.lstm, cells.lem)[turn // 2 % 3]
    return make(int(rng.integers(1, 20)), int(rng.integers(1, 401)), key=int(rng.integers(1000)))


KERNELS = {"fused": random_cell, "streamed": random_wide_cell}


def gradients(kernel: str, cell: cells.Cell, trials: int, bins: int, seed: int) -> dict[str, float]:
    """Computes the relative error of the gradient of weights, tau, initial states, inputs and bin lengths, by precision."""
    keys = jax.random.split(jax.random.key(seed), 4)
    given = (
        eqx.filter(cell, eqx.is_inexact_array),
        jax.random.normal(keys[0], (trials, bins, cell.inputs)),
        jax.random.normal(keys[1], (trials, cell.state_size)),
        jax.random.uniform(keys[2], (trials, bins), minval=0.1, maxval=0.5),
    )
    weight = jax.random.normal(keys[3], (trials, bins, cell.state_size))

    def gradient(solver: Solver, exact: bool = False):
        def loss(given: tuple) -> Array:
            values, xs, h0, dt = given
            return jnp.mean(weight * rollout_batch(eqx.combine(values, cell), xs, h0, dt, solver, gradient_only=True))

        with jax.default_matmul_precision("highest" if exact else "default"):
            return jax.jit(jax.grad(loss))(given)

    method = cell.default_method
    exact = gradient(Solver(method, kernel="loop"), exact=True)
    return {
        products: relative_error(gradient(Solver(method, kernel=kernel, products=products)), exact)
        for products in PRODUCTS
    }


def sizes_of(cell: cells.Cell) -> dict[str, Any]:
    """Returns the class of a cell and its sizes."""
    sizes: dict[str, Any] = {"cell": type(cell).__name__, "state": cell.state_size, "inputs": cell.inputs}
    for name in ("F", "G"):
        stack = getattr(cell, name, None)
        sizes[name] = "none" if stack is None else "x".join(str(W.shape[0]) for W in stack.W)
    return sizes


def main() -> None:
    choice.INTERPRET = True
    rng, rows = np.random.default_rng(0), []
    for kernel, random in KERNELS.items():
        for turn in range(SHAPES):
            cell, trials, bins = random(rng, turn), int(rng.integers(1, 101)), int(rng.integers(1, 101))
            row = {"kernel": kernel, **sizes_of(cell), "trials": trials, "bins": bins}
            rows.append(row | gradients(kernel, cell, trials, bins, turn))
    report("Relative error of the GPU kernels' gradients, by the precision of their products", rows, "kernel_accuracy")


if __name__ == "__main__":
    main()

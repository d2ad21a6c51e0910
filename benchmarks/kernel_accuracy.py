"""The fused kernel's gradient against a plain scan in full float32, over random shapes.

    python benchmarks/kernel_accuracy.py

On a GPU this runs the kernel itself; on a CPU its interpreter, where products are in float32 unless bfloat16 is asked for.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from timing import report

from gnode import cells
from gnode.bench.table import relative_error
from gnode.solve import PRODUCTS, Solver, rollout_batch

SHAPES = 6


def random_cell(rng: np.random.Generator) -> cells.Gated:
    """A member of the gated family of random sizes, all of which the kernel takes."""
    depth, gate_depth = rng.integers(0, 4), rng.integers(0, 2)
    return cells.gated(
        int(rng.integers(1, 20)),
        int(rng.integers(1, 101)),
        widths=tuple(int(width) for width in rng.integers(1, 129, depth)),
        gate_widths=tuple(int(width) for width in rng.integers(1, 65, gate_depth)),
        gate=bool(rng.random() < 0.7),
        leak=bool(rng.random() < 0.8),
        hidden=str(rng.choice(["relu", "tanh", "softplus"])),
        final=str(rng.choice(["identity", "tanh"])),
        learn_tau=str(rng.choice(["no", "shared", "per_unit"])),
        key=int(rng.integers(1000)),
    )


def gradients(cell: cells.Gated, trials: int, bins: int, seed: int) -> dict[str, float]:
    """The relative error of the gradient for weights, tau, initial states, inputs and bin lengths, by precision."""
    keys = jax.random.split(jax.random.key(seed), 4)
    given = (
        eqx.filter(cell, eqx.is_inexact_array),
        jax.random.normal(keys[0], (trials, bins, cell.inputs)),
        jax.random.normal(keys[1], (trials, cell.units)),
        jax.random.uniform(keys[2], (trials, bins), minval=0.1, maxval=0.5),
    )
    weight = jax.random.normal(keys[3], (trials, bins, cell.units))

    def gradient(solver: Solver, exact: bool = False):
        def loss(given: tuple) -> Array:
            values, xs, h0, dt = given
            return jnp.mean(weight * rollout_batch(eqx.combine(values, cell), xs, h0, dt, solver, gradient_only=True))

        with jax.default_matmul_precision("highest" if exact else "default"):
            return jax.jit(jax.grad(loss))(given)

    exact = gradient(Solver(kernel="loop"), exact=True)
    return {
        products: relative_error(gradient(Solver(kernel="fused", products=products)), exact) for products in PRODUCTS
    }


def main() -> None:
    rng, rows = np.random.default_rng(0), []
    for seed in range(SHAPES):
        cell, trials, bins = random_cell(rng), int(rng.integers(1, 101)), int(rng.integers(1, 101))
        sizes = {"state": cell.units, "inputs": cell.inputs, "F": "x".join(str(W.shape[0]) for W in cell.F.W)}
        sizes |= {"G": "none" if cell.G is None else "x".join(str(W.shape[0]) for W in cell.G.W)}
        rows.append(sizes | {"trials": trials, "bins": bins} | gradients(cell, trials, bins, seed))
    report("Relative error of the fused kernel's gradient, by the precision of its products", rows, "kernel_accuracy")


if __name__ == "__main__":
    main()

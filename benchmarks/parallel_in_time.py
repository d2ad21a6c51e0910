"""Times a long trajectory by a loop over bins and by Newton's method on all bins at once.

    python benchmarks/parallel_in_time.py

The map h_t = f(h_(t-1), x_t), linearised about a guess of all states, is a linear recurrence, which an associative scan
solves in log T rounds. The guess is improved until it converges, so the result is that of the loop up to rounding. This
benchmark measures when it is faster, for small N and one trial.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array
from timing import report

from gnode import cells
from gnode.bench import compare
from gnode.cells import Cell
from gnode.solve import Solver, rollout_batch

DT, TOLERANCE, MOST = 0.2, 1e-5, 200


def by_newton(cell: Cell, xs: Array, h0: Array) -> tuple[Array, Array]:
    """Computes the states, and the number of Newton iterations."""

    def step(h: Array, x: Array) -> Array:
        return h + DT * cell.vector_field(h, x)

    def join(first: tuple[Array, Array], then: tuple[Array, Array]) -> tuple[Array, Array]:
        """Composes two affine maps."""
        return then[0] @ first[0], jnp.einsum("...ij,...j->...i", then[0], first[1]) + then[1]

    def improve(guess: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        states, _, rounds = guess
        before = jnp.concatenate([h0[None], states[:-1]])
        slopes = jax.vmap(jax.jacfwd(step))(before, xs)
        values = jax.vmap(step)(before, xs)
        offsets = values - jnp.einsum("tij,tj->ti", slopes, before)
        slopes_to, offsets_to = jax.lax.associative_scan(join, (slopes, offsets))
        new = slopes_to @ h0 + offsets_to
        return new, jnp.max(jnp.abs(new - states)), rounds + 1

    def goes_on(guess: tuple[Array, Array, Array]) -> Array:
        return (guess[1] > TOLERANCE) & (guess[2] < MOST)

    start = (jnp.zeros((xs.shape[0], h0.shape[0])), jnp.float32(jnp.inf), jnp.int32(0))
    states, _, rounds = jax.lax.while_loop(goes_on, improve, start)
    return states, rounds


def main() -> None:
    rows = []
    for state, bins in ((2, 1000), (2, 20_000), (6, 1000), (6, 20_000), (16, 20_000)):
        cell = cells.gnode(3, state, widths=(32,), key=0)
        xs, h0 = jax.random.normal(jax.random.key(1), (bins, 3)), jnp.zeros(state)

        @jax.jit
        def loop(xs: Array, h0: Array, cell: Cell = cell) -> Array:
            return rollout_batch(cell, xs[None], h0[None], jnp.full((1, xs.shape[0]), DT), Solver())[0]

        newton = jax.jit(lambda xs, h0, cell=cell: by_newton(cell, xs, h0))
        states, rounds = newton(xs, h0)
        error = float(jnp.max(jnp.abs(states - loop(xs, h0))))
        times = compare({"loop": lambda: loop(xs, h0), "newton": lambda: newton(xs, h0)}, rounds=5)  # noqa: B023
        rows.append(
            {
                "state": state,
                "bins": bins,
                "bin after bin, ms": times["loop"],
                "all at once, ms": times["newton"],
                "ratio": times["loop"] / times["newton"],
                "rounds": int(rounds),
                "largest difference": error,
            }
        )
    report("A long trajectory of a gnODE, bin after bin and all bins at once", rows, "parallel_in_time")


if __name__ == "__main__":
    main()

"""How far the paths of one stochastic cell are from those of another: the term of an ELBO for latent neural SDEs."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell, Layers
from gnode.wording import plural


@checked
def path_divergence(
    cell: Cell,
    prior: Cell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    states: Float[Array, "trials time state"],
) -> Float[Array, " trials"]:
    """Computes how far the paths of a cell are from those of a prior with the same noise, along given paths (Girsanov).

        tau dh = tau f(h, x) dt + s(h, x) dW,      KL = E[ sum over bins of  1/2 |tau (f - f') / s|^2 dt ],

    with f and f' the vector fields of both, and f, f', s at the start of each bin. The expectation is over paths of `cell`
    itself. For Euler's method with one step in a bin the sum is the Kullback-Leibler divergence of the discretised paths
    without an error, and its limit for short bins is that of the equations. A loss on data plus the mean of it over drawn
    paths is the negative ELBO of a latent neural SDE (Li et al. 2020); it has a gradient by both cells and the paths.

    **Arguments:**

    - `cell`: a cell with a `diffusion`, such as one of `gated_nsde`, from which the paths were drawn.
    - `prior`: another cell, of which the vector field counts; its noise is taken to be that of `cell`. Were it another one,
      the divergence of the equations would be infinite.
    - `xs`, `h0`, `dt`: as in `rollout_batch`.
    - `states`: the states after each bin, as `rollout_batch` returns them for some noise of size 1.

    **Returns:** one number for each trial, zero or positive. A bin of length 0 (padding) adds nothing.

    **Raises:** `ArgumentError` if `cell` has no noise or a shape does not fit.

    >>> from gnode import cells
    >>> from gnode.solve import Solver, rollout_batch
    >>> cell, prior = (cells.gated_nsde(2, 3, widths=(8,), key=key) for key in (0, 1))
    >>> xs, h0, dt = jnp.ones((4, 5, 2)), jnp.zeros((4, 3)), jnp.full((4, 5), 0.1)
    >>> noise = jax.random.normal(jax.random.key(2), (4, 5, 3))
    >>> states = rollout_batch(cell, xs, h0, dt, Solver(), noise=noise)
    >>> path_divergence(cell, prior, xs, h0, dt, states).shape
    (4,)
    >>> path_divergence(cell, cell, xs, h0, dt, states).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    _check_cells(cell, prior)
    trials, time = xs.shape[:2]
    size = cell.state_size
    for name, array, shape in (
        ("xs", xs, (trials, time, cell.inputs)),
        ("h0", h0, (trials, size)),
        ("dt", dt, (trials, time)),
        ("states", states, (trials, time, size)),
    ):
        if array.shape != shape:
            raise errors.ArgumentError(f"{name} has shape {array.shape}, but must have shape {shape}.")
    tau = jnp.asarray(cell.time_constant)
    tau = jnp.tile(tau, size // tau.size) if tau.ndim else tau  # of each variable of the state, as of each unit

    def speed(h: Array, x: Array) -> Array:
        gap = tau * (cell.vector_field(h, x) - prior.vector_field(h, x)) / cell.diffusion(h, x)
        return 0.5 * jnp.sum(gap**2)

    starts = jnp.concatenate([h0[:, None], states[:, :-1]], axis=1)
    return jnp.sum(jax.vmap(jax.vmap(speed))(starts, xs) * dt, axis=1)


def _check_cells(cell: Cell, prior: Cell) -> None:
    if not cell.has("diffusion"):
        raise errors.ArgumentError(
            f"cell is of type {type(cell).__name__}, which has no noise of its own, but must have a diffusion, such as "
            f"gnode.cells.nsde(...)."
        )
    for name, one in (("cell", cell), ("prior", prior)):
        if isinstance(one, Layers) or one.has("control") or one.has("jump"):
            raise errors.ArgumentError(
                f"{name} is of type {type(one).__name__}, but must be a single cell that its vector field alone moves."
            )
    if (prior.inputs, prior.state_size) != (cell.inputs, cell.state_size):
        raise errors.ArgumentError(
            f"prior has {plural(prior.inputs, 'input')} and a state of {prior.state_size}, but must have those of cell, "
            f"{cell.inputs} and {cell.state_size}."
        )

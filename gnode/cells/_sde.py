"""Neural stochastic differential equations, plain and gated."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import check_sizes
from gnode.cells._gated import Gated, gated
from gnode.cells._stack import Stack, draw_stack
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

FIRST_NOISE = 0.1
"""In a time tau the noise moves the states of a fresh network by about so much."""


@checked_class
class NeuralSDE(Gated):
    """A cell of the gated family with noise whose size is trained:

        tau dh = G(h, x) * (-h + F(h, x)) dt + softplus(S(h, x)) dW,

    in the sense of Ito. The gate does not act on the noise. Training draws a new path of W for every trial of every update,
    and its gradients are those along the path. Runs and validation without a given noise follow the drift alone.
    `gnode.solve.path_divergence` is how far its paths are from those of another cell, as an ELBO needs it.

    | symbol   | field         | shape                          |
    |----------|---------------|--------------------------------|
    | F, G, tau | as in `Gated` |                               |
    | S        | `S`           | a `Stack` from R^N x R^D to R^N |

    >>> gated_nsde(2, 3, widths=(10,), key=0)
    NeuralSDE(2 inputs, 3 units, F=3-10-3, G=3-3, S=3-3, tau=1, 129 parameters)
    """

    S: Stack = eqx.field(kw_only=True)

    def __check_init__(self):
        N, D = self.units, self.inputs
        if (self.S.W[0].shape[1], self.S.W[-1].shape[0], self.S.U.shape[1]) != (N, N, D):
            raise errors.ArgumentError(f"S is {self.S}, but must map {N} units and {D} inputs to {N} units.")

    def diffusion(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes softplus(S(h, x)), which is positive."""
        return jax.nn.softplus(self.S(h, x))


@checked
def gated_nsde(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100, 100, 100),
    noise_widths: Sequence[int] = (),
    gate: bool = True,
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
    **options: Any,
) -> NeuralSDE:
    """Draws a gated neural stochastic differential equation at random.

    **Arguments:** those of `gated`, and `noise_widths`, the widths of the hidden layers of S.

    **Returns:** a `NeuralSDE` cell. Its noise begins at a size that moves a state by about 0.1 in a time tau.

    >>> gated_nsde(2, 3, noise_widths=(8,), key=0).S.depth
    2
    """
    noise_widths = errors.wholes("noise_widths", noise_widths)
    inputs, state = check_sizes(inputs, state, noise_widths)
    rule = initialiser(init, bias_std)
    cell = gated(inputs, state, widths=widths, gate=gate, init=init, bias_std=bias_std, key=key, **options)
    key_S = jax.random.fold_in(as_key(key), 1)
    S = draw_stack(key_S, inputs, state, noise_widths, rule, rule, hidden=cell.F.hidden, final="identity")
    # In a time tau the noise is softplus(S) / sqrt(tau); S begins near the value at which that is FIRST_NOISE.
    first = jnp.log(jnp.expm1(FIRST_NOISE * jnp.sqrt(cell.time_constant)))
    S = eqx.tree_at(lambda S: (S.W[-1], S.b[-1]), S, (0.1 * S.W[-1], S.b[-1] + first))
    fields = {name: getattr(cell, name) for name in ("F", "G", "timescale", "inputs", "units", "leak")}
    return NeuralSDE(**fields, S=S)


@checked
def nsde(
    inputs: int, state: int, *, widths: Sequence[int] = (100, 100, 100), key: Key | int, **options: Any
) -> NeuralSDE:
    """Draws a neural stochastic differential equation without a gate at random. Options as in `gated_nsde`.

    >>> nsde(2, 3, widths=(10,), key=0).G is None
    True
    """
    return gated_nsde(inputs, state, widths=widths, gate=False, key=key, **options)

"""The readout: outputs as a function of the visible state."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.activations import activation
from gnode.arguments import checked_class
from gnode.init import Initialiser
from gnode.types import Key, module_repr


@checked_class
class Readout(eqx.Module):
    """A multilayer perceptron of the visible state s, y = C phi(... phi(C_1 s + d_1)) + d; affine without hidden layers.

    >>> Readout(C=(jnp.ones((2, 3)),), d=(jnp.zeros(2),))
    Readout(3-2, relu, 8 parameters)
    """

    C: tuple[Float[Array, "_ _"], ...]
    d: tuple[Float[Array, " _"], ...]
    hidden: str = eqx.field(static=True, default="relu")

    def __check_init__(self):
        activation(self.hidden)
        fits = len(self.C) == len(self.d) > 0 and all(d.shape == C.shape[:1] for C, d in zip(self.C, self.d))
        if not fits or any(after.shape[1] != before.shape[0] for before, after in pairwise(self.C)):
            shapes = f"C {[C.shape for C in self.C]}, d {[d.shape for d in self.d]}"
            raise errors.ArgumentError(
                f"the shapes of a readout are {shapes}, but its layers must follow on each other."
            )

    def __call__(self, s: Float[Array, " units"]) -> Float[Array, " outputs"]:
        y = s @ self.C[0].T + self.d[0]
        for C, d in zip(self.C[1:], self.d[1:]):
            y = activation(self.hidden)(y) @ C.T + d
        return y

    def __repr__(self) -> str:
        shapes = [getattr(C, "shape", ("?", "?")) for C in self.C]
        sizes = (shapes[0][-1], *(shape[-2] for shape in shapes))
        return module_repr(self, "-".join(map(str, sizes)), self.hidden)


def draw_readout(sizes: Sequence[int], rule: Initialiser, key: Key) -> Readout:
    """Draws a readout with layers of these sizes, from the cell's units to the outputs, with biases of zero."""
    keys = jax.random.split(key, len(sizes))
    return Readout(
        C=tuple(rule.weight(keys[i], (sizes[i + 1], sizes[i])) for i in range(len(sizes) - 1)),
        d=tuple(jnp.zeros(size) for size in sizes[1:]),
    )

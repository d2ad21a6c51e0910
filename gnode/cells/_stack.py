"""The feed-forward stack of layers of F and G (equations W0 and following of the paper)."""

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
class Stack(eqx.Module):
    """A fully connected network of h and x with L layers:

        s^1     = phi_a(W^0 h + U x + b^0)
        s^(l+1) = phi_a(W^l s^l + b^l)              l = 1 .. L-2
        s^L     = phi(W^(L-1) s^(L-1) + b^(L-1)).

    With L = 1 the only layer uses phi. With `activate_state`, W^0 h becomes W^0 phi_a(h).

    | paper   | field        | shape         |
    |---------|--------------|---------------|
    | W^l     | `W[l]`       | N_(l+1) x N_l |
    | U       | `U`          | N_1 x D       |
    | b^l     | `b[l]`       | N_(l+1)       |
    | phi_a   | `hidden`     | a name        |
    | phi     | `final`      | a name        |

    >>> from gnode.cells import gnode
    >>> gnode(2, 3, widths=(10,), key=0).F
    Stack(2 inputs, 3-10-3, relu, identity, 93 parameters)
    """

    W: tuple[Float[Array, "_ _"], ...]
    U: Float[Array, "first inputs"]
    b: tuple[Float[Array, " _"], ...]
    hidden: str = eqx.field(static=True)
    final: str = eqx.field(static=True)
    activate_state: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        for name in (self.hidden, self.final):
            activation(name)
        sizes = [self.W[0].shape[1], *(W.shape[0] for W in self.W)] if self.W else []
        fits = len(self.b) == len(self.W) > 0 and self.U.shape[0] == sizes[1]
        fits = fits and all(W.shape == (after, before) for W, before, after in zip(self.W, sizes, sizes[1:]))
        if not fits or any(b.shape != (size,) for b, size in zip(self.b, sizes[1:])):
            shapes = f"W {[W.shape for W in self.W]}, U {self.U.shape}, b {[b.shape for b in self.b]}"
            raise errors.ArgumentError(f"the shapes of a stack are {shapes}, but its layers must follow on each other.")

    @property
    def depth(self) -> int:
        """L, the number of layers."""
        return len(self.W)

    @property
    def sizes_text(self) -> str:
        """The sizes of the state and of all layers as text, such as "3-10-3"."""
        shapes = [getattr(W, "shape", ("?", "?")) for W in self.W]
        return "-".join(str(size) for size in (shapes[0][-1], *(shape[-2] for shape in shapes)))

    def __repr__(self) -> str:
        inputs = getattr(self.U, "shape", ("?",))[-1]
        return module_repr(self, f"{inputs} inputs", self.sizes_text, self.hidden, self.final)

    def __call__(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        phi_a, phi = activation(self.hidden), activation(self.final)
        s = phi_a(h) if self.activate_state else h
        # s W^T rather than W s: for a batch the result then has the layout of the next layer's operand.
        a = s @ self.W[0].T + x @ self.U.T + self.b[0]
        for W, b in zip(self.W[1:], self.b[1:]):
            a = phi_a(a) @ W.T + b
        return phi(a)


def draw_stack(
    key: Key,
    inputs: int,
    state: int,
    widths: tuple[int, ...],
    weights: Initialiser,
    others: Initialiser,
    *,
    hidden: str,
    final: str,
    activate_state: bool = False,
    outputs: int | None = None,
) -> Stack:
    """Draws a stack of len(widths) + 1 layers from R^state to R^outputs: W by `weights`, U and b by `others`.

    There are as many outputs as states by default.
    """
    for name in (hidden, final):
        activation(name)  # raises for an unknown name now rather than in the first compilation
    sizes = (state, *widths, state if outputs is None else outputs)
    key_W, key_U, key_b = jax.random.split(key, 3)
    keys_W, keys_b = jax.random.split(key_W, len(sizes)), jax.random.split(key_b, len(sizes))
    layers = range(len(sizes) - 1)
    return Stack(
        W=tuple(weights.weight(keys_W[layer], (sizes[layer + 1], sizes[layer])) for layer in layers),
        U=others.weight(key_U, (sizes[1], inputs)) if inputs else jnp.zeros((sizes[1], 0)),
        b=tuple(others.bias(keys_b[layer], sizes[layer + 1]) for layer in layers),
        hidden=hidden,
        final=final,
        activate_state=activate_state,
    )

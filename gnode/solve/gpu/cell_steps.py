"""Descriptions of one Euler step of each cell as matrix products and pointwise functions.

A step consists of a few matrix products with pointwise functions before, between and after them. From such a description
the streamed kernel integrates any of the cells. The values of a step have names:

- a *part* of the state: h; (h, c) for LSTM; (y, z) for LEM;
- a *group* of pre-activations, a = W u + U x + b, one for each gate or layer, where u is the *source* of the product;
- the *rate* dt / tau.

The equations are those of `gnode.cells`; a test compares every description with the vector field of its cell.

| cell  | products                                    | pointwise functions                                        |
|-------|---------------------------------------------|------------------------------------------------------------|
| gated | F^0, G^0 of h; F^l of phi(F^(l-1)); same G  | h + rate G (F - h)                                         |
| GRU   | r, g, n of h                                | h + rate g (tanh(input + r n) - h)                         |
| LSTM  | i, f, g, o of h                             | c and h relax to f c + i g and o tanh(f c + i g)           |
| LEM   | two gates and the target of z, of y; the target of y, of z | z, then y; forward-backward Euler uses the new z |
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gnode.activations import activation
from gnode.cells import GRU, LEM, LSTM, Gated, Stack
from gnode.solve._gated_euler import is_plain

RATE = "rate"
"""The name of dt / tau."""
LEM_METHODS = ("euler", "forward_backward_euler")
"""The methods by which LEM can be described."""
Values = Mapping[str, Array]
"""Arrays by name."""


@dataclasses.dataclass(frozen=True)
class Pointwise:
    """A pointwise function of some values of a step."""

    uses: tuple[str, ...]
    function: Callable[..., Any]

    def __call__(self, values: Values) -> Any:
        return self.function(*(values[name] for name in self.uses))


@dataclasses.dataclass(frozen=True)
class Product:
    """The matrix products a = W u of one source u, one for each group.

    If the pointwise function that follows is as wide as the last group, the kernel fuses it with that group's product.
    """

    source: Pointwise
    groups: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Step:
    """One step: products in order, then a pointwise function that computes the new parts of the state."""

    parts: tuple[str, ...]
    products: tuple[Product, ...]
    after: Pointwise

    @property
    def after_product(self) -> list[Pointwise]:
        """The pointwise function that follows each product: the source of the next product, or the end of the step."""
        return [*(product.source for product in self.products[1:]), self.after]

    @property
    def groups(self) -> list[str]:
        """The names of all groups that are results of products."""
        return [group for product in self.products for group in product.groups]


@dataclasses.dataclass(frozen=True)
class Affine:
    """The weights of a group, a = W u + U x + b. W is None if the group depends on the input only, U if it does not."""

    W: Array | None
    U: Array | None
    b: Array


def why_not(cell: Any, method: str) -> str:
    """Returns why a cell's step by `method` has no description, as the end of a sentence, or an empty string if it has."""
    if type(cell) not in STEPS:  # a subclass may define another vector field
        return f"supports {', '.join(own.__name__ for own in STEPS)} only, not {type(cell).__name__}"
    methods = LEM_METHODS if type(cell) is LEM else ("euler",)
    if method not in methods:
        return f"integrates this cell by {' or '.join(methods)} only, not by {method}"
    if type(cell) is Gated and not is_plain(cell):
        return "does not support an activation of the state before the first layer (activate_state)"
    return ""


def step_of(cell: Any, method: str) -> tuple[Step, dict[str, Affine]]:
    """Returns the description of a cell's step by `method`, and the weights of its groups."""
    return _lem(cell, method) if type(cell) is LEM else STEPS[type(cell)](cell)


def _gated(cell: Gated) -> tuple[Step, dict[str, Affine]]:
    F, weights = cell.F, _layers("F", cell.F)
    products = [Product(_itself("h"), ("F0",) if cell.G is None else ("G0", "F0")), *_deeper("F", F)]
    if cell.G is not None:
        weights |= _layers("G", cell.G)
        products += _deeper("G", cell.G)
    last = [f"F{F.depth - 1}"] + ([f"G{cell.G.depth - 1}"] if cell.G is not None else [])

    def after(h: Array, rate: Array, F: Array, *G: Array) -> tuple[Array]:
        drift = activation(cell.F.final)(F)
        drift = drift - h if cell.leak else drift
        return (h + rate * (activation(cell.G.final)(G[0]) * drift if cell.G is not None else drift),)

    return Step(("h",), tuple(products), Pointwise(("h", RATE, *last), after)), weights


def _layers(name: str, stack: Stack) -> dict[str, Affine]:
    inputs = [stack.U, *[None] * (stack.depth - 1)]
    return {f"{name}{layer}": Affine(W, U, b) for layer, (W, U, b) in enumerate(zip(stack.W, inputs, stack.b))}


def _deeper(name: str, stack: Stack) -> list[Product]:
    phi = activation(stack.hidden)
    return [Product(Pointwise((f"{name}{layer - 1}",), phi), (f"{name}{layer}",)) for layer in range(1, stack.depth)]


def _gru(cell: GRU) -> tuple[Step, dict[str, Affine]]:
    W, U, b = (jnp.split(array, 3) for array in (cell.W, cell.U, cell.b))
    weights = {"r": Affine(W[0], U[0], b[0]), "g": Affine(W[1], U[1], b[1])}
    weights |= {"n": Affine(W[2], None, cell.c), "input": Affine(None, U[2], b[2])}

    def after(h: Array, rate: Array, r: Array, g: Array, n: Array, given: Array) -> tuple[Array]:
        return (h + rate * jax.nn.sigmoid(g) * (jnp.tanh(given + jax.nn.sigmoid(r) * n) - h),)

    products = (Product(_itself("h"), ("r", "g", "n")),)
    return Step(("h",), products, Pointwise(("h", RATE, "r", "g", "n", "input"), after)), weights


def _lstm(cell: LSTM) -> tuple[Step, dict[str, Affine]]:
    split = [jnp.split(array, 4) for array in (cell.W, cell.U, cell.b)]
    weights = {name: Affine(*own) for name, own in zip("ifgo", zip(*split))}

    def after(h: Array, c: Array, rate: Array, i: Array, f: Array, g: Array, o: Array) -> tuple[Array, Array]:
        target = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return h + rate * (jax.nn.sigmoid(o) * jnp.tanh(target) - h), c + rate * (target - c)

    products = (Product(_itself("h"), ("i", "f", "g", "o")),)
    return Step(("h", "c"), products, Pointwise(("h", "c", RATE, "i", "f", "g", "o"), after)), weights


def _lem(cell: LEM, method: str) -> tuple[Step, dict[str, Affine]]:
    split = [jnp.split(array, 2) for array in (cell.W, cell.U, cell.b)]
    (to_z, to_y) = (Affine(*own) for own in zip(*split))
    weights, gates = {"to_z": to_z, "to_y": to_y}, ()
    if cell.W_gate is not None and cell.U_gate is not None and cell.b_gate is not None:
        split = [jnp.split(array, 2) for array in (cell.W_gate, cell.U_gate, cell.b_gate)]
        gates = ("gate_y", "gate_z")
        weights |= {name: Affine(*own) for name, own in zip(("gate_z", "gate_y"), zip(*split))}

    def moved(old: Array, rate: Array, target: Array, *gate: Array) -> Array:
        speed = jnp.tanh(target) - old
        return old + rate * (jax.nn.sigmoid(gate[0]) * speed if gate else speed)

    def after(y: Array, z: Array, rate: Array, to_y: Array, to_z: Array, *gates: Array) -> tuple[Array, Array]:
        return moved(y, rate, to_y, *gates[:1]), moved(z, rate, to_z, *gates[1:])

    implicit = method == "forward_backward_euler"
    source = Pointwise(("z", RATE, "to_z", *gates[1:]), moved) if implicit else _itself("z")
    products = (Product(_itself("y"), (*gates, "to_z")), Product(source, ("to_y",)))
    return Step(("y", "z"), products, Pointwise(("y", "z", RATE, "to_y", "to_z", *gates), after)), weights


STEPS: dict[type, Callable[..., tuple[Step, dict[str, Affine]]]] = {Gated: _gated, GRU: _gru, LSTM: _lstm, LEM: _lem}
"""The functions that describe the step of each cell."""


def _itself(name: str) -> Pointwise:
    return Pointwise((name,), _identity)


def _identity(value: Array) -> Array:
    return value


def is_itself(source: Pointwise, parts: Sequence[str]) -> bool:
    """Whether a source is a part of the state, unchanged."""
    return source.function is _identity and source.uses[0] in parts

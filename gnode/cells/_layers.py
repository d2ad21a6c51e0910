"""Layers of cells, one on top of the other."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell
from gnode.cells.registry import MOST_LAYERS, cell_entry
from gnode.types import Key, as_key


@checked_class
class Layers(Cell):
    """Several cells, each of which sees the one below; the readout sees the last:

        dh^1/dt = f^1(h^1, x),     dh^l/dt = f^l(h^l, s^(l-1)),     s^l what a readout of layer l would see.

    Integrators go through a bin layer by layer: each is integrated over the whole bin under the output that the layer below
    has at its end. The state is (h^1, h^2, ...).

    >>> layers("gru", 2, 5, count=3, key=0)
    Layers(2 inputs, 5 units, tau=1, 3 layers of GRU, 465 parameters)
    """

    layers: tuple[Cell, ...]

    def __check_init__(self):
        if len(self.layers) == 0 or not all(isinstance(cell, Cell) for cell in self.layers):
            raise errors.ArgumentError(
                f"layers is {errors.shown(self.layers)}, but must hold at least one cell, and cells only."
            )
        for below, cell in zip(self.layers, self.layers[1:]):
            if cell.inputs != below.units:
                raise errors.ArgumentError(
                    f"layers holds a cell with {cell.inputs} inputs on top of one with {below.units} units; they must agree."
                )

    @property
    def inputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]: equinox lets a property define it
        return self.layers[0].inputs

    @property
    def units(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.layers[-1].units

    @property
    def state_size(self) -> int:
        return sum(cell.state_size for cell in self.layers)

    @property
    def unit_of_state(self) -> Int[np.ndarray, " state"]:
        """Those of every layer that is as wide as the last."""
        each = (cell.unit_of_state for cell in self.layers)
        return np.concatenate(
            [own if cell.units == self.units else 0 * own - 1 for cell, own in zip(self.layers, each)]
        )

    @property
    def default_method(self) -> str:
        return self.layers[0].default_method

    @property
    def time_constant(self) -> Float[Array, ""]:
        """The mean over the layers; noise is scaled by each layer's own."""
        return jnp.mean(jnp.stack([jnp.mean(jnp.asarray(cell.time_constant)) for cell in self.layers]))

    @property
    def is_flow(self) -> bool:
        return all(cell.is_flow for cell in self.layers)

    def has(self, part: str) -> bool:
        return any(cell.has(part) for cell in self.layers)

    def parts(self, h: Float[Array, "*time state"]) -> list[Array]:
        """Returns the states of the layers."""
        ends: list[int] = []
        for cell in self.layers:
            ends.append((ends[-1] if ends else 0) + cell.state_size)
        return jnp.split(h, ends[:-1], axis=-1)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        fields: list[Array] = []
        for cell, part in zip(self.layers, self.parts(h)):
            fields.append(cell.vector_field(part, x))
            x = cell.seen(part, x)
        return jnp.concatenate(fields)

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return self.layers[-1].visible(self.parts(h)[-1])

    def seen(self, h: Float[Array, "*time state"], x: Float[Array, "*time inputs"]) -> Float[Array, "*time units"]:
        for cell, part in zip(self.layers, self.parts(h)):
            x = cell.seen(part, x)
        return x


@checked
def layers(model: str, inputs: int, state: int, *, count: int, key: Key | int, **options: Any) -> Layers:
    """Draws several layers of one kind of cell at random, each with N = `state` units.

    **Arguments:**

    - `model`: the name of a cell, as in `gnode list`.
    - `inputs`, `state`, `options`: as for that cell; the cells above the first have `state` inputs.
    - `count`: the number of layers.
    - `key`: a seed or a jax key.

    **Returns:** a `Layers` cell.

    >>> layers("unicornn", 2, 5, count=2, key=0).state_size
    20
    """
    entry, count = cell_entry(model), errors.whole("count", count, at_most=MOST_LAYERS)
    keys = jax.random.split(as_key(key), count)
    cells: list[Cell] = []
    for place in range(count):
        cells.append(entry(inputs if place == 0 else cells[-1].units, state, key=keys[place], **options))
    return Layers(tuple(cells))  # pyright: ignore[reportCallIssue]: the properties are no arguments

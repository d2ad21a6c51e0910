"""Abstract base classes of cells."""

import abc
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from gnode import errors
from gnode.cells._stack import Stack
from gnode.types import module_repr, values_repr
from gnode.wording import plural

PARTS = ("control", "diffusion", "jump", "own_step")
"""The parts that a cell may have beside its vector field."""


class Cell(eqx.Module):
    """Abstract base class of continuous-time recurrent cells: dh/dt as a function of a state h and an input x.

    A cell defines a vector field, and most define nothing else; `gnode.solve` integrates it. It works on one state and one
    input; use `jax.vmap` for batches. A subclass has the fields `inputs` and `units` and defines `vector_field`.

    A cell may have other parts, each a method of its own that it overrides:

        dh = f(h, x) dt + g(h, x) dX + s(h, x) dW / tau      between samples,      h <- j(h, x)      at samples.

    | symbol | method         | meaning                                                              |
    |--------|----------------|----------------------------------------------------------------------|
    | f      | `vector_field` | the drift, which every cell has                                      |
    | g      | `control`      | what a change of the input does (neural CDEs)                        |
    | s      | `diffusion`    | the size of the noise on each variable of the state (neural SDEs)    |
    | j      | `jump`         | what the arrival of a sample does, at the start of a bin (ODE-LSTM)  |
    |        | `own_step`     | a map over one bin that replaces an integrator (`method="own"`)      |

    >>> class Leak(Cell):
    ...     inputs: int = 1
    ...     units: int = 2
    ...     def vector_field(self, h, x):
    ...         return -h
    >>> Leak()
    Leak(1 input, 2 units, tau=1, 0 parameters)
    """

    inputs: eqx.AbstractVar[int]
    """D, the number of input channels."""
    units: eqx.AbstractVar[int]
    """N, the number of units that the readout sees."""

    @property
    def state_size(self) -> int:
        """The dimension of the state space: N, or 2 N for cells with two variables per unit."""
        return self.units

    @property
    def unit_of_state(self) -> Int[np.ndarray, " state"]:
        """The unit to which each variable of the state belongs; -1 for one that belongs to none, such as that of a memory.

        By default a state holds as many variables for each unit, one of all units after another. A cell whose state is laid
        out in another way overrides it.
        """
        if self.state_size % self.units:
            return np.full(self.state_size, -1)
        return np.arange(self.state_size) % self.units

    @property
    def default_method(self) -> str:
        """The name of the integrator that the paper uses for this cell."""
        return "euler"

    @property
    def time_constant(self) -> Float[Array, "..."] | float:
        """tau in seconds, one number or one per unit: that of state noise, and by which analyses scale speeds.

        It is the field `tau` of a cell that has one. Without it tau is 1, unless this property is overridden.
        """
        return getattr(self, "tau", 1.0)

    @property
    def blocks(self) -> tuple[slice, slice] | None:
        """The two parts of the state that forward-backward Euler updates in turn, or None if the cell has no such parts."""
        return None

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        """Computes dh/dt of the two `blocks` of the state.

        Override it if the blocks share intermediate results, such as gates that do not depend on the first block.

        **Returns:** dh/dt of the first block, and a function that maps new values of the first block to dh/dt of the
        second.
        """
        assert self.blocks is not None, f"{type(self).__name__} has one block of state"
        first, second = self.blocks
        return self.vector_field(h, x)[first], lambda moved: self.vector_field(h.at[first].set(moved), x)[second]

    @abc.abstractmethod
    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns dh/dt, in units of state per second."""

    def control(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, "state inputs"]:
        """Returns the derivative of h by the input, for a cell that is driven by changes of the input."""
        raise NotImplementedError

    def diffusion(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns the factor of the noise on each variable of the state, for a cell that is a stochastic equation (Ito)."""
        raise NotImplementedError

    def jump(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns the state after a sample x has arrived, before the flow of the bin that it begins."""
        raise NotImplementedError

    def own_step(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Float[Array, ""] | float
    ) -> Float[Array, " state"]:
        """Returns the state after `dt` seconds under a constant input, by a formula of the cell's own."""
        raise NotImplementedError

    def has(self, part: str) -> bool:
        """Whether the cell has a part that not every cell has: a name from `PARTS`."""
        return getattr(type(self), part) is not getattr(Cell, part)

    @property
    def is_flow(self) -> bool:
        """Whether dh/dt alone says where the state goes under a constant input, so that its zeros are the fixed points.

        Otherwise the fixed points are those of the map of one bin.
        """
        return not self.has("jump")

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        """Returns the part of the state that the readout sees."""
        return h

    def seen(self, h: Float[Array, "*time state"], x: Float[Array, "*time inputs"]) -> Float[Array, "*time units"]:
        """Returns what the readout sees. It is `visible`, unless the input reaches the readout past the state."""
        return self.visible(h)

    def __repr__(self) -> str:
        return module_repr(self, *_facts(self))


class GatedCell(Cell):
    """Abstract base class of cells whose vector field is a product, tau dh/dt = gate * drift.

    Fixed points of such a cell are zeros of the drift alone, which is what the analyses solve for.

    >>> from gnode.cells import rnn
    >>> isinstance(rnn(1, 2, key=0), GatedCell)
    True
    """

    @abc.abstractmethod
    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes the factor that vanishes at a fixed point for any value of the gate."""

    @abc.abstractmethod
    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes the other factor; each component is between 0 (closed) and 1 (open)."""


class SecondOrderCell(Cell):
    """Abstract base class of cells with a position and a velocity for each unit: their state is (y, z), of size 2 N.

    The readout sees y. Forward-backward Euler, the default method, takes z first and then y from the new z. A subclass
    defines `fields_of_blocks`: dz/dt, and dy/dt as a function of z. Fixed points are found in the full state.

    No example: see `CoRNN` and `HeavyBall`.
    """

    @property
    def state_size(self) -> int:
        return 2 * self.units

    @property
    def default_method(self) -> str:
        return "forward_backward_euler"

    @property
    def blocks(self) -> tuple[slice, slice]:
        return slice(self.units, 2 * self.units), slice(0, self.units)

    @abc.abstractmethod
    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        """Computes dz/dt, and a function that maps z to dy/dt."""

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        force, velocity = self.fields_of_blocks(h, x)
        return jnp.concatenate([velocity(h[self.units :]), force])

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return h[..., : self.units]


def _facts(cell: Cell) -> list[str]:
    """Returns what the `repr` of a cell says: its sizes, its stacks, tau and its layers."""
    facts = [plural(cell.inputs, "input"), plural(cell.units, "unit")]
    stacks = {name: getattr(cell, name, None) for name in ("F", "G", "S")}
    facts += [f"{name}={stack.sizes_text}" for name, stack in stacks.items() if isinstance(stack, Stack)]
    own = getattr(cell, "timescale", None)
    facts.append(f"tau={values_repr(cell.time_constant) if own is None else own.text}")
    below = getattr(cell, "layers", ())
    kinds = dict.fromkeys(type(layer).__name__ for layer in below)
    return [*facts, f"{plural(len(below), 'layer')} of {' and '.join(kinds)}"] if below else facts


def check_sizes(inputs: int, state: int, widths: Sequence[int] = ()) -> tuple[int, int]:
    """Returns the numbers of inputs and units if both are positive whole numbers whose weights fit into memory.

    **Raises:** `ArgumentError` otherwise.
    """
    inputs, state = errors.whole("inputs", inputs), errors.whole("state", state)
    values = [before * after for before, after in pairwise((inputs + state, *widths, state))]
    what = {"inputs": inputs, "state": state, **({"widths": max(widths)} if widths else {})}
    largest = max(what, key=lambda name: what[name])
    errors.affordable(largest, what[largest], 4 * sum(values))
    return inputs, state


def check_shapes(**arrays: tuple[Any, tuple[int, ...]]) -> None:
    """Raises an `ArgumentError` if an array has another shape than the one beside it."""
    for name, (array, shape) in arrays.items():
        if array is not None and array.shape != shape:
            raise errors.ArgumentError(f"{name} has shape {array.shape}, but must have shape {shape}.")


def check_mask(masked: bool, inputs: int) -> None:
    """Raises an `ArgumentError` if half of the inputs are to be the mask of the other half, and there is no half."""
    if masked and inputs % 2:
        raise errors.ArgumentError(f"masked is True, but there are {inputs} inputs, of which no half can be a mask.")

"""What every cell is: a right-hand side."""

import abc
from collections.abc import Callable

import equinox as eqx
from jaxtyping import Array, Float

from gnode import errors


class Cell(eqx.Module):
    """A continuous-time recurrent cell: dh/dt as a function of its state h and its input x.

    A cell knows neither steps nor training; `gnode.solve` makes time pass. It works on one state and one input; batches
    and grids are `jax.vmap`. A cell of your own subclasses this, has the fields `inputs` and `units`, and defines
    `vector_field`.
    """

    inputs: eqx.AbstractVar[int]
    """D, the size of x."""
    units: eqx.AbstractVar[int]
    """N, the number of units that a readout sees."""

    @property
    def state_size(self) -> int:
        """The number of phase-space dimensions. Cells with a second variable per unit have 2 N."""
        return self.units

    @property
    def default_method(self) -> str:
        """The integrator that the paper uses for this cell."""
        return "euler"

    @property
    def time_constant(self) -> Float[Array, "..."] | float:
        """tau in seconds, one number or one per unit: the scale by which analyses measure speeds. 1 unless overridden."""
        return 1.0

    @property
    def blocks(self) -> tuple[slice, slice] | None:
        """The halves of the state that forward-backward Euler updates, in that order; None if there are none."""
        return None

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        """Returns dh/dt of the first of `blocks`, and that of the second as a function of where the first one is.

        Override it if the blocks share something that need not be computed twice, such as gates that depend on the part of
        `h` that does not move.
        """
        assert self.blocks is not None, f"{type(self).__name__} has one block of state"
        first, second = self.blocks
        return self.vector_field(h, x)[first], lambda moved: self.vector_field(h.at[first].set(moved), x)[second]

    @abc.abstractmethod
    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns dh/dt, in units of state per second."""

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        """Returns the part of the state that a readout sees."""
        return h


class GatedCell(Cell):
    """A cell whose vector field is a product, tau dh/dt = gate * drift. Analyses then look for zeros of the drift alone."""

    @abc.abstractmethod
    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns the factor that vanishes at an equilibrium, whatever the gate does."""

    @abc.abstractmethod
    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns the other factor, each component between 0 (closed) and 1 (open)."""


def check_sizes(inputs: int, state: int) -> tuple[int, int]:
    """Checks the two sizes that every cell is built from."""
    return errors.whole("inputs", inputs), errors.whole("state", state)

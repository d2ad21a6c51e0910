"""The dynamical system of an analysis: a flow, the map that its solver iterates, and the factors of a gated flow."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell, GatedCell
from gnode.cells.torch_state import refuse_module
from gnode.network import AbstractNetwork, Network
from gnode.precision import double, to_dtype
from gnode.solve import Solver, advance, rollout_batch_at_once
from gnode.solve.fixed_step import Bin, fixed_step, has_fixed_step
from gnode.solve.fixed_step import bins_of as bins_of_input
from gnode.solve.parallel import is_at_once
from gnode.wording import plural

State = Float[Array, " state"]
Field = Callable[[Any, Any], Any]
"""A function f(h, x) that returns dh/dt."""


class FieldCell(Cell):
    """A cell whose vector field is a user's function f(h, x)."""

    field: Field = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def vector_field(self, h: State, x: Float[Array, " inputs"]) -> State:
        return jnp.asarray(self.field(h, x))


class System(eqx.Module):
    """A cell at a constant input x: the autonomous system dh/dt = f(h, x).

    | symbol  | member     | meaning                                                                 |
    |---------|------------|-------------------------------------------------------------------------|
    | f       | `flow`     | dh/dt, per second                                                       |
    | -h + F  | `drift`    | f without the gate and without tau (gated cells only)                   |
    | G       | `gate`     | the gate, between 0 (closed) and 1 (open) (gated cells only)            |
    |         | `step`     | the map that the solver iterates: the state one bin of `dt` later       |
    |         | `residual` | the expression that vanishes at an equilibrium, in units of state       |
    | 1 / tau | `rate`     | the rate of the cell, per second; 1 for a function f                    |

    A cell that jumps when a sample arrives, or has a map in place of an equation, has no f that says where the state goes
    (`Cell.is_flow`). Then `flow` is the mean velocity of a bin, (step(h) - h) / dt, which vanishes at the fixed points of
    the map, and stability is that of the map.

    No example: made by `system`.
    """

    cell: Cell
    network: AbstractNetwork | None
    x: Float[np.ndarray | Array, " inputs"]
    rate: Float[np.ndarray | Array, ""]
    solver: Solver = eqx.field(static=True)
    dt: float | None = eqx.field(static=True)

    @property
    def size(self) -> int:
        """N, the number of phase-space dimensions."""
        return self.cell.state_size

    def __repr__(self) -> str:
        name = type(self.cell).__name__
        return f"System({name}, {plural(self.size, 'dimension')}, {self.solver.method}, dt={self.dt})"

    @property
    def is_flow(self) -> bool:
        """Whether the cell is a flow; otherwise it is a map of one bin."""
        return self.cell.is_flow

    @property
    def is_gated(self) -> bool:
        """Whether f is known as the product of a gate and a drift."""
        return isinstance(self.cell, GatedCell) and self.is_flow

    @checked
    def flow(self, h: State) -> State:
        """Returns dh/dt, per second; for a cell that is a map, (step(h) - h) / dt."""
        self._check(h)
        if self.is_flow:
            return self.cell.vector_field(h, jnp.asarray(self.x))
        return (self._mapped(h) - h) / self.bin()

    @checked
    def drift(self, h: State) -> State:
        """Returns -h + F of a gated cell."""
        self._check(h)
        return self._gated().drift(h, jnp.asarray(self.x))

    @checked
    def gate(self, h: State) -> State:
        """Returns G of a gated cell."""
        self._check(h)
        return self._gated().gate(h, jnp.asarray(self.x))

    @checked
    def step(self, h: State, x: Float[Array, " inputs"] | None = None) -> State:
        """Returns the state one bin later, under the input `x` (by default the system's own)."""
        self._check(h)
        length = self.bin()
        if x is not None and x.shape != (self.cell.inputs,):
            raise errors.ArgumentError(f"x has shape {x.shape}, but must have shape ({self.cell.inputs},).")
        held = jnp.asarray(self.x if x is None else x)
        return advance(self.cell, jnp.asarray(h), (held, held, jnp.asarray(length, dtype=h.dtype)), self.solver)

    def bin(self) -> float:
        """Returns the length of a bin in seconds.

        **Raises:** `ArgumentError` if it is not known.
        """
        if self.dt is not None:
            return self.dt
        if self.is_flow:
            raise errors.ArgumentError(
                "dt is missing: a system without it has a flow, but no steps; pass dt to system."
            )
        raise errors.ArgumentError(
            f"dt is missing: a {type(self.cell).__name__} is a map of one bin and no flow, so pass the length of a bin in "
            f"seconds, such as dt=0.1."
        )

    def path(self, starts: Array, xs: Float[Array, "time inputs"]) -> Float[Array, "time count state"]:
        """Returns the states after every bin of `xs`, from several starts; all bins at once if the solver says so."""
        return self.followed(starts, xs)[0]

    def followed(self, starts: Array, xs: Array) -> tuple[Float[Array, "time count state"], Bool[Array, ""]]:
        """Returns what `path` does, and whether the rounds of all bins at once converged, if the solver asks for them."""
        dt = jnp.full(len(xs), self.bin(), starts.dtype)
        if not is_at_once(self.solver):

            def step(h: Array, bin: Bin) -> tuple[Array, Array]:
                h = jax.vmap(lambda h: advance(self.cell, h, tuple(bin), self.solver))(h)
                return h, h

            bins = bins_of_input(self.cell, xs.astype(starts.dtype), dt, self.solver)
            return jax.lax.scan(step, starts, bins)[1], jnp.bool_(True)
        every, lengths = (jnp.broadcast_to(one, (len(starts), *one.shape)) for one in (xs.astype(starts.dtype), dt))
        found = rollout_batch_at_once(self.cell, every, starts, lengths, self.solver)
        return jnp.swapaxes(found.states, 0, 1), found.converged

    def residual(self, h: State) -> State:
        # G * (-h + F) = 0 is worse conditioned than -h + F = 0, and also nearly holds wherever the gate is shut.
        """Returns -h + F of a gated cell, tau f of any other."""
        return self.drift(h) if self.is_gated else self.flow(h) / self.rate

    def scaled_flow(self, h: State) -> State:
        """Returns tau f."""
        return self.flow(h) / self.rate

    def _mapped(self, h: State) -> State:
        """Returns the state one bin later, by steps that have a forward derivative."""
        length = jnp.asarray(self.bin(), dtype=h.dtype)
        if has_fixed_step(self.solver):
            return fixed_step(self.cell, h, jnp.asarray(self.x), length, self.solver)
        step = jax.custom_jvp(self.step)  # the steps of diffrax have a backward derivative alone
        step.defjvp(lambda given, moved: (self.step(*given), jax.jacrev(self.step)(*given) @ moved[0]))
        return step(h)

    def _check(self, h: State) -> None:
        if h.shape != (self.size,):
            raise errors.ArgumentError(f"h has shape {h.shape}, but must have shape ({self.size},), one state.")

    def _gated(self) -> GatedCell:
        if not isinstance(self.cell, GatedCell):
            raise errors.ArgumentError(f"a {type(self.cell).__name__} has no gate and no drift; use flow.")
        return self.cell


@checked
def system(
    source: AbstractNetwork | Cell | Field | System,
    *,
    x: Any = None,
    dt: float | None = None,
    state: int | None = None,
    method: str | Solver | None = None,
) -> System:
    """Builds the `System` that the analyses work on from a network, a cell, or a function f(h, x).

    **Arguments:**

    - `source`: the network, cell, or function; or a `System`, of which `x`, `dt` and `method` change what is given.
    - `x`: the constant input, zero by default.
    - `dt`: the length of a bin in seconds; without it only the flow can be analysed.
    - `state`: the number of dimensions; required for a function, ignored otherwise.
    - `method`: the integrator of the map; by default that of the network or cell, and the Euler step for a function.

    **Returns:** a `System`. It keeps the dtype of `source`; analyses cast it to float64.

    >>> system(lambda h, x: -h, state=3).size
    3
    """
    if isinstance(source, System):
        return _changed(source, x, dt, method)
    network = source if isinstance(source, Network) else None
    if isinstance(source, Network):
        cell, solver = source.cell, source.solver
    elif isinstance(source, AbstractNetwork):
        raise errors.ArgumentError(
            f"source is a {type(source).__name__}, but must be a gnode.Network, a cell or a function f(h, x), which have a "
            f"flow at a constant input."
        )
    elif isinstance(source, Cell):
        cell, solver = source, Solver(source.default_method)
    elif callable(source):
        refuse_module("source", source)
        cell, solver = _field_cell(source, x, state), Solver()
    else:
        raise errors.ArgumentError(
            f"source is a {type(source).__name__}, but must be a network, a cell or a function f(h, x)."
        )
    made = System(cell, network, _checked_input(cell, x), _rate(cell), solver, None)
    return _changed(made, None, dt, method)


def _changed(of: System, x: Any, dt: float | None, method: str | Solver | None) -> System:
    """Returns a system with another input, bin or integrator, where one is given."""
    solver = of.solver if method is None else method if isinstance(method, Solver) else Solver(method)
    held = of.x if x is None else _checked_input(of.cell, x)
    return System(of.cell, of.network, held, of.rate, solver, of.dt if dt is None else float(errors.positive("dt", dt)))


def in_double(source: System) -> System:
    """Casts a system to float64. Call it inside `gnode.precision.double()`."""
    return to_dtype(source, jnp.float64)


def states_of(states: Any, size: int, name: str = "states") -> Float[np.ndarray, "count state"]:
    """Returns states of any shape, whose last axis is the state, as a checked float64 matrix with one state per row."""
    array = errors.array(name, states, finite=False)
    if array.ndim == 0 or array.shape[-1] != size:
        raise errors.ArgumentError(
            f"{name} has shape {array.shape}, but its last axis must have the state's size, {size}."
        )
    array = array.reshape(-1, size)
    if array.shape[0] == 0:
        raise errors.ArgumentError(f"{name} is empty, but must hold at least one state.")
    if not np.all(np.isfinite(array)):
        raise errors.ArgumentError(f"{name} holds values that are not finite.")
    return array


def last_axis(states: Any, name: str = "states") -> int:
    """Returns the length of the last axis of states, which is the size of one.

    **Raises:** `ArgumentError` if they are not an array of numbers with at least one axis.
    """
    shape = errors.array(name, states, finite=False).shape
    if not shape or shape[-1] == 0:
        raise errors.ArgumentError(f"{name} has shape {shape}, but its last axis must be a state.")
    return shape[-1]


def bins_of(name: str, span: float, dt: float) -> int:
    """Returns a time in seconds as a number of bins.

    **Raises:** `ArgumentError` if there are too many of them to be counted.
    """
    if span > errors.LARGEST_COUNT * dt:
        raise errors.ArgumentError(f"{name} is {span:g} s, too many bins of {dt:g} s; make it shorter, or dt longer.")
    return round(span / dt)


def in_chunks(
    function: Callable[[System, Array], Any],
    of: System,
    states: Float[np.ndarray, "count state"],
    chunk: int = 512,
) -> Any:
    """Evaluates `function(system, state)` for every state in float64, at most `chunk` at a time, as numpy arrays."""
    with double():
        precise = in_double(of)
        blocks = []
        for start in range(0, len(states), chunk):
            block = states[start : start + chunk]
            whole = chunk if start else _padded(len(block), chunk)  # the last block is as long as those before it
            padded = np.concatenate([block, np.repeat(block[-1:], whole - len(block), axis=0)])
            values = _batched(function, precise, jax.device_put(padded))
            size = len(block)
            blocks.append(jax.tree.map(lambda value, size=size: np.asarray(value)[:size], values))
        return jax.tree.map(lambda *values: np.concatenate(values), *blocks)


def flow_of(source: System, h: State) -> State:
    return source.flow(h)


def drift_of(source: System, h: State) -> State:
    return source.drift(h)


def gate_of(source: System, h: State) -> State:
    return source.gate(h)


def outputs_of(source: System, h: State) -> Float[Array, " outputs"]:
    """Returns the readout of a state at the constant input; the state itself without a network."""
    if source.network is None:
        return h
    return source.network.read(h, jnp.asarray(source.x, h.dtype))


def _field_cell(field: Field, x: Any, state: int | None) -> FieldCell:
    if state is None:
        raise errors.ArgumentError("state is missing: pass the number of dimensions of the function f(h, x).")
    units = errors.whole("state", state)
    errors.affordable("state", state, 8.0 * units)
    inputs = 0 if x is None else errors.array("x", x, ("inputs",)).size
    example = (jax.ShapeDtypeStruct((units,), float), jax.ShapeDtypeStruct((inputs,), float))
    try:
        found = jax.eval_shape(lambda h, x: jnp.asarray(field(h, x)), *example)
    except Exception as problem:  # whatever a user's function raises
        reason = errors.shortened(f"{type(problem).__name__}: {problem}")
        raise errors.ArgumentError(
            f"source fails as a function f(h, x) of a state of size {units} and an input of size {inputs} ({reason})."
        ) from problem
    if found.shape != (units,):
        raise errors.ArgumentError(
            f"source returns an array of shape {found.shape} for a state of size {units}, but must return one of shape "
            f"({units},)."
        )
    return FieldCell(field=field, inputs=inputs, units=units)


def _checked_input(cell: Cell, x: Any) -> Float[np.ndarray, " inputs"]:
    return np.zeros(cell.inputs) if x is None else errors.array("x", x, (cell.inputs,))


def _rate(cell: Cell) -> Float[np.ndarray, ""]:
    return np.asarray(1 / np.mean(np.asarray(cell.time_constant, dtype=np.float64)))


def _padded(count: int, chunk: int) -> int:
    """Returns the next power of two, so that blocks of any size share a few compilations."""
    return min(chunk, 1 << max(count - 1, 0).bit_length())


@eqx.filter_jit
def _batched(function: Callable[[System, Array], Any], of: System, states: Array) -> Any:
    return jax.vmap(lambda h: function(of, h))(states)

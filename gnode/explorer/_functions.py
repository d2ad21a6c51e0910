"""The functions of a network that the page computes, as programs."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode.cells import Cell, GatedCell
from gnode.network import Network
from gnode.programs import Constants, NamedArrays, NotExportable, Purpose, Shape, program
from gnode.solve import Solver
from gnode.solve.fixed_step import fixed_step, has_fixed_step

BATCH, LARGE_BATCH = 64, 16
"""The number of states of a call of `field_batch`, and that of a large network, of which a call must not take a frame."""
LARGE = 20_000
"""The number of weights of a large network."""

SHOWN = Purpose("be shown in the explorer", "the page")

Tree = Any


@dataclasses.dataclass(frozen=True)
class Exported:
    """The programs of a network, the arrays that they use, and sentences about what could not be exported."""

    programs: dict[str, dict[str, Any]]
    arrays: dict[str, np.ndarray]
    notes: list[str]


class _OpenGate(Cell):
    """A gated cell whose gate is held at 1: tau dh/dt = drift."""

    cell: GatedCell
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    @property
    def state_size(self) -> int:
        return self.cell.state_size

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.cell.drift(h, x) / jnp.asarray(self.cell.time_constant)


def _opened(cell: Any) -> _OpenGate:
    return _OpenGate(cell, cell.inputs, cell.units)


def check_is_flow(cell: Cell) -> None:
    """Raises `NotExportable` for a cell whose fixed points are not those of its vector field, which the page draws."""
    if not cell.is_flow:
        raise NotExportable(
            f"the states of {type(cell).__name__} cannot be shown in the explorer: they follow a map from bin to bin, but "
            "the page shows flows; see the figures of its report (gnode analyse)."
        )


def exported(source: Network | Cell, solver: Solver) -> Exported:
    """Writes the functions of a network or cell as programs.

    **Raises:** `NotExportable` if the vector field uses an operation that the page does not know, or there is no flow.
    """
    check_is_flow(source.cell if isinstance(source, Network) else source)
    return _Export(source, solver).run()


class _Export:
    def __init__(self, source: Network | Cell, solver: Solver):
        self.arrays = NamedArrays(source)
        self.network = source if isinstance(source, Network) else None
        self.cell = source.cell if isinstance(source, Network) else source
        self.solver = solver
        self.name = type(self.cell).__name__
        self.own: Constants = {}
        self.found = Exported({}, {}, [])

    def run(self) -> Exported:
        state, inputs = (self.cell.state_size,), (self.cell.inputs,)
        both = (state, inputs)
        self._field("field", "vector field", lambda cell: cell.vector_field)
        if isinstance(self.cell, GatedCell):
            self._gate(both)
        if has_fixed_step(self.solver):
            step = self._step
            self._optional("step", "map of one step", step, (*both, ()))
            if "step" in self.found.programs:
                self._optional("jacobian_step", "Jacobian of the map", _jacobian(step), (*both, ()))
        else:
            self.found.notes.append(
                f"The solver {self.solver.method} chooses its own steps, which the page cannot repeat; it takes those of "
                "the classical Runge-Kutta method instead."
            )
        if self.network is not None:
            self._readout(both)
            self._optional("initial", "initial state", lambda tree, x: tree.initial(x), (inputs,))

        self._note_what_is_left_out()
        return self.found

    def _note_what_is_left_out(self) -> None:
        if self.cell.has("diffusion"):
            self.found.notes.append(f"The noise of {self.name} is left out: the page shows its drift.")
        if self.cell.has("control"):
            self.found.notes.append(
                f"{self.name} is also moved by changes of its input, which the page leaves out: it shows the flow at inputs "
                f"that are held."
            )

    def _readout(self, both: tuple[Shape, Shape]) -> None:
        """Exports the readout as a function of the state, unless it sees the input, too."""
        if type(self.cell).seen is not Cell.seen:
            try:
                whole = self._program("readout", lambda tree, h, x: tree.read(h, x), both)
            except NotExportable as problem:
                self.found.notes.append(str(problem))
                return
            if _uses(whole, 1):
                self.found.notes.append(
                    f"The readout of {self.name} sees the input beside the state, which the page does not know, so it shows "
                    f"no outputs."
                )
                return
        self._optional("readout", "readout", lambda tree, h: tree.read(h), both[:1])

    def _cell(self, tree: Tree) -> Any:
        return tree if self.network is None else tree.cell

    def _step(self, tree: Tree, h: Any, x: Any, dt: Any) -> Any:
        return fixed_step(self._cell(tree), h, x, dt, self.solver)

    def _field(self, name: str, words: str, of: Callable[[Any], Callable[[Any, Any], Any]]) -> None:
        """Exports a field, the field of a batch of states, and its Jacobian."""
        state, inputs = (self.cell.state_size,), (self.cell.inputs,)

        def field(tree: Tree, h: Any, x: Any) -> Any:
            return jnp.asarray(of(self._cell(tree))(h, x))

        def batch(tree: Tree, hs: Any, x: Any) -> Any:
            return jax.vmap(lambda h: field(tree, h, x))(hs)

        jacobian = "jacobian" + name.removeprefix("field")
        self._add(name, words, field, (state, inputs))
        count = BATCH if sum(array.size for array in self.arrays.named.values()) <= LARGE else LARGE_BATCH
        self._add(f"{name}_batch", f"{words} of several states", batch, ((count, *state), inputs))
        self._add(jacobian, f"Jacobian of the {words}", _jacobian(field), (state, inputs))

    def _gate(self, both: tuple[Shape, Shape]) -> None:
        """Exports the gate and the field with an open gate, unless the gate is always open."""
        self._optional("gate", "gate", lambda tree, h, x: self._cell(tree).gate(h, x), both)
        gate = self.found.programs.get("gate")
        if gate is None or _is_fixed(gate):
            self.found.programs.pop("gate", None)
            return
        tau = np.shape(self.cell.time_constant)
        if tau not in ((), both[0]):
            self.found.notes.append(
                "The gate cannot be held open in the page: there are more state variables than tau."
            )
            return
        try:
            self._field("field_open_gate", "vector field with an open gate", lambda cell: _opened(cell).vector_field)
            if has_fixed_step(self.solver) and self.solver.method != "forward_backward_euler":
                self._add("step_open_gate", "map with an open gate", self._step_open_gate, (*both, ()))
        except NotExportable as problem:
            self.found.notes.append(str(problem))

    def _step_open_gate(self, tree: Tree, h: Any, x: Any, dt: Any) -> Any:
        return fixed_step(_opened(self._cell(tree)), h, x, dt, self.solver)

    def _optional(self, name: str, words: str, function: Callable[..., Any], inputs: tuple[Shape, ...]) -> None:
        try:
            self._add(name, words, function, inputs)
        except NotExportable as problem:
            self.found.notes.append(str(problem))

    def _program(self, words: str, function: Callable[..., Any], inputs: tuple[Shape, ...]) -> dict[str, Any]:
        return program(
            lambda named, *given: function(self.arrays.tree(named), *given),
            self.arrays.named,
            inputs,
            purpose=SHOWN,
            own=self.own,
            what=f"the {words} of {self.name}",
        )

    def _add(self, name: str, words: str, function: Callable[..., Any], inputs: tuple[Shape, ...]) -> None:
        made = self._program(words, function, inputs)
        self.found.programs[name] = made
        available = self.arrays.named | self.own
        self.found.arrays.update({constant: available[constant] for constant in made["constants"]})


def _jacobian(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the Jacobian with respect to the state, the second argument."""

    def jacobian(tree: Tree, h: Any, *others: Any) -> Any:
        try:
            return jax.jacfwd(function, argnums=1)(tree, h, *others)
        except TypeError:  # a function with a derivative of its own for the reverse mode alone
            return jax.jacrev(function, argnums=1)(tree, h, *others)

    return jacobian


def _uses(whole: dict[str, Any], place: int) -> bool:
    """Whether a program depends on one of its inputs."""
    return place in whole["outputs"] or any(place in equation["in"] for equation in whole["equations"])


def _is_fixed(gate: dict[str, Any]) -> bool:
    """Whether a program depends on no input."""
    return not any(place < len(gate["inputs"]) for equation in gate["equations"] for place in equation["in"])

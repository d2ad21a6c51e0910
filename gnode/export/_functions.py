"""The functions of a network that are exported: its first state, one bin, and the readout."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from gnode import errors
from gnode.export._graph import Node, graph_of, in_order
from gnode.network import Network
from gnode.programs import Constants, NamedArrays, NotExportable, Purpose, Shape, program
from gnode.solve import METHODS
from gnode.solve.fixed_step import Bin, has_fixed_step, step_of_bin

EXPORTED = Purpose("be exported", "gnode export", folds=True, in_pairs=True)
CAUSAL = ("hold", "linear")
"""The paths of the input that can be exported; the others look at more than two samples."""


LONGEST_STEP = 120
"""Operations of a step that a file writes out. Of a longer one more than half may be computed once, for bins of one length,
such as the exponential of an LMU's memories."""


@dataclasses.dataclass(frozen=True)
class Functions:
    """The functions of a network as graphs, each with the names of its inputs, and the arrays that they use.

    - `initial`, `step`, `readout`: the graphs.
    - `inputs`: by the name of the function, the names of its inputs in order.
    - `shapes`: the shapes of inputs by their names.
    - `arrays`, `trained`: the arrays by name, in the precision of the export, and the names of those that are trained.
    - `dt`: the length of a bin in seconds; `has_fixed_dt`, whether bins of other lengths are not possible.
    """

    initial: Node
    step: Node
    readout: Node
    inputs: dict[str, tuple[str, ...]]
    shapes: dict[str, Shape]
    arrays: dict[str, np.ndarray]
    trained: frozenset[str]
    dt: float
    has_fixed_dt: bool

    def graph(self, name: str) -> Node:
        return getattr(self, name)


def functions_of(net: Network, dt: float, dtype: Any) -> Functions:
    """Traces a network.

    **Raises:** `NotExportable` with the reason for which it cannot be exported.
    """
    _check(net)
    traced = _Traced(net)
    beside = _beside(net)
    step, has_fixed_dt = _step(traced, beside, dt)
    readout = traced.graph("readout", lambda tree, h, x: tree.read(h, x), ("h", "x"))
    initial = traced.graph("initial state", lambda tree, x: tree.initial(x), ("x",))
    step_inputs = ("h", "x", *(() if has_fixed_dt else ("dt",)), *(one for one in beside if _uses(step, one)))
    used = [node.name for graph in (initial, step, readout) for node in in_order(graph) if node.op == "constant"]
    available = traced.arrays.named | traced.own
    return Functions(
        initial=initial,
        step=step,
        readout=readout,
        inputs={
            "initial": ("x",),
            "step": step_inputs,
            "readout": ("h", "x") if _uses(readout, "x") else ("h",),
        },
        shapes=traced.shapes,
        arrays={name: _in_dtype(available[name], dtype) for name in dict.fromkeys(used)},
        trained=frozenset(traced.arrays.trained & set(used)),
        dt=dt,
        has_fixed_dt=has_fixed_dt,
    )


def _in_dtype(array: np.ndarray, dtype: Any) -> np.ndarray:
    return array if array.dtype == bool else np.asarray(array, dtype)


def _check(net: Any) -> None:
    if not isinstance(net, Network):
        raise NotExportable(
            f"a {type(net).__name__} cannot be exported: only gnode.Network can, a cell that an integrator moves from bin "
            f"to bin."
        )
    solver = net.solver
    if not has_fixed_step(solver):
        fixed = ", ".join(name for name in METHODS if name != "own" and has_fixed_step(type(solver)(name)))
        raise NotExportable(
            f"method {solver.method!r} cannot be exported: it chooses its own steps; train with one of fixed steps: {fixed}."
        )
    if solver.interpolation not in CAUSAL:
        raise NotExportable(
            f"interpolation {solver.interpolation!r} cannot be exported: its cubics need more samples than those at the "
            f"ends of a bin; use {' or '.join(map(repr, CAUSAL))}."
        )


def _beside(net: Network) -> tuple[str, ...]:
    """The inputs that a bin needs beside its own: the sample before or after it."""
    if net.solver.interpolation == "linear":
        return ("after",)
    return ("before",) if net.cell.has("control") else ()


class _Traced:
    """Traces functions of one network, which share their arrays."""

    def __init__(self, net: Network):
        self.net = net
        self.arrays = NamedArrays(net)
        self.own: Constants = {}
        size, inputs = (net.cell.state_size,), (net.inputs,)
        self.shapes: dict[str, Shape] = {"h": size, "x": inputs, "before": inputs, "after": inputs, "dt": ()}

    def graph(
        self,
        words: str,
        function: Callable[..., Any],
        inputs: tuple[str, ...],
        closed_over: frozenset[str] = frozenset(),
    ) -> Node:
        """`closed_over` are arrays whose numbers the function may be computed with once and for all."""
        named = {name: array for name, array in self.arrays.named.items() if name not in closed_over}
        known = {name: self.arrays.named[name] for name in closed_over}

        def call(named: Any, *given: Any) -> Any:
            held = {name: jnp.asarray(array, _double(array)) for name, array in known.items()}
            return function(self.arrays.tree(dict(named) | held), *given)

        made = program(
            call,
            named,
            [self.shapes[name] for name in inputs],
            purpose=EXPORTED,
            own=self.own,
            what=f"the {words} of {type(self.net.cell).__name__}",
        )
        return graph_of(made, inputs, {name: np.shape(array) for name, array in (named | self.own).items()})


def _double(array: np.ndarray) -> Any:
    return jnp.float64 if array.dtype.kind == "f" else array.dtype


def _step(traced: _Traced, beside: tuple[str, ...], dt: float) -> tuple[Node, bool]:
    """Returns the graph of one bin, and whether its length had to be fixed."""
    solver = traced.net.solver

    def step(tree: Any, h: Any, x: Any, dt: Any, *others: Any) -> Any:
        named = dict(zip(beside, others))
        return step_of_bin(tree.cell, h, Bin(x, named.get("after"), dt, named.get("before")), solver)

    def fixed(tree: Any, h: Any, x: Any, *others: Any) -> Any:
        return step(tree, h, x, jnp.asarray(dt, h.dtype), *others)

    words, problem, free = "map of one bin", None, None
    try:
        free = traced.graph(words, step, ("h", "x", "dt", *beside))
        if len(in_order(free)) <= LONGEST_STEP:
            return free, False
    except NotExportable as found:
        problem = found
    # What bins of one length multiply with the arrays that are not trained can be computed here.
    untrained = frozenset(traced.arrays.named.keys() - traced.arrays.trained)
    try:
        of_one_length = traced.graph(words, fixed, ("h", "x", *beside), untrained)
    except NotExportable:
        if free is None:
            raise problem from None  # pyright: ignore[reportGeneralTypeIssues]: one of both is there
        return free, False
    if free is not None and 2 * len(in_order(of_one_length)) > len(in_order(free)):
        return free, False
    return of_one_length, True


def _uses(graph: Node, name: str) -> bool:
    return any(node.op == "input" and node.name == name for node in in_order(graph))


def checked_dt(name: str, dt: Any) -> float:
    """Returns the length of a bin."""
    return float(errors.positive(name, dt))

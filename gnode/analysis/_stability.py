"""Stability of states, from the eigenvalues of the flow's Jacobian and of the map's."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Complex, Float

from gnode import errors
from gnode.analysis._system import Field, System, in_chunks, last_axis, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell, Layers
from gnode.network import AbstractNetwork
from gnode.solve import Solver
from gnode.wording import plural

STABLE, MARGINAL, SADDLE, UNSTABLE, UNDEFINED = "stable", "marginal", "saddle", "unstable", "undefined"
CLASSES: dict[str, str] = {
    STABLE: "every direction decays",
    MARGINAL: "no direction grows, and at least one neither grows nor decays",
    SADDLE: "some directions grow and some decay",
    UNSTABLE: "some directions grow and none decays",
    UNDEFINED: "the derivative is NaN or infinite there, so nothing is known",
}
"""The classes of a state, under the flow or under the map, with their meaning."""

DEFAULT_MARGIN = 1e-2


@dataclasses.dataclass(frozen=True)
class Stability:
    """The eigenvalues at each of `count` states, and what follows from them. D is the Jacobian of f, per second.

    | symbol    | field              | meaning                                                                       |
    |-----------|--------------------|-------------------------------------------------------------------------------|
    | lambda(D) | `flow_eigenvalues` | eigenvalues of D, by decreasing real part                                     |
    | mu        | `map_eigenvalues`  | eigenvalues of the map's Jacobian, by decreasing modulus; None without `dt`   |
    | eta(D)    | `abscissa`         | the largest real part of lambda                                               |
    |           | `radius`           | the largest modulus of mu; None without `dt`                                  |
    |           | `margin`           | a direction is marginal if |Re lambda|, per second, is at most this           |
    |           | `is_flow`          | whether there is a flow; otherwise lambda is ln(mu) / dt, so that both agree  |

    No example: made by `stability`.
    """

    flow_eigenvalues: Complex[np.ndarray, "count state"]
    map_eigenvalues: Complex[np.ndarray, "count state"] | None
    margin: float
    dt: float | None
    is_flow: bool = True

    def __len__(self) -> int:
        return len(self.flow_eigenvalues)

    @property
    def abscissa(self) -> Float[np.ndarray, " count"]:
        """The spectral abscissa, per second, of each state."""
        return np.real(self.flow_eigenvalues[:, 0])

    @property
    def radius(self) -> Float[np.ndarray, " count"] | None:
        """The spectral radius of the map at each state; None without `dt`."""
        return None if self.map_eigenvalues is None else np.abs(self.map_eigenvalues[:, 0])

    @property
    def flow_rates(self) -> Float[np.ndarray, "count state"]:
        """Re lambda: the growth rate of each direction under the flow, per second."""
        return np.real(self.flow_eigenvalues)

    @property
    def map_rates(self) -> Float[np.ndarray, "count state"] | None:
        """ln|mu| / dt: the growth rate of each direction under the map, per second; -inf where mu = 0."""
        if self.map_eigenvalues is None:
            return None
        with np.errstate(divide="ignore"):
            return np.log(np.abs(self.map_eigenvalues)) / self.dt

    @property
    def time_constants(self) -> Float[np.ndarray, "count state"]:
        """1 / |Re lambda| of each direction, in seconds; infinite where Re lambda = 0."""
        with np.errstate(divide="ignore"):
            return 1 / np.abs(self.flow_rates)

    @property
    def unstable(self) -> np.ndarray:
        """The number of growing directions of each state under the flow."""
        return np.sum(self.flow_rates > self.margin, axis=1)

    @property
    def marginal(self) -> np.ndarray:
        """The number of marginal directions of each state under the flow."""
        return np.sum(np.abs(self.flow_rates) <= self.margin, axis=1)

    @property
    def flow_class(self) -> np.ndarray:
        """The class of each state under the flow, from `CLASSES`."""
        return classify(self.flow_rates, self.margin)

    @property
    def map_class(self) -> np.ndarray | None:
        """The class of each state under the map that the solver iterates, from `CLASSES`; None without `dt`."""
        return None if self.map_rates is None else classify(self.map_rates, self.margin)

    @property
    def disagrees(self) -> np.ndarray:
        """Whether flow and map give different classes. This is possible for steps as long as tau."""
        if self.map_class is None:
            return np.zeros(len(self), bool)
        return self.flow_class != self.map_class

    def summary(self) -> dict[str, Any]:
        """Returns the median and quartiles of the abscissa (and radius), and the number of states in each class."""
        if len(self) == 0:
            return {"count": 0}
        numbers: dict[str, Any] = {"count": len(self), "abscissa": _quartiles(self.abscissa)}
        numbers["flow_classes"] = _counts(self.flow_class)
        if self.radius is not None and self.map_class is not None:
            numbers["radius"] = _quartiles(self.radius)
            numbers["map_classes"] = _counts(self.map_class)
            numbers["disagreements"] = int(self.disagrees.sum())
        return numbers

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'state')} of {plural(self.flow_eigenvalues.shape[1], 'dimension')}"
        by_map = "" if self.map_class is None else f"; map: {_in_words(self.map_class)}"
        return f"Stability({size}; flow: {_in_words(self.flow_class)}{by_map})"

    def __getitem__(self, which: Any) -> "Stability":
        mapped = None if self.map_eigenvalues is None else self.map_eigenvalues[which]
        return dataclasses.replace(self, flow_eigenvalues=self.flow_eigenvalues[which], map_eigenvalues=mapped)


@checked
def stability(
    source: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    x: Any = None,
    dt: float | None = None,
    margin: float = DEFAULT_MARGIN,
    method: str | Solver | None = None,
    chunk: int = 512,
) -> Stability:
    """Computes the eigenvalues of the flow and of the map at each state.

    The flow decays along an eigenvector of D = df/dh if Re lambda < 0, the map h -> step(h) if |mu| < 1. One Euler step
    has mu = 1 + dt lambda, so an oscillation that decays under the flow can grow under the map. A cell that is a map and no
    flow (`Cell.is_flow`) needs `dt`; its lambda = ln(mu) / dt is the rate at which perturbations grow from bin to bin.

    **Arguments:**

    - `source`, `x`, `dt`, `method`: as in `system`.
    - `states`: any array whose last axis is the state.
    - `margin`: directions slower than this share of 1 / tau (of one per second for a function) are marginal.
    - `chunk`: the number of Jacobians in memory at a time.

    **Returns:** a `Stability`.

    >>> stability(lambda h, x: -2 * h, np.zeros((1, 3)), dt=0.1)
    Stability(1 state of 3 dimensions; flow: 1 stable; map: 1 stable)
    """
    states = errors.array("states", states)
    of = system(source, x=x, dt=dt, state=last_axis(states), method=method)
    chunk = errors.whole("chunk", chunk)
    rate = errors.not_negative("margin", margin) * float(of.rate)
    if states.size == 0:
        empty = np.zeros((0, of.size), complex)
        return Stability(empty, None if of.dt is None else empty, rate, of.dt, of.is_flow)
    states = states_of(states, of.size)
    flow, mapped = [], []
    for start in range(0, len(states), chunk):
        block = states[start : start + chunk]
        if not of.is_flow:
            mapped.append(_eigenvalues(in_chunks(_map_jacobian, of, block, chunk)))
            flow.append(_rates_of_map(mapped[-1], of.bin()))
            continue
        flow.append(_eigenvalues(in_chunks(_flow_jacobian, of, block, chunk)))
        if of.dt is not None:
            mapped.append(_map_eigenvalues(of, block, flow[-1], of.dt, chunk))
    return Stability(
        _sorted(np.concatenate(flow), by_modulus=False),
        _sorted(np.concatenate(mapped), by_modulus=True) if mapped else None,
        rate,
        of.dt,
        of.is_flow,
    )


def classify(rates: Float[np.ndarray, "count state"], margin: float) -> np.ndarray:
    """Returns a class from `CLASSES` for each row of growth rates; those with a NaN are of a class of their own."""
    unknown = np.any(np.isnan(rates), axis=1)
    grows = np.any(rates > margin, axis=1)
    decays = np.any(rates < -margin, axis=1)
    is_neutral = np.any(np.abs(rates) <= margin, axis=1)
    kinds = [UNDEFINED, SADDLE, UNSTABLE, MARGINAL]
    return np.select([unknown, grows & decays, grows, is_neutral], kinds, STABLE)


def _flow_jacobian(of: System, h: Array) -> Array:
    return jax.jacfwd(of.flow)(h)


def _map_jacobian(of: System, h: Array) -> Array:
    return jax.jacrev(of.step)(h)  # the steps of diffrax have no forward derivative


def _eigenvalues(matrices: Float[np.ndarray, "count n n"]) -> Complex[np.ndarray, "count n"]:
    """Computes eigenvalues on the host: accelerators have no good routine for matrices that are not symmetric."""
    is_finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(matrices.shape[:2], np.nan, dtype=complex)
    if is_finite.any():
        values[is_finite] = np.linalg.eigvals(matrices[is_finite])
    return values


def _map_eigenvalues(of: System, states: np.ndarray, flow: np.ndarray, dt: float, chunk: int) -> np.ndarray:
    # In a bin of layers each one moves under the output that the one below has at the end.
    if of.solver.method == "euler" and of.solver.substeps == 1 and not isinstance(of.cell, Layers):
        return 1 + dt * flow
    return _eigenvalues(in_chunks(_map_jacobian, of, states, chunk))


def _rates_of_map(multipliers: Complex[np.ndarray, "count n"], dt: float) -> Complex[np.ndarray, "count n"]:
    """Returns ln(mu) / dt; the real part is -inf where mu = 0."""
    with np.errstate(divide="ignore"):
        return np.log(np.abs(multipliers)) / dt + 1j * (np.angle(multipliers) / dt)


def _sorted(values: np.ndarray, by_modulus: bool) -> np.ndarray:
    order = np.argsort(-(np.abs(values) if by_modulus else np.real(values)), axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1)


def _quartiles(values: np.ndarray) -> dict[str, float]:
    known = values[~np.isnan(values)]
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75]) if known.size else (np.nan,) * 3
    return {"median": float(middle), "lower_quartile": float(low), "upper_quartile": float(high)}


def _in_words(labels: np.ndarray) -> str:
    return ", ".join(f"{count} {label}" for label, count in _counts(labels).items()) or "none"


def _counts(labels: np.ndarray) -> dict[str, int]:
    return {str(label): int(count) for label, count in zip(*np.unique(labels, return_counts=True))}

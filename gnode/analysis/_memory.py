"""Lifetimes of memories, and the error of a held pulse as a function of its amplitude."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gnode import errors
from gnode.analysis._system import Field, System, bins_of, in_double, last_axis, outputs_of, states_of, system
from gnode.arguments import checked, checked_class
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.precision import double
from gnode.solve import Solver
from gnode.solve.parallel import warn_if_by_loop
from gnode.types import Key, numpy_generator
from gnode.wording import plural

PAPER_RANGES = ((0.0, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
"""The ranges of amplitudes on which the paper tests the annulus network, which was trained on 1 to 2."""


@dataclasses.dataclass(frozen=True)
class MemoryLifetime:
    """The drift of outputs without input.

    | field             | meaning                                                                                 |
    |-------------------|-----------------------------------------------------------------------------------------|
    | `tolerance`       | the error that ends a memory                                                            |
    | `horizon`         | the simulated time in seconds                                                           |
    | `times`           | the times of the bins in seconds                                                        |
    | `error_quartiles` | the quartiles of |y(t) - y(0)| over states, 3 x times                                   |
    | `lifetimes`       | the time at which the error of each state first exceeds `tolerance`, infinite if never  |

    No example: made by `memory_lifetime`.
    """

    tolerance: float
    horizon: float
    times: Float[np.ndarray, " times"]
    error_quartiles: Float[np.ndarray, "3 times"]
    lifetimes: Float[np.ndarray, " states"]

    def __repr__(self) -> str:
        lasting = f"median {self.median:.3g} s, {self.surviving:.0%} outlast {self.horizon:.3g} s"
        return f"MemoryLifetime({plural(len(self.lifetimes), 'state')}: {lasting}, tolerance {self.tolerance:g})"

    @property
    def median(self) -> float:
        """The median lifetime in seconds; infinite if at least half of the memories outlast the horizon."""
        return float(np.median(self.lifetimes))

    @property
    def surviving(self) -> float:
        """The share of memories that outlast the horizon."""
        return float(np.mean(np.isinf(self.lifetimes)))


@checked_class
@dataclasses.dataclass(frozen=True)
class AmplitudeError:
    """The error of memories with amplitudes between `low` and `high`.

    `mean_square` and `upper_quartile` are over `count` pulses or trials, each averaged over outputs.

    >>> AmplitudeError(0.0, 0.5, mean_square=0.01, upper_quartile=0.02, count=200).mean_square
    0.01
    """

    low: float
    high: float
    mean_square: float
    upper_quartile: float
    count: int


@checked
def memory_lifetime(
    source: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    dt: float,
    tolerance: float = 0.1,
    horizon: float | None = None,
    x: Any = None,
    method: str | Solver | None = None,
) -> MemoryLifetime:
    """Iterates the map from each state at a constant input, and measures how long its output stays where it was.

    **Arguments:**

    - `source`, `x`, `dt`, `method`: as in `system`.
    - `states`: the initial states.
    - `tolerance`: the largest |y(t) - y(0)| of a memory that still holds.
    - `horizon`: the simulated time in seconds, 1000 bins by default.

    **Returns:** a `MemoryLifetime`.

    >>> memory = memory_lifetime(lambda h, x: -h, [[1.0]], dt=0.01, tolerance=0.5, horizon=2)
    >>> round(memory.median, 2)  # near ln 2
    0.69
    """
    of = system(source, x=x, dt=errors.positive("dt", dt), state=last_axis(states), method=method)
    matrix, dt = states_of(states, of.size), float(dt)
    errors.positive("tolerance", tolerance)
    span = 1000 * dt if horizon is None else errors.positive("horizon", horizon)
    bins = max(1, bins_of("horizon", span, dt))
    errors.affordable("horizon", span, 8.0 * bins * matrix.size)
    with double():
        outputs, converged = _let_go(in_double(of), jnp.asarray(matrix), bins)
    warn_if_by_loop(converged)
    outputs = np.asarray(outputs)
    departure = np.linalg.norm(outputs - outputs[0], axis=-1)
    departure = np.where(np.isfinite(departure), departure, np.inf)
    has_passed = departure > tolerance
    times = dt * np.arange(bins + 1)
    lifetimes = np.where(has_passed.any(axis=0), times[np.argmax(has_passed, axis=0)], np.inf)
    quartiles = np.quantile(departure, [0.25, 0.5, 0.75], axis=1, method="nearest")
    return MemoryLifetime(tolerance, bins * dt, times, quartiles, lifetimes)


@eqx.filter_jit
def _let_go(of: System, states: Array, bins: int) -> tuple[Float[Array, "time states outputs"], Bool[Array, ""]]:
    path, converged = of.followed(states, jnp.broadcast_to(jnp.asarray(of.x), (bins, of.cell.inputs)))
    return jax.vmap(jax.vmap(lambda h: outputs_of(of, h)))(jnp.concatenate([states[None], path])), converged


@checked
def hold_pulses(
    net: AbstractNetwork,
    values: Any,
    *,
    dt: float,
    pulse_bins: int = 2,
    lead_bins: int = 10,
    wait_bins: int = 50,
    together: bool = True,
) -> Float[np.ndarray, "count outputs"]:
    """Returns the outputs of a network some time after a pulse of each value.

    The input is zero for `lead_bins`, the pulse for `pulse_bins`, and zero for `wait_bins`.

    **Arguments:**

    - `net`: a network with as many outputs as inputs.
    - `values`: the amplitudes, count x channels.
    - `dt`: the length of a bin in seconds.
    - `pulse_bins`, `lead_bins`, `wait_bins`: the lengths of the three phases.
    - `together`: whether all channels have their pulse at once; otherwise one after another, `lead_bins` apart.

    **Returns:** the outputs in the last bin, count x outputs.

    >>> from gnode import Network, cells
    >>> net = Network(cells.rnn(1, 2, key=0), outputs=1, key=1)
    >>> hold_pulses(net, [[1.0], [2.0]], dt=0.1, wait_bins=8).shape
    (2, 1)
    """
    channels = net.cell.inputs
    values = _in_single(errors.array("values", values, ("count", channels)), "values")
    if net.outputs != channels:
        raise errors.ArgumentError(
            f"net has {net.outputs} outputs and {channels} inputs, but must have as many of both."
        )
    pulse, lead = errors.whole("pulse_bins", pulse_bins), errors.whole("lead_bins", lead_bins, at_least=1)
    groups = [list(range(channels))] if together else [[channel] for channel in range(channels)]
    time = len(groups) * (lead + pulse) + errors.whole("wait_bins", wait_bins, at_least=0)
    errors.affordable("wait_bins", wait_bins, 4.0 * values.size * time)
    xs = np.zeros((len(values), time, channels), dtype=np.float32)
    for turn, group in enumerate(groups):
        onset = lead + turn * (lead + pulse)
        xs[:, onset : onset + pulse, group] = values[:, None, group]
    return np.asarray(net.run(jnp.asarray(xs), dt=dt).outputs[:, -1], dtype=np.float64)


@checked
def error_by_amplitude(
    net: AbstractNetwork,
    *,
    dt: float,
    ranges: Sequence[tuple[float, float]] = PAPER_RANGES,
    count: int = 200,
    together: bool = True,
    key: Key | int = 0,
    **timing: int,
) -> list[AmplitudeError]:
    """Measures the error of held pulses by their amplitude, inside and outside the range of training.

    **Arguments:**

    - `net`, `dt`, `together`: as in `hold_pulses`.
    - `ranges`: ranges of the amplitude. If the channels are pulsed `together`, it is the norm of the vector of all
      channels, in a random direction; otherwise it is the absolute value of each channel.
    - `count`: the number of pulses per range.
    - `key`: the seed of the pulses.
    - `timing`: the lengths of the phases, as in `hold_pulses`.

    **Returns:** one `AmplitudeError` per range.

    >>> from gnode import Network, cells
    >>> net = Network(cells.rnn(1, 2, key=0), outputs=1, key=1)
    >>> error_by_amplitude(net, dt=0.1, ranges=[(1, 2)], count=2, wait_bins=8)[0].count
    2
    """
    generator = numpy_generator(key)
    shape = (errors.whole("count", count), net.cell.inputs)
    errors.affordable("count", count, 8.0 * shape[0] * shape[1])
    for low, high in ranges:
        if not 0 <= low < high < np.inf:
            raise errors.ArgumentError(f"ranges holds ({low}, {high}), but must hold pairs with 0 <= low < high.")
    by_range = []
    for low, high in ranges:
        if together:
            directions = generator.standard_normal(shape)
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            values = directions * generator.uniform(low, high, (shape[0], 1))
        else:
            values = generator.choice([-1.0, 1.0], shape) * generator.uniform(low, high, shape)
        squares = np.mean((hold_pulses(net, values, dt=dt, together=together, **timing) - values) ** 2, axis=1)
        by_range.append(AmplitudeError(low, high, float(squares.mean()), float(np.quantile(squares, 0.75)), count))
    return by_range


@checked
def trial_error(
    net: AbstractNetwork, inputs: Any, targets: Any, *, dt: float, span: tuple[float, float]
) -> AmplitudeError:
    """Measures the error on trials of a task whose pulses have amplitudes in the range `span`.

    **Arguments:**

    - `net`: the network.
    - `inputs`, `targets`: trials x time x channels.
    - `dt`: the length of a bin in seconds.
    - `span`: the smallest and the largest amplitude.

    **Returns:** an `AmplitudeError`.

    >>> from gnode import Network, cells
    >>> net = Network(cells.rnn(1, 2, key=0), outputs=1, key=1)
    >>> trial_error(net, np.zeros((2, 20, 1)), np.zeros((2, 20, 1)), dt=0.1, span=(0, 1)).count
    2
    """
    xs = _in_single(errors.array("inputs", inputs, ("trials", "time", net.inputs)), "inputs")
    wanted = errors.array("targets", targets, (*xs.shape[:2], net.outputs))
    if not -np.inf < span[0] <= span[1] < np.inf:
        raise errors.ArgumentError(f"span is {errors.shown(span)}, but must be (low, high) with low <= high.")
    outputs = np.asarray(net.run(jnp.asarray(xs), dt=dt).outputs)
    squares = np.mean((outputs - wanted) ** 2, axis=(1, 2))
    return AmplitudeError(*span, float(squares.mean()), float(np.quantile(squares, 0.75)), len(squares))


def _in_single(values: np.ndarray, name: str) -> np.ndarray:
    """Returns numbers as networks take them.

    **Raises:** `ArgumentError` for those that float32 does not hold.
    """
    if np.max(np.abs(values)) > np.finfo(np.float32).max:
        raise errors.ArgumentError(f"{name} holds numbers beyond float32, which networks compute in; scale them down.")
    return values.astype(np.float32)

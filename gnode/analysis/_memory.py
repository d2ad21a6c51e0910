"""How long a memory lasts, and how its error depends on what is to be remembered."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._system import Field, System, in_double, outputs_of, states_of, system
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.precision import double
from gnode.types import Key, numpy_generator

PAPER_RANGES = ((0.0, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
"""Amplitudes of the paper's tests of the annulus network, which was trained on 1 to 2."""


@dataclasses.dataclass(frozen=True)
class MemoryLifetime:
    """How outputs drift away when nothing comes in.

    `times` in seconds; `error_quartiles` (3 x times) of |y(t) - y(0)|; `lifetimes`, the first time the error
    of each state passes `tolerance`, infinite where it never did within `horizon` seconds.
    """

    tolerance: float
    horizon: float
    times: Float[np.ndarray, " times"]
    error_quartiles: Float[np.ndarray, "3 times"]
    lifetimes: Float[np.ndarray, " states"]

    @property
    def median(self) -> float:
        """Infinite when at least half of the memories outlive the horizon."""
        return float(np.median(self.lifetimes))

    @property
    def surviving(self) -> float:
        """The share of memories that outlive the horizon."""
        return float(np.mean(np.isinf(self.lifetimes)))


@dataclasses.dataclass(frozen=True)
class AmplitudeError:
    """The error of memories of amplitudes between `low` and `high`: mean square per output, over `count` of
    them.
    """

    low: float
    high: float
    mean_square: float
    upper_quartile: float
    count: int


def memory_lifetime(
    source: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    dt: float,
    tolerance: float = 0.1,
    horizon: float | None = None,
    x: Any = None,
    method: Any = None,
) -> MemoryLifetime:
    """Lets each state go by itself under the map, and watches its output leave.

    **Arguments:** `source`, `x`, `dt`, `method` as in `system`; `states` to start from; `tolerance` of |y(t)
    - y(0)|; `horizon` in seconds, 1000 bins by default.

    **Returns:** a `MemoryLifetime`.

    >>> found = memory_lifetime(lambda h, x: -h, [[1.0]], dt=0.01, tolerance=0.5, horizon=2)
    >>> round(found.median, 2)  # near ln 2
    0.69
    """
    of = system(source, x=x, dt=errors.positive("dt", dt), state=np.shape(states)[-1], method=method)
    matrix = states_of(states, of.size)
    span = 1000 * dt if horizon is None else errors.positive("horizon", horizon)
    bins = max(1, round(span / dt))
    with double():
        outputs = np.asarray(_let_go(in_double(of), jnp.asarray(matrix), bins))
    departure = np.linalg.norm(outputs - outputs[0], axis=-1)
    departure = np.where(np.isfinite(departure), departure, np.inf)
    has_passed = departure > errors.positive("tolerance", tolerance)
    times = dt * np.arange(bins + 1)
    lifetimes = np.where(has_passed.any(axis=0), times[np.argmax(has_passed, axis=0)], np.inf)
    quartiles = np.quantile(departure, [0.25, 0.5, 0.75], axis=1, method="nearest")
    return MemoryLifetime(tolerance, bins * dt, times, quartiles, lifetimes)


@eqx.filter_jit
def _let_go(of: System, states: Array, bins: int) -> Float[Array, "time states outputs"]:
    def step(h: Array, _: None) -> tuple[Array, Array]:
        return jax.vmap(of.step)(h), jax.vmap(lambda h: outputs_of(of, h))(h)

    return jax.lax.scan(step, states, length=bins + 1)[1]


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
    """What a network still outputs, some time after a pulse of each value.

    **Arguments:** `values` (count x channels), as many channels as inputs and outputs; silence for
    `lead_bins`, the pulse for `pulse_bins`, silence for `wait_bins`; `together` sends the channels at once,
    else one after another with a `lead_bins` pause in between.

    **Returns:** the outputs at the end.
    """
    values = np.asarray(values, dtype=np.float32)
    channels = net.cell.inputs
    if values.ndim != 2 or values.shape[1] != channels or len(values) == 0:
        raise errors.ArgumentError(f"values has shape {values.shape}, but must be (count, {channels}).")
    if net.outputs != channels:
        raise errors.ArgumentError(f"net has {net.outputs} outputs and {channels} inputs, but holding needs as many.")
    pulse, lead = errors.whole("pulse_bins", pulse_bins), errors.whole("lead_bins", lead_bins, at_least=1)
    groups = [list(range(channels))] if together else [[channel] for channel in range(channels)]
    time = len(groups) * (lead + pulse) + errors.whole("wait_bins", wait_bins, at_least=0)
    xs = np.zeros((len(values), time, channels), dtype=np.float32)
    for turn, group in enumerate(groups):
        onset = lead + turn * (lead + pulse)
        xs[:, onset : onset + pulse, group] = values[:, None, group]
    return np.asarray(net.run(jnp.asarray(xs), dt=dt).outputs[:, -1], dtype=np.float64)


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
    """How the error of a held pulse grows with its amplitude, inside and outside the range of training.

    **Arguments:** `ranges` of the amplitude: of the vector of all channels if they come `together`, in a
    random direction, else of each channel; `count` pulses each, drawn with `key`; `timing` as in
    `hold_pulses`.

    **Returns:** one `AmplitudeError` per range.
    """
    generator = numpy_generator(key)
    found = []
    for low, high in ranges:
        if not 0 <= low < high:
            raise errors.ArgumentError(f"ranges holds ({low}, {high}), but must hold pairs with 0 <= low < high.")
        shape = (errors.whole("count", count), net.cell.inputs)
        if together:
            directions = generator.standard_normal(shape)
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            values = directions * generator.uniform(low, high, (count, 1))
        else:
            values = generator.choice([-1.0, 1.0], shape) * generator.uniform(low, high, shape)
        squares = np.mean((hold_pulses(net, values, dt=dt, together=together, **timing) - values) ** 2, axis=1)
        found.append(AmplitudeError(low, high, float(squares.mean()), float(np.quantile(squares, 0.75)), count))
    return found


def trial_error(
    net: AbstractNetwork, inputs: Any, targets: Any, *, dt: float, span: tuple[float, float]
) -> AmplitudeError:
    """The error on trials of a task whose pulses have amplitudes between the two numbers of `span`.

    **Arguments:** `inputs` and `targets`, trials x time x channels.
    """
    outputs = np.asarray(net.run(jnp.asarray(inputs), dt=dt).outputs)
    squares = np.mean((outputs - np.asarray(targets)) ** 2, axis=(1, 2))
    return AmplitudeError(*span, float(squares.mean()), float(np.quantile(squares, 0.75)), len(squares))

"""The Ornstein-Uhlenbeck process as a stochastic differential equation, solved by diffrax.

`gnode.tasks.OrnsteinUhlenbeck.sample` draws the same process from its exact transition. The paper solved the equation
numerically; this module serves to show that both agree, along one Brownian path (`along_path`) and in distribution.
"""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.precision import double
from gnode.tasks import OrnsteinUhlenbeck
from gnode.types import Key, as_key

FINEST_SHARE = 0.25
"""The resolution of the Brownian path as a fraction of the solver's step."""

SHORTEST = 1e-9
"""The shortest time between two samples, in seconds; the longest is its inverse."""


def brownian_path(key: Key | int, channels: int, duration: float, step: float) -> diffrax.VirtualBrownianTree:
    """Returns a Brownian path in each channel; its values do not depend on the times at which it is evaluated."""
    return diffrax.VirtualBrownianTree(
        0.0,
        duration,
        tol=FINEST_SHARE * step,
        shape=(channels,),
        key=as_key(key),
        levy_area=diffrax.SpaceTimeLevyArea,
    )


def _check(bins: int, channels: int, steps: int, dt: float, start: float) -> tuple[int, int, int]:
    """Returns the counts if they and the lengths are in range, otherwise raises an `ArgumentError`."""
    bins, channels = errors.whole("bins", bins), errors.whole("channels", channels)
    steps = errors.whole("steps", steps)
    errors.whole("bins times steps", bins * steps)
    errors.affordable("bins", bins, 8.0 * bins * steps * channels)
    errors.affordable("channels", channels, 8.0 * channels**2)
    errors.finite("start", start)
    if not SHORTEST <= errors.positive("dt", dt) <= 1 / SHORTEST:
        raise errors.ArgumentError(f"dt is {dt!r}, but must be from {SHORTEST:g} to {1 / SHORTEST:g} seconds.")
    return bins, channels, steps


@checked
def solve_ou(
    process: OrnsteinUhlenbeck,
    bins: int,
    channels: int,
    *,
    dt: float,
    key: Key | int,
    start: float = 0.0,
    steps: int = 64,
) -> Float[np.ndarray, "bins channels"]:
    """Solves the equation of the process at dt, 2 dt, ... by a method of strong order 1.5 for additive noise (ShARK).

    **Arguments:**

    - `process`: the process.
    - `bins`, `channels`: the number of samples, and of independent channels.
    - `dt`: the time between two samples.
    - `key`: of the Brownian path.
    - `start`: the value at time 0 in all channels.
    - `steps`: the number of steps of the method in each bin.

    **Returns:** the samples, one row per bin.

    >>> solve_ou(OrnsteinUhlenbeck(), 3, 2, dt=1.0, key=0, steps=4).shape
    (3, 2)
    """
    bins, channels, steps = _check(bins, channels, steps, dt, start)
    duration = bins * dt
    with double():
        path = brownian_path(key, channels, duration, dt / steps)

        def drift(t: Any, z: Any, _: Any) -> Array:
            return (process.decay * z + process.drive) / process.tau

        def noise(t: Any, z: Any, _: Any) -> Array:
            return jnp.eye(channels) * process.noise / process.tau

        solution = diffrax.diffeqsolve(
            diffrax.MultiTerm(diffrax.ODETerm(drift), diffrax.ControlTerm(noise, path)),
            diffrax.ShARK(),
            t0=0.0,
            t1=duration,
            dt0=dt / steps,
            y0=jnp.full(channels, float(start)),
            saveat=diffrax.SaveAt(ts=dt * jnp.arange(1, bins + 1)),
            max_steps=2 * bins * steps + 16,
        )
        assert solution.ys is not None
        return np.asarray(solution.ys)


@checked
def along_path(
    process: OrnsteinUhlenbeck,
    bins: int,
    channels: int,
    *,
    dt: float,
    key: Key | int,
    start: float = 0.0,
    steps: int = 64,
) -> Float[np.ndarray, "bins channels"]:
    """Computes the exact solution along the Brownian path w that `solve_ou` takes with the same `key` and `steps`.

    Integration by parts of the noise leaves an ordinary integral of w, which is computed by the trapezoidal rule with
    `steps` points per bin:

        z(t) = m + (z(0) - m) e^(-r t) + (sigma / tau) (w(t) - r int_0^t e^(-r (t - s)) w(s) ds),   r = -lambda / tau

    **Arguments:** as in `solve_ou`.

    **Returns:** the samples, one row per bin.

    No example: it takes seconds to compile; `solve_ou` has one with the same arguments.
    """
    bins, channels, steps = _check(bins, channels, steps, dt, start)
    with double():
        path = brownian_path(key, channels, bins * dt, dt / steps)
        times = jnp.linspace(0.0, bins * dt, bins * steps + 1)
        w = np.asarray(jax.jit(jax.vmap(lambda t: path.evaluate(0.0, t)))(times))
    step, r = dt / steps, process.rate
    kept = np.exp(-r * step)
    integral = np.zeros_like(w)
    for index in range(1, len(w)):  # the integral of e^(-r (t - s)) w(s), from its value one step earlier
        integral[index] = kept * integral[index - 1] + 0.5 * step * (kept * w[index - 1] + w[index])
    settled = (start - process.mean) * np.exp(-r * np.asarray(times))[:, None]
    z = process.mean + settled + process.noise / process.tau * (w - r * integral)
    return z[steps::steps]

"""The Ornstein-Uhlenbeck process as a stochastic differential equation, solved by diffrax.

`gnode.tasks.OrnsteinUhlenbeck.sample` draws the same process from its exact transition. The paper solved the equation
numerically, so this is here to show that the two agree: along one Brownian path (`along_path`) and in distribution.
"""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.precision import double
from gnode.tasks import OrnsteinUhlenbeck
from gnode.types import Key, as_key

FINEST_SHARE = 0.25
"""Of a step: down to what the Brownian path is refined."""


def brownian_path(key: Key | int, channels: int, duration: float, step: float) -> diffrax.VirtualBrownianTree:
    """A Brownian path in each channel, the same whenever and at whatever times it is asked for."""
    return diffrax.VirtualBrownianTree(
        0.0,
        duration,
        tol=FINEST_SHARE * step,
        shape=(channels,),
        key=as_key(key),
        levy_area=diffrax.SpaceTimeLevyArea,
    )


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
    """The process at dt, 2 dt, ... by a method of strong order 1.5 for additive noise (ShARK).

    **Arguments:** as in `OrnsteinUhlenbeck.sample`, but `start` has to be given; `steps` of the method in each bin.

    >>> solve_ou(OrnsteinUhlenbeck(), 3, 2, dt=1.0, key=0).shape
    (3, 2)
    """
    bins, steps = errors.whole("bins", bins), errors.whole("steps", steps)
    duration = bins * errors.positive("dt", dt)
    with double():
        path = brownian_path(key, errors.whole("channels", channels), duration, dt / steps)

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
    """The exact solution along the Brownian path w that `solve_ou` takes with the same key and steps.

    Integrating the noise by parts leaves an ordinary integral of w, which the trapezoidal rule does at `steps` points a bin:

        z(t) = m + (z(0) - m) e^(-r t) + (sigma / tau) (w(t) - r int_0^t e^(-r (t - s)) w(s) ds),   r = -lambda / tau
    """
    with double():
        path = brownian_path(key, channels, bins * dt, dt / steps)
        times = jnp.linspace(0.0, bins * dt, bins * steps + 1)
        w = np.asarray(jax.jit(jax.vmap(lambda t: path.evaluate(0.0, t)))(times))
    step, r = dt / steps, process.rate
    kept = np.exp(-r * step)
    integral = np.zeros_like(w)
    for index in range(1, len(w)):  # of e^(-r (t - s)) w(s), from the one a step before
        integral[index] = kept * integral[index - 1] + 0.5 * step * (kept * w[index - 1] + w[index])
    settled = (start - process.mean) * np.exp(-r * np.asarray(times))[:, None]
    z = process.mean + settled + process.noise / process.tau * (w - r * integral)
    return z[steps::steps]

"""Fitting one trajectory of an Ornstein-Uhlenbeck process (section "Measuring Practical Expressivity", Appendix G).

    tau_OU dz = lambda_OU z dt + x dt + sigma_OU dw,   x = 1

The process is Markovian: given the present sample, earlier ones add no information about the next. A network that fits the
whole trajectory has memorised it, so the error of the fit measures the expressivity of the network.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.tasks._trials import Task, Trials, as_numbers
from gnode.types import Key, numpy_generator, plain_key


@checked_class
@dataclasses.dataclass(frozen=True)
class OrnsteinUhlenbeck:
    """An Ornstein-Uhlenbeck process with independent, identically distributed channels.

    **Arguments:**

    - `tau`: time constant tau_OU in seconds.
    - `decay`: lambda_OU, negative.
    - `drive`: constant input x.
    - `noise`: scale of the noise sigma_OU.

    >>> paper = OrnsteinUhlenbeck()
    >>> paper.mean, paper.variance, paper.correlation_time
    (1.0, 0.5, 1.0)
    """

    tau: float = 1.0
    decay: float = -1.0
    drive: float = 1.0
    noise: float = 1.0

    def __post_init__(self):
        errors.positive("tau_ou", self.tau)
        errors.positive("sigma_ou", self.noise)
        errors.finite("drive", self.drive)
        if not errors.finite("lambda_ou", self.decay) < 0:
            raise errors.ArgumentError(f"lambda_ou is {self.decay!r}, but must be negative.")
        try:
            moments = (self.mean, self.variance, self.rate, self.correlation_time)
        except (OverflowError, ZeroDivisionError):
            moments = (math.inf,)
        if not all(map(math.isfinite, moments)):
            raise errors.ArgumentError(
                f"tau_ou={self.tau!r}, lambda_ou={self.decay!r}, drive={self.drive!r} and sigma_ou={self.noise!r} give a "
                f"process whose mean, variance or rate is not finite; choose less extreme numbers."
            )

    @property
    def rate(self) -> float:
        """The rate -lambda / tau at which a deviation from the mean decays, per second."""
        return -self.decay / self.tau

    @property
    def correlation_time(self) -> float:
        """The time in seconds after which the autocorrelation is 1 / e."""
        return 1 / self.rate

    @property
    def mean(self) -> float:
        """The stationary mean -x / lambda."""
        return -self.drive / self.decay

    @property
    def variance(self) -> float:
        """The stationary variance sigma^2 / (2 tau |lambda|) of every channel."""
        return self.noise**2 / (-2 * self.tau * self.decay)

    @checked
    def sample(
        self, bins: int, channels: int, *, dt: float, key: Key | int, start: Sequence[float] | float | None = None
    ) -> Float[np.ndarray, "bins channels"]:
        """Samples the process at dt, 2 dt, ... from its exact transition density, without discretisation error.

            z(t + dt) = m + a (z(t) - m) + sqrt(v (1 - a^2)) xi,   a = exp(lambda dt / tau)

        **Arguments:**

        - `bins`, `channels`: shape of the result. More bins continue the same trajectory.
        - `dt`: time between samples in seconds.
        - `key`: seed or key of the random numbers.
        - `start`: z at time 0; drawn from the stationary distribution by default.

        >>> OrnsteinUhlenbeck().sample(5, 2, dt=1.0, key=0).shape
        (5, 2)
        """
        bins, channels = errors.whole("bins", bins), errors.whole("channels", channels)
        errors.affordable("the shape of the trajectory", (bins, channels), 24.0 * bins * channels)
        errors.affordable("bins", bins, 3 * 8 * (bins + 1) * channels)
        generator = numpy_generator(key)
        kept = math.exp(-self.rate * errors.positive("dt", dt))
        noise = generator.standard_normal((bins + 1, channels))
        z = self.mean + math.sqrt(self.variance) * noise[0] if start is None else _start(start, channels)
        samples = np.empty((bins, channels))
        for index in range(bins):
            z = self.mean + kept * (z - self.mean) + math.sqrt(self.variance * (1 - kept**2)) * noise[index + 1]
            samples[index] = z
        return samples


def _start(start: Any, channels: int) -> Float[np.ndarray, " channels"]:
    values = as_numbers("start", start).astype(float)
    if values.shape not in ((), (1,), (channels,)) or not np.all(np.isfinite(values)):
        raise errors.ArgumentError(
            f"start is {errors.shown(start)}, but must be one number, or one per channel ({channels})."
        )
    return np.broadcast_to(values, (channels,))


@checked
def ou(
    *,
    bins: int = 100,
    channels: int = 30,
    dt: float = 1.0,
    tau_ou: float = 1.0,
    lambda_ou: float = -1.0,
    sigma_ou: float = 1.0,
    start: Sequence[float] | float | None = None,
    key: Key | int = 0,
) -> Task:
    """Makes a task that fits one trajectory of an Ornstein-Uhlenbeck process. The input is constant and equal to 1.

    The single trial is used both to train and to validate: the validation loss is the training error, and its minimum over
    epochs is the paper's measure of expressivity.

    **Arguments:**

    - `bins`: number of samples; fewer samples are the beginning of the same trajectory.
    - `channels`: number of channels.
    - `dt`: time between samples in seconds.
    - `tau_ou`, `lambda_ou`, `sigma_ou`: parameters of the process, see `OrnsteinUhlenbeck`.
    - `start`: value of the process at time 0; drawn from the stationary distribution by default.
    - `key`: seed or key of the random numbers.

    **Returns:** a `Task`.

    >>> task = ou(bins=5)
    >>> task.train.targets.shape, bool((task.train.targets == ou().train.targets[:, :5]).all())
    ((1, 5, 30), True)
    """
    process = OrnsteinUhlenbeck(tau_ou, lambda_ou, 1.0, sigma_ou)
    samples = process.sample(bins, channels, dt=dt, key=key, start=start)
    trial = Trials(np.ones((1, *samples.shape), np.float32), samples[None], dt)
    options = {"bins": bins, "channels": channels, "dt": dt, "tau_ou": tau_ou, "lambda_ou": lambda_ou}
    options |= {"sigma_ou": sigma_ou, "start": start, "key": plain_key(key)}
    return Task(name="ou", train=trial, validation=trial, outputs=channels, options=options)

"""The n-bit flip-flop family (section "N-Bit Flip-Flop Task" and Appendix F of the paper).

Each channel receives brief pulses at random times. Each output has to hold the value of the last pulse of its channel. The
distribution of the pulses determines the set of states that the network has to remember: 2^n points, a cube, a rectangle,
an annulus or a ring.
"""

import dataclasses
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._generated import TrialGenerator
from gnode.tasks._pulses import AMPLITUDES, READINGS, Pulses, default_bits
from gnode.tasks._trials import Task, Trials, as_numbers
from gnode.types import Key, numpy_generator, plain_key

MAX_PULSES = 10**6
"""Largest mean number of pulses in a trial."""
LARGEST = 1e38
"""Largest size of a pulse, and volume of the ball of that radius in all channels."""


@checked
def flip_flop(
    amplitude: str = "variable",
    *,
    bits: int | None = None,
    trials: int = 500,
    validation: int = 100,
    bins: int = 100,
    dt: float = 0.01,
    mean_pulses: float | None = None,
    pulse_bins: int | None = None,
    span: Sequence[float] | None = None,
    start: Sequence[float] | None = None,
    reading: str = "text",
    key: Key | int = 0,
) -> Task:
    """Makes an n-bit flip-flop task: each output holds the value of the last pulse of its channel.

    **Arguments:**

    - `amplitude`: distribution of the pulses: "fixed" (+1 or -1), "variable" (uniform on [-1, 1]), "square" (as "variable",
      two bits), "rectangle" (first channel on [-2, 2]), "annulus" (all channels pulse together, uniform over the vectors of
      norm 1 to 2; the paper's disk task) or "ring" (norm 2).
    - `bits`: number of channels n. By default 3 for "fixed" and "variable", otherwise 2.
    - `trials`, `validation`: numbers of training and validation trials.
    - `bins`, `dt`: number of bins of a trial, and the length of a bin in seconds.
    - `mean_pulses`: mean of the Poisson number of pulses in a trial. By default 6 for "annulus", otherwise 12.
    - `pulse_bins`: width of a pulse in bins. By default 2 (20 ms), or 3 with `reading="code"`.
    - `span`: another range for the size of the pulses (absolute value or norm), e.g. to test generalisation.
    - `start`: target before the first pulse, one number per channel.
    - `reading`: "text" follows the paper. "code" follows its authors' public code: onsets are drawn with replacement,
      pulses that would run past the end are dropped, and start values differ.
    - `key`: seed or key of the random numbers.

    **Returns:** a `Task`.

    >>> flip_flop("square", trials=5, validation=2)
    Task('flipflop-square', 5 training and 2 validation trials of 100 bins, 2 inputs, 2 outputs, loss mse at every bin)
    """
    source = _PulseSource.checked(
        amplitude, bits=bits, mean_pulses=mean_pulses, pulse_bins=pulse_bins, span=span, start=start, reading=reading
    )
    counts = {"bits": source.bits, "trials": trials, "validation": validation, "bins": bins, "dt": dt}
    pulse_options = {"mean_pulses": mean_pulses, "pulse_bins": pulse_bins, "span": span, "start": start}
    trials, validation = errors.whole("trials", trials), errors.whole("validation", validation)
    bins, dt = errors.whole("bins", bins), errors.positive("dt", dt)
    shape = trials + validation, bins, source.bits
    errors.affordable("the shape of all trials", shape, 8.0 * math.prod(shape))  # inputs and targets, float32
    errors.affordable("trials", trials, 4 * 4 * (trials + validation) * bins * source.bits)
    everything = Trials(*source.draw(trials + validation, bins, numpy_generator(key)), dt)
    return Task(
        name=f"flipflop-{amplitude}",
        train=everything.take(slice(0, trials)),
        validation=everything.take(slice(trials, None)),
        outputs=source.bits,
        options={**counts, **pulse_options, "reading": reading, "key": plain_key(key)},
        generator=FlipFlopTrials(dt, source, bins),
    )


@dataclasses.dataclass(frozen=True)
class _PulseSource:
    """Draws the trials of a flip-flop task; `width` is the width of a pulse, `before` the target before the first one."""

    pulses: Pulses
    bits: int
    mean: float
    width: int
    span: tuple[float, float]
    before: tuple[float, ...]
    reading: str

    @classmethod
    def checked(
        cls,
        amplitude: str,
        *,
        bits: int | None,
        mean_pulses: float | None,
        pulse_bins: int | None,
        span: Sequence[float] | None,
        start: Sequence[float] | None,
        reading: str,
    ) -> "_PulseSource":
        """Checks the arguments of `flip_flop` and replaces None by the defaults of the task."""
        errors.one_of("amplitude", amplitude, AMPLITUDES)
        errors.one_of("reading", reading, READINGS)
        pulses = AMPLITUDES[amplitude]
        bits = errors.whole("bits", default_bits(amplitude) if bits is None else bits)
        return cls(
            pulses=pulses,
            bits=bits,
            mean=_checked_mean(pulses.mean_pulses if mean_pulses is None else mean_pulses),
            width=errors.whole("pulse_bins", (2 if reading == "text" else 3) if pulse_bins is None else pulse_bins),
            span=_checked_span(pulses.span if span is None else span, bits if pulses.together else 1),
            before=tuple(_start_values(pulses, bits, start, reading).tolist()),
            reading=reading,
        )

    def draw(self, trials: int, bins: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draws the inputs and targets of a number of trials."""
        inputs = np.zeros((trials, bins, self.bits), np.float32)
        targets = np.zeros_like(inputs)
        for trial in range(trials):
            onsets, channels = self._draw_onsets(bins, rng)
            sizes = self._draw_sizes(len(onsets), rng)
            inputs[trial], targets[trial] = self._lay_out(onsets, channels, sizes, bins)
        return inputs, targets

    def _draw_onsets(self, bins: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draws the bins at which pulses begin, in order, and their channels; -1 stands for all channels together."""
        count = rng.poisson(self.mean)
        if self.reading == "text":
            onsets = rng.choice(bins, size=min(count, bins), replace=False)
        else:
            onsets = rng.integers(bins, size=count)
            onsets = onsets[onsets + self.width <= bins]
        onsets = np.sort(onsets)
        if self.pulses.together:
            return onsets, np.full(len(onsets), -1)
        return onsets, rng.integers(self.bits, size=len(onsets))

    def _draw_sizes(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, "count bits"]:
        """Draws a value for every channel at every pulse."""
        shape, (lowest, highest) = (count, self.bits), self.span
        if self.pulses.together:
            direction = rng.standard_normal(shape)
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            # Uniform over the shell: the volume inside radius r grows as r^n.
            radius = rng.uniform(lowest**self.bits, highest**self.bits, (count, 1)) ** (1 / self.bits)
            sizes = radius * direction
        else:
            sizes = rng.uniform(lowest, highest, shape) * rng.choice([-1.0, 1.0], shape)
        sizes[:, 0] *= self.pulses.first_scale
        return sizes

    def _lay_out(
        self, onsets: np.ndarray, channels: np.ndarray, sizes: np.ndarray, bins: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns inputs and targets of one trial. A pulse that begins during another one in its channel replaces it."""
        inputs, targets = np.zeros((bins, self.bits)), np.tile(self.before, (bins, 1))
        for onset, channel, size in zip(onsets, channels, sizes):
            which = slice(None) if channel < 0 else channel
            inputs[onset : onset + self.width, which] = size[which]
            targets[onset:, which] = size[which]
        return inputs, targets


@dataclasses.dataclass(frozen=True)
class FlipFlopTrials(TrialGenerator):
    """Draws trials of the same distribution on the device, for training on new ones."""

    source: _PulseSource
    bins: int

    def trial(self, key: Key) -> tuple[Array, Array]:
        key_count, key_onsets, key_channels, key_sizes = jax.random.split(key, 4)
        source, bins, bits = self.source, self.bins, self.source.bits
        count = jax.random.poisson(key_count, source.mean)
        if source.reading == "text":
            onsets = jax.random.permutation(key_onsets, bins)
            order = jnp.arange(bins)
            is_there = order < count
        else:  # with replacement: as many as there can be, up to an event of probability 1e-20
            order = jnp.arange(int(source.mean + 12 * math.sqrt(source.mean) + 20))
            onsets = jax.random.randint(key_onsets, order.shape, 0, bins)
            is_there = (order < count) & (onsets + source.width <= bins)
        channels = jax.random.randint(key_channels, order.shape, 0, bits)
        sizes = self._sizes(key_sizes, len(order))
        is_own = is_there[:, None] & ((channels[:, None] == jnp.arange(bits)) | source.pulses.together)
        # The pulse that begins at each bin of each channel, -1 for none, and the bin of the last one up to each bin.
        begins = jnp.full((bins, bits), -1).at[onsets].max(jnp.where(is_own, order[:, None], -1))
        now = jnp.arange(bins)[:, None]
        last = jax.lax.cummax(jnp.where(begins >= 0, now, -1), axis=0)
        pulse = jnp.take_along_axis(begins, jnp.maximum(last, 0), axis=0)
        value = jnp.take_along_axis(sizes, jnp.maximum(pulse, 0), axis=0)
        targets = jnp.where(last >= 0, value, jnp.asarray(source.before))
        return jnp.where((last >= 0) & (now - last < source.width), value, 0.0), targets

    def _sizes(self, key: Key, count: int) -> Float[Array, "count bits"]:
        """Draws a value for every channel at every pulse."""
        pulses, bits, (lowest, highest) = self.source.pulses, self.source.bits, self.source.span
        key_first, key_second = jax.random.split(key)
        if pulses.together:
            direction = jax.random.normal(key_first, (count, bits))
            direction /= jnp.linalg.norm(direction, axis=1, keepdims=True)
            volume = jax.random.uniform(key_second, (count, 1), minval=lowest**bits, maxval=highest**bits)
            sizes = volume ** (1 / bits) * direction
        else:
            sizes = jax.random.uniform(key_first, (count, bits), minval=lowest, maxval=highest)
            sizes *= jax.random.rademacher(key_second, (count, bits))
        return sizes.at[:, 0].multiply(pulses.first_scale)


def _checked_mean(mean: float) -> float:
    if errors.not_negative("mean_pulses", mean) > MAX_PULSES:
        raise errors.ArgumentError(f"mean_pulses is {errors.shown(mean)}, but must be at most {MAX_PULSES}.")
    return mean


def _checked_span(span: Sequence[float], power: int) -> tuple[float, float]:
    if np.shape(span) != (2,):
        raise errors.ArgumentError(
            f"span is {errors.shown(span)}, but must be two numbers: the smallest and the largest size of a pulse."
        )
    lowest, highest = (errors.not_negative("span", value) for value in span)
    if lowest > highest:
        raise errors.ArgumentError(f"span is {errors.shown(span)}, but its first number must not be above its second.")
    if highest > 1 and power * np.log(highest) > np.log(LARGEST):  # the volume of the shell must be a finite number
        raise errors.ArgumentError(
            f"span is {errors.shown(span)}, whose largest size to the power of {power} must be at most {LARGEST:g}."
        )
    return lowest, highest


def _start_values(pulses: Pulses, bits: int, start: Sequence[float] | None, reading: str) -> Float[np.ndarray, " bits"]:
    """Returns the target of every channel before the first pulse."""
    default = pulses.start_text if reading == "text" else pulses.start_code
    values = as_numbers("start", default if start is None else start).astype(float)
    if pulses.together and start is None:  # (a, 0): further channels start at 0 too
        values = np.resize(np.concatenate([values, np.zeros(bits)]), bits)
    if values.shape not in ((1,), (), (bits,)) or not np.all(np.isfinite(values)):
        raise errors.ArgumentError(f"start is {errors.shown(start)}, but must be one number per channel ({bits}).")
    return np.broadcast_to(values, (bits,))

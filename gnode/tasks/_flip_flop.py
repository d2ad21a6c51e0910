"""The n-bit flip-flop family (section "N-Bit Flip-Flop Task" and Appendix F of the paper).

Each channel receives brief pulses at random times; each output has to hold the value of its channel's last pulse. What a
pulse may be worth decides which memory the network needs: 2^n points, a cube, a rectangle, a disk with a hole, a ring.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.tasks._pulses import AMPLITUDES, READINGS, Pulses, default_bits
from gnode.tasks._trials import Task, Trials
from gnode.types import Key, numpy_generator, plain_key


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
    span: tuple[float, float] | None = None,
    start: Sequence[float] | None = None,
    reading: str = "text",
    key: Key | int = 0,
) -> Task:
    """A flip-flop task of the given kind of amplitude.

    **Arguments:**

    - `amplitude`: "fixed" (+1 or -1), "variable" (uniform on [-1, 1]), "square" (the same, two bits), "rectangle" (the
      first channel on [-2, 2]), "annulus" (all channels at once, norm between 1 and 2, uniform over that region; the
      paper's disk task), "ring" (norm 2).
    - `bits`: n, the number of channels; 3 for "fixed" and "variable", else 2.
    - `trials`, `validation`: how many trials; `bins` and `dt`: their length.
    - `mean_pulses`: the mean of the Poisson number of pulses in a trial; 12, and 6 for "annulus".
    - `pulse_bins`: the width of a pulse; 2 (20 ms).
    - `span`: another range for the pulses' size (absolute value, or norm), to test generalisation.
    - `start`: the target before the first pulse, a number per channel.
    - `reading`: "text" follows the paper, "code" its authors' public code: pulses 3 bins wide, onsets drawn with
      replacement, pulses that would run past the end dropped, other start values.
    - `key`: of the random numbers.

    **Returns:** a `Task`.

    >>> task = flip_flop("square", key=0)
    >>> task.train.inputs.shape, task.validation.targets.shape
    ((500, 100, 2), (100, 100, 2))
    """
    errors.one_of("amplitude", amplitude, AMPLITUDES)
    errors.one_of("reading", reading, READINGS)
    pulses = AMPLITUDES[amplitude]
    bits = errors.whole("bits", default_bits(amplitude) if bits is None else bits)
    counts = {"bits": bits, "trials": trials, "validation": validation, "bins": bins, "dt": dt}
    pulse_options = {"mean_pulses": mean_pulses, "pulse_bins": pulse_bins, "span": span, "start": start}
    trials, validation = errors.whole("trials", trials), errors.whole("validation", validation)
    bins, dt = errors.whole("bins", bins), errors.positive("dt", dt)
    width = errors.whole("pulse_bins", (2 if reading == "text" else 3) if pulse_bins is None else pulse_bins)
    mean = errors.not_negative("mean_pulses", pulses.mean_pulses if mean_pulses is None else mean_pulses)
    lowest, highest = _checked_span(pulses.span if span is None else span)
    before = _start_values(pulses, bits, start, reading)

    rng = numpy_generator(key)
    inputs = np.zeros((trials + validation, bins, bits), np.float32)
    targets = np.zeros_like(inputs)
    for trial in range(trials + validation):
        onsets, channels = _draw_onsets(rng, mean, bins, bits, width, pulses.together, reading)
        sizes = _draw_sizes(rng, len(onsets), bits, lowest, highest, pulses)
        inputs[trial], targets[trial] = _lay_out(onsets, channels, sizes, bins, bits, width, before)
    everything = Trials(inputs, targets, dt)
    return Task(
        name=f"flipflop-{amplitude}",
        train=everything.take(slice(0, trials)),
        validation=everything.take(slice(trials, None)),
        outputs=bits,
        options={**counts, **pulse_options, "reading": reading, "key": plain_key(key)},
    )


def _checked_span(span: tuple[float, float]) -> tuple[float, float]:
    if np.shape(span) != (2,):
        raise errors.ArgumentError(f"span is {span!r}, but must be two numbers: the smallest and the largest pulse.")
    lowest, highest = (errors.not_negative("span", value) for value in span)
    if lowest > highest:
        raise errors.ArgumentError(f"span is {span!r}, but its first number must not be above its second.")
    return lowest, highest


def _start_values(pulses: Pulses, bits: int, start: Sequence[float] | None, reading: str) -> Float[np.ndarray, " bits"]:
    values = np.asarray(
        (pulses.start_text if reading == "text" else pulses.start_code) if start is None else start, float
    )
    if pulses.together and start is None:  # (a, 0): further channels start at 0 too
        values = np.resize(np.concatenate([values, np.zeros(bits)]), bits)
    if values.shape not in ((1,), (), (bits,)) or not np.all(np.isfinite(values)):
        raise errors.ArgumentError(f"start is {start!r}, but must be one number per channel ({bits}).")
    return np.broadcast_to(values, (bits,))


def _draw_onsets(
    rng: np.random.Generator, mean: float, bins: int, bits: int, width: int, together: bool, reading: str
) -> tuple[np.ndarray, np.ndarray]:
    """The bins at which pulses begin, in order, and the channel of each: -1 where all channels pulse together."""
    count = rng.poisson(mean)
    if reading == "text":
        onsets = rng.choice(bins, size=min(count, bins), replace=False)
    else:
        onsets = rng.integers(bins, size=count)
        onsets = onsets[onsets + width <= bins]
    onsets = np.sort(onsets)
    return onsets, np.full(len(onsets), -1) if together else rng.integers(bits, size=len(onsets))


def _draw_sizes(
    rng: np.random.Generator, count: int, bits: int, lowest: float, highest: float, pulses: Pulses
) -> Float[np.ndarray, "count bits"]:
    """A value for every channel at every pulse."""
    if pulses.together:
        direction = rng.standard_normal((count, bits))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        # Uniform over the shell: the volume inside radius r grows as r^n.
        radius = rng.uniform(lowest**bits, highest**bits, (count, 1)) ** (1 / bits)
        sizes = radius * direction
    else:
        sizes = rng.uniform(lowest, highest, (count, bits)) * rng.choice([-1.0, 1.0], (count, bits))
    sizes[:, 0] *= pulses.first_scale
    return sizes


def _lay_out(
    onsets: np.ndarray,
    channels: np.ndarray,
    sizes: np.ndarray,
    bins: int,
    bits: int,
    width: int,
    before: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of one trial. A pulse that begins during another in its channel takes over from it."""
    inputs, targets = np.zeros((bins, bits)), np.tile(before, (bins, 1))
    for onset, channel, size in zip(onsets, channels, sizes):
        which = slice(None) if channel < 0 else channel
        inputs[onset : onset + width, which] = size[which]
        targets[onset:, which] = size[which]
    return inputs, targets

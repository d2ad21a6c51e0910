"""The members of the flip-flop family: how the pulses of each task are distributed."""

import dataclasses

READINGS = ("text", "code")
"""Sources of the details of the task: the text of the paper, or its authors' public code."""


@dataclasses.dataclass(frozen=True)
class Pulses:
    """The distribution of the pulses of one flip-flop task.

    **Arguments:**

    - `span`: range of the size of a pulse: of its absolute value in one channel, or of the Euclidean norm over channels if
      these pulse together.
    - `together`: whether all channels pulse at the same time.
    - `first_scale`: factor that multiplies the first channel.
    - `mean_pulses`: mean of the Poisson number of pulses in a trial.
    - `start_text`, `start_code`: target before the first pulse, according to the paper's text and to its public code. One
      number holds for all channels; where channels pulse together, the channels after those given start at 0.
    """

    span: tuple[float, float]
    together: bool = False
    first_scale: float = 1.0
    mean_pulses: float = 12.0
    start_text: tuple[float, ...] = (0.0,)
    start_code: tuple[float, ...] = (0.0,)


AMPLITUDES: dict[str, Pulses] = {
    "fixed": Pulses((1.0, 1.0), start_text=(1.0,), start_code=(1.0,)),
    "variable": Pulses((0.0, 1.0)),
    "square": Pulses((0.0, 1.0)),
    "rectangle": Pulses((0.0, 1.0), first_scale=2.0),
    "annulus": Pulses((1.0, 2.0), together=True, mean_pulses=6.0, start_text=(0.0, 0.0), start_code=(1.5, 0.0)),
    "ring": Pulses((2.0, 2.0), together=True, start_text=(0.0, 0.0), start_code=(2.0, 0.0)),
}
"""The flip-flop tasks by kind of amplitude. "square" is the name of "variable" with two bits."""

_DEFAULT_BITS = {"fixed": 3, "variable": 3}


def default_bits(amplitude: str) -> int:
    """Returns the number of channels that the paper uses for a kind of amplitude."""
    return _DEFAULT_BITS.get(amplitude, 2)


def describe_pulses(amplitude: str) -> str:
    """Describes the pulses of a task in one line, for `gnode list`.

    >>> describe_pulses("ring")
    'pulses in 2 channels at once, norm 2, about 12 per trial'
    """
    pulses, channels = AMPLITUDES[amplitude], default_bits(amplitude)
    low, high = pulses.span
    size = f"{high:g}" if low == high else f"{low:g} to {high:g}"
    often = f"about {pulses.mean_pulses:g} per trial"
    if pulses.together:
        return f"pulses in {channels} channels at once, norm {size}, {often}"
    first = f" (first channel x {pulses.first_scale:g})" if pulses.first_scale != 1 else ""
    return f"pulses in one of {channels} channels at a time, size {size}{first} of either sign, {often}"

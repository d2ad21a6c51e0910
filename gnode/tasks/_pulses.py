"""The members of the flip-flop family: which pulses each of them has."""

import dataclasses

READINGS = ("text", "code")


@dataclasses.dataclass(frozen=True)
class Pulses:
    """What sets one member of the family apart.

    `together`: pulses come in all channels at once. `span`: the range of a pulse's size: of its absolute value in one
    channel, or of the Euclidean norm over channels where they come together. `first_scale` multiplies the first channel.
    `start_text` and `start_code` are the target before the first pulse, by the paper's text and by its public code: the
    same in all channels, or (a, 0, 0, ...) where they come together.
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
"""The members of the family. "square" is "variable" under the name that it has for two bits."""

_BITS = {"fixed": 3, "variable": 3}


def default_bits(amplitude: str) -> int:
    """The number of channels that a kind of amplitude has in the paper."""
    return _BITS.get(amplitude, 2)


def describe_pulses(amplitude: str) -> str:
    """Describes a member of the family in a line, for `gnode list`.

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

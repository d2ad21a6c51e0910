"""Learning-rate schedules as numbers, so that a grid of schedules is one compiled program.

A schedule is written as a text: `constant`, `cosine`, `cosine:0.1` (falls to a tenth), `step:50:0.5` (halves every
50 epochs), `exponential:0.99` (a factor per epoch), each after `warmup:5` (5 epochs) if wanted: `warmup:5+cosine`.
"""

import dataclasses
import math

from gnode import errors

__all__ = ["LrSchedule", "read_schedule"]


@dataclasses.dataclass(frozen=True)
class LrSchedule:
    """A learning-rate schedule: the learning rate is multiplied by

        min(1, t / warmup) * (final + (1 - final) (1 + cos(pi s)) / 2) * factor^floor(t' / every) * decay^t',

    where t counts epochs, t' = max(0, t - warmup), and s = t' / (epochs - warmup). Its defaults are a constant rate.

    - `warmup`: epochs of a linear rise from zero.
    - `final`: the share that a cosine falls to; 1 has no cosine.
    - `every`, `factor`: epochs between steps, and the factor of each; infinity has no steps.
    - `decay`: the factor per epoch of an exponential.

    >>> LrSchedule(warmup=5, final=0.0)
    LrSchedule(warmup=5, final=0.0, every=inf, factor=1.0, decay=1.0)
    """

    warmup: float = 0.0
    final: float = 1.0
    every: float = math.inf
    factor: float = 1.0
    decay: float = 1.0


def read_schedule(text: str) -> LrSchedule:
    """Reads a schedule from its text.

    **Raises:** `ArgumentError` if it cannot be read.

    >>> read_schedule("warmup:5+cosine").final
    0.0
    """
    if not isinstance(text, str):
        raise _unreadable(text)
    found: dict[str, float] = {}
    for part in text.strip().split("+"):
        name, *words = part.strip().split(":")
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            raise _unreadable(text) from None
        own = _part(name, numbers)
        if own is None or own.keys() & found.keys():
            raise _unreadable(text)
        found |= own
    return LrSchedule(**found)


def _part(name: str, numbers: list[float]) -> dict[str, float] | None:
    """The fields that one part of the text sets; None if it cannot be read."""
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        return None
    match name, numbers:
        case "constant", []:
            return {}
        case "warmup", [epochs]:
            return {"warmup": epochs}
        case "cosine", []:
            return {"final": 0.0}
        case "cosine", [final] if final <= 1:
            return {"final": final}
        case "step", [every, factor] if every > 0 and factor > 0:
            return {"every": every, "factor": factor}
        case "exponential", [decay] if decay > 0:
            return {"decay": decay}
        case _:
            return None


def _unreadable(text: object) -> errors.ArgumentError:
    return errors.ArgumentError(
        f"lr_schedule is {errors.shown(text)}, but must be constant, cosine, cosine:0.1, step:50:0.5 or exponential:0.99, "
        f"after warmup:5+ if wanted."
    )

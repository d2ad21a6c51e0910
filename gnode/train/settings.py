"""How a network is trained: everything but the network, the data and the random numbers."""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from gnode import errors
from gnode.options import check_settings, choice, optional, options_of, setting, stages, yes_or_no

VALIDATE = ("epoch", "update")
DECAYS = ("scaled", "unscaled")


fit_setting = partial(setting, part="fit")
"""Declares a hyper-parameter: this is the only place that names it, apart from where it is used."""


def _positive_or_infinite(name: str, value: float) -> float:
    return value if value == math.inf else errors.positive(name, value)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of one training run.

    - `epochs`: passes over the training trials. With a `schedule` its epochs add up to this number.
    - `lr`: AdamW's learning rate. `weight_decay`: its decay; the update is -lr * (adam + weight_decay * w).
    - `decay`: "scaled" as above (ordinary AdamW), or "unscaled": -(lr * adam + weight_decay * w), as in the public code.
    - `batch_size`: trials per update. `shuffle`: a new order each epoch; False keeps the order fixed.
    - `clip`: the largest norm of the gradient, infinite by default.
    - `penalty`: times the sum of squared weights, added to the loss. `state_penalty`: times the mean squared state.
    - `schedule`: stages (bins, epochs) that grow the fitted time span, e.g. ((14, 100), (28, 100)); the validation loss
      is always that of whole trials.
    - `validate`: "epoch" judges once per epoch; "update" after every update, and an epoch's validation loss is its best.
    - `patience`: stop after that many epochs without a better validation loss; None never stops early.

    >>> Settings(epochs=10, lr=1e-2).batch_size
    100
    """

    epochs: int = fit_setting(200, int, "Passes over the training trials.", check=errors.whole)
    lr: float = fit_setting(
        1e-3,
        float,
        "Learning rate.",
        compiles=False,
        check=errors.positive,
        synonyms=("learning_rate", "rate"),
    )
    weight_decay: float = fit_setting(1e-3, float, "Weight decay.", compiles=False, check=errors.not_negative)
    batch_size: int = fit_setting(100, int, "Trials per update.", check=errors.whole, synonyms=("minibatch",))
    clip: float = fit_setting(
        math.inf,
        float,
        "Largest norm of the gradient.",
        compiles=False,
        check=_positive_or_infinite,
        synonyms=("gradient_clip", "max_norm"),
    )
    penalty: float = fit_setting(
        0.0, float, "l2 penalty on the weights.", compiles=False, check=errors.not_negative, synonyms=("l2",)
    )
    state_penalty: float = fit_setting(
        0.0, float, "l2 penalty on the states.", compiles=False, check=errors.not_negative
    )
    schedule: tuple[tuple[int, int], ...] | None = fit_setting(
        None, stages, "Growing time span, as bins@epochs+bins@epochs.", example="14@100+28@100"
    )
    shuffle: bool = fit_setting(True, yes_or_no, "New order of trials each epoch: yes or no.", example="no")
    validate: str = fit_setting("epoch", str, f"When to validate: {', '.join(VALIDATE)}.", check=choice(VALIDATE))
    decay: str = fit_setting(
        "scaled", str, f"Weight decay times learning rate or not: {', '.join(DECAYS)}.", check=choice(DECAYS)
    )
    patience: int | None = fit_setting(
        None,
        int,
        "Stop after that many epochs without improvement.",
        compiles=False,
        check=optional(errors.whole),
        synonyms=("early_stopping",),
    )

    def __post_init__(self):
        check_settings(self)
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _checked_schedule(self.schedule, self.epochs))

    def values(self) -> dict[str, float]:
        """Returns the settings that are numbers to a compiled program, which other values of them do not compile anew."""
        named = {name: getattr(self, name) for name, option in OPTIONS.items() if not option.compiles}
        return {name: math.inf if value is None else value for name, value in named.items()}

    def choices(self) -> "Settings":
        """Returns the settings that do compile: these, with every value of `values` and the length at its default."""
        length = {"epochs": Settings.epochs, "schedule": None}
        return dataclasses.replace(self, **length, **{name: getattr(Settings, name) for name in self.values()})

    def stage_bins(self, epoch: int, bins: int) -> int:
        """The number of bins that are fitted in an epoch (counted from 0), of the `bins` that trials have."""
        if self.schedule is None:
            return bins
        last = 0
        for stage_bins, stage_epochs in self.schedule:
            last += stage_epochs
            if epoch < last:
                return min(stage_bins, bins)
        return bins


OPTIONS: dict[str, Any] = options_of(Settings)
"""The declared hyper-parameters, by name."""


def _checked_schedule(schedule: Sequence[Sequence[int]], epochs: int) -> tuple[tuple[int, int], ...]:
    if not all(isinstance(stage, Sequence) and len(stage) == 2 for stage in schedule):
        raise errors.ArgumentError(
            f"schedule is {schedule!r}, but must be stages (bins, epochs), such as ((14, 100), (28, 100))."
        )
    stages = tuple(
        (errors.whole("schedule bins", stage[0]), errors.whole("schedule epochs", stage[1])) for stage in schedule
    )
    total = sum(stage_epochs for _, stage_epochs in stages)
    if total != epochs:
        raise errors.ArgumentError(f"schedule lasts {total} epochs, but epochs is {epochs}; make them equal.")
    return stages


def growing(bins: int, step: int, epochs: int, last: int | None = None) -> tuple[tuple[int, int], ...]:
    """The paper's schedule: `step` bins for `epochs` epochs, then twice as many, up to `bins` (for `last` epochs).

    >>> growing(84, 14, 100, last=200)[-2:]
    ((70, 100), (84, 200))
    """
    spans = [*range(errors.whole("step", step), errors.whole("bins", bins), step), bins]
    return tuple((span, epochs) for span in spans[:-1]) + ((bins, epochs if last is None else last),)

"""The hyper-parameters of training, each declared once."""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.options import check_settings, choice, optional, options_of, setting, single, stages, yes_or_no

VALIDATE = ("epoch", "update")
DECAYS = ("scaled", "unscaled")


fit_setting = partial(setting, part="fit")
"""Declares a hyper-parameter. Commands, grids, tables and the compiled program take it from here."""


def _positive_or_infinite(name: str, value: float) -> float:
    is_infinite = getattr(value, "shape", ()) == () and value == math.inf
    return math.inf if is_infinite else single(errors.positive)(name, value)


def _as_stages(name: str, schedule: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    if not _is_several(schedule) or not all(_is_several(stage) and len(stage) == 2 for stage in schedule):
        raise errors.ArgumentError(
            f"{name} is {errors.shown(schedule)}, but must be stages (bins, epochs), such as ((14, 100), (28, 100))."
        )
    return tuple(
        (errors.whole(f"{name} bins", stage[0]), errors.whole(f"{name} epochs", stage[1])) for stage in schedule
    )


def _is_several(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) > 0


@checked_class
@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of one training run.

    **Arguments:**

    - `epochs`: the number of passes over the training trials. The epochs of a `schedule` add up to it.
    - `lr`: the learning rate of AdamW.
    - `weight_decay`: the weight decay of AdamW; the update is -lr * (adam + weight_decay * w).
    - `decay`: "scaled" as above (ordinary AdamW), or "unscaled": -(lr * adam + weight_decay * w), as in the public code.
    - `batch_size`: the number of trials per update.
    - `shuffle`: whether each epoch takes the trials in a new order.
    - `clip`: the largest norm of the gradient, infinite by default.
    - `penalty`: the coefficient of the sum of squared weights, which is added to the loss.
    - `state_penalty`: the coefficient of the mean squared state.
    - `schedule`: stages (bins, epochs) that grow the fitted time span, e.g. ((14, 100), (28, 100)). The validation loss is
      always that of whole trials.
    - `validate`: "epoch" validates once per epoch; "update" after every update, and the validation loss of an epoch is its
      lowest one.
    - `patience`: the number of epochs without a better validation loss after which training stops; None never stops early.

    **Raises:** `ArgumentError` for a value that is not allowed.

    >>> Settings(epochs=10, lr=1e-2).batch_size
    100
    """

    epochs: int = fit_setting(200, int, "Passes over the training trials.", check=errors.whole)
    lr: float = fit_setting(
        1e-3,
        float,
        "Learning rate.",
        compiles=False,
        check=single(errors.positive),
        synonyms=("learning_rate", "rate"),
    )
    weight_decay: float = fit_setting(1e-3, float, "Weight decay.", compiles=False, check=single(errors.not_negative))
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
        0.0, float, "l2 penalty on the weights.", compiles=False, check=single(errors.not_negative), synonyms=("l2",)
    )
    state_penalty: float = fit_setting(
        0.0, float, "l2 penalty on the states.", compiles=False, check=single(errors.not_negative)
    )
    schedule: tuple[tuple[int, int], ...] | None = fit_setting(
        None,
        stages,
        "Growing time span, as bins@epochs+bins@epochs.",
        example="14@100+28@100",
        check=optional(_as_stages),
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
            total = sum(epochs for _, epochs in self.schedule)
            if total != self.epochs:
                raise errors.ArgumentError(
                    f"schedule lasts {total} epochs, but epochs is {self.epochs}; make them equal."
                )

    def values(self) -> dict[str, float]:
        """Returns the settings that are numbers to a compiled program, which other values of them do not compile anew."""
        named = {name: getattr(self, name) for name, option in OPTIONS.items() if not option.compiles}
        return {name: math.inf if value is None else value for name, value in named.items()}

    def choices(self) -> "Settings":
        """Returns the settings that do compile: these, with every value of `values` and the length at its default."""
        length = {"epochs": Settings.epochs, "schedule": None}
        return dataclasses.replace(self, **length, **{name: getattr(Settings, name) for name in self.values()})

    @checked
    def stage_bins(self, epoch: int, bins: int) -> int:
        """Returns how many of the `bins` of a trial are fitted in an epoch, which is counted from 0."""
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


@checked
def growing(bins: int, step: int, epochs: int, last: int | None = None) -> tuple[tuple[int, int], ...]:
    """Returns the paper's schedule of a growing time span.

    **Arguments:**

    - `bins`: the number of bins of the trials, which the last stage fits.
    - `step`: the number of bins by which each stage is longer than the one before.
    - `epochs`: the epochs of each stage.
    - `last`: the epochs of the last stage, `epochs` by default.

    >>> growing(84, 14, 100, last=200)[-2:]
    ((70, 100), (84, 200))
    """
    bins, step, epochs = errors.whole("bins", bins), errors.whole("step", step), errors.whole("epochs", epochs)
    last = epochs if last is None else errors.whole("last", last)
    errors.affordable("bins", bins, 200.0 * bins / step)
    return (*((span, epochs) for span in range(step, bins, step)), (bins, last))

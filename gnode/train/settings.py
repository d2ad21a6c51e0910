"""How a network is trained: everything but the network, the data and the random numbers."""

import dataclasses
import math
from collections.abc import Sequence

from gnode import errors

VALIDATE = ("epoch", "update")
DECAYS = ("scaled", "unscaled")


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

    epochs: int = 200
    lr: float = 1e-3
    weight_decay: float = 1e-3
    batch_size: int = 100
    clip: float = math.inf
    penalty: float = 0.0
    state_penalty: float = 0.0
    schedule: tuple[tuple[int, int], ...] | None = None
    shuffle: bool = True
    validate: str = "epoch"
    decay: str = "scaled"
    patience: int | None = None

    def __post_init__(self):
        errors.whole("epochs", self.epochs)
        errors.positive("lr", self.lr)
        errors.not_negative("weight_decay", self.weight_decay)
        errors.whole("batch_size", self.batch_size)
        errors.not_negative("penalty", self.penalty)
        errors.not_negative("state_penalty", self.state_penalty)
        errors.one_of("validate", self.validate, VALIDATE)
        errors.one_of("decay", self.decay, DECAYS)
        if self.clip != math.inf:
            errors.positive("clip", self.clip)
        if self.patience is not None:
            errors.whole("patience", self.patience)
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _checked_schedule(self.schedule, self.epochs))

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

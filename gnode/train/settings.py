"""The hyper-parameters of training, each declared once."""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.options import (
    check_settings,
    choice,
    names_or_code,
    optional,
    options_of,
    setting,
    single,
    stages,
    yes_or_no,
)
from gnode.train.lr_schedule import read_schedule
from gnode.train.named import check_loss, check_metrics, check_optimiser

VALIDATE = ("epoch", "update")
DECAYS = ("scaled", "unscaled")
FRESH = ("no", "epoch", "update")
PENALTIES = ("kinetic", "jacobian_norm", "higher_derivatives", "solver_cost", "stiffness")
"""The settings that are coefficients of penalties on the flow."""
MOST_DERIVATIVES = 8
"""Each order of a derivative by time can double the work."""


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


def _share(name: str, value: float) -> float:
    if not 0 <= errors.not_negative(name, value) < 1:
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be from 0 to below 1.")
    return float(value)


def _checked_schedule(name: str, value: str) -> str:
    read_schedule(value)
    return value.strip()


def _order(name: str, value: int) -> int:
    return errors.whole(name, value, at_most=MOST_DERIVATIVES)


def _off_at_zero(help: str) -> Any:
    return fit_setting(0.0, float, help, compiles=False, switches=True, check=single(errors.not_negative))


@checked_class
@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of one training run.

    **Arguments:**

    - `epochs`: the number of passes over the training trials. The epochs of `spans` add up to it.
    - `fresh`: "epoch" or "update" draws new training trials for each, from a task that is drawn at random; "no" trains on
      the same trials throughout. The validation trials stay the same.
    - `optimiser`: a name from `gnode.train.OPTIMISERS`, or any `optax.GradientTransformation`, which then has its own
      learning rate and decay.
    - `lr`: the learning rate.
    - `lr_schedule`: what it is multiplied by over time, as a text: see `gnode.train.LrSchedule`.
    - `weight_decay`: the weight decay of AdamW; the update is -lr * (adam + weight_decay * w).
    - `decay`: "scaled" as above (ordinary AdamW), or "unscaled": -(lr * adam + weight_decay * w), as in the public code.
    - `batch_size`: the number of trials per update.
    - `shuffle`: whether each epoch takes the trials in a new order.
    - `pieces`: how many pieces the trials of an update are processed in, one after another, to save memory. The gradient is
      that of all of them.
    - `clip`: the largest norm of the gradient, infinite by default.
    - `ema`: decay of an exponential moving average of the weights. Where it is above zero the averaged weights are those
      that are validated and kept; the validation loss of the others is recorded as `validation_raw`.
    - `loss`: a name from `gnode.train.LOSSES`, or a function of outputs and targets; None takes the task's own.
    - `label_smoothing`: the share of the target that cross-entropy spreads evenly over all classes.
    - `metrics`: names from `gnode.train.METRICS`, measured on the validation trials and recorded with the losses.
    - `dropout`: the probability that a hidden unit of F or G is left out of an update.
    - `state_noise`: sigma of the private noise of every unit, tau dh = ... dt + sigma dW, during training.
    - `input_noise`, `initial_noise`: standard deviations of noise on every input and on the initial state, in training.
    - `penalty`: the coefficient of the sum of squared weights, which is added to the loss.
    - `state_penalty`: the coefficient of the mean squared state.
    - `steer`: the random end times of STEER: in every update each bin is longer or shorter by at most this share of it.
      The validation trials keep their lengths.
    - `kinetic`, `jacobian_norm`, `solver_cost`, `stiffness`: the coefficients of penalties on the flow dh/dt = f(h, x). They
      are integrals over a trial: of |f|^2, of the squared norm of df/dh, of the error of a Euler step, and of how fast f
      changes along it. `gnode/train/regularisation.py` has their equations.
    - `higher_derivatives`: the coefficient of the integral of |d^K h/dt^K|^2, where K is `derivative_order`.
    - `spans`: stages (bins, epochs) that grow the fitted time span, e.g. ((14, 100), (28, 100)). The validation loss is
      always that of whole trials. Its former name, `schedule`, is understood too.
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
    lr_schedule: str = fit_setting(
        "constant",
        str,
        "Learning rate over time: constant, cosine, step:50:0.5, exponential:0.99, or warmup:5+cosine.",
        example="warmup:5+cosine",
        compiles=False,
        check=_checked_schedule,
        synonyms=("scheduler",),
    )
    optimiser: Any = fit_setting(  # noqa: RUF009
        "adam", str, "Optimiser, by its name in optax.", example="adam", check=check_optimiser, synonyms=("optimizer",)
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
    ema: float = fit_setting(
        0.0,
        float,
        "Decay of a moving average of the weights, such as 0.999; 0 for none.",
        compiles=False,
        switches=True,
        check=_share,
        synonyms=("averaging", "ema_decay"),
    )
    fresh: str = fit_setting("no", str, f"New training trials for each: {', '.join(FRESH)}.", check=choice(FRESH))
    pieces: int = fit_setting(
        1, int, "Pieces that the trials of an update are processed in.", check=errors.whole, synonyms=("accumulate",)
    )
    loss: Any = fit_setting(  # noqa: RUF009
        None, str, "Loss, by name; that of the task by default.", example="mse", check=check_loss
    )
    label_smoothing: float = fit_setting(
        0.0, float, "Share of the target spread over all classes.", compiles=False, switches=True, check=_share
    )
    metrics: Any = fit_setting(  # noqa: RUF009
        (),
        names_or_code,
        "Further metrics of the validation trials, separated by colons.",
        example="accuracy:r2",
        check=check_metrics,
    )
    dropout: float = fit_setting(
        0.0, float, "Probability of leaving a hidden unit out.", compiles=False, switches=True, check=_share
    )
    state_noise: float = _off_at_zero("Noise sigma on the states: tau dh = ... dt + sigma dW.")
    input_noise: float = _off_at_zero("Standard deviation of noise on the inputs.")
    initial_noise: float = _off_at_zero("Standard deviation of noise on the initial states.")
    penalty: float = fit_setting(
        0.0, float, "l2 penalty on the weights.", compiles=False, check=single(errors.not_negative), synonyms=("l2",)
    )
    state_penalty: float = fit_setting(
        0.0, float, "l2 penalty on the states.", compiles=False, check=single(errors.not_negative)
    )
    steer: float = fit_setting(
        0.0, float, "Share by which bins are randomly longer or shorter.", compiles=False, switches=True, check=_share
    )
    kinetic: float = _off_at_zero("Penalty on the kinetic energy |dh/dt|^2.")
    jacobian_norm: float = _off_at_zero("Penalty on the squared norm of the flow's Jacobian.")
    higher_derivatives: float = _off_at_zero("Penalty on |d^K h/dt^K|^2, where K is --derivative-order.")
    derivative_order: int = fit_setting(
        2, int, "The derivative K that --higher-derivatives makes small.", check=_order, synonyms=("taylor_order",)
    )
    solver_cost: float = _off_at_zero("Penalty on the error of a Euler step.")
    stiffness: float = _off_at_zero("Penalty on how fast the flow changes along a step.")
    spans: tuple[tuple[int, int], ...] | None = fit_setting(
        None,
        stages,
        "Growing time span, as bins@epochs+bins@epochs.",
        example="14@100+28@100",
        check=optional(_as_stages),
        synonyms=("schedule",),
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
        if self.spans is not None:
            total = sum(epochs for _, epochs in self.spans)
            if total != self.epochs:
                raise errors.ArgumentError(f"spans lasts {total} epochs, but epochs is {self.epochs}; make them equal.")
        if self.batch_size % self.pieces:
            raise errors.ArgumentError(
                f"pieces is {self.pieces}, but must divide batch_size, which is {self.batch_size}."
            )
        if self.optimiser_has_own_rate and self.lr_schedule != "constant":
            raise errors.ArgumentError("lr_schedule is for optimisers by name; give the optimiser of optax a schedule.")
        for name in ("lr", "weight_decay"):
            value, default = getattr(self, name), getattr(Settings, name)
            if self.optimiser_has_own_rate and value != default:
                raise errors.ArgumentError(
                    f"{name} is {value:g}, but an optimiser that is an object has its own; leave {name} out."
                )

    @property
    def optimiser_has_own_rate(self) -> bool:
        """Whether the optimiser is an object of optax, with its own learning rate and decay."""
        return not isinstance(self.optimiser, str)

    @property
    def is_noisy(self) -> bool:
        """Whether an update draws random numbers."""
        return any((self.dropout, self.state_noise, self.input_noise, self.initial_noise, self.steer))

    @property
    def is_regularised(self) -> bool:
        """Whether the loss has a penalty on the flow."""
        return any(getattr(self, name) for name in PENALTIES)

    def values(self) -> dict[str, float]:
        """Returns the settings that are numbers to a compiled program, which other values of them do not compile anew."""
        named = {name: getattr(self, name) for name in _VALUES if name != "lr_schedule"}
        schedule = dataclasses.asdict(read_schedule(self.lr_schedule))
        named |= {f"lr_{name}": value for name, value in schedule.items()}
        return {name: math.inf if value is None else value for name, value in named.items()}

    def choices(self) -> "Settings":
        """Returns the settings that do compile: these, with every value of `values` and the length at its default.

        Of a value that switches a part of the program on, what is left is that it does.
        """
        plain = {name: OPTIONS[name].shape(getattr(self, name)) for name in _VALUES}
        defaults = {name: getattr(Settings, name) if shape is None else SWITCHED for name, shape in plain.items()}
        return dataclasses.replace(self, epochs=Settings.epochs, spans=None, **defaults)

    @checked
    def stage_bins(self, epoch: int, bins: int) -> int:
        """Returns how many of the `bins` of a trial are fitted in an epoch, which is counted from 0."""
        if self.spans is None:
            return bins
        last = 0
        for stage_bins, stage_epochs in self.spans:
            last += stage_epochs
            if epoch < last:
                return min(stage_bins, bins)
        return bins


OPTIONS: dict[str, Any] = options_of(Settings)
"""The declared hyper-parameters, by name."""

_VALUES = tuple(name for name, option in OPTIONS.items() if not option.compiles)

SWITCHED = 0.5
"""Stands in `Settings.choices` for any value that switches a part of the program on."""

FORMER_NAMES = {"schedule": "spans"}
"""Settings that had another name in earlier versions, in whose folders they are still found."""


def with_present_names(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns settings with the names that they have now.

    >>> with_present_names({"schedule": None, "lr": 0.1})
    {'spans': None, 'lr': 0.1}
    """
    return {FORMER_NAMES.get(name, name): value for name, value in settings.items()}


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

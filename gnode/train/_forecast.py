"""Forecasts of a network that was trained to predict the next sample: in closed loop, and with every sample observed."""

import dataclasses

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.arguments import checked
from gnode.network import AbstractNetwork, Network
from gnode.tasks import Trials
from gnode.train._horizon import check_own_inputs, mean_squared, predict_closed_loop
from gnode.wording import plural


@dataclasses.dataclass(frozen=True, repr=False)
class Forecast:
    """Predictions 1, 2, ... bins after the last observed one, and their mean squared errors.

    | field                  | meaning                                                                             |
    |------------------------|-------------------------------------------------------------------------------------|
    | `closed_loop`          | predictions from the warm-up alone: the network's own outputs are its next inputs   |
    | `teacher_forced`       | predictions of the same samples one bin ahead, with all samples before observed     |
    | `truth`                | the samples, trials x horizon x outputs; NaN where none counts                      |
    | `observed`             | the samples of the warm-up, trials x `warm_up` x outputs                            |
    | `error`                | of the closed loop by bins ahead; NaN where no trial has a sample                   |
    | `teacher_forced_error` | the same, with all samples before observed                                          |
    | `last_value_error`     | of the last observed value carried forward                                          |

    No example: `forecast` and `Run.forecast` return it.
    """

    closed_loop: Float[np.ndarray, "trials horizon outputs"]
    teacher_forced: Float[np.ndarray, "trials horizon outputs"]
    truth: Float[np.ndarray, "trials horizon outputs"]
    observed: Float[np.ndarray, "trials warm_up outputs"]
    error: Float[np.ndarray, " horizon"]
    teacher_forced_error: Float[np.ndarray, " horizon"]
    last_value_error: Float[np.ndarray, " horizon"]

    @property
    def warm_up(self) -> int:
        """The number of observed bins."""
        return self.observed.shape[1]

    @property
    def horizon(self) -> int:
        """The number of predicted bins."""
        return len(self.error)

    @property
    def useful_bins(self) -> int:
        """How many bins ahead the closed loop is better than the last value, without a bin in which it is not."""
        worse = np.flatnonzero(self.error >= self.last_value_error)
        return int(worse[0]) if worse.size else self.horizon

    def __repr__(self) -> str:
        trials = plural(len(self.truth), "trial")
        better = f"better than the last value for {plural(self.useful_bins, 'bin')}"
        return f"Forecast({trials}, {self.horizon} bins after {self.warm_up}, {better})"


@checked
def forecast(net: AbstractNetwork, trials: Trials, *, warm_up: int | None = None) -> Forecast:
    """Predicts trials beyond a warm-up, in closed loop and with every sample observed.

    The network sees the first `warm_up` bins of a trial. In closed loop its own outputs then replace the observed channels,
    which are the last inputs, as many as there are outputs; inputs before them, such as a time stamp, stay as they are.

    **Arguments:**

    - `net`: a network whose target is the next sample of its own inputs.
    - `trials`: the trials to predict.
    - `warm_up`: the number of bins that the network observes first; by default half of a trial.

    **Returns:** a `Forecast`. Its first bin ahead is the same in closed loop and with every sample observed.

    **Raises:** `ArgumentError` if the targets are not the next samples, or `warm_up` is out of range.

    >>> from gnode import build, tasks
    >>> task = tasks.arrays(np.zeros((4, 6, 2)), np.zeros((4, 6, 2)), 0.1)
    >>> forecast(build("rnn", 2, 2, state=3, key=0), task.train, warm_up=4).closed_loop.shape
    (3, 3, 2)
    """
    if not isinstance(net, Network):
        raise errors.ArgumentError(
            f"net is a {type(net).__name__}, but a forecast needs a gnode.Network, which has steps."
        )
    seen = max(trials.bins // 2, 1) if warm_up is None else warm_up
    given = check_own_inputs(net, trials, seen)
    _check_next_samples(trials, given)
    seen = int(seen)
    ahead = predict_closed_loop(net, trials, seen, given)
    forced = np.asarray(net.run(trials.inputs, dt=trials.dt).outputs)[:, seen - 1 :]
    truth, mask = trials.targets[:, seen - 1 :], trials.mask[:, seen - 1 :]
    observed = trials.inputs[:, :seen, given:]
    return Forecast(
        closed_loop=ahead,
        teacher_forced=forced,
        truth=np.where(mask[..., None] > 0, truth, np.nan),
        observed=observed,
        error=mean_squared(ahead, truth, mask),
        teacher_forced_error=mean_squared(forced, truth, mask),
        last_value_error=mean_squared(observed[:, -1:], truth, mask),
    )


def _check_next_samples(trials: Trials, given: int) -> None:
    """Refuses targets that are further from the next inputs than from their own mean: they are something else."""
    counts = trials.mask[:, :-1] > 0
    targets, following = trials.targets[:, :-1][counts], trials.inputs[:, 1:, given:][counts]
    if len(targets) and np.mean((targets - following) ** 2) > np.mean((targets - targets.mean(axis=0)) ** 2):
        raise errors.ArgumentError(
            "trials has targets that are not the next samples of its inputs, so outputs cannot be fed back as inputs."
        )

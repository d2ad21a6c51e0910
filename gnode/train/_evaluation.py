"""How good a trained network is on trials that it has not seen."""

import dataclasses
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from gnode.network import AbstractNetwork
from gnode.tasks import Task, Trials
from gnode.train.loss import Batch, counting_bins, errors_by_bin, to_device

TRIALS_AT_A_TIME = 512
"""What bounds the memory of an evaluation."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The scores of a network on some trials.

    - `loss`: as in training, without penalties.
    - `by_bin`: the mean loss of the trials that count in each bin; NaN in a bin where none does.
    - `accuracy`, `confusion`: for classes only. `confusion[i, j]` is the number of trials of class i that were taken for
      class j (with `when` = "every", of their bins).
    """

    loss: float
    by_bin: Float[np.ndarray, " time"]
    accuracy: float | None = None
    confusion: Int[np.ndarray, "classes classes"] | None = None

    def scores(self) -> dict[str, float]:
        """Loss and, for classes, accuracy."""
        return {"loss": self.loss} | ({} if self.accuracy is None else {"accuracy": self.accuracy})


def evaluate(net: AbstractNetwork, task: Task, trials: Trials | None = None) -> Evaluation:
    """The scores of `net` on `trials`, by default the task's validation trials.

    >>> from gnode import build, tasks
    >>> task = tasks.flip_flop("square", trials=5, validation=4, bins=10)
    >>> evaluate(build("rnn", 2, 2, state=3, key=0), task).by_bin.shape
    (10,)
    """
    trials = task.validation if trials is None else trials
    total, weight = np.zeros(trials.bins), np.zeros(trials.bins)
    confusion = np.zeros((task.outputs, task.outputs), int)
    size = min(TRIALS_AT_A_TIME, len(trials))
    for start in range(0, len(trials), size):
        chosen = np.arange(start, start + size)
        is_real = chosen < len(trials)
        batch = to_device(trials.take(np.where(is_real, chosen, 0)))._replace(weight=is_real.astype(np.float32))
        error, counts, guess = (np.asarray(part) for part in _judge(net, batch, task.loss, task.when))
        total += np.sum(np.where(counts > 0, error * counts, 0.0), axis=0, dtype=float)
        weight += np.sum(counts, axis=0, dtype=float)
        if task.loss == "cross_entropy":
            rows, bins = np.nonzero(counts > 0)
            np.add.at(confusion, (trials.targets[chosen[rows]], guess[rows, bins]), 1)
    with np.errstate(invalid="ignore"):
        by_bin = total / weight
    loss = float(total.sum() / max(weight.sum(), 1e-9))
    if task.loss != "cross_entropy":
        return Evaluation(loss, by_bin)
    return Evaluation(loss, by_bin, float(np.trace(confusion) / max(confusion.sum(), 1)), confusion)


def test_scores(net: AbstractNetwork, task: Task) -> dict[str, float] | None:
    """The scores on the task's test trials; None if it has none."""
    return None if task.test is None else evaluate(net, task, task.test).scores()


@eqx.filter_jit
def _judge(net: AbstractNetwork, batch: Batch, kind: str, when: str) -> tuple[Any, Any, Any]:
    outputs = net.batch(batch.inputs, batch.dt).outputs
    return errors_by_bin(outputs, batch, kind), counting_bins(batch, when), outputs.argmax(axis=-1)

"""The scores of a network on trials that it was not trained on."""

import dataclasses
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from gnode import errors
from gnode.arguments import checked
from gnode.network import AbstractNetwork
from gnode.tasks import Task, Trials
from gnode.train.batch import Batch, to_device
from gnode.train.loss import counting_bins, errors_by_bin

TRIALS_AT_A_TIME = 512
"""The batch size of an evaluation, which bounds its memory."""


@dataclasses.dataclass(frozen=True, repr=False)
class Evaluation:
    """The scores of a network on some trials.

    - `loss`: the loss of training, without penalties.
    - `by_bin`: the mean loss in each bin over the trials that count there; NaN where none does.
    - `accuracy`, `confusion`: for a classification only. `confusion[i, j]` is the number of trials of class i that were
      classified as j (with `when` = "every", the number of their bins).

    No example: `evaluate` returns it.
    """

    loss: float
    by_bin: Float[np.ndarray, " time"]
    accuracy: float | None = None
    confusion: Int[np.ndarray, "classes classes"] | None = None

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.4g}" for name, value in self.scores().items())
        return f"Evaluation({scores}, {len(self.by_bin)} bins)"

    def scores(self) -> dict[str, float]:
        """Returns the loss and, for a classification, the accuracy."""
        return {"loss": self.loss} | ({} if self.accuracy is None else {"accuracy": self.accuracy})


@checked
def evaluate(net: AbstractNetwork, task: Task, trials: Trials | None = None) -> Evaluation:
    """Computes the scores of `net` on `trials`, by default the validation trials of the task.

    >>> from gnode import build, tasks
    >>> task = tasks.flip_flop("square", trials=5, validation=4, bins=10)
    >>> evaluate(build("rnn", 2, 2, state=3, key=0), task).by_bin.shape
    (10,)
    """
    trials = task.validation if trials is None else trials
    check_fit(net, task, trials)
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
            true = trials.targets[chosen[rows]] if trials.targets.ndim == 1 else trials.targets[chosen[rows], bins]
            np.add.at(confusion, (true, guess[rows, bins]), 1)
    with np.errstate(invalid="ignore"):
        by_bin = total / weight
    loss = float(total.sum() / max(weight.sum(), 1e-9))
    if task.loss != "cross_entropy":
        return Evaluation(loss, by_bin)
    return Evaluation(loss, by_bin, float(np.trace(confusion) / max(confusion.sum(), 1)), confusion)


def test_scores(net: AbstractNetwork, task: Task) -> dict[str, float] | None:
    """Computes the scores on the test trials of a task; None if it has none."""
    return None if task.test is None else evaluate(net, task, task.test).scores()


def check_fit(net: AbstractNetwork, task: Task, trials: Trials | None = None) -> None:
    """Raises an `ArgumentError` if a network does not take the inputs of a task, or of trials like its, or has not as many
    outputs as it needs."""
    if net.inputs != task.inputs:
        raise errors.ArgumentError(f"the network takes {net.inputs} inputs, but task {task.name} has {task.inputs}.")
    if net.outputs != task.outputs:
        raise errors.ArgumentError(f"the network has {net.outputs} outputs, but task {task.name} needs {task.outputs}.")
    if trials is None:
        return
    if trials.inputs.shape[2] != task.inputs:
        raise errors.ArgumentError(
            f"trials has {trials.inputs.shape[2]} inputs, but task {task.name} has {task.inputs}."
        )
    if trials.targets.ndim != task.train.targets.ndim or trials.targets.shape[2:] != task.train.targets.shape[2:]:
        raise errors.ArgumentError(
            f"trials has targets of shape {trials.targets.shape}, but those of task {task.name} have shape "
            f"{task.train.targets.shape}; pass trials of that kind."
        )
    if task.loss == "cross_entropy" and not np.all((trials.targets >= 0) & (trials.targets < task.outputs)):
        raise errors.ArgumentError(f"trials has classes other than 0 to {task.outputs - 1}, those of task {task.name}.")


@eqx.filter_jit
def _judge(net: AbstractNetwork, batch: Batch, kind: str, when: str) -> tuple[Any, Any, Any]:
    outputs = net.batch(batch.inputs, batch.dt).outputs
    return errors_by_bin(outputs, batch, kind), counting_bins(batch, when), outputs.argmax(axis=-1)

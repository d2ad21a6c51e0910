"""Validation trials as the page plays them."""

import numpy as np

from gnode.tasks import Task, Trials

LAST = "last"


def shown_trials(task: Task, trials: Trials, outputs: np.ndarray) -> dict[str, np.ndarray]:
    """Returns inputs, targets and outputs, trials x time x channels; a target is NaN where none counts.

    The targets of a classification are 1 for the right class and 0 for the others.
    """
    lasting = np.arange(trials.bins) < trials.lengths[:, None]
    counts = (trials.mask > 0) & lasting
    if task.when == LAST:
        counts &= np.arange(trials.bins) == trials.lengths[:, None] - 1
    targets = trials.targets
    if task.loss == "cross_entropy":
        by_bin = np.broadcast_to(targets[:, None], counts.shape) if targets.ndim == 1 else targets
        targets = np.eye(task.outputs, dtype=np.float32)[by_bin]
    return {
        "inputs": trials.inputs,
        "targets": np.where(counts[..., None], targets, np.nan),
        "outputs": outputs,
        "lengths": trials.lengths,
    }

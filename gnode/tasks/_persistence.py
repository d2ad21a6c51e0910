"""What a prediction has to beat."""

import numpy as np

from gnode import errors
from gnode.tasks._trials import Trials


def last_value_error(trials: Trials) -> float:
    """The mean squared error of carrying the last value forward: the next state is predicted to be the present one.

    The mean of (x_t - y_t)^2 over the outputs and the bins that count, where x_t are the last input channels, as many as
    there are outputs, and y_t the targets. It is a baseline for trials that ask for the next value of those channels, such
    as walker2d, and whose bins that count were observed (a filled one might have looked ahead).

    >>> last_value_error(Trials(np.zeros((1, 3, 2)), np.full((1, 3, 2), 2.0), 1.0))
    4.0
    """
    if trials.targets.ndim != 3 or trials.targets.shape[2] > trials.inputs.shape[2]:
        raise errors.ArgumentError(
            f"targets have shape {trials.targets.shape} and inputs {trials.inputs.shape}, but carrying the last value "
            f"forward needs a target per bin for each of the last input channels."
        )
    outputs = trials.targets.shape[2]
    counted = (trials.mask > 0) & (np.arange(trials.bins) < trials.lengths[:, None])
    difference = trials.inputs[..., -outputs:][counted].astype(np.float64) - trials.targets[counted]
    weight = trials.mask[counted].astype(np.float64)
    return float(np.sum(weight * np.mean(difference**2, axis=1)) / np.sum(weight))

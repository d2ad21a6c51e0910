"""The persistence baseline of a prediction task."""

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._trials import Trials


@checked
def last_value_error(trials: Trials) -> float:
    """Computes the mean squared error of the persistence baseline, which predicts that the next value equals the last one.

    The error is the mean of (x_t - y_t)^2 over the outputs and the bins that count, where y_t are the targets and x_t the
    last input channels, as many as there are outputs. The baseline applies to trials whose targets are the next values of
    those channels, such as `walker2d`. Bins that count must have been observed: a filled value may depend on later ones.

    **Arguments:**

    - `trials`: trials of a regression.

    **Returns:** the mean squared error.

    **Raises:** `ArgumentError` if the trials are a classification or have more outputs than inputs.

    >>> last_value_error(Trials(np.zeros((1, 3, 2)), np.full((1, 3, 2), 2.0), 1.0))
    4.0
    """
    if trials.targets.ndim != 3 or trials.targets.shape[2] > trials.inputs.shape[2]:
        raise errors.ArgumentError(
            f"targets have shape {trials.targets.shape} and inputs {trials.inputs.shape}, but the persistence baseline "
            f"needs a target per bin for each of the last input channels."
        )
    outputs = trials.targets.shape[2]
    counted = (trials.mask > 0) & (np.arange(trials.bins) < trials.lengths[:, None])
    if not counted.any():
        raise errors.ArgumentError(f"none of the {len(trials)} trials has a bin that counts; check mask and lengths.")
    difference = trials.inputs[..., -outputs:][counted].astype(np.float64) - trials.targets[counted]
    weight = trials.mask[counted].astype(np.float64)
    return float(np.sum(weight * np.mean(difference**2, axis=1)) / np.sum(weight))

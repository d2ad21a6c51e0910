"""A regressor over sequences."""

from typing import Any, Self

import numpy as np

from gnode import errors
from gnode.sklearn._estimator import SequenceEstimator
from gnode.sklearn._optional import RegressorMixin, part


class SequenceRegressor(RegressorMixin, SequenceEstimator):  # type: ignore[misc]
    """Predicts numbers from sequences by a recurrent network, behind scikit-learn's interface.

        h_t = step(h_(t-1), x_t),     y_t = C h_t + d,     least mean squared error of y_T, or of every y_t

    `X` is an array of trials x time x channels. With two dimensions a row is a trial of one channel, and every column a bin
    of time. `y` has a number per trial, (trials,), several, (trials, outputs), or several per bin, (trials, time, outputs);
    predictions are of the same form. After a fit on three dimensions trials of any length can be predicted.

    **Arguments:**

    - `model`, `state`: the cell by its name, as in `gnode list`, and its number of units N.
    - `layers`, `initial`, `method`: as in `gnode.build`.
    - `widths`, `tau`: hidden layers and time constant of the cell; its own by default.
    - `options`: further options of the cell.
    - `dt`: the length of a bin in seconds.
    - `epochs`, `lr`, `weight_decay`, `batch_size`, `clip`, `patience`: as in `gnode.train.Settings`.
    - `validation`: the share of trials that are held out, on which the best weights are chosen; with 0 the training trials.
    - `settings`: further settings of `gnode.train.Settings`.
    - `random_state`: a whole number, by which fits repeat; or as elsewhere in scikit-learn.

    | attribute        | meaning                                                                                  |
    |------------------|------------------------------------------------------------------------------------------|
    | `run_`           | the `gnode.Run`: the network, the losses, how it ended                                   |
    | `n_features_in_` | the number of channels; of an `X` with two dimensions the number of bins                 |
    | `dimensions_in_` | the dimensions of `X`                                                                    |
    | `target_shape_`  | the shape of `y` without its trials                                                      |

    A pickled estimator keeps the network and its losses, not the trials.

    No example: docs/howto/scikit-learn.md has one, which is run.
    """

    target_shape_: tuple[int, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Trains a new network.

        **Raises:** `ValueError` for arrays of other shapes, and for settings that `gnode` refuses.
        """
        inputs = self._sequences(X, reset=True)
        targets = self._targets(y, inputs)
        when = "every" if targets.ndim == 3 else "last"
        columns = targets.reshape(*targets.shape[:-1], -1) if targets.ndim > 1 else targets[:, None]
        every = columns if when == "every" else np.broadcast_to(columns[:, None], (*inputs.shape[:2], columns.shape[1]))
        self.target_shape_ = targets.shape[1:]
        return self._trained(inputs, every, columns.shape[-1], when)

    def predict(self, X: Any) -> np.ndarray:
        """Returns the outputs for each trial, in the form of the `y` that was fitted."""
        outputs = self._outputs(X, "every" if len(getattr(self, "target_shape_", ())) == 2 else "last")
        return outputs if self.target_shape_ else outputs[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns R^2, the share of variance explained, over all trials and bins, averaged over outputs."""
        r2_score = part("metrics").r2_score
        found, wanted = self.predict(X), np.asarray(y, dtype=np.float64)
        if found.ndim == 3:
            if wanted.shape != found.shape:
                raise errors.ArgumentError(f"y has shape {wanted.shape}, but must have shape {found.shape}.")
            weight = None if sample_weight is None else np.repeat(np.asarray(sample_weight), found.shape[1])
            columns = found.shape[2]
            return r2_score(wanted.reshape(-1, columns), found.reshape(-1, columns), sample_weight=weight)
        return r2_score(wanted, found, sample_weight=sample_weight)

    def _targets(self, y: Any, inputs: np.ndarray) -> np.ndarray:
        if y is None:
            raise errors.ArgumentError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check = part("utils.validation")
        found = check.check_array(y, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="y", estimator=self)
        check.check_consistent_length(inputs, found)
        if found.ndim > 3 or (found.ndim == 3 and found.shape[1] != inputs.shape[1]):
            raise errors.ArgumentError(
                f"y has shape {found.shape}, but must have a number per trial, ({len(inputs)},), several, "
                f"({len(inputs)}, outputs), or several per bin, ({len(inputs)}, {inputs.shape[1]}, outputs)."
            )
        return found

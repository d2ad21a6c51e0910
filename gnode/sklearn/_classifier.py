"""A classifier of sequences."""

from typing import Any, Self

import numpy as np

from gnode import errors
from gnode.sklearn._estimator import SequenceEstimator
from gnode.sklearn._optional import ClassifierMixin, part


class SequenceClassifier(ClassifierMixin, SequenceEstimator):  # type: ignore[misc]
    """Tells the classes of sequences apart by a recurrent network, behind scikit-learn's interface.

        h_t = step(h_(t-1), x_t),     p = softmax(C h_T + d),     least cross-entropy

    `X` is an array of trials x time x channels. With two dimensions a row is a trial of one channel, and every column a bin
    of time. `y` has a label per trial, of any kind that scikit-learn takes.

    **Arguments:** as in `SequenceRegressor`.

    | attribute        | meaning                                                                                  |
    |------------------|------------------------------------------------------------------------------------------|
    | `classes_`       | the labels, in the order of the network's outputs                                        |
    | `run_`, `n_features_in_`, `dimensions_in_` | as in `SequenceRegressor`                                      |

    No example: docs/howto/scikit-learn.md has one, which is run.
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        """Trains a new network.

        **Raises:** `ValueError` for arrays of other shapes, labels that are none, a single class, and for settings that
        `gnode` refuses.
        """
        inputs = self._sequences(X, reset=True)
        if y is None:
            raise errors.ArgumentError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check = part("utils.validation")
        labels = check.column_or_1d(y, warn=True)
        check.check_consistent_length(inputs, labels)
        part("utils.multiclass").check_classification_targets(labels)
        self.classes_, targets = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise errors.ArgumentError(
                f"y has one class, {errors.shown(self.classes_[0])}, but a classifier needs at least two."
            )
        return self._trained(inputs, targets.astype(np.int64), len(self.classes_), "last")

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probability of each class of `classes_`, trials x classes."""
        outputs = self._outputs(X, "last")
        odds = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Returns the logarithm of the probability of each class."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> np.ndarray:
        """Returns the likeliest label of each trial."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)  # which says so first if nothing was fitted
        return self.classes_[likeliest]

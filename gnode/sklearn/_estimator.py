"""What the regressor and the classifier share: sequences from arrays, training, outputs, pickling."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from gnode import errors
from gnode.models import build
from gnode.sklearn import _pickling
from gnode.sklearn._optional import BaseEstimator, part
from gnode.tasks import Task, Trials, arrays
from gnode.train import Run, fit

AT_A_TIME = 64
"""How many trials are predicted at a time. Always so many, so that a prediction does not depend on the others."""


class SequenceEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators that train one recurrent network on trials of equal length.

    No example: see `SequenceRegressor` and `SequenceClassifier`.
    """

    run_: Run
    n_features_in_: int

    def __init__(
        self,
        model: str = "gru",
        state: int = 32,
        *,
        layers: int = 1,
        widths: Sequence[int] | None = None,
        tau: Any = None,
        dt: float = 1.0,
        initial: str = "zeros",
        method: str | None = None,
        options: Mapping[str, Any] | None = None,
        epochs: int = 100,
        lr: float = 1e-2,
        weight_decay: float = 1e-3,
        batch_size: int = 32,
        clip: float = 1.0,
        patience: int | None = None,
        validation: float = 0.0,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ):
        self.model = model
        self.state = state
        self.layers = layers
        self.widths = widths
        self.tau = tau
        self.dt = dt
        self.initial = initial
        self.method = method
        self.options = options
        self.epochs = epochs
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.clip = clip
        self.patience = patience
        self.validation = validation
        self.settings = settings
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        parent: Any = super()
        tags = parent.__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        parent: Any = super()
        state: dict[str, Any] = parent.__getstate__()
        return state | {"run_": _pickling.plain(state["run_"])} if "run_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parent: Any = super()
        parent.__setstate__(state | {"run_": _pickling.restored(state["run_"])} if "run_" in state else state)

    def _sequences(self, X: Any, reset: bool) -> np.ndarray:
        """Returns trials x time x channels from an array of three dimensions, or of two with one channel."""
        check = part("utils.validation")
        dims = _dimensions(X)
        if not reset and dims in (2, 3) and dims != self.dimensions_in_:
            raise errors.ArgumentError(
                f"X has {dims} dimensions, but {type(self).__name__} was fitted on an array of {self.dimensions_in_}."
            )
        if dims != 3:
            X = check.validate_data(self, X, dtype=np.float64, reset=reset)
            self.dimensions_in_ = 2
            return X[:, :, None]
        X = check.check_array(X, dtype=np.float64, allow_nd=True, ensure_2d=False, input_name="X", estimator=self)
        if 0 in X.shape:
            raise errors.ArgumentError(f"X has shape {X.shape}, but must be (trials, time, channels), none of them 0.")
        if reset:
            self.n_features_in_, self.dimensions_in_ = X.shape[2], 3
        elif X.shape[2] != self.n_features_in_:
            raise errors.ArgumentError(
                f"X has {X.shape[2]} channels, but {type(self).__name__} was fitted on {self.n_features_in_}."
            )
        return X

    def _trained(self, X: np.ndarray, targets: np.ndarray, outputs: int, when: str) -> Self:
        """Trains the network on trials x time x channels, and keeps the run."""
        seed = int(part("utils").check_random_state(self.random_state).randint(2**31 - 1))
        named: dict[str, Any] = {"widths": self.widths, "tau": self.tau}
        options = {name: value for name, value in named.items() if value is not None} | dict(self.options or {})
        net = build(
            self.model,
            X.shape[2],
            outputs,
            state=self.state,
            layers=self.layers,
            initial=self.initial,
            method=self.method,
            key=seed,
            **options,
        )
        names = ("epochs", "lr", "weight_decay", "batch_size", "clip", "patience")
        settings = {name: getattr(self, name) for name in names} | dict(self.settings or {})
        self.dt_ = errors.positive("dt", self.dt)
        task = self._task(X, targets, outputs, when, seed)
        self.run_ = fit(net, task, key=seed, progress=False, **settings)
        if self.run_.status == "diverged":
            warnings.warn(self.run_.summary(), part("exceptions").ConvergenceWarning, stacklevel=3)
        return self

    def _task(self, X: np.ndarray, targets: np.ndarray, outputs: int, when: str, seed: int) -> Task:
        if errors.share("validation", self.validation) > 0:
            held_out: dict[str, Any] = {"validation": self.validation, "outputs": outputs, "when": when, "key": seed}
            return arrays(X, targets, self.dt_, name=type(self).__name__, **held_out)
        trials = Trials(X, targets, self.dt_)
        loss = "cross_entropy" if targets.ndim == 1 else "mse"
        return Task(type(self).__name__, trials, trials, outputs=outputs, loss=loss, when=when)

    def _outputs(self, X: Any, when: str) -> np.ndarray:
        """Returns what the network reads out at every bin, or only at the last."""
        part("utils.validation").check_is_fitted(self, "run_")
        sequences = self._sequences(X, reset=False).astype(np.float32)
        found: list[np.ndarray] = []
        for start in range(0, len(sequences), AT_A_TIME):
            block = sequences[start : start + AT_A_TIME]
            padded = np.concatenate([block, np.repeat(block[-1:], AT_A_TIME - len(block), axis=0)])
            outputs = np.asarray(self.run_.net.run(padded, dt=self.dt_).outputs, np.float64)[: len(block)]
            found.append(outputs if when == "every" else outputs[:, -1])
        return np.concatenate(found)


def _dimensions(X: Any) -> int:
    """Returns the number of dimensions; 0 for what is not an array, which scikit-learn refuses in its own words."""
    shape = getattr(X, "shape", None)
    try:
        return np.asarray(X).ndim if shape is None else len(shape)
    except ValueError:  # rows of different lengths
        return 0

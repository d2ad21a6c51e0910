"""Callbacks: what a user has done while a network trains.

A `Callback` is told of every epoch by a `Moment`, and may stop the run. What it looks at is computed when it asks: one that
reads nothing costs nothing.
"""

import copy
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnode import errors
from gnode.arguments import check_takes, checked

if TYPE_CHECKING:
    from gnode.network import AbstractNetwork
    from gnode.train._run import Run
    from gnode.train.checkpoint import Checkpoint
    from gnode.train.loop import Problem
    from gnode.train.metrics import Curves

__all__ = ["Callback", "Callbacks", "Moment", "Watch", "as_callbacks"]

LONGEST_REASON = 500
"""In characters."""


class Moment:
    """A run after one of its epochs, as callbacks see it.

    - `epoch`: the epoch that has just ended, counted from 1, of `epochs`.
    - `metrics`: the metrics of this epoch, by name: the columns of `metrics.csv`.
    - `curves`: the metrics of all epochs so far, an array for each name, which cannot be written to.
    - `best_loss`, `best_epoch`: the lowest validation loss so far, and the epoch that had it.
    - `seconds`: the time spent in training, that before an interruption included.
    - `folder`, `run_config`: where the run is stored (None if it is not), and its configuration.
    - `is_first`: whether this is the first epoch since training began or was resumed.

    No example: training makes it, and hands it to callbacks.
    """

    def __init__(
        self,
        problem: "Problem",
        checkpoint: "Checkpoint",
        *,
        folder: Path | None,
        run_config: dict[str, Any],
        is_first: bool = True,
    ):
        self._problem, self._checkpoint, self._run_config = problem, checkpoint, run_config
        self.epoch: int = checkpoint.epoch
        self.epochs: int = problem.settings.epochs
        self.seconds: float = checkpoint.seconds
        self.folder = folder
        self.is_first = is_first
        self.reason: str | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of this epoch, by name."""
        return {name: float(values[-1]) for name, values in self._checkpoint.curves.items()}

    @property
    def curves(self) -> "Curves":
        """The metrics of all epochs so far, an array for each name."""
        curves = {name: values.view() for name, values in self._checkpoint.curves.items()}
        for values in curves.values():
            values.flags.writeable = False
        return curves

    @property
    def best_loss(self) -> float:
        """The lowest validation loss so far; infinite if none was found."""
        return float(self._checkpoint.state.best_loss)

    @property
    def best_epoch(self) -> int:
        """The epoch that had it; 0 if none was found."""
        return int(self._checkpoint.state.best_epoch)

    @property
    def run_config(self) -> dict[str, Any]:
        """The configuration of the run, as `config.json` holds it."""
        return copy.deepcopy(self._run_config)

    def network(self) -> "AbstractNetwork":
        """Returns the network with its present weights."""
        return self._network(self._checkpoint.state.params)

    def best_network(self) -> "AbstractNetwork":
        """Returns the network with the lowest validation loss so far."""
        return self._network(self._checkpoint.state.best)

    def _network(self, params: Any) -> "AbstractNetwork":
        if self._problem.cores > 1:
            import jax

            params = jax.device_put(params, jax.devices()[0])
        return self._problem.network(params)

    @checked
    def stop(self, reason: str = "") -> None:
        """Ends the run after this epoch, with status "stopped". It has ended: `gnode.resume` returns it as it is.

        **Arguments:** `reason`: a sentence that is kept with the run, as `run.reason`; of several the first is kept.
        """
        text = errors.shortened(reason, LONGEST_REASON)
        self.reason = self.reason or text or "a callback stopped it"

    @property
    def is_stopped(self) -> bool:
        """Whether a callback has stopped the run."""
        return self.reason is not None

    def __repr__(self) -> str:
        return f"Moment(epoch {self.epoch} of {self.epochs}, best_loss={self.best_loss:.4g})"


class Callback:
    """What is called while a network trains: override any of its methods, and pass instances to `gnode.fit`.

    After an epoch, first `after_evaluation` of every callback is called, then `after_epoch` of every one, in the order in
    which they were given.

    >>> class Patient(Callback):
    ...     def after_epoch(self, moment):
    ...         if moment.metrics["validation"] < 0.1:
    ...             moment.stop("good enough")
    >>> isinstance(Patient(), Callback)
    True
    """

    def after_evaluation(self, moment: Moment) -> None:
        """Is called when the validation of an epoch was made and found a number.

        An epoch whose validation loss is NaN or infinite, as when training diverges, has no evaluation.
        """

    def after_epoch(self, moment: Moment) -> None:
        """Is called after every epoch, whatever it brought."""

    def at_end(self, run: "Run") -> None:
        """Is called once, when the run has finished, stopped or diverged and is stored; not after an interrupt."""

    def close(self) -> None:
        """Is called last, also after an interrupt or an error: closes what the callback has opened."""


Callbacks = Sequence[Callback | Callable[[Moment], Any]]
"""What `gnode.fit` takes as `callbacks`."""


class _Function(Callback):
    """A plain function, called after every epoch."""

    def __init__(self, function: Callable[[Moment], Any]):
        self.function = function

    def after_epoch(self, moment: Moment) -> None:
        self.function(moment)


def as_callbacks(value: Callbacks | None) -> tuple[Callback, ...]:
    """Returns the callbacks that `gnode.fit` was given; a function is one that is called after every epoch.

    **Raises:** `ArgumentError` for anything else.
    """
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise errors.ArgumentError(f"callbacks is {errors.shown(value)}, but must be a list: callbacks=[...].")
    return tuple(_as_callback(one) for one in value)


def _as_callback(value: Any) -> Callback:
    if isinstance(value, Callback):
        return value
    if isinstance(value, type) and issubclass(value, Callback):
        raise errors.ArgumentError(f"callbacks has the class {value.__name__}, but must have an instance of it.")
    if isinstance(value, type) or not callable(value):
        raise errors.ArgumentError(
            f"callbacks has {errors.shown(value)}, but must have instances of gnode.train.Callback or functions."
        )
    check_takes("one of callbacks", value)
    return _Function(value)


class Watch:
    """Calls the callbacks of one run."""

    def __init__(
        self, callbacks: tuple[Callback, ...], problem: "Problem", folder: Path | None, config: dict[str, Any]
    ):
        self._callbacks, self._problem, self._folder, self._config = callbacks, problem, folder, config
        self._is_first = True
        self.reason: str | None = None

    def after_epoch(self, checkpoint: "Checkpoint") -> bool:
        """Tells of an epoch; returns whether the run is to stop."""
        if not self._callbacks:
            return False
        moment = Moment(
            self._problem, checkpoint, folder=self._folder, run_config=self._config, is_first=self._is_first
        )
        self._is_first = False
        if math.isfinite(checkpoint.curves["validation"][-1]):
            for callback in self._callbacks:
                self._call(callback, callback.after_evaluation, moment, f"after epoch {moment.epoch}")
        for callback in self._callbacks:
            self._call(callback, callback.after_epoch, moment, f"after epoch {moment.epoch}")
        self.reason = moment.reason
        return moment.is_stopped

    def at_end(self, run: "Run") -> None:
        """Tells of the end."""
        for callback in self._callbacks:
            self._call(callback, callback.at_end, run, "at the end")

    @contextmanager
    def closing(self) -> Generator[None, None, None]:
        """Closes all callbacks at the end of the block, also those after one that fails to close.

        After an error inside the block that one is raised: it came first, and what cannot be closed may follow from it.
        """
        try:
            yield
        except BaseException:
            self._close()
            raise
        for callback, problem in self._close():
            raise _failed(callback, problem, "when it was closed", self._folder) from problem

    def _close(self) -> list[tuple[Callback, Exception]]:
        failed: list[tuple[Callback, Exception]] = []
        for callback in self._callbacks:
            try:
                callback.close()
            except Exception as problem:  # of the user's code
                failed.append((callback, problem))
        return failed

    def _call(self, callback: Callback, method: Callable[[Any], Any], argument: Any, when: str) -> None:
        try:
            method(argument)
        except Exception as problem:  # of the user's code, which may raise anything
            raise _failed(callback, problem, when, self._folder) from problem


def _failed(callback: Callback, problem: Exception, when: str, folder: Path | None) -> errors.GnodeError:
    """Says which callback failed, why, and what has become of the run."""
    named: Any = callback.function if isinstance(callback, _Function) else type(callback)
    name = getattr(named, "__qualname__", type(named).__name__)
    why = errors.shortened(str(problem)) or "without a message"
    cause = why if isinstance(problem, errors.GnodeError) else f"{type(problem).__name__}: {why}"
    kept = "" if folder is None else f"; what was learned is in {folder}"
    return errors.GnodeError(f"the callback {name} failed {when} ({cause}){kept}.")

"""The loop over epochs that every way of training shares."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from gnode import errors, stopping
from gnode.network import Network
from gnode.solve import check_cores, check_kernel, on_cores, split_over
from gnode.tasks import Task
from gnode.train import evaluation, parameters, program
from gnode.train.loss import Batch, to_device
from gnode.train.program import Hyper, Plan, TrainState
from gnode.train.settings import Settings
from gnode.train.store import METRIC_NAMES, Curves
from gnode.types import Key


class Data(NamedTuple):
    """A task's trials on the device."""

    train: Batch
    validation: Batch


@dataclasses.dataclass(frozen=True)
class Problem:
    """One network to be trained on one task, taken apart into what compiles and what does not."""

    params: PyTree
    frozen: PyTree
    data: Data
    plan: Plan
    hyper: Hyper
    settings: Settings
    key: Key
    bins: int

    def network(self, params: PyTree) -> Network:
        """The whole network with these trained values."""
        return eqx.combine(params, self.frozen)


class Progress(NamedTuple):
    """How far a run has come."""

    state: TrainState
    curves: Curves
    epoch: int


Callback = Callable[[Progress], None]


def on_device(task: Task) -> Data:
    """A task's trials as jax arrays."""
    return Data(to_device(task.train), to_device(task.validation))


def pose(net: Network, task: Task, settings: Settings, key: Key, data: Data | None = None) -> Problem:
    """Checks that network, task and settings fit together. `data` may be shared between runs."""
    if not isinstance(task, Task):
        raise errors.ArgumentError(
            f"task is {type(task).__name__}, but must be a Task; make one: gnode.tasks.make(name)."
        )
    if not hasattr(net, "cell"):
        raise errors.ArgumentError(
            f"net is {type(net).__name__}, but must be a Network: gnode.Network(cell, outputs, key=0) makes one of a cell."
        )
    if net.cell.inputs != task.inputs:
        raise errors.ArgumentError(
            f"the network takes {net.cell.inputs} inputs, but task {task.name} has {task.inputs}."
        )
    if net.outputs != task.outputs:
        raise errors.ArgumentError(f"the network has {net.outputs} outputs, but task {task.name} needs {task.outputs}.")
    longest = max((bins for bins, _ in settings.schedule or ()), default=0)
    if longest > task.bins:
        raise errors.ArgumentError(
            f"schedule has a stage of {longest} bins, but the trials of {task.name} have {task.bins}."
        )
    check_cores(_cores_of(net))
    if hasattr(net, "solver"):
        check_kernel(net.cell, net.solver)
    params, frozen = parameters.split(net)
    return Problem(
        params=params,
        frozen=frozen,
        data=on_cores(on_device(task), split_over(_cores_of(net))) if data is None else data,
        plan=program.plan_of(settings, task),
        hyper=program.hyper_of(settings),
        settings=settings,
        key=key,
        bins=task.bins,
    )


def _cores_of(net: Any) -> int:
    """Of its solver; what is trained need not have one (the neural CDE brings its own)."""
    return net.solver.cores if hasattr(net, "solver") else 1


def begin(problem: Problem) -> Progress:
    """Before the first epoch."""
    return Progress(program.start(problem.params), {name: np.zeros(0) for name in METRIC_NAMES}, 0)


def train(problem: Problem, progress: Progress, after_epoch: Callback | None = None) -> Progress:
    """Trains until the last epoch, divergence, or the end of patience. `after_epoch` sees every epoch."""
    cores = split_over(_cores_of(problem.frozen))
    progress = progress._replace(state=on_cores(progress.state, cores))
    while not is_over(problem, progress):
        progress = _next_epoch(problem, progress)
        if after_epoch is not None:
            after_epoch(progress)
        stopping.check()
    return progress if cores == 1 else progress._replace(state=jax.device_put(progress.state, jax.devices()[0]))


def is_over(problem: Problem, progress: Progress) -> bool:
    """Whether nothing is left to do."""
    state = progress.state
    return progress.epoch >= problem.settings.epochs or bool(state.stopped) or int(state.diverged_at) > 0


def summarise(problem: Problem, task: Task, done: Progress, seconds: float) -> dict[str, Any]:
    """How a run ended, as `result.json` holds it."""
    state = done.state
    diverged_at = int(state.diverged_at)
    unfinished = "finished" if done.epoch >= problem.settings.epochs else "interrupted"
    ended = "diverged" if diverged_at else "stopped" if bool(state.stopped) else unfinished
    return {
        "status": ended,
        "best_loss": float(state.best_loss),
        "best_epoch": int(state.best_epoch),
        "diverged_at": diverged_at or None,
        "epochs_done": done.epoch,
        "seconds": seconds,
        "test": evaluation.test_scores(problem.network(state.best), task) if ended != "interrupted" else None,
    }


def _next_epoch(problem: Problem, progress: Progress) -> Progress:
    epoch = progress.epoch + 1
    state, metrics = program.run_epoch_compiled(
        progress.state,
        problem.hyper,
        problem.key,
        jnp.int32(epoch),
        problem.data.train,
        problem.data.validation,
        problem.frozen,
        problem.plan,
        problem.settings.stage_bins(progress.epoch, problem.bins),
    )
    values = zip(METRIC_NAMES, metrics)
    return Progress(state, {name: np.append(progress.curves[name], float(value)) for name, value in values}, epoch)

"""The loop over epochs that every way of training shares."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from gnode import compiled_programs, errors, interrupts
from gnode.devices import cores_in_use, on_cores
from gnode.network import AbstractNetwork, Network
from gnode.solve.gpu.choice import kernel_without_noise
from gnode.tasks import Task
from gnode.train import _evaluation, _parameters, program
from gnode.train.batch import Batch, take_first, to_device
from gnode.train.checkpoint import Checkpoint, first_checkpoint
from gnode.train.guesses import first_guesses
from gnode.train.metrics import with_epoch
from gnode.train.named import LOSSES, METRICS, resolved
from gnode.train.perturbation import stacks_of
from gnode.train.program import Constants, Hyper, Plan
from gnode.train.regularisation import check_flow
from gnode.train.settings import Settings
from gnode.train.trial_call import check_objects
from gnode.types import Key


class Data(NamedTuple):
    """The trials of a task on the device."""

    train: Batch
    validation: Batch


@dataclasses.dataclass(frozen=True)
class Problem:
    """One network to be trained on one task, split into what is static in the compiled program and what is not."""

    params: PyTree
    frozen: PyTree
    data: Data
    plan: Plan
    hyper: Hyper
    settings: Settings
    key: Key
    bins: int

    def network(self, params: PyTree) -> AbstractNetwork:
        """Returns the whole network with these trained values."""
        return eqx.combine(params, self.frozen)

    @property
    def cores(self) -> int:
        """Over how many CPU devices the trials of a batch are split."""
        return cores_in_use(self.frozen.cores)


AfterEpoch = Callable[[Checkpoint], Checkpoint | None]
"""Is told of an epoch; may return the checkpoint to go on from, such as one that is `stopped`."""


def on_device(task: Task) -> Data:
    """Moves the trials of a task to the device."""
    return Data(to_device(task.train), to_device(task.validation))


def pose(net: AbstractNetwork, task: Task, settings: Settings, key: Key, data: Data | None = None) -> Problem:
    """Checks that network, task and settings fit together, and poses the training problem.

    **Arguments:** `net`, `task`, `settings`; `key`, of the order of trials; `data`, the task on the device, where several
    runs share it.

    **Raises:** `ArgumentError` if they do not fit.
    """
    if not isinstance(task, Task):
        raise errors.ArgumentError(
            f"task is {type(task).__name__}, but must be a Task; make one: gnode.tasks.make(name)."
        )
    if not isinstance(net, AbstractNetwork):
        raise errors.ArgumentError(
            f"net is {type(net).__name__}, but must be a Network: gnode.Network(cell, outputs, key=0) makes one of a cell."
        )
    _evaluation.check_fit(net, task)
    longest = max((bins for bins, _ in settings.spans or ()), default=0)
    if longest > task.bins:
        raise errors.ArgumentError(
            f"spans has a stage of {longest} bins, but the trials of {task.name} have {task.bins}."
        )
    net.check()
    _check_settings(net, task, settings)
    compiled_programs.drop_if_too_many()
    params, frozen = _parameters.split(net)
    data = on_cores(on_device(task), cores_in_use(net.cores)) if data is None else data
    trials = min(settings.batch_size, len(task.train)) // settings.pieces
    at_once = isinstance(net, Network) and net.goes_at_once(max(trials, 1), task.bins)
    plan = program.plan_of(settings, task, at_once)
    check_objects(plan.choices, plan.loss, params, take_first(data.train, plan.batch_size), net.outputs)
    return Problem(
        params=params,
        frozen=frozen,
        data=data,
        plan=plan,
        hyper=program.hyper_of(settings, plan),
        settings=settings,
        key=key,
        bins=task.bins,
    )


def _check_path(net: AbstractNetwork, task: Task) -> None:
    """Raises an `ArgumentError` if each bin has the time before its sample, but the path of the input that after it."""
    path = net.solver.interpolation if isinstance(net, Network) else "hold"
    lengths = np.asarray(task.train.dt)
    if path != "hold" and task.since_before and not np.allclose(lengths[lengths > 0], task.dt, rtol=1e-4, atol=0):
        raise errors.ArgumentError(
            f"interpolation is {path!r}, which joins each sample with the next, but the bins of {task.name} last the time "
            f"since the sample before; make the task with ahead=True (--ahead yes)."
        )


def _check_settings(net: AbstractNetwork, task: Task, settings: Settings) -> None:
    """Raises an `ArgumentError` for settings that this network or this task cannot be trained with."""
    if settings.fresh != "no":
        task.fresh_trials()
    _check_path(net, task)
    if settings.dropout and not any(stack.depth > 1 for stack in stacks_of(net.cell)):
        raise errors.ArgumentError(
            f"dropout is {settings.dropout:g}, but {type(net.cell).__name__} has no hidden layers to leave units out of."
        )
    if (settings.state_noise or settings.initial_noise) and not isinstance(net, Network):
        raise errors.ArgumentError(f"noise on states needs a gnode.Network, but net is a {type(net).__name__}.")
    if settings.state_noise and net.cell.has("diffusion"):
        raise errors.ArgumentError(
            f"state_noise is {settings.state_noise:g}, but {type(net.cell).__name__} has noise of its own, whose size is "
            f"trained; leave state_noise out."
        )
    check_flow(net, settings)
    if settings.state_noise and isinstance(net, Network) and (kernel := kernel_without_noise(net.cell, net.solver)):
        warnings.warn(f"state noise is integrated by the compiled loop, not by the {kernel} kernel.", stacklevel=2)
    classes = task.loss == "cross_entropy"
    if settings.loss in LOSSES and (settings.loss == "cross_entropy") != classes:
        kind = "classes" if classes else "real numbers"
        raise errors.ArgumentError(f"loss is {settings.loss!r}, but the targets of {task.name} are {kind}.")
    if settings.label_smoothing and resolved(settings.loss) not in (None, "cross_entropy"):
        raise errors.ArgumentError("label_smoothing is a part of cross_entropy, which a loss of your own replaces.")
    if settings.label_smoothing and not classes:
        raise errors.ArgumentError(f"label_smoothing is for classes, but the targets of {task.name} are real numbers.")
    for metric in settings.metrics:
        if metric in METRICS and (metric == "accuracy") != classes:
            kind = "classes" if classes else "real numbers"
            raise errors.ArgumentError(f"metrics has {metric!r}, but the targets of {task.name} are {kind}.")


def begin(problem: Problem) -> Checkpoint:
    """Returns the checkpoint before the first epoch."""
    guesses = None
    if problem.plan.keeps_guesses:
        guesses = first_guesses(problem.network(problem.params), problem.data.train.inputs)
    return first_checkpoint(program.start(problem.params, problem.plan, guesses), problem.plan.metric_names)


def train(problem: Problem, checkpoint: Checkpoint, after_epoch: AfterEpoch | None = None) -> Checkpoint:
    """Trains until the last epoch, divergence, or the end of patience. `after_epoch` sees every epoch's checkpoint."""
    cores = problem.cores
    checkpoint = checkpoint._replace(state=on_cores(checkpoint.state, cores))
    while not is_over(problem, checkpoint):
        checkpoint = next_epoch(problem, checkpoint)
        if after_epoch is not None:
            checkpoint = after_epoch(checkpoint) or checkpoint
        interrupts.check()
    return checkpoint if cores == 1 else checkpoint._replace(state=jax.device_put(checkpoint.state, jax.devices()[0]))


def stopped(checkpoint: Checkpoint) -> Checkpoint:
    """Returns a checkpoint from which training does not go on, as at the end of patience."""
    state = dataclasses.replace(checkpoint.state, stopped=checkpoint.state.stopped | True)
    return checkpoint._replace(state=state)


def is_over(problem: Problem, checkpoint: Checkpoint) -> bool:
    """Whether nothing is left to do."""
    state = checkpoint.state
    return checkpoint.epoch >= problem.settings.epochs or bool(state.stopped) or int(state.diverged_at) > 0


def summarise(problem: Problem, task: Task, done: Checkpoint) -> dict[str, Any]:
    """Returns how a run ended, as `result.json` holds it."""
    state = done.state
    diverged_at = int(state.diverged_at) or _diverged_last(problem, done)
    unfinished = "finished" if done.epoch >= problem.settings.epochs else "interrupted"
    ended = "diverged" if diverged_at else "stopped" if bool(state.stopped) else unfinished
    return {
        "status": ended,
        "best_loss": float(state.best_loss),
        "best_epoch": int(state.best_epoch),
        "diverged_at": diverged_at or None,
        "epochs_done": done.epoch,
        "seconds": done.seconds,
        "test": _evaluation.test_scores(problem.network(state.best), task) if ended != "interrupted" else None,
    }


def _diverged_last(problem: Problem, done: Checkpoint) -> int:
    """Returns the number of the last update if that was the one that diverged, else 0.

    The next update finds divergence by its loss; of the last one only the validation loss tells. A growing schedule may
    have such a loss on the way, on bins that were not trained yet, so it is judged at the end alone.
    """
    state = done.state
    if done.epoch < problem.settings.epochs and not bool(state.stopped):
        return 0
    limit = program.DIVERGED_GROWTH * max(float(state.first_loss), program.SMALLEST_FIRST)
    return 0 if done.curves["validation"][-1] <= limit else int(state.update)


def next_epoch(problem: Problem, checkpoint: Checkpoint) -> Checkpoint:
    """Trains one epoch."""
    epoch = checkpoint.epoch + 1
    state, metrics = program.run_epoch_compiled(
        checkpoint.state,
        Constants(problem.hyper, problem.key, problem.frozen),
        jnp.int32(epoch),
        problem.data,
        problem.plan,
        problem.settings.stage_bins(checkpoint.epoch, problem.bins),
    )
    # Compiled functions return dictionaries in another order.
    curves = with_epoch(checkpoint.curves, epoch, {name: float(metrics[name]) for name in problem.plan.metric_names})
    return Checkpoint(state, curves, epoch, checkpoint.seconds)

"""Training as a pure function of (state, hyper-parameters, key, data): it jits, vmaps, shards and resumes.

An epoch is one call on the device. Learning rate, decay, penalties and clipping are values, so that changing them
compiles nothing; shapes, batch size and the choices in `Plan` are static.
"""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from gnode.tasks import Task
from gnode.train import _parameters
from gnode.train.batch import Batch, first_bins, take
from gnode.train.loss import losses
from gnode.train.settings import Settings
from gnode.types import Key

DIVERGED_GROWTH = 1e6
"""A loss this many times the first one counts as divergence, as one that is not finite does."""
SMALLEST_FIRST = 1e-6
"""A first loss below this counts as this, so that a network that begins with a perfect fit may move."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The static choices of a training program. Two runs with equal plans and shapes share one compilation.

    `choices` are the settings that compile, `Settings.choices`; `batch_size` is at most the number of training trials.
    """

    choices: Settings
    batch_size: int
    loss: str
    when: str


Hyper = dict[str, Float[Array, "..."]]
"""`Settings.values` on the device: they may differ between members of a grid without compiling again."""


class Constants(NamedTuple):
    """What stays as it is during a run: the values of its settings, its key, and the part of the network that is not
    trained.
    """

    hyper: Hyper
    key: Key
    frozen: PyTree


class TrainState(eqx.Module):
    """Everything that changes during training."""

    params: PyTree
    optimiser: PyTree
    best: PyTree
    best_loss: Float[Array, "..."]
    best_epoch: Int[Array, "..."]
    first_loss: Float[Array, "..."]
    update: Int[Array, "..."]
    diverged_at: Int[Array, "..."]
    """The update, counted from 1, at which training diverged; 0 if it has not."""
    stopped: Bool[Array, "..."]
    """Whether `patience` ran out."""


class Metrics(NamedTuple):
    """The metrics of one epoch: mean training loss over its updates, validation loss, mean gradient norm."""

    train: Float[Array, "..."]
    validation: Float[Array, "..."]
    gradient: Float[Array, "..."]


def plan_of(settings: Settings, task: Task) -> Plan:
    """Returns the static part of settings and task."""
    return Plan(settings.choices(), min(settings.batch_size, len(task.train)), task.loss, task.when)


def hyper_of(settings: Settings) -> Hyper:
    """Returns the numeric part of settings, on the device."""
    return {name: jnp.float32(value) for name, value in settings.values().items()}


def start(params: PyTree) -> TrainState:
    """Returns the state before the first update."""
    return TrainState(
        params=params,
        optimiser=_adam().init(params),
        best=params,
        best_loss=jnp.float32(jnp.inf),
        best_epoch=jnp.int32(0),
        first_loss=jnp.float32(jnp.inf),
        update=jnp.int32(0),
        diverged_at=jnp.int32(0),
        stopped=jnp.bool_(False),
    )


def run_epoch(
    state: TrainState,
    constants: Constants,
    epoch: Int[Array, ""],
    data: tuple[Batch, Batch],
    plan: Plan,
    bins: int,
) -> tuple[TrainState, Metrics]:
    """Trains one pass over the training trials, cut to `bins`, and validates.

    **Arguments:** `state`; `constants` of the run; `epoch`, counted from 1; `data`, the training and the validation
    trials; `plan`; `bins`.

    **Returns:** the new state, which is the old one if the run has diverged or stopped, and the metrics of the epoch.
    """
    hyper, key, frozen = constants
    train, validation = data
    batches = _minibatches(jax.random.fold_in(key, epoch), train, plan)
    shortened = first_bins(train, bins)

    def update(state: TrainState, chosen: tuple[Array, Array]) -> tuple[TrainState, Metrics]:
        moved, loss, gradient = _update(state, hyper, take(shortened, *chosen), frozen, plan)
        if plan.choices.validate == "update":
            moved, judged = _judge(moved, epoch, validation, frozen, plan)
        else:
            judged = jnp.float32(jnp.inf)
        return moved, Metrics(loss, judged, gradient)

    before = state
    state, seen = jax.lax.scan(update, state, batches)
    if plan.choices.validate == "epoch":
        state, judged = _judge(state, epoch, validation, frozen, plan)
    else:
        judged = jnp.min(seen.validation)
    state = _replace(state, stopped=state.stopped | (epoch - state.best_epoch >= hyper["patience"]))
    state = _keep_if(_is_idle(before), before, state)
    return state, Metrics(jnp.mean(seen.train), judged, jnp.mean(seen.gradient))


def evaluate(params: PyTree, frozen: PyTree, batch: Batch, plan: Plan) -> Float[Array, ""]:
    """Computes the loss of a batch, without penalties."""
    return losses(eqx.combine(params, frozen), batch, plan.loss, plan.when).loss


def _adam() -> optax.GradientTransformation:
    return optax.scale_by_adam()


def _minibatches(key: Key, train: Batch, plan: Plan) -> tuple[Int[Array, "n size"], Float[Array, "n size"]]:
    """Returns the indices and weights of every minibatch. The last one is padded with trials of weight 0."""
    trials = train.inputs.shape[0]
    order = jax.random.permutation(key, trials) if plan.choices.shuffle else jnp.arange(trials)
    missing = -trials % plan.batch_size
    chosen = jnp.concatenate([order, jnp.zeros(missing, order.dtype)])
    weight = jnp.concatenate([jnp.ones(trials), jnp.zeros(missing)])
    return chosen.reshape(-1, plan.batch_size), weight.reshape(-1, plan.batch_size)


def _update(
    state: TrainState, hyper: Hyper, batch: Batch, frozen: PyTree, plan: Plan
) -> tuple[TrainState, Float[Array, ""], Float[Array, ""]]:
    """Takes one step of AdamW, unless the loss or its gradient is not finite or the loss has grown too much."""
    decays = _parameters.decayed(state.params)

    def objective(params: PyTree) -> tuple[Float[Array, ""], Float[Array, ""]]:
        loss, activity = losses(eqx.combine(params, frozen), batch, plan.loss, plan.when)
        size = sum(jnp.sum(w**2) for w in jax.tree.leaves(eqx.filter(params, decays)))
        return loss + hyper["penalty"] * size + hyper["state_penalty"] * activity, loss

    (_, loss), gradient = jax.value_and_grad(objective, has_aux=True)(state.params)
    norm = optax.tree.norm(gradient)
    clipped, _ = optax.clip_by_global_norm(hyper["clip"]).update(gradient, optax.EmptyState())
    direction, optimiser = _adam().update(clipped, state.optimiser, state.params)
    decay_per_lr = hyper["weight_decay"] if plan.choices.decay == "scaled" else hyper["weight_decay"] / hyper["lr"]
    decay = optax.add_decayed_weights(decay_per_lr, mask=decays)
    direction, _ = decay.update(direction, decay.init(state.params), state.params)
    step, _ = optax.scale_by_learning_rate(hyper["lr"]).update(direction, optax.ScaleState())

    first_loss = jnp.where(state.update == 0, loss, state.first_loss)
    largest = DIVERGED_GROWTH * jnp.maximum(first_loss, SMALLEST_FIRST)
    makes_sense = jnp.isfinite(loss) & jnp.isfinite(norm) & (loss <= largest)
    moved = _replace(
        state,
        params=optax.apply_updates(state.params, step),
        optimiser=optimiser,
        first_loss=first_loss,
        update=state.update + 1,
    )
    marked = _replace(state, diverged_at=jnp.where(state.diverged_at > 0, state.diverged_at, state.update + 1))
    return _keep_if(makes_sense & (state.diverged_at == 0), moved, marked), loss, norm


def _judge(
    state: TrainState, epoch: Int[Array, ""], validation: Batch, frozen: PyTree, plan: Plan
) -> tuple[TrainState, Float[Array, ""]]:
    """Validates, and keeps the weights if they are the best so far. A loss of NaN never is."""
    loss = evaluate(state.params, frozen, validation, plan)
    better = (loss < state.best_loss) & (state.diverged_at == 0)
    improved = _replace(state, best=state.params, best_loss=loss, best_epoch=jnp.asarray(epoch, jnp.int32))
    return _keep_if(better, improved, state), loss


def _is_idle(state: TrainState) -> Bool[Array, ""]:
    return (state.diverged_at > 0) | state.stopped


def _keep_if(condition: Bool[Array, ""], yes: TrainState, no: TrainState) -> TrainState:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _replace(state: TrainState, **changes: PyTree) -> TrainState:
    return dataclasses.replace(state, **changes)


_traces = 0


def traces() -> int:
    """Returns how often an epoch has been traced, and therefore compiled, in this process."""
    return _traces


def count_trace() -> None:
    """Counts a trace: called in the body of a compiled function, it runs during tracing only."""
    global _traces
    _traces += 1


@eqx.filter_jit
def run_epoch_compiled(*arguments: Any) -> tuple[TrainState, Metrics]:
    """Runs `run_epoch`, compiled once per combination of shapes, plan and bins, for all runs of the process."""
    count_trace()
    return run_epoch(*arguments)

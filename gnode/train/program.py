"""Training as a pure function of (state, hyper-parameters, key, data): it jits, vmaps, shards and resumes.

An epoch is one call on the device. Learning rate and its schedule, decay, penalties, clipping, averaging and noise are
values, so that changing them compiles nothing; shapes, batch size and the choices in `Plan` are static.
"""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from gnode.solve import AtOnce
from gnode.tasks import Task, TrialGenerator
from gnode.train import _parameters
from gnode.train.batch import Batch, first_bins, fresh, take
from gnode.train.guesses import how_found, remembered
from gnode.train.loss import Losses, losses
from gnode.train.metrics import metric_names
from gnode.train.named import check_loss, check_metrics, check_optimiser, resolved
from gnode.train.optimiser import first_state, take_step
from gnode.train.perturbation import perturbed
from gnode.train.regularisation import flow_penalty
from gnode.train.scores import measure
from gnode.train.settings import Settings
from gnode.types import Key

DIVERGED_GROWTH = 1e6
"""A loss this many times the first one counts as divergence, as one that is not finite does."""
SMALLEST_FIRST = 1e-6
"""A first loss below this counts as this, so that a network that begins with a perfect fit may move."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The static choices of a training program. Two runs with equal plans and shapes share one compilation.

    `choices` are the settings that compile, `Settings.choices`; `batch_size` is at most the number of training trials, and
    `trials` that number; `generator` draws new ones, if they are fresh; `at_once` is whether all bins are computed at once.
    """

    choices: Settings
    batch_size: int
    loss: Any
    when: str
    trials: int
    generator: TrialGenerator | None = None
    at_once: bool = False

    @property
    def updates(self) -> int:
        """The number of updates in an epoch."""
        return -(-self.trials // self.batch_size)

    @property
    def keeps_guesses(self) -> bool:
        """Whether an epoch begins with the states of the last: all bins are computed at once, of the same trials."""
        return self.at_once and self.choices.fresh == "no"

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of the metrics of an epoch."""
        return metric_names(self.choices, self.loss, self.at_once)


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
    average: PyTree = None
    """The moving average of the weights, if there is one."""
    guesses: Any = None  # an array where `Plan.keeps_guesses`
    """The states of all training trials when they were last seen, from which the next ones are found faster."""


Metrics = dict[str, Float[Array, "..."]]
"""The metrics of one epoch, by name: `gnode.train.metrics` says what they are."""


def plan_of(settings: Settings, task: Task, at_once: bool = False) -> Plan:
    """Returns the static part of settings and task. `at_once` is whether all bins are computed at once."""
    trials = len(task.train)
    generator = None if settings.fresh == "no" else task.fresh_trials()
    settings = dataclasses.replace(
        settings,
        loss=check_loss("loss", resolved(settings.loss)),
        metrics=check_metrics("metrics", resolved(settings.metrics)),
        optimiser=check_optimiser("optimiser", resolved(settings.optimiser)),
    )
    loss = task.loss if settings.loss is None else settings.loss
    return Plan(settings.choices(), min(settings.batch_size, trials), loss, task.when, trials, generator, at_once)


def hyper_of(settings: Settings, plan: Plan) -> Hyper:
    """Returns the numeric part of settings, on the device. Epochs of the learning rate's schedule become updates."""
    values = settings.values()
    total = settings.epochs * plan.updates
    for name in ("lr_warmup", "lr_every"):
        values[name] *= plan.updates
    values["lr_decay"] **= 1 / plan.updates
    values["lr_updates"] = max(total - values["lr_warmup"], 1.0)
    return {name: jnp.float32(value) for name, value in values.items()}


def start(params: PyTree, plan: Plan, guesses: Array | None = None) -> TrainState:
    """Returns the state before the first update."""
    return TrainState(
        params=params,
        optimiser=first_state(plan.choices.optimiser, params),
        average=params if plan.choices.ema else None,
        best=params,
        best_loss=jnp.float32(jnp.inf),
        best_epoch=jnp.int32(0),
        first_loss=jnp.float32(jnp.inf),
        update=jnp.int32(0),
        diverged_at=jnp.int32(0),
        stopped=jnp.bool_(False),
        guesses=guesses,
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
    key = jax.random.fold_in(key, epoch)
    batches = _minibatches(key, plan)
    if plan.choices.fresh == "epoch":
        assert plan.generator is not None
        train = fresh(plan.generator, jax.random.fold_in(key, _TRIALS), plan.trials)
    shortened = first_bins(train, bins)
    keys = jax.random.split(jax.random.fold_in(key, _NOISE), plan.updates)

    def update(state: TrainState, now: tuple[Array, Array, Key]) -> tuple[TrainState, Metrics]:
        chosen, weight, own = now
        batch = _trials_of(shortened, chosen, weight, own, plan, bins)
        if plan.keeps_guesses:
            batch = batch._replace(guess=state.guesses[chosen, :bins])
        moved, seen, states = _update(state, hyper, batch, frozen, plan, own)
        if plan.keeps_guesses and states is not None:
            kept = remembered(state.guesses, states, chosen, weight, bins)
            moved = _replace(moved, guesses=jnp.where(moved.diverged_at > 0, state.guesses, kept))
        if plan.choices.validate == "update":
            moved, judged = _judge(moved, epoch, validation, frozen, plan)
            seen |= judged
        return moved, seen

    before = state
    state, seen = jax.lax.scan(update, state, (*batches, keys))
    metrics = {name: jnp.mean(values) for name, values in seen.items()}
    if plan.choices.validate == "epoch":
        state, judged = _judge(state, epoch, validation, frozen, plan)
        metrics |= judged
    else:
        lowest = jnp.argmin(seen["validation"])
        metrics |= {name: seen[name][lowest] for name in metrics if name not in ("train", "gradient")}
    state = _replace(state, stopped=state.stopped | (epoch - state.best_epoch >= hyper["patience"]))
    state = _keep_if(_is_idle(before), before, state)
    return state, {name: metrics[name] for name in plan.metric_names}


_TRIALS, _NOISE = 1, 2
"""What the random numbers of an epoch are for: new trials, noise. The order of trials has the epoch's own key."""


def _trials_of(
    train: Batch, chosen: Int[Array, " size"], weight: Float[Array, " size"], key: Key, plan: Plan, bins: int
) -> Batch:
    """Returns the trials of one update: some of the epoch's, or new ones."""
    if plan.choices.fresh != "update":
        return take(train, chosen, weight)
    assert plan.generator is not None
    drawn = first_bins(fresh(plan.generator, jax.random.fold_in(key, _TRIALS), plan.batch_size), bins)
    return drawn._replace(weight=weight)


def evaluate(params: PyTree, frozen: PyTree, batch: Batch, plan: Plan) -> Losses:
    """Computes the loss of a batch, without penalties and noise, and its outputs."""
    return losses(eqx.combine(params, frozen), batch, plan.loss, plan.when)


def _minibatches(key: Key, plan: Plan) -> tuple[Int[Array, "n size"], Float[Array, "n size"]]:
    """Returns the indices and weights of every minibatch. The last one is padded with trials of weight 0."""
    order = jax.random.permutation(key, plan.trials) if plan.choices.shuffle else jnp.arange(plan.trials)
    missing = -plan.trials % plan.batch_size
    chosen = jnp.concatenate([order, jnp.zeros(missing, order.dtype)])
    weight = jnp.concatenate([jnp.ones(plan.trials), jnp.zeros(missing)])
    return chosen.reshape(-1, plan.batch_size), weight.reshape(-1, plan.batch_size)


def _update(
    state: TrainState, hyper: Hyper, batch: Batch, frozen: PyTree, plan: Plan, key: Key
) -> tuple[TrainState, Metrics, Any]:
    """Takes one step, unless the loss or its gradient is not finite or the loss has grown too much.

    **Returns:** the new state, the metrics of the update, and, if all bins are computed at once, the states of the trials.
    """
    decays = _parameters.decayed(state.params)
    gradient, loss, found = _gradient(state.params, hyper, batch, frozen, plan, key)
    norm = optax.tree.norm(gradient)
    clipped, _ = optax.clip_by_global_norm(hyper["clip"]).update(gradient, optax.EmptyState())
    step, optimiser = take_step(
        plan.choices, hyper, clipped, (state.optimiser, state.params, state.update), decays, loss
    )
    params = optax.apply_updates(state.params, step)

    first_loss = jnp.where(state.update == 0, loss, state.first_loss)
    largest = DIVERGED_GROWTH * jnp.maximum(first_loss, SMALLEST_FIRST)
    makes_sense = jnp.isfinite(loss) & jnp.isfinite(norm) & (loss <= largest)
    moved = _replace(
        state,
        params=params,
        optimiser=optimiser,
        first_loss=first_loss,
        update=state.update + 1,
        average=optax.incremental_update(params, state.average, 1 - hyper["ema"]) if plan.choices.ema else None,
    )
    marked = _replace(state, diverged_at=jnp.where(state.diverged_at > 0, state.diverged_at, state.update + 1))
    seen = {"train": loss, "gradient": norm}
    if plan.at_once:
        seen |= how_found(found)
    kept = _keep_if(makes_sense & (state.diverged_at == 0), moved, marked)
    return kept, seen, None if found is None else found.states.reshape(-1, *found.states.shape[-2:])


def _gradient(
    params: PyTree, hyper: Hyper, batch: Batch, frozen: PyTree, plan: Plan, key: Key
) -> tuple[PyTree, Float[Array, ""], AtOnce | None]:
    """Computes the gradient of loss and penalties, in as many pieces as the plan says, and the loss without penalties.

    **Returns:** these two and, if all bins are computed at once, the states of each piece and how they were found.
    """
    decays, pieces = _parameters.decayed(params), plan.choices.pieces

    def objective(
        params: PyTree, batch: Batch, key: Key, whole: Batch | None
    ) -> tuple[Array, tuple[Array, AtOnce | None]]:
        net, given = perturbed(eqx.combine(params, frozen), batch, plan.choices, hyper, key)
        smoothing = hyper["label_smoothing"] if plan.choices.label_smoothing else None
        loss, activity, _, states, found = losses(
            net, given.batch, plan.loss, plan.when, smoothing=smoothing, disturbed=given, whole=whole
        )
        size = sum(jnp.sum(w**2) for w in jax.tree.leaves(eqx.filter(params, decays)))
        penalty = hyper["penalty"] * size
        total = loss + (penalty if pieces == 1 else penalty / pieces) + hyper["state_penalty"] * activity
        if plan.choices.is_regularised:
            total += flow_penalty(net, given, states, plan.choices, hyper, key, whole)
        return total, (loss, found)

    value_and_grad = jax.value_and_grad(objective, has_aux=True)
    if pieces == 1:
        (_, (loss, found)), gradient = value_and_grad(params, batch, key, None)
        return gradient, loss, found
    parts: Batch = jax.tree.map(lambda values: values.reshape(pieces, -1, *values.shape[1:]), batch)

    def add(total: tuple[PyTree, Array], now: tuple[Batch, Key]) -> tuple[tuple[PyTree, Array], AtOnce | None]:
        (_, (loss, found)), gradient = value_and_grad(params, *now, batch)
        return jax.tree.map(jnp.add, total, (gradient, loss)), found

    nothing = jax.tree.map(jnp.zeros_like, params), jnp.float32(0.0)
    (gradient, loss), found = jax.lax.scan(add, nothing, (parts, jax.random.split(key, pieces)))
    return gradient, loss, found


def _judge(
    state: TrainState, epoch: Int[Array, ""], validation: Batch, frozen: PyTree, plan: Plan
) -> tuple[TrainState, Metrics]:
    """Validates, and keeps the weights if they are the best so far. A loss of NaN never is."""
    judged = state.average if plan.choices.ema else state.params
    found = evaluate(judged, frozen, validation, plan)
    metrics = {"validation": found.loss} | measure(plan.choices, plan.loss, found.outputs, validation, plan.when)
    if plan.choices.ema:
        metrics["validation_raw"] = evaluate(state.params, frozen, validation, plan).loss
    better = (found.loss < state.best_loss) & (state.diverged_at == 0)
    improved = _replace(state, best=judged, best_loss=found.loss, best_epoch=jnp.asarray(epoch, jnp.int32))
    return _keep_if(better, improved, state), metrics


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
    """Counts a trace, if it is called in the body of a compiled function."""
    global _traces
    _traces += 1


@eqx.filter_jit
def run_epoch_compiled(*arguments: Any) -> tuple[TrainState, Metrics]:
    """Runs `run_epoch`, compiled once per combination of shapes, plan and bins, for all runs of a process."""
    count_trace()
    return run_epoch(*arguments)

"""The training program against references: losses in numpy, AdamW by optax, compilations counted."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import small_net, small_task

from gnode import fit, tasks
from gnode.tasks import arrays
from gnode.train import Settings, _parameters, evaluate, growing, loop, program
from gnode.train.batch import first_bins, to_device
from gnode.train.loss import losses
from gnode.types import as_key


def log_softmax(y):
    return y - np.log(np.exp(y).sum(-1, keepdims=True))


def test_mean_squared_error_in_numpy():
    task, net = small_task(), small_net()
    mask = (np.random.default_rng(0).random((24, 12)) > 0.4).astype(np.float32)
    trials = dataclasses.replace(task.train, mask=mask)
    outputs = np.asarray(net.run(trials.inputs, dt=trials.dt).outputs)
    error = ((outputs - trials.targets) ** 2).mean(-1)
    assert float(losses(net, to_device(trials), "mse", "every").loss) == pytest.approx(
        (error * mask).sum() / mask.sum(), rel=1e-5
    )


@pytest.mark.parametrize("when", ["every", "last"])
def test_cross_entropy_and_accuracy_in_numpy(when):
    rng = np.random.default_rng(0)
    inputs, classes, lengths = rng.normal(size=(30, 9, 2)), rng.integers(2, size=30), rng.integers(1, 10, 30)
    task = arrays(inputs, classes, 0.01, lengths=lengths, when=when, validation=0.2)
    net = small_net()
    trials, batch = task.train, to_device(task.train)
    scores = log_softmax(np.asarray(net.run(trials.inputs, dt=trials.dt).outputs, np.float64))
    bins = [range(n) if when == "every" else [n - 1] for n in trials.lengths]
    chosen = [(t, b, trials.targets[t]) for t in range(len(trials)) for b in bins[t]]
    expected = -np.mean([scores[t, b, c] for t, b, c in chosen])
    right = np.mean([scores[t, b].argmax() == c for t, b, c in chosen])
    assert float(losses(net, batch, "cross_entropy", when).loss) == pytest.approx(expected, rel=1e-5)
    assert evaluate(net, task, trials).accuracy == pytest.approx(right, abs=1e-6)


def test_a_cut_trial_is_judged_at_its_new_last_bin():
    rng = np.random.default_rng(0)
    task = arrays(
        rng.normal(size=(10, 9, 2)),
        rng.integers(2, size=10),
        0.01,
        lengths=np.array([2, 9] * 5),
        validation=0.2,
    )
    cut = first_bins(to_device(task.train), 4)
    assert cut.inputs.shape[1] == 4
    np.testing.assert_array_equal(np.unique(cut.lengths), [2, 4])


update = eqx.filter_jit(program._update)  # compiled once for all values of the settings


def one_update(settings, net, task):
    """The parameters after one update on the whole training set."""
    problem = loop.pose(net, task, settings, as_key(0))
    batch = problem.data.train
    begun = program.start(problem.params, problem.plan)
    state, seen, _ = update(begun, problem.hyper, batch, problem.frozen, problem.plan, problem.key)
    return problem, state, seen["train"], seen["gradient"]


@eqx.filter_jit
def gradient_of(params, frozen, batch, penalty):
    """The gradient of loss and penalty, written down here once more."""

    def objective(params):
        loss = losses(eqx.combine(params, frozen), batch, "mse", "every").loss
        return loss + penalty * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))

    return jax.grad(objective)(params)


def reference_update(net, task, lr, weight_decay, penalty=0.0, clip=None):
    """The same by optax.adamw, which knows nothing of this program."""
    params, frozen = _parameters.split(net)
    gradient = gradient_of(params, frozen, to_device(task.train), jnp.float32(penalty))
    chain = [optax.clip_by_global_norm(clip)] if clip else []
    optimiser = optax.chain(*chain, optax.adamw(lr, weight_decay=weight_decay))
    updates, _ = optimiser.update(gradient, optimiser.init(params), params)
    return optax.apply_updates(params, updates)


@pytest.mark.parametrize(
    "values",
    [
        {"lr": 1e-2, "weight_decay": 0.0},
        {"lr": 1e-2, "weight_decay": 0.1},
        {"lr": 1e-2, "weight_decay": 0.1, "penalty": 0.3},
        {"lr": 1e-3, "weight_decay": 0.0, "clip": 1e-3},
    ],
)
def test_an_update_is_adamw(values):
    net, task = small_net(), small_task()
    _, state, _, _ = one_update(Settings(**values), net, task)
    expected = reference_update(net, task, **values)
    for ours, theirs in zip(jax.tree.leaves(state.params), jax.tree.leaves(expected)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_unscaled_decay_is_not_multiplied_by_the_learning_rate():
    """The public code's reading: w <- w - lr * adam - decay * w."""
    net, task = small_net(), small_task()
    _, plain, _, _ = one_update(Settings(lr=1e-3, weight_decay=0.0), net, task)
    _, decayed, _, _ = one_update(Settings(lr=1e-3, weight_decay=0.1, decay="unscaled"), net, task)
    before = _parameters.split(net)[0]
    for w, a, b in zip(*(jax.tree.leaves(tree) for tree in (before, plain.params, decayed.params))):
        np.testing.assert_allclose(a - b, 0.1 * w, rtol=1e-4, atol=1e-6)


def test_a_learned_tau_is_trained_but_does_not_decay():
    net, task = small_net("gru", learn_tau="shared"), small_task()
    _, plain, _, _ = one_update(Settings(lr=1e-3, weight_decay=0.0), net, task)
    _, decayed, _, _ = one_update(Settings(lr=1e-3, weight_decay=0.9), net, task)
    log_tau = [tree.cell.timescale.log_tau for tree in (net, plain.params, decayed.params)]
    assert float(log_tau[1]) != float(log_tau[0])
    assert float(log_tau[1]) == float(log_tau[2])


def test_state_penalty_makes_states_smaller():
    task = small_task()
    quiet, plain = (fit(small_net(), task, epochs=40, lr=1e-2, batch_size=8, state_penalty=p) for p in (10.0, 0.0))
    assert float(jnp.mean(quiet.states**2)) < 0.5 * float(jnp.mean(plain.states**2))


def test_states_count_while_a_trial_lasts_and_not_in_trials_that_only_fill_up():
    net, task = small_net(), small_task()
    batch = to_device(task.train)._replace(
        lengths=jnp.arange(24) % 12 + 1, weight=jnp.where(jnp.arange(24) < 20, 1.0, 0.0)
    )
    states = np.asarray(net.batch(batch.inputs, batch.dt).states)
    real = [states[trial, : trial % 12 + 1] for trial in range(20)]
    expected = np.mean(np.concatenate(real) ** 2)
    np.testing.assert_allclose(losses(net, batch, "mse", "every").activity, expected, rtol=1e-5)


def test_every_trial_is_used_once_in_an_epoch_whatever_the_batch_size():
    for size in (1, 7, 24):
        plan = program.Plan(Settings(batch_size=size).choices(), size, "mse", "every", trials=24)
        chosen, weight = program._minibatches(jax.random.key(3), plan)
        used = np.asarray(chosen).ravel()[np.asarray(weight).ravel() > 0]
        np.testing.assert_array_equal(np.sort(used), np.arange(24))
    fixed = dataclasses.replace(plan, choices=Settings(shuffle=False).choices())
    np.testing.assert_array_equal(program._minibatches(jax.random.key(3), fixed)[0].ravel(), np.arange(24))


def test_a_filled_up_batch_is_weighted_right():
    """7 does not divide 24: the last minibatch has 3 real trials. With lr = 0 the mean loss over updates can be checked."""
    task, net = small_task(), small_net()
    run = fit(net, task, epochs=1, lr=1e-12, weight_decay=0.0, batch_size=7, shuffle=False)
    parts = [
        losses(net, to_device(task.train.take(slice(i, min(i + 7, 24)))), "mse", "every").loss for i in (0, 7, 14, 21)
    ]
    assert run.curves["train"][0] == pytest.approx(float(np.mean(parts)), rel=1e-5)


def test_changing_numbers_compiles_nothing():
    task = small_task(trials=23)
    fit(small_net(), task, epochs=2, lr=1e-3, batch_size=6)
    before = program.traces()
    for seed, lr, decay in [(1, 1e-2, 0.1), (2, 1e-4, 0.0)]:
        fit(
            small_net(key=seed),
            task,
            epochs=3,
            lr=lr,
            weight_decay=decay,
            penalty=0.1,
            clip=1.0,
            batch_size=6,
            key=seed,
        )
    fit(small_net(tau=0.02), task, epochs=1, batch_size=6)
    assert program.traces() == before
    fit(small_net(), task, epochs=1, batch_size=5)
    assert program.traces() == before + 1


def test_a_growing_schedule():
    assert growing(182, 14, 100)[0] == (14, 100)
    assert sum(epochs for _, epochs in growing(182, 14, 100)) == 1300
    assert sum(epochs for _, epochs in growing(84, 14, 100, last=200)) == 700
    settings = Settings(epochs=6, spans=((4, 2), (8, 2), (12, 2)))
    assert [settings.stage_bins(epoch, 12) for epoch in range(6)] == [4, 4, 8, 8, 12, 12]
    before = program.traces()
    run = fit(small_net(), small_task(), epochs=6, schedule=((4, 2), (8, 2), (12, 2)), batch_size=11)
    assert program.traces() == before + 3
    assert len(run.curves["train"]) == 6


def test_the_first_stage_sees_only_its_own_bins():
    task = small_task()
    targets = task.train.targets.copy()
    targets[:, 6:] = 1e3
    other = dataclasses.replace(task, train=dataclasses.replace(task.train, targets=targets))
    runs = [fit(small_net(), t, epochs=2, schedule=((6, 2),), batch_size=8) for t in (task, other)]
    np.testing.assert_array_equal(runs[0].curves["train"], runs[1].curves["train"])


def test_validating_after_every_update_finds_a_minimum_at_least_as_low():
    task = small_task()
    each, once = (fit(small_net(), task, epochs=5, lr=0.1, batch_size=6, validate=v) for v in ("update", "epoch"))
    np.testing.assert_array_equal(each.curves["train"], once.curves["train"])  # looking does not change the training
    assert np.all(each.curves["validation"] <= once.curves["validation"] + 1e-7)
    assert np.any(each.curves["validation"] < once.curves["validation"] - 1e-3)


def test_the_named_task_is_learned():
    """Smoke test of the whole: a small gnODE gets well below the variance of the targets."""
    task = tasks.flip_flop("square", trials=100, validation=50, bins=20, key=0)
    run = fit(small_net(state=2, widths=(32,)), task, epochs=60, lr=1e-2, batch_size=10, clip=1.0)
    assert run.best_loss < 0.35 * task.validation.targets.var()

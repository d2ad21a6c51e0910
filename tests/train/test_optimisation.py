"""Schedules, averaging, optimisers, noise, dropout and fresh trials, each against something independent."""

import inspect
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import small_net, small_task

from gnode import Network, cells, fit, load, resume, tasks
from gnode.errors import ArgumentError
from gnode.train import Settings, _parameters, loop, program
from gnode.train.batch import to_device
from gnode.train.loss import losses
from gnode.train.lr_schedule import read_schedule
from gnode.train.named import OPTIMISERS
from gnode.train.optimiser import first_state, rate_factor, take_step
from gnode.train.perturbation import perturbed
from gnode.types import as_key

EPOCHS, TRIALS, BATCH = 10, 24, 8
UPDATES = TRIALS // BATCH


def factors(text):
    """Our factor of the learning rate before every update."""
    settings = Settings(lr_schedule=text, epochs=EPOCHS, batch_size=BATCH)
    hyper = program.hyper_of(settings, program.plan_of(settings, small_task()))
    return jax.vmap(lambda update: rate_factor(hyper, update))(jnp.arange(EPOCHS * UPDATES))


@pytest.mark.parametrize(
    ("text", "theirs"),
    [
        ("constant", optax.constant_schedule(1.0)),
        ("cosine", optax.cosine_decay_schedule(1.0, EPOCHS * UPDATES)),
        ("cosine:0.1", optax.cosine_decay_schedule(1.0, EPOCHS * UPDATES, alpha=0.1)),
        ("warmup:2", optax.linear_schedule(0.0, 1.0, 2 * UPDATES)),
        ("warmup:2+cosine", optax.warmup_cosine_decay_schedule(0.0, 1.0, 2 * UPDATES, EPOCHS * UPDATES)),
        ("step:3:0.5", optax.exponential_decay(1.0, 3 * UPDATES, 0.5, staircase=True)),
        ("exponential:0.9", optax.exponential_decay(1.0, UPDATES, 0.9)),
    ],
)
def test_schedules_are_those_of_optax(text, theirs):
    np.testing.assert_allclose(factors(text), jax.vmap(theirs)(jnp.arange(EPOCHS * UPDATES)), atol=1e-6)


@pytest.mark.parametrize(
    "text", ["", "cosin", "cosine:2", "step:0:0.5", "warmup:-1", "warmup:1+warmup:2", "cosine:nan"]
)
def test_a_schedule_that_cannot_be_read_is_a_sentence(text):
    with pytest.raises(ArgumentError, match=r"lr_schedule is .* but must be constant, cosine"):
        read_schedule(text)


def by_hand(settings, optimiser, epochs, average=None):
    """A loop of our own over the same minibatches, with an optimiser of optax."""
    net, task = small_net(), small_task(trials=TRIALS)
    problem = loop.pose(net, task, settings, as_key(0))
    params, frozen = _parameters.split(net)
    state, mean = optimiser.init(params), params
    train = to_device(task.train)

    @eqx.filter_jit
    def step(params, state, chosen, weight):
        batch = jax.tree.map(lambda values: values[chosen], train)._replace(weight=weight)
        gradient = jax.grad(lambda p: losses(eqx.combine(p, frozen), batch, "mse", "every").loss)(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state

    for epoch in range(1, epochs + 1):
        chosen, weights = program._minibatches(jax.random.fold_in(problem.key, epoch), problem.plan)
        for own, weight in zip(chosen, weights):
            params, state = step(params, state, own, weight)
            if average is not None:
                mean = optax.incremental_update(params, mean, 1 - average)
    return params, mean


def trained(settings, epochs):
    problem = loop.pose(small_net(), small_task(trials=TRIALS), settings, as_key(0))
    checkpoint = loop.begin(problem)
    for _ in range(epochs):
        checkpoint = loop.next_epoch(problem, checkpoint)
    return checkpoint.state


def assert_close(ours, theirs, atol=2e-6):
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=atol)


def test_schedule_clipping_and_averaging_are_optax_s_own():
    values = {"lr": 1e-2, "weight_decay": 0.01, "epochs": 4, "batch_size": BATCH}
    settings = Settings(**values, lr_schedule="warmup:1+cosine", clip=0.05, ema=0.9)
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, UPDATES, 4 * UPDATES)
    theirs = optax.chain(optax.clip_by_global_norm(0.05), optax.adamw(schedule, weight_decay=0.01))
    params, mean = by_hand(settings, theirs, 4, average=0.9)
    state = trained(settings, 4)
    assert_close(state.params, params)
    assert_close(state.average, mean)


@pytest.mark.parametrize("name", sorted(set(OPTIMISERS) - {"adam", "adamw", "momentum"}))
def test_optimisers_by_name_are_optax_s(name):
    """Three steps on weights and gradients drawn at random, with decay added as AdamW adds it."""
    rng = np.random.default_rng(0)
    params = theirs = {"W": jnp.asarray(rng.normal(size=(3, 2)), jnp.float32)}
    settings = Settings(lr=1e-3, weight_decay=0.1, optimiser=name)
    hyper = program.hyper_of(settings, program.plan_of(settings, small_task()))
    decaying = ("adan", "lamb", "lars", "lion", "novograd", "adadelta", "adamaxw", "nadamw")
    own = {"weight_decay": 0.0} if name in decaying else {"key": 0} if name == "noisy_sgd" else {}
    reference = optax.with_extra_args_support(getattr(optax, name)(1e-3, **own))
    ours, state = first_state(name, params), reference.init(params)
    for update in range(3):
        gradient = {"W": jnp.asarray(rng.normal(size=(3, 2)), jnp.float32)}
        step, ours = take_step(
            settings, hyper, gradient, (ours, params, jnp.int32(update)), {"W": True}, jnp.float32(2.0)
        )
        params = optax.apply_updates(params, step)
        step, state = reference.update(gradient, state, theirs, value=jnp.float32(2.0))
        theirs = {"W": theirs["W"] + step["W"] - 1e-3 * 0.1 * theirs["W"]}
    np.testing.assert_allclose(params["W"], theirs["W"], rtol=1e-6, atol=1e-7)


def test_every_optimiser_of_optax_has_its_name():
    """All that optax makes of a learning rate. A search along a line needs the loss as a function."""
    makers = {name: make for name, make in vars(optax).items() if inspect.isfunction(make)}
    made = {name for name, make in makers.items() if make.__module__ == "optax._src.alias"}
    made = {name for name in made if "learning_rate" in inspect.signature(makers[name]).parameters} | {"polyak_sgd"}
    assert made - {"lbfgs", "rprop", "optimistic_adam"} <= set(
        OPTIMISERS
    )  # the last is what optimistic_adam_v2 replaces


def one(outputs):
    return outputs


def per_trial(outputs, targets):
    return jnp.mean((outputs - targets) ** 2, axis=(1, 2))


def raises(outputs, targets):
    raise ValueError("no")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"loss": one}, r"loss one fails \(TypeError: .*\); it is called with outputs and targets"),
        ({"loss": raises}, r"loss raises fails \(ValueError: no\)"),
        (
            {"loss": per_trial},
            r"loss per_trial returns an array of shape \(8,\) .* every bin of every trial, \(8, 12\)",
        ),
        ({"loss": lambda outputs, targets: 0.0}, r"returns an array of shape \(\)"),
        ({"metrics": (lambda outputs, targets, weight: outputs,)}, "must return one number"),
        ({"metrics": (one,)}, "metric one fails"),
        ({"optimiser": optax.lbfgs()}, "optimiser fails on these weights"),
        ({"optimiser": optax.sgd(0.1), "lr": 5.0}, "lr is 5, but an optimiser that is an object has its own"),
        ({"optimiser": optax.sgd(0.1), "weight_decay": 0.3}, "leave weight_decay out"),
    ],
)
def test_objects_that_do_not_fit_are_told_before_anything_is_written(given, sentence, tmp_path):
    with pytest.raises(ArgumentError, match=sentence):
        fit(small_net(), small_task(), out=tmp_path / "run", epochs=1, batch_size=8, **given)
    assert not (tmp_path / "run").exists()


def test_an_optimiser_that_looks_at_the_loss():
    optimiser = optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau(patience=1, accumulation_size=1))
    assert fit(small_net(), small_task(), epochs=3, optimiser=optimiser).status == "finished"


def test_an_optimiser_of_optax_as_an_object():
    optimiser = optax.chain(optax.clip(0.01), optax.sgd(0.1))
    settings = Settings(epochs=1, batch_size=BATCH, optimiser=optimiser)
    assert_close(trained(settings, 1).params, by_hand(settings, optimiser, 1)[0])
    with pytest.raises(ArgumentError, match="give the optimiser of optax a schedule"):
        Settings(optimiser=optimiser, lr_schedule="cosine")


def test_pieces_change_the_memory_and_nothing_else():
    whole, parts = (trained(Settings(epochs=1, batch_size=BATCH, pieces=n, penalty=0.1), 1) for n in (1, 4))
    assert_close(parts.params, whole.params)
    with pytest.raises(ArgumentError, match="pieces is 3, but must divide batch_size, which is 8"):
        Settings(batch_size=8, pieces=3)


def test_averaged_weights_are_the_ones_that_are_kept():
    run = fit(small_net(), small_task(), epochs=5, batch_size=8, lr=0.1, ema=0.9)
    assert list(run.curves) == ["train", "validation", "gradient", "validation_raw"]
    assert run.evaluate()["loss"] == pytest.approx(run.curves["validation"].min(), rel=1e-5)
    assert not np.allclose(run.curves["validation"], run.curves["validation_raw"])


def test_a_grid_of_values_compiles_once():
    common = {"epochs": 1, "batch_size": 8}
    many = [
        {"lr_schedule": "cosine", "clip": 1.0, "ema": 0.9, "state_noise": 0.1},
        {"lr_schedule": "warmup:3+step:5:0.5", "clip": 0.1, "ema": 0.99, "state_noise": 0.2},
        {"lr_schedule": "constant", "ema": 0.5, "state_noise": 0.3},
    ]
    before = program.traces()
    for one in many:
        fit(small_net(), small_task(), **common, **one)
    assert program.traces() == before + 1


def ou_cell(tau):
    """tau dh = -h dt + sigma dW: a rate network without weights."""
    cell = cells.rnn(1, 4, tau=tau, key=0)
    return eqx.tree_at(lambda c: (c.F.W[0], c.F.U, c.F.b[0]), cell, replace_fn=jnp.zeros_like)


def test_noise_has_the_moments_of_an_ornstein_uhlenbeck_process():
    """From h0: mean h0 exp(-t/tau), variance sigma^2 / (2 tau) (1 - exp(-2t/tau)); Euler-Maruyama's own to rounding."""
    tau, sigma, dt, bins, trials, h0 = 0.1, 0.3, 0.002, 100, 4000, 0.5
    net = Network(ou_cell(tau), outputs=1, initial="zeros", key=0)
    settings, key = Settings(state_noise=sigma), jax.random.key(3)
    task = tasks.arrays(np.zeros((trials, bins, 1)), np.zeros((trials, bins, 1)), dt, validation=0.25)
    batch = to_device(task.train)
    hyper = program.hyper_of(settings, program.plan_of(settings, task))
    _, given = perturbed(net, batch, settings.choices(), hyper, key)
    starts = jnp.full((len(task.train), 4), h0)
    states = net.batch(batch.inputs, batch.dt, starts, noise=given.noise).states[:, -1]
    end, decay = dt * bins, 1 - dt / tau
    exact_mean, exact_variance = h0 * math.exp(-end / tau), sigma**2 / (2 * tau) * (1 - math.exp(-2 * end / tau))
    scheme = sigma**2 * dt / tau**2 * (1 - decay ** (2 * bins)) / (1 - decay**2)
    error = math.sqrt(exact_variance / states.size)
    assert float(states.mean()) == pytest.approx(h0 * decay**bins, abs=4 * error)
    assert float(states.mean()) == pytest.approx(exact_mean, abs=4 * error + 0.002)
    assert float(states.var()) == pytest.approx(scheme, rel=0.05)
    assert float(states.var()) == pytest.approx(exact_variance, rel=0.07)
    assert abs(np.corrcoef(np.asarray(states).T)[0, 1]) < 0.06  # private to each unit


def test_dropout_is_a_network_with_some_hidden_units_left_out():
    net, task = small_net(widths=(50,)), small_task()
    settings = Settings(dropout=0.4)
    hyper = program.hyper_of(settings, program.plan_of(settings, task))
    thinned, _ = perturbed(net, to_device(task.train), settings.choices(), hyper, jax.random.key(0))
    ratio = np.asarray(thinned.cell.F.W[1] / net.cell.F.W[1])
    np.testing.assert_allclose(np.unique(np.round(ratio, 4)), [0.0, 1 / 0.6], atol=1e-4)
    assert np.all((ratio == 0) == (ratio[0] == 0))  # whole units
    assert 0.2 < np.mean(ratio == 0) < 0.6
    with pytest.raises(ArgumentError, match=r"dropout is 0\.4, but Gated has no hidden layers"):
        fit(small_net("rnn"), task, dropout=0.4)


@pytest.mark.parametrize("fresh", ["epoch", pytest.param("update", marks=pytest.mark.slow)])
def test_fresh_trials_go_on_after_a_stop_as_if_there_had_been_none(fresh, tmp_path, monkeypatch):
    common = {"epochs": 4, "batch_size": 8, "fresh": fresh, "input_noise": 0.1, "state_noise": 0.05, "ema": 0.9}
    whole = fit(small_net(), small_task(), **common)
    real = loop.next_epoch

    def stopped(problem, checkpoint):
        if checkpoint.epoch == 2:
            raise KeyboardInterrupt
        return real(problem, checkpoint)

    monkeypatch.setattr(loop, "next_epoch", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit(small_net(), small_task(), out=tmp_path / "run", **common)
    monkeypatch.setattr(loop, "next_epoch", real)
    assert load(tmp_path / "run").settings.fresh == fresh
    done = resume(tmp_path / "run")
    for name, values in whole.curves.items():
        np.testing.assert_array_equal(done.curves[name], values)


@pytest.mark.parametrize("amplitude", ["fixed", "rectangle", "annulus"])
@pytest.mark.parametrize("reading", ["text", "code"])
def test_trials_drawn_on_the_device_are_of_the_same_distribution(amplitude, reading):
    """Pulses, sizes and memories: moments of 600 trials drawn by numpy and by jax agree within four standard errors."""
    task = tasks.flip_flop(amplitude, reading=reading, trials=600, validation=1)
    drawn = task.generator(jax.random.key(5), 600)
    for here, there in ((task.train.inputs, drawn.inputs), (task.train.targets, drawn.targets)):
        there = np.asarray(there)
        for power in (1, 2, 4):
            ours, theirs = (np.mean(values.astype(float) ** power, axis=1) for values in (here, there))
            error = math.hypot(*(values.std(0).max() / math.sqrt(len(values)) for values in (ours, theirs)))
            np.testing.assert_allclose(ours.mean(0), theirs.mean(0), atol=4 * error + 1e-9)
        changes = [np.mean(np.diff(values, axis=1) != 0, axis=(1, 2)) for values in (here, there)]
        error = math.hypot(*(values.std() / math.sqrt(len(values)) for values in changes))
        assert changes[0].mean() == pytest.approx(changes[1].mean(), abs=4 * error)


def test_a_task_of_one_s_own_function():
    def evidence(key):
        """Integrate noisy evidence; answer in the last five bins."""
        sign = jax.random.rademacher(key, ()) * 0.5
        inputs = sign + jax.random.normal(jax.random.fold_in(key, 1), (20, 1))
        return inputs, jnp.full((20, 1), jnp.sign(sign)), jnp.arange(20) >= 15

    task = tasks.generated(evidence, dt=0.01, trials=32, validation=16)
    assert task.name == "evidence"
    assert np.all(task.train.mask[:, :15] == 0)
    net = Network(cells.rnn(1, 3, tau=0.01, key=0), outputs=1, key=1)
    assert fit(net, task, epochs=2, batch_size=8, fresh="update", metrics=("r2",)).status == "finished"


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda key: 3, "trial fails when it is given a key"),
        (lambda key: (jnp.zeros((5, 1)),), "trial returns arrays of shapes"),
        (lambda key: (jnp.zeros((5, 1)), jnp.zeros((4, 1))), "trial returns arrays of shapes"),
        (lambda key: (jnp.zeros((5, 1)), jnp.int32(0)), "outputs is missing"),
    ],
)
def test_a_function_that_draws_no_trials_is_a_sentence(function, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        tasks.generated(function, dt=0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fresh": "epoch"}, "has no new trials"),
        ({"ema": 1.0}, "ema is 1.0, but must be from 0 to below 1"),
        ({"optimiser": "adm"}, "Did you mean 'adam'"),
        ({"optimiser": 3}, "an optimiser of optax"),
        ({"loss": "cross_entropy"}, "are real numbers"),
        ({"loss": "mes"}, "Did you mean 'mse'"),
        ({"label_smoothing": 0.1}, "label_smoothing is for classes"),
        ({"metrics": ("accuracy",)}, "metrics has 'accuracy', but"),
        ({"metrics": ("r2", "r2")}, "the same name twice"),
        ({"state_noise": -1}, "state_noise is -1"),
    ],
)
def test_bad_values_are_sentences(options, sentence):
    rng = np.random.default_rng(0)
    task = tasks.arrays(rng.normal(size=(8, 5, 2)), rng.normal(size=(8, 5, 2)), 0.01)
    with pytest.raises(ArgumentError, match=sentence):
        fit(small_net(), task, epochs=1, **options)


def test_label_smoothing_is_that_of_optax():
    rng = np.random.default_rng(0)
    task = tasks.arrays(rng.normal(size=(12, 5, 2)), rng.integers(2, size=12), 0.01, validation=0.2)
    net, batch = small_net(), to_device(task.train)
    ours = losses(net, batch, "cross_entropy", "every", smoothing=jnp.float32(0.2)).loss
    outputs = net.run(task.train.inputs, dt=task.train.dt).outputs
    labels = optax.smooth_labels(jax.nn.one_hot(task.train.targets, 2), 0.2)[:, None]
    assert float(ours) == pytest.approx(float(optax.softmax_cross_entropy(outputs, labels).mean()), rel=1e-5)


def test_the_accuracy_of_every_epoch_is_recorded():
    rng = np.random.default_rng(0)
    task = tasks.arrays(rng.normal(size=(12, 5, 2)), rng.integers(2, size=12), 0.01, validation=0.25)
    run = fit(small_net(), task, epochs=3, batch_size=4)
    best = run.curves["accuracy"][run.best_epoch - 1]
    assert run.evaluate()["accuracy"] == pytest.approx(best, abs=1e-6)

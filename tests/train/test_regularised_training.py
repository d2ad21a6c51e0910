"""Random lengths of bins and penalties on the flow in training: the gradient, the noise, resuming, sweeps, the command."""

import json
import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flow_penalties import whole_penalty
from small import small_net, small_task

import gnode
from gnode import fit, train
from gnode.errors import ArgumentError
from gnode.sweeps import Grid
from gnode.train import Settings, loop, program, regularisation
from gnode.train.batch import to_device
from gnode.train.perturbation import perturbed
from gnode.train.regularisation import with_random_lengths
from gnode.train.settings import PENALTIES
from gnode.types import as_key


def gradient_of(problem, batch=None):
    batch = problem.data.train if batch is None else batch
    return program._gradient(problem.params, problem.hyper, batch, problem.frozen, problem.plan, problem.key)


def test_the_program_adds_the_penalties_to_the_gradient_and_not_to_the_loss():
    net, task = small_net("rnn"), small_task()
    weights = {"kinetic": 1e-4, "higher_derivatives": 1e-9, "solver_cost": 0.3, "stiffness": 1e-3}
    plain, regular = (loop.pose(net, task, Settings(batch_size=24, **more), as_key(0)) for more in ({}, weights))
    before, loss, _ = gradient_of(plain)
    after, same_loss, _ = gradient_of(regular)
    assert float(loss) == float(same_loss)
    extra = jax.grad(lambda p: whole_penalty(plain.network(p), plain.data.train, **weights))(plain.params)
    for ours, base, more in zip(*map(jax.tree.leaves, (after, before, extra))):
        np.testing.assert_allclose(ours, base + more, rtol=1e-4, atol=1e-6)
    change, whole = (float(optax.tree.norm(gradient)) for gradient in (extra, before))
    assert change > 1e-2 * whole  # so that it would be missed
    in_pieces = loop.pose(net, task, Settings(batch_size=24, pieces=4, **weights), as_key(0))
    for ours, whole in zip(*map(jax.tree.leaves, (gradient_of(in_pieces)[0], after))):
        np.testing.assert_allclose(ours, whole, rtol=1e-4, atol=1e-6)


def test_without_weights_nothing_is_computed(monkeypatch):
    """The program of default settings never comes to this file, and needs no value of its settings."""

    def refuse(*arguments):
        raise AssertionError("computed at weight zero")

    monkeypatch.setattr(program, "flow_penalty", refuse)
    monkeypatch.setattr("gnode.train.perturbation.with_random_lengths", refuse)
    problem = loop.pose(small_net(), small_task(trials=11), Settings(batch_size=11, state_noise=0.1), as_key(0))
    new = {name: problem.hyper.pop(name) for name in (*PENALTIES, "steer")}
    assert len(new) == 6
    assert jnp.isfinite(gradient_of(problem)[1])
    with pytest.raises(AssertionError, match="weight zero"):
        gradient_of(loop.pose(small_net(), small_task(trials=11), Settings(kinetic=0.1), as_key(0)))


def lengths_of(steer, key, trials=100, bins=80):
    dt = jnp.linspace(0.01, 0.5, trials * bins).reshape(trials, bins).at[:, ::4].set(0.0)
    batch = SimpleNamespace(dt=dt, _replace=lambda dt: dt)
    return np.asarray(dt), np.asarray(with_random_lengths(batch, jnp.float32(steer), jax.random.key(key)))


def test_random_lengths_are_uniform_and_padding_stays():
    before, after = lengths_of(0.4, 7)
    assert np.all(after[before == 0] == 0)
    drawn = np.sort((after[before > 0] / before[before > 0] - 1) / 0.4)
    assert drawn.min() >= -1 - 1e-6
    assert drawn.max() <= 1 + 1e-6
    # Kolmogorov and Smirnov: a uniform sample is further than this from its law once in a thousand times.
    assert np.abs((drawn + 1) / 2 - (np.arange(drawn.size) + 0.5) / drawn.size).max() < 1.95 / math.sqrt(drawn.size)
    table = (after / np.where(before > 0, before, 1))[:, 1::4]
    correlations = np.corrcoef(table.T) - np.eye(table.shape[1])
    assert np.abs(correlations).max() < 5 / math.sqrt(len(table))  # the bins of a trial are independent


def test_random_lengths_follow_from_the_key_and_from_nothing_else():
    np.testing.assert_array_equal(lengths_of(0.4, 7)[1], lengths_of(0.4, 7)[1])
    assert not np.array_equal(lengths_of(0.4, 7)[1], lengths_of(0.4, 8)[1])
    # Other noise of the same update is as it was, and is not made of the same numbers.
    settings = Settings(steer=0.4, state_noise=0.1)
    task, net = small_task(), small_net()
    batch = to_device(task.train)
    hyper = program.hyper_of(settings, program.plan_of(settings, task))
    both = perturbed(net, batch, settings.choices(), hyper, jax.random.key(3))[1]
    alone = perturbed(net, batch, Settings(state_noise=0.1).choices(), hyper, jax.random.key(3))[1]
    np.testing.assert_array_equal(both.noise, alone.noise)
    assert not np.array_equal(both.batch.dt, batch.dt)
    np.testing.assert_array_equal(alone.batch.dt, batch.dt)


def test_validation_has_the_true_lengths():
    task = small_task()
    how = {"epochs": 1, "batch_size": 24, "lr": 1e-12, "weight_decay": 0.0}
    plain, steered = (fit(small_net(), task, steer=steer, **how) for steer in (0.0, 0.5))
    np.testing.assert_allclose(steered.curves["validation"], plain.curves["validation"], rtol=1e-6)
    assert abs(steered.curves["train"][0] / plain.curves["train"][0] - 1) > 1e-4


REGULAR = {"steer": 0.3, "jacobian_norm": 1e-6, "kinetic": 1e-5}


def test_a_resumed_run_has_the_same_numbers(tmp_path):
    class Stop(train.Callback):
        def after_epoch(self, moment):
            if moment.epoch == 2:
                raise RuntimeError("stop here")

    how = {"epochs": 4, "batch_size": 8, **REGULAR}
    whole = fit(small_net(), small_task(), **how)
    with pytest.raises(Exception, match="stop here"):
        fit(small_net(), small_task(), out=tmp_path / "run", callbacks=[Stop()], checkpoint_seconds=0, **how)
    done = gnode.resume(tmp_path / "run")
    assert done.settings.steer == 0.3
    for name, values in whole.curves.items():
        np.testing.assert_array_equal(done.curves[name], values, err_msg=name)


def test_all_bins_at_once_are_regularised_too():
    how = {"epochs": 2, "batch_size": 8, "lr": 1e-2, **REGULAR}
    loop, at_once = (fit(small_net(solver={"time": time}), small_task(), **how) for time in ("loop", "parallel"))
    np.testing.assert_allclose(at_once.curves["train"], loop.curves["train"], rtol=1e-4)


@pytest.mark.parametrize("name", ["kinetic", "higher_derivatives"])
def test_penalties_make_the_flow_slower_and_smoother(name):
    """What is penalised gets smaller than without: by a fifth at least, in fifteen epochs."""
    task, batch = small_task(), to_device(small_task().train)
    weight = {"kinetic": 1e-3, "higher_derivatives": 1e-7}[name]
    runs = [fit(small_net(), task, epochs=15, lr=1e-2, batch_size=8, **{name: value}) for value in (0.0, weight)]
    plain, regular = (float(whole_penalty(run.net, batch, **{name: 1.0})) for run in runs)
    assert regular < 0.8 * plain


AXES = {"steer": [0.1, 0.3], "kinetic": [1e-5, 1e-3]}
SMALL = {"trials": 12, "validation": 6, "bins": 8, "epochs": 2, "batch_size": 6, "model": "rnn", "state": 3}


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_weights_are_lanes_of_one_program(engine, tmp_path):
    """Four members in one program, each equal to the same run made alone: on threads to the last bit."""
    before = program.traces()
    more = {"jacobian_norm": 1e-6, "stiffness": 1e-4}
    found = gnode.sweep("flipflop-square", tmp_path / "grid", engine=engine, workers=1, **AXES, **more, **SMALL)
    assert program.traces() == before + 1
    seen = []
    for index, settings in enumerate(found.members):
        alone = train.train_spec(train.RunSpec("flipflop-square", settings))
        curves = found.load(index).curves
        for name in ("train", "validation"):
            rtol = 0 if engine == "threads" else 2e-5
            np.testing.assert_allclose(curves[name], alone.curves[name], rtol=rtol)
        seen.append(curves["train"][-1])
    assert len(set(seen)) == 4


def test_what_compiles_and_what_does_not():
    """Weights are values, but a weight of zero leaves its part out, and the order of the derivative is another program."""
    groups = lambda **axes: len(Grid.over("flipflop-square", model="rnn", **axes).groups)  # noqa: E731
    assert groups(**AXES) == 1
    assert groups(kinetic=[0.0, 0.1, 0.2]) == 2
    assert groups(steer=[0.0, 0.1]) == 2
    assert groups(higher_derivatives=[0.1, 0.2], derivative_order=[2, 3]) == 2


def test_options_of_the_command(gnode_command, tmp_path):
    small = "--model rnn --state 2 --trials 8 --bins 6 --epochs 1 --batch-size 8"
    own = "--steer 0.2 --kinetic 1e-5 --jacobian-norm 1e-6 --solver-cost 0.1 --stiffness 1e-3"
    order = "--higher-derivatives 1e-9 --derivative-order 3"
    gnode_command(f"train flipflop-square {small} {own} {order} --out", tmp_path / "run").ok()
    stored = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    wanted = {"steer": 0.2, "kinetic": 1e-5, "jacobian_norm": 1e-6, "solver_cost": 0.1, "stiffness": 1e-3}
    assert {name: stored[name] for name in wanted} == wanted
    assert (stored["higher_derivatives"], stored["derivative_order"]) == (1e-9, 3)
    helped = gnode_command("train --help").ok()
    for flag in (*wanted, "higher_derivatives", "derivative_order"):
        assert f"--{flag.replace('_', '-')}" in helped
    assert (
        "steer is 1.0, but must be from 0 to below 1"
        in gnode_command(f"train flipflop-square {small} --steer 1 --out", tmp_path / "bad").one_sentence()
    )


@pytest.mark.parametrize(
    ("model", "options", "sentence"),
    [
        ("rnn", {"steer": 1.0}, "steer is 1.0, but must be from 0 to below 1"),
        ("rnn", {"steer": -0.1}, "steer is -0.1"),
        ("rnn", {"kinetic": -1.0}, "kinetic is -1"),
        ("rnn", {"jacobian_norm": math.nan}, "jacobian_norm is nan"),
        ("rnn", {"solver_cost": 1e39}, "solver_cost is 1e\\+39, but must be at most"),
        ("rnn", {"derivative_order": 0}, "derivative_order is 0, but must be a whole number of at least 1"),
        ("rnn", {"derivative_order": 9}, "derivative_order is 9, but must be a whole number of at most 8"),
        ("cfc", {"kinetic": 0.1}, "kinetic is 0.1, but CfC is a map of one bin and not a flow"),
        ("cfc", {"layers": 2, "stiffness": 2.0}, "stiffness is 2, but CfC is a map of one bin"),
        ("gated_nsde", {"state_noise": 0.1}, "state_noise is 0.1, but NeuralSDE has noise of its own"),
        ("nsde", {"state_noise": 0.1}, "state_noise is 0.1, but NeuralSDE has noise of its own"),
    ],
)
def test_bad_values_are_sentences(model, options, sentence):
    widths = {} if model == "rnn" else {"widths": (4,)}
    stacked = {"layers": options.pop("layers")} if "layers" in options else {}
    with pytest.raises(ArgumentError, match=sentence) as told:
        fit(small_net(model, **widths, **stacked), small_task(), epochs=1, **options)
    assert str(told.value).count(". ") == 0


def test_only_a_network_of_states_is_regularised():
    net = small_net("rnn")
    stranger = SimpleNamespace(cell=net.cell)
    with pytest.raises(ArgumentError, match=r"kinetic is 0\.5, but penalties on the flow need a gnode\.Network"):
        regularisation.check_flow(stranger, Settings(kinetic=0.5))
    regularisation.check_flow(stranger, Settings(steer=0.5))

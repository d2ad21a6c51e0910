"""Tasks of neurogym. Ordinary tests use a stand-in with the interface of version 2.3, the slow one the package itself."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from gnode import build, fit, tasks
from gnode.errors import ArgumentError
from gnode.train.spec import RunSpec


class Begins(type):
    """neurogym's environments have a metaclass, whose call takes anything."""

    def __call__(cls, *args, **kwargs):
        return type.__call__(cls, *args, **kwargs)


class TwoChoices(metaclass=Begins):
    """A cue on one of two sides, a delay of one or two bins, then the choice. `new_trial` builds a trial, as in neurogym."""

    def __init__(self, dt=100, sigma=0.0):
        self.dt, self.sigma = dt, sigma
        self.observation_space = SimpleNamespace(name={"fixation": 0, "stimulus": range(1, 3)})
        self.action_space = SimpleNamespace(n=3, name={"fixation": 0, "choice": [1, 2]})
        self.rng = np.random.RandomState()

    def seed(self, seed=None):
        self.rng = np.random.RandomState(seed)
        return [seed]

    def new_trial(self):
        side, delay = self.rng.choice(2), 1 + self.rng.choice(2)
        self.ob = np.zeros((2 + delay, 3), np.float32)
        self.ob[:-1, 0] = 1
        self.ob[0, 1 + side] = 1 + self.sigma * self.rng.normal()
        self.gt = np.zeros(2 + delay, np.int64)
        self.gt[-1] = 1 + side
        return {"ground_truth": side}


class Reach(TwoChoices):
    """Actions that are numbers."""

    def __init__(self, dt=8.3):
        super().__init__(dt)
        self.action_space = SimpleNamespace(shape=(2,))

    def new_trial(self):
        super().new_trial()
        self.gt = np.zeros((len(self.ob), 2), np.float32)


class Unanswered(TwoChoices):
    """A task of rewards only: nothing says what is right."""

    def new_trial(self):
        self.ob = np.zeros((3, 3), np.float32)


class Beyond(TwoChoices):
    def new_trial(self):
        super().new_trial()
        self.gt[-1] = 7


class Needy(TwoChoices):
    def __init__(self, session, dt=100):
        super().__init__(dt)


@pytest.fixture
def stand_in(monkeypatch):
    """Puts modules in the place of neurogym's."""
    package, envs, registration = (
        ModuleType(name) for name in ("neurogym", "neurogym.envs", "neurogym.envs.registration")
    )
    kinds = {kind.__name__: kind for kind in (TwoChoices, Reach, Unanswered, Beyond, Needy)}
    registration.ALL_EXTENDED_ENVS = {f"{name}-v0": f"{__name__}:{name}" for name in kinds}

    def make(id_, **options):
        return SimpleNamespace(unwrapped=kinds[id_.removesuffix("-v0")](**options))

    package.make, package.envs, envs.registration = make, envs, registration
    for module in (package, envs, registration):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("stand_in")
def test_trials_with_a_class_at_every_bin():
    task = tasks.neurogym("TwoChoices-v0", trials=30, validation=10, test=5, key=3)
    assert (task.name, task.loss, task.when) == ("neurogym:TwoChoices-v0", "cross_entropy", "every")
    assert task.input_names == ("fixation", "stimulus 1", "stimulus 2")
    assert task.classes == ("fixation", "choice 1", "choice 2")
    assert [len(part) for part in (task.train, task.validation, task.test)] == [30, 10, 5]
    trials = task.train
    assert trials.targets.shape == (30, 4)
    assert set(trials.lengths) == {3, 4}
    for inputs, targets, length, dt in zip(trials.inputs, trials.targets, trials.lengths, trials.dt):
        side = int(np.argmax(inputs[0, 1:]))
        assert targets[:length].tolist() == [0] * (length - 1) + [1 + side]
        assert not inputs[length:].any()
        np.testing.assert_allclose(dt, [0.1] * length + [0] * (4 - length), rtol=1e-6)
    again = tasks.make(task.name, **task.options)
    np.testing.assert_array_equal(task.train.inputs, again.train.inputs)
    np.testing.assert_array_equal(task.test.targets, again.test.targets)
    assert len(tasks.new_trials(task, 4)) == 4


@pytest.mark.usefixtures("stand_in")
def test_trials_after_each_other_and_arguments_of_the_environment():
    task = tasks.make("neurogym:TwoChoices-v0", trials=6, validation=2, bins=10, dt=0.02, sigma=0.5)
    assert (task.bins, task.dt, task.validation.lengths.tolist()) == (10, 0.02, [10, 10])
    assert np.ptp(task.train.inputs[:, 0, 1:].max(axis=1)) > 0  # sigma
    starts = np.flatnonzero(task.train.inputs[0, :, 1:].any(axis=1))
    assert len(starts) > 1  # several cues in one sequence


@pytest.mark.usefixtures("stand_in")
def test_actions_that_are_numbers():
    task = tasks.make("neurogym:Reach-v0", trials=3, validation=2)
    assert (task.loss, task.outputs, task.output_names) == ("mse", 2, ("action 1", "action 2"))
    assert task.dt == pytest.approx(0.0083)


@pytest.mark.usefixtures("stand_in")
def test_a_command_trains_it():
    settings = {"trials": 6, "validation": 3.0, "model": "rnn", "state": 3, "epochs": 1, "data_seed": 2}
    net, task, chosen, key = RunSpec.of("neurogym:TwoChoices-v0", settings).realise()
    assert (net.outputs, len(task.validation)) == (3, 3)
    assert np.isfinite(fit(net, task, key=key, epochs=chosen.epochs).best_loss)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("TwoChoice-v0", {}, "Did you mean 'TwoChoices-v0'"),
        ("TwoChoices-v0", {"sigm": 1}, "an option of task neurogym:TwoChoices-v0 is 'sigm'.*Did you mean 'sigma'"),
        ("TwoChoices-v0", {"trials": 0}, "trials is 0"),
        ("TwoChoices-v0", {"dt": -1.0}, "dt is -1.0"),
        ("TwoChoices-v0", {"bins": 0}, "bins is 0"),
        ("TwoChoices-v0", {"trials": 2**31 - 1, "bins": 2**20}, "GiB of memory"),
        ("Unanswered-v0", {}, "does not say what is seen and what is right"),
        ("Beyond-v0", {}, "has 3 actions, but calls action 7 right"),
        ("Needy-v0", {}, "needs the options session"),
    ],
)
def test_wrong_calls_are_sentences(name, options, word):
    with pytest.raises(ArgumentError, match=word):
        tasks.make(f"neurogym:{name}", **options)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "neurogym", None)
    with pytest.raises(ArgumentError, match=r"need the extra gnode\[neurogym\]"):
        tasks.make("neurogym:GoNogo-v0")


@pytest.mark.slow
def test_every_task_of_the_package_is_trained_for_an_epoch():
    """A smoke test of more than 20 tasks: trials can be made, made again to the same numbers, and trained on."""
    pytest.importorskip("neurogym")
    from neurogym.envs.registration import ALL_NATIVE_ENVS  # pyright: ignore[reportMissingImports]

    trained, left_out = [], {}
    for name in sorted(ALL_NATIVE_ENVS):
        try:
            task = tasks.make(f"neurogym:{name}", trials=8, validation=4)
        except ArgumentError as problem:
            left_out[name] = str(problem)
            continue
        again = tasks.make(task.name, **task.options)
        np.testing.assert_array_equal(task.train.inputs, again.train.inputs)
        run = fit(build("rnn", task.inputs, task.outputs, state=8, tau=task.dt, key=0), task, key=0, epochs=1)
        assert np.isfinite(run.best_loss), name
        trained.append(name)
    assert len(trained) >= 20, left_out

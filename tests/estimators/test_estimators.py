"""The estimators of `gnode.sklearn`: scikit-learn's own checks, and what they compute."""

import io
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import gnode
from gnode import errors
from gnode.sklearn import SequenceClassifier, SequenceRegressor
from gnode.train import program

QUICK = {"state": 8, "epochs": 30, "lr": 0.03, "random_state": 0}
EXPECTED_FAILURES: dict[str, str] = {}
"""Checks of scikit-learn that an estimator is known to fail, each with the reason."""
MAY_BE_SKIPPED = {"check_array_api_input", "check_classifier_data_not_an_array", "check_regressor_data_not_an_array"}
"""They need a variable of the environment, or pandas."""


@pytest.mark.parametrize("kind", [SequenceRegressor, SequenceClassifier])
def test_the_checks_of_scikit_learn(kind):
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the checks about themselves
        found = check_estimator(kind(**QUICK), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] in ("failed", "xfail")}
    assert failed.keys() == EXPECTED_FAILURES.keys(), failed
    assert {one["check_name"] for one in found if one["status"] == "skipped"} <= MAY_BE_SKIPPED
    assert sum(one["status"] == "passed" for one in found) > 45


def test_the_page_names_the_checks_that_may_be_skipped():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "scikit-learn.md").read_text()
    assert set(re.findall(r"`(check_(?!estimator)\w+)`", page)) == MAY_BE_SKIPPED
    assert not EXPECTED_FAILURES, "the page says: without exception"


def turning(trials=60, bins=12, seed=0):
    """Points that go around a circle: trials x time x 2, and whether each goes left."""
    rng = np.random.default_rng(seed)
    left = rng.random(trials) < 0.5
    angle = rng.uniform(0, 6, trials)[:, None] + np.where(left, 0.5, -0.5)[:, None] * np.arange(bins)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return X + 0.02 * rng.normal(size=X.shape), left


@pytest.fixture(scope="module")
def classifier():
    X, left = turning()
    return SequenceClassifier(**QUICK | {"epochs": 60}).fit(X, np.where(left, "left", "right"))


def test_sequences_are_told_apart(classifier):
    X, left = turning(seed=1)
    labels = np.where(left, "left", "right")
    assert classifier.classes_.tolist() == ["left", "right"]
    assert classifier.score(X, labels) > 0.95
    outputs = np.asarray(classifier.run_.net.run(X, dt=1.0).outputs)[:, -1].astype(float)
    expected = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(X)), expected, atol=1e-6)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[expected.argmax(axis=1)])


def test_other_lengths_and_other_company_change_no_prediction(classifier):
    X, _ = turning(trials=70, bins=20, seed=2)
    whole = classifier.predict_proba(X)
    np.testing.assert_array_equal(classifier.predict_proba(X[33:35]), whole[33:35])
    np.testing.assert_array_equal(classifier.predict_proba(X[::-1])[::-1], whole)


def test_a_number_per_trial_several_and_several_per_bin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6, 1))
    total = np.cumsum(X, axis=1)
    options = QUICK | {"epochs": 150}
    for y in (total[:, -1, 0], total[:, -1].repeat(2, axis=1) * [1, -1], np.concatenate([total, -total], axis=2)):
        found = SequenceRegressor(**options).fit(X, y)
        predicted = found.predict(X)
        assert predicted.shape == y.shape
        assert predicted.dtype == np.float64
        score = found.score(X, y)
        assert score > 0.9
        flat, mean = y.reshape(-1, found.run_.net.outputs), y.reshape(-1, found.run_.net.outputs).mean(axis=0)
        error = ((flat - predicted.reshape(flat.shape)) ** 2).sum(axis=0)
        assert score == pytest.approx(np.mean(1 - error / ((flat - mean) ** 2).sum(axis=0)), rel=1e-9)
        outputs = np.asarray(found.run_.net.run(X, dt=1.0).outputs)
        wanted = outputs if y.ndim == 3 else outputs[:, -1, : y.shape[-1] if y.ndim == 2 else 1].reshape(y.shape)
        np.testing.assert_allclose(predicted, wanted, atol=1e-6)


def test_weights_of_trials_in_the_score():
    X = np.random.default_rng(0).normal(size=(10, 4))
    y = np.random.default_rng(1).normal(size=(10, 4, 1))
    found = SequenceRegressor(**QUICK | {"epochs": 2}).fit(X, y)
    weight = np.r_[np.ones(5), np.zeros(5)]
    assert found.score(X, y, weight) == pytest.approx(found.score(X[:5], y[:5]))


def test_two_dimensions_are_one_channel():
    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20.0)
    flat = SequenceRegressor(**QUICK | {"epochs": 3}).fit(X, y)
    deep = SequenceRegressor(**QUICK | {"epochs": 3}).fit(X[:, :, None], y)
    np.testing.assert_array_equal(flat.predict(X), deep.predict(X[:, :, None]))
    assert (flat.n_features_in_, deep.n_features_in_) == (5, 1)


def test_searches_pipelines_and_clones():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, left = turning(trials=40)
    search = GridSearchCV(SequenceClassifier(**QUICK | {"epochs": 20}), {"lr": [1e-6, 0.03]}, cv=2).fit(X, left)
    assert search.best_params_ == {"lr": 0.03}
    assert search.best_score_ > 0.8
    copy = clone(search.best_estimator_)
    assert copy.lr == 0.03
    assert not hasattr(copy, "run_")
    flat, y = X[:, :, 0], X[:, -1, 1]
    piped = make_pipeline(StandardScaler(), SequenceRegressor(**QUICK)).fit(flat, y)
    by_hand = SequenceRegressor(**QUICK).fit(StandardScaler().fit_transform(flat), y)
    np.testing.assert_allclose(piped.predict(flat), by_hand.predict(StandardScaler().fit_transform(flat)))


def unpickled(stored):
    """What is in a pickle, and the modules whose classes it names."""
    modules = set()

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            modules.add(module.removesuffix(".multiarray").removesuffix(".numeric"))
            return super().find_class(module, name)

    return Unpickler(io.BytesIO(stored)).load(), modules


def test_a_pickle_holds_plain_weights_and_no_trials(classifier):
    X, _ = turning(trials=2000)
    found = SequenceClassifier(**QUICK | {"epochs": 1}).fit(X, turning(trials=2000)[1])
    stored = pickle.dumps(found)
    assert len(stored) < X.nbytes / 10
    back, modules = unpickled(pickle.dumps(classifier))
    assert modules <= {
        "gnode.sklearn._classifier",
        "gnode.train.settings",
        "numpy",
        "numpy._core",
        "builtins",
        "pathlib",
    }
    np.testing.assert_array_equal(back.predict_proba(X), classifier.predict_proba(X))
    assert back.run_.best_loss == classifier.run_.best_loss
    assert back.run_.net.cell.units == 8
    with pytest.raises(errors.StoreError, match="its task was not kept"):
        _ = back.run_.task


def test_a_seed_repeats_a_fit():
    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20.0)
    fits = [SequenceRegressor(**QUICK | {"epochs": 2, "random_state": seed}).fit(X, y) for seed in (0, 0, 1)]
    predictions = [one.predict(X) for one in fits]
    np.testing.assert_array_equal(predictions[0], predictions[1])
    assert np.abs(predictions[0] - predictions[2]).max() > 1e-3


def test_settings_are_those_of_gnode():
    X, left = turning(trials=20)
    found = SequenceClassifier(
        "gnode", 3, widths=(5,), tau=0.1, dt=0.05, layers=2, initial="learned", options={"hidden": "tanh"},
        validation=0.25, epochs=2, batch_size=5, settings={"penalty": 0.1}, random_state=3,
    ).fit(X, left)  # fmt: skip
    run = found.run_
    assert run.net.cell.layers[0].F.sizes_text == "3-5-3"
    assert run.net.cell.layers[1].F.hidden == "tanh"
    assert type(run.net.initial).__name__ == "LearnedState"
    assert (run.settings.penalty, run.settings.batch_size, run.dt) == (0.1, 5, 0.05)
    assert (len(run.task.train), len(run.task.validation)) == (15, 5)
    assert found.predict(X).dtype == bool


def test_other_values_of_settings_compile_nothing_new():
    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20.0)
    SequenceRegressor(**QUICK | {"epochs": 2}).fit(X, y).predict(X)
    before = program.run_epoch_compiled._cached._cache_size()
    SequenceRegressor(**QUICK | {"epochs": 3, "lr": 1e-3, "weight_decay": 0.0, "random_state": 1}).fit(X, y).predict(X)
    assert program.run_epoch_compiled._cached._cache_size() == before


def test_a_fit_that_diverges_warns():
    from sklearn.exceptions import ConvergenceWarning

    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20.0)
    with pytest.warns(ConvergenceWarning, match="The run diverged"):
        SequenceRegressor("rnn", **QUICK | {"lr": 1e6, "clip": 1e9}).fit(X, y)


X3, Y = np.zeros((6, 4, 2)), np.arange(6.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: SequenceRegressor("grru").fit(X3, Y), "Did you mean 'gru'"),
        (lambda: SequenceRegressor(state=0).fit(X3, Y), "state is 0"),
        (lambda: SequenceRegressor(lr=-1).fit(X3, Y), "lr is -1"),
        (lambda: SequenceRegressor(dt=0).fit(X3, Y), "dt is 0"),
        (lambda: SequenceRegressor(validation=2).fit(X3, Y), "validation is 2"),
        (lambda: SequenceRegressor(widths=(3,)).fit(X3, Y), "model 'gru' has no setting 'widths'"),
        (lambda: SequenceRegressor(settings={"penalti": 1}).fit(X3, Y), "Did you mean 'penalty'"),
        (lambda: SequenceRegressor().fit(X3[:, :0], Y), "X has shape"),
        (lambda: SequenceRegressor().fit(X3, None), "requires y to be passed"),
        (
            lambda: SequenceRegressor().fit(X3, np.zeros((6, 3, 1))),
            r"y has shape \(6, 3, 1\), but must have a number per",
        ),
        (lambda: SequenceRegressor().fit(X3, Y[:5]), "inconsistent numbers of samples"),
        (lambda: SequenceRegressor().fit(X3 * np.nan, Y), "X contains NaN"),
        (lambda: SequenceRegressor().fit(X3 + 1e300, Y), "too large for float32"),
        (lambda: fitted().predict(X3[:, :, :1]), "X has 1 channels, but SequenceRegressor was fitted on 2"),
        (
            lambda: fitted().predict(X3[:, :, 0]),
            "X has 2 dimensions, but SequenceRegressor was fitted on an array of 3",
        ),
        (lambda: SequenceClassifier().fit(X3, np.ones(6)), "y has one class"),
        (lambda: SequenceClassifier().fit(X3, None), "requires y to be passed"),
        (lambda: SequenceClassifier().fit(X3, Y / 7), "Unknown label type"),
    ],
)
def test_what_does_not_fit_together(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def fitted():
    return SequenceRegressor(state=2, epochs=1, random_state=0).fit(X3, Y)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, *rest):
        if name.split(".")[0] == "sklearn":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import gnode
room = gnode.sklearn
assert "sklearn" not in sys.modules
assert room.SequenceClassifier.__doc__
try:
    room.SequenceRegressor(state=3)
except gnode.GnodeError as problem:
    print(problem)
"""


def test_without_scikit_learn_a_sentence_says_what_to_install():
    ended = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert ended.stdout == (
        "SequenceRegressor needs scikit-learn, which is not installed: pip install 'gnode[sklearn]'.\n"
    )


def test_scikit_learn_is_imported_by_its_room_alone():
    package = Path(gnode.__file__).parent
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] != "sklearn":
            text = path.read_text()
            assert "import sklearn" not in text, path
            assert "from sklearn" not in text, path

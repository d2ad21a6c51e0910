"""A user's own arrays as a task."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import tasks
from gnode.errors import ArgumentError
from gnode.solve import Solver
from gnode.solve._path import bins_of, slope_at
from gnode.tasks import Series, arrays
from gnode.tasks.stored_task import read_task, write_task

X, Y = np.random.default_rng(0).normal(size=(20, 5, 2)), np.random.default_rng(1).normal(size=(20, 5, 1))
T = np.tile(0.1 * np.arange(5), (20, 1))


def test_every_trial_lands_in_one_part():
    task = arrays(X, Y, 0.1, validation=0.2, test=0.3)
    parts = [task.train, task.validation, task.test]
    assert [len(part) for part in parts] == [10, 4, 6]
    firsts = np.concatenate([part.inputs[:, 0, 0] for part in parts])
    np.testing.assert_allclose(np.sort(firsts), np.sort(X[:, 0, 0].astype(np.float32)))


def test_whole_numbers_are_classes():
    task = arrays(X, np.arange(20) % 4, 0.1)
    assert (task.loss, task.when, task.outputs) == ("cross_entropy", "last", 4)


def test_a_target_that_does_not_count_may_be_missing():
    mask = np.ones((20, 5))
    mask[3, 2] = 0
    missing = Y.copy()
    missing[3, 2] = np.nan
    assert np.isfinite(arrays(X, missing, 0.1, mask=mask).train.targets).all()
    with pytest.raises(ArgumentError, match="targets holds nan at trial 3, bin 2"):
        arrays(X, missing, 0.1)


def test_a_file_of_arrays(tmp_path):
    np.savez(tmp_path / "mine.npz", inputs=X, targets=Y, dt=0.1)
    task = tasks.make(str(tmp_path / "mine.npz"), validation=0.25)
    assert task.train.inputs.shape == (15, 5, 2)
    again = tasks.make(task.name, **task.options)
    np.testing.assert_array_equal(task.train.inputs, again.train.inputs)


@pytest.mark.parametrize(
    ("action", "word"),
    [
        (lambda: arrays(X[0], Y, 0.1), r"inputs has shape \(5, 2\)"),
        (lambda: arrays(X, Y[:, :4], 0.1), "like inputs"),
        (lambda: arrays(np.where(X > 2, np.inf, X), Y, 0.1), "inputs holds inf"),
        (lambda: arrays(X, Y, -0.1), "dt is -0.1"),
        (lambda: arrays(X, Y, np.ones((20, 4))), "dt has shape"),
        (lambda: arrays(X, Y, 0.1, validation=1.0), "leave 0 to train on"),
        (lambda: arrays(X, Y, 0.1, mask=np.ones(5)), "mask has shape"),
        (lambda: arrays(X, Y, 0.1, lengths=np.full(20, 6)), "lengths must hold"),
        (lambda: arrays(X, np.arange(20), 0.1, outputs=3), "classes must be from 0 to 2"),
        (lambda: arrays(X, Y, times=T, lengths=[5]), "lengths has shape"),
        (lambda: arrays(X, Y, times=T, mask=np.ones(5)), "mask has shape"),
        (lambda: arrays(X, Y, 0.0, times=T), "dt is 0.0"),
        (lambda: arrays(X, dt=0.1), "targets are missing"),
        (lambda: arrays(Series.of(list(X)), dt=1.0), "targets are missing"),
        (lambda: arrays(Series.of(list(X), labels=[0] * 20), Y), "leave these out"),
        (lambda: tasks.make("nowhere.npz"), "does not exist"),
        (lambda: arrays(X, np.where(Y > 0, np.nan, Y), 0.1, fill="hold"), "needs a mask of 0"),
        (lambda: arrays(X, Y, 0.1, mask=np.zeros((20, 5))), "none of the 17 training trials has a bin that counts"),
        (lambda: arrays(X, Y, 0.1, mask=-np.ones((20, 5))), "mask must hold 1"),
        (lambda: arrays(X, Y, 0.1, mask=np.full((20, 5), np.nan)), "mask must hold 1"),
        (lambda: arrays(X, Y, 0.1, lengths=np.full(20, np.nan)), "lengths must hold"),
        (lambda: arrays(X, Y, 0.1, lengths=np.full(20, 2.5)), "lengths must hold"),
        (lambda: arrays(X, Y, 0.1, lengths=["five"] * 20), "lengths must hold real numbers"),
        (lambda: arrays(X, Y, 0.1, outputs=3), "outputs is 3, but the targets have 1 columns"),
        (lambda: arrays(X.astype(str), Y, 0.1), "inputs must hold real numbers"),
        (lambda: arrays(X, Y, "a"), "dt must hold real numbers"),
        (lambda: arrays(X, times=T), "targets are missing"),
    ],
)
def test_bad_arrays(action, word):
    with pytest.raises(ArgumentError, match=word):
        action()


def test_lists_of_trials_of_unequal_lengths():
    lengths = [3, 5, 2, 4]
    trials = [X[i, :n] for i, n in enumerate(lengths)]
    outcomes = [Y[i, :n] for i, n in enumerate(lengths)]
    task = arrays(
        Series.of(trials, times=[0.1 * np.arange(n) for n in lengths], targets=outcomes), dt=0.1, validation=0.25
    )
    padded_times = np.where(np.arange(5) < np.array(lengths)[:, None], 0.1 * np.arange(5), np.nan)
    same = arrays(X[:4], Y[:4], 0.1, times=padded_times, validation=0.25)
    for mine, other in ((task.train, same.train), (task.validation, same.validation)):
        np.testing.assert_array_equal(mine.lengths, other.lengths)
        np.testing.assert_array_equal(mine.inputs, other.inputs)
        np.testing.assert_array_equal(mine.targets * mine.mask[..., None], other.targets * other.mask[..., None])
    named = arrays(Series.of(trials, labels=[0, 1, 0, 1], label_names=("a", "b")), dt=1.0, fill="hold", validation=0.5)
    assert (named.loss, named.classes, named.outputs) == ("cross_entropy", ("a", "b"), 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: arrays(X, Y, -np.ones((20, 5))),
        lambda: tasks.flip_flop(span=np.ones((500, 2))),
        lambda: tasks.flip_flop(start=list(range(1000))),
        lambda: tasks.ou(start=np.ones(1000)),
        lambda: tasks.speech(version=np.ones(1000)),
        lambda: tasks.fill(X * np.nan, arrays(X, Y, 0.1)),
    ],
)
def test_messages_never_print_whole_arrays(call):
    with pytest.raises(ArgumentError) as problem:
        call()
    assert len(str(problem.value)) < 250
    assert "\n" not in str(problem.value)


def test_broken_files(tmp_path):
    path = tmp_path / "broken.npz"
    np.savez(path, inputs=X, targets=Y, dt=0.1)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(ArgumentError, match=r"broken|cannot be read"):
        tasks.make(str(path))
    np.savez(path, inputs=X, dt=0.1)
    with pytest.raises(ArgumentError, match="lacks the array 'targets'"):
        tasks.make(str(path))
    np.savez(path, inputs=X, targets=Y)
    with pytest.raises(ArgumentError, match="holds no 'dt'"):
        tasks.make(str(path))


def test_filling_knows_the_times_of_samples():
    gap = np.array([[[0.0], [np.nan], [1.0]]] * 4)
    task = arrays(gap, np.zeros((4, 3, 1)), times=[[0.0, 0.9, 1.0]] * 4, fill="linear", validation=0.25)
    np.testing.assert_allclose(task.train.inputs[0, :, 0], [0.0, 0.9, 1.0], rtol=1e-6)


UNEVEN = np.array([0.0, 1.0, 4.0, 5.0])


def uneven(**options):
    """Trials whose input is the time itself, at uneven samples, one to be filled; every second ends a sample early."""
    times = np.tile(UNEVEN, (4, 1))
    times[1::2, 3] = np.nan
    given = {"timestamp": "seconds", "fill": "linear", "validation": 0.25} | options
    values = np.where(UNEVEN == 1.0, np.nan, np.nan_to_num(times))
    return arrays(values[..., None], np.zeros((4, 4, 1)), times=times, **given)


@pytest.mark.parametrize("path", ["linear", "hermite", "natural"])
def test_the_path_between_samples_has_the_slope_of_what_was_sampled(path):
    """X = t has the slope 1 between all samples, and none after the last; with the time before each it would not."""
    task = uneven(ahead=True)
    assert not task.since_before
    cell = gnode.cells.gated_ncde(2, 2, widths=(3,), key=0)
    for xs, dt, length in zip(task.train.inputs, task.train.dt, task.train.lengths):
        bins = bins_of(cell, jnp.asarray(xs), jnp.asarray(dt), Solver(interpolation=path))
        for k in range(length):
            bin = jax.tree.map(lambda leaf, k=k: leaf[k], bins)
            for share in (0.0, 0.4, 1.0):
                slope = slope_at(bin, share) / bin.length
                np.testing.assert_allclose(slope, float(k < length - 1), atol=1e-6)
        np.testing.assert_allclose(np.cumsum(dt[: length - 1]), UNEVEN[1:length])
        assert dt[length - 1] == dt[length - 2]
        np.testing.assert_array_equal(dt[length:], 0)
    before = uneven()
    np.testing.assert_array_equal(before.train.dt[:, 1:3], np.tile([1.0, 3.0], (3, 1)))
    np.testing.assert_array_equal(before.train.inputs[..., 1], task.train.inputs[..., 1])


def test_a_path_between_samples_refuses_bins_of_the_time_before(tmp_path):
    """Where it makes a difference: not with `hold`, equal times, lengths of one's own, or the time after each sample."""
    paths = {
        path: gnode.build("gated_ncde", 2, 1, state=2, widths=(3,), key=0, solver={"interpolation": path})
        for path in ("hold", "linear")
    }
    short = {"epochs": 1, "batch_size": 3}
    with pytest.raises(ArgumentError, match=r"interpolation is 'linear', which .*ahead=True \(--ahead yes\)\.$"):
        gnode.fit(paths["linear"], uneven(), **short)
    own = arrays(X, Y, np.tile([1.0, 3.0, 1.0, 1.0, 1.0], (20, 1)))
    equal = arrays(X, Y, times=T)
    for task, path in ((uneven(), "hold"), (uneven(ahead=True), "linear"), (own, "linear"), (equal, "linear")):
        assert gnode.fit(paths[path], task, **short).status == "finished"
    write_task(tmp_path / "task.npz", uneven())
    assert read_task(tmp_path / "task.npz").since_before
    with pytest.raises(ArgumentError, match="ahead is True, but only bins whose lengths come from times"):
        arrays(X, Y, 0.1, ahead=True)


def test_a_validation_set_without_a_target_is_refused():
    """By chance all trials with a target may come to train: the loss of the others would be 0 from the start."""
    mask = np.zeros((20, 5))
    mask[arrays(X, np.arange(20.0)[:, None, None] + 0 * Y, 0.1).train.targets[0, 0, 0].astype(int)] = 1
    with pytest.raises(ArgumentError, match="none of the 3 validation trials"):
        arrays(X, Y, 0.1, mask=mask)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e39])
def test_an_infinite_input_is_an_error_and_not_a_channel_of_zeros(value):
    inputs = np.random.default_rng(0).normal(size=(10, 5, 2))
    inputs[3, 2, 1] = value
    with pytest.raises(ArgumentError, match="at trial 3, bin 2, channel 1"):
        arrays(inputs, np.zeros((10, 5, 1)), 0.1, fill="hold", standardise=True)


def test_an_infinite_target_is_an_error_and_not_a_gap(tmp_path):
    (tmp_path / "mine.csv").write_text("trial,x,y\n" + "".join(f"{t},1,{'inf' if t == 2 else 1}\n" for t in range(6)))
    with pytest.raises(ArgumentError, match="targets holds inf"):
        tasks.make(str(tmp_path / "mine.csv"), target_columns=("y",), dt=0.1, validation=0.4)

"""The three real-world tasks on small data, against what was put in."""

import json
import tracemalloc

import numpy as np
import pytest
import small_data
from scipy.interpolate import CubicSpline

from gnode import errors, tasks
from gnode.tasks import inspection
from gnode.tasks._preparation import stratified_split
from gnode.tasks.datasets import obtain, walker2d
from gnode.tasks.datasets.originals import dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cache with small data sets, made from originals."""
    made = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNODE_DATA", str(made / "cache"))
        mat = small_data.write_uci_mat(made / "mixoutALL_shifted.mat", *small_data.letters())
        obtain.add(dataset("characters"), [mat])
        obtain.add(dataset("walker2d"), [small_data.write_rollouts(made / "walker", small_data.rollouts())])
        obtain.add(dataset("speech"), [small_data.write_speech(made / "speech", clips=9)])
    return made / "cache"


@pytest.fixture(autouse=True)
def in_the_cache(folder, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(folder))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("characters", {"dropped": 0.5, "fill": "hold", "counts": True, "ends": "own", "key": 3}),
        ("walker2d", {"fill": "linear", "timestamp": "seconds", "key": 1}),
        ("speech", {"parts": 2, "key": 5}),
    ],
)
def test_a_task_can_be_made_again_from_its_options(name, options):
    task = tasks.make(name, **options)
    again = tasks.make(task.name, **json.loads(json.dumps(task.options)))
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(task, part).inputs, getattr(again, part).inputs)
        np.testing.assert_array_equal(getattr(task, part).targets, getattr(again, part).targets)
    other = tasks.make(name, **options | {"key": 9})
    assert not np.array_equal(task.train.inputs[:20], other.train.inputs[:20])


def test_characters_follow_the_recipe():
    trials, _ = small_data.letters()
    task = tasks.make("characters", dropped=0.3)
    parts = [task.train, task.validation, task.test]
    assert [len(part) for part in parts] == [112, 24, 24]
    assert (task.loss, task.when, task.outputs, task.dt) == ("cross_entropy", "last", 20, 1.0)
    assert "".join(task.classes) == small_data.LETTERS
    bins = max(len(trial) - 5 for trial in trials)
    assert task.train.inputs.shape == (112, bins, 4)
    np.testing.assert_allclose(task.train.inputs[0, :, 0], np.arange(bins) / bins, rtol=1e-6)
    np.testing.assert_array_equal(np.bincount(task.validation.targets, minlength=20) >= 1, True)
    np.testing.assert_array_equal(task.train.lengths, bins)
    own = tasks.make("characters", dropped=0.3, ends="own")
    assert sorted(np.concatenate([part.lengths for part in (own.train, own.validation, own.test)])) == sorted(
        len(trial) - 5 for trial in trials
    )


def test_characters_against_a_spline_of_their_own():
    """Undo the standardising of the whole task, find each trial again, and draw the spline anew."""
    whole = tasks.make("characters", dropped=0.0).train.inputs[..., 1:]
    gappy = tasks.make("characters", dropped=0.5, counts=True).train.inputs
    counts = gappy[..., 4:]
    bins = whole.shape[1]
    observed = np.diff(counts[..., 0], axis=1, prepend=0) > 0
    np.testing.assert_array_equal(observed.sum(axis=1), bins - int(0.5 * bins))
    scale = [np.polyfit(whole[..., c][observed], gappy[..., 1 + c][observed], 1) for c in range(3)]
    for trial in (0, 50, 111):
        seen = np.flatnonzero(observed[trial])
        for channel in range(3):
            samples = np.polyval(scale[channel], whole[trial, seen, channel])
            spline = CubicSpline(seen, samples, bc_type="natural")
            np.testing.assert_allclose(
                gappy[trial, :, 1 + channel], spline(np.clip(np.arange(bins), seen[0], seen[-1])), atol=1e-4
            )


def test_characters_are_standardised_on_training_trials_alone():
    task = tasks.make("characters", dropped=0.0)
    np.testing.assert_allclose(task.train.inputs[..., 1:].mean(axis=(0, 1)), 0, atol=1e-5)
    np.testing.assert_allclose(task.train.inputs[..., 1:].std(axis=(0, 1)), 1, atol=1e-4)
    assert np.abs(task.test.inputs[..., 1:].mean(axis=(0, 1))).max() > 1e-3


def test_characters_without_gaps_are_the_padded_trials():
    """Trimmed, padded and standardised in the plainest way, against the whole training part."""
    trials, labels = small_data.letters()
    inside = [trial[2:-3] for trial in trials]
    bins = max(len(trial) for trial in inside)
    padded = np.array([[*trial, *([trial[-1]] * (bins - len(trial)))] for trial in inside], np.float64)
    chosen = stratified_split(labels, key=0)[0]
    values = padded[chosen]
    wanted = (values - values.mean(axis=(0, 1))) / values.std(axis=(0, 1))
    task = tasks.make("characters", dropped=0.0)
    np.testing.assert_array_equal(task.train.targets, labels[chosen])
    np.testing.assert_allclose(task.train.inputs[..., 1:], wanted, atol=1e-4)


def test_the_letters_of_a_split_do_not_depend_on_what_is_dropped():
    few, many = (tasks.make("characters", dropped=dropped, fill="hold") for dropped in (0.3, 0.7))
    np.testing.assert_array_equal(few.test.targets, many.test.targets)


def by_the_benchmark(rollouts):
    """The windows by the recipe in its plainest form: sample by sample."""
    order = list(range(len(rollouts)))
    np.random.RandomState(125487).shuffle(order)
    tested, validated = int(0.15 * len(order)), int(0.1 * len(order))
    test, validation, train = order[:tested], order[tested : tested + validated], order[tested + validated :]
    dropping = np.random.RandomState(891374)
    found = {}
    for part, chosen in {"train": train, "validation": validation, "test": test}.items():
        found[part] = []
        for index in chosen:
            kept = [place for place in range(len(rollouts[index]) - 1) if not dropping.rand() >= 0.9]
            for start in range(0, len(kept) - 64, 16):
                found[part].append((index, kept[start : start + 64]))
    return found


def test_walker2d_windows_by_the_recipe():
    rollouts = small_data.rollouts()
    task = tasks.make("walker2d", fill="hold")
    wanted = by_the_benchmark(rollouts)
    longest = max(kept[-1] - kept[0] + 1 for windows in wanted.values() for _, kept in windows)
    assert (task.bins, task.inputs, task.outputs, task.loss, task.dt) == (longest, 18, 17, "mse", 1.0)
    for part, windows in wanted.items():
        trials = getattr(task, part)
        assert len(trials) == len(windows)
        for trial, (index, kept) in enumerate(windows):
            bins = np.array(kept) - kept[0]
            np.testing.assert_array_equal(np.flatnonzero(trials.mask[trial]), bins)
            np.testing.assert_array_equal(trials.inputs[trial, bins, 1:], rollouts[index][kept])
            np.testing.assert_array_equal(trials.targets[trial, bins], rollouts[index][np.array(kept) + 1])
            assert trials.lengths[trial] == bins[-1] + 1
    np.testing.assert_allclose(task.train.inputs[0, :, 0], np.arange(longest) / longest, rtol=1e-6)


def test_walker2d_gaps_are_on_the_natural_spline():
    task = tasks.make("walker2d")
    for trial in range(0, len(task.train), 7):
        seen = np.flatnonzero(task.train.mask[trial])
        spline = CubicSpline(seen, task.train.inputs[trial, seen, 1:], bc_type="natural")
        wanted = spline(np.clip(np.arange(task.bins), seen[0], seen[-1]))
        np.testing.assert_allclose(task.train.inputs[trial, :, 1:], wanted, atol=1e-4)


def test_walker2d_without_the_gaps():
    """The samples alone, each as long as the time since the one before it; nothing else changes."""
    grid, alone = tasks.make("walker2d", fill="hold"), tasks.make("walker2d", fill="hold", gaps="skipped")
    for part in ("train", "validation", "test"):
        filled, found = getattr(grid, part), getattr(alone, part)
        assert found.bins == 64
        for trial in range(len(found)):
            seen = np.flatnonzero(filled.mask[trial])
            np.testing.assert_array_equal(found.inputs[trial], filled.inputs[trial, seen])
            np.testing.assert_array_equal(found.targets[trial], filled.targets[trial, seen])
            np.testing.assert_array_equal(found.dt[trial], np.diff(seen, prepend=-1))
        assert np.all(found.mask == 1)
    ahead = tasks.make("walker2d", fill="hold", gaps="skipped", ahead=True)
    assert alone.since_before
    assert not ahead.since_before
    assert not grid.since_before
    np.testing.assert_array_equal(ahead.train.dt[:, :-1], alone.train.dt[:, 1:])
    np.testing.assert_array_equal(ahead.train.dt[:, -1], alone.train.dt[:, -1])
    assert tasks.last_value_error(alone.test) == pytest.approx(tasks.last_value_error(grid.test), rel=1e-6)


def test_letters_without_the_gaps():
    """The last sample before the end of the trial is the last bin, and the samples are those of the filled trials."""
    grid, alone = tasks.make("characters", ends="own"), tasks.make("characters", ends="own", gaps="skipped")
    ahead = tasks.make("characters", ends="own", gaps="skipped", ahead=True)
    masked = tasks.make("characters", ends="own", masks=True)
    observed = masked.train.inputs[..., 0] > 0
    for trial, count in enumerate(alone.train.lengths):
        seen = np.flatnonzero(observed[trial, : grid.train.lengths[trial]])
        assert count == len(seen)
        np.testing.assert_array_equal(alone.train.inputs[trial, :count], grid.train.inputs[trial, seen])
        np.testing.assert_array_equal(alone.train.dt[trial, :count], np.diff(seen, prepend=-1))
        assert np.all(alone.train.dt[trial, count:] == 0)
        np.testing.assert_array_equal(ahead.train.dt[trial, : count - 1], np.diff(seen))
        assert ahead.train.dt[trial, count - 1] == alone.train.dt[trial, count - 1]
        assert np.all(ahead.train.dt[trial, count:] == 0)


def test_masks_come_first_and_say_what_was_observed():
    plain, masked = tasks.make("walker2d", fill="hold"), tasks.make("walker2d", fill="hold", masks=True)
    masks, inputs = np.split(masked.train.inputs, 2, axis=2)
    np.testing.assert_array_equal(inputs, plain.train.inputs)
    for channel in range(masks.shape[2]):  # whole samples were dropped, so time has the mask of the rest
        np.testing.assert_array_equal(masks[..., channel], plain.train.mask)
    assert tasks.last_value_error(masked.test) == tasks.last_value_error(plain.test)
    letters = tasks.make("characters", masks=True, counts=True)
    assert letters.input_names[:7] == tuple(f"mask of {name}" for name in letters.input_names[7:])


def test_the_persistence_baseline():
    rollouts = small_data.rollouts()
    windows = by_the_benchmark(rollouts)["test"]
    steps = [np.diff(rollouts[index], axis=0)[kept] for index, kept in windows]
    task = tasks.make("walker2d")
    assert tasks.last_value_error(task.test) == pytest.approx(np.mean(np.array(steps, float) ** 2), rel=1e-5)
    with pytest.raises(errors.ArgumentError, match="a target per bin"):
        tasks.last_value_error(tasks.make("characters").test)


def test_objects_print_in_a_line():
    summary = inspection.check("walker2d")
    series = tasks.Series.of([np.zeros((50, 3))] * 1000, labels=np.zeros(1000, int))
    letters = tasks.make("characters")
    values = [summary, summary.task, summary.task.train, letters, letters.test, series, series.on_grid()]
    values += [*tasks.DATASETS.values(), *tasks.TASKS.values(), *tasks.FILLS.values(), tasks.OrnsteinUhlenbeck()]
    for value in values:
        assert len(repr(value)) < 300
        assert "\n" not in repr(value)
    assert repr(letters) == (
        "Task('characters', 112 training, 24 validation and 24 test trials of 30 bins, 4 inputs, 20 outputs, "
        "loss cross_entropy at the last bin)"
    )


def test_short_rollouts_have_no_windows(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    made = small_data.write_rollouts(tmp_path / "w", small_data.rollouts(samples=50))
    obtain.add(dataset("walker2d"), [made])
    with pytest.raises(errors.ArgumentError, match="no window to cut"):
        tasks.make("walker2d")


def test_speech_is_split_by_word_and_standardised():
    task = tasks.make("speech")
    parts = [task.train, task.validation, task.test]
    assert [len(part) for part in parts] == [63, 14, 13]
    assert task.train.inputs.shape == (63, 161, 20)
    assert task.dt == pytest.approx(1 / 161)
    np.testing.assert_allclose(task.train.inputs.mean(axis=(0, 1), dtype=float), 0, atol=1e-5)
    np.testing.assert_allclose(task.train.inputs.std(axis=(0, 1), dtype=float), 1, atol=1e-4)
    assert np.all(np.bincount(task.train.targets) >= 6)
    third = tasks.make("speech", parts=1)
    assert sum(len(part) for part in (third.train, third.validation, third.test)) == 30


def test_speech_features_stay_with_their_words(folder):
    """Each clip of the task is, but for scale, the stored one of its word."""
    stored = {}
    for part in range(3):
        with np.load(folder / "speech-v1" / f"speech_commands_v1_mfcc_{part}.npz") as file:
            stored |= {
                features[:, 3].astype(float).tobytes(): label for features, label in zip(file["mfcc"], file["labels"])
            }
    kept = np.array([np.frombuffer(key) for key in stored])
    words = np.array(list(stored.values()))
    task = tasks.make("speech")
    for clip, word in zip(task.test.inputs, task.test.targets):
        fit = [np.corrcoef(clip[:, 3], row)[0, 1] for row in kept]
        assert words[int(np.argmax(fit))] == word
        assert max(fit) > 0.999999


def test_loading_speech_needs_less_than_twice_its_arrays(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for part in range(3):
        arrays = {"mfcc": rng.normal(size=(1000, 161, 20)).astype(np.float16), "labels": np.arange(1000) % 10}
        np.savez(tmp_path / f"speech_commands_v1_mfcc_{part}.npz", **arrays)
    monkeypatch.setenv("GNODE_DATA", str(tmp_path))
    tasks.make("speech", parts=1)  # whatever is loaded once
    tracemalloc.start()
    try:
        task = tasks.make("speech")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = sum(part.inputs.nbytes for part in (task.train, task.validation, task.test))
    assert size == 3000 * 161 * 20 * 4
    assert peak < 2 * size


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("characters", {"dropped": 1.0}, "dropped is 1.0"),
        ("characters", {"fill": "cubic"}, "fill is 'cubic'"),
        ("characters", {"gaps": "skip"}, "gaps is 'skip'.*Did you mean 'skipped'"),
        ("characters", {"ends": "mine"}, "ends is 'mine'"),
        ("walker2d", {"fill": "splines"}, "fill is 'splines'"),
        ("walker2d", {"key": -1}, "key is -1"),
        ("walker2d", {"dropped": 0.1}, "an option of task walker2d is 'dropped'"),
        ("speech", {"version": 3}, "version is 3, but must be 1 or 2"),
        ("speech", {"parts": 4}, "parts is 4"),
        ("speech", {"version": 2}, "speech-v2 is not in"),
    ],
)
def test_bad_options(name, options, sentence):
    with pytest.raises(errors.ArgumentError, match=sentence):
        tasks.make(name, **options)


def test_seeds_that_are_added_to_the_published_ones():
    assert walker2d.split_rollouts(400, 1) != walker2d.split_rollouts(400, 0)

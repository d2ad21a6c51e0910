"""gnode baseline as a person meets it, on small data."""

import json
import re

import numpy as np
import pytest
import small_data


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.mark.slow
def test_characters_and_resume(cache, tmp_path, gnode_command):
    mat = small_data.write_uci_mat(tmp_path / "mixoutALL_shifted.mat", *small_data.letters())
    gnode_command(f"data add characters {mat}").ok()
    told = gnode_command("baseline characters --dropped 0.5 --epochs 2 --state 4 --out ncde").ok()
    stored = json.loads((tmp_path / "ncde" / "result.json").read_text())
    assert stored["task"]["options"]["dropped"] == 0.5
    assert np.sum(stored["confusion"]) == stored["task"]["test_trials"] == 24
    assert float(re.search(r"tells (\S+)% right", told)[1]) == pytest.approx(100 * stored["test"]["accuracy"], abs=0.01)
    assert "heun, 1 per bin" in told
    assert (tmp_path / "ncde" / "confusion.png").exists()
    (tmp_path / "ncde" / "result.json").unlink()
    gnode_command("baseline --resume ncde").ok()
    again = json.loads((tmp_path / "ncde" / "result.json").read_text())
    assert again["test"] == stored["test"]
    assert again["settings"] == stored["settings"]


def test_walker2d(cache, tmp_path, gnode_command):
    folder = small_data.write_rollouts(tmp_path / "walker", small_data.rollouts())
    gnode_command(f"data add walker2d {folder}").ok()
    told = gnode_command("baseline walker2d --out last").ok()
    carried = float(re.search(r"mean squared error of (\S+)\.", told)[1])
    assert carried == pytest.approx(1.0, abs=0.05)  # the small rollouts take steps of variance 1
    assert json.loads((tmp_path / "last" / "result.json").read_text())["test"]["loss"] == pytest.approx(
        carried, abs=1e-4
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("baseline", "the data set is missing"),
        ("baseline charcters", "Did you mean 'characters'?"),
        ("baseline speech", "must be one of: characters, walker2d"),
        ("baseline characters", "gnode data get characters"),
        ("baseline characters --dropped 1.5", "must be a share from 0"),
        ("baseline walker2d", "gnode data add walker2d PATH"),
        ("baseline walker2d --batch-size 3", "--batch-size: the persistence baseline of walker2d is not trained"),
        ("baseline --resume nowhere", "nowhere holds no baseline"),
        ("baseline characters --resume nowhere", "give it alone"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words, sentence, cache, tmp_path, gnode_command):
    assert sentence in gnode_command(words).one_sentence()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--epochs 0", "epochs is 0, but must be a whole number of at least 1"),
        ("--lr -1", "lr is -1.0, but must be a positive number"),
        ("--state 0", "state is 0"),
        ("--seed -1", "seed is -1"),
        ("--out taken", "taken"),
    ],
)
def test_bad_settings_leave_nothing_behind(option, sentence, cache, tmp_path, gnode_command):
    mat = small_data.write_uci_mat(tmp_path / "mixoutALL_shifted.mat", *small_data.letters(per_letter=4))
    gnode_command(f"data add characters {mat}").ok()
    (tmp_path / "taken").write_text("a file")
    before = sorted(tmp_path.rglob("*"))
    assert sentence in gnode_command(f"baseline characters {option}").one_sentence()
    assert sorted(tmp_path.rglob("*")) == before

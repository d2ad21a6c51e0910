"""gnode data, and training on a file of one's own, as a person meets them."""

import http.server
import re
import threading
from functools import partial

import numpy as np
import pytest
import small_data

from gnode import train


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def test_add_list_and_check(cache, tmp_path, gnode_command):
    folder = small_data.write_rollouts(tmp_path / "walker", small_data.rollouts())
    assert "walker2d is in" in gnode_command(f"data add walker2d {folder}").ok()
    listed = gnode_command("data list").ok()
    assert "walker2d" in listed
    assert "speech-v2 │ no" in listed
    told = gnode_command("data check walker2d --out pictures").ok()
    assert "18 inputs, 17 outputs" in told
    carried = float(re.search(r"carried forward\): (\S+)", told)[1])
    assert carried == pytest.approx(1.0, abs=0.05)  # the small rollouts take steps of variance 1
    assert (tmp_path / "pictures" / "walker2d-trials.png").stat().st_size > 10_000


def test_check_counts_classes_and_train(cache, tmp_path, gnode_command):
    mat = small_data.write_uci_mat(tmp_path / "mixoutALL_shifted.mat", *small_data.letters())
    gnode_command(f"data add characters {mat}").ok()
    told = gnode_command("data check characters").ok()
    assert "160 trials (112 training, 24 validation, 24 test)" in told
    assert "│ a │ 6 │" in told or "│ a │ 5 │" in told
    assert (tmp_path / "data-check" / "characters-classes.png").stat().st_size > 5_000
    short = "--model gru --state 4 --epochs 1 --dropped 0.5 --fill hold --counts yes --out run"
    assert "best validation loss" in gnode_command(f"train characters {short}").ok()
    task = train.load("run").task
    assert (task.inputs, task.options["fill"], task.options["dropped"]) == (7, "hold", 0.5)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


def test_get_downloads_once(cache, tmp_path, gnode_command):
    folder = small_data.write_rollouts(tmp_path / "site" / "walker", small_data.rollouts())
    small_data.zip_folder(folder, tmp_path / "site" / "walker.zip")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site")))
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        command = f"data get walker2d --url http://127.0.0.1:{server.server_port}/walker.zip"
        assert "walker2d is in" in gnode_command(command).ok()
        assert "--replace puts a new one" in gnode_command(command).one_sentence()
        assert "walker2d is in" in gnode_command(f"{command} --replace").ok()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("data get walkers", "Did you mean 'walker2d'?"),
        ("data check characters", "gnode data get characters"),
        ("data add speech nowhere --version 2", "nowhere does not exist"),
        ("data get characters --version 2", "has no versions"),
        ("data get walker2d --url ftp://x/y.zip", "must begin with https"),
        ("train walker2d", "gnode data add walker2d PATH"),
        ("train speech --version 2", "gnode data get speech --version 2"),
        ("train mine.csv --dt 0.1", "mine.csv has 'x1' in row 3, column 'x', which is not a number"),
        ("train gap.csv --dt 0.1 --validation 0.5", "a missing value (NaN) needs a fill: hold, linear or natural"),
    ],
)
def test_bad_input_to_data_is_one_sentence_and_status_2(words, sentence, cache, tmp_path, gnode_command):
    (tmp_path / "mine.csv").write_text("trial,label,x\n1,a,1\n2,b,x1\n")
    (tmp_path / "gap.csv").write_text("trial,label,x,y\n1,a,1,1\n2,b,,1\n")
    assert sentence in gnode_command(words).one_sentence()
    assert not cache.exists() or not list(cache.iterdir())


def test_from_a_csv_file_to_a_trained_network(cache, tmp_path, gnode_command):
    """What docs/data.md tells a reader to do, in short."""
    rng = np.random.default_rng(0)
    lines = ["trial,time,x,y"]
    for trial in range(30):
        times = np.cumsum(rng.uniform(0.05, 0.15, 20))
        x = rng.normal(size=20)
        y = np.cumsum(x) * 0.1
        lines += [f"{trial},{t:.4f},{'' if rng.random() < 0.2 else f'{a:.4f}'},{b:.4f}" for t, a, b in zip(times, x, y)]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    options = "--target-columns y --dt 0.1 --fill hold --standardise yes --test 0.1 --model gnode --state 2 --widths 8"
    command = f"train mine.csv {options} --epochs 2 --out run"
    assert "best validation loss" in gnode_command(command).ok()
    run = train.load(tmp_path / "run")
    assert run.task.inputs == 1
    assert len(run.task.test) == 3
    assert np.isfinite(run.evaluate(run.task.test)["loss"])

"""A sweep on a local Ray cluster: the same table, also when a worker is killed in the middle."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from gnode import sweep
from gnode.errors import GnodeError
from gnode.sweeps._run import resume_sweep

ray = pytest.importorskip("ray")

TASK = "flipflop-square"
AXES = {"model": ["rnn", "gnode"], "lr": [1e-3, 1e-2], "batch_size": 8, "seed": [0, 1]}
SMALL = {"trials": 24, "bins": 12, "epochs": 400, "widths": (8,), "state": 2}


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def workers():
    """Process ids of Ray workers that are training."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            command = Path(f"/proc/{entry}/cmdline").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if command.startswith("ray::") and "_work" in command:
            found.append(int(entry))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds the workers through /proc")
@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_the_table_is_the_same(cluster, tmp_path):
    killed = []

    def kill_one():
        deadline = time.time() + 90
        while time.time() < deadline and not killed:
            time.sleep(0.5)
            # Once a member is done the workers are in the middle of the next ones.
            if list((tmp_path / "ray" / "members").glob("0*")) and (running := workers()):
                os.kill(running[0], signal.SIGKILL)
                killed.append(running[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    by_ray = sweep(TASK, tmp_path / "ray", engine="ray", **AXES, **SMALL)
    killer.join()
    assert killed, "no worker was caught while it trained"
    assert by_ray.status()["done"] == 8
    here = sweep(TASK, tmp_path / "here", engine="threads", **AXES, **SMALL)
    assert (by_ray.folder / "results.csv").read_text() == (here.folder / "results.csv").read_text()


def test_a_member_on_a_cluster_is_that_of_threads(cluster, tmp_path):
    one = {"model": "rnn"} | SMALL | {"epochs": 3}
    by_ray = sweep(TASK, tmp_path / "ray", engine="ray", **one)
    here = sweep(TASK, tmp_path / "here", engine="threads", **one)
    assert by_ray.status()["done"] == 1
    assert (by_ray.folder / "results.csv").read_text() == (here.folder / "results.csv").read_text()


@pytest.mark.slow
def test_a_sweep_begun_here_goes_on_there(cluster, tmp_path):
    small = SMALL | {"epochs": 3}
    whole = sweep(TASK, tmp_path / "whole", engine="threads", **AXES, **small)
    part = sweep(TASK, tmp_path / "part", engine="threads", **AXES, **small)
    for index in (1, 4):
        for file in (part.folder / "members" / f"{index:04d}").iterdir():
            file.unlink()
        (part.folder / "members" / f"{index:04d}").rmdir()
    resume_sweep(part.folder, engine="ray")
    assert (part.folder / "results.csv").read_text() == (whole.folder / "results.csv").read_text()


def test_an_address_where_nothing_answers_is_told_at_once(tmp_path):
    ray.shutdown()
    began = time.monotonic()
    with pytest.raises(GnodeError, match=r"nothing answers at 127\.0\.0\.1:9"):
        sweep(TASK, tmp_path / "s", engine="ray", address="127.0.0.1:9", **AXES, **SMALL)
    assert time.monotonic() - began < 30

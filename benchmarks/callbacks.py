"""Times the epochs of a training with and without callbacks.

    python benchmarks/callbacks.py                  500 epochs
    python benchmarks/callbacks.py --epochs 2000    a longer run

A network with 20 units is trained on 100 trials of the flip-flop task, which takes some milliseconds per epoch: callbacks
cost the same for every epoch, so the shorter it is the larger is their share. Trainings without callbacks, with three
trivial ones (the validation loss, the training loss, a rule to stop that never holds), with these and one that writes all
metrics of every epoch to a file, and, where tensorboardX is installed, with these and `gnode.train.TensorBoard`, take turns
epoch by epoch, so that other programs on the machine slow all of them alike. All run the same compiled program, and call
what `gnode.fit` calls in an epoch. The times are medians over the epochs; the time in callbacks is also measured by itself.
"""

import argparse
import contextlib
import importlib.util
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from timing import report

import gnode
from gnode.train import Callback, Moment, TensorBoard, loop, run_folder
from gnode.train.callbacks import Watch, as_callbacks
from gnode.types import as_key

LARGEST_OVERHEAD = 0.03


class Losses(Callback):
    """Keeps the validation losses."""

    def __init__(self):
        self.losses: list[float] = []

    def after_evaluation(self, moment: Moment) -> None:
        self.losses.append(moment.metrics["validation"])


class StopBelow(Callback):
    """Stops where the best loss is below a limit."""

    def __init__(self, limit: float):
        self.limit = limit

    def after_epoch(self, moment: Moment) -> None:
        if moment.best_loss < self.limit:
            moment.stop(f"the loss is below {self.limit}")


class Lines(Callback):
    """Writes all metrics of every epoch as a line of JSON, flushed at once."""

    def __init__(self, path: Path):
        self.file = path.open("w")

    def after_epoch(self, moment: Moment) -> None:
        self.file.write(json.dumps({"epoch": moment.epoch, **moment.metrics}) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()


def main() -> None:
    options = _options()
    task = gnode.tasks.flip_flop("square", trials=100, validation=50, bins=100)
    net = gnode.build("gnode", 2, 2, state=20, widths=(64,), tau=0.01, key=0)
    settings = gnode.Settings(epochs=options.epochs, batch_size=50)
    problem = loop.pose(net, task, settings, as_key(0))
    config = run_folder.config(net, task, settings, as_key(0), {})
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        watches = {
            name: Watch(as_callbacks(callbacks), problem, None, config)
            for name, callbacks in _kinds(Path(folder)).items()
        }
        for watch in watches.values():
            stack.enter_context(watch.closing())
        times, inside = _epochs(problem, watches, options.epochs)
    without = statistics.median(times["none"])
    rows = [
        {
            "callbacks": name,
            "ms per epoch": 1000 * statistics.median(own),
            "times without": statistics.median(own) / without,
            "ms in callbacks": 1000 * statistics.median(inside[name]),
            "share in callbacks": statistics.median(inside[name]) / without,
        }
        for name, own in times.items()
    ]
    report(f"Training with callbacks: {options.epochs} epochs, N = 20, 100 trials of 100 bins", rows, "callbacks")
    largest = max(max(row["times without"] - 1, row["share in callbacks"]) for row in rows)
    print(f"at most {LARGEST_OVERHEAD:.0%} more time: {'yes' if largest <= LARGEST_OVERHEAD else 'NO'}")


Times = dict[str, list[float]]


def _epochs(problem: loop.Problem, watches: dict[str, Watch], epochs: int) -> tuple[Times, Times]:
    """Trains all kinds in turns, in another order in every epoch; returns the seconds of epochs, and in callbacks."""
    now = {name: loop.next_epoch(problem, loop.begin(problem)) for name in watches}  # compiles
    for name, watch in watches.items():
        watch.after_epoch(now[name])  # imports what a callback needs
    times: Times = {name: [] for name in watches}
    inside: Times = {name: [] for name in watches}
    order = list(watches)
    for _ in range(epochs - 1):
        order = [*order[1:], order[0]]
        for name in order:
            begin = time.perf_counter()
            now[name] = loop.next_epoch(problem, now[name])
            trained = time.perf_counter()
            watches[name].after_epoch(now[name])
            end = time.perf_counter()
            times[name].append(end - begin)
            inside[name].append(end - trained)
    return times, inside


def _kinds(folder: Path) -> dict[str, list[Any]]:
    """The callbacks of each kind of run."""

    def trivial() -> list[Any]:
        return [Losses(), StopBelow(0.0), lambda moment: moment.metrics["train"]]

    kinds = {
        "none": [],
        "three trivial ones": trivial(),
        "these and a file": [*trivial(), Lines(folder / "lines.jsonl")],
    }
    if importlib.util.find_spec("tensorboardX") is not None:
        kinds["these and TensorBoard"] = [*trivial(), TensorBoard(folder / "events")]
    return kinds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=500)
    return parser.parse_args()


if __name__ == "__main__":
    main()

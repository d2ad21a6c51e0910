"""Compares a sweep with training its members one after another (CPU) or with training one member (accelerator).

    python benchmarks/sweep_throughput.py

CPU: updates per second over all members, by the engine `threads` and by a loop of `train_spec` in one process.
Accelerator: the time of an epoch of 27 gnODE members as one program, and of one member. N = 6, 3 x 100 hidden, T = 100.
"""

import shutil
import tempfile
import time
from pathlib import Path

import jax.numpy as jnp
from timing import report

from gnode.bench import compare
from gnode.devices import available_cores, is_on_cpu, one_core_per_network
from gnode.sweeps import Grid, _member, sweep
from gnode.sweeps.engines import one_program
from gnode.sweeps.grid import TaskCache
from gnode.train import RunSpec, loop, train_spec
from gnode.train.program import Constants

TASK = "flipflop-variable"
AXES = {"model": "gnode", "state": 6, "lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-1], "seed": [0, 1]}
TRIALS = 200
ROUNDS = 3
"""The number of measurements, of which the one with the median ratio is reported; a single one varies by about 10%."""


def one_after_another(grid: Grid) -> float:
    """Measures the seconds of a loop over the members."""
    began = time.perf_counter()
    for settings in grid.members:
        train_spec(RunSpec(TASK, settings), progress=False)
    return time.perf_counter() - began


def as_a_sweep(axes: dict) -> float:
    """Measures the seconds of the same members by the engine `threads`, including the files that it writes."""
    folder = Path(tempfile.mkdtemp())
    try:
        began = time.perf_counter()
        sweep(TASK, folder / "sweep", engine="threads", progress=False, **axes)
        return time.perf_counter() - began
    finally:
        shutil.rmtree(folder)


def on_cpu() -> list[dict]:
    rows = []
    for size, epochs in ((10, 30), (100, 60)):
        axes = AXES | {"batch_size": size, "epochs": epochs, "trials": TRIALS}
        grid = Grid.over(TASK, **axes)
        as_a_sweep(axes | {"epochs": 1})  # compiles the program of both
        updates = len(grid.members) * epochs * (TRIALS // size)
        rounds = [(one_after_another(grid), as_a_sweep(axes)) for _ in range(ROUNDS)]
        alone, together = sorted(rounds, key=lambda times: times[0] / times[1])[ROUNDS // 2]
        rows.append(
            {
                "batch": size,
                "members": len(grid.members),
                "cores": available_cores(),
                "one after another, updates/s": updates / alone,
                "sweep, updates/s": updates / together,
                "ratio": alone / together,
            }
        )
    return rows


def epoch_of(members: int, size: int):
    """Returns a function that runs one epoch of `members` as one program."""
    grid = Grid.over(TASK, model="gnode", state=6, batch_size=size, seed=list(range(members)))
    task = TaskCache(TASK)(grid.members[0])
    data = loop.on_device(task)
    problems = [_member.pose(settings, task, data) for settings in grid.members]
    constants = one_program._stack([Constants(problem.hyper, problem.key, problem.frozen) for problem in problems])
    state = one_program._stack([loop.begin(problem).state for problem in problems])
    first = problems[0]
    return lambda: one_program._run_group_epoch(state, constants, jnp.int32(1), data, first.plan, first.bins)


def on_accelerator() -> list[dict]:
    rows = []
    for size in (10, 100):
        times = compare({"1": epoch_of(1, size), "27": epoch_of(27, size)}, rounds=7)
        updates = 500 // size
        rows.append(
            {
                "batch": size,
                "1 member, ms an update": times["1"] / updates,
                "27 members, ms an update": times["27"] / updates,
                "ratio": times["27"] / times["1"],
            }
        )
    return rows


def main() -> None:
    one_core_per_network()  # as `gnode sweep` does
    rows = on_cpu() if is_on_cpu() else on_accelerator()
    report("A grid of gnODE networks: N = 6, 3 x 100 hidden, T = 100", rows, "sweep_throughput")


if __name__ == "__main__":
    main()

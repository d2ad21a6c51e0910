"""A grid against its members one after another (CPU), or against one member (accelerator).

    python benchmarks/sweep_throughput.py

CPU: updates per second over all members, trained by the engine `threads` and by a plain loop of `gnode.fit` in one process.
Accelerator: the time of an epoch of 27 gnODE members as one program, and of one member. N = 6, 3 x 100 hidden, T = 100.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")  # what `gnode sweep` sets for itself

import jax
import jax.numpy as jnp
from timing import report

from gnode import fit, sweep
from gnode.bench import compare
from gnode.solve import available_cores
from gnode.sweeps import _member
from gnode.sweeps.engines import one_program
from gnode.sweeps.grid import TaskCache
from gnode.train import Grid, loop, spec

TASK = "flipflop-variable"
AXES = {"model": "gnode", "state": 6, "lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-1], "seed": [0, 1]}
TRIALS = 200
ROUNDS = 3
"""Of both, in turn; the one with the median ratio counts. A single one may be off by a tenth on a shared machine."""


def one_after_another(grid: Grid) -> float:
    """Seconds for a plain loop over the members."""
    tasks = TaskCache(TASK)
    began = time.perf_counter()
    for settings in grid.members:
        net, task, fit_settings, key = spec.realise(settings, tasks(settings))
        fit(net, task, key=key, progress=False, **vars(fit_settings))
    return time.perf_counter() - began


def as_a_sweep(axes: dict) -> float:
    """Seconds for the same members by the engine `threads`, folders included."""
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
        as_a_sweep(axes | {"epochs": 1})  # compiles, for both
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
    """A call that runs one epoch of that many members as one program."""
    grid = Grid.over(TASK, model="gnode", state=6, batch_size=size, seed=list(range(members)))
    task = TaskCache(TASK)(grid.members[0])
    data = loop.on_device(task)
    problems = [_member.pose(settings, task, data) for settings in grid.members]
    stacked = {part: one_program._stack([getattr(p, part) for p in problems]) for part in ("hyper", "key", "frozen")}
    state = one_program._stack([loop.begin(problem).state for problem in problems])
    first = problems[0]
    return lambda: one_program._run_group_epoch(
        state, stacked["hyper"], stacked["key"], jnp.int32(1), data, stacked["frozen"], first.plan, first.bins
    )


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
    rows = on_cpu() if jax.default_backend() == "cpu" else on_accelerator()
    report("A grid of gnODE networks: N = 6, 3 x 100 hidden, T = 100", rows, "sweep_throughput")


if __name__ == "__main__":
    main()

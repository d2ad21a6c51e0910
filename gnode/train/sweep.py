"""A whole grid as one command: trained by an engine, stored in a folder (`gnode.train.swept`), resumed after any kill."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from gnode import errors, tasks
from gnode.train import engines, member, progress, spec, store
from gnode.train.grid import Grid, TaskCache
from gnode.train.lock import locked
from gnode.train.member import Outcome
from gnode.train.parts import Part
from gnode.train.swept import SPEC, Sweep
from gnode.train.unfinished import UNFINISHED, Unfinished


def sweep(
    task: str,
    out: str | Path,
    *,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    search: Sequence[str] = (),
    search_with: Mapping[str, Any] | None = None,
    prepare: bool = False,
    **settings: Any,
) -> Sweep:
    """Trains every combination of settings on a task.

    **Arguments:**

    - `task`: a name or a file, as in `gnode.tasks.make`.
    - `out`: the folder, which must not hold a sweep yet.
    - `engine`: see `gnode.train.ENGINES`; `address` of a Ray cluster; `workers`, the number of threads.
    - `search`: names of settings, such as ("lr", "weight_decay"), that are tried with the first seed alone; the best of
      them, for each combination of the others, is repeated with the other seeds. Empty: every setting has every seed.
    - `search_with`: settings of the tries alone, such as {"epochs": 50}; the best setting is then trained with all seeds.
    - `prepare`: write the folder and train nothing, for processes that will each `resume_sweep` a part of it.
    - everything else: settings (see `gnode.train.spec.OPTIONS`); a list is an axis, anything else one value.

    **Returns:** a `Sweep`: `.table()`, `.best(by="model")`, `.load(member)`.
    """
    grid = Grid.over(task, search, search_with, **settings)
    check(grid, TaskCache(grid.task))
    file = tasks.file_of(grid.task)
    folder = Path(out)
    if (folder / SPEC).exists():
        raise errors.StoreError(
            f"{folder} already holds a sweep; choose another folder, or go on with --resume {folder}."
        )
    _check_engine(engine, address, workers)
    with store.writing(folder):
        store.write_json(
            folder / SPEC,
            {
                "task": grid.task,
                **({"file": file} if file else {}),
                "axes": grid.axes,
                **({"search": grid.search} if grid.search else {}),
                **({"search_with": grid.tried} if grid.tried else {}),
                "members": grid.members,
                **store.environment(),
            },
        )
    if prepare:
        return Sweep(folder)
    return resume_sweep(folder, engine=engine, address=address, workers=workers, progress=progress)


def resume_sweep(
    folder: str | Path,
    *,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    part: Part | None = None,
) -> Sweep:
    """Trains the members of a sweep that are not done yet. The final table is the same as without the interruption.

    With `part` only those of that part: other processes, on this machine or on others that see the folder, train the rest.
    """
    _check_engine(engine, address, workers)
    found = Sweep(folder)
    with locked(found.folder, part):
        if part is None:
            for place in (found.folder, found.folder / member.MEMBERS, found.folder / UNFINISHED):
                store.remove_leftovers(place)
        made = TaskCache(found.task_here())
        while todo := found.todo(part):
            _train(found, todo, made, engine, address, workers, progress, part)
        done = None
        while done != (done := len(found.done())):  # other parts may end while the table is being written
            found.write_table()
        if part is None:
            shutil.rmtree(found.folder / UNFINISHED, ignore_errors=True)
    return found


def _chosen(engine: str) -> str:
    """The engine, or the one that "auto" stands for here."""
    return engine if engine != "auto" else "threads" if jax.default_backend() == "cpu" else "one_program"


def _check_engine(engine: str, address: str | None, workers: int | None) -> None:
    errors.one_of("engine", engine, engines.ENGINES)
    if workers is not None:
        errors.whole("workers", workers)
    if address is not None and engine != "ray":
        raise errors.ArgumentError(f"address is that of a Ray cluster, but engine is {engine!r}; use engine 'ray'.")


def _train(
    found: Sweep,
    todo: list[int],
    tasks: TaskCache,
    engine: str,
    address: str | None,
    workers: int | None,
    show: bool | None,
    part: Part | None,
) -> None:
    grid, folder = found.grid, found.folder
    mine = set(range(len(found.members))) if part is None else found.members_of(part)
    done = mine.intersection(found.done())
    before = sum(_epochs(found.members[index]) for index in done)
    epochs = before + sum(_epochs(found.members[index]) for index in todo)
    number = found.number(part)
    name = f"sweep of {number}" if part is None else f"part {part.number}/{part.of}: {number}"
    with progress.bar(epochs, before, name, progress.is_wanted(show)) as update:
        record = _Recorder(found, update, before, len(done), number, keeps_table=part is None)
        engine = _chosen(engine)
        if engine == "threads":
            engines.train_in_threads(grid, todo, tasks, record.deliver, record.tick, workers, folder)
        elif engine == "one_program":
            engines.train_as_one(grid, todo, tasks, record.deliver, record.tick, folder)
        else:
            engines.train_on_ray(grid, todo, record.deliver, record.tick, address)


class _Recorder:
    """Stores members as they come and keeps the progress bar. Engines call it from their threads."""

    def __init__(
        self,
        found: Sweep,
        update: Callable[[int, str], None],
        before: int,
        done: int,
        number: int,
        keeps_table: bool,
    ):
        self._sweep, self._update, self._epochs = found, update, before
        self._done, self._number, self._keeps_table = done, number, keeps_table
        self._best = ""
        self._lowest = float("inf")
        self._lock = threading.Lock()
        self._table_written = 0.0

    def deliver(self, trained: Outcome) -> None:
        with self._lock:
            member.write(self._sweep.folder, trained)
            Unfinished(self._sweep.folder).remove(trained.index)
            self._done += 1
            if trained.result["best_loss"] < self._lowest:
                self._lowest = trained.result["best_loss"]
                self._best = f"best {self._lowest:.4g} ({trained.config['spec']['model']})"
            if (
                self._keeps_table and time.monotonic() - self._table_written > 2.0
            ):  # rewritten whole, so not for each of thousands
                self._sweep.write_table()
                self._table_written = time.monotonic()
            self._show()

    def tick(self, epochs: int) -> None:
        with self._lock:
            self._epochs += epochs
            self._show()

    def _show(self) -> None:
        self._update(self._epochs, f"{self._done}/{self._number} members  {self._best}")


def check(grid: Grid, tasks: TaskCache) -> list[int]:
    """Builds one member of every group on paper, so that a wrong setting is found before anything is trained.

    **Returns:** for each group, how many bytes a member in training needs.
    """
    for settings in grid.members:
        net_free = {name: value for name, value in settings.items() if spec.OPTIONS[name].part == "fit"}
        spec.Settings(**net_free)
        if "tau" in settings:
            errors.positive("tau", settings["tau"])
        if settings.get("cores", 1) != 1:
            raise errors.ArgumentError(
                f"cores is {settings['cores']}, but a sweep trains a member on each core by itself; leave cores out."
            )
    return [engines.member_bytes(group, tasks(group.settings)) for group in grid.groups]


def plan(grid: Grid, engine: str = "auto", workers: int | None = None) -> dict[str, Any]:
    """What a sweep will cost: members, groups, compilations, updates, and memory at a time on this machine."""
    _check_engine(engine, None, workers)
    engine = _chosen(engine)
    tasks = TaskCache(grid.task)
    members, search = grid.members, grid.chooser()
    every = range(len(members))

    def sum_over(cost: Callable[[int], int]) -> int:
        return sum(map(cost, every)) if search is None else search.cost(every, cost)

    one_by_one = engine != "one_program"
    at_a_time, compilations = [], 0
    for group, bytes_of_one in zip(grid.groups, check(grid, tasks)):
        rounds = [len(group.members)] if search is None else search.rounds(group.members)
        largest = max(rounds)
        if one_by_one:
            together = min(workers or engines.workers_by_default(), largest)
        else:
            together = engines.chunk_size(group, tasks(group.settings), largest)
        at_a_time.append(together * bytes_of_one)
        shapes = (
            1 if one_by_one else len({size for size in rounds if size})
        )  # an accelerator takes the members as one array
        compilations += shapes * len(group.settings.get("schedule") or (1,))
    return {
        "members": sum_over(lambda index: 1),
        "groups": len(grid.groups),
        "compilations": compilations,
        "updates": sum_over(lambda index: _updates(members[index], tasks(members[index]))),
        "memory_bytes": max(at_a_time),
        "engine": engine,
    }


def _epochs(settings: dict[str, Any]) -> int:
    return settings.get("epochs", spec.Settings.epochs)


def _updates(settings: dict[str, Any], task: Any) -> int:
    size = min(settings.get("batch_size", spec.Settings.batch_size), len(task.train))
    return _epochs(settings) * -(-len(task.train) // size)

"""A whole grid as one command: trained by an engine, stored in a folder (`gnode.train.swept`), resumed after any kill."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from gnode import errors
from gnode.train import engines, member, progress, spec, store
from gnode.train.grid import Grid, TaskCache
from gnode.train.lock import locked
from gnode.train.member import Outcome
from gnode.train.parts import Part
from gnode.train.search import Search
from gnode.train.swept import SPEC, Sweep


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
    grid = grid_of(task, search, search_with, settings)
    check(grid)
    folder = Path(out)
    if (folder / SPEC).exists():
        raise errors.StoreError(
            f"{folder} already holds a sweep; choose another folder, or go on with --resume {folder}."
        )
    errors.one_of("engine", engine, engines.ENGINES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        store.write_json(
            folder / SPEC,
            {
                "task": grid.task,
                "axes": grid.axes,
                **({"search": list(search)} if search else {}),
                **({"search_with": grid.tried} if grid.tried else {}),
                "members": grid.members,
                **store.environment(),
            },
        )
    except OSError as problem:
        raise errors.StoreError(f"cannot write to {folder} ({problem}).") from problem
    if prepare:
        return Sweep(folder)
    return resume_sweep(folder, engine=engine, address=address, workers=workers, progress=progress)


def grid_of(
    task: str, search: Sequence[str], search_with: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Grid:
    """The grid of a sweep; a search that can not be is an error."""
    if search_with and not search:
        raise errors.ArgumentError("search_with is for the tries of a search; name what is searched for, too.")
    for name in search_with or ():
        errors.one_of("search_with", name, spec.OPTIONS)
    grid = Grid.over(task, search_with, **settings)
    if search:
        Search.of(grid, search)
    return grid


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
    errors.one_of("engine", engine, engines.ENGINES)
    found = Sweep(folder)
    with locked(found.folder, part):
        if part is None:
            for place in (found.folder, found.folder / member.MEMBERS, found.folder / engines.GROUPS):
                store.remove_leftovers(place)
        while todo := found.todo(part):
            _train(found, todo, engine, address, workers, progress, part)
        done = None
        while done != (done := len(found.done())):  # other parts may end while the table is being written
            found.write_table()
        if part is None:
            shutil.rmtree(found.folder / engines.GROUPS, ignore_errors=True)
    return found


def _train(
    found: Sweep,
    todo: list[int],
    engine: str,
    address: str | None,
    workers: int | None,
    show: bool | None,
    part: Part | None,
) -> None:
    grid, folder = found.grid, found.folder
    tasks = TaskCache(grid.task)
    mine = set(range(len(found.members))) if part is None else found.members_of(part)
    done = mine.intersection(found.done())
    before = sum(_epochs(found.members[index]) for index in done)
    epochs = before + sum(_epochs(found.members[index]) for index in todo)
    number = found.number(part)
    name = f"sweep of {number}" if part is None else f"part {part.number}/{part.of}: {number}"
    with progress.bar(epochs, before, name, progress.is_wanted(show), unit="epoch") as update:
        record = _Recorder(found, update, before, len(done), number, keeps_table=part is None)
        if engine == "auto":
            engine = "threads" if jax.default_backend() == "cpu" else "one_program"
        if engine == "threads":
            engines.train_in_threads(grid, todo, tasks, record.deliver, record.tick, workers)
        elif engine == "one_program":
            engines.train_as_one(grid, todo, tasks, record.deliver, record.tick, folder)
        else:
            engines.train_on_ray(grid, todo, tasks, record.deliver, record.tick, address)


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


def check(grid: Grid) -> None:
    """Builds one member of every group on paper, so that a wrong setting is found before anything is trained."""
    tasks = TaskCache(grid.task)
    for settings in grid.members:
        net_free = {name: value for name, value in settings.items() if spec.OPTIONS[name].part == "fit"}
        spec.Settings(**net_free)
        if "tau" in settings:
            errors.positive("tau", settings["tau"])
        if settings.get("cores", 1) != 1:
            raise errors.ArgumentError(
                f"cores is {settings['cores']}, but a sweep trains a member on each core by itself; leave cores out."
            )
    for group in grid.groups:
        engines.member_bytes(group, tasks(group.settings))


def plan(grid: Grid, search: Sequence[str] = ()) -> dict[str, Any]:
    """What a sweep will cost: members, groups, compilations, updates, and memory at a time on this machine."""
    tasks = TaskCache(grid.task)
    members = grid.members
    every = range(len(members))
    searched = Search.of(grid, search) if search else None

    def sum_over(cost: Callable[[int], int]) -> int:
        return sum(map(cost, every)) if searched is None else searched.cost(every, cost)

    on_cpu = jax.default_backend() == "cpu"
    at_a_time, compilations = [], 0
    for group in grid.groups:
        task = tasks(group.settings)
        size = len(group.members)
        together = min(engines.workers_by_default(), size) if on_cpu else engines.chunk_size(group, task, size)
        at_a_time.append(together * engines.member_bytes(group, task))
        compilations += len(group.settings.get("schedule") or (1,))
    return {
        "members": sum_over(lambda index: 1),
        "groups": len(grid.groups),
        "compilations": compilations
        * (2 if search and not grid.tried and not on_cpu else 1),  # there groups have another size the second time
        "updates": sum_over(lambda index: _updates(members[index], tasks(members[index]))),
        "memory_bytes": max(at_a_time),
        "engine": "threads" if on_cpu else "one_program",
    }


def _epochs(settings: dict[str, Any]) -> int:
    return settings.get("epochs", spec.Settings.epochs)


def _updates(settings: dict[str, Any], task: Any) -> int:
    size = min(settings.get("batch_size", spec.Settings.batch_size), len(task.train))
    return _epochs(settings) * -(-len(task.train) // size)

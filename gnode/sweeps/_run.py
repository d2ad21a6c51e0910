"""A whole grid as one command: trained by an engine, stored in a folder, resumed after any kill."""

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, files, interrupts, own_code, progress_bar, training_code
from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.sweeps import _member
from gnode.sweeps._cost import check_grid, epochs_of
from gnode.sweeps._first_files import FirstFiles, check_free
from gnode.sweeps._folder import Sweep
from gnode.sweeps._lock import sweep_locked
from gnode.sweeps._member import MemberResult
from gnode.sweeps._member_checkpoints import MemberCheckpoints
from gnode.sweeps._part import Part
from gnode.sweeps.engines.base import Engine, Work
from gnode.sweeps.engines.registry import check_engine, make_engine
from gnode.sweeps.grid import Grid, TaskCache
from gnode.sweeps.stored import MEMBERS, SPEC, UNFINISHED
from gnode.tasks import Task

TABLE_SECONDS = 2.0
"""The table is rewritten whole, so not after each of thousands of members."""


@checked
def sweep(
    task: str | Task | Callable[..., Any],
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

    - `task`: a name or a file, as in `gnode.tasks.make`; a `Task`, which is stored with the sweep; or a function that draws
      a trial from a key, as in `gnode.tasks.generated`, or returns a task.
    - `out`: the folder, which must not hold a sweep yet.
    - `engine`: a name from `gnode.sweeps.ENGINES`; `address` of a Ray cluster; `workers`, the number of threads.
    - `progress`: a progress bar; by default on a terminal only.
    - `search`: names of settings, such as ("lr", "weight_decay"), that are tried with the first seed alone; the best of
      them, for each combination of the others, is repeated with the other seeds. Empty: every setting has every seed.
    - `search_with`: settings of the tries alone, such as {"epochs": 50}; the best setting is then trained with all seeds.
    - `prepare`: write the folder and train nothing, for processes that will each `resume_sweep` a part of it.
    - everything else: settings by name (`gnode sweep run --help` lists them); a list is an axis, anything else one value.
      A model may also be a class or a function that draws a cell; arguments that only these have are settings too.

    **Returns:** a `Sweep`: `.table()`, `.best(by="model")`, `.load(member)`.

    >>> import tempfile
    >>> small = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1}
    >>> sweep("flipflop-square", tempfile.mkdtemp(), lr=[1e-3, 1e-2], **small).status()["done"]
    2
    """
    own_code.check_not_importing()
    grid = Grid.over(task, search, search_with, **settings)
    given = task if isinstance(task, Task) else None
    check_grid(grid, TaskCache(grid.task, given))
    content = FirstFiles.of(grid, given, engine)
    folder = as_path("out", out)
    trainer = make_engine(engine, address=address, workers=workers)
    check_free(folder)
    with files.writing(folder):
        pass
    with sweep_locked(folder):  # before anything is written: of two processes that start at once, one is refused
        check_free(folder)
        content.write(folder)
        made = Sweep(folder, trust=True)
        return made if prepare else _complete(made, trainer, progress, given=given)


@checked
def resume_sweep(
    folder: str | Path,
    *,
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    part: Part | None = None,
    trust: bool = False,
    task: Task | None = None,
    own: Sequence[Callable[..., Any]] = (),
) -> Sweep:
    """Trains the members of a sweep that are not done yet. The final table is the same as without the interruption.

    **Arguments:**

    - `folder`: the sweep's folder.
    - `engine`: as in `sweep`; by default the one that the sweep was begun by. Another one rounds differently, so that what
      it trains agrees with the unbroken sweep to rounding errors only.
    - `address`, `workers`, `progress`: as in `sweep`.
    - `part`: a part to train, while other processes, on this machine or on others that see the folder, train the rest.
    - `trust`: run the copies of its author's own code in the folder, if it has any. Look at them first.
    - `task`: the task again, if its trials are drawn by a function of a notebook, which a folder cannot hold.
    - `own`: functions and classes of a notebook that the sweep names, again.

    **Returns:** the `Sweep`.

    >>> import tempfile
    >>> small = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1}
    >>> prepared = sweep("flipflop-square", tempfile.mkdtemp(), prepare=True, **small)
    >>> resume_sweep(prepared.folder).status()["done"]
    1
    """
    own_code.check_not_importing()
    if engine is not None:
        check_engine(engine, address=address, workers=workers)
    found = Sweep(folder, trust=trust)
    trainer = make_engine(engine or found.engine, address=address, workers=workers)
    own_code.remember(_given_again(found, own))
    with sweep_locked(found.folder, part):
        return _complete(found, trainer, progress, part, task)


def _given_again(found: Sweep, own: Sequence[Any]) -> dict[str, Any]:
    """Returns the objects of a notebook that a sweep names, by their names, if they have been passed again.

    **Raises:** `ArgumentError` if one is missing: another one of the same name may be a different one by now.
    """
    given = {own_code.MEMORY + str(getattr(one, "__name__", type(one).__name__)).strip("<>"): one for one in own}
    missing = [name for name in found.grid.own_names() if name.startswith(own_code.MEMORY) and name not in given]
    if missing:
        named = ", ".join(map(own_code.own_name, missing))
        raise errors.ArgumentError(
            f"{found.folder} was made with objects that no file holds ({errors.shortened(named, 200)}); pass them again: "
            f"gnode.resume_sweep(folder, own=[{own_code.own_name(missing[0])}, ...])."
        )
    return given


def _complete(
    found: Sweep, trainer: Engine, progress: bool | None, part: Part | None = None, given: Task | None = None
) -> Sweep:
    """Trains what is left of a sweep, or of a part of it, while its lock is held."""
    with found.own_code():
        return _complete_with(found, trainer, progress, part, given)


def _complete_with(
    found: Sweep, trainer: Engine, progress: bool | None, part: Part | None, given: Task | None
) -> Sweep:
    """Trains what is left, while the sweep's own code is in use."""
    mine = range(len(found.members)) if part is None else found.members_of(part)
    _member.set_aside_damaged(found.folder, [index for index in found.done() if index in mine])
    if part is None:
        for place in (found.folder, found.folder / MEMBERS, found.folder / UNFINISHED):
            files.remove_leftovers(place)
    if training_code.has_record(found.folder) and found.todo(part):
        training_code.record_code(found.folder, begun=True)
    training = _Training(found, trainer, found.tasks(given), progress, part)
    try:
        while todo := found.todo(part):
            training.round(todo)
    except KeyboardInterrupt:
        raise interrupts.Interrupted(found.folder) from None
    tabulated = -1
    while tabulated != len(found.done()):  # other parts may end while the table is being written
        tabulated = len(found.done())
        found.write_table()
    if part is None:
        files.remove_folder(found.folder / UNFINISHED)
    return found


@checked
def sweep_or_resume(
    task: str | Task | Callable[..., Any],
    out: str | Path,
    *,
    engine: str = "auto",
    progress: bool | None = None,
    search: Sequence[str] = (),
    search_with: Mapping[str, Any] | None = None,
    prepare: bool = False,
    **settings: Any,
) -> Sweep:
    """Trains a sweep, or, where `out` holds that very sweep already, what is left of it.

    **Arguments:** as in `sweep`.

    **Raises:** `StoreError` if the folder holds another sweep: results of different settings are never mixed.

    >>> import tempfile
    >>> small = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1}
    >>> folder = tempfile.mkdtemp()
    >>> [sweep_or_resume("flipflop-square", folder, **small).status()["done"] for _ in range(2)]
    [1, 1]
    """
    folder = as_path("out", out)
    how: dict[str, Any] = {"engine": engine, "progress": progress}
    again = how if engine != "auto" else how | {"engine": None}
    given = task if isinstance(task, Task) else None
    if not (folder / SPEC).exists():
        return sweep(task, folder, search=search, search_with=search_with, prepare=prepare, **how, **settings)
    there, wanted = Sweep(folder).grid, Grid.over(task, search, search_with, **settings)
    if (there.task, there.members, there.search) != (wanted.task, wanted.members, wanted.search):
        raise errors.StoreError(
            f"{folder} holds a sweep with other settings than these ({_differing(there, wanted)}); choose another folder, "
            f"or remove that one."
        )
    if {code.digest for code in Sweep(folder).copies().codes} != {
        code.digest for code in FirstFiles.of(wanted, given).copies.codes
    }:
        raise errors.StoreError(
            f"{folder} holds a sweep of the same settings whose own code was different; choose another folder, or remove "
            f"that one."
        )
    return Sweep(folder, trust=True) if prepare else _resume_same(folder, wanted, given, again)


def _resume_same(folder: Path, wanted: Grid, given: Task | None, how: dict[str, Any]) -> Sweep:
    """Resumes a sweep whose own code is that of this process."""
    objects = own_code.objects_in_memory(wanted.own_names())
    return resume_sweep(folder, **how, trust=True, task=given, own=tuple(objects.values()))


def _differing(there: Grid, wanted: Grid) -> str:
    """The names of the settings that differ."""
    names = dict.fromkeys([*there.axes, *wanted.axes])
    parts = [name for name in names if there.axes.get(name) != wanted.axes.get(name)]
    return ", ".join([*parts, *(["search"] if there.search != wanted.search else [])]) or "the task"


@dataclasses.dataclass(frozen=True)
class _Training:
    """A sweep, or a part of it, that is being trained by an engine."""

    sweep: Sweep
    engine: Engine
    tasks: TaskCache
    progress: bool | None
    part: Part | None

    def round(self, todo: list[int]) -> None:
        """Trains some members, with a progress bar over all of the sweep or part."""
        members, part = self.sweep.members, self.part
        mine = set(range(len(members))) if part is None else self.sweep.members_of(part)
        done = mine.intersection(self.sweep.done())
        before = sum(epochs_of(members[index]) for index in done)
        epochs = before + sum(epochs_of(members[index]) for index in todo)
        number = self.sweep.number(part)
        title = f"sweep of {number}" if part is None else f"part {part.number}/{part.of}: {number}"
        with progress_bar.epoch_bar(epochs, before, title, progress_bar.is_wanted(self.progress)) as update:
            record = _Recorder(self.sweep, update, before, len(done), number, keeps_table=part is None)
            due = self.sweep.due(part)
            self.engine.train(
                Work(self.sweep.grid, todo, self.tasks, record.deliver, record.tick, self.sweep.folder, due)
            )


class _Recorder:
    """Stores members as they come and updates the progress bar. Engines call it from their threads."""

    def __init__(
        self,
        sweep: Sweep,
        update: Callable[[int, str], None],
        before: int,
        done: int,
        number: int,
        *,
        keeps_table: bool,
    ):
        self._sweep, self._update, self._epochs = sweep, update, before
        self._copies = sweep.copies()
        self._done, self._number, self._keeps_table = done, number, keeps_table
        self._best = ""
        self._lowest = float("inf")
        self._lock = threading.Lock()
        self._table_written = 0.0

    def deliver(self, trained: MemberResult) -> None:
        with self._lock:
            _member.write(self._sweep.folder, trained, self._copies)
            MemberCheckpoints(self._sweep.folder).remove(trained.index)
            self._done += 1
            if trained.result["best_loss"] < self._lowest:
                self._lowest = trained.result["best_loss"]
                self._best = f"best {self._lowest:.4g} ({trained.config['spec']['model']})"
            if self._keeps_table and time.monotonic() - self._table_written > TABLE_SECONDS:
                self._sweep.write_table()
                self._table_written = time.monotonic()
            self._show()

    def tick(self, epochs: int) -> None:
        with self._lock:
            self._epochs += epochs
            self._show()

    def _show(self) -> None:
        self._update(self._epochs, f"{self._done}/{self._number} members  {self._best}")

"""The folder of a sweep: its members, its table, the best settings. `gnode.sweeps.stored` lists its files."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gnode import errors, files, own_code
from gnode.arguments import checked
from gnode.network import AbstractNetwork
from gnode.os_errors import as_path
from gnode.sweeps import _member, _table
from gnode.sweeps._part import Part
from gnode.sweeps.grid import TaskCache
from gnode.sweeps.stored import SPEC, TABLE, UNFINISHED, engine_of, read_grid
from gnode.tasks import Task
from gnode.tasks.file_record import recorded_file
from gnode.tasks.stored_task import TASK, read_task
from gnode.train import Run, load, run_folder, stored_code
from gnode.train.metrics import read_curves
from gnode.train.spec import OPTIONS, text_of
from gnode.train.stored_code import Copies


class Sweep:
    """A sweep and its results so far, read from its folder.

    - `folder`, `grid`, `members`: where it is, its grid, and the settings of every member.
    - `is_trusted`: whether the copies of its author's own code in the folder may be run.

    **Raises:** `StoreError` if the folder holds no sweep.

    No example: `gnode.sweep` returns it.
    """

    @checked
    def __init__(self, folder: str | Path, *, trust: bool = False):
        self.folder, self.is_trusted = as_path("folder", folder), trust
        self.grid, self._stored = read_grid(self.folder)
        self.members = self.grid.members
        self.search = self.grid.chooser()

    def tasks(self, given: Task | None = None) -> TaskCache:
        """Returns what makes the task of each member; `given` is the task itself, where it is one of arrays in memory.

        **Raises:** `StoreError` if the file of a task is gone or has changed.
        """
        name, file = self.grid.task, self._stored.get("file")
        if not self.grid.is_stored:
            return TaskCache(name if file is None else recorded_file(name, file))
        generator = self._stored.get("generator") if self.is_trusted else None
        draws = own_code.resolve(generator) if generator is not None and given is None else None
        return TaskCache(name, read_task(self.folder / TASK, draws) if given is None else given)

    def copies(self) -> Copies:
        """Returns the copies of the author's own code in the folder."""
        records = self._stored.get("code", [])
        codes = stored_code.read(self.folder, records)
        return Copies(tuple(codes[str(own_code.file_of(record["names"][0]))] for record in records), tuple(records))

    @property
    def engine(self) -> str:
        """The engine by which the sweep is resumed."""
        return engine_of(self._stored)

    def own_code(self) -> AbstractContextManager[None]:
        """Uses the copies in the folder in place of the files that they are copies of.

        **Raises:** `StoreError` if there are any, and nobody has said that they trust them.
        """
        records = self._stored.get("code", [])
        if records and not self.is_trusted:
            raise stored_code.untrusted(self.folder, records)
        return own_code.provided(stored_code.read(self.folder, records))

    def done(self) -> list[int]:
        """Returns the members that have been trained."""
        return [index for index in range(len(self.members)) if _member.is_done(self.folder, index)]

    def begun(self) -> int:
        """Returns how many members have a checkpoint: they are in training, or were when the sweep stopped."""
        return len(list((self.folder / UNFINISHED).glob("[0-9]*.npz")))

    @checked
    def todo(self, part: Part | None = None) -> list[int]:
        """Returns the members to train next, of one part or of all. In a search those that try settings come first."""
        return [index for index in self._due_or_tried(part) if not _member.is_done(self.folder, index)]

    @checked
    def due(self, part: Part | None = None) -> list[int]:
        """Returns the members that are trained together with those of `todo`, whether they are done or not."""
        if self.search is None:
            return self._due_or_tried(part)
        tries, todo = set(self.search.tries()), set(self.todo(part))
        trying = bool(todo & tries)
        return [index for index in self._due_or_tried(part) if (index in tries) == trying or index in todo]

    def _due_or_tried(self, part: Part | None) -> list[int]:
        """The members of this round of training; once settings have been tried, those of the tries that count as well."""
        mine = range(len(self.members)) if part is None else sorted(self.members_of(part))
        if self.search is None:
            return list(mine)
        tries = set(self.search.tries())
        ready = all(_member.is_done(self.folder, index) for index in tries.intersection(mine))
        wanted = set(self.counting()) if ready else tries
        return [index for index in mine if index in wanted]

    @checked
    def members_of(self, part: Part) -> set[int]:
        """Returns the members of a part of the sweep."""
        return part.members(self.grid, [] if self.search is None else self.search.choices)

    def counting(self) -> list[int]:
        """Returns the members that results are made of: all, or in a search all seeds of the best settings so far."""
        if self.search is None:
            return list(range(len(self.members)))
        return self.search.winners(self._loss)

    @checked
    def number(self, part: Part | None = None) -> int:
        """Returns how many members will be trained, in a part or in all; in a search fewer than the grid has."""
        within = range(len(self.members)) if part is None else self.members_of(part)
        return len(within) if self.search is None else self.search.cost(within)

    def _loss(self, index: int) -> float | None:
        return self.result(index)["best_loss"] if _member.is_done(self.folder, index) else None

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row per finished member, in order: its settings, how it ended, and in a search whether it counts."""
        names = [name for name in OPTIONS if any(name in settings for settings in self.members)]
        found, counting = [], set(self.counting())
        for index in self.done():
            settings, result = self.members[index], self.result(index)
            row = {"member": index, "task": self.grid.task}
            row |= {name: text_of(name, settings.get(name)) for name in names}
            if isinstance(setting := row.pop(_table.COUNTS, None), bool):  # a task's own; True and False are a search's
                row["counts" if self.search is None else "observation_counts"] = "yes" if setting else "no"
            tested = {f"test_{name}": value for name, value in (result.get("test") or {}).items()}
            counts = {} if self.search is None else {_table.COUNTS: index in counting}
            found.append(row | {name: result[name] for name in _table.OUTCOMES} | tested | counts)
        columns = {name: None for row in found for name in row}
        return [{name: row.get(name) for name in columns} for row in found]

    def counting_rows(self) -> list[dict[str, Any]]:
        """Returns the rows of the members that results are made of."""
        return [row for row in self.rows() if row.get(_table.COUNTS) is not False]

    def table(self) -> dict[str, list[Any]]:
        """Returns the rows as columns, as `pandas.DataFrame` and `polars.DataFrame` take them."""
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    @checked
    def result(self, index: int) -> dict[str, Any]:
        """Returns how a member ended."""
        index = self._index(index)
        ended = _member.read_result(self.folder, index)
        if "epochs_done" not in ended:  # written by an earlier version
            metrics = _member.folder_of(self.folder, index) / run_folder.METRICS
            ended["epochs_done"] = len(read_curves(metrics)["train"])
        return ended

    def seconds(self) -> float:
        """Returns the training time of all finished members together, in seconds."""
        return sum(self.result(index)["seconds"] for index in self.done())

    def devices(self) -> list[str]:
        """Returns the devices that the finished members were trained on, each once."""
        # The configuration of a member may have been removed with its weights; its result stays.
        configs = [_member.folder_of(self.folder, index) / run_folder.CONFIG for index in self.done()]
        stored = [run_folder.read_config(path.parent) for path in configs if path.exists()]
        found = [device for config in stored for device in config.get("devices", [])]
        return list(dict.fromkeys(found))

    @checked
    def load(self, index: int, *, like: AbstractNetwork | None = None) -> Run:
        """Loads the run of a member, with its trained network; `like` as in `gnode.load`."""
        index = self._index(index)
        if not _member.is_done(self.folder, index):
            raise errors.StoreError(f"member {index} of {self.folder} has not been trained yet; resume the sweep.")
        return load(self.member_folder(index), like=like, trust=self.is_trusted)

    @checked
    def member_folder(self, index: int) -> Path:
        """Returns the folder of a member, which is a run folder like any other."""
        index = self._index(index)
        return _member.folder_of(self.folder, index)

    def _index(self, index: int) -> int:
        if not 0 <= index < len(self.members):
            raise errors.ArgumentError(
                f"member is {errors.shown(index)}, but the sweep's members are 0 to {len(self.members) - 1}."
            )
        return int(index)

    @checked
    def best(self, by: str = "model") -> dict[Any, dict[str, Any]]:
        """Returns the best setting for each value of `by`: the one with the lowest mean over seeds of the minimum validation
        loss (in a search the settings are chosen with the first seed before).

        Each entry keeps apart what belongs to the setting and what to one run of it:

        - `setting`: the settings by name, without the seed.
        - `mean`, `std`, `seeds`: the minimum validation loss over the seeds, and their number.
        - `test`: the means over the same seeds of the test scores, as `loss` and `loss_std`; empty without test trials.
        - `best_member`: the `member` with the lowest loss among them, its `seed`, `best_loss`, `best_epoch`, and its end.
        """
        return _table.best_settings(self.counting_rows(), errors.one_of("by", by, OPTIONS))

    @checked
    def markdown(self, by: str = "model") -> str:
        """Returns the best settings as a Markdown table."""
        return _table.as_markdown(self.best(by), by, [name for name in self.grid.varying() if name not in (by, "seed")])

    def status(self) -> dict[str, int]:
        """Returns how many members there are, and how many are done, finished, stopped early and diverged."""
        ended = [_member.read_result(self.folder, index)["status"] for index in self.done()]
        counts = {kind: ended.count(kind) for kind in ("finished", "stopped", "diverged")}
        return {"members": self.number(), "done": len(ended), **counts}

    def table_text(self) -> str:
        """Returns the content of `results.csv`, as the members are now."""
        return _table.as_csv(self.rows())

    def write_table(self) -> None:
        """Brings `results.csv` up to date."""
        files.write_text(self.folder / TABLE, self.table_text())

    def __repr__(self) -> str:
        return f"Sweep({str(self.folder)!r}: {len(self.done())} of {self.number()} members of {self.grid.task} done)"


@checked
def open_sweep(folder: str | Path, *, trust: bool = False) -> Sweep:
    """Opens the sweep in a folder, finished or not, and trains nothing.

    **Arguments:** `folder`, the sweep's folder; `trust`, as in `gnode.load`, for `.load(member)`.

    **Returns:** the `Sweep`: `.table()`, `.best(by="model")`, `.load(member)`.

    **Raises:** `StoreError` if the folder holds no sweep.

    >>> import tempfile
    >>> from gnode import sweep
    >>> folder = tempfile.mkdtemp()
    >>> made = sweep("flipflop-square", folder, trials=4, bins=3, epochs=1, prepare=True)
    >>> open_sweep(folder).members == made.members
    True
    """
    return Sweep(folder, trust=trust)


@checked
def is_sweep(folder: str | Path) -> bool:
    """Whether a folder holds a sweep.

    >>> is_sweep("nowhere")
    False
    """
    return (as_path("folder", folder) / SPEC).exists()

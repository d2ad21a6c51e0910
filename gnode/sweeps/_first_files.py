"""What the folder of a sweep holds before anything is trained: its description, copies of code, a task of arrays."""

import dataclasses
from pathlib import Path
from typing import Any

from gnode import errors, files, provenance
from gnode.sweeps.grid import Grid
from gnode.sweeps.stored import SPEC
from gnode.tasks import Task
from gnode.tasks.file_record import record_file
from gnode.tasks.stored_task import TASK, write_task
from gnode.train import run_folder
from gnode.train.spec import own_parts
from gnode.train.stored_code import Copies


@dataclasses.dataclass(frozen=True)
class FirstFiles:
    """The description of a sweep, copies of the code of the user's own that it names, and its task if that has no name."""

    description: dict[str, Any]
    copies: Copies
    task: Task | None

    @classmethod
    def of(cls, grid: Grid, task: Task | None, engine: str = "auto") -> "FirstFiles":
        """Collects the content of the folder; nothing is written. `engine` is the one that was asked for.

        **Raises:** `ArgumentError` or `StoreError` if a file that the grid names cannot be read.
        """
        generator = None if task is None else run_folder.generator_name(task)
        copies = Copies.of([*grid.own_names(), generator])
        entries = {
            "task": grid.task,
            "file": None if grid.is_stored else record_file(grid.task),
            "axes": grid.axes,
            "search": grid.search,
            "search_with": grid.tried,
            "own_models": grid.own_models,
            "own_settings": own_parts({**grid.axes, **grid.tried}),
            "arrays": grid.is_stored,
            "engine": engine,
            "generator": generator,
            **copies.entry(),
        }
        wanted = ("task", "axes")
        described = {name: value for name, value in entries.items() if value or name in wanted}
        return cls({**described, "members": grid.members, **provenance.environment()}, copies, task)

    def write(self, folder: Path) -> None:
        """Writes the files. Call it while holding the folder's lock."""
        with files.writing(folder):
            self.copies.write(folder)
            if self.task is not None:
                write_task(folder / TASK, self.task)
            files.write_json(folder / SPEC, self.description)  # last: a folder without it holds no sweep


def check_free(folder: Path) -> None:
    """Raises a `StoreError` if a folder already holds a sweep."""
    if (folder / SPEC).exists():
        raise errors.StoreError(
            f"{folder} already holds a sweep; choose another folder, or resume it with gnode sweep resume {folder}."
        )

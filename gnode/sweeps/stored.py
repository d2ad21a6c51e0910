"""The files of a sweep's folder, and its description, from which it is resumed."""

from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from gnode import errors, files
from gnode.schema import StoredFile, unknown_names, written_by
from gnode.sweeps.grid import Grid
from gnode.tasks.file_record import FileRecord
from gnode.tasks.stored_task import TASK
from gnode.train.settings import with_present_names
from gnode.train.spec import OPTIONS, declare_stored
from gnode.train.stored_code import FOLDER as CODE
from gnode.train.stored_code import CodeRecord

SPEC, TABLE, MEMBERS, UNFINISHED, DAMAGED = "sweep.json", "results.csv", "members", "unfinished", "damaged"


class SweepRecord(TypedDict):
    """`sweep.json`."""

    task: Annotated[str, "name of the task, or of its file"]
    axes: Annotated[dict[str, list[Any]], "the values of every setting"]
    members: NotRequired[Annotated[list[dict[str, Any]], "the settings of every member, in order"]]
    file: NotRequired[Annotated[FileRecord, "the task's file"]]
    search: NotRequired[Annotated[list[str], "settings that are tried with the first seed alone"]]
    search_with: NotRequired[Annotated[dict[str, Any], "settings of the tries alone"]]
    code: NotRequired[Annotated[list[CodeRecord], "copies of files of the user's own"]]
    own_models: NotRequired[Annotated[dict[str, list[str]], "settings of models that are the user's own code"]]
    own_settings: NotRequired[Annotated[dict[str, str], "settings that only the user's own code has, with their part"]]
    arrays: NotRequired[Annotated[bool, "whether the task is one of arrays in memory, stored as task.npz"]]
    generator: NotRequired[Annotated[str, "the function that draws the trials of such a task"]]
    engine: NotRequired[Annotated[str, "the engine that was asked for, which also resumes it"]]
    versions: NotRequired[Annotated[dict[str, str], "of Python, gnode and the libraries"]]
    platform: NotRequired[Annotated[str, "operating system and processor"]]
    devices: NotRequired[Annotated[list[str], "devices that jax saw"]]
    commit: NotRequired[Annotated[str | None, "commit of gnode's source, with + if it was changed"]]


SPEC_FILE = StoredFile(SPEC, "the task, the axes, the members in order, versions and commit", SweepRecord)
FILES: tuple[StoredFile[Any], ...] = (
    SPEC_FILE,
    StoredFile(TABLE, "one row per finished member: settings, status, minimum validation loss, its epoch"),
    StoredFile("members/0007/", "the run folder of member 7 (`gnode.load`, `gnode analyse` take it)"),
    StoredFile(
        "unfinished/0007.npz", "checkpoint of member 7 while it trains, with the one before it; removed at the end"
    ),
    StoredFile(TASK, "the trials of a task that was made of arrays in memory"),
    StoredFile(f"{CODE}/*.py", "copies of the files of the user's own that it was made with; run only with `--trust`"),
    StoredFile("damaged/0007/", "member 7 as it was before it was found to be damaged and trained again"),
)


def engine_of(stored: SweepRecord) -> str:
    """Returns the engine by which a sweep is resumed: the one that it was begun by, because each rounds differently.

    That of a cluster is not asked for again: its members are trained one by one, as by threads.
    """
    engine = stored.get("engine", "auto")
    return engine if engine in ("threads", "one_program") else "auto"


def read_grid(folder: Path) -> tuple[Grid, SweepRecord]:
    """Reads the grid of the sweep in a folder, and all that is stored with it.

    **Raises:** `StoreError` if there is none, or it is damaged, or it has settings that this version does not know.
    """
    path = folder / SPEC
    if not path.exists():
        raise errors.StoreError(f"{folder} holds no sweep (no {SPEC} in it).")
    stored = files.read_json(path)
    if not isinstance(stored, dict) or not {"task", "axes"} <= stored.keys():
        raise errors.StoreError(f"{path} is not the description of a sweep; pass the folder of a sweep.")
    SPEC_FILE.check(stored, path)
    stored["axes"] = with_present_names(stored["axes"])
    tried = with_present_names(stored.get("search_with", {}))
    examples = {name: values[0] for name, values in stored["axes"].items() if values} | tried
    declare_stored(stored.get("own_settings", {}), examples)
    if unknown := [name for name in {**stored["axes"], **tried} if name not in OPTIONS]:
        raise errors.StoreError(unknown_names(path, unknown, written_by(stored)))
    axes = {name: tuple(_as_value(value) for value in values) for name, values in stored["axes"].items()}
    try:
        grid = Grid(
            stored["task"],
            axes,
            tuple(stored.get("search", ())),
            {name: _as_value(value) for name, value in tried.items()},
            {name: tuple(options) for name, options in stored.get("own_models", {}).items()},
            stored.get("arrays", False),
        )
        grid.check_values()
        grid.chooser()
        if len(stored.get("members", grid.members)) != len(grid.members):
            raise errors.ArgumentError(f"its axes make {len(grid.members)} members, but it lists another number")
    except errors.ArgumentError as problem:
        raise files.damaged(path, str(problem)) from problem
    return grid, stored  # type: ignore[return-value]


def _as_value(value: Any) -> Any:
    """Turns the lists of JSON back into tuples."""
    return tuple(_as_value(part) for part in value) if isinstance(value, list) else value

"""The folder of a run: plain files, each of which appears complete or not at all. `FILES` lists them."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from jaxtyping import PyTree

from gnode import errors, files, own_code, provenance
from gnode.network import AbstractNetwork
from gnode.schema import StoredFile, unknown_names, written_by
from gnode.tasks import Task
from gnode.tasks.file_record import FileRecord, record_file
from gnode.tasks.stored_task import TASK, is_in_memory, write_task
from gnode.train import serialisation
from gnode.train.checkpoint import Checkpoint, write_checkpoint
from gnode.train.metrics import curves_as_csv
from gnode.train.own_objects import as_stored, from_stored
from gnode.train.settings import Settings, with_present_names
from gnode.train.stored_code import FOLDER as CODE
from gnode.train.stored_code import CodeRecord, Copies, names_in
from gnode.types import Key, plain_key

CONFIG, WEIGHTS, METRICS, CHECKPOINT, RESULT = (
    "config.json",
    "weights.npz",
    "metrics.csv",
    "checkpoint.npz",
    "result.json",
)


class TaskRecord(TypedDict):
    """The task of a run in `config.json`."""

    name: Annotated[str, "name of the task, or of its file"]
    options: Annotated[dict[str, Any] | None, "its options; null for a task made of arrays in memory"]
    file: NotRequired[Annotated[FileRecord, "its file"]]
    generator: NotRequired[Annotated[str, "the function that draws its trials, for a task made of arrays in memory"]]


class RunConfig(TypedDict):
    """`config.json`."""

    task: Annotated[TaskRecord, "the task and its options"]
    settings: Annotated[dict[str, Any], "hyper-parameters of training, those of `gnode.train.Settings`"]
    key: Annotated[int | list[int], "seed, or the numbers inside a jax key"]
    network: Annotated[dict[str, Any], "structure of the network: classes, options, shapes of arrays"]
    spec: NotRequired[Annotated[dict[str, Any], "what the command was given"]]
    code: NotRequired[Annotated[list[CodeRecord], "copies of files of the user's own"]]
    versions: NotRequired[Annotated[dict[str, str], "of Python, gnode and the libraries"]]
    platform: NotRequired[Annotated[str, "operating system and processor"]]
    devices: NotRequired[Annotated[list[str], "devices that jax saw"]]
    commit: NotRequired[Annotated[str | None, "commit of gnode's source, with + if it was changed"]]


class RunResult(TypedDict):
    """`result.json`."""

    status: Annotated[Literal["finished", "stopped", "diverged"], "how it ended"]
    best_loss: Annotated[float, "lowest validation loss"]
    best_epoch: Annotated[int, "the epoch it was found in, from 1"]
    diverged_at: Annotated[int | None, "the update at which it diverged"]
    seconds: Annotated[float, "time spent in training"]
    epochs_done: NotRequired[Annotated[int, "epochs trained"]]
    test: NotRequired[Annotated[dict[str, float] | None, "scores of the best network on the test trials"]]
    reason: NotRequired[Annotated[str, "for which a callback stopped it"]]


class RunLogs(TypedDict):
    """`logs.json`."""

    wandb: NotRequired[Annotated[str, "the identifier of the run in Weights & Biases"]]
    mlflow: NotRequired[Annotated[str, "the identifier of the run in MLflow"]]


CONFIG_FILE = StoredFile(
    CONFIG, "all that is needed to run it again: task, network, settings, key, versions", RunConfig, is_open=True
)
RESULT_FILE = StoredFile(RESULT, "how it ended; present only when it has", RunResult)
LOGS_FILE = StoredFile("logs.json", "what the run is called in the logs of other programs, if there are any", RunLogs)
FILES: tuple[StoredFile[Any], ...] = (
    CONFIG_FILE,
    StoredFile(WEIGHTS, "the network with the best validation loss, an array per parameter"),
    StoredFile(METRICS, "one row per epoch"),
    StoredFile(CHECKPOINT, "the whole training state and the metrics so far: what `--resume` starts from"),
    StoredFile(
        f"{CHECKPOINT}.before", "the checkpoint before that, should the last one be damaged; removed at the end"
    ),
    RESULT_FILE,
    LOGS_FILE,
    StoredFile(
        TASK, "the trials of a task that was made of arrays in memory (of a sweep's members: in the sweep's folder)"
    ),
    StoredFile(f"{CODE}/*.py", "copies of the files of the user's own that it was made with; run only with `--trust`"),
    StoredFile("film/000010.npz", "the weights of epoch 10, if the run was trained with `--film`"),
)


def read_config(folder: Path) -> RunConfig:
    """Reads the configuration of the run in a folder.

    **Raises:** `StoreError` if there is none, or it is damaged.
    """
    path = folder / CONFIG
    if not path.exists():
        raise errors.StoreError(f"{folder} holds no run (no {CONFIG} in it).")
    value = files.read_json(path)
    if not isinstance(value, dict) or "network" not in value:
        raise errors.StoreError(
            f"{path} is not the configuration of a run; pass the folder of a run, such as runs/square."
        )
    CONFIG_FILE.check(value, path)
    return value  # type: ignore[return-value]


def read_settings(config: RunConfig, folder: Path) -> Settings:
    """Reads the settings in the configuration of a run. An object that the folder only names is a `Missing` one.

    **Raises:** `StoreError` for a setting that this version does not know, or a value that it refuses.
    """
    path, stored = folder / CONFIG, with_present_names(config["settings"])
    if unknown := [name for name in stored if name not in Settings.__dataclass_fields__]:
        raise errors.StoreError(unknown_names(path, unknown, written_by(config)))
    try:
        return Settings(**from_stored(stored))
    except errors.ArgumentError as problem:
        raise files.damaged(path, str(problem)) from problem


def read_result(folder: Path) -> RunResult | None:
    """Reads how the run in a folder ended; None if it has not.

    **Raises:** `StoreError` if the file is damaged.
    """
    path = folder / RESULT
    return RESULT_FILE.read(path) if path.exists() else None


def copies(net: AbstractNetwork, task: Task, settings: Settings, extra: dict[str, Any]) -> Copies:
    """Copies the code of the user's own that a run is made with."""
    spec = extra.get("spec", {})
    names = [task.name if task.options is not None else None, spec.get("model"), generator_name(task)]
    return Copies.of([*names, *names_in(settings)], serialisation.classes_of(net))


def generator_name(task: Task) -> str | None:
    """Returns the name of the user's function that draws the trials of a task in memory, if it has one."""
    function = getattr(task.generator, "function", None) if is_in_memory(task) else None
    return None if function is None or not hasattr(function, "__name__") else own_code.name_of_object(function)


def config(
    net: AbstractNetwork,
    task: Task,
    settings: Settings,
    key: Key,
    extra: dict[str, Any],
    copied: Copies | None = None,
) -> dict[str, Any]:
    """Returns all that is needed to run a network again, as `config.json` holds it."""
    file = None if task.options is None else record_file(task.name)
    generator = generator_name(task)
    return {
        "task": {
            "name": task.name,
            "options": task.options,
            **({"file": file} if file else {}),
            **({"generator": generator} if generator else {}),
        },
        "settings": as_stored({field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}),
        "key": plain_key(key),
        "network": serialisation.describe(net),
        **extra,
        **({} if copied is None else copied.entry()),
        **provenance.environment(),
    }


def cores_of(folder: Path) -> int:
    """Returns on how many cores the run in a folder trains; 1 if its configuration cannot be read."""
    try:
        return read_config(folder)["network"]["fields"]["solver"]["fields"]["cores"]
    except (errors.GnodeError, KeyError, TypeError):
        return 1


def check_free(folder: Path) -> None:
    """Raises a `StoreError` if a folder already holds a run, or is a file."""
    if (folder / CONFIG).exists():
        raise errors.StoreError(
            f"{folder} already holds a run; choose another folder, or continue that run with --resume {folder}."
        )
    if folder.exists() and not folder.is_dir():
        raise errors.StoreError(f"{folder} is a file, but a run needs a folder.")


def create(folder: Path, config: dict[str, Any], initial: AbstractNetwork, task: Task, copied: Copies) -> None:
    """Writes the first files of a run. Call it while holding the folder's lock.

    **Raises:** `StoreError` if the folder already holds a run, or cannot be written.
    """
    check_free(folder)
    with files.writing(folder):
        if is_in_memory(task):
            write_task(folder / TASK, task)
        copied.write(folder)
        files.write_arrays(folder / WEIGHTS, serialisation.to_arrays(initial))
        files.write_json(folder / CONFIG, config)  # last: a folder without it holds no run


def save(folder: Path, checkpoint: Checkpoint, best: AbstractNetwork) -> None:
    """Saves a checkpoint. `checkpoint.npz` alone decides where a run resumes; the other files follow from it.

    **Raises:** `StoreError` if the folder cannot be written, or has been removed.
    """
    _check_there(folder)
    write_checkpoint(folder / CHECKPOINT, checkpoint)
    files.write_arrays(folder / WEIGHTS, serialisation.to_arrays(best))
    files.write_text(folder / METRICS, curves_as_csv(checkpoint.curves))


def finish(folder: Path, result: dict[str, Any]) -> None:
    """Writes how a run ended.

    **Raises:** `StoreError` if the folder cannot be written, or has been removed.
    """
    _check_there(folder)
    files.write_json(folder / RESULT, result)
    files.remove(files.before(folder / CHECKPOINT))


def _check_there(folder: Path) -> None:
    if not (folder / CONFIG).exists():  # a folder that is made again without it would hold no run
        raise errors.StoreError(
            f"{folder} was removed, or moved, while its run was training, so it cannot be stored there."
        )


def load_weights(folder: Path, like: PyTree) -> PyTree:
    """Reads the best weights of a run into a network of the same structure."""
    return serialisation.from_arrays(like, files.read_arrays(folder / WEIGHTS), str(folder / WEIGHTS))

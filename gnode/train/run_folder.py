"""The folder of a run: plain files, each of which appears complete or not at all.

| file             | what it holds                                                                        |
|------------------|--------------------------------------------------------------------------------------|
| `config.json`    | all that is needed to run it again: task, network, settings, key, versions, commit   |
| `weights.npz`    | the network with the best validation loss, an array per parameter                    |
| `metrics.csv`    | one row per epoch                                                                    |
| `checkpoint.npz` | the whole training state and the metrics so far: what `--resume` starts from         |
| `result.json`    | how it ended; present only when it has                                               |
"""

import dataclasses
from pathlib import Path
from typing import Any

from jaxtyping import PyTree

from gnode import errors, files, provenance
from gnode.network import AbstractNetwork
from gnode.tasks import Task
from gnode.tasks.file_record import record_file
from gnode.train import serialisation
from gnode.train.checkpoint import Checkpoint, write_checkpoint
from gnode.train.metrics import curves_as_csv
from gnode.train.settings import Settings
from gnode.types import Key, plain_key

CONFIG, WEIGHTS, METRICS, CHECKPOINT, RESULT = (
    "config.json",
    "weights.npz",
    "metrics.csv",
    "checkpoint.npz",
    "result.json",
)


def config(net: AbstractNetwork, task: Task, settings: Settings, key: Key, extra: dict[str, Any]) -> dict[str, Any]:
    """Returns all that is needed to run a network again, as `config.json` holds it."""
    file = None if task.options is None else record_file(task.name)
    return {
        "task": {"name": task.name, "options": task.options, **({"file": file} if file else {})},
        "settings": dataclasses.asdict(settings),
        "key": plain_key(key),
        "network": serialisation.describe(net),
        **extra,
        **provenance.environment(),
    }


def cores_of(folder: Path) -> int:
    """Returns on how many cores the run in a folder trains; 1 if its configuration cannot be read."""
    try:
        return files.read_json(folder / CONFIG)["network"]["fields"]["solver"]["fields"]["cores"]
    except (errors.GnodeError, OSError, KeyError, TypeError):
        return 1


def check_free(folder: Path) -> None:
    """Raises a `StoreError` if a folder already holds a run, or is a file."""
    if (folder / CONFIG).exists():
        raise errors.StoreError(
            f"{folder} already holds a run; choose another folder, or continue that run with --resume {folder}."
        )
    if folder.exists() and not folder.is_dir():
        raise errors.StoreError(f"{folder} is a file, but a run needs a folder.")


def create(folder: Path, config: dict[str, Any], initial: AbstractNetwork) -> None:
    """Writes the first files of a run. Call it while holding the folder's lock.

    **Raises:** `StoreError` if the folder already holds a run, or cannot be written.
    """
    check_free(folder)
    with files.writing(folder):
        files.write_arrays(folder / WEIGHTS, serialisation.to_arrays(initial))
        files.write_json(folder / CONFIG, config)


def save(folder: Path, checkpoint: Checkpoint, best: AbstractNetwork) -> None:
    """Saves a checkpoint. `checkpoint.npz` alone decides where a run resumes; the other files follow from it.

    **Raises:** `StoreError` if the folder cannot be written, or has been removed.
    """
    _check_there(folder)
    with files.writing(folder):
        write_checkpoint(folder / CHECKPOINT, checkpoint)
        files.write_arrays(folder / WEIGHTS, serialisation.to_arrays(best))
        files.write_text(folder / METRICS, curves_as_csv(checkpoint.curves))


def finish(folder: Path, result: dict[str, Any]) -> None:
    """Writes how a run ended.

    **Raises:** `StoreError` if the folder cannot be written, or has been removed.
    """
    _check_there(folder)
    with files.writing(folder):
        files.write_json(folder / RESULT, result)


def _check_there(folder: Path) -> None:
    if not (folder / CONFIG).exists():  # a folder that is made again without it would hold no run
        raise errors.StoreError(
            f"{folder} was removed, or moved, while its run was training, so it cannot be stored there."
        )


def load_weights(folder: Path, like: PyTree) -> PyTree:
    """Reads the best weights of a run into a network of the same structure."""
    return serialisation.from_arrays(like, files.read_arrays(folder / WEIGHTS), str(folder / WEIGHTS))

"""The examination of a run's folder."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files
from gnode.doctor._problem import Problem, leftovers, links, set_aside
from gnode.locks import LOCK
from gnode.train import run_folder, serialisation
from gnode.train.metrics import METRIC_NAMES, curves_as_csv, read_curves
from gnode.train.run_folder import CHECKPOINT, CONFIG, METRICS, RESULT, WEIGHTS
from gnode.train.spec import RunSpec
from gnode.wording import plural

Arrays = dict[str, np.ndarray]


def examine_run(folder: Path) -> tuple[list[str], list[Problem]]:
    """Looks at every file of a run; returns what is well and what is not."""
    config, problems = _config(folder)
    checkpoint, of_checkpoint = _checkpoint(folder)
    problems += of_checkpoint
    problems += _result(folder, checkpoint)
    problems += _weights(folder, config, checkpoint)
    problems += _metrics(folder, checkpoint)
    problems += links(folder, LOCK, *(file.name for file in run_folder.FILES)) + leftovers(folder)
    return _facts(folder, checkpoint), problems


def _facts(folder: Path, checkpoint: Arrays | None) -> list[str]:
    ended = _read(run_folder.read_result, folder)
    if ended is not None:
        return [f"The run has {ended['status']}; best validation loss {ended['best_loss']:.4g}."]
    if checkpoint is not None:
        epochs = plural(int(checkpoint["epoch"]), "epoch")
        return [f"The run was interrupted after {epochs}; go on with gnode train --resume {folder}."]
    return [f"The run has no checkpoint yet; begin with gnode train --resume {folder}."]


def _read(read: Any, *arguments: Any) -> Any:
    """What a function reads; None if it is damaged."""
    try:
        return read(*arguments)
    except errors.GnodeError:
        return None


def _config(folder: Path) -> tuple[run_folder.RunConfig | None, list[Problem]]:
    try:
        config = run_folder.read_config(folder)
        run_folder.read_settings(config, folder)
        return config, []
    except errors.StoreError as problem:
        remedy = (
            "It says what the network is, so the run cannot be loaded without it; numpy.load reads the arrays of "
            f"{WEIGHTS}."
        )
        return None, [Problem(folder / CONFIG, str(problem), remedy)]


def _checkpoint(folder: Path) -> tuple[Arrays | None, list[Problem]]:
    """The arrays of the last checkpoint that can be read."""
    path, older = folder / CHECKPOINT, files.before(folder / CHECKPOINT)
    problems: list[Problem] = []
    for one in (path, older):
        if not one.exists():
            continue
        try:
            arrays = files.read_arrays(one)
            if not {"epoch", *(f"metrics/{name}" for name in METRIC_NAMES)} <= arrays.keys():
                raise files.damaged(one, "it lacks its metrics or its epoch")
            return arrays, problems
        except errors.StoreError as problem:
            problems.append(Problem(one, str(problem), _without(folder, one), lambda one=one: set_aside(one)))
    if not problems and (folder / METRICS).exists() and not (folder / RESULT).exists():
        problems.append(Problem(path, f"{path} is lost.", _without(folder, path)))
    return None, problems


def _without(folder: Path, damaged: Path) -> str:
    """What is left without a checkpoint."""
    if damaged.name == CHECKPOINT and files.before(damaged).exists():
        return "The one before it takes its place, and leads to the same numbers."
    if (folder / RESULT).exists():
        return "The run has ended, so it is not needed any more."
    return "The run cannot be resumed; its best weights so far can be loaded, and it can be trained again elsewhere."


def _result(folder: Path, checkpoint: Arrays | None) -> list[Problem]:
    try:
        run_folder.read_result(folder)
        return []
    except errors.StoreError as problem:
        if checkpoint is None:
            return [Problem(folder / RESULT, str(problem), "How the run ended is lost; its weights can be used.")]
        remedy = f"It is set aside, and gnode train --resume {folder} makes it again from the last checkpoint."
        return [Problem(folder / RESULT, str(problem), remedy, lambda: set_aside(folder / RESULT))]


def _metrics(folder: Path, checkpoint: Arrays | None) -> list[Problem]:
    path = folder / METRICS
    try:
        epochs = len(read_curves(path)["train"])
        what = f"{path} has {plural(epochs, 'epoch')}, but the checkpoint has another number."
        if checkpoint is None or epochs == int(checkpoint["epoch"]):
            return []
    except errors.StoreError as problem:
        what = str(problem)
    if checkpoint is None:
        return [Problem(path, what, "The losses of its epochs are lost.")]
    curves = {name: checkpoint[f"metrics/{name}"] for name in METRIC_NAMES}
    remedy = "They are in the checkpoint as well, from which the file is written again."
    return [Problem(path, what, remedy, lambda: files.write_text(path, curves_as_csv(curves)))]


def _weights(folder: Path, config: run_folder.RunConfig | None, checkpoint: Arrays | None) -> list[Problem]:
    path = folder / WEIGHTS
    if config is None:
        return []
    try:
        run_folder.load_weights(folder, serialisation.rebuild(config["network"], str(folder / CONFIG)))
        return []
    except errors.StoreError as problem:
        if "that gnode does not have" in str(problem):  # a network of the user's own: only its file can be looked at
            return [] if _read(files.read_arrays, path) else [Problem(path, str(problem), "The weights are lost.")]
        arrays = None if checkpoint is None else _best_of(config, checkpoint)
        if arrays is None:
            return [Problem(path, str(problem), "The weights are lost: no checkpoint has them.")]
        remedy = "The best weights are in the checkpoint as well, from which the file is written again."
        return [Problem(path, str(problem), remedy, lambda: files.write_arrays(path, arrays))]


def _best_of(config: run_folder.RunConfig, checkpoint: Arrays) -> Arrays | None:
    """The best network as its checkpoint has it. Arrays that are not trained are drawn again as the command drew them."""
    best = {name.removeprefix("state.best"): values for name, values in checkpoint.items()}
    like = _read(serialisation.rebuild, config["network"])
    if like is None:
        return None
    missing = [name for name in serialisation.to_arrays(like) if name not in best]
    if missing:
        spec = config.get("spec")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = spec and _read(lambda: RunSpec(config["task"]["name"], spec).realise()[0])
        if not drawn:
            return None
        arrays = serialisation.to_arrays(drawn)
        if not set(missing) <= arrays.keys():
            return None
        best |= {name: arrays[name] for name in missing}
    filled = _read(serialisation.from_arrays, like, best, "the checkpoint")
    return None if filled is None else serialisation.to_arrays(filled)

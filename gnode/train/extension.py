"""Training a run for more epochs than it was begun with."""

import dataclasses
from pathlib import Path
from typing import Any

from gnode import errors, files
from gnode.train import run_folder
from gnode.train._run import Run
from gnode.train.checkpoint import Checkpoint
from gnode.train.settings import Settings
from gnode.wording import plural


def check_longer(run: Run, epochs: int) -> bool:
    """Whether a run is to be trained for more epochs than its settings say, or than it has been trained for.

    **Raises:** `ArgumentError` for a run that diverged, or that has been trained for more epochs already.
    """
    errors.whole("epochs", epochs)
    if epochs < run.epochs_done or epochs < run.settings.epochs:
        most = max(run.epochs_done, run.settings.epochs)
        raise errors.ArgumentError(
            f"epochs is {epochs}, but {run.folder} is a run of {plural(most, 'epoch')} already; pass more than that."
        )
    if run.status == "diverged":
        raise errors.ArgumentError(f"{run.folder} diverged, so it cannot be trained any longer; train it anew.")
    return epochs > run.settings.epochs or (epochs > run.epochs_done and run.status == "stopped")


def extend(folder: Path, settings: Settings, config: dict[str, Any], epochs: int) -> tuple[Settings, dict[str, Any]]:
    """Makes a run in a folder one of so many epochs that has not ended. Call it while holding the folder's lock.

    The last stage of growing spans becomes longer. A learning rate that falls towards the last epoch falls more slowly from
    here on, since that epoch is a later one.
    """
    spans = settings.spans
    if spans is not None:
        spans = (*spans[:-1], (spans[-1][0], spans[-1][1] + epochs - settings.epochs))
    longer = dataclasses.replace(settings, epochs=epochs, spans=spans)
    changed = {"epochs": epochs, **({} if spans is None else {"spans": spans})}
    config = {**config, "settings": {**config["settings"], **changed}}
    if "spec" in config:
        config["spec"] = {**config["spec"], **changed}
    with files.writing(folder):
        files.write_json(folder / run_folder.CONFIG, config)
        files.remove(folder / run_folder.RESULT)
    return longer, config


def going_on(checkpoint: Checkpoint) -> Checkpoint:
    """Returns a checkpoint from which training goes on, also one where patience had run out."""
    state = dataclasses.replace(checkpoint.state, stopped=checkpoint.state.stopped & False)
    return checkpoint._replace(state=state)

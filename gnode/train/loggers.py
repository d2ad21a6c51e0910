"""Ready callbacks that write to TensorBoard, Weights & Biases and MLflow.

Each needs an extra of gnode, and imports its package when the first epoch has ended. The settings become hyper-parameters,
all metrics are written after every epoch, the best loss at the end. A run that is resumed goes on in the same log: what it
is called there is kept in the run's folder.
"""

import importlib
import importlib.util
import json
import math
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnode import errors, files
from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.train.callbacks import Callback, Moment

if TYPE_CHECKING:
    from gnode.train._run import Run

__all__ = ["MLflow", "TensorBoard", "WeightsAndBiases", "hyper_parameters", "logger_of"]

FLUSH_SECONDS = 5
"""How old metrics become before they are in the file or database: to write them one by one takes longer than an epoch."""


class _Logger(Callback):
    """Opens a log when there is something to write, writes every epoch, and the best loss at the end."""

    def __init__(self, package: str, extra: str):
        self._log: Any = None
        self._has_ended = False
        self._package = package
        if importlib.util.find_spec(package) is None:
            raise errors.GnodeError(
                f"{type(self).__name__} needs the extra gnode[{extra}]: pip install 'gnode[{extra}]'."
            )

    def after_epoch(self, moment: Moment) -> None:
        if self._log is None:
            self._log = self._open(moment.run_config, moment.folder, moment.epoch)
            curves = moment.curves
            for epoch in range(self._first_missing(moment.epoch), moment.epoch):  # a kill may have lost some
                self._write(epoch, {name: float(values[epoch - 1]) for name, values in curves.items()})
        self._write(moment.epoch, moment.metrics)

    def at_end(self, run: "Run") -> None:
        if self._log is None:  # resumed after its last epoch
            self._log = self._open(run.config, run.folder, run.epochs_done)
        self._conclude(run)
        self._has_ended = True

    def close(self) -> None:
        if self._log is not None:
            log, self._log = self._log, None
            self._close(log)
        self._has_ended = False

    def _imported(self, part: str = "") -> Any:
        return importlib.import_module(self._package + part)

    def _open(self, config: dict[str, Any], folder: Path | None, epoch: int) -> Any:
        """Returns the log of a run, before the first epoch that is written to it."""
        raise NotImplementedError

    def _first_missing(self, epoch: int) -> int:
        """Returns the first epoch that the log lacks, at most `epoch`, when it has just been opened."""
        return epoch

    def _write(self, epoch: int, metrics: dict[str, float]) -> None:
        raise NotImplementedError

    def _conclude(self, run: "Run") -> None:
        """Writes how a run ended."""
        raise NotImplementedError

    def _close(self, log: Any) -> None:
        raise NotImplementedError


class TensorBoard(_Logger):
    """Writes a run for TensorBoard (the extra `gnode[tensorboard]`). Look at it with `tensorboard --logdir FOLDER`.

    A run that is resumed writes a further file with all epochs to the same folder, by which TensorBoard drops the others.

    **Arguments:** `folder`: of the event files; one for each run.

    No example: it needs the extra.
    """

    @checked
    def __init__(self, folder: str | Path):
        self.folder = as_path("folder", folder)
        super().__init__("tensorboardX", "tensorboard")
        with files.writing(self.folder):
            pass

    def _open(self, config: dict[str, Any], folder: Path | None, epoch: int) -> Any:
        writer = self._imported().SummaryWriter(
            logdir=str(self.folder),
            purge_step=1 if epoch > 1 else None,
            flush_secs=FLUSH_SECONDS,
            filename_suffix=f".{epoch}",  # else two that are opened in the same second would be one
        )
        rows = [f"| {name} | {value} |" for name, value in hyper_parameters(config).items()]
        writer.add_text("settings", "\n".join(["| setting | value |", "|---|---|", *rows]), epoch)
        return writer

    def _first_missing(self, epoch: int) -> int:
        return 1

    def _write(self, epoch: int, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            self._log.add_scalar(name, value, epoch)

    def _conclude(self, run: "Run") -> None:
        self._log.add_scalar("best_loss", run.best_loss, run.epochs_done)
        self._log.add_hparams(
            hyper_parameters(run.config),
            {"hparams/best_loss": run.best_loss},
            name="hparams",
            global_step=run.best_epoch,
        )

    def _close(self, log: Any) -> None:
        log.close()


class WeightsAndBiases(_Logger):
    """Writes a run for Weights & Biases (the extra `gnode[wandb]`).

    **Arguments:**

    - `project`: its name.
    - `offline`: whether nothing is sent: the log is in the run's folder, or in the present one, until `wandb sync`.
    - `entity`: the user or team; that of your account by default.
    - `name`: of the run; that of its folder by default.

    No example: it needs the extra.
    """

    @checked
    def __init__(self, project: str, *, offline: bool = True, entity: str | None = None, name: str | None = None):
        self.project, self.offline, self.entity, self.name = _name("project", project), offline, entity, name
        if len(project) > 128 or any(letter in project for letter in "/\\#?%:"):
            raise errors.ArgumentError(
                f"project is {errors.shown(project)}, but must have at most 128 letters, and none of / \\ # ? % and :."
            )
        super().__init__("wandb", "wandb")

    def _open(self, config: dict[str, Any], folder: Path | None, epoch: int) -> Any:
        wandb = self._imported()
        known = _stored_name(folder, "wandb")
        log = wandb.init(
            project=self.project,
            entity=self.entity,
            name=self.name or (None if folder is None else folder.name),
            id=known,
            resume=None if known is None else "allow",
            dir=None if folder is None else str(folder),
            config=hyper_parameters(config),
            mode="offline" if self.offline else "online",
            reinit="create_new",  # a run of the user's own goes on beside it
            settings={"console": "off", "silent": self.offline},
        )
        _store_name(folder, "wandb", log.id)
        return log

    def _write(self, epoch: int, metrics: dict[str, float]) -> None:
        self._log.log(metrics, step=epoch)

    def _conclude(self, run: "Run") -> None:
        self._log.summary.update({"best_loss": run.best_loss, "best_epoch": run.best_epoch, "status": run.status})

    def _close(self, log: Any) -> None:
        log.finish(exit_code=0 if self._has_ended else 1)


class MLflow(_Logger):
    """Writes a run for MLflow (the extra `gnode[mlflow]`).

    **Arguments:**

    - `experiment`: its name; it is made if it is not there.
    - `tracking_uri`: the address of a server or database, or a folder for `mlflow.db`; MLflow's own choice by default. Look
      at a folder with `mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db`.
    - `name`: of the run; that of its folder by default.

    No example: it needs the extra.
    """

    @checked
    def __init__(self, experiment: str, tracking_uri: str | Path | None = None, *, name: str | None = None):
        self.experiment, self.name = _name("experiment", experiment), name
        is_address = tracking_uri is None or "://" in str(tracking_uri) or str(tracking_uri) == "databricks"
        folder = None if is_address else as_path("tracking_uri", tracking_uri)  # type: ignore[arg-type]
        super().__init__("mlflow", "mlflow")
        if folder is not None:
            with files.writing(folder):
                pass
        self.tracking_uri = tracking_uri if folder is None else f"sqlite:///{folder.resolve() / 'mlflow.db'}"
        self._run_id, self._waiting, self._written_at = "", list[Any](), 0.0

    def _open(self, config: dict[str, Any], folder: Path | None, epoch: int) -> Any:
        client = self._imported(".tracking").MlflowClient(tracking_uri=self.tracking_uri)
        known = _stored_name(folder, "mlflow")
        if known is not None:
            client.update_run(known, status="RUNNING")
            self._run_id = known
            return client
        found = client.get_experiment_by_name(self.experiment)
        experiment = client.create_experiment(self.experiment) if found is None else found.experiment_id
        name = self.name or (None if folder is None else folder.name)
        self._run_id = client.create_run(experiment, run_name=name).info.run_id
        _store_name(folder, "mlflow", self._run_id)
        param = self._imported(".entities").Param
        values = [param(name, str(value)) for name, value in hyper_parameters(config).items()]
        for first in range(0, len(values), 100):  # as many as MLflow takes at once
            client.log_batch(self._run_id, params=values[first : first + 100])
        return client

    def _first_missing(self, epoch: int) -> int:
        stored = self._log.get_metric_history(self._run_id, "train")
        return min(epoch, 1 + max((one.step for one in stored), default=0))

    def _write(self, epoch: int, metrics: dict[str, float]) -> None:
        metric, now = self._imported(".entities").Metric, int(1000 * time.time())
        named = {re.sub(r"[^\w./ -]", "_", name): value for name, value in metrics.items()}
        self._waiting += [metric(name, value, now, epoch) for name, value in named.items()]
        if len(self._waiting) >= 500 or time.monotonic() - self._written_at > FLUSH_SECONDS:
            self._flush(self._log)

    def _flush(self, client: Any) -> None:
        waiting, self._waiting, self._written_at = self._waiting, list[Any](), time.monotonic()
        for first in range(0, len(waiting), 1000):  # as many as MLflow takes at once
            client.log_batch(self._run_id, metrics=waiting[first : first + 1000])

    def _conclude(self, run: "Run") -> None:
        self._write(run.epochs_done, {"best_loss": run.best_loss, "best_epoch": float(run.best_epoch)})
        self._log.set_tag(self._run_id, "status", run.status)

    def _close(self, log: Any) -> None:
        self._flush(log)
        log.set_terminated(self._run_id, status="FINISHED" if self._has_ended else "KILLED")


def logger_of(text: str) -> Callback:
    """Returns the callback that a text of the command line names.

    **Raises:** `ArgumentError` for another text.

    >>> logger_of("paper:me")
    Traceback (most recent call last):
    ...
    gnode.errors.ArgumentError: log is 'paper:me', but must be tensorboard:FOLDER, wandb:PROJECT or mlflow:FOLDER.
    """
    kind, _, where = text.partition(":")
    if not where.strip() or kind not in ("tensorboard", "wandb", "mlflow"):
        raise errors.ArgumentError(
            f"log is {errors.shown(text)}, but must be tensorboard:FOLDER, wandb:PROJECT or mlflow:FOLDER."
        )
    if kind == "tensorboard":
        return TensorBoard(where)
    return WeightsAndBiases(where) if kind == "wandb" else MLflow("gnode", where)


def hyper_parameters(config: dict[str, Any]) -> dict[str, bool | int | float | str]:
    """Returns the task and all settings of a run as plain values by name; what is neither number nor text becomes a text.

    >>> hyper_parameters({"task": {"name": "ou"}, "settings": {"lr": 0.1, "clip": math.inf, "spans": None}, "spec": {}})
    {'task': 'ou', 'lr': 0.1, 'clip': 'inf', 'spans': 'null'}
    """
    given = {"task": config["task"]["name"]} | config.get("spec", {}) | config["settings"]
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> bool | int | float | str:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value) if isinstance(value, float) else json.dumps(value, default=str)


def _name(argument: str, value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise errors.ArgumentError(f"{argument} is {errors.shown(value)}, but must be a name.")
    return value


def _stored_name(folder: Path | None, log: str) -> str | None:
    """What a run is called in a log; None if it is not in one."""
    from gnode.train.run_folder import LOGS_FILE

    if folder is None or not (folder / LOGS_FILE.name).exists():
        return None
    return LOGS_FILE.read(folder / LOGS_FILE.name).get(log)


def _store_name(folder: Path | None, log: str, name: str) -> None:
    from gnode.train.run_folder import LOGS_FILE

    if folder is not None:
        path = folder / LOGS_FILE.name
        files.write_json(path, (LOGS_FILE.read(path) if path.exists() else {}) | {log: name})

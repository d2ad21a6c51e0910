"""A run is a folder of plain files.

| file             | what it holds                                                                        |
|------------------|--------------------------------------------------------------------------------------|
| `config.json`    | all that is needed to run it again: task, network, settings, key, versions, commit   |
| `weights.npz`    | the network with the best validation loss, an array per parameter                    |
| `metrics.csv`    | one row per epoch                                                                    |
| `checkpoint.npz` | the whole training state and the metrics so far: what `--resume` starts from         |
| `result.json`    | how it ended; present only when it has                                               |

Every file is written under another name and then renamed, so a killed process leaves each of them whole.
"""

import dataclasses
import json
import math
import os
import platform
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from gnode import errors, tasks
from gnode.network import Network
from gnode.tasks import Task
from gnode.train import structure
from gnode.train.program import TrainState
from gnode.train.settings import Settings
from gnode.types import Key, plain_key

CONFIG, WEIGHTS, METRICS, CHECKPOINT, RESULT = (
    "config.json",
    "weights.npz",
    "metrics.csv",
    "checkpoint.npz",
    "result.json",
)
METRIC_NAMES = ("train", "validation", "gradient")
Curves = dict[str, np.ndarray]


def beside(path: Path) -> Path:
    """A name next to `path` that no other process has, on this machine or another: a number alone would not do."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")


def remove_leftovers(folder: Path) -> None:
    """What a kill in the middle of writing left in a folder. Only for who holds its lock."""
    for leftover in folder.glob(".*.tmp"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a file so that it is there whole or not at all."""
    temporary = beside(path)
    temporary.write_text(text)
    os.replace(temporary, path)


def write_json(path: Path, value: Any) -> None:
    """JSON, indented, with infinity and NaN as text."""
    write_text(path, json.dumps(_plain(value), indent=1) + "\n")


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """An .npz file that is there whole or not at all."""
    temporary = beside(path)
    with temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_json(path: Path) -> Any:
    """A JSON file; a missing or broken one is a sentence."""
    try:
        return _from_plain(json.loads(path.read_text()))
    except FileNotFoundError as problem:
        raise errors.StoreError(f"{path} does not exist.") from problem
    except (OSError, ValueError) as problem:
        raise errors.StoreError(f"{path} is broken and cannot be read ({problem}).") from problem


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return float(value["float"]) if set(value) == {"float"} else {k: _from_plain(v) for k, v in value.items()}
    return [_from_plain(part) for part in value] if isinstance(value, list) else value


def environment() -> dict[str, Any]:
    """Versions, devices and commit: what a number may depend on."""
    packages = ("gnode", "jax", "jaxlib", "equinox", "diffrax", "optax", "numpy", "scipy")
    return {
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in packages},
        "platform": f"{platform.system()} {platform.machine()}",
        "devices": [device.device_kind for device in jax.devices()],
        "commit": _commit(),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        from gnode import __version__

        return __version__ if package == "gnode" else "not installed"


def _commit() -> str | None:
    """The commit of gnode's own source tree, if it is run from one; '+' marks uncommitted changes."""
    here = Path(__file__).resolve().parent.parent
    git = ["git", "-C", str(here)]
    try:
        commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, timeout=5)
        changed = subprocess.run([*git, "status", "--porcelain", "--", "."], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    if commit.returncode != 0:
        return None
    return commit.stdout.strip() + ("+" if changed.stdout.strip() else "")


def config(net: Network, task: Task, settings: Settings, key: Key, extra: dict[str, Any]) -> dict[str, Any]:
    """All that is needed to run it again."""
    file = None if task.options is None else tasks.file_of(task.name)
    return {
        "task": {"name": task.name, "options": task.options, **({"file": file} if file else {})},
        "settings": dataclasses.asdict(settings),
        "key": plain_key(key),
        "network": structure.describe(net),
        **extra,
        **environment(),
    }


def cores_of(folder: Path) -> int:
    """On how many cores the run in a folder trains; 1 where none can be read, which is for others to complain of."""
    try:
        return read_json(folder / CONFIG)["network"]["fields"]["solver"]["fields"]["cores"]
    except (errors.GnodeError, OSError, KeyError, TypeError):
        return 1


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Makes the folder; if that, or what is then written, can not be done, the reason is one sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as problem:
        raise errors.StoreError(f"cannot write to {folder} ({problem}).") from problem


def create(folder: Path, config: dict[str, Any], initial: Network) -> None:
    """Starts a run folder. One that already holds a run is left alone."""
    if (folder / CONFIG).exists():
        raise errors.StoreError(
            f"{folder} already holds a run; choose another folder, or continue that run with --resume {folder}."
        )
    if folder.exists() and not folder.is_dir():
        raise errors.StoreError(f"{folder} is a file, but a run needs a folder.")
    with writing(folder):
        write_arrays(folder / WEIGHTS, structure.to_arrays(initial))
        write_json(folder / CONFIG, config)


def save(folder: Path, state: TrainState, best: Network, curves: Curves, epoch: int, seconds: float) -> None:
    """A checkpoint. `checkpoint.npz` alone decides where a run resumes; the other files follow from it."""
    write_checkpoint(folder / CHECKPOINT, state, curves, epoch, seconds)
    write_arrays(folder / WEIGHTS, structure.to_arrays(best))
    write_text(folder / METRICS, curves_as_csv(curves))


def write_checkpoint(path: Path, state: TrainState, curves: Curves, epoch: int, seconds: float) -> None:
    """How far a run has come, as one file."""
    progress = {f"metrics/{name}": values for name, values in curves.items()}
    progress |= {"epoch": np.asarray(epoch), "seconds": np.asarray(seconds)}
    write_arrays(path, {f"state{name}": value for name, value in structure.to_arrays(state).items()} | progress)


def read_checkpoint(path: Path, like: TrainState) -> tuple[TrainState, Curves, int, float] | None:
    """The state, metrics, number of epochs done and seconds spent that a checkpoint holds; None if there is none yet."""
    if not path.exists():
        return None
    arrays = structure.read_arrays(path)
    state_arrays = {name.removeprefix("state"): value for name, value in arrays.items() if name.startswith("state")}
    state = structure.from_arrays(like, state_arrays, str(path))
    curves = {name: arrays[f"metrics/{name}"] for name in METRIC_NAMES}
    return state, curves, int(arrays["epoch"]), float(arrays["seconds"])


def load_weights(folder: Path, like: PyTree) -> PyTree:
    """The best weights of a run in a network of the same structure."""
    return structure.from_arrays(like, structure.read_arrays(folder / WEIGHTS), str(folder / WEIGHTS))


def curves_as_csv(curves: Curves) -> str:
    """One row per epoch."""
    rows = ["epoch," + ",".join(METRIC_NAMES)]
    columns = [curves[name] for name in METRIC_NAMES]
    rows += [f"{epoch}," + ",".join(repr(float(value)) for value in row) for epoch, row in enumerate(zip(*columns), 1)]
    return "\n".join(rows) + "\n"

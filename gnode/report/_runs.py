"""The runs that a folder contains."""

from pathlib import Path

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.sweeps import Sweep, is_sweep
from gnode.train import run_folder


@checked
def runs_in(folder: str | Path) -> dict[str, Path]:
    """Returns the run folders in a folder, by name.

    These are the folder itself if it is a run, the best run of each model if it is a sweep, else the runs in its
    subfolders.

    **Raises:** `StoreError` if there is no run.

    No example: it needs a folder with trained runs.
    """
    folder = as_path("folder", folder)
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    if (folder / run_folder.CONFIG).exists():
        return {folder.resolve().name: folder}
    runs = _best_of_sweep(Sweep(folder)) if is_sweep(folder) else {}
    runs = runs or {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{run_folder.CONFIG}"))}
    if not runs:
        raise errors.StoreError(f"{folder} holds no run (no {run_folder.CONFIG} in it or in its subfolders).")
    return runs


def _best_of_sweep(sweep: Sweep) -> dict[str, Path]:
    """Returns the member with the lowest validation loss of each model and state size, as in the paper."""
    best: dict[str, tuple[float, Path]] = {}
    for row in sweep.counting_rows():
        name = f"{row.get('model', 'network')}-{row.get('state', 'N')}"
        loss = float(row["best_loss"])
        if np.isfinite(loss) and loss < best.get(name, (np.inf, sweep.folder))[0]:
            best[name] = (loss, sweep.member_folder(row["member"]))
    return {name: path for name, (_, path) in best.items()}

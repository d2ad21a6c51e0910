"""Which runs a folder holds."""

from pathlib import Path

import numpy as np

from gnode import errors
from gnode.sweeps import Sweep, is_sweep
from gnode.train import run_folder


def runs_in(folder: str | Path) -> dict[str, Path]:
    """Returns by name: the run in a folder, the best run of each model of a sweep, or the runs in its subfolders.

    **Raises:** `StoreError` if there is none.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    if (folder / run_folder.CONFIG).exists():
        return {folder.resolve().name: folder}
    found = _best_of_sweep(Sweep(folder)) if is_sweep(folder) else {}
    found = found or {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{run_folder.CONFIG}"))}
    if not found:
        raise errors.StoreError(f"{folder} holds no run (no {run_folder.CONFIG} in it or in its subfolders).")
    return found


def _best_of_sweep(sweep: Sweep) -> dict[str, Path]:
    """As in the paper: of each model and state size, the member with the lowest validation loss."""
    best: dict[str, tuple[float, Path]] = {}
    for row in sweep.counting_rows():
        name = f"{row.get('model', 'network')}-{row.get('state', 'N')}"
        loss = float(row["best_loss"])
        if np.isfinite(loss) and loss < best.get(name, (np.inf, sweep.folder))[0]:
            best[name] = (loss, sweep.member_folder(row["member"]))
    return {name: path for name, (_, path) in best.items()}

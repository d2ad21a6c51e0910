"""Reader of rollouts of a simulation: `.npy` files of shape (time, channels) in a folder or an archive."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnode import errors
from gnode.tasks._formats.archives import entries
from gnode.tasks._formats.npy import read_npy
from gnode.tasks._series import Series
from gnode.tasks._trials import single


def read_rollouts(paths: Sequence[Path]) -> Series:
    """Reads all rollouts, in the order of their file names."""
    found: dict[str, np.ndarray] = {}
    for path in paths:
        for name, content in entries(path, _is_rollout):
            values = read_npy(io.BytesIO(content), len(content), f"{name} in {path}")
            if values.ndim != 2 or len(values) < 2:
                raise errors.ArgumentError(
                    f"{name} in {path} has shape {values.shape}, but must be (time, channels) with at least two samples."
                )
            found[name] = single(values)  # what float32 cannot hold is infinite, which a series refuses
    if not found:
        raise errors.ArgumentError(f"{', '.join(map(str, paths))} holds no rollouts (.npy files).")
    return Series.of([found[name] for name in sorted(found)])


def _is_rollout(name: str) -> bool:
    # macOS adds its own files to archives.
    return name.endswith(".npy") and not name.startswith("__MACOSX")

"""A user's own arrays as a task."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors
from gnode.tasks.base import Task, Trials
from gnode.types import Key, numpy_generator

ARRAY_NAMES = ("inputs", "targets", "dt", "mask", "lengths")


def arrays(
    inputs: Any,
    targets: Any,
    dt: Any,
    *,
    mask: Any = None,
    lengths: Any = None,
    validation: float = 0.15,
    test: float = 0.0,
    outputs: int | None = None,
    when: str | None = None,
    name: str = "arrays",
    key: Key | int = 0,
) -> Task:
    """A task from arrays: a regression if `targets` are real numbers, a classification if they are whole numbers.

    **Arguments:** `inputs` trials x time x channels; `targets` trials x time x outputs, or one class per trial; `dt`,
    `mask`, `lengths` as in `Trials`; `validation` and `test`, the shares of trials set aside at random (by `key`);
    `outputs`, the number of classes, if not all of them occur; `when` the loss counts: "every" bin, or the "last" one of
    each trial (default for classes).

    >>> import numpy as np
    >>> arrays(np.zeros((20, 5, 2)), np.zeros((20, 5, 1)), 0.1, validation=0.25).train.inputs.shape
    (15, 5, 2)
    """
    everything = Trials(np.asarray(inputs), np.asarray(targets), dt, mask, lengths)
    is_class = np.issubdtype(everything.targets.dtype, np.integer)
    seen = int(everything.targets.max()) + 1 if is_class else everything.targets.shape[2]
    count = len(everything)
    held_out = [
        round(errors.not_negative(share_name, share) * count)
        for share_name, share in (("validation", validation), ("test", test))
    ]
    if held_out[0] < 1 or sum(held_out) >= count:
        raise errors.ArgumentError(
            f"{count} trials with validation={validation} and test={test} leave {count - sum(held_out)} to train on and "
            f"{held_out[0]} to validate on; both need at least one."
        )
    order = numpy_generator(key).permutation(count)
    chosen = np.split(order, np.cumsum(held_out))
    return Task(
        name=name,
        train=everything.take(np.sort(chosen[2])),
        validation=everything.take(np.sort(chosen[0])),
        test=everything.take(np.sort(chosen[1])) if held_out[1] else None,
        outputs=seen if outputs is None else outputs,
        loss="cross_entropy" if is_class else "mse",
        when=when or ("last" if is_class else "every"),
    )


def array_file(path: str | Path, *, dt: float | None = None, **options: Any) -> Task:
    """A task from an .npz file that holds `inputs`, `targets` and, if wanted, `dt`, `mask` and `lengths`.

    `dt` given here replaces the file's. Other options as in `arrays`.
    """
    path = Path(path)
    if not path.is_file():
        raise errors.ArgumentError(f"task file {path} does not exist.")
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in ARRAY_NAMES if name in stored.files}
    except (OSError, ValueError, EOFError) as problem:
        raise errors.ArgumentError(f"task file {path} cannot be read as .npz ({problem}).") from problem
    except Exception as problem:  # zipfile and zlib have errors of their own for a truncated archive
        raise errors.ArgumentError(f"task file {path} is broken or truncated ({problem}).") from problem
    missing = [name for name in ("inputs", "targets") if name not in found]
    if missing:
        raise errors.ArgumentError(f"task file {path} lacks the array {missing[0]!r}; it needs 'inputs' and 'targets'.")
    step = found.pop("dt", None) if dt is None else dt
    if step is None:
        raise errors.ArgumentError(f"task file {path} holds no 'dt' (the length of a bin in seconds); pass --dt.")
    found.pop("dt", None)
    task = arrays(dt=step if np.ndim(step) else float(step), name=str(path), **found, **options)
    return dataclasses.replace(task, options={"dt": dt, **options})

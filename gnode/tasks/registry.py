"""The registry of tasks and of their options. Listing them imports no task and loads no data."""

import dataclasses
from collections.abc import Sequence
from pathlib import PurePath
from pkgutil import resolve_name
from typing import Any

from gnode import errors, own_code
from gnode.arguments import check_kind
from gnode.options import Option, numbers, words, yes_or_no
from gnode.tasks._pulses import AMPLITUDES, describe_pulses

__all__ = [
    "ALIASES",
    "FILE_TASKS",
    "FILL_NAMES",
    "OPTIONS",
    "OWN_OPTIONS",
    "PACKAGE_TASKS",
    "TASKS",
    "TaskEntry",
    "check_name",
    "package_task",
    "short_name",
]

FILL_NAMES = ("hold", "linear", "natural")
"""Names of the methods of filling missing values, the keys of `gnode.tasks.FILLS`, without importing scipy."""


def _check_groups(name: str, value: Any) -> None:
    """Takes one group or several."""
    check_kind(name, value, str | int | Sequence[str] | Sequence[int] | None)


OPTIONS: dict[str, Option] = {
    "bits": Option("task", int, "Number of channels (flip-flops)."),
    "trials": Option("task", int, "Number of training trials."),
    "bins": Option("task", int, "Number of bins of a trial."),
    "dt": Option("task", float, "Length of a bin in seconds."),
    "span": Option("task", numbers, "Range of the size of pulses, as low:high.", "0.5:1"),
    "start": Option(
        "task",
        numbers,
        "Target before the first pulse, or initial value (ou), as x:y, one per channel.",
        "2:0",
    ),
    "reading": Option("task", str, "Source of the details: the paper's 'text' or its public 'code'."),
    "data_seed": Option("task", int, "Seed of the data.", check=errors.seed),
    "channels": Option("task", int, "Number of channels (ou)."),
    "tau_ou": Option("task", float, "Time constant of the process in seconds (ou)."),
    "lambda_ou": Option("task", float, "Decay of the process, negative (ou)."),
    "sigma_ou": Option("task", float, "Scale of the noise (ou)."),
    "dropped": Option("task", float, "Share of bins that are dropped (characters)."),
    "version": Option("task", int, "Version of the data set (speech): 1 or 2."),
    "parts": Option("task", int, "Number of thirds of the data to use (speech)."),
    "fill": Option("task", str, f"How missing inputs are filled: {', '.join(FILL_NAMES)} (only hold is causal)."),
    "timestamp": Option("task", str, "Time as the first input: relative, seconds or none."),
    "counts": Option("task", yes_or_no, "Inputs with the count of observations so far: yes or no.", "yes"),
    "masks": Option(
        "task", yes_or_no, "A further input before the others for each: whether it was observed, yes or no.", "yes"
    ),
    "gaps": Option("task", str, "Bins without a sample: filled, or skipped (walker2d, characters)."),
    "ahead": Option(
        "task",
        yes_or_no,
        "With --gaps skipped or a column of times: let the bin of a sample last until the next one, yes or no.",
        "yes",
    ),
    "ends": Option("task", str, "Where the loss counts (characters): end of the 'padded' trial, or its 'own' end."),
    "standardise": Option("task", yes_or_no, "Own file: standardise the inputs, yes or no.", "yes"),
    "trial_column": Option("task", str, "Own .csv: column that identifies the trial."),
    "time_column": Option("task", str, "Own .csv: column of times in seconds."),
    "input_columns": Option("task", words, "Own .csv: input columns, as x:y.", "x:y"),
    "target_columns": Option("task", words, "Own .csv: columns of targets, as x:y.", "x:y"),
    "label_column": Option("task", str, "Own .csv: column with the class of a trial."),
    "validation": Option("task", float, "Own file: share of validation trials; flip-flops: their number."),
    "test": Option("task", float, "Own file: share of test trials."),
    "when": Option("task", str, "Own function: where the loss counts, at 'every' bin or the 'last' one."),
    "outputs": Option("task", int, "Own function: number of classes."),
    "classes": Option("task", words, "Own function: names of the classes, as left:right.", "left:right"),
    "input_names": Option("task", words, "Own function: names of the inputs, as x:y.", "x:y"),
    "output_names": Option("task", words, "Own function: names of the outputs, as x:y.", "x:y"),
    "split_column": Option(
        "task", str, "Own .csv: column with the part (train, validation, test) or group of a trial."
    ),
    "validate_on": Option(
        "task", words, "Own file: groups that are held out for validation, as s07:s08.", "s07", check=_check_groups
    ),
    "test_on": Option(
        "task", words, "Own file: groups that are held out for the test, as s07:s08.", "s08", check=_check_groups
    ),
}
"""The options of tasks, in the order of `--help`."""

OWN_OPTIONS: dict[str, Option] = {}
"""Arguments of users' own tasks that no other task has, added when such a task is named."""


@dataclasses.dataclass(frozen=True)
class TaskEntry:
    """Entry of a task in the registry. Calling it makes the task: `entry(**options)`.

    **Arguments:**

    - `factory`: function that makes the task, as "module:name"; it is imported when it is first used.
    - `summary`: description in one line, for `gnode list`.
    - `arguments`: positional arguments of the factory that distinguish this task from others with the same factory.
    """

    factory: str
    summary: str
    arguments: tuple[Any, ...] = ()

    def load(self) -> Any:
        """Imports the factory and returns it."""
        return resolve_name(self.factory)

    def __call__(self, *more: Any, **options: Any) -> Any:
        """Makes the task."""
        return self.load()(*self.arguments, *more, **options)


TASKS: dict[str, TaskEntry] = {
    **{
        f"flipflop-{name}": TaskEntry("gnode.tasks._flip_flop:flip_flop", describe_pulses(name), (name,))
        for name in AMPLITUDES
    },
    "ou": TaskEntry(
        "gnode.tasks._ou:ou", "fit one trajectory of an Ornstein-Uhlenbeck process: 100 samples of 30 channels"
    ),
    "characters": TaskEntry(
        "gnode.tasks.datasets.characters:characters",
        "classify 20 letters from the pen's velocity and force: 2858 trials of 182 bins with gaps",
    ),
    "walker2d": TaskEntry(
        "gnode.tasks.datasets.walker2d:walker2d", "predict a walker's next state: 12,893 windows of 84 bins with gaps"
    ),
    "speech": TaskEntry(
        "gnode.tasks.datasets.speech:speech",
        "classify ten spoken words: one-second clips, 161 bins of 20 cepstral coefficients",
    ),
}
"""The tasks by name, as commands use them."""

ALIASES = {"flipflop-disk": "flipflop-annulus"}
"""Alternative names, which the paper uses."""

PACKAGE_TASKS: dict[str, TaskEntry] = {
    "neurogym": TaskEntry("gnode.tasks._neurogym:neurogym", "tasks of neurogym, such as neurogym:GoNogo-v0"),
}
"""Entries for tasks of other packages, whose names are PACKAGE:NAME. Their options are those of their environments."""


def package_task(name: str) -> TaskEntry | None:
    """Returns the entry of a task of another package; None for any other name."""
    package, colon, _ = name.partition(":")
    return PACKAGE_TASKS.get(package) if colon else None


FILE_TASKS: dict[str, TaskEntry] = {
    ".npz": TaskEntry("gnode.tasks._arrays:array_file", "arrays of your own"),
    ".csv": TaskEntry("gnode.tasks._table:table_file", "a table of your own"),
}
"""Entries for files of the user, by suffix of the file."""


def check_name(name: str) -> str:
    """Returns the name of a task without aliases: one in `TASKS`, a file, a task of a package, or a user's own code.

    **Raises:** `ArgumentError` for an unknown name, with the nearest one suggested.

    >>> check_name("flipflop-disk")
    'flipflop-annulus'
    """
    is_elsewhere = PurePath(name).suffix in FILE_TASKS or package_task(name) is not None or own_code.is_own(name)
    return name if is_elsewhere else errors.one_of("task", ALIASES.get(name, name), TASKS)


def short_name(name: str) -> str:
    """Returns the name of a task as a part of the name of a folder.

    >>> short_name("data/walks.csv"), short_name("neurogym:GoNogo-v0"), short_name("mytasks.py:integrate")
    ('walks', 'neurogym-GoNogo-v0', 'integrate')
    """
    if own_code.is_own(name):
        return own_code.own_name(name)
    return name.replace(":", "-") if package_task(name) else PurePath(name).stem

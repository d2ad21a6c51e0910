"""Every task by name, and the options of tasks, so that both can be listed without loading any data."""

import dataclasses
from pkgutil import resolve_name
from typing import Any

from gnode.options import Option, numbers, words, yes_or_no
from gnode.tasks._pulses import AMPLITUDES, describe_pulses

__all__ = ["ALIASES", "FILE_TASKS", "FILL_NAMES", "OPTIONS", "TASKS", "TaskEntry"]

FILL_NAMES = ("hold", "linear", "natural")
"""Ways to fill missing values; `gnode.tasks.FILLS` has their functions."""

OPTIONS: dict[str, Option] = {
    "bits": Option("task", int, "Channels of a flip-flop task."),
    "trials": Option("task", int, "Training trials."),
    "bins": Option("task", int, "Bins in a trial."),
    "dt": Option("task", float, "Length of a bin in seconds."),
    "span": Option("task", numbers, "Range of the pulses' size, as low:high.", "0.5:1"),
    "start": Option(
        "task",
        numbers,
        "Target before the first pulse, or where the noise starts (ou), as x:y (one per channel).",
        "2:0",
    ),
    "reading": Option("task", str, "Details by the paper's 'text' or its public 'code'."),
    "data_seed": Option("task", int, "Seed of the data."),
    "channels": Option("task", int, "Channels of the noise to fit (ou)."),
    "tau_ou": Option("task", float, "Time constant of the noise in seconds (ou)."),
    "lambda_ou": Option("task", float, "Decay of the noise, negative (ou)."),
    "sigma_ou": Option("task", float, "Scale of the noise (ou)."),
    "dropped": Option("task", float, "Share of bins that are missing (characters)."),
    "version": Option("task", int, "Version of the data (speech): 1 or 2."),
    "parts": Option("task", int, "How many thirds of the data to use (speech)."),
    "fill": Option("task", str, f"Missing inputs: {', '.join(FILL_NAMES)} (only hold is causal)."),
    "timestamp": Option("task", str, "Time as the first input: relative, seconds or none."),
    "counts": Option("task", yes_or_no, "Inputs that count observations so far: yes or no.", "yes"),
    "ends": Option("task", str, "Bin that is judged (characters): last of the padded trial, or its own."),
    "standardise": Option("task", yes_or_no, "Own file: inputs to mean 0 and deviation 1, yes or no.", "yes"),
    "trial_column": Option("task", str, "Own .csv: the column that tells trials apart."),
    "time_column": Option("task", str, "Own .csv: the column of times in seconds."),
    "input_columns": Option("task", words, "Own .csv: input columns, as x:y.", "x:y"),
    "target_columns": Option("task", words, "Own .csv: columns to predict, as x:y.", "x:y"),
    "label_column": Option("task", str, "Own .csv: the column of a trial's class."),
    "validation": Option("task", float, "Own file: share of trials to validate on; flip-flops: their number."),
    "test": Option("task", float, "Own file: share of trials to test on."),
}
"""The options of tasks, in the order in which `--help` shows them."""


@dataclasses.dataclass(frozen=True)
class TaskEntry:
    """What gnode knows about a task. Call it to make one: `entry(**options)`.

    - `factory`: where the function that makes it is, as "module:name"; it is imported when it is first used.
    - `summary`: one line for `gnode list`.
    - `arguments`: those that set this task apart from others of the same factory.
    """

    factory: str
    summary: str
    arguments: tuple[Any, ...] = ()

    def load(self) -> Any:
        """Imports the factory."""
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
"""Every named task, by the name that commands use."""

ALIASES = {"flipflop-disk": "flipflop-annulus"}
"""Other names that the paper uses."""

FILE_TASKS: dict[str, TaskEntry] = {
    ".npz": TaskEntry("gnode.tasks._arrays:array_file", "arrays of your own"),
    ".csv": TaskEntry("gnode.tasks._table:table_file", "a table of your own"),
}
"""What makes a task of a user's file, by the file's suffix."""

"""Progress bars: on a terminal or in a notebook by default, silent in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress
from rich.console import Console

from gnode.train.loop import Progress


def is_wanted(choice: bool | None) -> bool:
    """What `progress=None` means: a bar where somebody is looking."""
    return sys.stderr.isatty() if choice is None else choice


@contextmanager
def bar(total: int, done: int, what: str, show: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar with a count, a text and the time left. Yields a function that sets (done, text)."""
    if not show:
        yield lambda done, text: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=14),
        progress.TextColumn("epoch {task.completed}/{task.total}"),
        progress.TextColumn("[cyan]{task.fields[text]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as display:
        task = display.add_task(what, total=total, completed=done, text="")
        yield lambda done, text: display.update(task, completed=done, text=text)


def losses_so_far(now: Progress) -> str:
    """The text beside a training run's bar."""
    curves = now.curves
    train, validation = curves["train"][-1], curves["validation"][-1]
    return f"train {train:.4g}  validation {validation:.4g}  best {float(now.state.best_loss):.4g}"

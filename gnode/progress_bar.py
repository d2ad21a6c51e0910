"""Progress bars: shown on a terminal by default, silent in a log file."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["epoch_bar", "is_wanted"]


def is_wanted(choice: bool | None) -> bool:
    """Returns what `progress=None` stands for: a bar where somebody looks at a terminal."""
    return sys.stderr.isatty() if choice is None else choice


@contextmanager
def epoch_bar(total: int, done: int, title: str, show: bool) -> Generator[Callable[[int, str], None], None, None]:
    """Shows a bar that counts epochs, with a text and the time left.

    **Yields:** a function that sets (epochs done, text).
    """
    if not show:
        yield lambda done, text: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=14),
        progress.TextColumn("epoch {task.completed}/{task.total}"),
        progress.TextColumn("{task.fields[text]}", style="cyan", markup=False),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as display:
        task = display.add_task(title, total=total, completed=done, text="")
        yield lambda done, text: display.update(task, completed=done, text=text)

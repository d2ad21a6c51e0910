"""gnode demo: the main job in a minute."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnode import errors
from gnode.experiments.demo import EXPECTED_MSE, demo

console = Console()


def demo_command(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the run; by default the first free runs/demo, runs/demo-2, ..."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Fewer epochs, for a quick look.")] = None,
    progress: Annotated[bool | None, typer.Option(help="Progress bar; by default on a terminal only.")] = None,
) -> None:
    """Train a two-dimensional gated neural ODE on the square flip-flop task and draw the square it learned."""
    folder = out or first_free(Path("runs/demo"))
    console.print(
        "Two inputs carry brief pulses of any size between -1 and 1; each output has to hold its channel's last pulse.\n"
        "A gated neural ODE with two state variables learns this: its memory is a square of states that hardly move.\n"
        "Training takes about a minute on a CPU ...",
        soft_wrap=True,
    )
    run, files = demo(folder, progress, **({"epochs": epochs} if epochs else {}))
    console.print(run.summary(), soft_wrap=True)
    console.print(
        f"Validation MSE: {run.best_loss:.4f} (predicting zero gives {float((run.task.validation.targets**2).mean()):.3f})."
    )
    console.print(
        f"Look at {folder / 'flow.png'}: colour is speed; the slow square between -1 and 1 is what it remembers with.",
        soft_wrap=True,
    )
    console.print(f"All files: {', '.join(str(file) for file in files)}", soft_wrap=True)
    console.print(f"Next: gnode analyse {folder}", soft_wrap=True)
    if not epochs and run.best_loss > EXPECTED_MSE:
        raise errors.GnodeError(f"the validation MSE is {run.best_loss:.4f}, but {EXPECTED_MSE} or less was expected.")


def first_free(folder: Path) -> Path:
    """The folder, or the same with a number behind it, that holds nothing yet."""
    candidate, number = folder, 1
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate

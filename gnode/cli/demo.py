"""gnode demo: train and draw the square in a minute."""

from pathlib import Path
from typing import Annotated

import typer

from gnode import errors
from gnode.cli._shared import COUNT, Progress, path, resumable, say


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("demo")(demo_command)


def demo_command(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the run; by default the first free runs/demo, runs/demo-2, ...", parser=path),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Fewer epochs, for a quick look.", **COUNT)] = None,
    progress: Progress = None,
) -> None:
    """Train a two-dimensional gated neural ODE on the square flip-flop task and draw the square it learned."""
    from gnode.demo import EXPECTED_MSE, run_demo

    folder = out or first_free(Path("runs/demo"))
    say(
        "Two inputs carry brief pulses of any size between -1 and 1; each output has to hold its channel's last pulse.\n"
        "A gated neural ODE with two state variables learns this: its memory is a square of states that hardly move.\n"
        "Training takes about a minute on a CPU ..."
    )
    with resumable("gnode train --resume {}"):
        run, files, memory = run_demo(folder, progress, **({"epochs": epochs} if epochs else {}))
    say(run.summary())
    say(
        f"Validation MSE: {run.best_loss:.5f} (predicting zero gives {float((run.task.validation.targets**2).mean()):.3f})."
    )
    lasting = f"{memory.median:.1f} s" if memory.median < memory.horizon else f"more than {memory.horizon:.0f} s"
    say(f"Without input, half of its memories stay within {memory.tolerance:g} for {lasting}; its trials lasted 1 s.")
    say(f"Look at {folder / 'flow.png'}: colour is speed; the slow square between -1 and 1 is what it remembers with.")
    say(f"All files: {', '.join(str(file) for file in files)}")
    say(f"Next: gnode explore {folder} (see it move), gnode analyse {folder} (a report)")
    if not epochs and run.best_loss > EXPECTED_MSE:
        raise errors.GnodeError(f"the validation MSE is {run.best_loss:.5f}, but {EXPECTED_MSE} or less was expected.")


def first_free(folder: Path) -> Path:
    """Returns the folder, or the first one with a number appended that does not exist yet."""
    candidate, number = folder, 1
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate

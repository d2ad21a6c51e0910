"""gnode expressivity: how complex a trajectory of noise a network can be made to follow."""

from pathlib import Path
from typing import Annotated

import typer

from gnode import errors
from gnode.cli._shared import COUNT, FEW, Progress, check_folder, console, numbers, path, say, whole_numbers
from gnode.wording import plural


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(help="How complex a trajectory of noise a network can fit.", no_args_is_help=True)
    group.command("measure")(measure_command)
    group.command("longest")(longest_command)
    app.add_typer(group, name="expressivity")


Rates = Annotated[str, typer.Option(help="Learning rates, separated by commas.")]
Decays = Annotated[str, typer.Option(help="Weight decays, separated by commas.")]
Seeds = Annotated[int, typer.Option(help="Number of seeds.", **FEW)]
Epochs = Annotated[int, typer.Option(help="Epochs of training.", **COUNT)]
Engine = Annotated[str, typer.Option(help="As in `gnode sweep run`.")]
RATES, DECAYS = "1e-4,1e-3,1e-2", "1e-3,1e-2,1e-1"
"""The paper's settings."""


def measure_command(
    models: Annotated[str, typer.Argument(help="Models, separated by commas (see `gnode list`).")],
    state: Annotated[str, typer.Option(help="State sizes N, separated by commas.")] = "10,32,100",
    hidden: Annotated[str, typer.Option(help="Units H of each hidden layer of F, separated by commas.")] = "1000",
    layers: Annotated[str, typer.Option(help="Numbers of hidden layers, separated by commas.")] = "1",
    tau: Annotated[str, typer.Option(help="Time constants of the network, separated by commas.")] = "1",
    lr: Rates = RATES,
    weight_decay: Decays = DECAYS,
    seeds: Seeds = 5,
    bins: Annotated[int, typer.Option(help="Samples of the trajectory.", **COUNT)] = 100,
    epochs: Epochs = 2000,
    search: Annotated[
        bool, typer.Option("--search", help="Choose the setting with one seed, as the paper does.")
    ] = False,
    engine: Engine = "auto",
    out: Annotated[Path, typer.Option(help="Folder of the sweep; the same command resumes it.", parser=path)] = Path(
        "runs/expressivity"
    ),
    progress: Progress = None,
) -> None:
    """Measure the lowest error with which networks fit one trajectory, by N, H, layers and tau.

    Example: gnode expressivity measure gru,gnode --state 10,32,100 --tau 1,30 --seeds 3 --out runs/expressivity
    """
    from rich.table import Table

    from gnode import expressivity, plots
    from gnode.devices import one_core_per_network
    from gnode.plots import expressivity as pictures

    check_folder(out)
    one_core_per_network()
    found = expressivity.measure(
        models.split(","),
        out,
        state=whole_numbers("state", state),
        hidden=whole_numbers("hidden", hidden),
        layers=whole_numbers("layers", layers),
        tau=numbers("tau", tau),
        lr=numbers("lr", lr),
        weight_decay=numbers("weight_decay", weight_decay),
        seeds=seeds,
        bins=bins,
        epochs=epochs,
        engine=engine,
        progress=progress,
        search=search,
    )
    names = ("model", "state", "hidden", "layers", "tau", "lr", "weight_decay")
    table = Table(
        *names, "min. training MSE", title=f"{plural(bins, 'bin')}, {plural(epochs, 'epoch')}, {plural(seeds, 'seed')}"
    )
    for row in found.rows():
        table.add_row(*(f"{row[name]}" for name in names), f"{row['mean']:.4g} ± {row['std']:.2g}")
    console.print(table)
    for along, figure in pictures.along_all_axes(found).items():
        files = plots.save(figure, out / f"by-{along}", ("png", "pdf"))
        say(f"Figure: {', '.join(map(str, files))}")


def longest_command(
    model: Annotated[str, typer.Argument(help="A model (see `gnode list`).")],
    state: Annotated[int, typer.Option(help="State size N.", **COUNT)] = 100,
    widths: Annotated[str | None, typer.Option(help="Hidden layers of F, as 1000 or 316x316.")] = None,
    tau: Annotated[float, typer.Option(help="Time constant of the network in seconds.")] = 1.0,
    error: Annotated[float, typer.Option(help="Mean squared error that counts as fitted.")] = 0.05,
    lengths: Annotated[str, typer.Option(help="Lengths to try, in bins.")] = "5,7,10,14,20,28,40,57,80,113,160,226,320",
    lr: Rates = RATES,
    weight_decay: Decays = DECAYS,
    seeds: Seeds = 5,
    epochs: Epochs = 2000,
    engine: Engine = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the sweep; by default runs/longest-MODEL-N.", parser=path)
    ] = None,
    progress: Progress = None,
) -> None:
    """Find the longest trajectory that a network fits to a given error: one number for an architecture.

    Example: gnode expressivity longest gnode --state 32 --widths 316 --error 0.05
    """
    from rich.table import Table

    from gnode import expressivity, plots
    from gnode.cells import CELLS, cell_label
    from gnode.devices import one_core_per_network
    from gnode.plots import expressivity as pictures
    from gnode.train.spec import read

    one_core_per_network()
    folder = out or Path("runs") / f"longest-{errors.one_of('model', model, CELLS)}-{state}"
    check_folder(folder)
    found = expressivity.longest_fit(
        model,
        folder,
        error=error,
        lengths=whole_numbers("lengths", lengths),
        lr=numbers("lr", lr),
        weight_decay=numbers("weight_decay", weight_decay),
        seeds=seeds,
        epochs=epochs,
        engine=engine,
        progress=progress,
        state=state,
        tau=tau,
        **({} if widths is None else {"widths": read("widths", widths)}),
    )
    table = Table("bins", "min. training MSE", title=f"{model}, N = {state}")
    for length, losses in zip(found.lengths, found.errors):
        table.add_row(str(length), f"{losses.mean():.4g} ± {losses.std():.2g}")
    console.print(table)
    say(f"{cell_label(model)} {found.summary()}.")
    files = plots.save(pictures.lengths({cell_label(model): found}), folder / "lengths")
    say(f"Figure: {files[0]}")

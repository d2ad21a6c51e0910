"""gnode theory: mean-field theory of random networks, beside networks drawn at random."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode import errors
from gnode.cli._shared import COUNT, COUNT_OR_NONE, FEW, SEED, check_file, console, numbers, path, say, whole_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnode.theory import Critical

RUNAWAY = "*"
"""Marks points of a curve where the variance runs away before the spectral radius reaches 1."""
NEAR = 0.05
"""How far from 0 an abscissa may be to count as near."""

Depth = Annotated[int, typer.Option(help="L, the number of weight matrices of F.", **FEW)]
ActivationName = Annotated[str, typer.Option(help="phi, the hidden activation (see `gnode list`).")]
Scaling = Annotated[str, typer.Option(help="kaiming or glorot.")]
SigmaB = Annotated[float, typer.Option(help="Scale of the biases.")]
AspectRatio = Annotated[float, typer.Option(help="Hidden width over state size, H / N.")]
Final = Annotated[str, typer.Option(help="Activation after the last layer.")]
ActivateState = Annotated[bool, typer.Option(help="Send h through phi before the first weights.")]
Seed = Annotated[int, typer.Option(help="Seed of everything drawn.", **SEED)]
Out = Annotated[Path | None, typer.Option(help="Write the figure to this file name, without its ending.", parser=path)]


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(no_args_is_help=True, help="What random networks do, by theory and by drawing some.")
    commands = {
        "critical": critical_command,
        "curve": curve_command,
        "capacity": capacity_command,
        "dynamics": dynamics_command,
        "spectra": spectra_command,
    }
    for name, command in commands.items():
        group.command(name)(command)
    app.add_typer(group, name="theory")


def critical_command(
    depth: Depth = 3,
    activation: ActivationName = "relu",
    scaling: Scaling = "kaiming",
    sigma_b: SigmaB = 0.0,
    aspect: AspectRatio = 1.0,
    final: Final = "identity",
    activate_state: ActivateState = False,
    width: Annotated[int, typer.Option(help="State size of the networks drawn; 0 draws none.", **COUNT_OR_NONE)] = 1000,
    draws: Annotated[int, typer.Option(help="How many networks to draw.", **FEW)] = 4,
    places: Annotated[
        int, typer.Option(help="Typical states, or states near a kink at 0 (ReLU), to average over.", **FEW)
    ] = 4,
    seed: Seed = 0,
) -> None:
    """Compute the critical weight scale, and compare networks drawn at it.

    Example: gnode theory critical --depth 3 --activation tanh --sigma-b 0.1
    """
    import numpy as np

    from gnode import theory

    found = theory.critical_sigma_w(depth, activation, scaling, sigma_b, aspect, final, activate_state)
    rows = {
        "critical sigma_w": f"{found.sigma_w:.12g}",
        "found by": f"{found.method} ({found.iterations} fixed points)" if found.iterations else "closed form",
        "status": found.status,
        "spectral radius rho": f"{found.radius:.9g}",
        "state variance C_h": f"{found.state_variance:.6g}"
        if np.isfinite(found.state_variance)
        else "grows without bound",
    }
    _pairs(f"depth {depth}, {activation}, {scaling} scaling, sigma_b {sigma_b:g}", rows)
    if width:
        _drawn(found, width, draws, places, seed)


def _drawn(found: "Critical", width: int, draws: int, places: int, seed: int) -> None:
    import numpy as np
    from rich.table import Table

    from gnode import theory

    stack, variance, seeds = found.stack, found.state_variance, range(seed, seed + draws)
    relaxed = [theory.measure(stack, width, one, places=places) for one in seeds]
    abscissae = {"after relaxing": [one.abscissa() for one in relaxed]}
    if np.isfinite(variance) and variance > 0:
        typical = [theory.measure_typical(stack, width, variance, one, places) for one in seeds]
        abscissae["at typical states"] = [one.abscissa() for one in typical]
    columns = (f"abscissa {where}" for where in abscissae)
    title = f"Networks drawn at width {width}: abscissa of -I + J, radius of J"
    table = Table("draw", *columns, "radius after relaxing", "mean h^2", "state", title=title)
    for number, one, *values in zip(seeds, relaxed, *abscissae.values()):
        cells = (f"{value:+.4f}" for value in values)
        table.add_row(str(number), *cells, f"{one.radius:.4f}", f"{one.state_variance:.4g}", one.status)
    means = (f"{np.mean(values):+.4f} ± {np.std(values):.4f}" for values in abscissae.values())
    radii = [one.radius for one in relaxed]
    variances = f"{np.mean([one.state_variance for one in relaxed]):.4g}"
    table.add_row("mean", *means, f"{np.mean(radii):.4f} ± {np.std(radii):.4f}", variances, "", style="bold")
    console.print(table)
    for where, values in abscissae.items():
        near = sum(abs(value) < NEAR for value in values)
        console.print(f"{near} of {draws} networks have an abscissa within {NEAR:g} of 0 {where}.")


def curve_command(
    depths: Annotated[str, typer.Option(help="Depths, separated by commas.")] = "2,3,4,5,6",
    activation: ActivationName = "tanh",
    scaling: Scaling = "kaiming",
    aspect: AspectRatio = 1.0,
    final: Final = "identity",
    max_sigma_b: Annotated[float, typer.Option(help="Largest bias scale.")] = 2.0,
    points: Annotated[int, typer.Option(help="Bias scales from 0 to the largest.", **FEW)] = 21,
    out: Out = None,
) -> None:
    """Compute critical curves in the plane of biases and weights (the paper's figure of critical depth)."""
    import numpy as np
    from rich.table import Table

    from gnode import theory
    from gnode.plots import theory as pictures

    errors.not_negative("max_sigma_b", max_sigma_b)
    _check_out(out)
    found = theory.critical_curve(
        whole_numbers("depths", depths),
        (max_sigma_b * np.linspace(0.0, 1.0, points) ** 2).tolist(),  # denser near 0, where it is steep
        activation=activation,
        scaling=scaling,
        aspect=aspect,
        final=final,
    )
    table = Table("sigma_b", *(f"L = {depth}" for depth in found.depths), title=f"Critical sigma_w, {activation}")
    for bias, column, aways in zip(found.sigma_b, found.sigma_w.T, found.runaway.T):
        cells = (f"{value:.6f}{RUNAWAY if away else ''}" for value, away in zip(column, aways))
        table.add_row(f"{bias:.3f}", *cells)
    console.print(table)
    if found.runaway.any():
        console.print(f"{RUNAWAY} The variance of the state runs away here, before the spectral radius reaches 1.")
    if out is not None:
        _save(pictures.critical_curves(found), out)


def capacity_command(
    units: Annotated[str, typer.Option(help="Network sizes N, separated by commas.")] = "10,20,40",
    rows: Annotated[int, typer.Option(help="Rows of J tried per size.", **FEW)] = 40,
    margins: Annotated[str, typer.Option(help="Margins kappa, separated by commas.")] = "0,0.5,1,2",
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Compute Gardner's capacity, and the longest random sequences that linear programming can store."""
    from rich.table import Table

    from gnode import theory
    from gnode.plots import theory as pictures

    _check_out(out)
    sizes, kappas = whole_numbers("units", units), numbers("margins", margins)  # before anything is printed
    table = Table("kappa", "alpha_c = T / N", title="Spherical perceptron")
    for kappa in kappas:
        table.add_row(f"{kappa:g}", f"{theory.gardner_capacity(kappa):.6f}")
    console.print(table)
    found = theory.capacity_experiment(sizes, rows, seed=seed)
    table = Table("N", "half of the rows up to T / N", "Cover: 2 (N - 1) / N", title=f"Stored, {rows} rows each")
    for index, size in enumerate(found.units):
        table.add_row(str(size), f"{found.half_load(index):.3f}", f"{2 * (size - 1) / size:.3f}")
    console.print(table)
    if out is not None:
        _save(pictures.capacity_curve(found), out)


def dynamics_command(
    depth: Depth = 2,
    sigma_w: Annotated[float, typer.Option(help="Scale of the weights, above the critical one.")] = 2.5,
    activation: ActivationName = "tanh",
    scaling: Scaling = "kaiming",
    sigma_b: SigmaB = 0.0,
    aspect: AspectRatio = 1.0,
    final: Final = "identity",
    activate_state: ActivateState = False,
    sigma_z: Annotated[float, typer.Option(help="Scale of the gates of the networks drawn; 0 for none.")] = 0.0,
    width: Annotated[int, typer.Option(help="State size of the networks drawn; 0 draws none.", **COUNT_OR_NONE)] = 400,
    draws: Annotated[int, typer.Option(help="How many networks to draw.", **FEW)] = 4,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Compute C_h(tau) and the largest exponent in the chaotic phase, beside simulated networks.

    The theory is that of networks without gates; with --sigma-z the drawn ones have them.
    """
    import numpy as np
    from rich.table import Table

    from gnode import theory
    from gnode.plots import theory as pictures

    _check_out(out)
    errors.not_negative("sigma_z", sigma_z)
    stack = theory.RandomStack(depth, sigma_w, activation, scaling, sigma_b, aspect, final, activate_state)
    state = theory.chaotic_state(stack)
    runs = [theory.simulate(theory.draw(stack, width, seed + index, sigma_z)) for index in range(draws if width else 0)]
    table = Table("", "C_h(0)", "C_h(1)", "C_h(5)", "exponent", title=f"depth {depth}, sigma_w {sigma_w:g}")
    at = [np.interp(lag, state.lags, state.autocorrelation) for lag in (0.0, 1.0, 5.0)]
    table.add_row("mean field", *(f"{value:.4f}" for value in at), _with_error(state.exponent, state.exponent_error))
    for index, run in enumerate(runs):
        at = [np.interp(lag, run.lags, run.autocorrelation) for lag in (0.0, 1.0, 5.0)]
        exponent = f"{run.exponent:.4f} ± {run.exponent_error:.4f}"
        table.add_row(f"draw {seed + index}, width {width}", *(f"{value:.4f}" for value in at), exponent)
    console.print(table)
    if out is not None:
        _save(pictures.autocorrelation(state, runs), out)


def spectra_command(
    models: Annotated[
        str, typer.Option(help="Models out of mgru, gnode and lem, separated by commas.")
    ] = "mgru,gnode,lem",
    state: Annotated[int, typer.Option(help="State size N.", **COUNT)] = 1000,
    sigma_w: Annotated[float, typer.Option(help="Scale of the weights.")] = 1.5,
    sigma_z: Annotated[str, typer.Option(help="Scales of the gates, separated by commas.")] = "0,5",
    method: Annotated[str | None, typer.Option(help="Integrator; by default each cell's own.")] = None,
    duration: Annotated[float, typer.Option(help="Seconds to run before the spectra are taken.")] = 1000.0,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Compute Jacobian spectra of gated cells at their steady state (the paper's Appendix B)."""
    import numpy as np
    from rich.table import Table

    from gnode.analysis import steady_spectrum
    from gnode.plots import theory as pictures

    _check_out(out)
    found = [
        steady_spectrum(model, state, sigma_w=sigma_w, sigma_z=scale, method=method, duration=duration, seed=seed)
        for scale in numbers("sigma_z", sigma_z)
        for model in models.split(",")
    ]
    ways = ", ".join(dict.fromkeys(f"{one.model} by {one.method}" for one in found))
    table = Table("model", "sigma_z", "pinched", "abscissa", "radius", "theory", "max |mu|", "speed", title=ways)
    for one in found:
        centre, radius = one.disc or (np.nan, np.nan)
        measured = np.abs(one.flow_eigenvalues - centre).max()
        table.add_row(
            one.model,
            f"{one.sigma_z:g}",
            f"{one.pinching():.3f}",
            f"{np.max(np.real(one.flow_eigenvalues)):+.3f}",
            *("" if np.isnan(value) else f"{value:.3f}" for value in (measured, radius)),
            f"{np.abs(one.map_eigenvalues).max():.3f}",
            f"{one.speed:.3f}",
        )
    console.print(table)
    if out is not None:
        _save(pictures.spectra_grid(found), out)


def _pairs(title: str, rows: dict[str, str]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
    for name, text in rows.items():
        table.add_row(f"[cyan]{name}[/]", text)
    console.print(table)


def _check_out(out: Path | None) -> None:
    if out is not None:
        check_file(out, (".png",))


def _save(figure: "Figure", out: Path) -> None:
    from gnode import plots

    for file in plots.save(figure, out):
        say(f"Figure: {file}")


def _with_error(value: float, error: float) -> str:
    """Writes a value, with its error where that would be seen."""
    return f"{value:.4f}" if error < 5e-5 else f"{value:.4f} ± {error:.2g}"

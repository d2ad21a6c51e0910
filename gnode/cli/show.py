"""gnode list and gnode info: what there is."""

import platform
import sys

import jax
from rich.console import Console
from rich.table import Table

from gnode import cells, tasks
from gnode.activations import ACTIVATIONS
from gnode.init import INITIALISERS
from gnode.network import INITIAL_STATES
from gnode.solve import ADJOINTS, METHODS
from gnode.tasks.flip_flop import default_bits
from gnode.train import store

console = Console()


def list_command() -> None:
    """Show models, tasks, methods and initialisers."""
    first_lines = {name: (maker.__doc__ or "").strip().splitlines()[0] for name, maker in cells.CELLS.items()}
    _table("Models", first_lines)
    _table("Tasks", {name: _task(name) for name in tasks.TASKS})
    _table("Methods", METHODS)
    _table("Initialisers", {name: _describe(name) for name in INITIALISERS})
    _table("Initial states", INITIAL_STATES)
    console.print(f"[bold]Activations[/]   {', '.join(ACTIVATIONS)}")
    console.print(f"[bold]Adjoints[/]      {', '.join(ADJOINTS)}")


def _task(name: str) -> str:
    if not name.startswith("flipflop-"):
        return (tasks.TASKS[name].__doc__ or "").strip().splitlines()[0]
    kind = name.removeprefix("flipflop-")
    pulses, channels = tasks.AMPLITUDES[kind], default_bits(kind)
    low, high = pulses.span
    size = f"{high:g}" if low == high else f"{low:g} to {high:g}"
    often = f"about {pulses.mean_pulses:g} a trial"
    if pulses.together:
        return f"pulses in {channels} channels at once, norm {size}, {often}"
    first = f" (first channel x {pulses.first_scale:g})" if pulses.first_scale != 1 else ""
    return f"pulses in one of {channels} channels at a time, size {size}{first} of either sign, {often}"


def _describe(name: str) -> str:
    rule = INITIALISERS[name]
    fan = {"kaiming": "N_in", "glorot": "(N_in + N_out)"}[rule.scaling]
    kinds = {
        "no": f"variance 2 / {fan}",
        "theory": f"variance sigma_w*^2 / {fan} in F, the critical scale of theory; 2 / {fan} elsewhere",
        "empirical": f"variance 1 / {fan} in F, then rescaled until -I + dF/dh is critical; 2 / {fan} elsewhere",
    }
    return f"{rule.distribution}, {kinds[rule.critical]}"


def _table(title: str, rows: dict[str, str]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2))
    for name, text in rows.items():
        table.add_row(f"[cyan]{name}[/]", text)
    console.print(table)
    console.print()


def info_command() -> None:
    """Show devices and versions."""
    facts = store.environment()
    rows = {"python": f"{platform.python_version()} ({sys.executable})", "platform": facts["platform"]}
    rows |= {name: version for name, version in facts["versions"].items() if name != "python"}
    rows["commit"] = facts["commit"] or "not run from a source tree"
    rows["devices"] = ", ".join(f"{device.device_kind} ({device.platform})" for device in jax.devices())
    _table("gnode", rows)

"""gnode list and gnode info: what there is."""

import platform
import sys

import typer
from rich.table import Table

from gnode.cli._shared import console


def add_to(app: typer.Typer) -> None:
    """Adds both commands."""
    app.command("list")(list_command)
    app.command("info")(info_command)


def list_command() -> None:
    """Show models, tasks, methods and initialisers."""
    from gnode.activations import ACTIVATIONS
    from gnode.cells.registry import CELLS
    from gnode.init import RULES, describe_rule
    from gnode.network.names import INITIAL_STATES
    from gnode.solve import ADJOINTS, METHODS
    from gnode.sweeps.engines.registry import ENGINES
    from gnode.tasks.registry import PACKAGE_TASKS, TASKS

    _table("Models", {name: entry.summary for name, entry in CELLS.items()})
    of_packages = {f"{name}:NAME": entry.summary for name, entry in PACKAGE_TASKS.items()}
    _table("Tasks", {name: entry.summary for name, entry in TASKS.items()} | of_packages)
    _table("Methods", METHODS)
    _table("Initialisers", {name: describe_rule(name) for name in RULES})
    _table("Initial states", INITIAL_STATES)
    _table("Engines of a sweep", {name: entry.summary for name, entry in ENGINES.items()})
    console.print(f"[bold]Activations[/]   {', '.join(ACTIVATIONS)}")
    console.print(f"[bold]Adjoints[/]      {', '.join(ADJOINTS)}")


def info_command() -> None:
    """Show devices and versions."""
    import jax

    from gnode import provenance

    facts = provenance.environment()
    rows = {"python": f"{platform.python_version()} ({sys.executable})", "platform": facts["platform"]}
    rows |= {name: version for name, version in facts["versions"].items() if name != "python"}
    rows["commit"] = facts["commit"] or "not run from a source tree"
    rows["devices"] = ", ".join(f"{device.device_kind} ({device.platform})" for device in jax.devices())
    _table("gnode", rows)


def _table(title: str, rows: dict[str, str]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2))
    for name, text in rows.items():
        table.add_row(f"[cyan]{name}[/]", text)
    console.print(table)
    console.print()

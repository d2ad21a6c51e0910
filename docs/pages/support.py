"""What gnode was tried on: from `release/tried`, and from the environments in `benchmarks/results`."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

from pages import ROOT, table

PATH = "docs/support.md"
TRIED, MEASURED = ROOT / "release" / "tried", ROOT / "benchmarks" / "results"
Record = dict[str, Any]

WHAT = {
    "wheel": "the wheel alone: installed, demo trained, explorer's pages written",
    "suite": "the quick tests, newest versions of the dependencies",
    "lowest": "the quick tests, lowest versions of the dependencies",
}
"""A try, by the word with which the name of its record begins."""

NEEDED_FOR = {
    "gpu": "jax for NVIDIA GPUs",
    "ray": "sweeps over the machines of a Ray cluster",
    "tensorboard": "`--log tensorboard:FOLDER`",
    "wandb": "`--log wandb:PROJECT`",
    "mlflow": "`--log mlflow:ADDRESS`",
    "onnx": "`gnode export --to onnx`",
    "sklearn": "estimators for scikit-learn, `gnode.sklearn`",
    "explore": "the explorer as a widget in Jupyter, marimo and Colab",
    "neurogym": "tasks of neurogym, as `neurogym:GoNogo-v0`",
    "browser": "the tests of the explorer's page",
    "docs": "building the site",
    "test": "tests, style and types",
}

INTRODUCTION = """# What it runs on

Made by `make docs` from what commands printed where they were tried (`release/tried`, `benchmarks/results`). What was
not tried is listed as such. gnode compiles nothing of its own, so it runs where jax runs. It asks for Python
{python}.

## Tried
{tried}

A row of the wheel is `python release/try_wheel.py dist`: in a fresh environment and an empty folder, with no source
near, it ran

{steps}

The tests are `python release/try_suite.py`, with `--lowest` for the lowest versions.

## Measured
The rows of the [speed page](speed.md) were measured here:

{measured}

## Versions of the dependencies
The lowest version is the oldest that `pip install` may take; `make try-lowest` runs the quick tests with exactly
these.

{dependencies}

## Extras
`pip install 'gnode[NAME]'`, or `pip install '.[NAME]'` in the folder of gnode. `python release/try_extras.py dist`
let pip find versions that go together{resolved_on}; nothing was installed.

{extras}

## Should work, was not tried
- **macOS**, and Linux on ARM: jax has packages for both, and gnode uses nothing of one system without finding out
  that it is there. The workflow `release` tries the wheel on macOS.
- **Other NVIDIA GPUs** for which jax's CUDA packages are made. The fused and the streamed kernel were tuned on the
  GPU above; `--kernel loop` uses neither.
- **AMD GPUs and TPUs**, by jax's own packages for them, with `--kernel loop`: the compiled loop asks nothing of a
  device but jax.
- **WSL**, the Linux inside Windows: it is Linux to gnode.

## Not promised
- **Windows itself.** The tests do not run there. It has no locks of the kind that keep two processes off one folder,
  and gnode then goes on without.
- **Python before 3.11**, jax before {jax}, 32-bit systems.
"""


def page() -> str:
    """Returns the text of the page."""
    tries = list(records())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel = [record for record in tries if record["what"] == "wheel"]
    extras = next((record for record in tries if record["what"] == "extras"), None)
    return INTRODUCTION.format(
        python=project["requires-python"].removeprefix(">=") + " or newer",
        jax=lowest_versions(project)["jax"],
        tried=table(HEAD, [row(record) for record in tries if record["what"] in WHAT]),
        steps="\n".join(f"    {step['command']}" for step in wheel[0]["steps"]) if wheel else "nothing yet.",
        measured=table(["system", "Python", "jax", "devices", "commands"], measured()),
        dependencies=dependencies(project, tries),
        resolved_on=f" with Python {extras['python']}, {extras['date']}" if extras else "",
        extras=extras_table(project, extras["extras"] if extras else {}),
    )


HEAD = ["what", "system", "Python", "jax", "devices", "gnode", "outcome", "day"]


def records() -> Iterator[Record]:
    """The tries in order: wheels first, then tests; systems and Pythons by name."""
    paths = sorted(TRIED.glob("*.json"), key=lambda path: (not path.name.startswith("wheel"), path.name))
    return (json.loads(path.read_text(encoding="utf-8")) for path in paths)


def row(record: Record) -> list[str]:
    """The row of a try."""
    about = record["environment"] or {"versions": {}, "devices": []}
    versions = about["versions"]
    outcome = "failed" if record["failure"] else record.get("tests") or "works"
    return [
        WHAT[record["what"]],
        f"{record['system']}, {record['machine']}",
        record["python"],
        versions.get("jax", ""),
        ", ".join(sorted(set(about["devices"]))),
        versions.get("gnode", ""),
        outcome,
        record["date"],
    ]


def measured() -> list[list[str]]:
    """A row for each environment in which a benchmark ran."""
    found: dict[tuple[str, ...], set[str]] = {}
    for path in sorted(MEASURED.glob("*.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        place = (
            about["platform"],
            about["versions"]["python"],
            about["versions"]["jax"],
            ", ".join(sorted(set(about["devices"]))),
        )
        found.setdefault(place, set()).add(command(path.stem))
    return [[*place, ", ".join(f"`{name}`" for name in sorted(names))] for place, names in sorted(found.items())]


def command(stem: str) -> str:
    """The command that wrote a result of a benchmark, from the name of its file."""
    name = stem.rpartition("-")[0]
    return f"python benchmarks/{name}.py" if (ROOT / "benchmarks" / f"{name}.py").exists() else "gnode bench"


def dependencies(project: Record, tries: list[Record]) -> str:
    """The table of the dependencies: the lowest version, and those that tests ran with."""
    ran = [record for record in tries if record.get("versions")]
    head = ["package", "lowest", *(f"{record['what']}, Python {record['python']}" for record in ran)]
    return table(
        head,
        [[name, low, *(record["versions"][name] for record in ran)] for name, low in lowest_versions(project).items()],
    )


def lowest_versions(project: Record) -> dict[str, str]:
    """The oldest version of each dependency, as pyproject.toml writes it: `jax>=0.10`."""
    return dict(requirement.split(">=") for requirement in project["dependencies"])


def extras_table(project: Record, resolved: Record) -> str:
    """The table of the extras; one without a word in `NEEDED_FOR` is a `KeyError`."""
    rows = []
    for name in project["optional-dependencies"]:
        outcome = resolved.get(name, {"packages": None, "failure": None})
        said = "not resolved" if outcome["failure"] else "not tried"
        rows.append([f"`{name}`", NEEDED_FOR[name], said if outcome["packages"] is None else str(outcome["packages"])])
    return table(["extra", "needed for", "packages with all that they need"], rows)

"""Makes a page of docs/results from a sweep's folder: no number on it is typed by hand.

    python docs/make_results.py runs/fig1b variable-n6 "Variable amplitude, N = 6" --expect "gnode < 0.01"

The page shows the command, the device, the time, the table of best settings and the two figures; `results.csv` with every
member lies beside it.
"""

import argparse
import json
import shlex
import shutil
from pathlib import Path

from gnode import Sweep, plots
from gnode.sweeps._folder import SPEC, _as_text

HERE = Path(__file__).parent / "results"


def command(sweep: Sweep) -> str:
    """The shell command that makes the sweep."""
    words = ["gnode", "sweep", sweep.grid.task]
    for name, values in sweep.grid.axes.items():
        words += ["--" + name.replace("_", "-"), ",".join(str(_as_text(value)) for value in values)]
    if sweep.grid.search:
        words += ["--search", ",".join(sweep.grid.search)]
    for name, value in sweep.grid.tried.items():
        words += ["--search-with", f"{name}={_as_text(value)}"]
    return shlex.join([*words, "--out", str(sweep.folder)])


def claims(sweep: Sweep, expected: list[str]) -> str:
    """What the paper says of each model beside what came out: 'gru >= 0.025' holds, or it does not."""
    if not expected:
        return ""
    best = sweep.best()
    lines = ["| the paper | here | holds |", "|---|---|---|"]
    for claim in expected:
        model, relation, bound = claim.split()
        loss = best[model]["mean"]
        holds = {"<": loss < float(bound), ">=": loss >= float(bound)}[relation]
        lines.append(f"| {plots.MODEL_NAMES[model]} {relation} {bound} | {loss:.4g} | {'yes' if holds else '**no**'} |")
    return "\n".join(lines) + "\n\n"


def page(sweep: Sweep, title: str, name: str, commit: str | None, expected: list[str]) -> str:
    stored = json.loads((sweep.folder / SPEC).read_text())
    counts = sweep.status()
    versions = stored["versions"]
    return f"""# {title}

    {command(sweep)}

{counts["done"]} members, {counts["diverged"]} of them diverged; {sweep.seconds():.0f} s of training on
{", ".join(stored["devices"])} (gnode {versions["gnode"]}, jax {versions["jax"]}, commit {commit or stored["commit"]}).
Every member: [{name}.csv]({name}.csv). Loss: mean squared error on the 100 validation trials, its minimum over epochs.

{sweep.markdown()}
{claims(sweep, expected)}![Minimum validation loss of every member, by model]({name}-strip.png)

![Validation loss of each model's best member]({name}-curves.png)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("title")
    parser.add_argument("--threshold", type=float, default=None)
    parser.add_argument("--commit", default=None, help="if the sweep ran from a copy without git")
    parser.add_argument("--expect", action="append", default=[], help="a claim of the paper, such as 'gru >= 0.025'")
    given = parser.parse_args()
    sweep = Sweep(given.folder)
    HERE.mkdir(exist_ok=True)
    plots.save(plots.strip(sweep.counting_rows(), threshold=given.threshold), HERE / f"{given.name}-strip")
    curves = {model: sweep.load(entry["member"]).curves["validation"] for model, entry in sweep.best().items()}
    plots.save(plots.best_curves(curves), HERE / f"{given.name}-curves")
    shutil.copy(given.folder / "results.csv", HERE / f"{given.name}.csv")
    (HERE / f"{given.name}.md").write_text(page(sweep, given.title, given.name, given.commit, given.expect))


if __name__ == "__main__":
    main()

"""The baselines on real data, from the results of `gnode baseline` in `docs/results/ncde-*.json` and `last-value-*.json`.

To add a run, copy its `result.json` there under the name of its folder. All neural CDEs are shown; the one with the lowest
validation loss is the baseline.
"""

import shlex
from typing import Any

from gnode.baselines import DEFAULTS
from pages import RESULTS, read_result, table

PATH = "docs/results/baselines.md"
CDE, LAST_VALUE = "ncde-characters", "last-value-walker2d"
Results = dict[str, dict[str, Any]]


def percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}%"


def spaced_table(head: list[str], rows: list[list[str]]) -> str:
    return table(head, rows, rule=" --- ")


def command(name: str, stored: dict[str, Any]) -> str:
    """Returns the shell command that makes a result."""
    options, settings = stored["task"]["options"], stored.get("settings", {})
    given: dict[str, Any] = {}
    if settings:
        given = {option: settings[option] for option in DEFAULTS if option not in ("widths", "weight_decay")}
        given = {"dropped": options["dropped"]} | {k: v for k, v in given.items() if v != DEFAULTS[k]}
    if options["key"]:
        given["data_seed"] = options["key"]
    words = [word for option, value in given.items() for word in ("--" + option.replace("_", "-"), str(value))]
    return shlex.join(["gnode", "baseline", stored["task"]["name"], *words, "--out", f"runs/{name}"])


def summary(results: Results) -> str:
    rows = []
    for name, stored in results.items():
        task, test = stored["task"], stored["test"]
        dropped = f", {100 * task['options']['dropped']:g}% dropped" if "dropped" in task["options"] else ""
        score = f"{percent(test['accuracy'])} right" if "accuracy" in test else f"mean squared error {test['loss']:.4f}"
        link = f"[{name}.json]({name}.json)"
        rows.append([f"`{task['name']}`{dropped}", stored["baseline"], score, str(task["test_trials"]), link])
    return spaced_table(["data set", "baseline", "on the test trials", "test trials", "all numbers"], rows)


def runs(cdes: Results) -> str:
    """Returns a table of all neural CDEs, which shows that the one reported was not chosen by its test score."""
    rows = []
    for name, stored in cdes.items():
        settings = stored["settings"]
        scores = [percent(stored[part]["accuracy"]) for part in ("validation", "test")]
        best = f"{stored['best_loss']:.4f} in epoch {stored['best_epoch']}"
        start = [f"[{name}]({name}.json)", f"{settings['lr']:g}", str(settings["seed"]), str(settings["epochs"])]
        rows.append([*start, best, *scores, f"{stored['seconds']:.0f} s"])
    head = ["run", "learning rate", "seed", "epochs", "best validation loss", "validation accuracy", "test accuracy"]
    return spaced_table([*head, "training"], rows)


def neural_cde(name: str, stored: dict[str, Any], cdes: Results) -> str:
    settings, versions = stored["settings"], stored["versions"]
    rows = [
        [method, f"{row['largest']:.2g}", f"{row['median']:.2g}", percent(row["same"]), percent(row["accuracy"])]
        for method, row in stored["solvers"].items()
    ]
    widths = " x ".join(map(str, settings["widths"]))
    where = f"{', '.join(stored['devices'])} (jax {versions['jax']}, diffrax {versions['diffrax']})"
    return f"""## Neural CDE on characters
N = {settings["state"]}, f with hidden layers {widths} and a final tanh, {stored["parameters"]} parameters; Adam with
minibatches of {settings["batch_size"]} trials, on {where}, commit {stored["commit"]}. The weights of the
epoch with the lowest validation loss are kept. The run with the lowest validation loss is the baseline:

{runs(cdes)}

The sizes and the minibatches are those of the public code of Kidger et al., which trains for up to 1000 epochs at a rate
of 0.001 on its own preparation of the data. This baseline had fewer epochs and may fall short of what a neural CDE can
reach. Only the learning rate was varied. The cores were shared with other work, so the times are upper bounds.

**Are its steps small enough?** The weights of {name}, integrated with other methods, against an adaptive Tsit5 in double
precision; the differences are those of the outputs at the last bin, before the softmax:

{spaced_table(["steps", "largest difference", "median", "same guess", "test accuracy"], rows)}

![Confusion matrix of the neural CDE]({name}-confusion.png)
"""


def page() -> str:
    names = [path.stem for path in sorted(RESULTS.glob(f"{CDE}*.json"))]
    results = {name: read_result(name) for name in [*names, LAST_VALUE]}
    cdes = {name: results[name] for name in names}
    best = min(cdes, key=lambda name: cdes[name]["best_loss"])
    commands = "\n".join(f"    {command(name, stored)}" for name, stored in results.items())
    return f"""# Baselines

Made by `make docs` from the JSON files that these commands wrote:

{commands}

{summary({best: cdes[best], LAST_VALUE: results[LAST_VALUE]})}

{neural_cde(best, cdes[best], cdes)}"""

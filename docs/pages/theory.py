"""What the commands of the theory notes print, from `docs/results/theory.json`, which `docs/run_theory.py` writes."""

import re
from collections import Counter
from typing import Any

from pages import RESULTS, read_result

PATH = "docs/results/theory.md"
STORED = RESULTS / "theory.json"

_SIX_DRAWS = [f"spectra --sigma-z 0 --state 400 --duration 300 --seed {seed}" for seed in range(6)]
SECTIONS = {
    "Critical scales, and networks drawn with them": [
        "critical --depth 1 --activation tanh --final tanh --draws 8",
        "critical --depth 3 --activation tanh --draws 16",
        "critical --depth 2 --draws 16",
        "critical --depth 3 --draws 16 --places 8",
        "critical --depth 3 --scaling glorot --aspect 3 --width 400 --draws 8",
        "critical --depth 2 --scaling glorot --aspect 0.5 --draws 8",
        "critical --depth 2 --activation sigmoid --draws 8",
        "critical --depth 3 --activation tanh --sigma-b 0.1 --draws 24 --width 500",
        "critical --depth 3 --activation tanh --sigma-b 0.1 --draws 24",
    ],
    "Critical curves (the paper's critical-depth figure)": ["curve --out critical-depth"],
    "The chaotic state": [
        "dynamics --width 400 --out autocorrelation",
        "dynamics --width 800",
        "dynamics --depth 1 --sigma-w 2 --final tanh",
        "dynamics --depth 1 --sigma-w 2 --final tanh --sigma-z 5",
    ],
    "Jacobian spectra (the paper's Appendix B figure)": [
        "spectra --out spectra",
        "spectra --method tsit5 --out spectra-tsit5",
        *_SIX_DRAWS,
    ],
    "Capacity": ["capacity --units 10,20,40,80 --rows 60 --out capacity"],
}
"""The sections of the page, and the words after `gnode theory` of their commands."""

COMMANDS = [command for commands in SECTIONS.values() for command in commands]

HEAD = """# Theory in numbers

Made by `make docs` from [theory.json](theory.json), which `python docs/run_theory.py` wrote: the commands in the [theory
notes](../theory.md), each with what it printed ({version}). Chaos amplifies the last digits, so another
machine prints other digits for the networks that `gnode theory dynamics` simulates.
"""


def picture(command: str) -> str | None:
    """Returns the name of the figure that a command writes, in `docs/results` without `theory-` and its ending."""
    found = re.search(r"--out (\S+)", command)
    return None if found is None else found[1]


def version(found: dict[str, Any]) -> str:
    """Says which version of gnode printed something."""
    versions = found["environment"]["versions"]
    return f"commit {found['environment']['commit']}, jax {versions['jax']}, scipy {versions['scipy']}"


def block(command: str, found: dict[str, Any], usual: str) -> str:
    """Returns a command with what it printed, its figure, and its version where that is not the usual one."""
    lines = [f"    $ gnode theory {command}", "", *(f"    {line}".rstrip() for line in found["printed"])]
    name = picture(command)
    if name is not None:
        lines += ["", f"![{name}](theory-{name}.png)"]
    if version(found) != usual:
        lines += ["", f"({version(found).capitalize()}.)"]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Returns the text of the page."""
    found = read_result(STORED.stem)
    usual = Counter(version(found[command]) for command in COMMANDS).most_common(1)[0][0]
    parts = [HEAD.format(version=usual)]
    for title, commands in SECTIONS.items():
        parts += [f"## {title}\n", *(block(command, found[command], usual) for command in commands)]
    return "\n".join(parts)

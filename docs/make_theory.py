"""Makes docs/results/theory.md: runs the commands that the theory notes speak of and keeps what they print.

python docs/make_theory.py            (about ten minutes on two cores)
"""

import subprocess
import sys
from pathlib import Path

from gnode import provenance

HERE = Path(__file__).parent / "results"

CRITICAL = [
    "--depth 1 --activation tanh --final tanh",
    "--depth 3 --activation tanh --draws 16",
    "--depth 2 --draws 16",
    "--depth 3 --draws 16 --places 8",
    "--depth 3 --scaling glorot --aspect 3 --width 400",
    "--depth 2 --scaling glorot --aspect 0.5",
    "--depth 2 --activation sigmoid",
]
SECTIONS: dict[str, list[str]] = {
    "Critical scales, and networks drawn with them": [
        *(f"critical {options}" + " --draws 8" * ("draws" not in options) for options in CRITICAL),
        "critical --depth 3 --activation tanh --sigma-b 0.1 --draws 24 --width 500",
        "critical --depth 3 --activation tanh --sigma-b 0.1 --draws 24",
    ],
    "Critical curves (the paper's critical-depth figure)": ["curve --out FIGURE/critical-depth"],
    "The chaotic state": [
        "dynamics --width 400 --out FIGURE/autocorrelation",
        "dynamics --width 800",
        "dynamics --depth 1 --sigma-w 2 --final tanh",
        "dynamics --depth 1 --sigma-w 2 --final tanh --sigma-z 5",
    ],
    "Jacobian spectra (the paper's Appendix B figure)": [
        "spectra --out FIGURE/spectra",
        "spectra --method tsit5 --out FIGURE/spectra-tsit5",
        *(f"spectra --sigma-z 0 --state 400 --duration 300 --seed {seed}" for seed in range(6)),
    ],
    "Capacity": ["capacity --units 10,20,40,80 --rows 60 --out FIGURE/capacity"],
}


def run(command: str) -> str:
    """What `gnode theory COMMAND` prints, and the figure it makes."""
    words = command.replace("FIGURE/", f"{HERE}/theory-").split()
    done = subprocess.run([sys.executable, "-m", "gnode", "theory", *words], capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip() and not line.startswith("Figure:")]
    shown = command.replace("FIGURE/", "")
    text = f"    $ gnode theory {shown}\n\n" + "\n".join(f"    {line}" for line in lines)
    figures = [word.removeprefix("FIGURE/") for word in command.split() if word.startswith("FIGURE/")]
    return text + "".join(f"\n\n![{name}](theory-{name}.png)" for name in figures)


def main() -> None:
    facts = provenance.environment()
    parts = [
        "# Theory in numbers\n\nWhat the commands of the [theory notes](../theory.md) print; this page is made by "
        f"`python docs/make_theory.py` (commit {facts['commit']}, jax {facts['versions']['jax']}, "
        f"scipy {facts['versions']['scipy']})."
    ]
    for title, commands in SECTIONS.items():
        parts.append(f"## {title}")
        for command in commands:
            print(command, flush=True)
            parts.append(run(command))
    (HERE / "theory.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()

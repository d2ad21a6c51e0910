"""Makes docs/speed.md from benchmarks/results/*.json, which `make bench` writes: no number on it is typed by hand."""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent


def cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def made_by(path: Path) -> str:
    """The command that wrote a file of results."""
    name = path.stem.rsplit("-", 1)[0]
    return "gnode bench" if name == "gradient" else f"python benchmarks/{name}.py"


def section(path: Path) -> str:
    stored = json.loads(path.read_text())
    rows = stored["rows"]
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(cell(value) for value in row.values()) + " |" for row in rows]
    where = ", ".join(stored["devices"])
    versions = stored["versions"]
    return (
        f"## {stored['title']}, on {where}\n\n`{made_by(path)}` "
        f"(jax {versions['jax']}, diffrax {versions['diffrax']}, commit {stored['commit'] or 'of a copy without git'})\n\n"
        + "\n".join(lines)
    )


def main() -> None:
    pages = [section(path) for path in sorted((ROOT / "benchmarks" / "results").glob("*.json"))]
    head = "# Speed\n\nEach table was measured in one run, its rivals in turn; read the ratios, not the milliseconds.\n"
    (ROOT / "docs" / "speed.md").write_text("\n\n".join([head.strip(), *pages]) + "\n")


if __name__ == "__main__":
    main()

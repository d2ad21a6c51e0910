"""Whether a version of gnode is slower than an earlier one: one gradient of each shape by both, in turn.

    python benchmarks/before_after.py REVISION ["flip-flop N=6 B=10" ...]

The source of the revision is unpacked beside this one for the time of the run. Both are measured by their own `gnode bench`,
one after the other and again, by the same interpreter with the same packages; the least of the times counts.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from timing import report

from gnode import bench

HERE = Path(__file__).parent.parent
TURNS = 3
ROWS = ("gnode", "gnode, all cores")
UNPAID = "diffrax"
"""Rivals that need not be measured."""


def unpack(revision: str, folder: Path) -> Path:
    """Unpacks the package of a revision into a folder, and returns it."""
    packed = folder / "gnode.tar"
    with packed.open("wb") as file:
        subprocess.run(["git", "-C", str(HERE), "archive", revision, "gnode"], stdout=file, check=True)
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


def shapes_of(source: Path) -> list[str]:
    """Returns the shapes that the version in a folder knows and that fit a CPU."""
    code = "from gnode import bench; print(*(n for n, s in bench.SHAPES.items() if not s.heavy), sep='\\n')"
    return _run(source, "-c", code).splitlines()


def measure(source: Path, shape: str, out: Path) -> dict[str, float]:
    """Returns the milliseconds of one gradient, on one core and on all."""
    _run(source, "-m", "gnode", "bench", shape, "--skip", UNPAID, "--out", str(out))
    rows: list[dict[str, Any]] = json.loads(out.read_text())["rows"]
    return {row["gradient by"]: row["ms"] for row in rows if row["gradient by"] in ROWS}


def _run(source: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, *words], cwd=source, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def main(revision: str, *wanted: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        versions = {"before": unpack(revision, place), "after": HERE}
        known = shapes_of(versions["before"])
        rows: list[dict[str, Any]] = []
        for shape in wanted or [name for name in bench.SHAPES if name in known]:
            best: dict[tuple[str, str], float] = {}
            for _ in range(TURNS):
                for version, source in versions.items():
                    for row, milliseconds in measure(source, shape, place / "measured.json").items():
                        best[version, row] = min(milliseconds, best.get((version, row), milliseconds))
            for row in ROWS:
                before, after = (best.get((version, row)) for version in versions)
                if before and after:
                    ratio = {"before, ms": before, "after, ms": after, "after / before": after / before}
                    rows.append({"shape": shape, "gradient by": row, **ratio})
            report(f"One gradient, before ({revision}) and after", rows, "before_after")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Name the earlier revision: python benchmarks/before_after.py REVISION [SHAPE ...]")
    main(*sys.argv[1:])

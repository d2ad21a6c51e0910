"""Times the search for fixed points against the field's common tool, in networks that the tool's own example trained.

    python benchmarks/common_tool.py

The tool is mattgolub/fixed-point-finder; its example trains a tanh network and a GRU with 16 units on the 3-bit flip-flop,
and searches from 1024 noisy states. `tests/fixtures/common_tool.npz` holds these networks, the starts, what the tool found
there with the example's settings, and its seconds, which `tests/fixtures/make_common_tool.py` measured on the machine that
ran it, with the threads that the file says; run that on this machine before the seconds are compared. gnode searches from
the same starts with `midpoints=True`.

Each first call is made in a process of its own, once without a cache of compiled programs and once with one that an earlier
process filled. Importing the packages is timed apart. A point of the tool counts as true if the tool's q is below its
tolerance, and as found if gnode has a point within 1e-3 of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).parent.parent / "tests" / "fixtures" / "common_tool.npz"
KINDS = ("tanh", "gru")
SAME_POINT = 1e-3
LATER_CALLS = 7
LONGEST_FIRST_CALL = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="processes of each kind, of which the median is reported")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)  # what the processes are called with
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(_in_this_process(options.one)))
        return
    from timing import report

    stored = np.load(STORED)
    rows = [row for kind in KINDS for row in _rows(kind, stored, options.runs)]
    report("Fixed points of the networks of fixed-point-finder's example: 1024 starts, N = 16", rows, "common_tool")
    firsts = [row["first call, s"] for row in rows if row["search"] == "gnode, nothing compiled before"]
    print(f"first calls of at most {LONGEST_FIRST_CALL:g} s: {'yes' if max(firsts) <= LONGEST_FIRST_CALL else 'NO'}")
    misses = [
        row
        for row in rows
        if row["true points of the tool"] is not None and row["of these found"] < row["true points of the tool"]
    ]
    print(f"every true point of the tool: {'NO' if misses else 'yes'}")


def _rows(kind: str, stored: Any, runs: int) -> list[dict[str, Any]]:
    """Measures one network; the tool's row comes from the file."""
    true = int(np.sum(stored[f"{kind}/q"] < stored[f"{kind}/tolerance"]))
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, folder in (("nothing compiled before", "off"), ("compiled programs kept", cache)):
            if folder == cache:
                _process(kind, folder)  # fills it
            found = [_process(kind, folder) for _ in range(runs)]
            row = {"network": kind, "search": f"gnode, {name}"}
            row |= {
                column: float(np.median([one[column] for one in found]))
                for column in ("import, s", "first call, s", "later calls, s")
            }
            rows.append(row | {column: found[0][column] for column in found[0] if column not in row})
    tool = {
        "network": kind,
        "search": f"fixed-point-finder, {int(stored[f'{kind}/steps'])} steps, PyTorch {stored['torch']}",
    }
    tool |= {"import, s": None, "first call, s": float(stored[f"{kind}/seconds"]), "later calls, s": None}
    tool |= {"points": len(stored[f"{kind}/points"]), "stable": int(np.sum(stored[f"{kind}/is_stable"]))}
    return [*rows, tool | {"saddles": None, "true points of the tool": true, "of these found": true, "farthest": 0.0}]


def _process(kind: str, cache: str) -> dict[str, Any]:
    environment = os.environ | {"GNODE_COMPILATION_CACHE": cache}
    command = [sys.executable, __file__, "--one", kind]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


def _in_this_process(kind: str) -> dict[str, Any]:
    """Imports, searches once, and then again."""
    began = time.perf_counter()
    from gnode.analysis import fixed_points

    imported = time.perf_counter() - began
    stored = stored_for(kind)
    cell = cell_of(kind, stored)
    seconds = []
    for _ in range(1 + LATER_CALLS):
        began = time.perf_counter()
        found = fixed_points(cell, stored["starts"], dt=1.0, midpoints=True)
        seconds.append(time.perf_counter() - began)
    true = stored["points"][stored["q"] < stored["tolerance"]]
    distance = np.linalg.norm(true[:, None] - found.points, axis=-1).min(axis=1)
    is_found = distance <= SAME_POINT
    return {
        "import, s": imported,
        "first call, s": seconds[0],
        "later calls, s": float(np.median(seconds[1:])),
        "points": len(found),
        "stable": int(np.sum(found.kind == "stable")),
        "saddles": int(np.sum(found.kind == "saddle")),
        "true points of the tool": len(true),
        "of these found": int(is_found.sum()),
        "farthest": float(distance[is_found].max()),
    }


def stored_for(kind: str) -> dict[str, np.ndarray]:
    """Returns what is stored for one of the networks, by name."""
    return {name.partition("/")[2]: value for name, value in np.load(STORED).items() if name.startswith(f"{kind}/")}


def cell_of(kind: str, stored: dict[str, np.ndarray]) -> Any:
    """Returns the tool's network as a cell, whose map is PyTorch's for dt = tau = 1."""
    import jax.numpy as jnp

    from gnode import cells
    from gnode.cells import FixedTimescale

    W, U, b, c = (stored[name] for name in ("weight_hh", "weight_ih", "bias_ih", "bias_hh"))
    units, inputs = W.shape[1], U.shape[1]
    tau = FixedTimescale(jnp.asarray(1.0, dtype=float))
    if kind == "tanh":
        W, U, b = (jnp.asarray(array) for array in (W, U, b + c))
        F = cells.Stack(W=(W,), U=U, b=(b,), hidden="tanh", final="tanh")
        return cells.Gated(F=F, G=None, timescale=tau, inputs=inputs, units=units)
    # PyTorch's update gate is how much of the old state stays; gnode's is how much of the new one comes in.
    sign = np.repeat(np.asarray([1, -1, 1], W.dtype), units)
    b = b + np.where(np.arange(3 * units) < 2 * units, c, 0)
    W, U, b, c = (jnp.asarray(array) for array in (sign[:, None] * W, sign[:, None] * U, sign * b, c[2 * units :]))
    return cells.GRU(W=W, U=U, b=b, c=c, timescale=tau, inputs=inputs, units=units)


if __name__ == "__main__":
    main()

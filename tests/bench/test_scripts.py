"""Every script in `benchmarks/` can be imported with the package as it is; none of them is run."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_imported(path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)  # they share timing.py
    spec = importlib.util.spec_from_file_location(f"benchmark_{path.stem}", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.__doc__
    assert callable(script.report if path.stem == "timing" else script.main)

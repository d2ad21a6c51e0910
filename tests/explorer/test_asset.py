"""The built files that are committed are those that their sources give, byte for byte."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from page_engine import node
from required import missing

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "explorer"
BUILT = {"gnode/explorer/assets/explorer.js": [], "tests/explorer/evaluate.mjs": ["--math"]}


@pytest.mark.parametrize("file", BUILT)
def test_a_fresh_build_is_the_committed_file(file, tmp_path):
    if node() is None or not (SOURCES / "node_modules" / "esbuild").is_dir():
        missing("there is no node, or explorer/node_modules is not installed: make explorer.", "GNODE_TEST_BROWSER")
    fresh = tmp_path / Path(file).name
    subprocess.run(
        [node(), "build.mjs", *BUILT[file], "--out", str(fresh)],
        cwd=SOURCES,
        check=True,
        timeout=120,
        capture_output=True,
    )
    assert fresh.read_bytes() == (ROOT / file).read_bytes(), f"{file} is not built from explorer/src: make explorer"


def test_versions_are_pinned_and_no_registry_is_named():
    package = json.loads((SOURCES / "package.json").read_text())
    versions = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    assert lock["packages"][""].get("devDependencies", {}) == package.get("devDependencies", {})
    assert lock["packages"][""].get("dependencies", {}) == package.get("dependencies", {})
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, name
        assert not name or "integrity" in entry, name

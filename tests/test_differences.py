"""Every entry of docs/differences.md names a test that is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = [
    line
    for line in (ROOT / "docs" / "differences.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| detail")
]


def named_tests():
    """(entry, file, test): `::name` alone means a test in the file named last."""
    found, file = [], None
    for row in ROWS:
        entry, where = row.split(" | ")[0].strip("| "), row.rstrip("| ").rsplit(" | ", 1)[1]
        names = re.findall(r"`((?:tests/[\w/.]+)?::\w+)`", where)
        assert names, f"{entry}: no test is named"
        for name in names:
            path, _, test = name.partition("::")
            file = path or file
            found.append((entry, file, test))
    return found


@pytest.mark.parametrize(("entry", "file", "test"), named_tests())
def test_the_test_of_an_entry_is_there(entry, file, test):
    assert f"def {test}(" in (ROOT / file).read_text()

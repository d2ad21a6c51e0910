"""The theory notes: what they link to is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_linked_function_is_in_the_file_it_is_linked_to():
    links = re.findall(r"\[`([\w.]+)`\]\(\.\./([\w/]+\.py)\)", (ROOT / "docs" / "theory.md").read_text())
    assert len(links) > 20
    for name, file in links:
        text = (ROOT / file).read_text()
        assert re.search(rf"(def|class) {name.split('.')[-1]}\b", text), f"{name} is not in {file}"

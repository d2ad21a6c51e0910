"""Prints the version of gnode, and what in the repository disagrees with it.

python release/version.py                 # exit status 1 if something disagrees
python release/version.py --is v0.2.0     # is this its tag?
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version(root: Path = ROOT) -> str:
    """Returns the version that `gnode/__init__.py` declares."""
    return only(r'^__version__ = "([^"]+)"$', root / "gnode" / "__init__.py")


def only(pattern: str, path: Path) -> str:
    """Returns the first thing that a pattern finds in a file. **Raises:** `ValueError` if there is none."""
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{path.name} has nothing that looks like {pattern}")
    return found[1]


def disagreements(root: Path = ROOT) -> list[str]:
    """Returns a sentence for each file that names another version, or another date, than it should."""
    said = version(root)
    citation, changes = root / "CITATION.cff", root / "CHANGELOG.md"
    released = only(r"^date-released: (\S+)$", citation)
    found = []
    if (cited := only(r"^version: (\S+)$", citation)) != said:
        found.append(f"CITATION.cff has version {cited}, not {said}.")
    head = only(r"^## (.+)$", changes)
    if not re.fullmatch(rf"{re.escape(said)} \(\d{{4}}-\d\d-\d\d\)", head):
        found.append(f"the first entry of CHANGELOG.md is {head!r}, not '{said} (YYYY-MM-DD)'.")
    elif head != f"{said} ({released})":
        found.append(f"CITATION.cff was released {released}; the first entry of CHANGELOG.md is {head!r}.")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--is", dest="tag", help="a tag, which has to be v and the version")
    tag = parser.parse_args().tag
    found = disagreements()
    if tag is not None and tag != f"v{version()}":
        found.append(f"the tag is {tag}, but the version is {version()}.")
    print(version(), *found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

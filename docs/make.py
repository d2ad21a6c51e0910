"""Writes the pages of `docs` that are made from committed results (`docs/pages`).

    python docs/make.py            # writes the pages
    python docs/make.py --check    # compares them with the files, and exits with status 1 if one differs

The page of figures, tables and claims, `docs/results/reproduce.md`, is written by `gnode reproduce collect`.
"""

import argparse
import sys
from collections.abc import Sequence

from pages import ROOT, pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or compares the pages, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a page differs")
    check = parser.parse_args(arguments).check
    made = pages()
    different = [path for path, text in made.items() if not _is_there(path, text)]
    for path in different:
        if not check:
            (ROOT / path).write_text(made[path])
        print(f"{path}: {'differs from what the committed results make' if check else 'written'}")
    return int(check and bool(different))


def _is_there(path: str, text: str) -> bool:
    return (ROOT / path).exists() and (ROOT / path).read_text() == text


if __name__ == "__main__":
    sys.exit(main())

"""Writes the pages of `docs` that are made from committed results (`docs/pages`).

    python docs/make.py            # writes the pages
    python docs/make.py --check    # compares them with the files, and exits with status 1 if one differs

The page of figures, tables and claims, `docs/results/reproduce.md`, is written by `gnode reproduce collect`.
"""

import argparse
import sys

from pages import ROOT, pages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a page differs")
    check = parser.parse_args().check
    different = [path for path, text in pages().items() if (ROOT / path).read_text() != text]
    for path in different:
        if not check:
            (ROOT / path).write_text(pages()[path])
        print(f"{path} {'differs from the committed results' if check else 'written'}")
    return int(check and bool(different))


if __name__ == "__main__":
    sys.exit(main())

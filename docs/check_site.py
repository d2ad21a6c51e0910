"""Checks the site that was built: every link leads somewhere, nothing is fetched from elsewhere, words are spelled right,
and no notebook took long.

    python docs/check_site.py              # checks docs/_build/html, and exits with status 1 if anything is wrong
    python docs/check_site.py --browser    # opens pages in Chromium too: what they request, what they complain about

Words that no dictionary has are in `docs/words.txt`, a line each. British spelling is the house's.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from check import browser, fetched, links, spelling, times
from check.page import read, read_markdown

SITE = Path(__file__).parent / "_build" / "html"
BESIDE = sorted(Path(__file__).parents[1].glob("*.md"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks the site, prints what is wrong with it, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, default=SITE, help="the folder of the built site")
    parser.add_argument("--browser", action="store_true", help="open pages in Chromium, by Playwright")
    given = parser.parse_args(arguments)
    site = given.site.resolve()
    pages = [read(path, site) for path in sorted(site.rglob("*.html"))]
    if not pages:
        print(f"{site} holds no page; build the site first: make docs")
        return 1
    beside = [read_markdown(path) for path in BESIDE]
    found = links.dead(pages, site) + links.not_encrypted(pages + beside) + fetched.from_elsewhere(pages, site)
    found += spelling.unknown(pages + beside) + times.too_long(site)
    if given.browser:
        found += browser.complaints(site)
    for line in [*found, f"{len(pages)} pages, {len(found)} findings", *times.told(site)]:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

"""How long the site took to build, and each page whose code runs: `docs/conf.py` writes it down beside the site."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "times.json"
LONGEST = 120
"""Seconds that a notebook may take, as the page of notebooks promises."""


def write(site: Path, seconds: float, from_nothing: bool, known: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes down the seconds of a build and those of each notebook.

    **Arguments:** `site`, the folder of the site; `seconds`, of the build; `from_nothing`, whether no notebook was kept
    from an earlier build; `known`, what myst-nb knows of each page, which for a notebook that it kept is how long it took
    when it was run.
    """
    ran = {page: (data.get("exec_data") or {}).get("runtime") for page, data in sorted(known.items())}
    notebooks = {page: seconds for page, seconds in ran.items() if seconds is not None}
    found = {"seconds": seconds, "from_nothing": from_nothing, "notebooks": notebooks}
    (site.parent / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def too_long(site: Path) -> list[str]:
    """Returns a line for every notebook that took longer than readers are promised."""
    return [
        f"{page}: took {seconds:.0f} s to run, and may take {LONGEST} s: let it do less, or, if the machine was busy, "
        f"remove {site.parent.name}/notebooks-* and build the site again"
        for page, seconds in _read(site).get("notebooks", {}).items()
        if seconds > LONGEST
    ]


def told(site: Path) -> list[str]:
    """Returns a line with the seconds of the build, if they were written down."""
    found = _read(site)
    if not found:
        return []
    notebooks = found["notebooks"]
    ran = f"pages with code that runs: {len(notebooks)}, {sum(notebooks.values()):.0f} s together"
    how = "from nothing" if found["from_nothing"] else "with results kept from an earlier build"
    return [f"The site was built in {found['seconds']:.0f} s, {how} ({ran})."]


def _read(site: Path) -> dict[str, Any]:
    file = site.parent / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

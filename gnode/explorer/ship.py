"""Makes a network that comes with gnode from a trained run: `python -m gnode.explorer.ship RUN NAME`.

The same run gives the same bytes on the same machine. The networks are in `gnode/explorer/networks`; `gnode explore NAME`
shows one of them.
"""

import argparse
import re
import sys
from pathlib import Path

from gnode import errors, files
from gnode.arguments import checked
from gnode.explorer import _shipped, _sources
from gnode.explorer._explore import FORMAT
from gnode.explorer._page import as_json

__all__ = ["ship"]

SHARE = 0.5
"""Of the trajectories and trials of a page: ten networks are in every installation."""
STARTS = 10_000
ABOUT = "Writes the document of a run as a network that comes with gnode."
NAME = "[a-z0-9]+(-[a-z0-9]+)*"


@checked
def ship(
    run: str | Path,
    name: str,
    *,
    film: bool = False,
    trials: bool = True,
    starts: int = STARTS,
    folder: Path | None = None,
) -> Path:
    """Writes the document of a run as a network that comes with gnode.

    **Arguments:** `run`, its folder; `name`, the name of the network; `film` and `trials`, whether its film and trials come
    along (recordings of others do not belong into a package); `starts`, the number of states from which fixed points are
    searched; `folder`, by default the one in the package.

    **Returns:** the file.

    **Raises:** `ArgumentError` for a name with other characters than small letters, digits and dashes.
    """
    if not re.fullmatch(NAME, name):
        raise errors.ArgumentError(f"name is {errors.shown(name)}, but must be small letters, digits and dashes.")
    options = {"x": None, "starts": starts, "seed": 0, "trust": False, "share": SHARE, "progress": lambda part: None}
    options["scattered"] = True
    title, verdict, networks = _sources.networks(Path(run), name, film, options)
    if not trials:
        networks = [network | {"trials": None} for network in networks]
    text = as_json({"format": FORMAT, "title": title, "verdict": verdict, "networks": networks})
    place = (_shipped.FOLDER if folder is None else folder) / f"{name}{_shipped.ENDING}"
    with files.writing(place.parent), files.write_by(place) as temporary:
        temporary.write_bytes(_shipped.packed_document(text))
    return place


def main() -> int:
    """Reads the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m gnode.explorer.ship", description=ABOUT)
    parser.add_argument("run", help="the folder of a run")
    parser.add_argument("name", help="the name of the network, as in: gnode explore NAME")
    parser.add_argument("--film", action="store_true", help="with the film of its training")
    parser.add_argument(
        "--without-trials", action="store_true", help="without trials, which may be recordings of others"
    )
    given = parser.parse_args()
    try:
        place = ship(given.run, given.name, film=given.film, trials=not given.without_trials)
    except errors.GnodeError as problem:
        print(f"ship: {problem}", file=sys.stderr)
        return 2
    print(f"{place} ({place.stat().st_size / 1000:.0f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

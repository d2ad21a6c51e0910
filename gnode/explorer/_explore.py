"""`gnode.explore`: from a network, a run, a cell or a function to its portrait."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gnode import errors
from gnode.arguments import checked
from gnode.explorer._portrait import Portrait
from gnode.explorer._shipped import shipped, shipped_names
from gnode.os_errors import as_path

FORMAT = 1
"""Of documents; increased when the page cannot read older ones any more."""
STARTS = 1000


@checked
def explore(
    source: Any,
    *,
    compare: Any = None,
    film: bool = False,
    x: Any = None,
    dt: float | None = None,
    state: int | None = None,
    states: Any = None,
    name: str | None = None,
    starts: int = STARTS,
    seed: int = 0,
    trust: bool = False,
    progress: Callable[[str], None] = lambda part: None,
) -> Portrait:
    """Makes a page on which a network's flow moves, and with which one can play: the explorer, see docs/explorer.md.

    **Arguments:**

    - `source`: a `Run` or its folder, a `Network`, a cell, a function f(h, x) that jax can trace, or the name of a network
      that comes with gnode, such as "square".
    - `compare`: another of these, to be shown beside it.
    - `film`: whether to show the weights that `gnode.train.Film` kept while the run trained.
    - `x`: the constant input at which the page begins and fixed points are searched; zero by default.
    - `dt`: the length of a bin in seconds; that of the run's task, otherwise tau / 10.
    - `state`: the number of dimensions; required for a function, ignored otherwise.
    - `states`: states of interest, for a source without trials: trajectories (trials x time x state), or initial states
      (count x state) of trajectories; drawn at random by default.
    - `name`: the name on the page.
    - `starts`, `seed`: the number of states from which fixed points are searched, and the seed of their choice.
    - `trust`: as in `gnode.load`, for folders.
    - `progress`: called with the name of each part before it starts.

    **Returns:** a `Portrait`, which shows itself in a notebook; see its `save` and `show`.

    **Raises:** `ArgumentError` if the page cannot compute the network, and says which operation it does not know.

    >>> import gnode
    >>> gnode.explore(gnode.cells.rnn(1, 2, key=0), starts=5)
    Portrait('RNN', 1 network of 2 states)
    """
    options = {"x": x, "dt": dt, "state": state, "states": states, "starts": starts, "seed": seed, "trust": trust}
    options |= {"progress": progress, "share": 1.0}
    title, verdict, networks = _networks(source, name, film, options)
    if compare is not None:
        other, _, more = _networks(compare, None, film, options | {"x": None, "states": None})
        if (
            not film
        ):  # a network that comes with gnode may bring its film along, which would be shown in place of the two
            networks, more = ([part[0] | {"epoch": None}] for part in (networks, more))
        title, verdict, networks = f"{title} and {other}", None, networks + more
    return Portrait({"format": FORMAT, "title": title, "verdict": verdict, "networks": networks})


Found = tuple[str, str | None, list[dict[str, Any]]]
"""The title of a page, its verdict, and what it knows of each network."""


def _networks(source: Any, name: str | None, film: bool, options: dict[str, Any]) -> Found:
    if isinstance(source, str | Path):
        own = _own_document(source)
        if own is not None:
            return _of_own(own, str(source), name, film, options["x"])
    from gnode.explorer import _sources  # which waits for jax

    return _sources.networks(source, name, film, options)


def _own_document(source: str | Path) -> dict[str, Any] | None:
    """Returns the document of a network that comes with gnode, unless a folder of that name is there.

    **Raises:** `ArgumentError` if there is neither.
    """
    if as_path("source", source).is_dir():
        return None
    text = str(source)
    if text in shipped_names():
        return shipped(text)
    if Path(text).name != text:
        raise errors.StoreError(f"{text} is not a folder; pass the folder of a run, such as runs/square.")
    guess = errors.nearest(text, shipped_names())
    hint = f" Did you mean {guess!r}?" if guess else ""
    known = ", ".join(shipped_names()) or "none in this installation"
    raise errors.ArgumentError(
        f"source is {errors.shown(text)}, but must be the folder of a run, or one of the networks that come with gnode: "
        f"{known}.{hint}"
    )


def _of_own(document: dict[str, Any], source: str, name: str | None, film: bool, x: Any) -> Found:
    if film and sum(network["epoch"] is not None for network in document["networks"]) < 2:
        raise errors.ArgumentError(f"film is asked for, but {source} comes without one.")
    networks = document["networks"]
    if x is not None:
        held = errors.array("x", x, (networks[0]["inputs"],)).tolist()
        # What was found at another input is left out: the page searches itself.
        networks = [network | {"x": held, "points": None, "slow": None} for network in networks]
    return name or document["title"], document["verdict"], networks

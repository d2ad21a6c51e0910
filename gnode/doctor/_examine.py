"""Which examination a folder needs, and mending it."""

from pathlib import Path

from gnode import errors
from gnode.arguments import checked
from gnode.doctor._data import examine_data
from gnode.doctor._problem import Examination
from gnode.doctor._results import examine_results
from gnode.doctor._run import examine_run
from gnode.doctor._sweep import examine_sweep
from gnode.locks import locked
from gnode.os_errors import translated
from gnode.tasks import DATASETS, cache
from gnode.train import run_folder

_EXAMINE = {"run": examine_run, "sweep": examine_sweep, "results": examine_results, "data": examine_data}


@checked
def examine(folder: str | Path) -> Examination:
    """Checks every file of a run, a sweep, a folder of results or a folder of data sets. Nothing is changed.

    **Arguments:** `folder`.

    **Returns:** an `Examination`: what is well, what is not, and what can be mended.

    **Raises:** `StoreError` if the folder is none of these, or cannot be read.

    >>> import tempfile
    >>> from gnode import build, fit, tasks
    >>> task = tasks.flip_flop("square", trials=4, validation=2, bins=3)
    >>> out = tempfile.mkdtemp()
    >>> run = fit(build("rnn", 2, 2, state=2, key=0), task, epochs=1, out=out)
    >>> examine(out).problems
    []
    """
    place = Path(folder)
    with translated(f"read {place}"):
        return _examine_as(_kind(place), place)


def _examine_as(kind: str, folder: Path) -> Examination:
    facts, problems = _EXAMINE[kind](folder)
    return Examination(folder, kind, facts, problems)


@checked
def mend(folder: str | Path) -> tuple[Examination, list[str]]:
    """Mends what can be mended in a folder. What is damaged is set aside, never removed.

    **Arguments:** `folder`.

    **Returns:** the `Examination` afterwards, and a sentence for each thing that was mended.

    **Raises:** `StoreError` if the folder is none that gnode knows, is in use, or cannot be written.

    No example: see `examine`.
    """
    found = examine(folder)
    if not any(problem.mend for problem in found.problems):
        return found, []
    done: list[str] = []
    # A link in place of the lock is mended first, without the lock that it stands for.
    for problem in found.problems:
        if problem.mend is not None and problem.path.name == ".lock":
            problem.mend()
            done.append(f"{problem.what} {problem.remedy}")
    if found.kind == "data":  # a data set has locks of its own
        return _mend(found, done)
    with locked(found.folder):
        return _mend(found, done)


def _mend(first: Examination, done: list[str]) -> tuple[Examination, list[str]]:
    """Mends what is found, until nothing more can be: what was mended may show another problem."""
    tried: set[str] = set()
    while True:
        found = _examine_as(first.kind, first.folder)
        todo = [problem for problem in found.problems if problem.mend is not None and problem.what not in tried]
        if not todo:
            return found, done
        for problem in todo:
            tried.add(problem.what)
            assert problem.mend is not None
            problem.mend()
            done.append(f"{problem.what} {problem.remedy}")


def _kind(folder: Path) -> str:
    """Says what a folder holds, by the names in it: their content may be damaged."""
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass that of a run, a sweep, results or data sets.")
    names = {place.name for place in folder.iterdir()}
    if names & {"sweep.json", "members"}:
        return "sweep"
    if cache.ABOUT in names or names & {*DATASETS, cache.CHECKSUMS}:
        return "data"
    if names & {file.name for file in run_folder.FILES if file.name != run_folder.RESULT}:
        return "run"
    if any(name.endswith(".json") and not name.startswith(".") for name in names):
        return "results"
    raise errors.StoreError(f"{folder} holds no run, sweep, results or data sets that gnode could look at.")

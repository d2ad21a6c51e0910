"""The examination of the folder of data sets, or of one data set in it."""

from functools import partial
from pathlib import Path

from gnode import errors, files
from gnode.doctor._problem import Problem, set_aside
from gnode.tasks import DATASETS, cache
from gnode.wording import plural


def examine_data(folder: Path) -> tuple[list[str], list[Problem]]:
    """Looks at every data set in a folder, or at the one that the folder is; returns what is well and what is not."""
    if (folder / cache.ABOUT).exists():
        return [], _data_set(folder)
    found = [place for place in sorted(folder.iterdir()) if (place / cache.ABOUT).exists() and place.name[0] != "."]
    problems = [problem for place in found for problem in _data_set(place)]
    names = [name for name in DATASETS if list(folder.glob(f".{name}*.tmp"))]
    if names:
        what = f"{folder} holds what a process that was killed has left of {', '.join(names)}."
        remedy = "A data set that was set aside gets its name back; the rest is removed."
        problems.append(Problem(folder, what, remedy, partial(cache.tidy, names, folder)))
    checksums = folder / cache.CHECKSUMS
    if checksums.exists() and (what := _damage(checksums)):
        remedy = "It is set aside; the next download from each address is then taken on trust."
        problems.append(Problem(checksums, what, remedy, partial(set_aside, checksums)))
    return [f"{plural(len(found), 'data set')}: {', '.join(place.name for place in found) or 'none'}."], problems


def _data_set(folder: Path) -> list[Problem]:
    remedy = f"Get it again: gnode data get {folder.name.partition('-v')[0]} --replace, or gnode data add."
    problems = []
    try:
        cache.ABOUT_FILE.read(folder / cache.ABOUT)
    except errors.StoreError as problem:
        problems.append(Problem(folder / cache.ABOUT, str(problem), remedy))
    known = DATASETS.get(folder.name)
    names = {path.name for path in folder.glob("*.npz")} | set(() if known is None else known.files)
    for path in sorted(folder / name for name in names):
        if what := _damage(path):
            problems.append(Problem(path, what, remedy))
    return problems


def _damage(path: Path) -> str | None:
    try:
        files.read_arrays(path) if path.suffix == ".npz" else files.read_json(path)
    except errors.StoreError as problem:
        return str(problem)
    return None

"""The examination of a sweep's folder."""

from pathlib import Path

from gnode import errors, files
from gnode.doctor._problem import Problem, leftovers, links
from gnode.locks import LOCK
from gnode.sweeps import Sweep, member_damage, set_aside_damaged
from gnode.sweeps.stored import MEMBERS, SPEC, TABLE, UNFINISHED
from gnode.wording import plural


def examine_sweep(folder: Path) -> tuple[list[str], list[Problem]]:
    """Looks at every file of a sweep; returns what is well and what is not."""
    problems = links(folder, LOCK, SPEC, TABLE, MEMBERS, UNFINISHED)
    for place in (folder, folder / MEMBERS, folder / UNFINISHED):
        problems += leftovers(place)
    problems += _checkpoints(folder / UNFINISHED)
    try:
        sweep = Sweep(folder)
    except errors.StoreError as problem:
        remedy = "It says which members there are, so the sweep cannot be resumed; gnode.load reads members one by one."
        return [], [*problems, Problem(folder / SPEC, str(problem), remedy)]
    damaged = [index for index in sweep.done() if member_damage(sweep.member_folder(index))]
    problems += [_member(sweep, index) for index in damaged]
    done, number = len(sweep.done()) - len(damaged), len(sweep.members)
    if not damaged:
        problems += _table(sweep)
    left = "" if done >= number else f"; go on with gnode sweep resume {folder}"
    return [f"{done} of {plural(number, 'member')} can be read{left}."], problems


def _member(sweep: Sweep, index: int) -> Problem:
    place = sweep.member_folder(index)
    remedy = f"It is set aside in damaged/, and gnode sweep resume {sweep.folder} trains it again."
    return Problem(
        place, member_damage(place) or "", remedy, lambda: set_aside_damaged(sweep.folder, [index], warn=False)
    )


def _table(sweep: Sweep) -> list[Problem]:
    path = sweep.folder / TABLE
    try:
        if not sweep.done() or (path.exists() and files.read_text(path) == sweep.table_text()):
            return []
        what = f"{path} is not the table of the members that are there."
    except errors.StoreError as problem:
        what = str(problem)
    return [Problem(path, what, "It is written again from the members.", sweep.write_table)]


def _checkpoints(folder: Path) -> list[Problem]:
    problems = []
    for path in [] if folder.is_symlink() else sorted(folder.glob("*.npz*")):
        try:
            files.read_arrays(path)
        except errors.StoreError as problem:
            remedy = (
                "It is removed; the member goes on from an earlier checkpoint, or begins anew, to the same numbers."
            )
            problems.append(Problem(path, str(problem), remedy, lambda path=path: files.remove(path)))
    return problems

"""What can be wrong with a folder, and what can be done about it."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from gnode import files
from gnode.wording import plural


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something that is wrong with a folder.

    - `path`: the file or folder.
    - `what`: what is wrong, in a sentence.
    - `remedy`: what can be done, in a sentence.
    - `mend`: does it; None where only the user can.

    No example: `gnode.doctor.examine` returns it.
    """

    path: Path
    what: str
    remedy: str
    mend: Callable[[], None] | None = None

    def __repr__(self) -> str:
        return f"Problem({self.what!r}, {'can be mended' if self.mend else 'cannot be mended'})"


@dataclasses.dataclass(frozen=True)
class Examination:
    """What was found in a folder.

    - `folder`, `kind`: where and what it is: "run", "sweep", "results" or "data".
    - `facts`: what is well, in a sentence each.
    - `problems`: what is not.

    No example: `gnode.doctor.examine` returns it.
    """

    folder: Path
    kind: str
    facts: list[str]
    problems: list[Problem]

    def __repr__(self) -> str:
        return f"Examination({self.kind} in {str(self.folder)!r}, {plural(len(self.problems), 'problem')})"


def set_aside(path: Path) -> None:
    """Renames a damaged file to NAME.damaged, so that it is not read any more, and not lost either."""
    place, tries = path.with_name(path.name + ".damaged"), 1
    while place.exists() or place.is_symlink():
        place, tries = path.with_name(f"{path.name}.damaged-{tries}"), tries + 1
    files.rename(path, place)


def leftovers(folder: Path) -> list[Problem]:
    """Temporary files of processes that were killed."""
    found = [] if folder.is_symlink() else sorted(folder.glob(".*.tmp"))
    if not found:
        return []
    number = plural(len(found), "temporary file")
    return [
        Problem(
            folder,
            f"{folder} holds {number} of a process that was killed.",
            "They are of no use and can be removed.",
            lambda: files.remove_leftovers(folder),
        )
    ]


def links(folder: Path, *names: str) -> list[Problem]:
    """Links where files and folders of gnode belong, through which it does not write."""
    return [_link(folder / name) for name in names if (folder / name).is_symlink()]


def _link(path: Path) -> Problem:
    return Problem(
        path,
        f"{path} is a symbolic link, which gnode does not follow when it writes or removes files.",
        "The link can be removed; what it leads to stays as it is.",
        lambda: files.remove(path),
    )

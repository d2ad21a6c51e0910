"""A sweep's folder, and what has come of it: its members, its table, the best settings.

| in the folder        | what it is                                                                             |
|----------------------|----------------------------------------------------------------------------------------|
| `sweep.json`         | the task, the axes, the members in order, versions and commit                          |
| `results.csv`        | one row per finished member: settings, status, minimum validation loss, its epoch      |
| `members/0007/`      | the run folder of member 7 (`gnode.load`, `gnode analyse` take it)                     |
| `unfinished/`        | how far members in training have come; gone when the sweep is over                     |
"""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors
from gnode.tasks import files
from gnode.train import member, run, spec, store
from gnode.train.grid import Grid
from gnode.train.parts import Part
from gnode.train.run import Run
from gnode.train.unfinished import UNFINISHED

SPEC, TABLE = "sweep.json", "results.csv"
OUTCOMES = ("status", "best_loss", "best_epoch", "diverged_at", "epochs_done")
TESTED = ("test_loss", "test_accuracy")
COUNTS = "counts"
"""Whether a member of a search is one that results are made of."""


class Sweep:
    """A sweep's folder: what was asked for, and what has come of it so far."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if not (self.folder / SPEC).exists():
            raise errors.StoreError(f"{self.folder} holds no sweep (no {SPEC} in it).")
        stored = store.read_json(self.folder / SPEC)
        if not isinstance(stored, dict) or not {"task", "axes"} <= stored.keys():
            raise errors.StoreError(f"{self.folder / SPEC} is not a sweep's; pass the folder of a sweep.")
        axes = {name: tuple(_as_value(value) for value in values) for name, values in stored["axes"].items()}
        tried = {name: _as_value(value) for name, value in stored.get("search_with", {}).items()}
        self.grid = Grid(stored["task"], axes, tuple(stored.get("search", ())), tried)
        self._file = stored.get("file")
        self.members = self.grid.members
        self.search = self.grid.chooser()

    def task_here(self) -> str:
        """The task's name; of a task that is a file, where that is. A file that has changed is an error."""
        return self.grid.task if self._file is None else files.recorded(self.grid.task, self._file)

    def done(self) -> list[int]:
        """The members that have been trained."""
        return [index for index in range(len(self.members)) if member.is_done(self.folder, index)]

    def begun(self) -> int:
        """How many members are in training, or were when it stopped."""
        return len(list((self.folder / UNFINISHED).glob("[0-9]*.npz")))

    def todo(self, part: Part | None = None) -> list[int]:
        """The members to train next, of one part or of all. In a search those that try settings come first, alone."""
        mine = range(len(self.members)) if part is None else sorted(self.members_of(part))
        if self.search is not None:
            tries = set(self.search.tries())
            ready = all(member.is_done(self.folder, index) for index in tries.intersection(mine))
            wanted = set(self.counting()) if ready else tries
            mine = [index for index in mine if index in wanted]
        return [index for index in mine if not member.is_done(self.folder, index)]

    def members_of(self, part: Part) -> set[int]:
        """The members that a part of the sweep has."""
        return part.members(self.grid, [] if self.search is None else self.search.choices)

    def counting(self) -> list[int]:
        """The members that results are made of: all, or in a search all seeds of the best settings, as far as known."""
        if self.search is None:
            return list(range(len(self.members)))
        return self.search.winners(self._loss)

    def number(self, part: Part | None = None) -> int:
        """How many members there will be in the end, in a part or in all; fewer than the grid has in a search."""
        within = range(len(self.members)) if part is None else self.members_of(part)
        return len(within) if self.search is None else self.search.cost(within)

    def _loss(self, index: int) -> float | None:
        return self.result(index)["best_loss"] if member.is_done(self.folder, index) else None

    def rows(self) -> list[dict[str, Any]]:
        """One row per finished member, in the members' order: its settings and how it ended; in a search, if it counts."""
        names = [name for name in spec.OPTIONS if any(name in settings for settings in self.members)]
        found, counting = [], set(self.counting())
        for index in self.done():
            settings, result = self.members[index], self.result(index)
            row = {"member": index, "task": self.grid.task}
            row |= {name: spec.write(name, settings.get(name)) for name in names}
            tested = {f"test_{name}": value for name, value in (result.get("test") or {}).items()}
            counts = {} if self.search is None else {COUNTS: index in counting}
            found.append(row | {name: result[name] for name in OUTCOMES} | tested | counts)
        columns = {name: None for row in found for name in row}
        return [{name: row.get(name) for name in columns} for row in found]

    def counting_rows(self) -> list[dict[str, Any]]:
        """The rows of the members that results are made of."""
        return [row for row in self.rows() if row.get(COUNTS, True)]

    def table(self) -> dict[str, list[Any]]:
        """The rows as columns: `pandas.DataFrame(sweep.table())` and `polars.DataFrame(sweep.table())` both take it."""
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def result(self, index: int) -> dict[str, Any]:
        """How a member ended."""
        folder = member.folder_of(self.folder, index)
        ended = store.read_json(folder / store.RESULT)
        if "epochs_done" not in ended:  # of an earlier version
            with (folder / store.METRICS).open() as file:
                ended["epochs_done"] = sum(1 for _ in file) - 1
        return ended

    def seconds(self) -> float:
        """How long the finished members were trained, all together."""
        return sum(self.result(index)["seconds"] for index in self.done())

    def devices(self) -> list[str]:
        """What the finished members were trained on, each named once."""
        # A member's settings may have been thrown away with its weights; its result stays.
        configs = [member.folder_of(self.folder, index) / store.CONFIG for index in self.done()]
        found = [device for path in configs if path.exists() for device in store.read_json(path)["devices"]]
        return list(dict.fromkeys(found))

    def load(self, index: int) -> Run:
        """A member's run, with its trained network."""
        if not 0 <= index < len(self.members):
            raise errors.ArgumentError(
                f"member is {index!r}, but the sweep's members are 0 to {len(self.members) - 1}."
            )
        if not member.is_done(self.folder, index):
            raise errors.StoreError(f"member {index} of {self.folder} has not been trained yet; resume the sweep.")
        return run.load(member.folder_of(self.folder, index))

    def best(self, by: str = "model") -> dict[Any, dict[str, Any]]:
        """The best setting for each value of `by`: the lowest mean over seeds of the minimum validation loss (in a search
        the settings are chosen with the first seed before).

        Each entry has the setting, the mean and standard deviation over its seeds, their number, and the best member.
        """
        errors.one_of("by", by, spec.OPTIONS)
        found: dict[Any, dict[str, Any]] = {}
        for rows in _over_seeds(self.counting_rows()).values():
            losses = np.array([row["best_loss"] for row in rows])
            best = min(rows, key=lambda row: (row["best_loss"], row["member"]))
            std = float(losses.std()) if np.all(np.isfinite(losses)) else float("nan")  # a seed that diverged at once
            entry = best | {"mean": float(losses.mean()), "std": std, "seeds": len(rows)}
            for score in TESTED:  # of the same runs: test trials never choose
                if all(row.get(score) is not None for row in rows):
                    scores = np.array([row[score] for row in rows])
                    entry |= {score: float(scores.mean()), f"{score}_std": float(scores.std())}
            value = best.get(by)
            if value not in found or entry["mean"] < found[value]["mean"]:
                found[value] = entry
        return found

    def markdown(self, by: str = "model") -> str:
        """The best settings as a Markdown table."""
        shown = [name for name in self.grid.varying() if name not in (by, "seed")]
        best = self.best(by)
        tested = [score for score in TESTED if any(entry.get(score) is not None for entry in best.values())]
        head = [by, *shown, "min. validation loss", *(name.replace("_", " ") for name in tested), "epoch", "member"]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for value, entry in best.items():
            several = entry["seeds"] > 1
            spread = f" ± {entry['std']:.2g} ({entry['seeds']} seeds)" if several else ""
            scores = [
                f"{entry[name]:.4g}" + (f" ± {entry[f'{name}_std']:.2g}" if several else "") if name in entry else ""
                for name in tested
            ]
            cells = [
                value,
                *(entry.get(name, "") for name in shown),
                f"{entry['mean']:.4g}{spread}",
                *scores,
                entry["best_epoch"],
                entry["member"],
            ]
            lines.append("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |")
        return "\n".join(lines) + "\n"

    def status(self) -> dict[str, int]:
        """How many members there are, are done, diverged, and stopped early."""
        ended = [
            store.read_json(member.folder_of(self.folder, index) / store.RESULT)["status"] for index in self.done()
        ]
        counts = {kind: ended.count(kind) for kind in ("finished", "stopped", "diverged")}
        return {"members": self.number(), "done": len(ended), **counts}

    def write_table(self) -> None:
        """Brings `results.csv` up to date."""
        rows = self.rows()
        text = io.StringIO()
        if rows:
            writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        store.write_text(self.folder / TABLE, text.getvalue())


def _over_seeds(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows that differ in nothing but the seed, together."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        same = {
            name: value for name, value in row.items() if name not in ("seed", "member", COUNTS, *OUTCOMES, *TESTED)
        }
        found.setdefault(json.dumps(same, sort_keys=True), []).append(row)
    return found


def _as_value(value: Any) -> Any:
    """Lists in JSON were tuples."""
    return tuple(_as_value(part) for part in value) if isinstance(value, list) else value

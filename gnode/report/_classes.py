"""The part of a report about classes: accuracy, confusion, and where the states of each class end."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import plots
from gnode.analysis import Findings, pca
from gnode.explorer.verdict import Judged, class_names, most_confused
from gnode.report._page import Section
from gnode.train import Run
from gnode.wording import plural

ENDS = "Where the trials of each class end: the last state of every validation trial, along the principal components of all "
ENDS += "visited states."


def class_figures(run: Run, judged: Judged, found: Findings | None) -> dict[str, Figure]:
    """Draws the confusion matrix and the end states of the validation trials."""
    assert judged.scores.confusion is not None
    names, states = class_names(run.task), np.asarray(run.states, np.float64)
    components = pca(states.reshape(-1, states.shape[-1])) if found is None else found.components
    points = None if found is None else found.fixed_points
    return {
        "classes": plots.class_ends(states[:, -1], run.task.validation.end_classes(), names, points, found=components),
        "confusion": plots.confusion_matrix(judged.scores.confusion, names),
    }


def class_section(run: Run, judged: Judged, found: Findings | None, figures: dict[str, Figure]) -> Section:
    """Describes what is right, what is confused, and what the fixed points stand for."""
    confusion, names = judged.scores.confusion, class_names(run.task)
    assert confusion is not None
    unit = "trial" if run.task.when == "last" else "bin"
    section = Section("Classes")
    section.paragraphs.append(
        f"{judged.scores.accuracy:.1%} of {plural(int(confusion.sum()), f'{judged.part} {unit}')} are classified right; the "
        f"cross-entropy is {judged.scores.loss:.3g}."
    )
    pair = most_confused(confusion)
    if pair is not None:
        a, b, _ = pair
        section.paragraphs.append(
            f"{names[a]} was taken for {names[b]} {_times(confusion[a, b])}, and {names[b]} for {names[a]} "
            f"{_times(confusion[b, a])}: no pair of classes is confused more often."
        )
    if found is not None:
        section.paragraphs.append(_meaning(found, names))
    captions = {
        "classes": ENDS,
        "confusion": f"The {judged.part} {unit}s of each class (rows) by what they were taken for.",
    }
    section.figures = [(figures[name], caption) for name, caption in captions.items() if name in figures]
    return section


def class_table(run: Run, judged: Judged) -> Section:
    """Tabulates the accuracy of every class, the worst first."""
    confusion, names = judged.scores.confusion, class_names(run.task)
    assert confusion is not None
    rows = []
    for kind in np.argsort(_recalls(confusion), kind="stable"):
        total, right = int(confusion[kind].sum()), int(confusion[kind, kind])
        if total == 0:
            continue
        wrong = confusion[kind].copy()
        wrong[kind] = 0
        taken = f"{names[int(wrong.argmax())]} ({wrong.max()})" if wrong.max() else ""
        rows.append((names[kind], total, right, f"{right / total:.1%}", taken))
    unit = "trials" if run.task.when == "last" else "bins"
    header = ("class", unit, "right", "share", "most often taken for")
    return Section("Table: accuracy by class", header=header, rows=rows, folded=True)


def class_numbers(run: Run, judged: Judged) -> dict[str, Any]:
    """Returns the numbers of a classification for analysis.json."""
    confusion = judged.scores.confusion
    assert confusion is not None
    return {
        "names": class_names(run.task),
        "part": judged.part,
        "accuracy": judged.scores.accuracy,
        "confusion": confusion.tolist(),
    }


def _times(count: int) -> str:
    return plural(int(count), "time") if count else "never"


def _recalls(confusion: np.ndarray) -> np.ndarray:
    return np.diagonal(confusion) / np.maximum(confusion.sum(axis=1), 1)


def _meaning(found: Findings, names: list[str]) -> str:
    """Says which classes the network answers at its stable fixed points."""
    stable = found.fixed_points.select(status="equilibrium", kind="stable")
    if not len(stable):
        return "No stable fixed point was found: once the input ends, no answer is held for ever."
    answers, counts = np.unique(stable.outputs.argmax(axis=1), return_counts=True)
    listed = ", ".join(f"{names[kind]} ({count})" for kind, count in zip(answers[:20], counts))
    return (
        f"The answer at the {plural(len(stable), 'stable fixed point')}: {listed}. A class with a stable fixed point of "
        f"its own can be held for ever; the answer to others fades."
    )

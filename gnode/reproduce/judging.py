"""Judges stored results again by the rules of today. No number changes: only verdicts, and the first ones are kept."""

import dataclasses
from pathlib import Path

from gnode import files
from gnode.reproduce import archive
from gnode.reproduce.archive import Result
from gnode.reproduce.evidence import EARLIER, Evidence
from gnode.reproduce.registry import find_artefact
from gnode.reproduce.verdicts import of_stored


def judge_folder(folder: Path) -> list[Path]:
    """Judges every result of a folder again, and writes those whose claims have changed.

    **Returns:** the files that were written.
    """
    written = []
    for path, content in archive.result_files(folder):
        judged = judge_again(content)
        if judged != content:
            files.write_json(path, judged)
            written.append(path)
    return written


def judge_again(content: Result) -> Result:
    """Returns a result with its claims as the rules of today judge what it has stored.

    The claims of its run are kept as `earlier_checks` where they differ. At smoke scale nothing is judged.
    """
    judge = find_artefact(content["name"]).judge
    if judge is None or content["scale"] == "smoke":
        return content
    claims = [dataclasses.asdict(claim) for claim in judge(Evidence.of(content))]
    first = content.get(EARLIER, content["checks"])
    same = [(claim["claim"], of_stored(claim)) for claim in first] == [(own["claim"], own["verdict"]) for own in claims]
    made = {name: value for name, value in content.items() if name != EARLIER} | {"checks": claims}
    return made if same and EARLIER not in content else made | {EARLIER: first}

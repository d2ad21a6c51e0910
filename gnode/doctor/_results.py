"""The examination of a folder of results, which `gnode reproduce` writes."""

from functools import partial
from pathlib import Path

from gnode import errors, files
from gnode.doctor._problem import Problem, leftovers, set_aside
from gnode.reproduce.archive import RESULT_FILE
from gnode.reproduce.result_files import markdown
from gnode.wording import plural


def examine_results(folder: Path) -> tuple[list[str], list[Problem]]:
    """Looks at every result in a folder; returns what is well and what is not."""
    problems, sound = leftovers(folder), 0
    for path in sorted(folder.glob("*.json")):
        try:
            content = RESULT_FILE.read(path)
        except errors.StoreError as problem:
            remedy = "It is set aside; gnode reproduce run makes it again."
            problems.append(Problem(path, str(problem), remedy, partial(set_aside, path)))
            continue
        sound += 1
        page = path.with_suffix(".md")
        if not page.exists():
            again = partial(files.write_text, page, markdown(dict(content)))
            problems.append(Problem(page, f"{page} is missing.", "It is written again from the numbers.", again))
        for name in content["figures"]:
            if not (folder / name).exists():
                remedy = f"Make it again: {content['command']} --out {folder}"
                problems.append(Problem(folder / name, f"{folder / name} is missing.", remedy))
    return [f"{plural(sound, 'result')} can be read."], problems

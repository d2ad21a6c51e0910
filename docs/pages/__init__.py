"""The pages of `docs` that are made from committed results, a module each.

A module has a constant `PATH`, the page's path in the repository, and a function `page()` that returns its text. Nothing is
trained or measured here: the numbers come from `benchmarks/results` and `docs/results`.
"""

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


def pages() -> dict[str, str]:
    """Returns the text of every page by its path in the repository."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {module.PATH: module.page() for module in modules}


def read_result(name: str) -> Any:
    """Returns the content of a JSON file in `docs/results`."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(head: list[str], rows: list[list[str]], rule: str = "---") -> str:
    """Returns a Markdown table; `rule` is the text of each cell in the line below the head."""
    lines = [head, *rows]
    texts = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join([texts[0], "|" + f"{rule}|" * len(head), *texts[1:]])

"""The lowest versions of the dependencies that pyproject.toml allows.

python release/lowest.py        # prints them as constraints for pip
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BOUND = re.compile(r"([A-Za-z0-9][\w.-]*)>=(\d[\d.]*)")


def lowest(pyproject: str) -> dict[str, str]:
    """Returns the lowest version of each dependency, from the text of pyproject.toml.

    **Raises:** `ValueError` for a dependency that says more or less than NAME>=VERSION.

    >>> lowest('[project]\\ndependencies = ["jax>=0.10", "rich>=13"]')
    {'jax': '0.10', 'rich': '13'}
    """
    found = {}
    for requirement in tomllib.loads(pyproject)["project"]["dependencies"]:
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} is not NAME>=VERSION, so its lowest version is not known.")
        found[bound[1]] = bound[2]
    return found


def constraints(pyproject: str) -> str:
    """Returns them as a file of constraints for pip: exactly these versions."""
    return "".join(f"{name}=={version}\n" for name, version in lowest(pyproject).items())


if __name__ == "__main__":
    print(constraints(PYPROJECT.read_text(encoding="utf-8")), end="")

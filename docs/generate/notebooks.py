"""Which notebooks can be kept from an earlier build of the site: those that would compute the same again."""

import hashlib
import importlib.metadata
import platform
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from generate import DOCS, ROOT

OTHERS = ("jaxlib", "ipykernel", "myst-nb")
"""Packages beside gnode's own dependencies whose versions notebooks depend on."""


def digest(docs: Path = DOCS, root: Path = ROOT) -> str:
    """Returns a digest of what all notebooks depend on: a notebook that was run with another one is run again.

    That is every file of the package, with the page of the explorer and the networks that come along; the fixtures that
    notebooks read; and the versions of Python and of the dependencies. What a notebook says itself is compared by myst-nb.
    """
    found = hashlib.sha256()
    for path in [*files_of_package(root), *fixtures_read(docs, root)]:
        found.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    for name, version in versions(root).items():
        found.update(f"{name} {version}\n".encode())
    return found.hexdigest()[:12]


def files_of_package(root: Path = ROOT) -> list[Path]:
    """Returns the files of the package but those that Python compiles itself."""
    return [path for path in sorted((root / "gnode").rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def fixtures_read(docs: Path = DOCS, root: Path = ROOT) -> list[Path]:
    """Returns the fixtures of the tests that a notebook names."""
    told = "".join(path.read_text(encoding="utf-8") for path in sorted((docs / "notebooks").glob("*.md")))
    return [path for path in sorted((root / "tests" / "fixtures").iterdir()) if path.is_file() and path.name in told]


def versions(root: Path = ROOT) -> dict[str, str]:
    """Returns the versions of Python and of what gnode depends on."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = sorted({re.split(r"[\[<>=~! ]", line)[0] for line in project["dependencies"]} | set(OTHERS))
    return {"python": platform.python_version()} | dict(_installed(names))


def _installed(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue

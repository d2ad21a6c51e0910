"""Checks what is in the wheel and the sdist of a folder, and how large they are.

    python release/contents.py dist

The wheel holds every file of the package and nothing else: no tests, no pages. The sdist holds what is needed to build gnode
and to test it. The exit status is 1 if something is missing, or too much.
"""

import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from version import ROOT, version

LARGEST_WHEEL, LARGEST_SDIST = 4e6, 20e6
"""Bytes."""
LICENCES = ("LICENSE", "THIRD_PARTY.md")
OF_THE_SDIST = (
    *("pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Makefile", *LICENCES),
    *(
        ".ci/run",
        "docs/conf.py",
        "docs/index.md",
        "examples",
        "benchmarks",
        "release/try_wheel.py",
        "tests/conftest.py",
    ),
    *("explorer/package-lock.json", "explorer/src/main.ts", "tests/fixtures/old-run/weights.npz"),
)
"""Files and folders without which the sdist cannot be built from, or tested."""
NOT_IN_THE_SDIST = ("/.venv/", "/node_modules/", "/__pycache__/", "/_build/", "/docs/reference/", "/runs/", ".whl")


def of_the_package(root: Path = ROOT) -> set[str]:
    """Returns the files of the package in the source tree."""
    found = (path for path in (root / "gnode").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in found}


def wrong_in_wheel(names: Iterable[str], package: set[str], said: str) -> list[str]:
    """Returns a sentence for each file that a wheel lacks or has too many.

    **Arguments:** `names`, the files in the wheel; `package`, those of the package; `said`, the version.
    """
    metadata = f"gnode-{said}.dist-info/"
    expected = package | {f"{metadata}licenses/{name}" for name in LICENCES}
    files = set(names)
    extra = {name for name in files - expected if not name.startswith(metadata)}
    missing = [f"the wheel lacks {name}." for name in sorted(expected - files)]
    needed = [f"the package lacks {name}." for name in NEEDED if name not in package]
    return [*needed, *missing, *(f"the wheel has {name}, which is not in the package." for name in sorted(extra))]


NEEDED = ("gnode/py.typed", "gnode/explorer/assets/explorer.js", "gnode/explorer/networks/square.json.gz")
"""Files of the package that no import asks for."""


def wrong_in_sdist(names: Iterable[str], package: set[str], said: str) -> list[str]:
    """Returns a sentence for each file that an sdist lacks or has too many; arguments as for `wrong_in_wheel`."""
    top = f"gnode-{said}/"
    files = list(names)
    inside = {name.removeprefix(top) for name in files if name.startswith(top)}
    folders = {parent.as_posix() for name in inside for parent in Path(name).parents}
    missing = sorted({*package, *OF_THE_SDIST} - inside - folders)
    extra = [name for name in files if not name.startswith(top) or any(part in name for part in NOT_IN_THE_SDIST)]
    return [*(f"the sdist lacks {name}." for name in missing), *(f"the sdist has {name}." for name in sorted(extra))]


def wrong_in(folder: Path) -> list[str]:
    """Returns what is wrong with the wheel and the sdist of a folder, which has to hold one of each."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if (len(wheels), len(sdists)) != (1, 1):
        return [f"{folder} has {len(wheels)} wheels and {len(sdists)} sdists, not one of each."]
    (wheel,), (sdist,) = wheels, sdists
    said, package = version(), of_the_package()
    with zipfile.ZipFile(wheel) as opened:
        wrong = wrong_in_wheel([name for name in opened.namelist() if not name.endswith("/")], package, said)
    with tarfile.open(sdist) as opened_sdist:
        wrong += wrong_in_sdist([entry.name for entry in opened_sdist if entry.isfile()], package, said)
    for path, limit in ((wheel, LARGEST_WHEEL), (sdist, LARGEST_SDIST)):
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e6:.2f} MB")
        if size > limit:
            wrong.append(f"{path.name} is larger than {limit / 1e6:.0f} MB.")
    return wrong


def main() -> int:
    wrong = wrong_in(Path(sys.argv[1]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

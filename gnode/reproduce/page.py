"""The state of the reproduction, and its pages: a summary, a page for each artefact, and the rules that judge claims."""

from pathlib import Path

from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.reproduce import archive, artefact_page, result_files, rules_page, summary
from gnode.reproduce.archive import Result
from gnode.reproduce.artefact import Artefact
from gnode.reproduce.registry import all_artefacts
from gnode.reproduce.runner import missing_data

DEFAULT_FOLDER = Path("docs/results/reproduce")


def states(folder: Path) -> list[tuple[Artefact, str]]:
    """Returns every artefact with its state: never run, or scale, date and commit of its results; and missing data sets."""
    found = archive.read_results(folder)
    return [(artefact, _state(artefact, found.get(artefact.name, []))) for artefact in all_artefacts()]


def _state(artefact: Artefact, results: list[Result]) -> str:
    missing = missing_data(artefact)
    needs = f" (needs data: {', '.join(missing)})" if missing else ""
    reached = []
    for content in results:
        run, (scale, *less) = content[result_files.RUN], archive.extent(content)
        reached.append(f"{', '.join([f'{scale} scale', *less])}, {run['date']}, commit {run['commit'] or 'unknown'}")
    return ("; ".join(reached) or "never run") + needs


@checked
def results_page(folder: str | Path) -> str:
    """Returns the summary of all results of a folder as Markdown; `artefact_pages` makes the pages that it links to.

    >>> results_page(Path("no/such/folder")).splitlines()[0]
    '# Every figure, table and claim of the paper'
    """
    folder = as_path("folder", folder)
    return summary.page(archive.read_results(folder), folder.name)


@checked
def artefact_pages(folder: str | Path) -> dict[str, str]:
    """Returns the pages of artefacts with a result in a folder, of all and of the rules, by the names of their files.

    The files belong into the folder itself: pictures and links are relative to it.

    >>> list(artefact_pages(Path("no/such/folder")))
    ['artefacts.md', 'rules.md']
    """
    folder = as_path("folder", folder)
    found = archive.read_results(folder)
    pages = {
        f"{artefact.name}.md": artefact_page.page(artefact, found, folder)
        for artefact in all_artefacts()
        if artefact.name in found
    }
    listed = {f"{summary.ALL}.md": summary.all_page(found, folder.name)}
    return listed | pages | {"rules.md": rules_page.page(found, folder.name)}

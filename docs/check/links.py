"""Every link of the site to itself leads to a page, and every anchor is on it; links to elsewhere are not followed."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from check.page import Page


def dead(pages: list[Page], site: Path) -> list[str]:
    """Returns a line for every link and every picture, script and style sheet of the site's own that is not there."""
    anchors = {page.path: page.anchors for page in pages}
    found = []
    for page in pages:
        for target in dict.fromkeys(page.links + page.loads):
            problem = _problem(page, target, anchors, site)
            if problem:
                found.append(f"{page.name}: {target} {problem}")
    return found


def not_encrypted(pages: list[Page]) -> list[str]:
    """Returns a line for every link to elsewhere by which a reader could be sent anything: by another scheme than https."""
    return [
        f"{page.name}: {target} is not https"
        for page in pages
        for target in dict.fromkeys(page.links)
        if (urlsplit(target).netloc or urlsplit(target).scheme == "http") and urlsplit(target).scheme != "https"
    ]


def _problem(page: Page, target: str, anchors: dict[Path, set[str]], site: Path) -> str | None:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    path = page.path if not parts.path else (page.path.parent / unquote(parts.path)).resolve()
    path = path / "index.html" if path.is_dir() else path
    if not path.is_relative_to(site):
        return "leads out of the site"
    if not path.is_file():
        return "leads nowhere"
    wanted = unquote(parts.fragment)
    if wanted and path in anchors and wanted not in anchors[path]:
        return "has no such anchor"
    return None

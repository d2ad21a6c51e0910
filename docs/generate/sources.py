"""Links from pages to what is beside them in the repository: files of Python become pages of the site, others downloads.

There is no public address of the repository to which they could lead.
"""

import functools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from generate import DOCS, ROOT, faces

LINK = re.compile(r"(?<!!)\[([^\[\]]{1,300})\]\(([^()#\s]+)(#[^()\s]*)?\)")
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
"""What stands outside `docs` and is a page of the site nevertheless."""


def with_links(page: str, text: str, docs: Path = DOCS) -> str:
    """Returns the text of a page whose links to files and folders outside `docs` lead somewhere on the site.

    **Arguments:** `page`, its path in `docs` without the suffix; `text`; `docs`.
    """
    return LINK.sub(lambda found: _link(found, page, docs), text)


def _link(found: re.Match[str], page: str, docs: Path) -> str:
    said, target = found[1], found[2]
    place = Path(os.path.normpath((docs / page).parent / target))
    if ":" in target or target.startswith("/") or not place.is_relative_to(ROOT):
        return found[0]
    if place.is_dir():
        return said
    if not place.is_file() or place.is_relative_to(docs):
        return found[0]
    inside = place.relative_to(ROOT).as_posix()
    if inside in PAGES:
        return f"[{said}](/{PAGES[inside]}{found[3] or ''})"
    if place.suffix == ".py":
        line = re.search(r":(\d+)`?$", said)
        return html_link(page, inside, said, int(line[1]) if line else None)
    return f"{{download}}`{said.strip('`')} </{os.path.relpath(place, docs)}>`"


def html_link(page: str, file: str, said: str, line: int | None) -> str:
    """Returns a link from a page to the page of a file of Python, at a line."""
    up = "../" * page.count("/")
    return f'<a class="source" href="{up}source/{file}.html{f"#line-{line}" if line else ""}">{said}</a>'


def shown_files(docs: Path = DOCS) -> list[str]:
    """Returns the files of Python that have a page: those of public names, and those to which pages link."""
    files = {Path(faces.file_of(name)).relative_to(ROOT).as_posix() for name in faces.names()}
    for path in docs.rglob("*.md"):
        if "_build" not in path.parts:
            page = path.relative_to(docs).with_suffix("").as_posix()
            made = with_links(page, path.read_text(encoding="utf-8"), docs)
            files |= {
                found.split(".html")[0] for found in re.findall(r'class="source" href="[./]*source/([^"]+)"', made)
            }
    return sorted(files)


Page = tuple[str, dict[str, Any], str]


def pages(docs: Path = DOCS) -> Iterator[Page]:
    """Yields every page of a file as Sphinx collects them: its name, what its template is given, the template."""
    for file in shown_files(docs):
        text = highlight((ROOT / file).read_text(encoding="utf-8"), PythonLexer(), _formatter())
        body = f'<h1>{file}</h1><div class="highlight-python source-file">{text}</div>'
        yield f"source/{file}", {"title": file, "body": body}, "page.html"


@functools.cache
def _formatter() -> Callable[..., Any]:
    return HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True, cssclass="highlight")

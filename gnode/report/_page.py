"""A self-contained HTML page of headings, paragraphs, tables and embedded figures."""

import base64
import dataclasses
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gnode import errors, files
from gnode.arguments import checked, checked_class
from gnode.os_errors import as_path
from gnode.wording import plural

STYLESHEET = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.8rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1.2rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #555; font-size: 0.9rem; }
.none { color: #8a4b00; font-weight: 600; }
"""


@checked_class
@dataclasses.dataclass
class Section:
    """A section of a page: a heading, paragraphs, a table and figures.

    - `title`: the heading.
    - `paragraphs`: the paragraphs.
    - `header`, `rows`: the table.
    - `figures`: figures with their captions.
    - `nothing`: an emphasised first paragraph, for what was searched for and not found.

    >>> Section("Memory", ["Half of the memories last 2 s."])
    Section('Memory', 1 paragraph, 0 rows, 0 figures)
    """

    title: str
    paragraphs: list[str] = dataclasses.field(default_factory=list)
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: list[tuple[Figure, str]] = dataclasses.field(default_factory=list)
    nothing: str = ""

    def __repr__(self) -> str:
        counted = (plural(len(self.paragraphs), "paragraph"), plural(len(self.rows), "row"))
        return f"Section({self.title!r}, {', '.join(counted)}, {plural(len(self.figures), 'figure')})"


@checked
def write_page(path: str | Path, title: str, introduction: str, parts: Sequence[Section]) -> None:
    """Writes a page to one file without external resources.

    **Arguments:**

    - `path`: the file; its folder is created.
    - `title`: the heading of the page.
    - `introduction`: the first paragraph.
    - `parts`: the sections.

    **Raises:** `StoreError` if the file cannot be written.

    No example: it writes a file.
    """
    place = as_path("path", path)
    if place.is_dir():
        raise errors.StoreError(f"path is {errors.shown(path)}, a folder, but must be the name of a file.")
    body = "".join(_section(part) for part in parts)
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLESHEET}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1><p>{html.escape(introduction)}</p>{body}</body></html>\n"
    )
    with files.writing(place.parent):
        files.write_text(place, page.encode("utf-8", "replace").decode("utf-8"))  # a name may hold half a character


def _section(part: Section) -> str:
    elements = [f"<section><h2>{html.escape(part.title)}</h2>"]
    if part.nothing:
        elements.append(f'<p class="none">{html.escape(part.nothing)}</p>')
    elements += [f"<p>{html.escape(text)}</p>" for text in part.paragraphs]
    if part.rows:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in part.header)
        rows = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in part.rows)
        elements.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    elements += [_figure(figure, caption) for figure, caption in part.figures]
    return "".join(elements) + "</section>\n"


def _cell(value: Any) -> str:
    text = html.escape(str(value))
    is_number = text.replace(".", "").replace("-", "").replace("e", "").isdigit()
    return f'<td class="number">{text}</td>' if is_number else f"<td>{text}</td>"


def _figure(figure: Figure, caption: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
    text = html.escape(caption)
    image = f'<img alt="{text}" src="data:image/png;base64,{encoded}">'
    return f"<figure>{image}<figcaption>{text}</figcaption></figure>"

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

WIDE = 7
"""Figures of more inches have several panels: on a narrow screen they are scrolled, not made smaller."""
LONG_TEXT = 60
"""In characters; a longer one in a table is broken into lines."""
SMALL, LARGE = 86, 116
"""The width of a figure on the page, in pixels per inch: two of the usual size stand side by side; the first is larger."""

STYLESHEET = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
p { max-width: 46rem; overflow-wrap: anywhere; }
p.verdict { font-size: 1.25rem; line-height: 1.4; border-left: 4px solid #0072b2; padding-left: 0.9rem; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
.gnode-scroll { overflow-x: auto; margin: 1rem 0; }
.gnode-table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.8rem 0.25rem 0; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
.gnode-figures { display: flex; flex-wrap: wrap; gap: 0 1.5rem; align-items: flex-start; }
.gnode-figure { margin: 1.2rem 0; flex: 0 1 auto; min-width: 0; max-width: 100%; overflow-x: auto; }
.gnode-figure img { max-width: 100%; height: auto; }
.gnode-figure img.wide { min-width: 40rem; }
figcaption { color: #555; font-size: 0.9rem; }
.gnode-fold { border-bottom: 1px solid #ccc; }
.gnode-fold > summary { cursor: pointer; font-size: 1.1rem; padding: 0.6rem 0; }
"""
"""Of a page without the explorer, whose own has the same names."""


@checked_class
@dataclasses.dataclass
class Section:
    """A section of a page: a heading, paragraphs, a table and figures.

    - `title`: the heading.
    - `paragraphs`: the paragraphs.
    - `figures`: figures with their captions, side by side where the window is wide enough.
    - `header`, `rows`: the table, below them; without a header each row is a name with its value.
    - `nothing`: an emphasised first paragraph, for what was searched for and not found.
    - `folded`: whether it shows its heading alone until it is opened.

    >>> Section("Memory", ["Half of the memories last 2 s."])
    Section('Memory', 1 paragraph, 0 rows, 0 figures)
    """

    title: str
    paragraphs: list[str] = dataclasses.field(default_factory=list)
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: list[tuple[Figure, str]] = dataclasses.field(default_factory=list)
    nothing: str = ""
    folded: bool = False

    def __repr__(self) -> str:
        counted = (plural(len(self.paragraphs), "paragraph"), plural(len(self.rows), "row"))
        return f"Section({self.title!r}, {', '.join(counted)}, {plural(len(self.figures), 'figure')})"


@checked
def write_page(
    path: str | Path,
    title: str,
    introduction: str,
    parts: Sequence[Section],
    *,
    verdict: str = "",
    picture: tuple[Figure, str] | None = None,
) -> None:
    """Writes a page to one file without external resources.

    **Arguments:**

    - `path`: the file; its folder is created.
    - `title`: the heading of the page.
    - `introduction`: the paragraph before the sections; none if it is empty.
    - `parts`: the sections.
    - `verdict`: a sentence in large type below the heading.
    - `picture`: a figure with its caption, below that.

    **Raises:** `StoreError` if the file cannot be written.

    No example: it writes a file.
    """
    place = as_path("path", path)
    if place.is_dir():
        raise errors.StoreError(f"path is {errors.shown(path)}, a folder, but must be the name of a file.")
    head = f'<p class="verdict">{html.escape(verdict)}</p>' if verdict else ""
    head += "" if picture is None else _figure(*picture, scale=LARGE)
    head += f"<p>{html.escape(introduction)}</p>" if introduction else ""
    body = head + "".join(section_html(part) for part in parts)
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLESHEET}</style></head>\n'
        f"<body><h1>{html.escape(title)}</h1>{body}</body></html>\n"
    )
    with files.writing(place.parent):
        files.write_text(place, page.encode("utf-8", "replace").decode("utf-8"))  # a name may hold half a character


def section_html(part: Section) -> str:
    """Returns a section as HTML, for a page with the explorer or without it."""
    title = html.escape(part.title)
    elements = [
        f'<details class="gnode-fold"><summary>{title}</summary>' if part.folded else f"<section><h2>{title}</h2>"
    ]
    if part.nothing:
        elements.append(f"<p><strong>{html.escape(part.nothing)}</strong></p>")
    elements += [f"<p>{html.escape(text)}</p>" for text in part.paragraphs]
    if part.figures:
        pictures = "".join(_figure(figure, caption) for figure, caption in part.figures)
        elements.append(f'<div class="gnode-figures">{pictures}</div>')
    if part.rows:
        elements.append(_table(part.header, part.rows))
    return "".join(elements) + ("</details>\n" if part.folded else "</section>\n")


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A column is set to the right, with its heading, if it holds numbers alone; a long text may take several lines."""
    columns = range(len(rows[0]))
    to_right = [bool(header) and all(_is_number(row[column]) for row in rows) for column in columns]
    long = [any(len(str(row[column])) > LONG_TEXT for row in rows) for column in columns]
    kinds = [
        ' class="number"' if right else ' class="wide"' if is_long else "" for right, is_long in zip(to_right, long)
    ]

    def line(tag: str, values: Sequence[Any]) -> str:
        cells = (f"<{tag}{kind}>{html.escape(str(value))}</{tag}>" for value, kind in zip(values, kinds))
        return f"<tr>{''.join(cells)}</tr>"

    head = f"<thead>{line('th', header)}</thead>" if header else ""
    body = "".join(line("td", row) for row in rows)
    return f'<div class="gnode-scroll"><table class="gnode-table">{head}<tbody>{body}</tbody></table></div>'


def _is_number(value: Any) -> bool:
    text = str(value).rstrip("%").lstrip("><= ").replace(",", "")
    try:
        float(text)
    except ValueError:
        return text == ""
    return True


def _figure(figure: Figure, caption: str, scale: int = SMALL) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
    text = html.escape(caption)
    width = round(figure.get_figwidth() * scale)
    wide = ' class="wide"' if figure.get_figwidth() > WIDE else ""
    image = f'<img{wide} width="{width}" alt="{text}" src="data:image/png;base64,{encoded}">'
    return f'<figure class="gnode-figure">{image}<figcaption>{text}</figcaption></figure>'

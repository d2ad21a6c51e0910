"""A page of the site as the checks need it: its links, what it loads, its anchors and the words of its prose."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

NOT_PROSE = {"pre", "code", "script", "style", "svg", "math", "dt", "nav", "header", "aside", "footer", "mjx-container"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADED = {"src", "poster", "data", "srcset"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest", "prefetch"}
"""Kinds of `<link>` for which a browser asks by itself."""


@dataclass
class Page:
    """A page: where it is, where it leads, what it loads, and what it says."""

    path: Path
    name: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    prose: list[str] = field(default_factory=list)


def read(path: Path, site: Path) -> Page:
    """Reads a page of the site."""
    return _read(Page(path, path.relative_to(site).as_posix()), path.read_text(encoding="utf-8"))


def read_markdown(path: Path) -> Page:
    """Reads a file of Markdown that is no page of the site, as if it were one."""
    shown = MarkdownIt("commonmark").enable("table").render(path.read_text(encoding="utf-8"))
    return _read(Page(path, path.name), f"<article>{shown}</article>")


def _read(page: Page, text: str) -> Page:
    reader = _Reader(page)
    reader.feed(text)
    reader.close()
    return page


class _Reader(HTMLParser):
    def __init__(self, page: Page):
        super().__init__(convert_charrefs=True)
        self.page = page
        self.open: list[tuple[str, bool]] = []  # elements that are open, and whether they end the prose
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._collect(tag, given)
        if tag not in VOID:
            classes = set(given.get("class", "").split())
            self.open.append(
                (tag, tag in NOT_PROSE or bool(classes & {"math", "highlight", "output", "visually-hidden"}))
            )
        self.in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _ in self.open) and self.open.pop()[0] != tag:
            pass
        self.in_style = False

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.page.styles.append(data)
        elif any(name == "article" for name, _ in self.open) and not any(hidden for _, hidden in self.open):
            self.page.prose.append(data)

    def _collect(self, tag: str, given: dict[str, str]) -> None:
        page = self.page
        page.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if "style" in given:
            page.styles.append(given["style"])
        for name in LOADED & given.keys():
            parts = (
                [part.split()[0] for part in given[name].split(",") if part.split()]
                if name == "srcset"
                else [given[name]]
            )
            page.loads += parts
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            page.loads.append(given.get("href", ""))
        elif "href" in given and tag in ("a", "area", "link"):
            page.links.append(given["href"])
        if tag in ("use", "image"):
            page.loads.append(given.get("href") or given.get("xlink:href") or "")

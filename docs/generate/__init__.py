"""Pages of the site that are made from the package itself, whenever the site is built; none of them is committed.

`reference` writes a page for each room from its public names, `commands` one from the command line, and `portrait` the page
that moves on the landing page. `markdown` turns docstrings, which are Markdown, into pages. `notebooks` says which of the
notebooks can be kept from the build before.
"""

from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent


def made_pages() -> dict[str, str]:
    """Returns the text of every page that is made, by its path in `docs`."""
    from generate import commands, reference

    return reference.pages() | {commands.PATH: commands.page()}


def write_if_different(path: Path, text: str) -> None:
    """Writes a file unless it holds that text: what is older than a build is not read again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write(docs: Path = DOCS) -> None:
    """Writes the pages, and takes away those of rooms that are gone."""
    made = made_pages()
    for path, text in made.items():
        write_if_different(docs / path, text)
    for old in (docs / "reference").glob("*.md"):
        if f"reference/{old.name}" not in made:
            old.unlink()

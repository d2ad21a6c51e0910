"""Where a page stands in the site: a page that stands for a folder has the pages of that folder below it.

Pages stay plain Markdown, which reads well in the repository too: the tree is added when the site is built.
"""

import re
from pathlib import Path


def with_tree(page: str, text: str, docs: Path) -> str:
    """Returns the text of a page with a hidden table of contents, if it stands for a folder and has none of its own.

    **Arguments:** `page`, its path in `docs` without the suffix; `text`; `docs`, the folder of all pages.
    """
    folder = docs / (page.removesuffix("/index") if page.endswith("/index") else page)
    if folder == docs or not folder.is_dir() or "{toctree}" in text:
        return text
    inside = order(text, sorted(path.stem for path in folder.glob("*.md") if path.stem != "index"))
    place = folder.relative_to(docs).as_posix()
    listed = "\n".join(f"/{place}/{name}" for name in inside)
    return f"{text}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n" if inside else text


def order(text: str, names: list[str]) -> list[str]:
    """Returns the names in the order in which a text links to them, then the others.

    >>> order("First [two](2-two.md), then [one](folder/1-one.md#part).", ["1-one", "2-two", "3-three"])
    ['2-two', '1-one', '3-three']
    """
    linked = [Path(target).stem for target in re.findall(r"\]\(([^)#\s]+\.md)", text)]
    return [*dict.fromkeys(name for name in linked if name in names), *(name for name in names if name not in linked)]

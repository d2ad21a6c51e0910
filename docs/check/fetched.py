"""Nothing on the site is fetched from elsewhere: no script, style sheet, font or picture. Links may lead anywhere."""

import re
from pathlib import Path

from check.page import Page

FROM_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


def from_elsewhere(pages: list[Page], site: Path) -> list[str]:
    """Returns a line for every address outside of the site that a browser would ask for."""
    found = [f"{page.name}: loads {target}" for page in pages for target in page.loads if _is_elsewhere(target)]
    found += [
        f"{page.name}: its style loads {target}" for page in pages for target in _in_styles(" ".join(page.styles))
    ]
    for sheet in sorted(site.rglob("*.css")):
        name = sheet.relative_to(site).as_posix()
        found += [f"{name}: loads {target}" for target in _in_styles(sheet.read_text(encoding="utf-8"))]
    return list(dict.fromkeys(found))


def _is_elsewhere(target: str) -> bool:
    return target.startswith(("http:", "https:", "//"))


def _in_styles(text: str) -> list[str]:
    return FROM_STYLES.findall(text)

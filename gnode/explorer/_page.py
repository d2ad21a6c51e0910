"""The page: one HTML file that needs nothing else and may request nothing. Nothing here waits for jax."""

import base64
import hashlib
import html
import json
from functools import cache
from pathlib import Path
from typing import Any

ASSET = Path(__file__).parent / "assets" / "explorer.js"
"""The page's script, built from the folder explorer/ of the repository."""

POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'"
)
"""One script, which is named by its digest, and no requests."""

WITHOUT_SCRIPTS = "This page computes a network in the browser; it needs JavaScript, which is switched off here."

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"></head>
<body class="gnode-page">
<div id="gnode-explorer"></div>
<noscript><p>{without}</p></noscript>
{report}<script type="application/json" id="gnode-document">{document}</script>
<script>{script}</script>
</body></html>
"""


def page(document: dict[str, Any], report: str = "") -> str:
    """Returns the page of a document as HTML.

    **Arguments:** `document`; `report`, HTML that stands below the explorer, in which all text has been escaped.
    """
    text = script()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return PAGE.format(
        policy=POLICY.format(digest),
        title=html.escape(plain(document["title"])),
        without=WITHOUT_SCRIPTS,
        report=f'<main class="gnode-report">\n{report}</main>\n' if report else "",
        document=as_json(document),
        script=text,
    )


def as_json(document: dict[str, Any]) -> str:
    """Returns a document as JSON that no HTML around it can mistake for markup, the same bytes for the same document."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)  # ASCII: other characters become \\u0000
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def script() -> str:
    """Returns the page's script."""
    text = ASSET.read_text(encoding="utf-8").strip()
    assert "</script" not in text.lower(), "the script would end early"
    assert "<!--" not in text, "the script would begin a comment of HTML"
    return text


def plain(text: str) -> str:
    """Returns a text without halves of characters, which the name of a file may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")

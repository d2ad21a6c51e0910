"""Opening a page in the browser."""

import tempfile
import webbrowser
from pathlib import Path

from gnode.os_errors import translated

__all__ = ["open_page", "temporary_place"]


def temporary_place(name: str) -> Path:
    """Returns the name of a file in a new folder for temporary files: it has to stay while a browser shows it."""
    with translated("write to the folder of temporary files"):
        return Path(tempfile.mkdtemp(prefix="gnode-")) / name


def open_page(page: Path) -> bool:
    """Opens a file in the browser; returns whether there is one."""
    try:
        return webbrowser.open(page.absolute().as_uri())
    except webbrowser.Error:
        return False

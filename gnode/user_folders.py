"""Folders of the person who uses this computer, where the platform wants them."""

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Returns this project's folder among the person's caches; it may not exist yet.

    **Raises:** `RuntimeError` if there is no home folder.
    """
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gnode"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gnode"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gnode"
